import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { growthChannelOf } from './database.ts';
import { Growth } from './growth.ts';
import type { Signal } from './subscription.ts';

/** Longer than the time between two checks of the file. */
const CHECKED_MS = 1000;
const path = `/tmp/${randomUUID()}`;
let changed = false;
let growth: Growth;
const stops: (() => void)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  changed = false;
  growth = new Growth(path, () => changed);
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A reader's signal; counts how often it was woken. */
function follow(topic: string, partition: number, isPatient: boolean): { wakes: number } {
  const { grown, stop } = growth.follow(topic, partition, isPatient);
  stops.push(stop);
  const reader = { wakes: 0 };
  void wait(grown, reader);
  return reader;
}

async function wait(grown: Signal, reader: { wakes: number }): Promise<never> {
  for (;;) {
    await grown.wait();
    reader.wakes++;
  }
}

function announce(topic: string, partitions: number[]): void {
  const channel = new BroadcastChannel(growthChannelOf(path, topic));
  channel.postMessage(partitions);
  channel.close();
}

test('a commit wakes the readers of its topic and partition, and neither others nor patient ones', async () => {
  const reader = follow('telemetry', 1, false);
  const others = [follow('telemetry', 0, false), follow('events', 1, false), follow('telemetry', 1, true)];
  announce('telemetry', [1, 3]);
  await expect.poll(() => reader.wakes).toBe(1);
  announce('telemetry', [1]);
  await expect.poll(() => reader.wakes).toBe(2);
  expect(others.map(({ wakes }) => wakes)).toEqual([0, 0, 0]);
});

test('a patient reader is woken by the next check of a file that was changed, and not while nothing changes', async () => {
  const patient = follow('telemetry', 0, true);
  const reader = follow('events', 0, false);
  await vi.advanceTimersByTimeAsync(CHECKED_MS);
  expect([patient.wakes, reader.wakes]).toEqual([0, 0]);
  changed = true;
  await vi.advanceTimersByTimeAsync(CHECKED_MS);
  expect(patient.wakes).toBeGreaterThan(0);
  expect(reader.wakes).toBeGreaterThan(0);
});
