import { MessageChannel } from 'node:worker_threads';
import { blankPosition, type VehicleId, type VehicleStatus } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { connectHub, serveHub } from './bridge.ts';
import { hubConformance } from './hub.conformance.ts';
import { MemoryHub } from './memory.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const status = sampleStatus(CAR, blankPosition(Date.UTC(2026, 0, 1), 52.5, 13.4), Date.UTC(2026, 0, 1));

hubConformance('memory', async () => new MemoryHub());

hubConformance('memory, from another thread', async () => {
  const { port1, port2 } = new MessageChannel();
  serveHub(new MemoryHub(), port1);
  return connectHub(port2);
});

test('a lease in memory lasts as long as it was held for, and not longer', async () => {
  const clock = new VirtualClock();
  const hub = new MemoryHub(clock);
  expect(await hub.holdLease('broker', 'one', 20)).toBe(true);
  await clock.advance(19);
  expect(await hub.holdLease('broker', 'two', 20)).toBe(false);
  await clock.advance(1);
  expect(await hub.holdLease('broker', 'two', 20)).toBe(true);
});

test('updates from another thread are under way two at a time, and a failed one is an error of its call or the next', async () => {
  const { port1, port2 } = new MessageChannel();
  const calls: { statuses: readonly VehicleStatus[]; settle: PromiseWithResolvers<void> }[] = [];
  const updateLatest = (statuses: readonly VehicleStatus[]) => {
    const settle = Promise.withResolvers<void>();
    calls.push({ statuses, settle });
    return settle.promise;
  };
  serveHub(Object.assign(Object.create(new MemoryHub()), { updateLatest }), port1);
  const remote = connectHub(port2);
  const settled: string[] = [];
  const update = async (name: string) => {
    await remote.updateLatest([status]);
    settled.push(name);
  };
  try {
    await update('first');
    const second = update('second');
    await expect.poll(() => calls.length, PATIENCE).toBe(2);
    expect(settled).toEqual(['first']);
    calls[1]?.settle.resolve();
    await second;
    expect(calls.map(({ statuses }) => statuses)).toEqual([[status], [status]]);

    calls[0]?.settle.resolve();
    // This answer comes after the first update was counted.
    await remote.latest([]);
    await update('third');
    await expect.poll(() => calls.length, PATIENCE).toBe(3);
    calls[2]?.settle.reject(new Error('the hub is away'));
    await remote.latest([]);
    await expect(update('fourth')).rejects.toThrow('the hub is away');
    await update('fifth');
    await expect.poll(() => calls.length, PATIENCE).toBe(4);
    const sixth = update('sixth');
    await expect.poll(() => calls.length, PATIENCE).toBe(5);
    calls[4]?.settle.reject(new Error('away again'));
    await expect(sixth).rejects.toThrow('away again');
  } finally {
    await remote.close();
  }
});

test('a hub that is away refuses listeners of another thread, who can try again', async () => {
  const hub = new MemoryHub();
  const { port1, port2 } = new MessageChannel();
  let isAway = true;
  const away = async (): Promise<never> => {
    throw new Error('the hub is away');
  };
  const onLatest: MemoryHub['onLatest'] = (listener) => (isAway ? away() : hub.onLatest(listener));
  const subscribe: MemoryHub['subscribe'] = (channel, listener) => (isAway ? away() : hub.subscribe(channel, listener));
  serveHub(Object.assign(Object.create(hub), { onLatest, subscribe }), port1);
  const remote = connectHub(port2);
  try {
    await expect(remote.onLatest(() => {})).rejects.toThrow('the hub is away');
    const refused: string[] = [];
    await expect(remote.subscribe('news', (message) => refused.push(message))).rejects.toThrow('the hub is away');
    isAway = false;
    const received: string[] = [];
    await (await remote.onLatest(() => {}))();
    await remote.subscribe('news', (message) => received.push(message));
    await hub.publish('news', 'here');
    await expect.poll(() => received, { timeout: 60_000 }).toEqual(['here']);
    expect(refused).toEqual([]);
  } finally {
    await remote.close();
  }
});
