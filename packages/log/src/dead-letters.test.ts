import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type DeadLetter,
  deadLetterFactsOf,
  deadLetterId,
  deadLettersOf,
  deadTopicOf,
  findDeadLetter,
  replayDeadLetter,
  setAside,
} from './dead-letters.ts';
import type { Log, Topic } from './log.ts';
import { openSqliteLog } from './sqlite/open.ts';

const words: Topic<string> = {
  name: 'words',
  key: (word) => word,
  encode: (word) => Buffer.from(word),
  decode(bytes) {
    if (bytes.toString() === 'poison') throw new Error('no word');
    return bytes.toString();
  },
  compacted: false,
};
const letter = (offset: number, record: Buffer | null = Buffer.from('word')) => ({
  topic: 'words',
  partition: 0,
  offset,
  reader: 'rules',
  reason: 'it made no sense',
  record,
});

let folder: string;
let log: Log;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-dead-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite') });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

test('a letter comes back as it was written', () => {
  const whole: DeadLetter = { ...letter(7, Buffer.from([0, 255])), diedAtMs: 5, replayedAtMs: null };
  const topic = deadTopicOf('words');
  expect(topic.decode(topic.encode(whole))).toEqual(whole);
  const replayed = { ...whole, record: null, replayedAtMs: 9 };
  expect(topic.decode(topic.encode(replayed))).toEqual(replayed);
});

test('what is put aside is listed once, until it is put into its topic again', async () => {
  await setAside(log, letter(3), 100);
  await setAside(log, letter(1), 101);
  // A replay comes to the same record again.
  await setAside(log, letter(3), 102);
  const listed = await deadLettersOf(log, 'words');
  expect(listed.map(deadLetterId)).toEqual(['words/0@1/rules', 'words/0@3/rules']);
  await replayDeadLetter(log, words, listed[0] as DeadLetter, 200);
  expect((await deadLettersOf(log, 'words')).map(deadLetterId)).toEqual(['words/0@3/rules']);
  const again: string[] = [];
  for await (const { records } of log.read(words, 0, 'earliest', 1)) again.push(...records.map(({ value }) => value));
  expect(again).toEqual(['word']);
});

test('facts of dead letters hold no record, and one letter is found by its id', async () => {
  const place = { topic: 'telemetry', partition: 0, reader: 'rules', reason: 'poison' };
  await setAside(log, { ...place, offset: 4, record: Buffer.from('abc') }, 100);
  await setAside(log, { ...place, offset: 5, record: Buffer.alloc(4 * 1024 * 1024) }, 101);
  expect(await deadLetterFactsOf(log, 'telemetry')).toEqual([
    { ...place, offset: 4, diedAtMs: 100, replayedAtMs: null, recordBytes: 3 },
    { ...place, offset: 5, diedAtMs: 101, replayedAtMs: null, recordBytes: null },
  ]);
  expect((await findDeadLetter(log, 'telemetry/0@4/rules'))?.record).toEqual(Buffer.from('abc'));
  for (const id of ['telemetry/0@9/rules', 'nothing/0@4/rules', '']) expect(await findDeadLetter(log, id)).toBeNull();
});

test('what can not be read, or was too long, is not put into its topic', async () => {
  await setAside(log, letter(1, Buffer.from('poison')), 100);
  await setAside(log, letter(2, Buffer.alloc(4 * 1024 * 1024)), 100);
  const [unreadable, long] = await deadLettersOf(log, 'words');
  await expect(replayDeadLetter(log, words, unreadable as DeadLetter, 200)).rejects.toThrow('no word');
  expect(long?.record).toBeNull();
  await expect(replayDeadLetter(log, words, long as DeadLetter, 200)).rejects.toThrow('too long');
  expect(await deadLettersOf(log, 'words')).toHaveLength(2);
  expect((await log.endOffsets(words)).get(0)).toBe(0);
});
