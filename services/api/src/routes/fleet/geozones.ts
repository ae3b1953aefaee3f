import { customMatcher, mergedAttributes } from '@outrider/access';
import type { Geofence, GeofenceId } from '@outrider/domain';
import { z } from 'zod';
import { CUSTOM_EXAMPLE, CUSTOM_FIELDS_OUT, customAsked, customQuery } from '../../fields/custom-fields.ts';
import { GEOFENCE } from '../../fields/field-schemas.ts';
import { id, idOut, pageAsked, paging, searchAsked, searching } from '../../fields/fields.ts';
import {
  GEOZONE_PROPERTIES,
  geometryIn,
  geometryOut,
  geozoneBody,
  NEW_GEOZONE_PROPERTIES,
  radiusM,
  shape,
  widthM,
} from '../../fields/geozone-fields.ts';
import { type GeozoneFeature, measuresOf } from '../../geozones/geojson.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import type { Route } from '../../route.ts';

export const GeozoneOut = z
  .strictObject({
    type: z.literal('Feature'),
    id: idOut,
    geometry: geometryOut,
    properties: z.strictObject({
      shape,
      radiusM: radiusM.optional(),
      widthM: widthM.optional(),
      ...GEOFENCE.shown,
      groupIds: z.array(idOut).nullable(),
      sharedGroupIds: z.array(idOut),
      ...CUSTOM_FIELDS_OUT,
      ownerId: idOut,
      areaM2: z.number().meta({ description: 'Area in square metres, computed from the shape.' }),
      perimeterM: z.number().meta({ description: 'Perimeter in metres, computed from the shape.' }),
    }),
  })
  .meta({
    id: 'Geozone',
    examples: [
      {
        type: 'Feature',
        id: '01961f3c-be54-7a7c-9f5b-6d0e4a8c2b9b',
        geometry: { type: 'Point', coordinates: [30.3141, 59.9386] },
        properties: {
          shape: 'circle',
          radiusM: 250,
          ...GEOFENCE.example,
          groupIds: null,
          sharedGroupIds: [],
          ...CUSTOM_EXAMPLE,
          ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
          areaM2: 196_349.5,
          perimeterM: 1570.8,
        },
      },
    ],
  });

const EXAMPLE: GeozoneFeature = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [30.3141, 59.9386] },
  properties: { shape: 'circle', radiusM: 250 },
};

/** The fields that a merge patch contains. */
function given<T extends object>(patch: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as never;
}

const geozones = new ResourceRoutes({
  group: 'Geozones',
  path: '/api/v1/geozones',
  operations: ['Geozone', 'Geozones'],
  noun: 'geozone',
  params: z.object({ id: id<GeofenceId>() }),
  body: GeozoneOut,
  show: geozoneBody,
  entityOf: (geofence: Geofence) => geofence,
});

export const geozoneRoutes: Route[] = [
  geozones.list({
    summary: 'List geozones that the caller may see.',
    description:
      'Users see their own geozones and those shared with them. Dealers also see those of their users, operators all.',
    query: z.object({ ...paging, ...searching('name', 'externalId'), ...customQuery }),
    async page(query, { access }) {
      const custom = customAsked(query);
      const search = searchAsked(query, customMatcher(custom) !== null);
      return search ? access.geofences.find(search, custom) : access.geofences.page(pageAsked(query));
    },
  }),
  geozones.add({
    summary: 'Add a geozone, which belongs to the caller and watches vehicles that the caller may see.',
    description:
      'A vehicle that is already inside when the geozone is added causes no event; only crossing the boundary later does.',
    body: z
      .strictObject({
        type: z.literal('Feature'),
        geometry: geometryIn,
        properties: z.strictObject(NEW_GEOZONE_PROPERTIES),
      })
      .meta({
        id: 'NewGeozone',
        examples: [{ ...EXAMPLE, properties: { ...EXAMPLE.properties, name: 'Depot', speedLimitKmh: 20 } }],
      }),
    problems: ['conflict', 'quota-exceeded'],
    async add(body, { access, geometry }) {
      const { shape: _, radiusM: __, widthM: ___, ...terms } = body.properties;
      return access.geofences.add({ ...terms, shape: await geometry.shapeOf(body) });
    },
  }),
  geozones.get({ get: ({ id }, { access }) => access.geofences.get(id) }),
  geozones.change({
    summary: 'Change a geozone (JSON merge patch).',
    description:
      'To change the kind of shape, send the geometry and `properties.shape`, with `radiusM` for a circle or `widthM` for a line.',
    body: z
      .strictObject({
        type: z.literal('Feature'),
        geometry: geometryIn,
        properties: z.strictObject(GEOZONE_PROPERTIES).partial(),
      })
      .partial()
      .meta({ id: 'GeozonePatch', examples: [{ properties: { speedLimitKmh: 30 } }] }),
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    change: ({ id }, body, { access, ifMatch, geometry }) =>
      access.geofences.change(id, ifMatch, async (current) => {
        const { shape, radiusM, widthM, customAttributes, ...rest } = body.properties ?? {};
        const now = measuresOf(current.shape);
        // A field that is undefined must not take part in the merge; null removes a measure.
        const properties = { shape: shape ?? now.properties.shape } as GeozoneFeature['properties'];
        const radius = radiusM === undefined ? now.properties.radiusM : radiusM;
        const width = widthM === undefined ? now.properties.widthM : widthM;
        // If the kind of shape changes, the measures of the old shape are dropped.
        const sameKind = properties.shape === now.properties.shape;
        if (radius != null && (sameKind || radiusM != null)) properties.radiusM = radius;
        if (width != null && (sameKind || widthM != null)) properties.widthM = width;
        const { kind: _, id: __, version: ___, ownerId: ____, ...terms } = current;
        return {
          ...terms,
          ...given(rest),
          ...(customAttributes && {
            customAttributes: mergedAttributes(
              current.customAttributes,
              customAttributes,
              '/properties/customAttributes',
            ),
          }),
          shape: await geometry.shapeOf({ type: 'Feature', geometry: body.geometry ?? now.geometry, properties }),
        };
      }),
  }),
  geozones.remove({
    summary: 'Delete a geozone. Open visits to it end.',
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.geofences.remove(id, ifMatch),
  }),
];
