import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../log.ts';
import { openSqliteLog } from './open.ts';
import { Cursor, Reader } from './reader.ts';
import { pushRecord, type Segment, type WrittenRow } from './segment.ts';
import { textTopic } from './testing.ts';

/*
 * What a commit wrote is handed to the readers, so that they need no query for it. The rows here differ from those in
 * the file, which shows where a record came from.
 */

const topic = textTopic('texts');
let folder: string;
let log: Log;
let reader: Reader;
let cursor: Cursor<string>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'handed-'));
  const path = join(folder, 'log.sqlite');
  log = openSqliteLog({ path });
  for (const text of ['file 0', 'file 1', 'file 2', 'file 3']) await log.append(topic, [text]);
  reader = new Reader(path);
  cursor = new Cursor(reader, topic, 0, 2);
});
afterEach(async () => {
  reader.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

function rowOf(baseOffset: number, texts: readonly string[]): WrittenRow {
  const records = texts.map((text) => topic.encode(text));
  const memory = new ArrayBuffer(records.reduce((sum, { length }) => sum + length + 4, 0));
  const segment: Segment = { topic: topic.name, partition: 0, keys: null, count: 0, bytes: memory, usedBytes: 0 };
  for (const record of records) pushRecord(segment, Buffer.from(memory), record, null);
  return { baseOffset, count: texts.length, bytes: new Uint8Array(memory) };
}

function take(): [number, string][] {
  return cursor.take(10).map(({ offset, value }) => [offset, value]);
}

describe('a cursor', () => {
  test('reads the file first, whatever it was handed before', () => {
    cursor.hand(rowOf(2, ['handed 2']));
    expect(take()).toEqual([
      [2, 'file 2'],
      [3, 'file 3'],
    ]);
    expect(cursor.isAtEnd).toBe(true);
  });

  test('takes what it is handed at its end, each row once', () => {
    take();
    cursor.hand(rowOf(3, ['handed 3']));
    cursor.hand(rowOf(3, ['handed 3', 'handed 4']));
    cursor.hand(rowOf(5, ['handed 5']));
    expect(take()).toEqual([
      [4, 'handed 4'],
      [5, 'handed 5'],
    ]);
    expect([cursor.isAtEnd, cursor.nextOffset]).toEqual([true, 6]);
    expect(take()).toEqual([]);
  });

  test('takes a handed row in as many parts as there is space for', () => {
    take();
    cursor.hand(rowOf(4, ['handed 4', 'handed 5']));
    expect(cursor.take(1)).toEqual([{ offset: 4, value: 'handed 4' }]);
    expect(cursor.isAtEnd).toBe(false);
    expect(take()).toEqual([[5, 'handed 5']]);
    expect(cursor.isAtEnd).toBe(true);
  });

  test('reads the file where it was handed nothing, and where rows before the handed one are missing', async () => {
    take();
    await log.append(topic, ['file 4']);
    await log.append(topic, ['file 5']);
    cursor.hand(rowOf(5, ['handed 5']));
    expect(take()).toEqual([
      [4, 'file 4'],
      [5, 'file 5'],
    ]);
    await log.append(topic, ['file 6']);
    cursor.hand(null);
    expect(take()).toEqual([[6, 'file 6']]);
  });

  test('reads the file when more was handed to it than it keeps', async () => {
    take();
    await log.append(topic, ['file 4', 'file 5']);
    for (const offset of [4, 5]) cursor.hand(rowOf(offset, [`handed ${'x'.repeat(200_000)}`]));
    expect(take()).toEqual([
      [4, 'file 4'],
      [5, 'file 5'],
    ]);
    cursor.hand(rowOf(6, ['handed 6']));
    expect(take()).toEqual([[6, 'handed 6']]);
  });
});

test('readers in other openings get each record once, in order, whatever writes at the same time', async () => {
  const path = join(folder, 'log.sqlite');
  const other = openSqliteLog({ path });
  const read: [number, string][] = [];
  const subscription = await other.consume(topic, {
    group: 'reader',
    startAt: () => 0,
    async onBatch({ records }) {
      for (const { offset, value } of records) read.push([offset, value]);
    },
  });
  await Promise.all(
    [log, other].map(async (writer, number) => {
      for (let i = 0; i < 100; i++) await writer.append(topic, [`${number} ${i} ${'x'.repeat((i % 3) * 40_000)}`]);
    }),
  );
  await expect.poll(() => read.length).toBe(204);
  const db = new DatabaseSync(path, { readOnly: true });
  // Some of them are compressed by now.
  expect(db.prepare('SELECT sum(count) AS records FROM "texts/0"').get()?.records).toBe(204);
  db.close();
  expect(read.map(([offset]) => offset)).toEqual(Array.from({ length: 204 }, (_, offset) => offset));
  for (const number of [0, 1]) {
    const own = read.filter(([, text]) => text.startsWith(`${number} `)).map(([, text]) => text.split(' ')[1]);
    expect(own).toEqual(Array.from({ length: 100 }, (_, i) => `${i}`));
  }
  await subscription.stop();
  await other.close();
});
