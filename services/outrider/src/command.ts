import type { Config, Logger } from '@outrider/runtime';
import type { variables } from './config.ts';

/**
 * A command of the command line that prints its output.
 *
 * @param words arguments after its name
 * @param print is passed each line of output
 * @returns number of failures; the exit code is 1 if there were any
 * @throws {StartError} when the arguments are invalid; {DataDirError} when an embedded store is in use
 */
export type Command = (
  words: readonly string[],
  config: Config<typeof variables>,
  logger: Logger,
  print: (line: string) => void,
) => Promise<number>;
