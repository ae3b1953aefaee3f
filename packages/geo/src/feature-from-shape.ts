import type { LngLat, Shape } from '@outrider/domain';

/** A shape as a GeoJSON feature. */
export type ShapeFeature =
  | {
      type: 'Feature';
      properties: { shape: 'polygon' };
      geometry: { type: 'Polygon'; coordinates: readonly (readonly LngLat[])[] };
    }
  | {
      type: 'Feature';
      properties: { shape: 'multipolygon' };
      geometry: { type: 'MultiPolygon'; coordinates: readonly (readonly (readonly LngLat[])[])[] };
    }
  | {
      type: 'Feature';
      properties: { shape: 'circle'; radiusM: number };
      geometry: { type: 'Point'; coordinates: LngLat };
    }
  | {
      type: 'Feature';
      properties: { shape: 'line'; widthM: number };
      geometry: { type: 'LineString'; coordinates: readonly LngLat[] };
    };

/**
 * Writes a shape as the GeoJSON feature from which `shapeFromFeature` reads the same shape. Shares the shape's arrays.
 */
export function featureFromShape(shape: Shape): ShapeFeature {
  if (shape.type === 'polygon') {
    return {
      type: 'Feature',
      properties: { shape: 'polygon' },
      geometry: { type: 'Polygon', coordinates: shape.rings },
    };
  }
  if (shape.type === 'multipolygon') {
    return {
      type: 'Feature',
      properties: { shape: 'multipolygon' },
      geometry: { type: 'MultiPolygon', coordinates: shape.polygons },
    };
  }
  if (shape.type === 'circle') {
    return {
      type: 'Feature',
      properties: { shape: 'circle', radiusM: shape.radiusM },
      geometry: { type: 'Point', coordinates: shape.center },
    };
  }
  return {
    type: 'Feature',
    properties: { shape: 'line', widthM: shape.widthM },
    geometry: { type: 'LineString', coordinates: shape.path },
  };
}
