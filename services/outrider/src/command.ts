import type { Config, Logger } from '@outrider/runtime';
import type { variables } from './config.ts';

/**
 * A command of the command line that prints its answer.
 *
 * @param words what follows its name
 * @param print is given each line of the answer
 * @returns how many things failed; the exit code is 1 where any did
 * @throws {StartError} when the words are no such command; {DataDirError} when an embedded store is in use
 */
export type Command = (
  words: readonly string[],
  config: Config<typeof variables>,
  logger: Logger,
  print: (line: string) => void,
) => Promise<number>;
