import type { LngLat, Shape } from '@outrider/domain';
import { type BoundingBox, boundingBox } from './bounding-box.ts';
import { flatContains } from './contains.ts';
import { flatten } from './flat-shape.ts';
import { crossingBetween, type InsideInterval, insideIntervals, passageBetween } from './inside-intervals.ts';

/** A shape prepared for many queries. */
export interface PreparedShape {
  readonly shape: Shape;
  readonly bbox: BoundingBox;
  /**
   * Whether a place (degrees) is inside. Places on the boundary are inside.
   * - polygon: edges are straight in longitude and latitude; inside as by turf's booleanPointInPolygon; the inside of a
   *   hole is outside, but a hole's own edge is inside;
   * - circle: within `radiusM` by great-circle distance (haversine);
   * - line: within half of `widthM` of the path, measured on a local map (off by less than 0.05 % of the width, and by
   *   less than 0.01 % below 60° of latitude).
   *
   * A place with a longitude beyond ±180, a latitude beyond ±90 or a NaN is outside every shape.
   */
  contains(longitude: number, latitude: number): boolean;
  /**
   * The fraction (0 to 1) of the segment from one place to another at which it first crosses the boundary, where one of
   * the two is inside and the other outside; null otherwise. The segment is straight in longitude and latitude, in the
   * shorter direction.
   */
  crossing(from: LngLat, to: LngLat): number | null;
  /**
   * For two places that are both outside: where the segment between them first enters and last leaves; null where it
   * passes by.
   */
  passage(from: LngLat, to: LngLat): InsideInterval | null;
  /** All parts of the segment that are inside, in order. */
  intervals(from: LngLat, to: LngLat): readonly InsideInterval[];
}

/** Prepares a shape that {@link shapeFromFeature} accepted. Memory: about 16 bytes per point. */
export function prepareShape(shape: Shape): PreparedShape {
  const flat = flatten(shape);
  return {
    shape,
    bbox: boundingBox(shape),
    contains: (longitude, latitude) => flatContains(flat, longitude, latitude),
    crossing: (from, to) => crossingBetween(flat, from, to),
    passage: (from, to) => passageBetween(flat, from, to),
    intervals: (from, to) => insideIntervals(flat, from, to),
  };
}
