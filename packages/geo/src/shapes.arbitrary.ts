import { type LngLat, ringsOf, type Shape } from '@outrider/domain';
import fc from 'fast-check';

/**
 * Raster of 2^-12 degrees, so that whole turns add and subtract without rounding, and edges are often hit exactly.
 */
const RASTER = 2 ** 12;
/**
 * Raster of a tenth of a millimetre. Closer to a line, products underflow to denormal numbers, and an exact method and
 * one that rounds (turf) may differ about the side.
 */
const FINE_RASTER = 2 ** 30;

function onRaster(degrees: number, raster = RASTER): number {
  // Adding 0 turns -0 into 0, as JSON does.
  return Math.round(degrees * raster) / raster + 0;
}

function normal(x: number): number {
  return x > 180 ? x - 360 : x < -180 ? x + 360 : x;
}

export interface Region {
  x: number;
  y: number;
  radiusDeg: number;
}

/** Place and size of a shape: from some 50 m to a continent, often at the antimeridian or near a pole. */
export const region: fc.Arbitrary<Region> = fc.record({
  x: fc
    .oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, -179.9, 179.99, 180, 0))
    .map(onRaster),
  y: fc.oneof(fc.double({ min: -60, max: 60, noNaN: true }), fc.constantFrom(0, 55.75, -45)).map(onRaster),
  radiusDeg: fc.constantFrom(0.002, 0.01, 0.05, 0.5, 5, 25),
});

/** A ring around a centre that never crosses itself. Unwrapped. */
function star({ x, y, radiusDeg }: Region, reaches: readonly number[], scale: number): LngLat[] {
  const ring = reaches.map((reach, i): LngLat => {
    const angle = (i / reaches.length) * 2 * Math.PI;
    return [
      onRaster(x + scale * reach * radiusDeg * Math.cos(angle)),
      onRaster(y + scale * reach * radiusDeg * Math.sin(angle)),
    ];
  });
  return [...ring, ring[0] as LngLat];
}

const reaches = fc.array(fc.double({ min: 0.5, max: 1, noNaN: true }), { minLength: 4, maxLength: 40 });

/** A polygon, often with a hole, as in GeoJSON and in unwrapped degrees. */
export const polygonIn = (at: Region): fc.Arbitrary<{ shape: Shape & { type: 'polygon' }; unwrapped: LngLat[][] }> =>
  fc.tuple(reaches, fc.option(reaches)).map(([outer, hole]) => {
    const unwrapped = [star(at, outer, 1)];
    if (hole !== null) unwrapped.push(star(at, hole, 0.3));
    const rings = unwrapped.map((ring) => ring.map(([x, y]): LngLat => [normal(x), y]));
    return { shape: { type: 'polygon', rings }, unwrapped };
  });

/** A polygon with an island in its hole, where it has one, and another next to it. */
export const multiPolygonIn = (
  at: Region,
): fc.Arbitrary<{ shape: Shape & { type: 'multipolygon' }; unwrapped: LngLat[][][] }> =>
  fc.tuple(polygonIn(at), polygonIn(at), fc.boolean()).map(([{ unwrapped: first }, { unwrapped: second }, isEast]) => {
    const besideBy = (isEast ? 2.25 : -2.25) * at.radiusDeg;
    const beside = second.map((ring) => ring.map(([x, y]): LngLat => [onRaster(x + besideBy), y]));
    // A smaller one would have several vertices at one place of the raster.
    const hole = at.radiusDeg < 0.5 ? undefined : first[1];
    const island = hole?.map(([x, y]): LngLat => [onRaster(at.x + (x - at.x) / 4), onRaster(at.y + (y - at.y) / 4)]);
    const unwrapped = [first, beside, ...(island === undefined ? [] : [[island]])];
    const polygons = unwrapped.map((rings) => rings.map((ring) => ring.map(([x, y]): LngLat => [normal(x), y])));
    return { shape: { type: 'multipolygon', polygons }, unwrapped };
  });

export const circleIn = (at: Region): fc.Arbitrary<Shape> =>
  fc.double({ min: 0.1, max: 1, noNaN: true }).map((share) => ({
    type: 'circle',
    center: [normal(at.x), at.y],
    radiusM: Math.min(1_000_000, share * at.radiusDeg * 111_000),
  }));

export const lineIn = (at: Region): fc.Arbitrary<Shape> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1, max: 1, noNaN: true })), {
        minLength: 2,
        maxLength: 30,
      }),
      fc.double({ min: 10, max: 1000, noNaN: true }),
    )
    .map(([steps, widthM]) => ({
      type: 'line',
      path: steps.map(
        ([dx, dy]): LngLat => [normal(onRaster(at.x + dx * at.radiusDeg)), onRaster(at.y + dy * at.radiusDeg)],
      ),
      widthM,
    }));

export const shapeIn = (at: Region): fc.Arbitrary<Shape> =>
  fc.oneof(
    polygonIn(at).map(({ shape }) => shape),
    multiPolygonIn(at).map(({ shape }) => shape),
    circleIn(at),
    lineIn(at),
  );

/** Places around a region, many of them exactly at vertices of the given points, or on their latitude. */
export function placesIn(at: Region, corners: readonly LngLat[]): fc.Arbitrary<LngLat[]> {
  const free = fc
    .tuple(fc.double({ min: -1.3, max: 1.3, noNaN: true }), fc.double({ min: -1.3, max: 1.3, noNaN: true }))
    .map(
      ([dx, dy]): LngLat => [
        normal(onRaster(at.x + dx * at.radiusDeg, FINE_RASTER)),
        Math.max(-90, Math.min(90, onRaster(at.y + dy * at.radiusDeg, FINE_RASTER))),
      ],
    );
  if (corners.length === 0) return fc.array(free, { minLength: 20, maxLength: 40 });
  const corner = fc.constantFrom(...corners);
  const level = fc.tuple(free, corner).map(([[x], [, y]]): LngLat => [x, y]);
  const between = fc.tuple(corner, corner).map(([a, b]): LngLat => [normal((a[0] + b[0]) / 2), (a[1] + b[1]) / 2]);
  return fc.array(fc.oneof(free, free, corner, level, between), { minLength: 20, maxLength: 40 });
}

/** All points that define a shape. */
export function cornersOf(shape: Shape): readonly LngLat[] {
  if (shape.type === 'polygon' || shape.type === 'multipolygon') return ringsOf(shape).flat();
  return shape.type === 'line' ? shape.path : [shape.center];
}
