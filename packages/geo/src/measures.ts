import { type LngLat, ringsOf, type Shape } from '@outrider/domain';
import { distanceM } from './distance.ts';
import { EARTH_RADIUS_M, RADIANS } from './earth.ts';
import { unwrapPath } from './unwrap.ts';

/**
 * Square metres that a ring encloses on the sphere. Its edges are straight in longitude and latitude, so the area under
 * each (down to the equator) has a closed form: the integral of the sine of latitude over longitude.
 */
function ringAreaM2(ring: readonly LngLat[]): number {
  const xy = unwrapPath(ring);
  let sum = 0;
  for (let i = 0; i + 3 < xy.length; i += 2) {
    const width = ((xy[i + 2] as number) - (xy[i] as number)) * RADIANS;
    const middle = (((xy[i + 1] as number) + (xy[i + 3] as number)) / 2) * RADIANS;
    const half = (((xy[i + 3] as number) - (xy[i + 1] as number)) / 2) * RADIANS;
    sum += width * Math.sin(middle) * (half === 0 ? 1 : Math.sin(half) / half);
  }
  return Math.abs(sum) * EARTH_RADIUS_M * EARTH_RADIUS_M;
}

function polygonAreaM2(rings: readonly (readonly LngLat[])[]): number {
  return rings.reduce((area, ring, r) => (r === 0 ? ringAreaM2(ring) : area - ringAreaM2(ring)), 0);
}

function pathLengthM(path: readonly LngLat[]): number {
  let sum = 0;
  let before: LngLat | null = null;
  for (const point of path) {
    if (before !== null) sum += distanceM(before[0], before[1], point[0], point[1]);
    before = point;
  }
  return sum;
}

/**
 * Area in square metres, on turf's sphere. A polygon's holes are excluded. A line's area is that of its straightened
 * path with round ends: where it bends or crosses itself, overlaps count twice.
 */
export function areaM2(shape: Shape): number {
  if (shape.type === 'polygon') return polygonAreaM2(shape.rings);
  if (shape.type === 'multipolygon') return shape.polygons.reduce((area, rings) => area + polygonAreaM2(rings), 0);
  if (shape.type === 'circle') {
    return 4 * Math.PI * EARTH_RADIUS_M ** 2 * Math.sin(shape.radiusM / EARTH_RADIUS_M / 2) ** 2;
  }
  return pathLengthM(shape.path) * shape.widthM + Math.PI * (shape.widthM / 2) ** 2;
}

/**
 * Length of the boundary in metres. For polygons, the length of all rings including holes, along great circles between
 * points. For a circle, its circumference on the sphere. For a line, the length of both sides and the round ends of its
 * straightened path.
 */
export function perimeterM(shape: Shape): number {
  if (shape.type === 'polygon' || shape.type === 'multipolygon')
    return ringsOf(shape).reduce((sum, ring) => sum + pathLengthM(ring), 0);
  if (shape.type === 'circle') return 2 * Math.PI * EARTH_RADIUS_M * Math.sin(shape.radiusM / EARTH_RADIUS_M);
  return 2 * pathLengthM(shape.path) + Math.PI * shape.widthM;
}
