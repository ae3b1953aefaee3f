import type { CircleShape, LineShape, MultiPolygonShape, Shape } from '@outrider/domain';
import { EARTH_RADIUS_M, METRES_PER_DEGREE, RADIANS } from './earth.ts';
import { type Extent, extentOf, turned, turnsOf, unwrapPath } from './unwrap.ts';

/** One image of a polygon or a line in unwrapped degrees; see {@link turnsOf}. */
export interface Image {
  /** Longitude and latitude alternately; the rings of a polygon follow each other, each closed. */
  readonly xy: Float64Array;
  /** Box that the shape covers, including a line's width. */
  readonly extent: Extent;
}

/** One or several polygons as numbers, for measuring and indexing. */
export interface FlatPolygon {
  readonly type: 'polygon';
  readonly images: readonly Image[];
  /** Index of each ring's first point, and the number of all points at the end. */
  readonly ringStarts: Int32Array;
}

/** A circle as numbers. */
export interface FlatCircle {
  readonly type: 'circle';
  readonly longitude: number;
  readonly latitude: number;
  readonly cosLatitude: number;
  readonly radiusM: number;
  /** Value of {@link haversine} for places exactly on the circle. */
  readonly limit: number;
  /** From -180 to 180 where the circle covers a pole. */
  readonly extent: Extent;
}

/** A line as numbers. */
export interface FlatLine {
  readonly type: 'line';
  readonly images: readonly Image[];
  /** Half of the width, in degrees of latitude. */
  readonly halfWidthDeg: number;
}

export type FlatShape = FlatPolygon | FlatCircle | FlatLine;

/** Relative enlargement of boxes, so that rounding never cuts off a place that is inside. */
const SLACK = 1 + 1e-9;

function imagesOf(xy: Float64Array, extent: Extent): Image[] {
  return turnsOf(extent).map((turn) => ({
    xy: turned(xy, turn),
    extent: movedBy(extent, turn),
  }));
}

/**
 * Flattens polygons into one, each moved by whole turns to be nearest to the first. A place is inside where an odd
 * number of rings enclose it. Holes are moved by whole turns to lie within their outer ring's longitudes.
 */
export function flattenPolygons(polygons: MultiPolygonShape['polygons']): FlatPolygon {
  const laid = polygons.map((rings) => rings.map(unwrapPath));
  const extents = laid.map(([outer]) => extentOf(outer ?? new Float64Array(0)));
  const [first] = extents;
  const turns = extents.map((extent) => (first === undefined ? 0 : nearestTurn(extent, first)));
  const extent = unionOf(extents.map((each, nth) => movedBy(each, turns[nth] as number)));
  const ringStarts = new Int32Array(laid.reduce((sum, rings) => sum + rings.length, 0) + 1);
  const xy = new Float64Array(laid.flat().reduce((sum, ring) => sum + ring.length, 0));
  let nth = 0;
  let length = 0;
  for (const [p, rings] of laid.entries()) {
    const outer = extents[p] as Extent;
    for (const ring of rings) {
      const { minX, maxX } = extentOf(ring);
      const turn = [0, 360, -360].find((by) => minX + by >= outer.minX && maxX + by <= outer.maxX) ?? 0;
      xy.set(turned(ring, turn + (turns[p] as number)), length);
      length += ring.length;
      ringStarts[++nth] = length / 2;
    }
  }
  return { type: 'polygon', images: imagesOf(xy, extent), ringStarts };
}

function nearestTurn(extent: Extent, to: Extent): number {
  return 360 * Math.round((to.minX + to.maxX - extent.minX - extent.maxX) / 720);
}

function movedBy(extent: Extent, turn: number): Extent {
  return { ...extent, minX: extent.minX + turn, maxX: extent.maxX + turn };
}

function unionOf(extents: readonly Extent[]): Extent {
  const union = extentOf(new Float64Array(0));
  for (const { minX, minY, maxX, maxY } of extents) {
    union.minX = Math.min(union.minX, minX);
    union.minY = Math.min(union.minY, minY);
    union.maxX = Math.max(union.maxX, maxX);
    union.maxY = Math.max(union.maxY, maxY);
  }
  return union;
}

/** Converts a shape to numbers. */
export function flatten(shape: Shape): FlatShape {
  if (shape.type === 'polygon') return flattenPolygons([shape.rings]);
  if (shape.type === 'multipolygon') return flattenPolygons(shape.polygons);
  if (shape.type === 'circle') return flattenCircle(shape);
  return flattenLine(shape);
}

export function flattenCircle(shape: CircleShape): FlatCircle {
  const [longitude, latitude] = shape.center;
  const angle = shape.radiusM / EARTH_RADIUS_M;
  const cosLatitude = Math.cos(latitude * RADIANS);
  const reachY = (angle / RADIANS) * SLACK;
  const minY = latitude - reachY;
  const maxY = latitude + reachY;
  const overPole = minY <= -90 || maxY >= 90;
  // The meridian tangent to the circle forms a right angle there: sin(width) = sin(radius) / cos(latitude).
  const reachX = overPole ? 180 : (Math.asin(Math.min(1, Math.sin(angle) / cosLatitude)) / RADIANS) * SLACK + 1e-12;
  const extent = overPole
    ? { minX: -180, maxX: 180, minY: Math.max(-90, minY), maxY: Math.min(90, maxY) }
    : { minX: longitude - reachX, maxX: longitude + reachX, minY, maxY };
  return {
    type: 'circle',
    longitude,
    latitude,
    cosLatitude,
    radiusM: shape.radiusM,
    limit: Math.sin(angle / 2) ** 2,
    extent,
  };
}

export function flattenLine(shape: LineShape): FlatLine {
  const xy = unwrapPath(shape.path);
  const extent = extentOf(xy);
  const halfWidthDeg = shape.widthM / 2 / METRES_PER_DEGREE;
  const reachY = halfWidthDeg * SLACK;
  const minY = extent.minY - reachY;
  const maxY = extent.maxY + reachY;
  const reachX = reachY / Math.cos(Math.min(89.9, Math.max(-minY, maxY)) * RADIANS);
  return {
    type: 'line',
    images: imagesOf(xy, { minX: extent.minX - reachX, maxX: extent.maxX + reachX, minY, maxY }),
    halfWidthDeg,
  };
}
