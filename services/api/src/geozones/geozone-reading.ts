import type { Faults, GeofenceItem } from '@outrider/access';
import { Problem } from '@outrider/access/problem';
import { z } from 'zod';
import { geometryIn, NEW_GEOZONE_PROPERTIES } from '../fields/geozone-fields.ts';
import { validate } from '../http/input.ts';
import { shapeOf } from './geojson.ts';

export const MAX_FEATURES = 10_000;

const ignored = z.unknown().optional().meta({ description: 'Set by the service, and ignored here.' });
const bbox = z.array(z.number()).max(6).optional().meta({ description: 'Ignored.' });

/** One geofence of an import: a new one, or one as exports write it. */
export const FeatureIn = z
  .strictObject({
    type: z.literal('Feature'),
    id: z
      .union([z.string(), z.number()])
      .optional()
      .meta({ description: 'Id of one of the caller’s own geozones, which is then changed. Any other id is ignored.' }),
    bbox,
    geometry: geometryIn,
    properties: z.strictObject({
      ...NEW_GEOZONE_PROPERTIES,
      ownerId: ignored,
      areaM2: ignored,
      perimeterM: ignored,
    }),
  })
  .meta({ id: 'ImportedGeozone' });

/** Schema of a collection, as far as it is checked before its features. */
export const collectionOf = <T extends z.ZodType>(feature: T) =>
  z.strictObject({ type: z.literal('FeatureCollection'), bbox, features: z.array(feature).max(MAX_FEATURES) });

/**
 * Reads a feature of a collection. Null if it is invalid; the faults are then added to `faults`, with JSON pointers
 * into the collection.
 */
export function readFeature(index: number, value: unknown, faults: Faults): GeofenceItem | null {
  try {
    const feature = validate(FeatureIn, value, 'body');
    const { shape: _, radiusM: __, widthM: ___, ownerId, areaM2, perimeterM, ...terms } = feature.properties;
    return {
      index,
      id: feature.id === undefined ? null : String(feature.id),
      fields: { ...terms, shape: shapeOf(feature) },
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    for (const { pointer, detail } of error.errors) faults.add({ pointer: `/features/${index}${pointer}`, detail });
    return null;
  }
}
