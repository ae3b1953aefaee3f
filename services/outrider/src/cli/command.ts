import type { Client } from '@outrider/client';
import type { Session } from './session.ts';

/** A wrong call of a command. It is shown with the command's usage, and the exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The failure of a correctly called command; the exit code is 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

export interface CliOption {
  /** Placeholder of the value in the usage; absent if the option has no value. */
  value?: string;
  summary: string;
  /** Whether the option may be given several times. */
  isList?: boolean;
}

/** Input and output of a command. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** Writes a line of output. */
  print: (line: string) => void;
  /** Writes a line about progress, which is not part of the output. */
  note: (line: string) => void;
  /** Reads a line without echo, such as a password. */
  ask: (question: string) => Promise<string>;
  /** Ends commands that run until they are stopped. */
  signal: AbortSignal;
}

export interface Invocation {
  /** By the names of {@link CliCommand.operands}; omitted optional ones are missing. */
  operands: Readonly<Record<string, string>>;
  /** Values of options without a value are `true`. */
  options: Readonly<Record<string, string | true | readonly string[]>>;
  isJson: boolean;
  terminal: Terminal;
  session: Session;
  /** Creates a client of the API, authenticated by the key or the login. */
  client: () => Promise<Client>;
}

/** A command that uses a running service through its API. */
export interface CliCommand {
  /** Such as `vehicles list`. */
  name: string;
  summary: string;
  /** In order. A trailing `?` marks an optional operand. */
  operands?: readonly string[];
  options?: Readonly<Record<string, CliOption>>;
  run: (invocation: Invocation) => Promise<void>;
}
