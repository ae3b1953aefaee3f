import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { featureFromShape } from './feature-from-shape.ts';
import { shapeFromFeature } from './shape-from-feature.ts';
import { region, shapeIn } from './shapes.arbitrary.ts';

type Ring = number[][];

const square: Ring = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
];

function polygon(...coordinates: unknown[]): unknown {
  return { type: 'Feature', properties: { shape: 'polygon' }, geometry: { type: 'Polygon', coordinates } };
}

function circle(coordinates: unknown, radiusM: unknown): unknown {
  return { type: 'Feature', properties: { shape: 'circle', radiusM }, geometry: { type: 'Point', coordinates } };
}

function line(coordinates: unknown, widthM: unknown): unknown {
  return { type: 'Feature', properties: { shape: 'line', widthM }, geometry: { type: 'LineString', coordinates } };
}

function moved(ring: Ring, dx: number, dy: number, scale = 1): Ring {
  return ring.map(([x = 0, y = 0]) => [x * scale + dx, y * scale + dy]);
}

/** Pointers of all errors. */
function pointers(feature: unknown): string[] {
  const result = shapeFromFeature(feature);
  return result.ok ? [] : result.errors.map(({ pointer }) => pointer);
}

function details(feature: unknown): string {
  const result = shapeFromFeature(feature);
  return result.ok ? '' : result.errors.map(({ detail }) => detail).join('\n');
}

describe('what is read', () => {
  test('a polygon with holes, a circle, a line', () => {
    const hole = moved(square, 2, 2, 0.2);
    expect(shapeFromFeature(polygon(square, hole))).toEqual({
      ok: true,
      shape: { type: 'polygon', rings: [square, hole] },
    });
    expect(shapeFromFeature(circle([5, 6], 100))).toEqual({
      ok: true,
      shape: { type: 'circle', center: [5, 6], radiusM: 100 },
    });
    const path = [
      [1, 2],
      [3, 4],
    ];
    expect(shapeFromFeature(line(path, 10))).toEqual({ ok: true, shape: { type: 'line', path, widthM: 10 } });
  });

  test('altitudes are dropped, other members not looked at', () => {
    const ring = square.map(([x, y]) => [x, y, 120, 'm']);
    const feature = { ...(polygon(ring) as object), id: 7, bbox: 'none' };
    expect(shapeFromFeature(feature)).toEqual({ ok: true, shape: { type: 'polygon', rings: [square] } });
  });

  test('rings of either direction, repeated points, holes that touch at a point, a ring across the antimeridian', () => {
    expect(pointers(polygon([...square].reverse()))).toEqual([]);
    expect(pointers(polygon([[0, 0], ...square]))).toEqual([]);
    const touching = [
      [0, 5],
      [2, 4],
      [2, 6],
      [0, 5],
    ];
    expect(pointers(polygon(square, touching))).toEqual([]);
    const strait = [
      [179, 0],
      [-179, 0],
      [-179, 2],
      [179, 2],
      [179, 0],
    ];
    const island = [
      [-179.9, 1],
      [-179.5, 1],
      [-179.5, 1.5],
      [-179.9, 1],
    ];
    expect(pointers(polygon(strait, island))).toEqual([]);
  });

  test('comes back as the same shape from the feature written of it', () => {
    let accepted = 0;
    fc.assert(
      fc.property(region.chain(shapeIn), (shape) => {
        const result = shapeFromFeature(JSON.parse(JSON.stringify(featureFromShape(shape))));
        // Some of the very small ones come out flat on the raster that they are made on.
        if (!result.ok) return;
        expect(result.shape).toEqual(shape);
        accepted++;
      }),
      { numRuns: runs(200) },
    );
    expect(accepted).toBeGreaterThan(runs(200) / 2);
  });
});

describe('a multipolygon', () => {
  const multi = (...coordinates: unknown[]) => ({
    type: 'Feature',
    properties: { shape: 'multipolygon' },
    geometry: { type: 'MultiPolygon', coordinates },
  });
  const frame = [square, moved(square, 2, 2, 0.6)];

  test('has polygons beside each other, in holes of each other, and touching in points', () => {
    const beside = [moved(square, 20, 0)];
    const island = [moved(square, 4, 4, 0.2)];
    expect(shapeFromFeature(multi(frame, beside, island))).toEqual({
      ok: true,
      shape: { type: 'multipolygon', polygons: [frame, beside, island] },
    });
    expect(pointers(multi([square], [moved(square, 10, 10)]))).toEqual([]);
    // Cut at the antimeridian, as RFC 7946 says.
    expect(pointers(multi([moved(square, 170, 0)], [moved(square, -179, 0)]))).toEqual([]);
  });

  test('is refused where polygons overlap, share an edge, or are wrong by themselves', () => {
    const at = '/geometry/coordinates';
    expect(pointers(multi([square], [moved(square, 5, 5)]))).toEqual([`${at}/1/0/3`]);
    expect(pointers(multi([square], [moved(square, 10, 0)]))).toHaveLength(1);
    expect(pointers(multi([square], [square]))).toHaveLength(1);
    expect(pointers(multi([square], [moved(square, 2, 2, 0.2)]))).toEqual([`${at}/1/0/0`]);
    expect(pointers(multi(frame, [moved(square, 0.5, 0.5, 0.1)]))).toEqual([`${at}/1/0/0`]);
    expect(pointers(multi([square], [moved(square, 20, 0), square]))).toEqual([`${at}/1/1/0`]);
    expect(pointers(multi([square], []))).toEqual([`${at}/1`]);
    expect(pointers(multi())).toEqual([at]);
    expect(pointers(multi([square], [[[0, 'x']]]))).toEqual([`${at}/1/0/0/1`]);
    expect(pointers(multi(...Array.from({ length: 2001 }, (_, n) => [moved(square, n / 20, 0, 0.001)])))).toEqual([at]);
  });
});

describe('what is refused, and where', () => {
  test('what is no feature', () => {
    for (const value of [null, undefined, 7, 'Feature', []]) expect(pointers(value)).toEqual(['']);
    expect(pointers({})).toEqual(['/type', '/properties', '/geometry']);
    expect(pointers({ type: 'Point', properties: {}, geometry: {} })).toEqual(['/type', '/properties/shape']);
    expect(pointers({ type: 'Feature', properties: { shape: 'circle' }, geometry: { type: 'Polygon' } })).toEqual([
      '/geometry/type',
    ]);
  });

  test('coordinates that are none', () => {
    expect(pointers(polygon())).toEqual(['/geometry/coordinates']);
    expect(pointers(polygon(7))).toEqual(['/geometry/coordinates/0']);
    expect(pointers(polygon([[0, 0], [1], 'x', [1, '2'], [0, 0]]))).toEqual([
      '/geometry/coordinates/0/1',
      '/geometry/coordinates/0/2',
      '/geometry/coordinates/0/3/1',
    ]);
    expect(pointers(circle('x', 5))).toEqual(['/geometry/coordinates']);
    expect(pointers(line(null, 50))).toEqual(['/geometry/coordinates']);
  });

  test('degrees out of range, or not finite', () => {
    expect(pointers(polygon([...square.slice(0, 3), [181, 95], ...square.slice(3)]))).toEqual([
      '/geometry/coordinates/0/3/0',
      '/geometry/coordinates/0/3/1',
    ]);
    expect(pointers(circle([Number.NaN, -90.1], 5))).toEqual(['/geometry/coordinates/0', '/geometry/coordinates/1']);
  });

  test('a ring that is not closed', () => {
    expect(pointers(polygon(square.slice(0, 4)))).toEqual(['/geometry/coordinates/0/3']);
    expect(details(polygon(square.slice(0, 4)))).toContain('closed');
  });

  test('fewer than 3 distinct points, or no points', () => {
    expect(
      pointers(
        polygon([
          [0, 0],
          [1, 1],
          [0, 0],
          [1, 1],
          [0, 0],
        ]),
      ),
    ).toEqual(['/geometry/coordinates/0']);
    expect(pointers(polygon([]))).toEqual(['/geometry/coordinates/0']);
    expect(
      pointers(
        line(
          [
            [1, 1],
            [1, 1],
          ],
          50,
        ),
      ),
    ).toEqual(['/geometry/coordinates']);
  });

  test('a ring that crosses itself, touches itself, or goes back on itself', () => {
    const bow = [
      [0, 0],
      [10, 10],
      [10, 0],
      [0, 10],
      [0, 0],
    ];
    expect(pointers(polygon(bow))).toEqual(['/geometry/coordinates/0/0']);
    expect(details(polygon(bow))).toContain('edge from point 2');
    const pinched = [
      [0, 0],
      [5, 5],
      [10, 0],
      [10, 10],
      [5, 5],
      [0, 10],
      [0, 0],
    ];
    expect(pointers(polygon(pinched))).toEqual(['/geometry/coordinates/0/1']);
    const spike = [
      [0, 0],
      [10, 0],
      [10, 10],
      [10, 20],
      [10, 10],
      [0, 10],
      [0, 0],
    ];
    expect(pointers(polygon(spike))).toEqual(['/geometry/coordinates/0/2']);
    const flat = [
      [0, 0],
      [1, 1],
      [2, 2],
      [0, 0],
    ];
    expect(pointers(polygon(flat))).toHaveLength(1);
  });

  test('holes outside, crossing, in each other', () => {
    expect(pointers(polygon(square, moved(square, 20, 0)))).toEqual(['/geometry/coordinates/1/0']);
    expect(pointers(polygon(square, moved(square, 5, 5)))).toEqual(['/geometry/coordinates/1/3']);
    expect(details(polygon(square, moved(square, 5, 5)))).toContain('of the ring at /geometry/coordinates/0');
    const hole = moved(square, 1, 1, 0.5);
    expect(pointers(polygon(square, hole, moved(square, 2, 2, 0.2)))).toEqual(['/geometry/coordinates/2/0']);
    expect(details(polygon(moved(square, 1, 1, 0.5), square))).toContain('not inside');
    expect(pointers(polygon(square, square))).not.toEqual([]);
  });

  test('a ring round a pole', () => {
    const round = [
      [-120, 80],
      [0, 80],
      [120, 80],
      [-120, 80],
    ];
    expect(pointers(polygon(round))).toEqual(['/geometry/coordinates/0']);
    expect(details(polygon(round))).toContain('pole');
  });

  test('too many points, however they are spread', () => {
    const many = Array.from({ length: 10_001 }, () => [0, 0]);
    expect(pointers(polygon(many))).toEqual(['/geometry/coordinates']);
    expect(pointers(polygon(...Array.from({ length: 2001 }, () => square)))).toEqual(['/geometry/coordinates']);
    expect(pointers(polygon(...Array.from({ length: 10_001 }, () => [])))).toEqual(['/geometry/coordinates']);
    expect(pointers(line(many, 50))).toEqual(['/geometry/coordinates']);
    expect(details(polygon(many))).toContain('10000');
  });

  test('at most 20 errors are reported', () => {
    expect(pointers(polygon(Array.from({ length: 9000 }, () => 'x')))).toHaveLength(20);
  });

  test('a radius or width that is none, or out of range', () => {
    for (const radiusM of [undefined, '5', Number.NaN, 0, -1, 1_000_001]) {
      expect(pointers(circle([0, 0], radiusM))).toEqual(['/properties/radiusM']);
    }
    for (const radiusM of [0.5, 1_000_000]) expect(pointers(circle([0, 0], radiusM))).toEqual([]);
    const path = [
      [0, 0],
      [1, 1],
    ];
    for (const widthM of [undefined, null, 9.9, 1000.1])
      expect(pointers(line(path, widthM))).toEqual(['/properties/widthM']);
    for (const widthM of [10, 1000]) expect(pointers(line(path, widthM))).toEqual([]);
  });

  test('a line near a pole, or right round the Earth', () => {
    expect(
      pointers(
        line(
          [
            [0, 80],
            [0, 85.1],
          ],
          50,
        ),
      ),
    ).toEqual(['/geometry/coordinates/1/1']);
    expect(
      pointers(
        line(
          [
            [-170, 0],
            [0, 0],
            [170, 0],
            [-170, 0],
          ],
          50,
        ),
      ),
    ).toEqual(['/geometry/coordinates']);
  });

  test('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('polygon', 'multipolygon', 'circle', 'line'),
        (coordinates, shape) => {
          for (const type of ['Polygon', 'MultiPolygon', 'Point', 'LineString']) {
            const feature = {
              type: 'Feature',
              properties: { shape, radiusM: 5, widthM: 50 },
              geometry: { type, coordinates },
            };
            const result = shapeFromFeature(feature);
            if (!result.ok) expect(result.errors.length).toBeGreaterThan(0);
          }
        },
      ),
    );
  });
});
