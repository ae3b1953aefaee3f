/** Longitude in the Mercator square: 0 at 180° W, 1 at 180° E. */
export function mercatorX(longitude: number): number {
  return (180 + longitude) / 360;
}

/** Latitude in the Mercator square: 0 at 85° N, 1 at 85° S. */
export function mercatorY(latitude: number): number {
  return (180 - (180 / Math.PI) * Math.log(Math.tan(Math.PI / 4 + (latitude * Math.PI) / 360))) / 360;
}

export function longitudeOf(x: number): number {
  return x * 360 - 180;
}

export function latitudeOf(y: number): number {
  return (360 / Math.PI) * Math.atan(Math.exp(((180 - y * 360) * Math.PI) / 180)) - 90;
}

export const EARTH_RADIUS_M = 6_371_008.8;

type Place = readonly [longitude: number, latitude: number];

/** Metres between two places in a straight line. */
export function metresBetween([fromX, fromY]: Place, [toX, toY]: Place): number {
  const radians = Math.PI / 180;
  const half = (degrees: number) => Math.sin((degrees * radians) / 2) ** 2;
  const chord = half(toY - fromY) + Math.cos(fromY * radians) * Math.cos(toY * radians) * half(toX - fromX);
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(chord)));
}
