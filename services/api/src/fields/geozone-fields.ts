import type { Geofence, GroupId, LngLat } from '@outrider/domain';
import { z } from 'zod';
import { measuresOf } from '../geozones/geojson.ts';
import { CUSTOM_FIELDS_PATCH, NEW_CUSTOM_FIELDS } from './custom-fields.ts';
import { GEOFENCE } from './field-schemas.ts';
import { id } from './plain-fields.ts';

/** Longitude and latitude. An altitude that a tool added is dropped. */
const lngLat = z
  .tuple([z.number(), z.number()], z.number())
  .transform(([longitude, latitude]): LngLat => [longitude, latitude])
  .meta({ id: 'LngLat', description: 'Longitude and latitude in degrees (RFC 7946).', examples: [[30.3141, 59.9386]] });
const lngLatOut = z.tuple([z.number(), z.number()]);

const MAX_POINTS = 10_000;

const polygon = { type: z.literal('Polygon') };
const multiPolygon = { type: z.literal('MultiPolygon') };
const point = { type: z.literal('Point') };
const path = { type: z.literal('LineString') };

export const geometryIn = z
  .discriminatedUnion('type', [
    z.strictObject({ ...polygon, coordinates: z.array(z.array(lngLat).max(MAX_POINTS)).min(1).max(1000) }),
    z.strictObject({
      ...multiPolygon,
      coordinates: z
        .array(z.array(z.array(lngLat).max(MAX_POINTS)).min(1).max(1000))
        .min(1)
        .max(1000),
    }),
    z.strictObject({ ...point, coordinates: lngLat }),
    z.strictObject({ ...path, coordinates: z.array(lngLat).max(MAX_POINTS) }),
  ])
  .meta({ id: 'NewGeometry' });
export const geometryOut = z
  .discriminatedUnion('type', [
    z.strictObject({ ...polygon, coordinates: z.array(z.array(lngLatOut)) }),
    z.strictObject({ ...multiPolygon, coordinates: z.array(z.array(z.array(lngLatOut))) }),
    z.strictObject({ ...point, coordinates: lngLatOut }),
    z.strictObject({ ...path, coordinates: z.array(lngLatOut) }),
  ])
  .meta({ id: 'Geometry' });

export const shape = z.enum(['polygon', 'multipolygon', 'circle', 'line']).meta({
  description:
    'Decides the geometry. `polygon`: a Polygon. `multipolygon`: a MultiPolygon whose parts do not overlap. `circle`: a ' +
    'Point with `radiusM`. `line`: a LineString with `widthM`.',
});
export const radiusM = z.number();
export const widthM = z.number();
const groupIds = z.array(id<GroupId>()).max(1000).nullable().meta({
  description: 'The geozone watches the vehicles of these groups. Null for all vehicles that its owner may see.',
});
const sharedGroupIds = z
  .array(id<GroupId>())
  .max(1000)
  .meta({ description: 'Users who were given one of these groups may see the geozone as well.' });

/** Properties of a new geofence, besides its geometry. */
export const NEW_GEOZONE_PROPERTIES = {
  shape,
  radiusM: radiusM.optional(),
  widthM: widthM.optional(),
  ...GEOFENCE.add,
  groupIds: groupIds.default(null),
  sharedGroupIds: sharedGroupIds.default([]),
  ...NEW_CUSTOM_FIELDS,
};
/** Properties of a geofence that a patch may change, besides its geometry. */
export const GEOZONE_PROPERTIES = {
  shape,
  radiusM: radiusM.nullable(),
  widthM: widthM.nullable(),
  ...GEOFENCE.set,
  groupIds,
  sharedGroupIds,
  ...CUSTOM_FIELDS_PATCH,
};

/** A geofence as a GeoJSON feature. */
export function geozoneBody(geofence: Geofence): unknown {
  const { geometry, properties, areaM2, perimeterM } = measuresOf(geofence.shape);
  const { kind: _, id: __, version: ___, shape: ____, ...terms } = geofence;
  return {
    type: 'Feature',
    id: geofence.id,
    geometry,
    properties: { ...properties, ...terms, areaM2, perimeterM },
  };
}
