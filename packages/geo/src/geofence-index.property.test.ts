import type { LngLat, Shape } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cityGeofences, cityTrack } from './generate.ts';
import { GeofenceIndex } from './geofence-index.ts';
import { type PreparedShape, prepareShape } from './prepare-shape.ts';
import { cornersOf, placesIn, region, shapeIn } from './shapes.arbitrary.ts';

function keysOf(index: GeofenceIndex, [x, y]: LngLat): number[] {
  const out = new Int32Array(1000);
  const found = index.query(x, y, out);
  return [...out.subarray(0, found)].sort((a, b) => a - b);
}

function bruteForce(shapes: ReadonlyMap<number, PreparedShape>, [x, y]: LngLat): number[] {
  return [...shapes]
    .filter(([, shape]) => shape.contains(x, y))
    .map(([key]) => key)
    .sort((a, b) => a - b);
}

const world = region.chain((at) =>
  fc
    .array(shapeIn(at), { minLength: 1, maxLength: 24 })
    .chain((shapes) => placesIn(at, shapes.flatMap(cornersOf)).map((places) => ({ at, shapes, places }))),
);

describe('query', () => {
  test('is what all shapes one by one say, wherever they are and however large', () => {
    let hits = 0;
    fc.assert(
      fc.property(world, ({ shapes, places }) => {
        const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
        const prepared = new Map(shapes.map((shape, key) => [key, prepareShape(shape)]));
        for (const place of places) {
          const expected = bruteForce(prepared, place);
          hits += expected.length;
          expect(keysOf(index, place)).toEqual(expected);
        }
      }),
      { numRuns: runs(400) },
    );
    expect(hits).toBeGreaterThan(runs(400) * 2.5);
  });

  test('small and large shapes in one index', () => {
    fc.assert(
      fc.property(fc.array(region.chain(shapeIn), { minLength: 10, maxLength: 40 }), (shapes) => {
        const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
        const prepared = new Map(shapes.map((shape, key) => [key, prepareShape(shape)]));
        for (const place of shapes.flatMap(cornersOf))
          expect(keysOf(index, place)).toEqual(bruteForce(prepared, place));
      }),
      { numRuns: runs(40) },
    );
  });

  test('a city: the same as one by one', () => {
    const shapes = cityGeofences(3000, 5);
    const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
    const prepared = new Map(shapes.map((shape, key) => [key, prepareShape(shape)]));
    const { longitudes, latitudes } = cityTrack(100, 5, 3);
    for (const [i, x] of longitudes.entries()) {
      const place: LngLat = [x, latitudes[i] as number];
      expect(keysOf(index, place)).toEqual(bruteForce(prepared, place));
    }
  });

  test('a coast of 10,000 points costs a bounded number of cells', () => {
    const ring = Array.from({ length: 9999 }, (_, i): LngLat => {
      const angle = (i / 9999) * 2 * Math.PI;
      const reach = 8 + 0.5 * Math.sin(37 * angle) + 0.02 * Math.sin(900 * angle);
      return [10 + reach * Math.cos(angle), 50 + reach * Math.sin(angle)];
    });
    const shape: Shape = { type: 'polygon', rings: [[...ring, ring[0] as LngLat]] };
    const index = GeofenceIndex.build([{ key: 1, shape }]);
    const prepared = prepareShape(shape);
    for (let i = 0; i < 4000; i++) {
      const [x, y] = [1 + (i % 97) * 0.187, 41 + (i % 89) * 0.203];
      expect(keysOf(index, [x, y])).toEqual(prepared.contains(x, y) ? [1] : []);
    }
    // The points themselves take 160 kB.
    expect(index.byteLength).toBeLessThan(600_000);
  });

  test('writes as many keys as fit, and says how many there are', () => {
    const items = Array.from({ length: 30 }, (_, key) => ({
      key,
      shape: { type: 'circle', center: [1, 1], radiusM: 100 + key } as const,
    }));
    const index = GeofenceIndex.build(items);
    const out = new Int32Array(4).fill(-1);
    expect(index.query(1, 1, out)).toBe(30);
    expect(out.every((key) => key >= 0)).toBe(true);
    expect(index.query(1, 1.1, out)).toBe(0);
  });

  test('what is no place is nowhere', () => {
    const index = GeofenceIndex.build([{ key: 3, shape: { type: 'circle', center: [0, 0], radiusM: 1_000_000 } }]);
    expect(keysOf(index, [0, 0])).toEqual([3]);
    for (const place of [
      [Number.NaN, 0],
      [0, Number.NaN],
      [200, 0],
      [0, 91],
    ] as const)
      expect(keysOf(index, place)).toEqual([]);
  });
});

describe('put and remove', () => {
  test('after any sequence, the same as one by one', () => {
    const step = fc.record({ key: fc.nat(15), remove: fc.boolean(), from: fc.nat(100) });
    fc.assert(
      fc.property(world, fc.array(step, { minLength: 1, maxLength: 80 }), ({ shapes, places }, steps) => {
        const index = GeofenceIndex.build([]);
        const prepared = new Map<number, PreparedShape>();
        for (const { key, remove, from } of steps) {
          if (remove) expect(index.remove(key)).toBe(prepared.delete(key));
          else {
            const shape = shapes[from % shapes.length] as Shape;
            index.put(key, shape);
            prepared.set(key, prepareShape(shape));
          }
          expect(index.size).toBe(prepared.size);
          expect(index.has(key)).toBe(prepared.has(key));
        }
        for (const place of places) expect(keysOf(index, place)).toEqual(bruteForce(prepared, place));
      }),
      { numRuns: runs(300) },
    );
  });

  test('changing geofences again and again takes no more memory', () => {
    const shapes = cityGeofences(400, 1);
    const index = GeofenceIndex.build(shapes.slice(0, 200).map((shape, key) => ({ key, shape })));
    const change = (round: number) => {
      for (let key = 0; key < 200; key++) index.put(key, shapes[(key * 7 + round * 13) % 400] as Shape);
    };
    for (let round = 0; round < 10; round++) change(round);
    const bytes = index.byteLength;
    for (let round = 0; round < 60; round++) change(round);
    expect(index.byteLength).toBeLessThanOrEqual(bytes * 2.3);
    for (let key = 0; key < 200; key++) expect(index.remove(key)).toBe(true);
    expect(index.size).toBe(0);
    const { longitudes, latitudes } = cityTrack(50, 10, 3);
    for (const [i, x] of longitudes.entries()) expect(keysOf(index, [x, latitudes[i] as number])).toEqual([]);
  });

  test('a user with three geofences takes little memory', () => {
    const index = GeofenceIndex.build(cityGeofences(3, 9).map((shape, key) => ({ key, shape })));
    expect(index.byteLength).toBeLessThan(400);
  });

  test('keys must be whole numbers that fit', () => {
    const index = new GeofenceIndex();
    const shape: Shape = { type: 'circle', center: [0, 0], radiusM: 10 };
    for (const key of [-1, 0.5, 2 ** 31, Number.NaN]) expect(() => index.put(key, shape)).toThrow(RangeError);
    index.put(2 ** 31 - 1, shape);
    expect(keysOf(index, [0, 0])).toEqual([2 ** 31 - 1]);
  });
});

describe('queryWay', () => {
  function wayKeys(index: GeofenceIndex, from: LngLat, to: LngLat): number[] {
    const out = new Int32Array(1000);
    const found = index.queryWay(from[0], from[1], to[0], to[1], out);
    return [...out.subarray(0, found)];
  }

  test('finds every geofence that is entered, left or passed through, once', () => {
    let met = 0;
    fc.assert(
      fc.property(world, ({ shapes, places }) => {
        const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
        const prepared = shapes.map(prepareShape);
        for (let i = 1; i < places.length; i++) {
          const [from, to] = [places[i - 1] as LngLat, places[i] as LngLat];
          const found = wayKeys(index, from, to);
          expect(new Set(found).size).toBe(found.length);
          for (const [key, shape] of prepared.entries()) {
            if (shape.crossing(from, to) === null && shape.passage(from, to) === null) continue;
            met++;
            expect(found).toContain(key);
          }
        }
      }),
      { numRuns: runs(200) },
    );
    expect(met).toBeGreaterThan(runs(200) * 5);
  });

  test('in a city, finds little more than what is met', () => {
    const shapes = cityGeofences(2000, 11);
    const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
    const prepared = shapes.map(prepareShape);
    const { longitudes, latitudes, vehicles } = cityTrack(200, 10, 3);
    let found = 0;
    let met = 0;
    for (let i = vehicles; i < longitudes.length; i++) {
      const from: LngLat = [longitudes[i - vehicles] as number, latitudes[i - vehicles] as number];
      const to: LngLat = [longitudes[i] as number, latitudes[i] as number];
      for (const key of wayKeys(index, from, to)) {
        found++;
        const shape = prepared[key] as PreparedShape;
        if (shape.crossing(from, to) !== null || shape.passage(from, to) !== null) met++;
      }
    }
    expect(met).toBeGreaterThan(50);
    expect(found).toBeLessThan(1.5 * met);
  });
});
