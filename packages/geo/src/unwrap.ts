import type { LngLat } from '@outrider/domain';

/**
 * Unwraps a path to longitudes and latitudes alternately, in which consecutive points are never more than 180° of
 * longitude apart. Where the given ones are, the path takes the shorter direction, across the antimeridian, and its
 * longitudes continue past ±180.
 */
export function unwrapPath(path: readonly LngLat[]): Float64Array {
  const xy = new Float64Array(path.length * 2);
  let turns = 0;
  let before = Number.NaN;
  for (const [i, [longitude, latitude]] of path.entries()) {
    if (longitude - before > 180) turns -= 360;
    else if (longitude - before < -180) turns += 360;
    before = longitude;
    xy[2 * i] = longitude + turns;
    xy[2 * i + 1] = latitude;
  }
  return xy;
}

/** Minimum and maximum longitude and latitude of a flat list of points. */
export function extentOf(xy: Float64Array): Extent {
  const extent = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (let i = 0; i < xy.length; i += 2) {
    const x = xy[i] as number;
    const y = xy[i + 1] as number;
    if (x < extent.minX) extent.minX = x;
    if (x > extent.maxX) extent.maxX = x;
    if (y < extent.minY) extent.minY = y;
    if (y > extent.maxY) extent.maxY = y;
  }
  return extent;
}

/** A box in unwrapped degrees: `maxX` can be beyond 180 and `minX` below -180. */
export interface Extent {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/**
 * Whole turns to add to a shape's unwrapped longitudes so that each of its places occurs at a longitude from -180 to
 * 180. Just `[0]` unless the shape crosses or touches the antimeridian.
 */
export function turnsOf(extent: Extent): readonly number[] {
  const turns = [0];
  if (extent.maxX >= 180) turns.push(-360);
  if (extent.minX <= -180) turns.push(360);
  return turns;
}

/** The same points, moved by whole turns. */
export function turned(xy: Float64Array, turn: number): Float64Array {
  if (turn === 0) return xy;
  const moved = xy.slice();
  for (let i = 0; i < moved.length; i += 2) moved[i] = (moved[i] as number) + turn;
  return moved;
}

/** The longitude from -180 to 180 that is equivalent to an unwrapped one. */
export function normalLongitude(x: number): number {
  let longitude = x;
  while (longitude > 180) longitude -= 360;
  while (longitude < -180) longitude += 360;
  return longitude;
}
