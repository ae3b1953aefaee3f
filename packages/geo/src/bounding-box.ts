import type { Shape } from '@outrider/domain';
import { flatten } from './flat-shape.ts';
import { normalLongitude } from './unwrap.ts';

/**
 * As in GeoJSON: west, south, east, north in degrees. West is greater than east where the box crosses the antimeridian
 * (RFC 7946, 5.2).
 */
export type BoundingBox = readonly [west: number, south: number, east: number, north: number];

/** Bounding box of a shape, including a line's width. A circle over a pole has all longitudes. */
export function boundingBox(shape: Shape): BoundingBox {
  const flat = flatten(shape);
  const extent = flat.type === 'circle' ? flat.extent : flat.images[0]?.extent;
  if (extent === undefined) throw new Error('a shape without points has no bounding box');
  if (extent.maxX - extent.minX >= 360) return [-180, extent.minY, 180, extent.maxY];
  return [normalLongitude(extent.minX), extent.minY, normalLongitude(extent.maxX), extent.maxY];
}
