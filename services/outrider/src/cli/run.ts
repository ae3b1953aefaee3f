import { parseArgs } from 'node:util';
import { ApiError, ConnectionError } from '@outrider/client';
import { type CliCommand, CommandError, type Invocation, type Terminal, UsageError } from './command.ts';
import { CLI_COMMANDS } from './commands.ts';
import { Session } from './session.ts';

/** Whether the first word names a command that uses a running service through its API. */
export function isCliCommand(word: string): boolean {
  return CLI_COMMANDS.some(({ name }) => name.split(' ')[0] === word);
}

/** A line for each command, such as `  vehicles get ID   show a vehicle`. */
export function cliHelp(commands: readonly CliCommand[] = CLI_COMMANDS): string {
  const lines = commands.map((command) => [usageOf(command), command.summary] as const);
  const width = Math.max(...lines.map(([usage]) => usage.length));
  return lines.map(([usage, summary]) => `  ${usage.padEnd(width)}  ${summary}\n`).join('');
}

/**
 * Runs a command.
 *
 * @param words without the name of the program
 * @returns the exit code: 0; 1 if the command failed; 2 if it was called wrongly
 */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  const named = CLI_COMMANDS.filter(({ name }) => name.split(' ')[0] === words[0]);
  if (words.includes('--help') || words.includes('-h')) {
    terminal.print(helpOf(named, words));
    return 0;
  }
  const command = commandOf(words);
  if (command === undefined) {
    terminal.note(`outrider: there is no such command: ${words.join(' ')}\n\n${cliHelp(named)}`);
    return 2;
  }
  try {
    await command.run(invocationOf(command, words.slice(command.name.split(' ').length), terminal));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.note(`outrider ${command.name}: ${error.message}\n\n${helpOf([command], words)}`);
      return 2;
    }
    for (const line of explained(error)) terminal.note(`outrider: ${line}`);
    return 1;
  }
}

function commandOf(words: readonly string[]): CliCommand | undefined {
  return CLI_COMMANDS.find(({ name }) => name.split(' ').every((word, nth) => words[nth] === word));
}

function usageOf({ name, operands = [] }: CliCommand): string {
  return [name, ...operands.map((operand) => (operand.endsWith('?') ? `[${operand.slice(0, -1)}]` : operand))].join(
    ' ',
  );
}

/** Help for one command with its options, or one line for each of several. */
function helpOf(named: readonly CliCommand[], words: readonly string[]): string {
  const [command] = named.length === 1 ? named : [commandOf(words)];
  if (command === undefined) return `${cliHelp(named)}\nWith --help, a command shows its options.`;
  const options = { ...command.options, json: { summary: 'print JSON' } };
  const lines = Object.entries(options).map(
    ([name, { value, summary, isList }]: [string, NonNullable<CliCommand['options']>[string]]) => [
      `--${name}${value === undefined ? '' : ` ${value}`}${isList ? ' …' : ''}`,
      summary,
    ],
  );
  const width = Math.max(...lines.map(([option = '']) => option.length));
  const shown = lines.map(([option = '', summary]) => `  ${option.padEnd(width)}  ${summary}`).join('\n');
  return `usage: outrider ${usageOf(command)}\n\n${command.summary}\n\n${shown}`;
}

/** @throws {UsageError} */
function invocationOf(command: CliCommand, words: readonly string[], terminal: Terminal): Invocation {
  const { operands: wanted = [], options = {} } = command;
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        ...Object.fromEntries(
          Object.entries(options).map(([name, { value, isList = false }]) => [
            name,
            { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: isList },
          ]),
        ),
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { positionals, values } = parsed;
  if (positionals.length > wanted.length) throw new UsageError(`there is too much: ${positionals[wanted.length]}`);
  const missing = wanted.slice(positionals.length).find((name) => !name.endsWith('?'));
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const session = new Session(terminal);
  const { json, ...given } = values;
  return {
    operands: Object.fromEntries(positionals.map((value, nth) => [(wanted[nth] ?? '').replace('?', ''), value])),
    options: given as Invocation['options'],
    isJson: json === true,
    terminal,
    session,
    client: () => session.client(),
  };
}

/** @throws the error itself if it is a bug rather than a failed call */
function explained(error: unknown): string[] {
  if (error instanceof CommandError) return [error.message];
  if (error instanceof ConnectionError) return [`${error.message}: ${reasonOf(error.cause)}`];
  if (!(error instanceof ApiError)) throw error;
  const { detail, errors = [] } = error.problem;
  return [
    `${error.status} ${detail}`,
    ...errors.map(({ pointer, parameter, row, column, detail }) => {
      const place = row === undefined ? (pointer ?? parameter) : [`row ${row}`, column].filter(Boolean).join(', ');
      return `  ${place ?? ''}: ${detail}`;
    }),
  ];
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}
