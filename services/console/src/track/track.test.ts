import type { TrackPosition } from '@outrider/client';
import { expect, test } from 'vitest';
import { ReplayClock } from './clock.ts';
import {
  GAP_KIND,
  gapOf,
  gaps,
  highestKmh,
  indexAt,
  lengthM,
  measureOverTime,
  measuresOf,
  nearest,
  placeAt,
  speedClass,
  trackLines,
  trackOf,
} from './track.ts';

const START = Date.parse('2026-01-15T12:00:00.000Z');
const at = (seconds: number, longitude: number, speedKmh?: number, more: object = {}): TrackPosition => ({
  vehicleId: 'v',
  fixTime: new Date(START + seconds * 1000).toISOString(),
  latitude: 50,
  longitude,
  valid: true,
  ...(speedKmh === undefined ? {} : { speedKmh }),
  ...more,
});

test('positions that moved nothing are left out', () => {
  const track = trackOf([at(0, 1), at(1, 2, 5, { valid: false }), at(2, 3, 5, { rejection: 'jump' }), at(3, 4)]);
  expect([...track.longitude]).toEqual([1, 4]);
});

test('a line for each run of one speed, joined without a hole, and one of its own over a gap', () => {
  const track = trackOf([at(0, 1, 10), at(10, 2, 15), at(20, 3, 60), at(30, 4, 70), at(2000, 5, 70), at(2010, 6, 70)]);
  const lines = trackLines(track).map(({ properties, geometry }) => [
    properties?.kind,
    (geometry as GeoJSON.LineString).coordinates.map(([longitude]) => longitude),
  ]);
  expect(lines).toEqual([
    [0, [1, 2, 3]],
    [2, [3, 4]],
    [GAP_KIND, [4, 5]],
    [2, [5, 6]],
  ]);
  expect(trackLines(track, 12).map(({ properties }) => properties?.kind)).toEqual([12, GAP_KIND, 12]);
  expect([0, 20, 79.9, 110, 300].map(speedClass)).toEqual([0, 1, 2, 4, 4]);
});

test('between two positions the vehicle is between their places; in a gap it stays', () => {
  const track = trackOf([at(0, 10), at(10, 11), at(5000, 20)]);
  const longitude = (seconds: number) => placeAt(track, START + seconds * 1000)?.longitude;
  expect([-5, 0, 5, 10, 2000, 5000, 9999].map(longitude)).toEqual([10, 10, 10.5, 11, 11, 20, 20]);
  expect(placeAt(trackOf([]), START)).toBeNull();
  expect([-1, 0, 9, 10, 9999].map((seconds) => indexAt(track, START + seconds * 1000))).toEqual([-1, 0, 0, 1, 2]);
});

test('the nearest position of a click', () => {
  const track = trackOf([at(0, 10), at(10, 11), at(20, 12)]);
  expect([nearest(track, 10.6, 50), nearest(track, 99, 50), nearest(trackOf([]), 1, 1)]).toEqual([1, 2, -1]);
});

test('the clock runs as fast as it is set, ends at the end, and begins anew from there', () => {
  const clock = new ReplayClock();
  clock.setInterval(1000, 61_000);
  clock.rate.value = 10;
  clock.toggle(0);
  clock.tick(500);
  expect(clock.timeMs.value).toBe(6000);
  clock.rate.value = 300;
  clock.tick(5000);
  expect([clock.timeMs.value, clock.isPlaying.value]).toEqual([61_000, false]);
  clock.toggle(6000);
  expect([clock.timeMs.value, clock.isPlaying.value]).toEqual([1000, true]);
  clock.seek(0);
  expect(clock.timeMs.value).toBe(1000);
  clock.toggle(7000);
  clock.tick(99_000);
  expect(clock.timeMs.value).toBe(1000);
});

test('length from a time on, without gaps; the highest speed that is known', () => {
  const track = trackOf([at(0, 1, 10), at(10, 1.01, 80), at(20, 1.02), at(2000, 5, 70), at(2010, 5.01, 20)]);
  const step = 0.01 * 111_195 * Math.cos((50 * Math.PI) / 180);
  expect(lengthM(track, START)).toBeCloseTo(3 * step, 3);
  expect(lengthM(track, START + 10_000)).toBeCloseTo(2 * step, 3);
  expect(highestKmh(track)).toBe(80);
  expect(highestKmh(trackOf([at(0, 1)]))).toBeNaN();
});

test('a gap is a silence in which the vehicle moved, and longer where the API thinned the track', () => {
  const positions = [at(0, 1), at(900, 1), at(1800, 1.01), at(1810, 1.02)];
  expect(gaps(trackOf(positions))).toEqual([{ fromMs: START + 900_000, toMs: START + 1_800_000, index: 1 }]);
  expect(gaps(trackOf(positions, 900_000))).toEqual([]);
  const day = 86_400_000;
  expect([gapOf(30 * day, 19_999, 20_000), gapOf(day, 20_000, 20_000), gapOf(30 * day, 20_000, 20_000)]).toEqual([
    600_000, 600_000, 1_036_800,
  ]);
});

test('measures are what positions carry, broken at gaps', () => {
  const track = trackOf([
    at(0, 1, 10, { attributes: { rpm: 900, open: true } }),
    at(10, 2, 20),
    at(20, 3, 30, { fuelL: 7, attributes: { rpm: 1000 } }),
    at(2000, 4, 40),
  ]);
  expect(measuresOf(track)).toEqual(['speedKmh', 'fuelL', 'rpm']);
  const second = (seconds: number) => START / 1000 + seconds;
  expect(measureOverTime(track, 'rpm')).toEqual([
    [second(0), second(20), second(20) + 0.001],
    [900, 1000, null],
  ]);
  expect(measureOverTime(track, 'speedKmh')[1]).toEqual([10, 20, 30, null, 40]);
});
