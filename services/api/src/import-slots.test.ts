import { Problem } from '@outrider/access';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ImportSlots, WORKING } from './import-slots.ts';

const MB = 1024 * 1024;
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
/** Lets everything go on that waits for nothing but its turn. */
const settled = () => vi.advanceTimersByTimeAsync(0);

test('eight imports of 16 MiB are held in memory one at a time, also of different tenants', async () => {
  const slots = new ImportSlots(WORKING);
  const most: number[] = [];
  let done = 0;
  const imports = Array.from({ length: 8 }, async (_, nth) => {
    const release = await slots.admit(`tenant ${nth}`, 16 * MB);
    most.push(slots.bytes);
    await new Promise((resolve) => setTimeout(resolve, 100));
    release();
    done++;
  });
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all(imports);
  expect(done).toBe(8);
  expect(Math.max(...most)).toBe(16 * MB);
  expect(slots.bytes).toBe(0);
});

test('a tenant that sends many imports does not keep another one waiting for more than the one in hand', async () => {
  const slots = new ImportSlots(WORKING);
  const order: string[] = [];
  const running: (() => void)[] = [];
  const ask = (tenant: string) =>
    slots.admit(tenant, 16 * MB).then((release) => {
      order.push(tenant);
      running.push(release);
    });
  const all = Array.from({ length: 10 }, () => ask('noisy'));
  all.push(ask('neighbour'));
  await settled();
  while (running.length > 0) {
    running.shift()?.();
    await settled();
  }
  await Promise.all(all);
  expect(order.indexOf('neighbour')).toBeLessThanOrEqual(2);
  expect(order).toHaveLength(11);
});

test('a tenant works on one at a time, though there is memory for more', async () => {
  const slots = new ImportSlots(WORKING);
  const first = await slots.admit('a', MB);
  let second = false;
  const waiting = slots.admit('a', MB).then((release) => {
    second = true;
    return release;
  });
  const other = await slots.admit('b', MB);
  await settled();
  expect([second, slots.bytes]).toEqual([false, 2 * MB]);
  first();
  (await waiting)();
  other();
  expect(slots.bytes).toBe(0);
});

test('a client that waits too long, or is one too many, gets a Retry-After', async () => {
  const slots = new ImportSlots(WORKING);
  const release = await slots.admit('a', MB);
  const waiting = Array.from({ length: WORKING.maxWaitingOfTenant }, () => slots.admit('a', MB));
  const refused = expect(Promise.allSettled(waiting)).resolves.toEqual(
    waiting.map(() => ({ status: 'rejected', reason: expect.any(Problem) })),
  );
  await expect(slots.admit('a', MB)).rejects.toMatchObject({ kind: 'unavailable', headers: { 'retry-after': '5' } });
  await vi.advanceTimersByTimeAsync(WORKING.maxWaitMs);
  await refused;
  release();
  (await slots.admit('a', MB))();
  expect(slots.bytes).toBe(0);
});

test('a client that leaves makes place', async () => {
  const slots = new ImportSlots(WORKING);
  const release = await slots.admit('a', 16 * MB);
  const leaving = new AbortController();
  const left = expect(slots.admit('b', 16 * MB, leaving.signal)).rejects.toThrow(Problem);
  const next = slots.admit('c', 16 * MB);
  leaving.abort();
  await left;
  release();
  (await next)();
  expect(slots.bytes).toBe(0);
});

test('whatever comes and goes: no more bytes than may be, and in the end none', async () => {
  const call = fc.record({ tenant: fc.nat(5), bytes: fc.integer({ min: 1, max: 16 * MB }), lastsMs: fc.nat(500) });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
      const slots = new ImportSlots(WORKING);
      const busy = new Set<number>();
      const all = calls.map(async ({ tenant, bytes, lastsMs }) => {
        const release = await slots.admit(String(tenant), bytes);
        expect(busy.has(tenant)).toBe(false);
        busy.add(tenant);
        expect(slots.bytes).toBeLessThanOrEqual(WORKING.maxBytes);
        await new Promise((resolve) => setTimeout(resolve, lastsMs));
        busy.delete(tenant);
        release();
      });
      await vi.advanceTimersByTimeAsync(60_000);
      for (const { status, reason } of (await Promise.allSettled(all)) as PromiseRejectedResult[])
        if (status === 'rejected') expect(reason).toBeInstanceOf(Problem);
      expect(slots.bytes).toBe(0);
    }),
    { numRuns: runs(100) },
  );
});
