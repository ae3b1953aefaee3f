import type { EventsRow, StopsRow, TripsRow } from '@outrider/client';
import { expect, test } from 'vitest';
import { marksOf, nearestMark, stepMark } from './marks.ts';
import { trackOf } from './track.ts';

const START = Date.parse('2026-01-15T12:00:00.000Z');
const iso = (seconds: number) => new Date(START + seconds * 1000).toISOString();
const at = (seconds: number, longitude: number) => ({
  vehicleId: 'v',
  fixTime: iso(seconds),
  latitude: 50,
  longitude,
  valid: true,
});
const track = trackOf([at(0, 1), at(100, 1.01), at(3000, 2), at(3100, 2.01)]);
const lasted = (from: number, to: number | null) => ({
  startedAt: iso(from),
  endedAt: to === null ? null : iso(to),
  durationSeconds: (to ?? 3100) - from,
});
const trip = { ...lasted(0, null), startLongitude: 1, startLatitude: 50, distanceM: null } as TripsRow;
const stop = { ...lasted(3050, 3100), longitude: 2, latitude: 50 } as StopsRow;
const place = { longitude: 9, latitude: 9, startLongitude: 1.01, startLatitude: 50 };
const event = (kind: string, from: number) => ({ id: kind, kind, ...lasted(from, from + 1), ...place }) as EventsRow;

const marks = marksOf('v', track, [trip], [stop], [event('trip', 0), event('speeding', 90), event('idling', 3050)]);

test('trips, stops, gaps and the other events, by time and at the place where they began', () => {
  expect(marks.map(({ kind, fromMs, longitude }) => [kind, (fromMs - START) / 1000, longitude])).toEqual([
    ['trip', 0, 1],
    ['event', 90, 1.01],
    ['gap', 100, 1.01],
    ['stop', 3050, 2],
  ]);
  expect(marks[0]?.distanceM).toBeGreaterThan(1000);
  expect(new Set(marks.map(({ key }) => key)).size).toBe(4);
});

test('the mark near a time, and the next and the last one', () => {
  const kind = (mark: ReturnType<typeof stepMark>) => mark?.kind ?? null;
  expect(kind(nearestMark(marks, START + 94_000, 10_000))).toBe('event');
  expect(kind(nearestMark(marks, START + 1_000_000, 10_000))).toBeNull();
  expect([stepMark(marks, START + 90_000, 1), stepMark(marks, START + 90_000, -1)].map(kind)).toEqual(['gap', 'trip']);
  expect([stepMark(marks, START + 3_050_000, 1), stepMark(marks, START, -1)].map(kind)).toEqual([null, null]);
});
