import type { EventId, VehicleId } from '@outrider/domain';
import { expect, test } from 'vitest';
import { type EventMessage, memoryBytesOf } from '../event-messages.ts';
import { RecentEvents } from './recent-events.ts';

function message(offset: number, bytes = 1000): EventMessage {
  return {
    offset,
    vehicleId: 'car' as VehicleId,
    geofenceId: null,
    id: `${offset}` as EventId,
    phase: 'begin',
    json: Buffer.alloc(bytes),
  };
}

/** All offsets of a partition from one on, range by range; null when they are not kept. */
function offsetsFrom(recent: RecentEvents, partition: number, from: number, to: number): number[] | null {
  const offsets: number[] = [];
  for (let next = from; next < to; ) {
    const range = recent.from(partition, next);
    if (range === null) return null;
    for (const { offset } of range.messages.slice(range.start)) if (offset < range.endOffset) offsets.push(offset);
    expect(range.endOffset).toBeGreaterThan(next);
    next = range.endOffset;
  }
  return offsets;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => from + nth);

test('events are kept from where the partition began, each partition by itself', () => {
  const recent = new RecentEvents({ now: () => 0 });
  recent.begin(0, 100);
  recent.begin(1, 7);
  for (let nth = 0; nth < 50; nth++) {
    recent.append(0, message(100 + nth));
    recent.append(1, message(7 + nth));
  }
  expect(offsetsFrom(recent, 0, 100, 150)).toEqual(numbers(100, 150));
  expect(offsetsFrom(recent, 1, 33, 57)).toEqual(numbers(33, 57));
  expect(recent.from(0, 99)).toBeNull();
  expect(recent.from(0, 150)).toBeNull();
  expect(recent.from(2, 0)).toBeNull();
});

test('beyond its bytes the oldest events are dropped, and what is left has no holes', () => {
  const maxBytes = 1_000_000;
  const recent = new RecentEvents({ maxBytes, now: () => 0 });
  recent.begin(0, 0);
  recent.begin(1, 0);
  for (let nth = 0; nth < 5000; nth++) {
    recent.append(0, message(nth));
    if (nth % 3 === 0) recent.append(1, message(nth / 3));
    expect(recent.bytes).toBeLessThan(maxBytes * 1.1);
  }
  expect(recent.bytes).toBeGreaterThan(maxBytes * 0.8);
  const kept = numbers(0, 5000).find((offset) => recent.from(0, offset) !== null) ?? 5000;
  expect(kept).toBeLessThan(5000 - (0.5 * maxBytes) / memoryBytesOf(message(0)));
  expect(offsetsFrom(recent, 0, kept, 5000)).toEqual(numbers(kept, 5000));
  expect(offsetsFrom(recent, 0, kept - 1, 5000)).toBeNull();
});

test('beyond their age events are dropped, in an idle service too', () => {
  let nowMs = 0;
  const recent = new RecentEvents({ maxAgeMs: 60_000, now: () => nowMs });
  recent.begin(0, 0);
  for (let nth = 0; nth < 120; nth++, nowMs += 1000) recent.append(0, message(nth));
  expect(recent.from(0, 50)).toBeNull();
  expect(offsetsFrom(recent, 0, 70, 120)).toEqual(numbers(70, 120));
  nowMs += 40_000;
  recent.trim();
  expect(recent.from(0, 90)).toBeNull();
  expect(offsetsFrom(recent, 0, 110, 120)).toEqual(numbers(110, 120));
});
