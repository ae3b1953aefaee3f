import { Problem } from '@outrider/access/problem';
import type { LngLat, Shape } from '@outrider/domain';
import { areaM2, featureFromShape, perimeterM, shapeFromFeature } from '@outrider/geo';

/** The part of a geofence's feature that describes its shape. */
export interface GeozoneFeature {
  type: 'Feature';
  geometry:
    | { type: 'Polygon'; coordinates: readonly (readonly LngLat[])[] }
    | { type: 'MultiPolygon'; coordinates: readonly (readonly (readonly LngLat[])[])[] }
    | { type: 'Point'; coordinates: LngLat }
    | { type: 'LineString'; coordinates: readonly LngLat[] };
  properties: {
    shape: Shape['type'];
    radiusM?: number | undefined;
    widthM?: number | undefined;
  };
}

const MEASURE_OF = { radiusM: 'circle', widthM: 'line' } as const;

/**
 * Converts a feature to a shape.
 *
 * @throws {Problem} `invalid-request` with every fault and its position
 */
export function shapeOf(feature: GeozoneFeature): Shape {
  const errors: { pointer: string; detail: string }[] = [];
  for (const [measure, kind] of Object.entries(MEASURE_OF) as [keyof typeof MEASURE_OF, Shape['type']][])
    if (feature.properties[measure] !== undefined && feature.properties.shape !== kind)
      errors.push({ pointer: `/properties/${measure}`, detail: `Only the shape "${kind}" has this property.` });
  const result = shapeFromFeature(feature);
  if (!result.ok) errors.push(...result.errors);
  else if (errors.length === 0) return result.shape;
  throw new Problem('invalid-request', 'The geometry is not valid.', { errors });
}

/** A shape as the fields of its feature, with its area and perimeter. */
export function measuresOf(shape: Shape): Omit<GeozoneFeature, 'type'> & { areaM2: number; perimeterM: number } {
  const { geometry, properties } = featureFromShape(shape);
  return { geometry, properties, areaM2: areaM2(shape), perimeterM: perimeterM(shape) };
}
