import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { threadOnDemand } from './on-demand.ts';
import type { ThreadOfService } from './threads.ts';

const MINUTE_MS = 60_000;
const SILENT = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} } as never;

let clock: VirtualClock;
let workAtMs: number | null;
let startError: Error | null;
/** Modules of the thread are loaded meanwhile. */
let loading: Promise<void>;
let reports: number;
/** What became of each thread that was started. */
let events: string[];
let failThread: (error: Error) => void;
let thread: ThreadOfService;

function createThread(): ThreadOfService {
  const metrics = async () => [
    {
      ...{ name: 'reports_total', help: 'Reports', type: 'counter', aggregator: 'sum' },
      values: [{ value: reports, labels: {} }],
    },
    {
      ...{ name: 'memory_bytes', help: 'Memory', type: 'gauge', aggregator: 'sum' },
      values: [{ value: 45, labels: {} }],
    },
  ];
  return {
    name: 'reporter',
    failed: new Promise<never>((_, reject) => {
      failThread = reject;
    }),
    async start() {
      await loading;
      if (startError !== null) throw startError;
      events.push('start');
    },
    async stop() {
      events.push('stop');
      reports = 0;
    },
    started: () => ({ checks: ['reports'] }),
    metrics: metrics as unknown as ThreadOfService['metrics'],
    check: async () => ({ warnings: ['as the thread says'] }),
  };
}

beforeEach(async () => {
  clock = new VirtualClock();
  [workAtMs, startError, reports, events, loading] = [null, null, 0, [], Promise.resolve()];
  thread = threadOnDemand({
    name: 'reporter',
    checks: ['reports'],
    nextWorkMs: async () => workAtMs,
    createThread,
    logger: SILENT,
    clock,
  });
  await thread.start();
});

afterEach(() => thread.stop());

const counted = async () =>
  (await thread.metrics())
    .filter(({ name }) => name === 'reports_total')
    .flatMap((metric) => (metric as unknown as { values: unknown[] }).values);

test('the thread is started when work falls due, and ended a quarter of an hour after the last', async () => {
  expect(thread.started()).toEqual({ checks: ['reports'] });
  workAtMs = clock.now() + 5000;
  await clock.advance(4000);
  expect(events).toEqual([]);
  await clock.advance(2000);
  expect(events).toEqual(['start']);
  // A report that takes half an hour: its lease lapses, and is renewed.
  for (let minute = 0; minute < 30; minute += 1) {
    workAtMs = clock.now() + 20_000;
    await clock.advance(MINUTE_MS);
  }
  workAtMs = clock.now() + 60 * MINUTE_MS;
  await clock.advance(14 * MINUTE_MS);
  expect(events).toEqual(['start']);
  await clock.advance(2 * MINUTE_MS);
  expect(events).toEqual(['start', 'stop']);
  await clock.advance(45 * MINUTE_MS);
  expect(events).toEqual(['start', 'stop', 'start']);
});

test('its checks pass while it does not run, and are its own while it does', async () => {
  expect(await thread.check('reports')).toBeUndefined();
  workAtMs = clock.now();
  await clock.advance(1000);
  expect(await thread.check('reports')).toEqual({ warnings: ['as the thread says'] });
});

test('its checks pass while it starts: the work waits that long, and nothing else', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  loading = promise;
  workAtMs = clock.now();
  await clock.advance(2000);
  expect(events).toEqual([]);
  expect(await thread.check('reports')).toBeUndefined();
  resolve();
  await clock.advance(1);
  expect(events).toEqual(['start']);
  expect(await thread.check('reports')).toEqual({ warnings: ['as the thread says'] });
});

test('where it can not be started, its checks fail, and it is tried again', async () => {
  startError = new Error('no memory');
  workAtMs = clock.now();
  await clock.advance(2000);
  await expect(thread.check('reports')).rejects.toThrow('its thread can not be started');
  startError = null;
  await clock.advance(10_000);
  expect(events).toEqual(['start']);
  expect(await thread.check('reports')).toEqual({ warnings: ['as the thread says'] });
});

test('what its threads counted is added up, and their gauges are gone with them', async () => {
  for (const count of [3, 4]) {
    workAtMs = clock.now();
    await clock.advance(1000);
    reports = count;
    expect(await thread.metrics()).toContainEqual(expect.objectContaining({ name: 'memory_bytes' }));
    workAtMs = null;
    await clock.advance(16 * MINUTE_MS);
    expect(await thread.metrics()).not.toContainEqual(expect.objectContaining({ name: 'memory_bytes' }));
  }
  expect(events).toEqual(['start', 'stop', 'start', 'stop']);
  expect(await counted()).toEqual([{ value: 7, labels: {} }]);
});

test('a thread that fails is a failure of the service, and the last one is stopped with it', async () => {
  const failed = vi.fn();
  thread.failed?.catch(failed);
  workAtMs = clock.now();
  await clock.advance(1000);
  failThread(new Error('out of memory'));
  await vi.waitFor(() => expect(failed).toHaveBeenCalledWith(new Error('out of memory')));
  await thread.stop();
  expect(events).toEqual(['start', 'stop']);
});
