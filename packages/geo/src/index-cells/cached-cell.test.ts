import type { LngLat, Shape } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cityGeofences } from '../generate.ts';
import { GeofenceIndex } from '../geofence-index.ts';
import { prepareShape } from '../prepare-shape.ts';
import { CachedCell } from './cached-cell.ts';

// A few hundred metres with thorns, narrow streets and small yards, and short ways between places of it: one that is
// said to have stayed in place must not have met any of them.
const [X, Y] = [37.61, 55.74];
const METRE_Y = 1 / 111_195;
const METRE_X = METRE_Y / Math.cos((Y * Math.PI) / 180);
const at = (eastM: number, northM: number): LngLat => [X + eastM * METRE_X, Y + northM * METRE_Y];

const metres = (most: number) => fc.integer({ min: -most * 100, max: most * 100 }).map((cm) => cm / 100);
const middle = fc.tuple(metres(300), metres(300));
/** A triangle a few metres wide. */
const thorn = fc
  .tuple(middle, fc.integer({ min: 0, max: 359 }), fc.constantFrom(20, 50, 90), fc.constantFrom(2, 5))
  .map(([[x, y], degrees, long, wide]): Shape => {
    const [dx, dy] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    const corners = [
      at(x - wide * dy, y + wide * dx),
      at(x + long * dx, y + long * dy),
      at(x + wide * dy, y - wide * dx),
    ];
    return { type: 'polygon', rings: [[...corners, corners[0] as LngLat]] };
  });
const circle = fc
  .tuple(middle, fc.constantFrom(10, 25, 120))
  .map(([[x, y], radiusM]): Shape => ({ type: 'circle', center: at(x, y), radiusM }));
const line = fc
  .uniqueArray(middle, { minLength: 2, maxLength: 3, selector: String })
  .map((path): Shape => ({ type: 'line', path: path.map(([x, y]) => at(x, y)), widthM: 10 }));
const shapes = fc.array(fc.oneof({ weight: 3, arbitrary: thorn }, circle, line), { minLength: 7, maxLength: 30 });
const way = fc.tuple(middle, metres(30), metres(30)).map(([[x, y], dx, dy]) => [at(x, y), at(x + dx, y + dy)] as const);
const ways = fc.array(way, { minLength: 60, maxLength: 60 });

test('a way that is said to meet nothing enters, leaves and passes through nothing', () => {
  const said = { unchanged: 0, clear: 0, passed: 0 };
  fc.assert(
    fc.property(shapes, ways, (shapes, ways) => {
      const index = GeofenceIndex.build(shapes.map((shape, key) => ({ key, shape })));
      const prepared = shapes.map(prepareShape);
      const keys = new Int32Array(shapes.length);
      for (const [from, to] of ways) {
        const cached = new CachedCell();
        index.query(...from, keys, cached);
        const { column, row } = cached;
        const wasClear = index.isClear(cached);
        const isUnchanged = index.isUnchanged(cached, ...to);
        index.query(...to, keys, cached);
        const isClear = wasClear && index.isClear(cached) && cached.isBeside(column, row);
        const met = prepared.some(
          (shape) => shape.contains(...from) !== shape.contains(...to) || shape.passage(from, to) !== null,
        );
        if (isUnchanged || isClear) expect(met).toBe(false);
        if (isUnchanged) said.unchanged++;
        if (isClear) said.clear++;
        if (!met) continue;
        said.passed++;
        // And the caller finds all of it.
        const onWay = keys.subarray(0, index.queryWay(...from, ...to, keys));
        for (const [key, shape] of prepared.entries())
          if (shape.passage(from, to) !== null) expect(onWay).toContain(key);
      }
    }),
    { numRuns: runs(300) },
  );
  expect(said.unchanged).toBeGreaterThan(runs(300) / 3);
  expect(said.clear).toBeGreaterThan(runs(300) / 3);
  expect(said.passed).toBeGreaterThan(runs(300) * 1.5);
});

test('cells that only touch at a corner are not beside each other: a way between them may be in a third', () => {
  const cached = new CachedCell();
  [cached.column, cached.row] = [5, 7];
  for (const [column, row] of [
    [5, 7],
    [4, 7],
    [6, 7],
    [5, 8],
    [5, 6],
  ] as const)
    expect(cached.isBeside(column, row)).toBe(true);
  for (const [column, row] of [
    [6, 8],
    [4, 6],
    [7, 7],
  ] as const)
    expect(cached.isBeside(column, row)).toBe(false);
});

test('a change of the index makes every cached cell invalid', () => {
  const index = GeofenceIndex.build(cityGeofences(20, 1).map((shape, key) => ({ key, shape })));
  const keys = new Int32Array(20);
  const cached = new CachedCell();
  index.query(36.0001, 55.0001, keys, cached);
  expect(index.isUnchanged(cached, 36.00012, 55.00012)).toBe(true);
  index.put(99, { type: 'circle', center: [37, 55], radiusM: 100 });
  expect(index.isUnchanged(cached, 36.00012, 55.00012)).toBe(false);
  index.query(36.0001, 55.0001, keys, cached);
  index.remove(99);
  expect(index.isUnchanged(cached, 36.00012, 55.00012)).toBe(false);
});

test.each([
  [Number.NaN, 0],
  [181, 0],
  [0, 91],
  [-180.0001, -90.0001],
])('%s, %s is no place, and never unchanged', (x, y) => {
  const index = GeofenceIndex.build(cityGeofences(20, 1).map((shape, key) => ({ key, shape })));
  const keys = new Int32Array(20);
  const cached = new CachedCell();
  expect(index.isUnchanged(cached, x, y)).toBe(false);
  index.query(x, y, keys, cached);
  expect(index.isUnchanged(cached, x, y)).toBe(false);
});
