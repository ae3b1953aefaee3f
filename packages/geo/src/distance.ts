import { EARTH_RADIUS_M, RADIANS } from './earth.ts';

/**
 * Square of the sine of half the angle between two places, as in the haversine formula before its root. It grows
 * monotonically with the distance, which is sufficient for testing a circle.
 *
 * @param cosLatitudes product of the cosines of the two latitudes
 */
export function haversine(
  longitude1: number,
  latitude1: number,
  longitude2: number,
  latitude2: number,
  cosLatitudes: number,
): number {
  const sinLatitude = Math.sin((latitude2 - latitude1) * RADIANS * 0.5);
  const sinLongitude = Math.sin((longitude2 - longitude1) * RADIANS * 0.5);
  return sinLatitude * sinLatitude + sinLongitude * sinLongitude * cosLatitudes;
}

/** Relative bound, far above the rounding errors of the comparisons in {@link isWithinHaversine}. */
const ROUNDING = 1e-12;

/**
 * Whether {@link haversine} of two places is at most `limit`: the same result, but nearly always without a sine. The
 * square of a sine lies between `x² (1 - x² / 3)` and `x²`, which decides all but places extremely close to the limit.
 */
export function isWithinHaversine(
  longitude1: number,
  latitude1: number,
  longitude2: number,
  latitude2: number,
  cosLatitudes: number,
  limit: number,
): boolean {
  const halfY = (latitude2 - latitude1) * RADIANS * 0.5;
  const halfX = (longitude2 - longitude1) * RADIANS * 0.5;
  const squareY = halfY * halfY;
  const squareX = halfX * halfX;
  const most = squareY + squareX * cosLatitudes;
  if (most * (1 + ROUNDING) <= limit) return true;
  const squares = squareX + squareY;
  if (squares < 0.5 && most * (1 - squares / 3 - ROUNDING) > limit) return false;
  return haversine(longitude1, latitude1, longitude2, latitude2, cosLatitudes) <= limit;
}

/** Half-angle below which {@link distanceM} needs no sine: about 5 km on the ground. */
const SHORT = 4e-4;

/**
 * Great-circle distance in metres between two places in degrees, by the haversine formula on turf's sphere.
 * Longitudes may differ by any number of turns.
 */
export function distanceM(longitude1: number, latitude1: number, longitude2: number, latitude2: number): number {
  const halfX = (longitude2 - longitude1) * RADIANS * 0.5;
  const halfY = (latitude2 - latitude1) * RADIANS * 0.5;
  if (halfX < SHORT && halfX > -SHORT && halfY < SHORT && halfY > -SHORT) {
    // The first terms of the series of the same formula: the next term would be below the last bit of the sum.
    const squareX = halfX * halfX;
    const squareY = halfY * halfY;
    const sinX = halfX * (1 - (squareX / 6) * (1 - squareX / 20));
    const sinY = halfY * (1 - (squareY / 6) * (1 - squareY / 20));
    // The product of two cosines is half the sum of the cosines of sum and difference: one cosine less to compute.
    const cosLatitudes = (Math.cos((latitude1 + latitude2) * RADIANS) + 1) * 0.5 - sinY * sinY;
    const a = sinY * sinY + sinX * sinX * cosLatitudes;
    return 2 * Math.sqrt(a) * (1 + a * (1 / 6 + a * 0.075)) * EARTH_RADIUS_M;
  }
  const cosLatitudes = Math.cos(latitude1 * RADIANS) * Math.cos(latitude2 * RADIANS);
  const a = haversine(longitude1, latitude1, longitude2, latitude2, cosLatitudes);
  // For antipodal places, rounding can make `a` slightly larger than 1.
  return 2 * Math.atan2(Math.sqrt(a), Math.sqrt(Math.max(0, 1 - a))) * EARTH_RADIUS_M;
}
