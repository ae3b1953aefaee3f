import { decodeDeadLetter, encodeDeadLetter } from './avro/dead-letter.ts';
import { type Log, MAX_RECORD_BYTES, type Topic } from './log.ts';
import { LOG_TOPICS } from './topics.ts';

/** A record that could not be processed, and why. */
export interface DeadLetter {
  /** Topic, partition and offset of the record. */
  topic: string;
  partition: number;
  offset: number;
  /** The reader that could not process the record; {@link NOBODY} for one that can't be decoded. */
  reader: string;
  reason: string;
  /** Unix milliseconds at which it was stored as a dead letter. */
  diedAtMs: number;
  /** The encoded record; null when it was too long to be stored again. */
  record: Buffer | null;
  /** Unix milliseconds at which the record was appended to its topic again. */
  replayedAtMs: number | null;
}

/** Bytes that can't be decoded as a record of their topic. */
export interface UnreadableRecord {
  topic: string;
  partition: number;
  offset: number;
  bytes: Buffer;
  error: Error;
}

/** Reader of the letters whose record could not be decoded. */
export const NOBODY = 'log';

/** Maximum size of a letter without its record. */
const SPACE_BYTES = 64 * 1024;
const MAX_REASON_CHARACTERS = 2000;

/** The id is deterministic: storing the same record again for the same reader gives the same id. */
export function deadLetterId({
  topic,
  partition,
  offset,
  reader,
}: Pick<DeadLetter, 'topic' | 'partition' | 'offset' | 'reader'>): string {
  return `${topic}/${partition}@${offset}/${reader}`;
}

/** Topic `<name>-dead` with the dead letters of a topic. Its retention is that of other topics. */
export function deadTopicOf(name: string): Topic<DeadLetter> {
  return {
    name: `${name}-dead`,
    key: deadLetterId,
    encode: encodeDeadLetter,
    decode: decodeDeadLetter,
    compacted: false,
  };
}

/** Names of all topics of the log. */
export const LOG_TOPIC_NAMES: readonly string[] = LOG_TOPICS.flatMap(({ name }) => [name, deadTopicOf(name).name]);

/** Stores a record as a dead letter. When it resolves, the letter is durable, and the reader may skip the record. */
export async function setAside(
  log: Pick<Log, 'append'>,
  letter: Omit<DeadLetter, 'diedAtMs' | 'replayedAtMs'>,
  nowMs: number,
): Promise<void> {
  const { record } = letter;
  const kept: DeadLetter = {
    ...letter,
    reason: letter.reason.slice(0, MAX_REASON_CHARACTERS),
    record: record !== null && record.length > MAX_RECORD_BYTES - SPACE_BYTES ? null : record,
    diedAtMs: nowMs,
    replayedAtMs: null,
  };
  await log.append(deadTopicOf(letter.topic), [kept]);
}

/** The dead letters of a topic that were not replayed, the oldest first. */
export function deadLettersOf(log: Pick<Log, 'endOffsets' | 'read'>, topic: string): Promise<DeadLetter[]> {
  return newestLetters(log, topic, (letter) => letter);
}

/** A dead letter without the bytes of its record. */
export interface DeadLetterFacts extends Omit<DeadLetter, 'record'> {
  /** Length of the record; null when it was too long to be stored again. */
  recordBytes: number | null;
}

/** Maximum number of facts of one topic that are held in memory. */
const MOST_FACTS = 10_000;

/** Facts of the newest dead letters of a topic that were not replayed, oldest first. No record is held in memory. */
export function deadLetterFactsOf(log: Pick<Log, 'endOffsets' | 'read'>, topic: string): Promise<DeadLetterFacts[]> {
  return newestLetters(
    log,
    topic,
    ({ record, ...facts }): DeadLetterFacts => ({ ...facts, recordBytes: record?.length ?? null }),
    MOST_FACTS,
  );
}

/** Finds a dead letter by its id; null when none exists or it was replayed. */
export async function findDeadLetter(log: Pick<Log, 'endOffsets' | 'read'>, id: string): Promise<DeadLetter | null> {
  const topic = LOG_TOPICS.find(({ name }) => id.startsWith(`${name}/`))?.name;
  if (topic === undefined) return null;
  const found = await newestLetters(log, topic, (letter) => (deadLetterId(letter) === id ? letter : null), 1);
  return found[0] ?? null;
}

/**
 * The newest version of each letter that was not replayed, mapped by `keep`, oldest first.
 *
 * @param keep returns null to leave a letter out
 * @param most maximum number of letters; the oldest are left out
 */
async function newestLetters<T extends Omit<DeadLetter, 'record'>>(
  log: Pick<Log, 'endOffsets' | 'read'>,
  topic: string,
  keep: (letter: DeadLetter) => T | null,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const dead = deadTopicOf(topic);
  const newest = new Map<string, T>();
  for (const [partition, end] of await log.endOffsets(dead))
    for await (const { records } of log.read(dead, partition, 'earliest', end))
      for (const { value } of records) {
        const id = deadLetterId(value);
        newest.delete(id);
        const kept = value.replayedAtMs === null ? keep(value) : null;
        if (kept !== null) newest.set(id, kept);
        if (newest.size > most) newest.delete(newest.keys().next().value as string);
      }
  return [...newest]
    .sort(([idA, a], [idB, b]) => a.diedAtMs - b.diedAtMs || idA.localeCompare(idB))
    .map(([, kept]) => kept);
}

/**
 * Appends the record of a dead letter to its topic again. A packet is then late data; a duplicate changes nothing.
 *
 * @throws {Error} when the record can't be decoded, or was not kept: then nothing was done
 */
export async function replayDeadLetter<T>(log: Log, topic: Topic<T>, letter: DeadLetter, nowMs: number): Promise<void> {
  if (letter.record === null) throw new Error('it was too long to be kept');
  await log.append(topic, [topic.decode(letter.record)]);
  await log.append(deadTopicOf(letter.topic), [{ ...letter, replayedAtMs: nowMs }]);
}
