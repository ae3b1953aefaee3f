import type { Shape } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shapeOfTraccarArea, traccarArea } from './traccar-area.ts';

test('areas have the latitude first', () => {
  expect(traccarArea({ type: 'circle', center: [30.3141, 59.9386], radiusM: 300 })).toBe(
    'CIRCLE (59.9386 30.3141, 300)',
  );
  expect(shapeOfTraccarArea('CIRCLE (59.9386 30.3141, 300.5)')).toEqual({
    type: 'circle',
    center: [30.3141, 59.9386],
    radiusM: 300.5,
  });
  expect(shapeOfTraccarArea(' LINESTRING(59.9 30.3,60 -30.4) ', 80)).toEqual({
    type: 'line',
    path: [
      [30.3, 59.9],
      [-30.4, 60],
    ],
    widthM: 80,
  });
});

test('a ring that is open is closed', () => {
  expect(shapeOfTraccarArea('POLYGON((1 2, 3 4,5 2))')).toEqual({
    type: 'polygon',
    rings: [
      [
        [2, 1],
        [4, 3],
        [2, 5],
        [2, 1],
      ],
    ],
  });
});

test.each([
  '',
  'POINT (1 2)',
  'CIRCLE (1 2)',
  'CIRCLE (1 2, x)',
  'POLYGON ()',
  'POLYGON ((1 2, 3))',
  'LINESTRING (1, 2)',
  'LINESTRING (1 2 3, 4 5)',
])('%j is no area', (text) => {
  expect(shapeOfTraccarArea(text)).toBeNull();
});

test('what was written is read', () => {
  const degrees = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  );
  const ring = fc.array(degrees, { minLength: 3, maxLength: 9 }).map((open) => [...open, open[0] ?? [0, 0]]);
  const shapes: fc.Arbitrary<Shape> = fc.oneof(
    fc.record({
      type: fc.constant('circle' as const),
      center: degrees,
      radiusM: fc.double({ min: 1, max: 1e6, noNaN: true }),
    }),
    fc.record({
      type: fc.constant('line' as const),
      path: fc.array(degrees, { minLength: 2 }),
      widthM: fc.constant(40),
    }),
    fc.record({ type: fc.constant('polygon' as const), rings: fc.array(ring, { minLength: 1, maxLength: 3 }) }),
  ) as fc.Arbitrary<Shape>;
  fc.assert(
    fc.property(shapes, (shape) => {
      // -0 is written as 0.
      expect(shapeOfTraccarArea(traccarArea(shape), 40)).toEqual(JSON.parse(JSON.stringify(shape)));
    }),
    { numRuns: runs(300) },
  );
});
