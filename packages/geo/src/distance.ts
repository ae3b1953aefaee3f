import { EARTH_RADIUS_M, RADIANS } from './earth.ts';

/**
 * Square of the sine of half the angle between two places: what the haversine formula compares and takes the root of.
 * It grows with the distance, so a circle needs nothing more than this.
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

/** Far above the rounding of what {@link isWithinHaversine} compares, relatively. */
const ROUNDING = 1e-12;

/**
 * Whether {@link haversine} of two places is at most `limit`: the same answer, but nearly always without a sine. The square of a
 * sine lies between `x² (1 - x² / 3)` and `x²`, which decides all but places within a hair of the limit.
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

/**
 * Great-circle distance in metres between two places in degrees, by the haversine formula on turf's sphere.
 * Longitudes may differ by any number of turns.
 */
export function distanceM(longitude1: number, latitude1: number, longitude2: number, latitude2: number): number {
  const cosLatitudes = Math.cos(latitude1 * RADIANS) * Math.cos(latitude2 * RADIANS);
  const a = haversine(longitude1, latitude1, longitude2, latitude2, cosLatitudes);
  // Rounding can carry `a` a hair above 1 between places opposite each other.
  return 2 * Math.atan2(Math.sqrt(a), Math.sqrt(Math.max(0, 1 - a))) * EARTH_RADIUS_M;
}
