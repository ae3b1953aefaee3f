import { runs } from '@outrider/testing';
import { VirtualClock } from '@outrider/testing/clock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue, QueueFullError } from './fair-queue.ts';

const LIMITS = { atOnce: 16, perTenant: 1, maxWaiting: 200, maxWaitingOfAccount: 10, maxWaitMs: 10_000 };
const of = (account: string, tenant = account) => ({ owner: { account, tenant } });

test('never lets in more than it may, turns away who finds too many waiting, and serves the rest in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.nat(4),
      fc.nat(12),
      fc.scheduler(),
      async (atOnce, maxWaiting, comers, scheduler) => {
        const queue = new FairQueue({ atOnce, maxWaiting });
        const served: number[] = [];
        let inside = 0;
        const visits = Array.from({ length: comers }, (_, number) =>
          queue.run(async () => {
            served.push(number);
            expect(++inside).toBeLessThanOrEqual(atOnce);
            await scheduler.schedule(Promise.resolve());
            inside--;
          }),
        );
        const results = Promise.allSettled(visits);
        const idle = queue.idle();
        await scheduler.waitFor(results);
        await idle;
        const taken = Math.min(comers, atOnce + maxWaiting);
        const refused = (await results).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
        expect(refused).toEqual(Array.from({ length: comers - taken }, () => expect.any(QueueFullError)));
        expect(served).toEqual(Array.from({ length: taken }, (_, number) => number));
      },
    ),
  );
});

test('an owner that asks for much does not keep another one waiting for more than the one in hand', async () => {
  const queue = new FairQueue({ ...LIMITS, atOnce: 1 });
  const order: string[] = [];
  const ask = (account: string) => queue.run(async () => void order.push(account), of(account));
  await Promise.all([...Array.from({ length: 10 }, () => ask('loud')), ask('quiet')]);
  expect(order.indexOf('quiet')).toBe(1);
  expect(order).toHaveLength(11);
});

test('a tenant has no more at once than its share, whatever its accounts; the service has', async () => {
  const queue = new FairQueue({ atOnce: 8, perTenant: 2, maxWaiting: 10 });
  const inside: string[] = [];
  const enter = async (account: string, tenant: string) => {
    const leave = await queue.enter(of(account, tenant));
    inside.push(account);
    return leave;
  };
  const all = ['a', 'b', 'c'].map((account) => enter(account, 'dealer'));
  const other = await enter('other', 'other');
  const service = await Promise.all([queue.enter(), queue.enter(), queue.enter()]);
  expect(inside).toEqual(['a', 'b', 'other']);
  (await all[0])?.();
  await all[2];
  expect(inside).toEqual(['a', 'b', 'other', 'c']);
  for (const leave of [other, ...service, ...(await Promise.all(all))]) leave();
  expect(queue.weight).toBe(0);
});

test('a heavy one is not passed by lighter ones, and one that is too heavy is alone', async () => {
  const queue = new FairQueue({ atOnce: 10, maxWaiting: 10 });
  const order: string[] = [];
  const first = await queue.enter({ weight: 6 });
  const all = ['heavy', 'light'].map((name) =>
    queue.run(async () => void order.push(`${name} ${queue.weight}`), { weight: name === 'heavy' ? 30 : 1 }),
  );
  expect(order).toEqual([]);
  first();
  await Promise.all(all);
  expect(order).toEqual(['heavy 30', 'light 1']);
});

test('who leaves the queue is not served, and leaves no gap', async () => {
  const queue = new FairQueue({ ...LIMITS, atOnce: 1 });
  const leave = await queue.enter(of('a'));
  const leaving = new AbortController();
  const left = expect(queue.enter({ ...of('b'), signal: leaving.signal })).rejects.toThrow('left');
  const next = queue.enter(of('c'));
  leaving.abort(new Error('left'));
  await left;
  leave();
  leave();
  (await next)();
  expect(queue.weight).toBe(0);
  await expect(queue.enter({ signal: AbortSignal.abort(new Error('gone before')) })).rejects.toThrow('gone before');
});

describe('by the clock', () => {
  test('who waits for too long is refused, and who is one too many of an account', async () => {
    const clock = new VirtualClock();
    const queue = new FairQueue(LIMITS, clock);
    const leave = await queue.enter(of('a'));
    const waiting = Promise.allSettled(Array.from({ length: LIMITS.maxWaitingOfAccount }, () => queue.enter(of('a'))));
    await expect(queue.enter(of('a'))).rejects.toBeInstanceOf(QueueFullError);
    await clock.advance(LIMITS.maxWaitMs);
    for (const each of await waiting) expect(each).toMatchObject({ reason: expect.any(QueueFullError) });
    leave();
    (await queue.enter(of('a')))();
    expect(queue.weight).toBe(0);
  });

  test('whatever comes and goes: no more weight than may be, one of each tenant, and in the end nothing', async () => {
    const call = fc.record({ tenant: fc.nat(5), weight: fc.integer({ min: 1, max: 16 }), lastsMs: fc.nat(500) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
        const clock = new VirtualClock();
        const queue = new FairQueue(LIMITS, clock);
        const busy = new Set<number>();
        const all = calls.map(({ tenant, weight, lastsMs }) =>
          queue.run(
            async () => {
              expect(busy.has(tenant)).toBe(false);
              busy.add(tenant);
              expect(queue.weight).toBeLessThanOrEqual(LIMITS.atOnce);
              await clock.sleep(lastsMs);
              busy.delete(tenant);
            },
            { ...of(String(tenant)), weight },
          ),
        );
        const results = Promise.allSettled(all);
        await clock.advance(60_000);
        for (const each of await results)
          if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(QueueFullError);
        expect(queue.weight).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });
});
