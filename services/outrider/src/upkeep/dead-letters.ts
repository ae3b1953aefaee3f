import { backingOf, openLog } from '@outrider/backing';
import { SYSTEM_CLOCK } from '@outrider/domain';
import {
  type DeadLetter,
  deadLetterId,
  deadLettersOf,
  LOG_TOPICS,
  type Log,
  replayDeadLetter,
  type Topic,
} from '@outrider/log';
import { StartError } from '@outrider/runtime';
import type { Command } from '../command.ts';
import { openDataDir } from '../data-dir.ts';

/**
 * `outrider dead-letters list` and `outrider dead-letters replay <id>…|all`.
 *
 * @returns number of dead letters that could not be appended to their topic again
 * @throws {StartError} for an unknown command or an invalid id; {DataDirError} when an embedded log is in use
 */
export const runDeadLetters: Command = async (words, config, logger, print) => {
  const [what, ...ids] = words;
  if (!(what === 'list' && ids.length === 0) && !(what === 'replay' && ids.length > 0))
    throw new StartError('it is: dead-letters list, or: dead-letters replay <id>… (or all)');
  // An embedded log may only be used by one process.
  const dataDir = config.KAFKA_BROKERS === null ? openDataDir(config.DATA_DIR) : null;
  try {
    const log = await openLog(backingOf(config, dataDir?.path ?? null), logger, null, { startsRun: true });
    try {
      const letters = await allLetters(log);
      if (what === 'list') return list(letters, print);
      return await replay(log, chosen(letters, ids), print);
    } finally {
      await log.close();
    }
  } finally {
    dataDir?.release();
  }
};

interface Placed {
  topic: Topic<unknown>;
  letter: DeadLetter;
}

async function allLetters(log: Log): Promise<Placed[]> {
  const letters: Placed[] = [];
  for (const topic of LOG_TOPICS)
    for (const letter of await deadLettersOf(log, topic.name)) letters.push({ topic, letter });
  return letters;
}

function list(letters: readonly Placed[], print: (line: string) => void): number {
  for (const { letter } of letters) {
    const size = letter.record === null ? 'not kept' : `${letter.record.length} bytes`;
    print(`${deadLetterId(letter)}  ${new Date(letter.diedAtMs).toISOString()}  ${size}  ${oneLine(letter.reason)}`);
  }
  print(`${letters.length} ${letters.length === 1 ? 'record' : 'records'} set aside`);
  return 0;
}

function chosen(letters: readonly Placed[], ids: readonly string[]): Placed[] {
  if (ids.length === 1 && ids[0] === 'all') return [...letters];
  const byId = new Map(letters.map((placed) => [deadLetterId(placed.letter), placed]));
  return ids.map((id) => {
    const placed = byId.get(id);
    if (!placed) throw new StartError(`no record ${id} is set aside`);
    return placed;
  });
}

async function replay(log: Log, letters: readonly Placed[], print: (line: string) => void): Promise<number> {
  let failures = 0;
  for (const { topic, letter } of letters) {
    try {
      await replayDeadLetter(log, topic, letter, SYSTEM_CLOCK.now());
      print(`${deadLetterId(letter)}  is in ${topic.name} again`);
    } catch (error) {
      failures++;
      print(`${deadLetterId(letter)}  stays: ${oneLine((error as Error).message)}`);
    }
  }
  return failures;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
