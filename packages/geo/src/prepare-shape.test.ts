import type { LngLat, Shape } from '@outrider/domain';
import { runs } from '@outrider/testing';
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon';
import { distance } from '@turf/distance';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareShape } from './prepare-shape.ts';
import { cornersOf, multiPolygonIn, placesIn, polygonIn, region, shapeIn } from './shapes.arbitrary.ts';

const square: Shape = {
  type: 'polygon',
  rings: [
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
    [
      [4, 4],
      [4, 6],
      [6, 6],
      [6, 4],
      [4, 4],
    ],
  ],
};

/** Across the antimeridian, from 179 east to 179 west. */
const strait: Shape = {
  type: 'polygon',
  rings: [
    [
      [179, 0],
      [-179, 0],
      [-179, 2],
      [179, 2],
      [179, 0],
    ],
  ],
};

function turfSays(rings: LngLat[][], [x, y]: LngLat): boolean {
  const xs = rings.flat().map((point) => point[0]);
  const ys = rings.flat().map((point) => point[1]);
  const feature = {
    type: 'Feature' as const,
    bbox: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as [number, number, number, number],
    properties: {},
    geometry: { type: 'Polygon' as const, coordinates: rings.map((ring) => ring.map((point) => [...point])) },
  };
  return [x, x + 360, x - 360].some((turned) => booleanPointInPolygon([turned, y], feature));
}

describe('contains', () => {
  test('a polygon contains what turf says, corners and edges included', () => {
    fc.assert(
      fc.property(
        region.chain((at) =>
          polygonIn(at).chain((p) => placesIn(at, cornersOf(p.shape)).map((places) => ({ ...p, places }))),
        ),
        ({ shape, unwrapped, places }) => {
          const prepared = prepareShape(shape);
          for (const place of places) expect(prepared.contains(place[0], place[1])).toBe(turfSays(unwrapped, place));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('a multipolygon contains what turf says of one of its polygons', () => {
    fc.assert(
      fc.property(
        region.chain((at) =>
          multiPolygonIn(at).chain((p) =>
            placesIn({ ...at, radiusDeg: 2 * at.radiusDeg }, cornersOf(p.shape)).map((places) => ({ ...p, places })),
          ),
        ),
        ({ shape, unwrapped, places }) => {
          const prepared = prepareShape(shape);
          for (const place of places)
            expect(prepared.contains(place[0], place[1])).toBe(unwrapped.some((rings) => turfSays(rings, place)));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('edges and corners are inside, the hole is not, but its edge is', () => {
    const { contains } = prepareShape(square);
    expect(contains(0, 0)).toBe(true);
    expect(contains(10, 5)).toBe(true);
    expect(contains(3, 3)).toBe(true);
    expect(contains(5, 5)).toBe(false);
    expect(contains(4, 5)).toBe(true);
    expect(contains(10.000001, 5)).toBe(false);
  });

  test('a polygon across the antimeridian', () => {
    const { contains, bbox } = prepareShape(strait);
    expect(contains(179.5, 1)).toBe(true);
    expect(contains(-179.5, 1)).toBe(true);
    expect(contains(180, 1)).toBe(true);
    expect(contains(-180, 1)).toBe(true);
    expect(contains(0, 1)).toBe(false);
    expect(bbox).toEqual([179, 0, -179, 2]);
  });

  test('a circle contains what is within its radius by turf', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -180, max: 180, noNaN: true }),
        fc.double({ min: -90, max: 90, noNaN: true }),
        fc.double({ min: 1, max: 1_000_000, noNaN: true }),
        fc.double({ min: 0, max: 2, noNaN: true }),
        fc.double({ min: 0, max: 2 * Math.PI, noNaN: true }),
        (x, y, radiusM, reach, angle) => {
          const degrees = (reach * radiusM) / 111_000;
          const latitude = Math.max(-90, Math.min(90, y + degrees * Math.sin(angle)));
          let longitude = x + (degrees * Math.cos(angle)) / Math.max(0.01, Math.cos((y * Math.PI) / 180));
          longitude = ((((longitude + 180) % 360) + 360) % 360) - 180;
          const away = distance([x, y], [longitude, latitude], { units: 'meters' });
          fc.pre(Math.abs(away - radiusM) > 1e-6);
          const { contains } = prepareShape({ type: 'circle', center: [x, y], radiusM });
          expect(contains(longitude, latitude)).toBe(away < radiusM);
        },
      ),
      { numRuns: runs(2000) },
    );
  });

  test('a line contains what is within half of its width, by great-circle distance to points along it', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -84, max: 84, noNaN: true }),
        fc.double({ min: -180, max: 180, noNaN: true }),
        fc.double({ min: -0.01, max: 0.01, noNaN: true }),
        fc.double({ min: -0.01, max: 0.01, noNaN: true }),
        fc.double({ min: 10, max: 1000, noNaN: true }),
        fc.double({ min: -0.01, max: 0.02, noNaN: true }),
        fc.double({ min: -0.01, max: 0.02, noNaN: true }),
        (y, x, dx, dy, widthM, px, py) => {
          const normal = (longitude: number) =>
            longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
          const path: LngLat[] = [
            [x, y],
            [normal(x + dx), y + dy],
          ];
          const place: [number, number] = [normal(x + px), y + py];
          let nearest = Number.POSITIVE_INFINITY;
          for (let i = 0; i <= 1000; i++) {
            const t = i / 1000;
            nearest = Math.min(nearest, distance([normal(x + t * dx), y + t * dy], place, { units: 'meters' }));
          }
          // Points along the path stand at most 2.3 m apart, and the local map is off by 0.05 % at most.
          fc.pre(Math.abs(nearest - widthM / 2) > 1.2 + widthM * 5e-4);
          expect(prepareShape({ type: 'line', path, widthM }).contains(place[0], place[1])).toBe(nearest < widthM / 2);
        },
      ),
    );
  });

  test('what is no place is nowhere', () => {
    const { contains } = prepareShape({ type: 'circle', center: [180, 89.9], radiusM: 100_000 });
    expect(contains(0, 90)).toBe(true);
    expect(contains(181, 89.9)).toBe(false);
    expect(contains(180, 90.1)).toBe(false);
    expect(contains(Number.NaN, 89.9)).toBe(false);
  });
});

describe('crossing', () => {
  test('is the first meeting with the boundary, from either side', () => {
    const { crossing } = prepareShape(square);
    expect(crossing([-5, 2], [5, 2])).toBeCloseTo(0.5, 12);
    expect(crossing([5, 2], [-5, 2])).toBeCloseTo(0.5, 12);
    expect(crossing([-5, 5], [9, 5])).toBeCloseTo(5 / 14, 12);
    expect(crossing([-5, 5], [5, 5])).toBeNull();
    expect(crossing([1, 1], [2, 2])).toBeNull();
  });

  test('crosses the antimeridian the short way', () => {
    expect(prepareShape(strait).crossing([178, 1], [-179.5, 1])).toBeCloseTo(0.4, 12);
    expect(prepareShape(strait).crossing([-179.5, 1], [178, 1])).toBeCloseTo(0.6, 12);
  });

  test('is at the radius of a circle', () => {
    const { crossing } = prepareShape({ type: 'circle', center: [37.6, 55.75], radiusM: 300 });
    const t = crossing([37.59, 55.75], [37.6, 55.7505]) ?? Number.NaN;
    const at: [number, number] = [37.59 + t * 0.01, 55.75 + t * 0.0005];
    expect(distance([37.6, 55.75], at, { units: 'meters' })).toBeCloseTo(300, 6);
  });

  test('of any shape: the way is outside before it, and inside after it', () => {
    fc.assert(
      fc.property(
        region.chain((at) => shapeIn(at).chain((shape) => placesIn(at, []).map((places) => ({ shape, places })))),
        ({ shape, places }) => {
          const prepared = prepareShape(shape);
          const isAt = (from: LngLat, to: LngLat, t: number) => {
            let dx = to[0] - from[0];
            if (Math.abs(dx) > 180) dx -= 360 * Math.sign(dx);
            const x = from[0] + t * dx;
            return prepared.contains(x > 180 ? x - 360 : x < -180 ? x + 360 : x, from[1] + t * (to[1] - from[1]));
          };
          for (let i = 1; i < places.length; i++) {
            const [from, to] = [places[i - 1] as LngLat, places[i] as LngLat];
            const inside = prepared.contains(from[0], from[1]);
            const t = prepared.crossing(from, to);
            if (inside === prepared.contains(to[0], to[1])) {
              expect(t).toBeNull();
              continue;
            }
            expect(t).not.toBeNull();
            if (t === null) continue;
            expect(t).toBeGreaterThanOrEqual(0);
            expect(t).toBeLessThanOrEqual(1);
            // A way that begins on the boundary has nothing before it but the rounding of its last bit.
            if (t < 1e-12) continue;
            for (const share of [0.1, 0.5, 0.9]) expect(isAt(from, to, share * t)).toBe(inside);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe('passage', () => {
  test('is from the first entry to the last exit', () => {
    const { passage, intervals } = prepareShape(square);
    expect(passage([-5, 5], [15, 5])).toEqual({ entry: 0.25, exit: 0.75 });
    expect(intervals([-5, 5], [15, 5])).toEqual([
      { entry: 0.25, exit: 0.45 },
      { entry: 0.55, exit: 0.75 },
    ]);
    expect(passage([-5, 11], [15, 11])).toBeNull();
    expect(passage([5, 1], [15, 5])).toBeNull();
    expect(passage([5, 5], [5.5, 5])).toBeNull();
  });

  test('is found in any shape that a place between is in', () => {
    let passages = 0;
    fc.assert(
      fc.property(
        region.chain((at) => shapeIn(at).chain((shape) => placesIn(at, []).map((places) => ({ shape, places })))),
        ({ shape, places }) => {
          const prepared = prepareShape(shape);
          for (let i = 1; i < places.length; i++) {
            const [from, to] = [places[i - 1] as LngLat, places[i] as LngLat];
            if (prepared.contains(from[0], from[1]) || prepared.contains(to[0], to[1])) continue;
            if (Math.abs(to[0] - from[0]) > 180) continue;
            const found = prepared.passage(from, to);
            const isInside = (t: number) =>
              prepared.contains(from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]));
            for (let k = 1; k < 20; k++) {
              if (!isInside(k / 20)) continue;
              passages++;
              expect(found).not.toBeNull();
              expect(found?.entry).toBeLessThanOrEqual(k / 20);
              expect(found?.exit).toBeGreaterThanOrEqual(k / 20);
            }
            if (found !== null) expect(isInside((prepared.intervals(from, to)[0]?.entry ?? 0) - 1e-6)).toBe(false);
          }
        },
      ),
      {
        numRuns: runs(300),
        // One that passes through, whatever the random ones do.
        examples: [
          [
            {
              shape: square,
              places: [
                [-5, 5],
                [15, 5],
              ],
            },
          ],
        ],
      },
    );
    expect(passages).toBeGreaterThan(0);
  });

  test('through a thin line between two fixes', () => {
    const road = prepareShape({
      type: 'line',
      path: [
        [37, 55],
        [38, 55],
      ],
      widthM: 20,
    });
    const found = road.passage([37.5, 54.999], [37.5, 55.001]);
    const lengthM =
      ((found?.exit ?? 0) - (found?.entry ?? 0)) * distance([37.5, 54.999], [37.5, 55.001], { units: 'meters' });
    expect(lengthM).toBeCloseTo(20, 6);
  });
});
