import { type DefinitionsDifference, lackingOf, lostOf, reconcileDefinitions } from '@outrider/api';
import { backingOf, openLog, openRegistry } from '@outrider/backing';
import { StartError } from '@outrider/runtime';
import type { Command } from './command.ts';
import { openDataDir } from './data-dir.ts';

/**
 * `outrider definitions status` and `outrider definitions republish`.
 *
 * @returns the exit code: 1 where the topic differs from the registry afterwards
 * @throws {StartError} when the words are no such command, or a service publishes just now; {DataDirError} when an
 * embedded log or
 *   registry is in use
 */
export const runDefinitions: Command = async (words, config, logger, print) => {
  const [what] = words;
  if (words.length !== 1 || (what !== 'status' && what !== 'republish'))
    throw new StartError('it is: definitions status, or: definitions republish');
  // What is embedded is its service's alone.
  const isEmbedded = config.KAFKA_BROKERS === null || config.DATABASE_URL === null;
  const dataDir = isEmbedded ? openDataDir(config.DATA_DIR) : null;
  try {
    const backing = backingOf(config, dataDir?.path ?? null);
    const registry = await openRegistry(backing, logger);
    try {
      const log = await openLog(backing, logger, null, { startsRun: true });
      try {
        const difference = await registry.outbox.inTurn(() =>
          reconcileDefinitions({ registry, log, now: Date.now }, what === 'republish' ? 'accept' : 'none'),
        );
        if (difference === null) throw new StartError('a service is publishing definitions at this moment: try again');
        printDifference(difference, what === 'republish', print);
        return what === 'republish' || lackingOf(difference) + lostOf(difference) === 0 ? 0 : 1;
      } finally {
        await log.close();
      }
    } finally {
      await registry.close();
    }
  } finally {
    dataDir?.release();
  }
};

function printDifference(
  { inRegistry, missing, older, earlierFormat, undeleted, gone, newer }: DefinitionsDifference,
  isPublished: boolean,
  print: (line: string) => void,
): void {
  const done = isPublished ? ', republished' : '';
  print(`definitions in the registry: ${inRegistry}`);
  print(`missing in the log: ${missing}${done}`);
  print(`older in the log: ${older}${done}`);
  print(`in an earlier format in the log: ${earlierFormat}${done}`);
  const deletion = isPublished ? ', deletion republished' : '';
  print(`deleted, and still in the log: ${undeleted}${deletion}`);
  print(`lost by the registry, and still in the log: ${gone}${deletion}`);
  print(`newer in the log than in the registry: ${newer}${isPublished ? ', the registry’s republished as newer' : ''}`);
}
