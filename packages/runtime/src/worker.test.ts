import { VirtualClock } from '@outrider/testing/clock';
import { expect, test, vi } from 'vitest';
import type { Logger } from './logger.ts';
import { jointPart, poller } from './poller.ts';
import { worker } from './worker.ts';

const PATIENCE = { timeout: 60_000, interval: 2 };
const NEVER_MS = 3_600_000;

function recorder() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: fields as Record<string, unknown>, message });
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
  return { lines, logger: logger as unknown as Logger };
}

/** A queue in memory whose tasks end when the test says so. */
function queueOf(count: number) {
  const waiting = Array.from({ length: count }, (_, nth) => nth);
  const ends = new Map<number, (error?: Error) => void>();
  const asked: number[] = [];
  return {
    waiting,
    ends,
    asked,
    lease: async (free: number) => {
      asked.push(free);
      return waiting.splice(0, free);
    },
    run: (task: number) =>
      new Promise<void>((resolve, reject) => {
        ends.set(task, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

test('a worker has a bounded number of tasks in progress, and takes the next when one ends', async () => {
  const queue = queueOf(5);
  const part = worker({ name: 'test', atOnce: 2, ...queue, pollMs: NEVER_MS, logger: recorder().logger });
  await part.start();
  await vi.waitFor(() => expect([...queue.ends.keys()]).toEqual([0, 1]), PATIENCE);
  expect(part.running.size).toBe(2);
  queue.ends.get(0)?.();
  await vi.waitFor(() => expect([...queue.ends.keys()]).toEqual([0, 1, 2]), PATIENCE);
  for (const nth of [1, 2]) queue.ends.get(nth)?.();
  await vi.waitFor(() => expect(queue.ends.size).toBe(5), PATIENCE);
  for (const nth of [3, 4]) queue.ends.get(nth)?.();
  await vi.waitFor(() => expect(part.running.size).toBe(0), PATIENCE);
  await part.stop();
  expect(Math.max(...queue.asked)).toBe(2);
});

test('a worker that is woken looks at once, one that is not looks every so often', async () => {
  const queue = queueOf(0);
  const part = worker({ name: 'test', atOnce: 2, ...queue, pollMs: NEVER_MS, logger: recorder().logger });
  await part.start();
  await vi.waitFor(() => expect(queue.asked).toHaveLength(1), PATIENCE);
  part.wake();
  await vi.waitFor(() => expect(queue.asked).toHaveLength(2), PATIENCE);
  await part.stop();
  const clock = new VirtualClock();
  const often = worker({ name: 'test', atOnce: 2, ...queue, pollMs: 1000, logger: recorder().logger, clock });
  await often.start();
  await clock.advance(2999);
  expect(queue.asked).toHaveLength(5);
  await clock.advance(1);
  expect(queue.asked).toHaveLength(6);
  await often.stop();
});

test('a task that fails is logged with its facts, and the others go on', async () => {
  const queue = queueOf(2);
  const { lines, logger } = recorder();
  const facts = (task: number) => ({ task });
  const part = worker({ name: 'test', atOnce: 1, ...queue, facts, pollMs: NEVER_MS, logger });
  await part.start();
  await vi.waitFor(() => expect(queue.ends.size).toBe(1), PATIENCE);
  queue.ends.get(0)?.(new Error('broken'));
  await vi.waitFor(() => expect(queue.ends.size).toBe(2), PATIENCE);
  queue.ends.get(1)?.();
  await part.stop();
  expect(lines).toMatchObject(
    [{ level: 'error', fields: { worker: 'test', task: 0, err: { message: 'broken' } }, message: /task failed/ }].map(
      ({ message, ...line }) => ({ ...line, message: expect.stringMatching(message) }),
    ),
  );
});

test('a queue that does not answer is retried, logged once, and the recovery is logged', async () => {
  const queue = queueOf(1);
  const { lines, logger } = recorder();
  let isAway = true;
  let asked = 0;
  const lease = async (free: number) => {
    asked += 1;
    if (isAway) throw new Error('away');
    return queue.lease(free);
  };
  const clock = new VirtualClock();
  const part = worker({ name: 'test', atOnce: 1, run: queue.run, lease, pollMs: 1000, retryMs: 4000, logger, clock });
  await part.start();
  // Pauses of 1, 2, 4 and 4 seconds.
  await clock.advance(10_999);
  expect(asked).toBe(4);
  await clock.advance(1);
  expect(asked).toBe(5);
  expect(part.healthy).toBe(false);
  isAway = false;
  await clock.advance(4000);
  expect(queue.ends.size).toBe(1);
  expect(part.healthy).toBe(true);
  queue.ends.get(0)?.();
  await part.stop();
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'worker failed; retrying'],
    ['info', 'worker recovered'],
  ]);
});

test('leases of running tasks are renewed, and no longer once they ended', async () => {
  const queue = queueOf(2);
  const renewed: number[][] = [];
  const leases = async (tasks: readonly number[]) => void renewed.push([...tasks]);
  const renew = { everyMs: 1000, leases };
  const clock = new VirtualClock();
  const part = worker({ name: 'test', atOnce: 2, ...queue, renew, pollMs: NEVER_MS, logger: recorder().logger, clock });
  await part.start();
  await clock.advance(1000);
  expect(renewed).toEqual([[0, 1]]);
  queue.ends.get(0)?.();
  await clock.advance(1000);
  expect(renewed).toEqual([[0, 1], [1]]);
  queue.ends.get(1)?.();
  await part.stop();
  await clock.advance(10_000);
  expect(renewed).toHaveLength(2);
  expect(clock.timers).toBe(0);
});

test('stopping waits for tasks that do not heed the signal, and ends those that do', async () => {
  const queue = queueOf(2);
  const events: string[] = [];
  const run = async (task: number, signal: AbortSignal) => {
    if (task === 0) await queue.run(task);
    else await new Promise((resolve) => signal.addEventListener('abort', resolve));
    events.push(`task ${task}`);
  };
  const part = worker({
    name: 'test',
    atOnce: 2,
    lease: queue.lease,
    run,
    pollMs: NEVER_MS,
    logger: recorder().logger,
  });
  await part.start();
  await vi.waitFor(() => expect(part.running.size).toBe(2), PATIENCE);
  const stopped = part.stop().then(() => events.push('stopped'));
  await vi.waitFor(() => expect(events).toEqual(['task 1']), PATIENCE);
  queue.ends.get(0)?.();
  await stopped;
  expect(events).toEqual(['task 1', 'task 0', 'stopped']);
  expect(queue.asked).toEqual([2]);
});

test('a poller goes on at once while there is more to do', async () => {
  let left = 5;
  const part = poller({ name: 'test', everyMs: NEVER_MS, work: async () => --left > 0, logger: recorder().logger });
  await part.start();
  await vi.waitFor(() => expect(left).toBe(0), PATIENCE);
  await part.stop();
});

test('a part with others starts and stops with them, and is healthy while it is itself', async () => {
  const broken = new Set<string>();
  const rounds = new Map<string, number>();
  const { logger } = recorder();
  const clock = new VirtualClock();
  const part = (name: string) =>
    poller({
      name,
      everyMs: 1000,
      async work() {
        rounds.set(name, (rounds.get(name) ?? 0) + 1);
        if (broken.has(name)) throw new Error('broken');
      },
      logger,
      clock,
    });
  broken.add('other');
  const joint = jointPart(part('main'), part('other'));
  await joint.start();
  await clock.advance(1000);
  expect([...rounds]).toEqual([
    ['main', 2],
    ['other', 2],
  ]);
  expect(joint).toMatchObject({ name: 'main', healthy: true });
  broken.add('main');
  await clock.advance(1000);
  expect(joint.healthy).toBe(false);
  await joint.stop();
  const before = [...rounds.values()];
  await clock.advance(60_000);
  expect([...rounds.values()]).toEqual(before);
});
