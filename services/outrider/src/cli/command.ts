import type { Client } from '@outrider/client';
import type { Session } from './session.ts';

/** A mistake in how a command was called: it is shown with the command's usage, and the exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Why a command failed that was called rightly; the exit code is 1. */
export class CommandError extends Error {
  override name = 'CommandError';
}

export interface CliOption {
  /** What stands for its value in the usage; left out: it has none. */
  value?: string;
  summary: string;
  /** It may be given several times. */
  isList?: boolean;
}

/** What a command reads and writes. */
export interface Terminal {
  env: Readonly<Record<string, string | undefined>>;
  /** Writes a line of the answer. */
  print: (line: string) => void;
  /** Writes a line about what goes on: it is no part of the answer. */
  note: (line: string) => void;
  /** Reads a line that is not shown, such as a password. */
  ask: (question: string) => Promise<string>;
  /** Ends what runs for ever. */
  signal: AbortSignal;
}

export interface Invocation {
  /** By the names of {@link CliCommand.operands}; those that may be left out are missing. */
  operands: Readonly<Record<string, string>>;
  /** Values of options without a value are `true`. */
  options: Readonly<Record<string, string | true | readonly string[]>>;
  isJson: boolean;
  terminal: Terminal;
  session: Session;
  /** Calls the API as the key or the login has it. */
  client: () => Promise<Client>;
}

/** A command of the command line that uses a running service by its API. */
export interface CliCommand {
  /** Such as `vehicles list`. */
  name: string;
  summary: string;
  /** In their order; one with `?` at its end may be left out. */
  operands?: readonly string[];
  options?: Readonly<Record<string, CliOption>>;
  run: (invocation: Invocation) => Promise<void>;
}
