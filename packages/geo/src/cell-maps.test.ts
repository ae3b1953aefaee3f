import type { LngLat, Shape } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cityGeofences, cityTrack } from './generate.ts';
import { GeofenceIndex } from './geofence-index.ts';
import { type PreparedShape, prepareShape } from './prepare-shape.ts';
import { cornersOf, region, shapeIn } from './shapes.arbitrary.ts';
import { Spot } from './spot.ts';

/** So often a cell is asked about before it has a map. */
const OFTEN = 25;
const out = new Int32Array(1000);

function keysAt(index: GeofenceIndex, [x, y]: LngLat, spot: Spot | null = null): string {
  return out
    .subarray(0, index.query(x, y, out, spot))
    .toSorted()
    .join();
}

function bruteForce(shapes: ReadonlyMap<number, PreparedShape>, [x, y]: LngLat): string {
  const keys = [...shapes].filter(([, shape]) => shape.contains(x, y)).map(([key]) => key);
  return Int32Array.from(keys).sort().join();
}

const clamped = ([x, y]: LngLat): LngLat => [Math.max(-180, Math.min(180, x)), Math.max(-90, Math.min(90, y))];

/** Places of one cell or two about a corner of the shapes, or about the rim of a circle: most boundaries are there. */
function placesAbout(shapes: readonly Shape[]): fc.Arbitrary<LngLat[]> {
  const rims = shapes.flatMap((shape): LngLat[] => {
    const reach = shape.type === 'circle' ? shape.radiusM : shape.type === 'line' ? shape.widthM / 2 : 0;
    return cornersOf(shape).map(([x, y]): LngLat => [x, y + reach / 111_195]);
  });
  const near = fc.double({ min: -0.0012, max: 0.0012, noNaN: true });
  return fc
    .tuple(fc.constantFrom(...rims), fc.array(fc.tuple(near, near), { minLength: 60, maxLength: 90 }))
    .map(([[x, y], steps]) => steps.map(([dx, dy]) => clamped([x + dx, y + dy])));
}

const world = region.chain((at) =>
  fc
    .array(shapeIn(at), { minLength: 8, maxLength: 20 })
    .chain((shapes) => placesAbout(shapes).map((places) => ({ shapes, places }))),
);

/** Holds a property with ever new worlds until it has met what it is about often enough; soon it must have. */
function heldUntil(isEnough: () => boolean, hold: () => void): void {
  for (let round = 1; round === 1 || !isEnough(); round++) {
    expect(round, 'rounds, and it was hardly met').toBeLessThan(20);
    hold();
  }
}

describe('cells that are often asked about', () => {
  test('answer as all shapes one by one say, whatever was put and removed between', () => {
    let hits = 0;
    const change = fc.record({ key: fc.nat(19), remove: fc.boolean(), from: fc.nat(19) });
    const answers = () =>
      fc.assert(
        fc.property(world, fc.array(change, { maxLength: 3 }), ({ shapes, places }, changes) => {
          const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
          const prepared = new Map(shapes.map((shape, key) => [key, prepareShape(shape)]));
          for (const next of [null, ...changes]) {
            if (next?.remove) {
              index.remove(next.key);
              prepared.delete(next.key);
            } else if (next !== null) {
              const shape = shapes[next.from % shapes.length] as Shape;
              index.put(next.key, shape);
              prepared.set(next.key, prepareShape(shape));
            }
            for (let time = 0; time < OFTEN; time++) for (const place of places.slice(0, 8)) keysAt(index, place);
            for (const place of places) {
              const expected = bruteForce(prepared, place);
              if (expected !== '') hits++;
              expect([...place, keysAt(index, place)]).toEqual([...place, expected]);
            }
          }
        }),
        { numRuns: runs(300) },
      );
    heldUntil(() => hits > 5000, answers);
  });

  test('a place that is unchanged from another has its answer', () => {
    let unchanged = 0;
    const answers = () =>
      fc.assert(
        fc.property(world, ({ shapes, places }) => {
          const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
          const prepared = new Map(shapes.map((shape, key) => [key, prepareShape(shape)]));
          for (let time = 0; time < OFTEN; time++) for (const place of places.slice(0, 8)) keysAt(index, place);
          for (const from of places) {
            const spot = new Spot();
            const expected = keysAt(index, from, spot);
            for (const to of places) {
              if (!index.isUnchanged(spot, to[0], to[1])) continue;
              unchanged++;
              expect(bruteForce(prepared, to)).toBe(expected);
            }
          }
        }),
        { numRuns: runs(100) },
      );
    heldUntil(() => unchanged > 2000, answers);
  });

  test('a city: the same as one by one, and most steps of a drive change nothing', () => {
    const shapes = cityGeofences(3000, 5);
    const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
    const prepared = new Map(shapes.map((shape, key) => [key, prepareShape(shape)]));
    const { longitudes, latitudes, vehicles } = cityTrack(100, 40, 3, 1);
    const drive = (check: boolean) => {
      const spots = Array.from({ length: vehicles }, () => new Spot());
      let unchanged = 0;
      for (const [i, x] of longitudes.entries()) {
        const place: LngLat = [x, latitudes[i] as number];
        const spot = spots[i % vehicles] as Spot;
        if (index.isUnchanged(spot, ...place)) unchanged++;
        else keysAt(index, place, spot);
        if (check && i % 7 === 0) expect(keysAt(index, place)).toBe(bruteForce(prepared, place));
      }
      return unchanged / longitudes.length;
    };
    for (let time = 0; time < OFTEN; time++) drive(false);
    expect(drive(true)).toBeGreaterThan(0.7);
  });

  test('a change makes every spot forget', () => {
    const index = GeofenceIndex.build(cityGeofences(20, 1).map((shape, key) => ({ key, shape })));
    const spot = new Spot();
    keysAt(index, [37.0001, 55.0001], spot);
    expect(index.isUnchanged(spot, 37.00012, 55.00012)).toBe(true);
    index.put(99, { type: 'circle', center: [37, 55], radiusM: 100 });
    expect(index.isUnchanged(spot, 37.00012, 55.00012)).toBe(false);
    keysAt(index, [37.0001, 55.0001], spot);
    index.remove(99);
    expect(index.isUnchanged(spot, 37.00012, 55.00012)).toBe(false);
  });

  test('what is no place is never unchanged', () => {
    const index = GeofenceIndex.build(cityGeofences(20, 1).map((shape, key) => ({ key, shape })));
    const spot = new Spot();
    keysAt(index, [180, 90], spot);
    for (const [x, y] of [
      [Number.NaN, 0],
      [181, 0],
      [0, 91],
    ] as const) {
      expect(index.isUnchanged(spot, x, y)).toBe(false);
      keysAt(index, [x, y], spot);
      expect(index.isUnchanged(spot, x, y)).toBe(false);
    }
  });

  test('maps take bounded memory, however many cells are asked about', () => {
    // Some 40 km across, in cells far coarser than those that maps are of.
    const shapes = Array.from(
      { length: 8 },
      (_, n): Shape => ({ type: 'circle', center: [10, 50], radiusM: 20_000 + n }),
    );
    const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
    const bytes = index.byteLength;
    for (let n = 0; n < 60_000; n++) {
      const angle = n / 30_000;
      const place: LngLat = [10 + 0.28 * Math.cos(angle), 50 + 0.18 * Math.sin(angle)];
      for (let time = 0; time < 2; time++) keysAt(index, place);
    }
    expect(index.byteLength - bytes).toBeLessThan(2_500_000);
  });
});
