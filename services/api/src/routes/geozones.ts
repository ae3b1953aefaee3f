import { customMatcher, mergedAttributes } from '@outrider/access';
import type { Geofence, GeofenceId } from '@outrider/domain';
import { z } from 'zod';
import { CUSTOM_EXAMPLE, CUSTOM_FIELDS_OUT, CUSTOM_FIELDS_PATCH, customAsked, customQuery } from '../custom-fields.ts';
import { ENTITY_HEADERS, entityReply } from '../entity-reply.ts';
import { id, idOut, listOf, pageAsked, pageReply, paging, searchAsked, searching } from '../fields.ts';
import { type GeozoneFeature, measuresOf } from '../geojson.ts';
import {
  category,
  color,
  description,
  geometryIn,
  geometryOut,
  geozoneBody,
  groupIds,
  minDwellSeconds,
  NEW_GEOZONE_PROPERTIES,
  name,
  radiusM,
  shape,
  sharedGroupIds,
  sharedWithOrganisation,
  speedLimitKmh,
  widthM,
} from '../geozone-fields.ts';
import { callsOf, type Route } from '../route.ts';

const { get, post, patch, remove } = callsOf('Geozones');

export const GeozoneOut = z
  .strictObject({
    type: z.literal('Feature'),
    id: idOut,
    geometry: geometryOut,
    properties: z.strictObject({
      shape,
      name: z.string(),
      radiusM: radiusM.optional(),
      widthM: widthM.optional(),
      groupIds: z.array(idOut).nullable(),
      speedLimitKmh: z.number().nullable(),
      minDwellSeconds: z.number(),
      color: z.string().nullable().meta({ description: 'On maps. Null: none of its own.' }),
      description: z.string().nullable(),
      category: z.string().nullable(),
      sharedWithOrganisation: z.boolean(),
      sharedGroupIds: z.array(idOut),
      ...CUSTOM_FIELDS_OUT,
      ownerId: idOut,
      areaM2: z.number().meta({ description: 'Computed.' }),
      perimeterM: z.number().meta({ description: 'Computed.' }),
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
          name: 'Depot',
          groupIds: null,
          speedLimitKmh: 20,
          minDwellSeconds: 0,
          color: '#1f5fc4',
          description: null,
          category: 'Depot',
          sharedWithOrganisation: true,
          sharedGroupIds: [],
          ...CUSTOM_EXAMPLE,
          ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
          areaM2: 196_349.5,
          perimeterM: 1570.8,
        },
      },
    ],
  });

const byId = z.object({ id: id<GeofenceId>() });
const EXAMPLE: GeozoneFeature = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [30.3141, 59.9386] },
  properties: { shape: 'circle', radiusM: 250 },
};

const reply = entityReply('/api/v1/geozones', geozoneBody);

/** What a merge patch names. */
function given<T extends object>(patch: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as never;
}

const oneGeozone = { description: 'The geozone.', body: GeozoneOut, headers: ENTITY_HEADERS };

export const geozoneRoutes: Route[] = [
  get('/api/v1/geozones', {
    operationId: 'listGeozones',
    summary: 'Geozones that the caller may see.',
    description:
      'Their own and those shared with them; for a dealer those of their users too, and for an operator all.',
    query: z.object({ ...paging, ...searching('name', 'externalId'), ...customQuery }),
    answers: { 200: { description: 'A page.', body: listOf(GeozoneOut) } },
    async handle({ query }, { access }) {
      const custom = customAsked(query);
      const search = searchAsked(query, customMatcher(custom) !== null);
      const page = search ? access.geofences.find(search, custom) : await access.geofences.page(pageAsked(query));
      return pageReply<Geofence>(page, geozoneBody);
    },
  }),
  post('/api/v1/geozones', {
    operationId: 'addGeozone',
    summary: 'Draw a geozone: it belongs to the caller and watches what the caller may see.',
    description:
      'Where a vehicle is when the geozone comes is taken as it is: only crossing its boundary later is an event.',
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
    answers: { 201: { ...oneGeozone, description: 'Added.' } },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ body }, { access, geometry }) {
      const { shape: _, radiusM: __, widthM: ___, ...terms } = body.properties;
      return reply(201, await access.geofences.add({ ...terms, shape: await geometry.shapeOf(body) }));
    },
  }),
  get('/api/v1/geozones/{id}', {
    operationId: 'getGeozone',
    summary: 'One geozone.',
    params: byId,
    answers: { 200: oneGeozone },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return reply(200, await access.geofences.get(params.id));
    },
  }),
  patch('/api/v1/geozones/{id}', {
    operationId: 'changeGeozone',
    summary: 'Change a geozone (JSON merge patch).',
    description: 'Another kind of shape needs the geometry and `properties.shape` with what belongs to it.',
    params: byId,
    body: z
      .strictObject({
        type: z.literal('Feature'),
        geometry: geometryIn,
        properties: z
          .strictObject({
            shape,
            name,
            radiusM: radiusM.nullable(),
            widthM: widthM.nullable(),
            groupIds,
            speedLimitKmh,
            minDwellSeconds,
            color,
            description,
            category,
            sharedWithOrganisation,
            sharedGroupIds,
            ...CUSTOM_FIELDS_PATCH,
          })
          .partial(),
      })
      .partial()
      .meta({ id: 'GeozonePatch', examples: [{ properties: { speedLimitKmh: 30 } }] }),
    conditional: true,
    answers: { 200: oneGeozone },
    problems: ['not-found', 'forbidden', 'conflict', 'quota-exceeded', 'stale'],
    async handle({ params, body }, { access, ifMatch, geometry }) {
      const changed = await access.geofences.change(params.id, ifMatch, async (current) => {
        const { shape, radiusM, widthM, customAttributes, ...rest } = body.properties ?? {};
        const now = measuresOf(current.shape);
        // A name that was not given has no place in the merge; null takes a measure away.
        const properties = { shape: shape ?? now.properties.shape } as GeozoneFeature['properties'];
        const radius = radiusM === undefined ? now.properties.radiusM : radiusM;
        const width = widthM === undefined ? now.properties.widthM : widthM;
        // Of another kind of shape, what belonged to the old one goes with it.
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
      });
      return reply(200, changed);
    },
  }),
  remove('/api/v1/geozones/{id}', {
    operationId: 'deleteGeozone',
    summary: 'Delete a geozone; visits to it end.',
    params: byId,
    conditional: true,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found', 'forbidden', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.geofences.remove(params.id, ifMatch);
      return { status: 204 };
    },
  }),
];
