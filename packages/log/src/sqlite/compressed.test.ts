import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Log } from '../log.ts';
import { compress, firstWrittenSince, isCompressed, recordsOf, writtenAtOf } from './compression.ts';
import { Compressor } from './compressor.ts';
import { openSqliteLog } from './open.ts';
import { Cursor, Reader } from './reader.ts';
import { inFolder, readTexts, textTopic } from './testing.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const topic = textTopic('texts');
/** Two rows or three together, when one is behind them. */
const SOON = { groupBytes: 1000, plainBytes: 1 };
const textOf = (number: number) => `${number} ${'x'.repeat(400)}`;
const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => textOf(from + i));

interface Row {
  offset: number;
  count: number;
  compressed: boolean;
}

function rowsOf(path: string): Row[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db.prepare('SELECT base_offset, count, records FROM "texts/0" ORDER BY base_offset').all();
    return rows.map(({ base_offset, count, records }) => {
      return { offset: Number(base_offset), count: Number(count), compressed: isCompressed(records as Uint8Array) };
    });
  } finally {
    db.close();
  }
}

const PARTITION = { topic: 'texts', partition: 0, table: '"texts/0"' };
const TABLE = `
  INSERT INTO topics VALUES ('texts', 0, 0);
  CREATE TABLE "texts/0" (
    base_offset INTEGER PRIMARY KEY, count INTEGER NOT NULL,
    written_at_ms INTEGER NOT NULL, crc INTEGER NOT NULL, records BLOB NOT NULL);`;

/** A row as a commit writes it. */
function insertPlain(db: DatabaseSync, offset: number, batch: readonly string[]): void {
  const records = Buffer.concat(
    batch.flatMap((text) => {
      const prefix = Buffer.alloc(4);
      prefix.writeUInt32LE(Buffer.byteLength(text), 0);
      return [prefix, Buffer.from(text)];
    }),
  );
  db.prepare('INSERT INTO "texts/0" VALUES (?, ?, ?, ?, ?)').run(
    offset,
    batch.length,
    Date.now(),
    crc32(records),
    records,
  );
}

/** The writer compresses after it acknowledged. */
async function appendOneByOne(log: Log, all: readonly string[]): Promise<void> {
  for (const text of all) await log.append(topic, [text]);
}

const compressedIn = (path: string) => rowsOf(path).filter(({ compressed }) => compressed).length;

describe('a compressed row', () => {
  const commits = [
    { count: 2, writtenAtMs: 5000, records: Buffer.from('\x01\0\0\0a\x01\0\0\0b') },
    { count: 1, writtenAtMs: 5030, records: Buffer.from('\x02\0\0\0cc') },
    { count: 1, writtenAtMs: 5020, records: Buffer.from('\0\0\0\0') },
  ];

  test('gives the records of its commits, one behind the other, and when each was written', () => {
    const { writtenAtMs, stored } = compress(commits);
    expect(writtenAtMs).toBe(5030);
    expect(isCompressed(stored)).toBe(true);
    expect(recordsOf(stored)).toEqual(Buffer.concat(commits.map(({ records }) => records)));
    expect([0, 1, 2, 3].map((index) => writtenAtOf(stored, writtenAtMs, index))).toEqual([5000, 5000, 5030, 5020]);
    expect([4000, 5000, 5001, 5030].map((atMs) => firstWrittenSince(stored, writtenAtMs, atMs))).toEqual([0, 0, 2, 2]);
  });

  test('is recognised beside plain ones, which are given as they are', () => {
    for (const { records } of commits) {
      expect(isCompressed(records)).toBe(false);
      expect(recordsOf(records)).toEqual(records);
      expect(writtenAtOf(records, 7, 0)).toBe(7);
      expect(firstWrittenSince(records, 7, 1)).toBe(0);
    }
  });

  test('that is none is refused, whatever its lengths say', () => {
    const { stored } = compress(commits);
    const withLength = (at: number, value: number) => {
      const copy = Buffer.from(stored);
      copy.writeUInt32LE(value, at);
      return copy;
    };
    expect(() => recordsOf(withLength(4, 1000))).toThrow('of them for its commits');
    expect(() => recordsOf(withLength(8, 0xffff_ffff))).toThrow('a compressed row of 4294967295 bytes');
    expect(() => recordsOf(withLength(8, 45))).toThrow('not 45');
    expect(() => recordsOf(stored.subarray(0, 20))).toThrow();
  });
});

describe('compression', () => {
  test('leaves the newest rows plain, and every reader finds every record at its offset', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, compression: SOON });
      await appendOneByOne(log, texts(0, 20));
      await expect.poll(() => compressedIn(path), PATIENCE).toBeGreaterThan(3);
      expect(rowsOf(path).at(-1)?.compressed).toBe(false);
      expect(await readTexts(log, topic)).toEqual(texts(0, 20));
      for (const from of [0, 1, 2, 3, 7, 19])
        for await (const { records } of log.read(topic, 0, from, from + 1))
          expect(records).toEqual([{ offset: from, value: textOf(from) }]);
      await log.close();
    });
  });

  test('gives way to large commits, and makes up for it after small ones', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, compression: SOON });
      const large = Array.from({ length: 6 }, (_, i) => `${i} ${'y'.repeat(70_000)}`);
      await appendOneByOne(log, large);
      expect(compressedIn(path)).toBe(0);
      await appendOneByOne(log, texts(0, 10));
      await expect.poll(() => compressedIn(path), PATIENCE).toBeGreaterThan(5);
      expect(await readTexts(log, topic)).toEqual([...large, ...texts(0, 10)]);
      await log.close();
    });
  });

  test('does not confuse a reader that is in the middle of what is compressed', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const plain = openSqliteLog({ path });
      await appendOneByOne(plain, texts(0, 12));
      await plain.close();
      const reader = new Reader(path);
      const cursors = [0, 1, 4].map((from) => new Cursor(reader, topic, 0, from));
      expect(cursors.map((cursor) => cursor.take(2).map(({ offset }) => offset))).toEqual([
        [0, 1],
        [1, 2],
        [4, 5],
      ]);
      const log = openSqliteLog({ path, compression: SOON });
      await appendOneByOne(log, texts(12, 24));
      await expect.poll(() => rowsOf(path)[1]?.compressed, PATIENCE).toBe(true);
      for (const [i, next] of [2, 3, 6].entries()) {
        const cursor = cursors[i] as Cursor<string>;
        cursor.hand(null);
        expect(cursor.take(100)).toEqual(texts(next, 24).map((value, j) => ({ offset: next + j, value })));
      }
      reader.close();
      await log.close();
    });
  });

  test('keeps when each record was written', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, compression: { groupBytes: 10_000, plainBytes: 1 } });
      await appendOneByOne(log, texts(0, 10));
      // Ten seconds between each two of them, as if they had come so.
      const db = new DatabaseSync(path);
      db.exec('UPDATE "texts/0" SET written_at_ms = written_at_ms - (10 - base_offset) * 10000');
      const before = await Promise.all(texts(0, 10).map((_, offset) => log.writtenAtMs(topic, 0, offset)));
      await appendOneByOne(log, texts(10, 40));
      await expect.poll(() => compressedIn(path), PATIENCE).toBeGreaterThan(0);
      expect(rowsOf(path)[0]).toMatchObject({ offset: 0, compressed: true });
      expect(rowsOf(path)[0]?.count).toBeGreaterThan(10);
      expect(await Promise.all(before.map((_, offset) => log.writtenAtMs(topic, 0, offset)))).toEqual(before);
      for (const [offset, atMs] of before.entries())
        expect([await log.offsetsAt(topic, Number(atMs)), await log.offsetsAt(topic, Number(atMs) + 1)]).toEqual([
          new Map([[0, offset]]),
          new Map([[0, offset + 1]]),
        ]);
      db.close();
      await log.close();
    });
  });

  test('does not put together what was written far apart', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const plain = openSqliteLog({ path });
      await appendOneByOne(plain, texts(0, 6));
      await plain.close();
      const db = new DatabaseSync(path);
      db.exec('UPDATE "texts/0" SET written_at_ms = written_at_ms - 3600000 WHERE base_offset < 3');
      db.close();
      const log = openSqliteLog({ path, compression: { groupBytes: 10_000, plainBytes: 1 } });
      await appendOneByOne(log, texts(6, 40));
      await expect.poll(() => compressedIn(path), PATIENCE).toBeGreaterThan(1);
      expect(rowsOf(path)[0]).toEqual({ offset: 0, count: 3, compressed: true });
      await log.close();
    });
  });

  test('does not put together what does not follow one another', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const plain = openSqliteLog({ path });
      await appendOneByOne(plain, texts(0, 6));
      await plain.close();
      const db = new DatabaseSync(path);
      db.exec('DELETE FROM "texts/0" WHERE base_offset = 3');
      db.close();
      const log = openSqliteLog({ path, compression: { groupBytes: 10_000, plainBytes: 1 } });
      await appendOneByOne(log, texts(6, 40));
      await expect.poll(() => compressedIn(path), PATIENCE).toBeGreaterThan(1);
      expect(rowsOf(path).slice(0, 1)).toEqual([{ offset: 0, count: 3, compressed: true }]);
      expect(await readTexts(log, topic)).toEqual([...texts(0, 3), ...texts(4, 40)]);
      await log.close();
    });
  });

  test('leaves a damaged row to its readers', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const plain = openSqliteLog({ path });
      await appendOneByOne(plain, ['needle '.repeat(60)]);
      await plain.close();
      const place = readFileSync(path).indexOf('needle');
      const file = openSync(path, 'r+');
      writeSync(file, 'N', place);
      closeSync(file);
      const log = openSqliteLog({ path, compression: SOON });
      await appendOneByOne(log, texts(1, 20));
      await expect.poll(() => compressedIn(path), PATIENCE).toBeGreaterThan(2);
      await expect(readTexts(log, topic)).rejects.toThrow(/texts\/0 at offset 0: .*not those that were written/);
      await log.close();
    });
  });

  test('is refused to releases before it, and compresses what they wrote', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      // As 0.1.0 to 0.3.0 left it.
      const db = new DatabaseSync(path);
      db.exec(`
        PRAGMA journal_mode = WAL;
        CREATE TABLE topics (
          name TEXT NOT NULL, partition INTEGER NOT NULL, compacted INTEGER NOT NULL, PRIMARY KEY (name, partition)
        ) WITHOUT ROWID;
        ${TABLE}
        PRAGMA user_version = 1`);
      for (const [offset, text] of texts(0, 8).entries()) insertPlain(db, offset, [text]);
      const log = openSqliteLog({ path, compression: SOON });
      expect(await readTexts(log, topic)).toEqual(texts(0, 8));
      expect(db.prepare('PRAGMA user_version').get()?.user_version).toBe(2);
      db.close();
      await appendOneByOne(log, texts(8, 20));
      await expect.poll(() => rowsOf(path)[0]?.compressed, PATIENCE).toBe(true);
      expect(await readTexts(log, topic)).toEqual(texts(0, 20));
      await log.close();
    });
  });
});

test('whatever is appended by whom, and removed when it was read, a reader gets the rest from any offset', async () => {
  const commit = fc.record({
    writer: fc.nat(1),
    sizes: fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(600) }, fc.constant(9000)), { minLength: 1, maxLength: 4 }),
    isRemoved: fc.boolean(),
  });
  const settings = fc.record({ groupBytes: fc.integer({ min: 1, max: 3000 }), plainBytes: fc.nat(2000) });
  let compressed = 0;
  await inFolder(async (folder) => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(commit, { minLength: 1, maxLength: 30 }),
        settings,
        fc.nat(),
        async (commits, how, at) => {
          const path = join(folder, `${++runs}.sqlite`);
          await openSqliteLog({ path }).close();
          using db = new DatabaseSync(path);
          db.exec(`PRAGMA synchronous = OFF; ${TABLE}`);
          const compressors = [new Compressor(how), new Compressor(how)];
          const reader = new Reader(path);
          const following = new Cursor(reader, topic, 0, 0);
          const followed: string[] = [];
          const expected: string[] = [];
          for (const { writer, sizes, isRemoved } of commits) {
            const batch = sizes.map((size, i) => `${expected.length + i} ${'z'.repeat(size)}`);
            insertPlain(db, expected.length, batch);
            expected.push(...batch);
            const compressor = compressors[writer] as Compressor;
            compressor.written(PARTITION, batch.join('').length);
            const due = compressor.due();
            if (due !== null) compressor.step(db, due);
            following.hand(null);
            followed.push(...following.take(2).map(({ value }) => value));
            const removed = isRemoved ? Math.min(following.nextOffset, expected.length - batch.length) : 0;
            db.prepare('DELETE FROM "texts/0" WHERE base_offset + count <= ?').run(removed);
            const from = Math.max(at % expected.length, reader.earliest(topic, 0));
            expect(reader.earliest(topic, 0)).toBeLessThanOrEqual(following.nextOffset);
            expect(new Cursor(reader, topic, 0, from).take(1000).map(({ value }) => value)).toEqual(
              expected.slice(from),
            );
          }
          for (;;) {
            const taken = following.take(1000);
            if (taken.length === 0) break;
            followed.push(...taken.map(({ value }) => value));
          }
          expect(followed).toEqual(expected);
          compressed += compressedIn(path);
          reader.close();
        },
      ),
      { numRuns: 200 },
    );
  });
  expect(compressed).toBeGreaterThan(20);
});
