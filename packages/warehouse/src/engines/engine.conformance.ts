import { randomBytes } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { fixedColumn } from '../native/columns.ts';
import type { Engine } from './engine.ts';

/** A query that only its limits, or its signal, end. */
export const ENDLESS = {
  sql: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)',
  parameters: {},
  limits: { maxSeconds: 300, maxMemoryBytes: 2 ** 28 },
  queue: 'report',
} as const;

/**
 * What every engine promises.
 *
 * @param open each test opens and closes an engine
 */
export function engineConformance(name: string, open: () => Promise<Engine>): void {
  describe(`an engine: ${name}`, () => {
    test('any bytes go in and come out as they were', async () => {
      const engine = await open();
      try {
        await engine.execute('CREATE TABLE bytes (place UInt32, number UInt64) ENGINE = MergeTree ORDER BY place');
        const rows = 100_000;
        const numbers = new BigUint64Array(new Uint8Array(randomBytes(rows * 8)).buffer);
        const places = Uint32Array.from({ length: rows }, (_, place) => place);
        await engine.insert('bytes', {
          rows,
          columns: [fixedColumn('place', 'UInt32', places), fixedColumn('number', 'UInt64', numbers)],
        });
        const read = await engine.select({ sql: 'SELECT hex(number) FROM bytes ORDER BY place', parameters: {} });
        const wrong = read.findIndex(([hex], place) => BigInt(`0x${hex}`) !== numbers[place]);
        expect([read.length, wrong]).toEqual([rows, -1]);
      } finally {
        await engine.close();
      }
    });

    test('a query that takes too long or too much is broken off', async () => {
      const engine = await open();
      try {
        const long = { sql: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)', parameters: {} };
        await expect(
          engine.select({ ...long, limits: { maxSeconds: 1, maxMemoryBytes: 2 ** 28 } }),
        ).rejects.toMatchObject({
          name: 'TooMuchError',
          what: 'time',
        });
        const big = { sql: 'SELECT length(groupArray(number)) FROM numbers(100000000)', parameters: {} };
        await expect(
          engine.select({ ...big, limits: { maxSeconds: 30, maxMemoryBytes: 2 ** 26 } }),
        ).rejects.toMatchObject({
          name: 'TooMuchError',
          what: 'memory',
        });
        const limits = { maxSeconds: 30, maxMemoryBytes: 2 ** 28, maxRowsRead: 1000 };
        await expect(engine.select({ ...long, limits })).rejects.toMatchObject({ name: 'TooMuchError', what: 'rows' });
      } finally {
        await engine.close();
      }
    });

    test('a query that goes over its time after it found its first rows took too much time', async () => {
      const engine = await open();
      try {
        // A thousand bytes a row, a thousand rows a second: more than any buffer holds before the second is over.
        const slow = `SELECT number, repeat('x', 1000), sleepEachRow(0.001) FROM numbers(100000) SETTINGS max_block_size = 500`;
        const limits = { maxSeconds: 3, maxMemoryBytes: 2 ** 28 };
        await expect(engine.select({ sql: `SELECT * FROM (${slow})`, parameters: {}, limits })).rejects.toMatchObject({
          name: 'TooMuchError',
          what: 'time',
        });
      } finally {
        await engine.close();
      }
    });

    test('a list of any length is bound to a query', async () => {
      const engine = await open();
      try {
        const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
        const ids = Array.from({ length: 15_000 }, (_, nth) => idOf(nth));
        const sql = `SELECT length({ids:Array(UUID)}), count() FROM numbers(20000)
          WHERE toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number), 12, '0'))) IN {ids:Array(UUID)}`;
        expect(await engine.select({ sql, parameters: { ids } })).toEqual([[15_000, 15_000]]);
      } finally {
        await engine.close();
      }
    });

    test('what a query that failed had found is in nobody else’s answer', async () => {
      const engine = await open();
      try {
        for (const queue of ['quick', 'report'] as const) {
          const failing = {
            sql: 'SELECT number, throwIf(number = 100000) FROM numbers(1000000)',
            parameters: {},
            queue,
          };
          await expect(engine.select(failing)).rejects.toThrow();
          expect(await engine.select({ sql: 'SELECT 42', parameters: {}, queue })).toEqual([[42]]);
          expect(await engine.select({ sql: 'SELECT {n:UInt8}', parameters: { n: 43 }, queue })).toEqual([[43]]);
        }
      } finally {
        await engine.close();
      }
    });

    test('a report that nobody waits for any more ends at once, whether it runs or waits', {
      timeout: 60_000,
    }, async () => {
      const engine = await open();
      try {
        const leave = new AbortController();
        const reports = Array.from({ length: 6 }, () => engine.select({ ...ENDLESS, signal: leave.signal }));
        const outcomes = Promise.allSettled(reports);
        const running = {
          // It counts itself.
          sql: `SELECT count() FROM system.processes WHERE query LIKE '%sipHash64%numbers%'`,
          parameters: {},
        };
        while (Number((await engine.select(running))[0]?.[0]) < 2)
          await new Promise((resolve) => setTimeout(resolve, 20));
        leave.abort(new Error('the client left'));
        for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { message: 'the client left' } });
        await vi.waitFor(async () => expect(await engine.select(running)).toEqual([[1]]), { timeout: 60_000 });
        // The next report can run.
        const next = { sql: 'SELECT 42', parameters: {}, queue: 'report' } as const;
        expect(await engine.select(next)).toEqual([[42]]);
        await expect(engine.select({ ...next, signal: leave.signal })).rejects.toThrow('the client left');
      } finally {
        await engine.close();
      }
    });
  });
}
