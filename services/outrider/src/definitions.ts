import { type DefinitionsDifference, lackingOf, lostOf, reconcileDefinitions } from '@outrider/api';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { StartError } from '@outrider/runtime';
import type { Command } from './command.ts';
import { withDefinitions } from './with-definitions.ts';

/**
 * `outrider definitions status` and `outrider definitions republish`.
 *
 * @returns the exit code: 1 if the topic differs from the registry afterwards
 * @throws {StartError} when the arguments are invalid, or a service is publishing; {DataDirError} when an embedded log
 *   or registry is in use
 */
export const runDefinitions: Command = async (words, config, logger, print) => {
  const [what] = words;
  if (words.length !== 1 || (what !== 'status' && what !== 'republish'))
    throw new StartError('it is: definitions status, or: definitions republish');
  const difference = await withDefinitions(config, logger, (registry, log) =>
    reconcileDefinitions({ registry, log, now: SYSTEM_CLOCK.now }, what === 'republish' ? 'accept' : 'none'),
  );
  printDifference(difference, what === 'republish', print);
  return what === 'republish' || lackingOf(difference) + lostOf(difference) === 0 ? 0 : 1;
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
