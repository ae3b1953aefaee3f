import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { DiskBusyError, DiskFullError, LogFullError } from '../log.ts';
import { isCompressed } from './compression.ts';
import { openSqliteLog } from './open.ts';
import { inFolder, readTexts, textTopic } from './testing.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const topic = textTopic('texts');
const ACKNOWLEDGING = fileURLToPath(new URL('./acknowledging.child.ts', import.meta.url));

/** Starts the appending process, kills it once it acknowledged so many, and gives what it acknowledged. */
async function killAfter(acknowledgements: number, path: string, first: number, ...more: string[]): Promise<number[]> {
  const args = [ACKNOWLEDGING, path, String(first), ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(Number(line));
    if (acknowledged.length === acknowledgements) child.kill('SIGKILL');
  }
  return acknowledged;
}

describe('an acknowledged record is never lost', () => {
  test('after kill -9, again and again', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const numbers = textTopic('numbers');
      const acknowledged = new Set<number>();
      for (const [round, count] of [1, 40, 333, 1500].entries()) {
        for (const number of await killAfter(count, path, 1e6 * round)) acknowledged.add(number);
        const log = openSqliteLog({ path });
        const found = (await readTexts(log, numbers)).map((text) => {
          const [number = '', filling = ''] = text.split(' ');
          expect(filling).toHaveLength(Number(number) % 2000);
          return Number(number);
        });
        await log.close();
        expect(new Set(found).size).toBe(found.length);
        expect(acknowledged.difference(new Set(found))).toEqual(new Set());
      }
      expect(acknowledged.size).toBeGreaterThanOrEqual(1 + 40 + 333 + 1500);
    });
  });

  test('after kill -9 while rows are compressed: each record is there once, in order, plain or compressed', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const numbers = textTopic('numbers');
      const acknowledged: number[] = [];
      // A writer that compresses after each commit is killed while it does, or just before or after.
      for (const [round, count] of [1, 30, 100, 31, 170, 61, 260].entries()) {
        acknowledged.push(...(await killAfter(count, path, 1e6 * round, '1000')));
        const log = openSqliteLog({ path });
        const found = (await readTexts(log, numbers)).map((text) => Number(text.split(' ', 1)[0]));
        await log.close();
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
        expect(new Set(acknowledged).difference(new Set(found))).toEqual(new Set());
      }
      const db = new DatabaseSync(path, { readOnly: true });
      const rows = db.prepare('SELECT base_offset, count, records FROM "numbers/0" ORDER BY base_offset').all();
      db.close();
      let end = 0;
      for (const row of rows) {
        expect(row.base_offset).toBe(end);
        end += Number(row.count);
      }
      const compressed = rows.filter(({ records }) => isCompressed(records as Uint8Array));
      expect(compressed.length).toBeGreaterThan(5);
    });
  });

  test('nor is a record written twice, or out of order, when threads append at the same time', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const [names, count] = [['gateway', 'rules', 'api'], 300];
      await Promise.all(
        names.map(async (name) => {
          const file = new URL('./appending.child.ts', import.meta.url);
          const worker = new Worker(file, { workerData: { path, name, count }, execArgv: [] });
          expect(await once(worker, 'exit')).toEqual([0]);
        }),
      );
      const log = openSqliteLog({ path });
      const shared = await readTexts(log, textTopic('shared'));
      expect(shared).toHaveLength(names.length * count);
      for (const name of names) {
        const expected = Array.from({ length: count }, (_, i) => `${name} ${i}`);
        expect(shared.filter((text) => text.startsWith(name))).toEqual(expected);
        expect(await readTexts(log, textTopic(`own-${name}`))).toEqual(expected);
      }
      await log.close();
    });
  });

  test('when the disk is full nothing is acknowledged, and when it is not any more appends work again', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, maxFileBytes: 1024 * 1024 });
      const acknowledged: string[] = [];
      const fill = async () => {
        for (let i = 0; ; i++) {
          const text = `${i} ${'x'.repeat(50_000)}`;
          await log.append(topic, [text]);
          acknowledged.push(text);
        }
      };
      await expect(fill()).rejects.toThrow(/could not be written: .*full/);
      await expect(log.append(topic, ['x'.repeat(500_000)])).rejects.toThrow(DiskFullError);
      expect(log.pendingBytes).toBe(0);
      expect(acknowledged.length).toBeGreaterThan(5);
      expect(await readTexts(log, topic)).toEqual(acknowledged);

      const janitor = openSqliteLog({ path, maxBytes: 300_000, retentionEveryMs: 5 });
      await janitor.append(textTopic('other'), ['y']).catch(() => {});
      await expect
        .poll(() => log.append(topic, ['z'.repeat(200_000)]).then(() => 'done', String), PATIENCE)
        .toBe('done');
      expect((await readTexts(log, topic)).at(-1)).toBe('z'.repeat(200_000));
      await Promise.all([log.close(), janitor.close()]);
    });
  });

  test('while the file can’t be had nothing is acknowledged, and when it can appends work again', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, lockTimeoutMs: 50 });
      await log.append(topic, ['first']);
      // The writer may be about to look for what it can compress.
      const other = new DatabaseSync(path, { timeout: 5000 });
      other.exec('BEGIN IMMEDIATE');
      await expect(log.append(topic, ['refused'])).rejects.toThrow(DiskBusyError);
      expect(log.pendingBytes).toBe(0);
      other.exec('ROLLBACK');
      other.close();
      await log.append(topic, ['again']);
      expect(await readTexts(log, topic)).toEqual(['first', 'again']);
      await log.close();
    });
  });

  test('what waits behind an append that fails is refused with it, and does not overtake it', async () => {
    await inFolder(async (folder) => {
      const log = openSqliteLog({ path: join(folder, 'log.sqlite'), maxFileBytes: 512 * 1024 });
      await log.append(topic, ['first']);
      const tooMuch = log.append(topic, ['x'.repeat(1_000_000)]);
      const refused = expect(tooMuch).rejects.toThrow(DiskFullError);
      // By now the writer has it.
      await nextTurn();
      await expect(log.append(topic, ['behind'])).rejects.toThrow(DiskFullError);
      await refused;
      expect(log.pendingBytes).toBe(0);
      await log.append(topic, ['again']);
      expect(await readTexts(log, topic)).toEqual(['first', 'again']);
      await log.close();
    });
  });

  test('closing writes what waits', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path });
      const appends = Array.from({ length: 100 }, (_, i) => log.append(topic, [`${i}`]));
      await log.close();
      await Promise.all(appends);
      await expect(log.append(topic, ['late'])).rejects.toThrow('closed');
      const again = openSqliteLog({ path });
      expect(await readTexts(again, topic)).toHaveLength(100);
      await again.close();
    });
  });
});

describe('a gap between commits gathers what few commits can carry', () => {
  const HOUR_MS = 3_600_000;
  const commits = (path: string): number => {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return Number(db.prepare('SELECT count(*) AS commits FROM "texts/0"').get()?.commits);
    } finally {
      db.close();
    }
  };
  const nextTurns = async (turns: number) => {
    for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  test('the first append after a pause is written at once, those within the gap together when 256 KiB wait', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, commitGapMs: HOUR_MS });
      await log.append(topic, ['first']);
      expect(commits(path)).toBe(1);
      const gathered: Promise<void>[] = [];
      for (let i = 0; i < 5; i++) {
        gathered.push(log.append(topic, [`${i} ${'x'.repeat(50_000)}`]));
        await nextTurns(5);
      }
      expect(log.pendingBytes).toBeGreaterThan(250_000);
      expect(commits(path)).toBe(1);
      gathered.push(log.append(topic, ['x'.repeat(50_000)]));
      await Promise.all(gathered);
      expect(commits(path)).toBe(2);
      await log.close();
    });
  });

  test('what waits for the end of the gap is written when the gap is over', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, commitGapMs: 20 });
      for (let i = 0; i < 5; i++) await log.append(topic, [`${i}`]);
      expect(await readTexts(log, topic)).toEqual(['0', '1', '2', '3', '4']);
      await log.close();
    });
  });

  test('closing writes what waits without waiting for the gap', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path, commitGapMs: HOUR_MS });
      await log.append(topic, ['1']);
      const second = log.append(topic, ['2']);
      await nextTurns(5);
      await log.close();
      await second;
      const again = openSqliteLog({ path });
      expect(await readTexts(again, topic)).toEqual(['1', '2']);
      await again.close();
    });
  });
});

describe('memory is bounded', () => {
  test('append refuses while more than the bound waits, and takes again when it was written', async () => {
    await inFolder(async (folder) => {
      const log = openSqliteLog({ path: join(folder, 'log.sqlite'), maxPendingBytes: 10_000 });
      const first = log.append(topic, ['x'.repeat(9000)]);
      const second = log.append(topic, ['y'.repeat(2000)]);
      expect(log.pendingBytes).toBeGreaterThan(11_000);
      await expect(log.append(topic, ['z'])).rejects.toThrow(LogFullError);
      await Promise.all([first, second]);
      await log.append(topic, ['z']);
      expect(await readTexts(log, topic)).toHaveLength(3);
      await log.close();
    });
  });
});

describe('what is old is forgotten', () => {
  const batches = async (folder: string, options: object) => {
    const log = openSqliteLog({ path: join(folder, 'log.sqlite'), retentionEveryMs: 5, ...options });
    const definitions = textTopic('kept', true);
    for (let i = 0; i < 60; i++) {
      await log.append(topic, [`${i} ${'x'.repeat(40_000)}`, `${i} y`]);
      await log.append(definitions, [`key${i % 7} ${i}`]);
    }
    return { log, definitions };
  };

  test('by age, but never the newest of a compacted topic, and offsets go on', async () => {
    await inFolder(async (folder) => {
      const { log, definitions } = await batches(folder, { maxAgeMs: 1 });
      // The last batch stays: it knows where the next offset is.
      await expect.poll(async () => (await readTexts(log, topic)).length, PATIENCE).toBe(2);
      expect(await readTexts(log, definitions)).toHaveLength(7);
      expect(await log.endOffsets(topic)).toEqual(new Map([[0, 120]]));
      await log.append(topic, ['next']);
      expect(await log.endOffsets(topic)).toEqual(new Map([[0, 121]]));

      // A consumer whose place is gone begins with the oldest that is kept.
      const offsets: number[] = [];
      const subscription = await log.consume(topic, {
        group: 'late',
        startAt: () => 3,
        onBatch: async ({ records }) => {
          offsets.push(...records.map(({ offset }) => offset));
        },
      });
      await expect.poll(() => offsets.at(-1), PATIENCE).toBe(120);
      expect(offsets[0]).toBeGreaterThanOrEqual(118);
      await subscription.stop();
      await log.close();
    });
  });

  test('by size, the oldest first', async () => {
    await inFolder(async (folder) => {
      const maxBytes = 1_200_000;
      const { log, definitions } = await batches(folder, { maxBytes });
      await expect.poll(async () => (await readTexts(log, topic)).length, PATIENCE).toBeLessThan(60);
      const left = await readTexts(log, topic);
      expect(left.at(-1)).toBe('59 y');
      expect(left.at(-2)).toMatch(/^59 x/);
      expect(await readTexts(log, definitions)).toHaveLength(7);
      await log.close();
    });
  });
});

describe('a file that is not as it was is not taken for good', () => {
  test('a file that is something else, or a folder that cannot be, is refused with its name', async () => {
    await inFolder(async (folder) => {
      const other = join(folder, 'other.txt');
      writeFileSync(other, 'something else '.repeat(10_000));
      expect(() => openSqliteLog({ path: other })).toThrow(`${other} can't be opened`);
      expect(() => openSqliteLog({ path: join(other, 'log.sqlite') })).toThrow(`can't be opened`);
      expect(readFileSync(other, 'utf8')).toMatch(/^something else /);
    });
  });

  test('a later layout is refused', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      await openSqliteLog({ path }).close();
      const db = new DatabaseSync(path);
      db.exec('PRAGMA user_version = 99');
      db.close();
      expect(() => openSqliteLog({ path })).toThrow('layout');
    });
  });

  test('a flipped bit stops the reader and names the place', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path });
      await log.append(topic, ['a', `needle ${'x'.repeat(100)}`]);
      await log.close();
      const place = readFileSync(path).indexOf('needle');
      expect(place).toBeGreaterThan(0);
      const file = openSync(path, 'r+');
      writeSync(file, 'N', place);
      closeSync(file);
      const again = openSqliteLog({ path });
      await expect(readTexts(again, topic)).rejects.toThrow(/texts\/0 at offset 0: .*not those that were written/);
      await again.close();
    });
  });

  test('a file cut short is refused', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'log.sqlite');
      const log = openSqliteLog({ path });
      for (let i = 0; i < 20; i++) await log.append(topic, [`${i} ${'x'.repeat(60_000)}`]);
      await log.close();
      truncateSync(path, 5 * 32 * 1024);
      expect(() => openSqliteLog({ path })).toThrow('malformed');
    });
  });

  test('a topic that was compacted is not written as one that is not', async () => {
    await inFolder(async (folder) => {
      const log = openSqliteLog({ path: join(folder, 'log.sqlite') });
      await log.append(textTopic('definitions', true), ['a 1']);
      await expect(log.append(textTopic('definitions'), ['a 2'])).rejects.toThrow('compacted');
      await log.append(textTopic('definitions', true), ['a 3']);
      expect(await readTexts(log, textTopic('definitions', true))).toEqual(['a 3']);
      await log.close();
    });
  });

  test('an append that fails leaves the writer fit for the next', async () => {
    await inFolder(async (folder) => {
      const log = openSqliteLog({ path: join(folder, 'log.sqlite') });
      await log.append(topic, ['1']);
      await expect(log.append(textTopic('no/name'), ['x'])).rejects.toThrow('no name for a topic');
      await log.append(topic, ['2']);
      expect(await readTexts(log, topic)).toEqual(['1', '2']);
      await log.close();
    });
  });
});
