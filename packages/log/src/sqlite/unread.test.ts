import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { type Log, LogAtBoundError, type Topic } from '../log.ts';
import { openSqliteLog, type SqliteLogOptions } from './open.ts';
import { inFolder, readTexts, textTopic } from './testing.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const MAX_BYTES = 1_500_000;

const input: Topic<string> = { ...textTopic('input'), isInput: true };
const derived = textTopic('derived');
const filling = 'x'.repeat(50_000);

const open = (folder: string, options: Partial<SqliteLogOptions> = {}) =>
  openSqliteLog({ path: join(folder, 'log.sqlite'), maxBytes: MAX_BYTES, retentionEveryMs: 10, ...options });

/** Appends records one by one until the log refuses one. @returns how many it took */
async function fill(log: Log, first = 0): Promise<number> {
  for (let i = first; ; i++) {
    try {
      await log.append(input, [`${i} ${filling}`]);
    } catch (error) {
      expect(error).toBeInstanceOf(LogAtBoundError);
      return i;
    }
    // Beyond any bound: then nothing refuses.
    expect(i).toBeLessThan(400);
  }
}

const numbers = async (log: Log) => (await readTexts(log, input)).map((text) => Number(text.split(' ', 1)[0]));
const from = (first: number, end: number) => Array.from({ length: end - first }, (_, i) => first + i);

test('the size bound removes nothing that a reader has not read: the log refuses records, and says which reader it is', async () => {
  await inFolder(async (folder) => {
    const log = open(folder);
    await log.append(input, [`0 ${filling}`]);
    await log.resume(input, 0, 'archiver', null);
    await log.resume(input, 0, 'rules', null);
    log.release(input, 0, 'rules', 1);
    const count = await fill(log, 1);
    expect(await numbers(log)).toEqual(from(0, count));
    expect(log.holdUp).toMatchObject({ reader: 'archiver', topic: 'input', partition: 0, maxBytes: MAX_BYTES });
    // The write-ahead log counts, so how many records fill the file differs from run to run.
    expect(log.holdUp?.behindRecords).toBeGreaterThan(1);
    expect(log.holdUp?.behindRecords).toBeLessThanOrEqual(count);
    // What readers make of records that the log holds is taken: or they could not go on.
    await log.append(derived, [`a ${filling}`]);

    // It recovers by itself, when the reader goes on.
    log.release(input, 0, 'archiver', count);
    log.release(input, 0, 'rules', count);
    await vi.waitFor(() => expect(log.holdUp).toBeNull(), PATIENCE);
    await log.append(input, [`${count} ${filling}`]);
    expect((await numbers(log)).at(-1)).toBe(count);
    expect((await log.bounds(input)).get(0)?.earliest).toBeGreaterThan(0);
    await log.close();
  });
});

test('nor does the time bound', async () => {
  await inFolder(async (folder) => {
    const log = open(folder, { maxAgeMs: 1 });
    await log.resume(input, 0, 'archiver', null);
    for (const i of from(0, 5)) await log.append(input, [`${i} text`]);
    // Nobody reads these: they are removed, by a run that finds those of `input` too old as well.
    for (const text of ['a text', 'the newest is kept']) await log.append(derived, [text]);
    await vi.waitFor(async () => expect((await log.bounds(derived)).get(0)?.earliest).toBe(1), PATIENCE);
    expect(await numbers(log)).toEqual(from(0, 5));
    log.release(input, 0, 'archiver', 3);
    await vi.waitFor(async () => expect(await numbers(log)).toEqual([3, 4]), PATIENCE);
    await log.close();
  });
});

test('a reader of another opening counts, and one that does not run at all', async () => {
  await inFolder(async (folder) => {
    const reading = open(folder);
    await reading.resume(input, 0, 'archiver', null);
    await reading.close();
    const log = open(folder);
    const count = await fill(log);
    expect(await numbers(log)).toEqual(from(0, count));
    const archiver = open(folder);
    await archiver.resume(input, 0, 'archiver', null);
    archiver.release(input, 0, 'archiver', count);
    await vi.waitFor(() => expect(log.holdUp).toBeNull(), PATIENCE);
    await archiver.close();
    await log.close();
  });
});

test('a topic that no reader is registered for loses its oldest records at the bound, as before', async () => {
  await inFolder(async (folder) => {
    const log = open(folder);
    for (const i of from(0, 80)) await log.append(input, [`${i} ${filling}`]);
    await vi.waitFor(async () => expect((await numbers(log)).length).toBeLessThan(40), PATIENCE);
    expect(log.holdUp).toBeNull();
    const db = new DatabaseSync(join(folder, 'log.sqlite'));
    expect(db.prepare('SELECT * FROM readers').all()).toEqual([]);
    db.close();
    await log.close();
  });
});
