import type { LngLat } from '@outrider/domain';

/** Metres east and north of the plane's origin. */
export type PointM = readonly [eastM: number, northM: number];

/** A flat map of a town: accurate to about a metre within twenty kilometres of its origin, except near the poles. */
export interface Plane {
  toLngLat(point: PointM): LngLat;
  toPoint(place: LngLat): PointM;
}

const M_PER_DEGREE = (6_371_008.8 * Math.PI) / 180;

/** @param origin where the plane touches the earth */
export function createPlane(origin: LngLat): Plane {
  const mPerDegreeEast = M_PER_DEGREE * Math.cos((origin[1] * Math.PI) / 180);
  return {
    toLngLat: ([eastM, northM]) => [origin[0] + eastM / mPerDegreeEast, origin[1] + northM / M_PER_DEGREE],
    toPoint: ([longitude, latitude]) => [
      (longitude - origin[0]) * mPerDegreeEast,
      (latitude - origin[1]) * M_PER_DEGREE,
    ],
  };
}

/** Distance in metres between two points of one plane. */
export function spanM(a: PointM, b: PointM): number {
  return Math.hypot(b[0] - a[0], b[1] - a[1]);
}
