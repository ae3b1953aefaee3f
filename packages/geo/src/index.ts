export { type BoundingBox, boundingBox } from './bounding-box.ts';
export { distanceM } from './distance.ts';
export { EARTH_RADIUS_M } from './earth.ts';
export { featureFromShape, type ShapeFeature } from './feature-from-shape.ts';
export { GeofenceIndex, type IndexItem } from './geofence-index.ts';
export type { GeometryError } from './geometry-error.ts';
export { CachedCell } from './index-cells/cached-cell.ts';
export type { InsideInterval } from './inside-intervals.ts';
export { areaM2, perimeterM } from './measures.ts';
export { type PreparedShape, prepareShape } from './prepare-shape.ts';
export {
  LEAST_WIDTH_M,
  MOST_LINE_LATITUDE,
  MOST_POINTS,
  MOST_RADIUS_M,
  MOST_WIDTH_M,
  type ShapeResult,
  shapeFromFeature,
} from './shape-from-feature.ts';
export { shapeOfTraccarArea, traccarArea } from './traccar-area.ts';
