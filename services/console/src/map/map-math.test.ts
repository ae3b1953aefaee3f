import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fleet } from '../fleet/fleet.ts';
import { latitudeOf, longitudeOf, mercatorX, mercatorY } from '../fleet/mercator.ts';
import { fleetAt, moveTo, setState } from '../fleet/test-fleet.fixture.ts';
import { clusterFeatures, clustersOf, inView } from './clusters.ts';
import { bySpot, pick } from './pick.ts';
import { circle, corridor } from './shapes.ts';

const WORLD = { west: 0, east: 1, north: 0, south: 1 };
const METRES_PER_DEGREE = 111_195;

function metres([lon1, lat1]: readonly number[], [lon2, lat2]: readonly number[]): number {
  const [a, b, c, d] = [lon1, lat1, lon2, lat2] as [number, number, number, number];
  return Math.hypot((a - c) * Math.cos(((b + d) / 2) * (Math.PI / 180)), b - d) * METRES_PER_DEGREE;
}

test('counts vehicles by cells; hidden ones and those without a position are nowhere', () => {
  const fleet = fleetAt({ a: [10, 50], b: [10.001, 50.001], c: [100, -20], d: [10, 50] });
  setState(fleet, 'a', 'moving');
  setState(fleet, 'b', 'moving');
  fleet.setShown((index) => fleet.vehicles[index]?.id !== 'd');
  const clusters = clustersOf(fleet, WORLD, 1 / 64);
  expect(clusters.map(({ count }) => count).sort()).toEqual([1, 2]);
  const [feature] = clusterFeatures(clusters, (count) => `${count}!`).features;
  expect(feature?.properties).toEqual({ count: 2, label: '2!', state: 1, states: [0, 2, 0, 0, 0] });
  expect(feature?.geometry.coordinates[0]).toBeCloseTo(10.0005, 6);
});

test('every vehicle in view is in exactly one cluster', () => {
  const place = fc.tuple(
    fc.double({ min: -179, max: 179, noNaN: true }),
    fc.double({ min: -80, max: 80, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(place, { maxLength: 100 }), fc.integer({ min: 1, max: 512 }), (places, cells) => {
      const fleet = fleetAt(Object.fromEntries(places.map((at, index) => [`v${index}`, at])));
      const counted = clustersOf(fleet, WORLD, 1 / cells).reduce((sum, { count }) => sum + count, 0);
      expect(counted).toBe(places.length);
    }),
  );
});

test('a view holds what is in it, also across the date line', () => {
  const fleet = fleetAt({ east: [179, 0], west: [-179, 0], far: [0, 0] });
  const view = { west: mercatorX(178), east: mercatorX(182), north: 0.4, south: 0.6 };
  expect(inView(fleet, view).map((index) => fleet.vehicles[index]?.id)).toEqual(['east', 'west']);
});

const idsAt = (fleet: Fleet, longitude: number, options: Parameters<typeof pick>[3]) =>
  pick(fleet, mercatorX(longitude), mercatorY(50), options).map((index) => fleet.vehicles[index]?.id);

test('a click on a spot with several vehicles means all of them, the nearest first', () => {
  const fleet = fleetAt({ a: [10, 50], near: [10.0001, 50], b: [10, 50], c: [10, 50] });
  const options = { radius: 0.001 / 360, spot: 0.00005 / 360, nowMs: 0 };
  expect(idsAt(fleet, 9.9999, options).toSorted()).toEqual(['a', 'b', 'c']);
  expect(idsAt(fleet, 10.0001, options)).toEqual(['near']);
  // Beside the spot, but on it as it is drawn: the one that is nearest has it.
  expect(idsAt(fleet, 10.0001, { ...options, spot: 0.0002 / 360 })).toEqual(['near', 'a', 'b', 'c']);
  expect(idsAt(fleet, 11, options)).toEqual([]);
});

test('points share a spot with its first one', () => {
  const points = [0, 0.1, 5, 0, 0.9, 5.5].map((x, nth) => ({ x, y: 0, nth }));
  expect(bySpot(points, 0.5).map((spot) => spot.map(({ nth }) => nth))).toEqual([[0, 1, 3], [2, 5], [4]]);
});

test('picks the nearest vehicle drawn within the radius at that moment', () => {
  const fleet = fleetAt({ a: [10, 50], b: [10.0002, 50] });
  const at = (longitude: number, radiusDeg: number, nowMs = 0) =>
    idsAt(fleet, longitude, { radius: radiusDeg / 360, spot: 0, nowMs })[0];
  expect(at(10.00005, 0.001)).toBe('a');
  expect(at(10.00015, 0.001)).toBe('b');
  expect(at(10.01, 0.001)).toBeUndefined();
  moveTo(fleet, 'a', 10.004, 50, 3000, 0);
  expect(at(10.002, 0.0005, 1000)).toBe('a');
  expect(at(10.002, 0.0005, 2000)).toBeUndefined();
  fleet.setShown(() => false);
  expect(at(10.004, 0.001, 2000)).toBeUndefined();
});

test('a circle is round on the ground, at any latitude', () => {
  for (const latitude of [0, 59.9, -70]) {
    const [ring = []] = circle([30, latitude], 1000).coordinates;
    for (const point of ring) expect(metres([30, latitude], point)).toBeCloseTo(1000, -1);
    expect(ring.at(0)?.[0]).toBeCloseTo(ring.at(-1)?.[0] ?? 0, 9);
  }
});

test('the edge of a corridor is half of its width away from the line', () => {
  const line: [number, number][] = [
    [30, 60],
    [30.05, 60],
    [30.05, 60.05],
  ];
  const [ring = []] = corridor(line, 400).coordinates;
  expect(ring.at(0)).toEqual(ring.at(-1));
  const dense = line.slice(1).flatMap((to, index) => {
    const from = line[index] as [number, number];
    return Array.from({ length: 2001 }, (_, n) => [
      from[0] + ((to[0] - from[0]) * n) / 2000,
      from[1] + ((to[1] - from[1]) * n) / 2000,
    ]);
  });
  const distances = ring.map((point) => Math.min(...dense.map((on) => metres(on, point))));
  // Inside of a corner, the two sides cross: those points are nearer.
  for (const distance of distances) expect(distance).toBeLessThan(203);
  expect(distances.filter((distance) => distance > 197).length).toBeGreaterThanOrEqual(ring.length - 2);
});

test('longitude and latitude come back from the square', () => {
  expect(longitudeOf(mercatorX(30.31413))).toBeCloseTo(30.31413, 10);
  expect(latitudeOf(mercatorY(59.93863))).toBeCloseTo(59.93863, 10);
});
