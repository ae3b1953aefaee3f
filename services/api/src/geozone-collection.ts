import type { Faults, GeofenceItem } from '@outrider/access';
import { Problem } from '@outrider/access';
import type { Geofence } from '@outrider/domain';
import { z } from 'zod';
import { shapeOf } from './geojson.ts';
import { geometryIn, geozoneBody, NEW_GEOZONE_PROPERTIES } from './geozone-fields.ts';
import { validate } from './input.ts';

export const MAX_FEATURES = 10_000;
/** How much is sent to the client at once. */
const PART_CHARACTERS = 64 * 1024;

const ignored = z.unknown().optional().meta({ description: 'Computed or given: not looked at.' });
const bbox = z.array(z.number()).max(6).optional().meta({ description: 'Not looked at.' });

/** A geozone of many: one to be drawn, or one as an export has it. */
export const FeatureIn = z
  .strictObject({
    type: z.literal('Feature'),
    id: z
      .union([z.string(), z.number()])
      .optional()
      .meta({ description: 'Of one of the caller’s own geozones: that one is changed. Any other is not looked at.' }),
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

/** A collection as far as it is looked at before its features are. */
export const collectionOf = <T extends z.ZodType>(feature: T) =>
  z.strictObject({ type: z.literal('FeatureCollection'), bbox, features: z.array(feature).max(MAX_FEATURES) });

/**
 * Geofences as the text of a FeatureCollection (RFC 7946), a part at a time; each feature begins a line of its own.
 *
 * @param pages some at a time
 */
export async function* writeCollection(pages: AsyncIterable<readonly Geofence[]>): AsyncGenerator<string> {
  let text = '{"type":"FeatureCollection","features":[';
  let between = '\n';
  for await (const page of pages)
    for (const geofence of page) {
      text += between + JSON.stringify(geozoneBody(geofence));
      between = ',\n';
      if (text.length < PART_CHARACTERS) continue;
      yield text;
      text = '';
    }
  yield `${text}\n]}\n`;
}

/**
 * Reads a feature of a collection; null where something is wrong with it, which goes to `faults` by JSON pointers into
 * the collection.
 */
export function readFeature(index: number, value: unknown, faults: Faults): GeofenceItem | null {
  try {
    const feature = validate(FeatureIn, value, 'body');
    const { name, groupIds, speedLimitKmh, minDwellSeconds } = feature.properties;
    return {
      index,
      id: feature.id === undefined ? null : String(feature.id),
      fields: { name, shape: shapeOf(feature), groupIds, speedLimitKmh, minDwellSeconds },
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    for (const { pointer, detail } of error.errors) faults.add({ pointer: `/features/${index}${pointer}`, detail });
    return null;
  }
}
