import { expect, test } from 'vitest';
import { fleetAt, moveTo } from '../fleet/test-fleet.fixture.ts';
import { areNearVehicles, crowdScale, restsForMs } from './pace.ts';

const WORLD_PX = 512 * 2 ** 14;

test('the map rests until the fastest vehicle has moved by a quarter of a pixel, and for good when all have arrived', () => {
  const fleet = fleetAt({ a: [10, 50], b: [10, 50], c: [11, 51] });
  expect(restsForMs(fleet, 1, WORLD_PX)).toBe(Number.POSITIVE_INFINITY);
  // 23.3 pixels in 5 seconds.
  moveTo(fleet, 'a', 10.001, 50, 6000, 1000);
  moveTo(fleet, 'b', 10.0001, 50, 6000, 1000);
  const pixels = (0.001 / 360) * WORLD_PX;
  expect(restsForMs(fleet, 1000, WORLD_PX)).toBeCloseTo((0.25 * 5000) / pixels, 6);
  expect(restsForMs(fleet, 1000, WORLD_PX / 4)).toBeCloseTo((4 * 0.25 * 5000) / pixels, 6);
  // What nobody can see move is drawn once more where it ends.
  expect(restsForMs(fleet, 1000, 1)).toBe(5001);
  expect(restsForMs(fleet, 6000, WORLD_PX)).toBe(Number.POSITIVE_INFINITY);
});

test('names stay until one of them is two pixels from its vehicle, or another is to be shown', () => {
  const at = (name: string, px: number) => ({ name, x: 0.5 + px / WORLD_PX, y: 0.3 });
  const shown = [at('a', 0), at('b', 100)];
  const areKept = (...now: (typeof shown)[number][]) => areNearVehicles(shown, now, WORLD_PX);
  expect(areKept(at('a', 1.9), at('b', 98.1))).toBe(true);
  expect(areKept(at('a', 2.1), at('b', 100))).toBe(false);
  expect(areKept(at('a', 0), at('b +1', 100))).toBe(false);
  expect(areKept(at('a', 0))).toBe(false);
  expect(areKept(at('a', 0), at('b', 100), at('c', 50))).toBe(false);
  // Seen from nearer, it is further off.
  expect(areNearVehicles(shown, [at('a', 0.6), at('b', 100)], 4 * WORLD_PX)).toBe(false);
  expect(areNearVehicles([], [], WORLD_PX)).toBe(true);
});

test('icons keep their size until they would cover each other', () => {
  const area = 900 * 700;
  expect([0, 1, 500, 900].map((count) => crowdScale(count, area))).toEqual([1, 1, 1, 1]);
  expect(crowdScale(2000, area)).toBeCloseTo(0.68, 2);
  expect([10_000, 1_000_000].map((count) => crowdScale(count, area))).toEqual([0.5, 0.5]);
});
