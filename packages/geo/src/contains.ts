import { chainCrossings, ON_EDGE } from './chain.ts';
import { isWithinHaversine } from './distance.ts';
import { RADIANS } from './earth.ts';
import type { FlatCircle, FlatLine, FlatPolygon, FlatShape } from './flat-shape.ts';
import { squaredDistanceToSegment } from './segment-distance.ts';
import type { Extent } from './unwrap.ts';

function within(extent: Extent, x: number, y: number): boolean {
  return x >= extent.minX && x <= extent.maxX && y >= extent.minY && y <= extent.maxY;
}

function polygonContains(polygon: FlatPolygon, x: number, y: number): boolean {
  const { ringStarts } = polygon;
  for (const { xy, extent } of polygon.images) {
    if (!within(extent, x, y)) continue;
    let crossings = 0;
    for (let r = 0; r + 1 < ringStarts.length; r++) {
      const start = ringStarts[r] as number;
      const found = chainCrossings(xy, 2 * start, (ringStarts[r + 1] as number) - start - 1, x, y);
      if (found === ON_EDGE) return true;
      crossings ^= found;
    }
    if (crossings === 1) return true;
  }
  return false;
}

function circleContains(circle: FlatCircle, x: number, y: number): boolean {
  const cosLatitudes = circle.cosLatitude * Math.cos(y * RADIANS);
  return isWithinHaversine(circle.longitude, circle.latitude, x, y, cosLatitudes, circle.limit);
}

function lineContains(line: FlatLine, x: number, y: number): boolean {
  const limit = line.halfWidthDeg * line.halfWidthDeg;
  const cosLatitude = Math.cos(y * RADIANS);
  for (const { xy, extent } of line.images) {
    if (!within(extent, x, y)) continue;
    for (let i = 0; i + 3 < xy.length; i += 2) {
      const ax = xy[i] as number;
      const ay = xy[i + 1] as number;
      const bx = xy[i + 2] as number;
      const by = xy[i + 3] as number;
      if (squaredDistanceToSegment(ax, ay, bx, by, x, y, cosLatitude) <= limit) return true;
    }
  }
  return false;
}

/** Whether the coordinates are valid: a longitude of -180 to 180 and a latitude of -90 to 90. */
export function isPlace(longitude: number, latitude: number): boolean {
  return longitude >= -180 && longitude <= 180 && latitude >= -90 && latitude <= 90;
}

/** Whether a place is inside a shape; see `PreparedShape.contains` for the conventions. */
export function flatContains(shape: FlatShape, longitude: number, latitude: number): boolean {
  if (!isPlace(longitude, latitude)) return false;
  if (shape.type === 'polygon') return polygonContains(shape, longitude, latitude);
  if (shape.type === 'circle') return circleContains(shape, longitude, latitude);
  return lineContains(shape, longitude, latitude);
}
