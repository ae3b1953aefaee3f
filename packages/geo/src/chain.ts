import { crossSign } from './cross-sign.ts';

/** Result of {@link chainCrossings} for a point on one of the edges. */
export const ON_EDGE = -1;

/**
 * Counts, modulo 2, the edges of a chain of points that a ray from (x, y) to the west crosses; {@link ON_EDGE} where
 * the point lies on an edge. An edge counts from its lower end, inclusive, to its upper end, exclusive, so that a ray
 * through a vertex counts it once. Equivalent to turf's booleanPointInPolygon (the method of Hao et al., 2018): it uses
 * the same differences and their exact sign, so that the two agree to the last bit.
 *
 * @param xy longitude and latitude in turn
 * @param at index of the longitude of the chain's first point
 * @param edges number of edges, one less than of points
 */
export function chainCrossings(xy: Float64Array, at: number, edges: number, x: number, y: number): number {
  let i = at;
  const end = i + edges * 2;
  let u1 = (xy[i] as number) - x;
  let v1 = (xy[i + 1] as number) - y;
  let crossings = 0;
  while (i < end) {
    i += 2;
    const u2 = (xy[i] as number) - x;
    const v2 = (xy[i + 1] as number) - y;
    // A positive product: both ends are on one side of the ray. (A product that underflows to zero is handled below.)
    if (v1 * v2 <= 0) {
      if (v1 === 0 && v2 === 0) {
        if ((u2 <= 0 && u1 >= 0) || (u1 <= 0 && u2 >= 0)) return ON_EDGE;
      } else if (v1 <= 0 && v2 >= 0) {
        if (u1 < 0 && u2 < 0) {
          if (v2 > 0) crossings ^= 1;
        } else if (u1 <= 0 || u2 <= 0) {
          const sign = crossSign(u1, v1, u2, v2);
          if (sign === 0) return ON_EDGE;
          if (sign > 0 && v2 > 0) crossings ^= 1;
        }
      } else if (v1 >= 0 && v2 <= 0) {
        if (u1 < 0 && u2 < 0) {
          if (v1 > 0) crossings ^= 1;
        } else if (u1 <= 0 || u2 <= 0) {
          const sign = crossSign(u1, v1, u2, v2);
          if (sign === 0) return ON_EDGE;
          if (sign < 0 && v1 > 0) crossings ^= 1;
        }
      }
    }
    u1 = u2;
    v1 = v2;
  }
  return crossings;
}

/** As {@link chainCrossings}, but an edge that the point lies on counts as not crossed. */
export function chainParity(xy: Float64Array, at: number, edges: number, x: number, y: number): number {
  let parity = 0;
  for (let i = at, end = i + edges * 2; i < end; i += 2) {
    const v1 = (xy[i + 1] as number) - y;
    const v2 = (xy[i + 3] as number) - y;
    if (v1 <= 0 === v2 <= 0) continue;
    const sign = crossSign((xy[i] as number) - x, v1, (xy[i + 2] as number) - x, v2);
    if (v1 <= 0 ? sign > 0 : sign < 0) parity ^= 1;
  }
  return parity;
}
