import { readFileSync } from 'node:fs';
import { misspeltVariables } from './misspelt-variables.ts';
import { StartError } from './start-error.ts';

/** Definition of an environment variable. */
export interface Variable<T> {
  /** Purpose of the variable, as shown in docs/configuration.md. */
  description: string;
  /** The value if the variable is unset or empty, as written in the environment. Undefined: no value. */
  fallback: string | undefined;
  /** Never printed. */
  secret: boolean;
  /** @throws {Error} with a description of the expected text */
  parse(text: string): T;
  /**
   * The conflict with other settings of the process, as a sentence that names the variable; null: none. A setting that
   * could not be read has its fallback.
   */
  conflict?(config: Readonly<Record<string, unknown>>): string | null;
  /** Whether the value is a number of connections, each of which takes a file descriptor of the process. */
  allowsConnections?: boolean;
}

/** Variables by name, which {@link readConfig} turns into one typed object. */
export type Variables = Record<string, Variable<unknown>>;
export type Config<V extends Variables> = { readonly [Name in keyof V]: V[Name] extends Variable<infer T> ? T : never };

/** The environment has settings with which no part can start. `problems` has a line for each variable. */
export class ConfigError extends StartError {
  override name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads all variables once. Instead of a secret, the environment may name a file with it, in a variable with the suffix
 * `_FILE`. An empty file counts as unset. Names that are close to a setting are refused: a service that ignored them
 * might start with other stores than intended. Doubtful names become process warnings.
 *
 * @throws {ConfigError} naming every variable that cannot be used, not just the first
 */
export function readConfig<V extends Variables>(variables: V, environment: NodeJS.ProcessEnv): Config<V> {
  const files = Object.keys(variables).filter((name) => variables[name]?.secret && !(fileOf(name) in variables));
  const names = [...Object.keys(variables), ...files.map(fileOf)];
  const { errors: problems, warnings } = misspeltVariables(names, environment);
  const config: Record<string, unknown> = {};
  const unread = new Set<string>();
  for (const [name, variable] of Object.entries(variables)) {
    const { fallback } = variable;
    const { set, problem } = files.includes(name) ? withFile(name, environment) : { set: environment[name] };
    if (problem !== undefined) {
      problems.push(problem);
      unread.add(name);
    }
    const text = set || fallback;
    try {
      config[name] = text === undefined ? null : variable.parse(text);
    } catch (error) {
      unread.add(name);
      config[name] = fallback === undefined ? null : variable.parse(fallback);
      const said = variable.secret ? '' : `, not ${JSON.stringify(text)}`;
      problems.push(`${name} must be ${(error as Error).message}${said}`);
    }
  }
  for (const [name, { conflict }] of Object.entries(variables)) {
    const problem = unread.has(name) ? null : (conflict?.(config) ?? null);
    if (problem !== null) problems.push(problem);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  for (const warning of warnings) process.emitWarning(warning, 'SettingWarning');
  return config as Config<V>;
}

function fileOf(name: string): string {
  return `${name}_FILE`;
}

/** A secret, or the content of the file that is named for it. */
function withFile(name: string, environment: NodeJS.ProcessEnv): { set?: string; problem?: string } {
  const path = environment[fileOf(name)];
  const set = environment[name];
  if (!path) return set === undefined ? {} : { set };
  if (set) return { problem: `${name} must not be set where ${fileOf(name)} is` };
  try {
    // Such files may end with a line break or not.
    return { set: readFileSync(path, 'utf8').trim() };
  } catch (error) {
    return { problem: `${fileOf(name)} must be a file that can be read: ${(error as Error).message}` };
  }
}

/** The configuration for logging. Secrets are shown only as set or not set. */
export function describeConfig<V extends Variables>(variables: V, config: Config<V>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, variable]) => {
      const value = config[name];
      return [name, variable.secret ? (value === null ? null : '(set)') : value];
    }),
  );
}

/** Any text; null where it is unset. */
export function text(description: string): Variable<string | null> {
  return { description, fallback: undefined, secret: false, parse: (value) => value };
}

/** Any text, with a value where it is unset. */
export function textOr(fallback: string, description: string): Variable<string> {
  return { description, fallback, secret: false, parse: (value) => value };
}

/** A text that is never printed; null where it is unset. */
export function secret(description: string): Variable<string | null> {
  return { description, fallback: undefined, secret: true, parse: (value) => value };
}

/** One of the given words. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  fallback: Word,
  description: string,
): Variable<Word> {
  return {
    description,
    fallback,
    secret: false,
    parse(value) {
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) throw new Error(`one of ${words.join(', ')}`);
      return word;
    },
  };
}

/** A whole number within bounds, both inclusive. */
export function whole(min: number, max: number, fallback: number, description: string): Variable<number> {
  return {
    description,
    fallback: String(fallback),
    secret: false,
    parse(value) {
      const number = Number(value);
      if (!Number.isInteger(number) || number < min || number > max || value.trim() === '')
        throw new Error(`a whole number from ${min} to ${max}`);
      return number;
    },
  };
}

/** A TCP port; 0 takes any free one. */
export function port(fallback: number, description: string): Variable<number> {
  return whole(0, 65_535, fallback, description);
}

/** A TCP port, or null where it is unset; 0 takes any free one. */
export function optionalPort(description: string): Variable<number | null> {
  return { ...port(0, description), fallback: undefined };
}

/** A variable that a process requires. @param why reason in the error if it is unset */
export function needed<T>(name: string, variable: Variable<T | null>, why: string): Variable<T> {
  return {
    ...variable,
    conflict: (config) =>
      config[name] === null ? `${name} must be set: ${why}` : (variable.conflict?.(config) ?? null),
    // If the variable is unset, the conflict above ends the reading.
    parse: (value) => variable.parse(value) as T,
  };
}
