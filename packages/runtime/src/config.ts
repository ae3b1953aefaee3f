import { readFileSync } from 'node:fs';
import { misspeltVariables } from './misspelt-variables.ts';
import { StartError } from './start-error.ts';

/** How one environment variable is read. */
export interface Variable<T> {
  /** What it is for, as docs/configuration.md shows it. */
  description: string;
  /** The value where the variable is unset or empty; as it would be written in the environment. Undefined: no value. */
  fallback: string | undefined;
  /** Never printed. */
  secret: boolean;
  /** @throws {Error} saying what the text should have been */
  parse(text: string): T;
  /**
   * What is wrong with it beside the other settings of the process, as a sentence that names the variable; null:
   * nothing. A setting that could not be read has its fallback.
   */
  conflict?(config: Readonly<Record<string, unknown>>): string | null;
  /** It is a number of connections, each of which takes a file descriptor of the process. */
  allowsConnections?: boolean;
}

/** Variables by name: what {@link readConfig} turns into one typed object. */
export type Variables = Record<string, Variable<unknown>>;
export type Config<V extends Variables> = { readonly [Name in keyof V]: V[Name] extends Variable<infer T> ? T : never };

/** The environment holds something that no part can start with. `problems` has a line for each variable. */
export class ConfigError extends StartError {
  override name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads all variables once. In place of a secret a file with it may be named, by its name with `_FILE` behind it; an
 * empty file counts as unset. Names that are near to a setting without being one are refused: a service that does not
 * know what was meant for it would start with other stores than intended. Doubtful ones become process warnings.
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

/** A secret, or what is in the file that is named for it. */
function withFile(name: string, environment: NodeJS.ProcessEnv): { set?: string; problem?: string } {
  const path = environment[fileOf(name)];
  const set = environment[name];
  if (!path) return set === undefined ? {} : { set };
  if (set) return { problem: `${name} must not be set where ${fileOf(name)} is` };
  try {
    // What writes such files ends them with a line break, or not.
    return { set: readFileSync(path, 'utf8').trim() };
  } catch (error) {
    return { problem: `${fileOf(name)} must be a file that can be read: ${(error as Error).message}` };
  }
}

/** The configuration for logging: of secrets only whether they are set. */
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

/** A variable that a process can't do without. @param why of the error where it is unset */
export function needed<T>(name: string, variable: Variable<T | null>, why: string): Variable<T> {
  return {
    ...variable,
    conflict: (config) =>
      config[name] === null ? `${name} must be set: ${why}` : (variable.conflict?.(config) ?? null),
    // Where it is unset, the conflict above ends the reading.
    parse: (value) => variable.parse(value) as T,
  };
}
