import { randomUUID } from 'node:crypto';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { growthChannelOf } from './database.ts';
import { type Growing, Growth } from './growth.ts';
import type { WrittenRow } from './segment.ts';

/** Longer than the time between two checks of the file. */
const CHECKED_MS = 1000;
const path = `/tmp/${randomUUID()}`;
let changed = false;
let clock: VirtualClock;
let growth: Growth;
const stops: (() => void)[] = [];
beforeEach(() => {
  clock = new VirtualClock();
  changed = false;
  growth = new Growth(path, () => changed, clock);
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  expect(clock.timers).toBe(0);
});

interface TestReader {
  wakes: number;
  rows: (WrittenRow | null)[];
}

/** Counts how often a reader is woken, and keeps what it is handed. */
function follow(topic: string, partition: number, isPatient: boolean): TestReader {
  const reader: TestReader = { wakes: 0, rows: [] };
  stops.push(
    growth.follow(topic, partition, isPatient, (row) => {
      reader.wakes++;
      reader.rows.push(row);
    }),
  );
  return reader;
}

function announce(topic: string, partitions: number[], row: WrittenRow | null = null): void {
  const channel = new BroadcastChannel(growthChannelOf(path, topic));
  channel.postMessage(partitions.map((partition) => ({ partition, row })) satisfies readonly Growing[]);
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

test('a reader is handed what a commit wrote, and nothing by the check of the file', async () => {
  const reader = follow('telemetry', 0, false);
  const row = { baseOffset: 7, count: 1, bytes: Uint8Array.of(1, 0, 0, 0, 42) };
  announce('telemetry', [0], row);
  await expect.poll(() => reader.rows).toEqual([row]);
  changed = true;
  await clock.advance(CHECKED_MS);
  expect(reader.rows).toEqual([row, null]);
});

test('a patient reader is woken by the next check of a file that was changed, and not while nothing changes', async () => {
  const patient = follow('telemetry', 0, true);
  const reader = follow('events', 0, false);
  await clock.advance(CHECKED_MS);
  expect([patient.wakes, reader.wakes]).toEqual([0, 0]);
  changed = true;
  await clock.advance(CHECKED_MS);
  expect(patient.wakes).toBeGreaterThan(0);
  expect(reader.wakes).toBeGreaterThan(0);
});

test('a patient reader is checked for as often, whichever reader followed before it', async () => {
  const reader = follow('events', 0, false);
  const patient = follow('telemetry', 0, true);
  changed = true;
  await clock.advance(300);
  expect([reader.wakes, patient.wakes]).toEqual([1, 1]);
});
