import type { Geofence, GeofenceId } from '@outrider/domain';
import { z } from 'zod';
import { id, idOut, listOf, pageAsked, pageReply, paging, searchAsked, searching } from '../fields.ts';
import { type GeozoneFeature, measuresOf } from '../geojson.ts';
import {
  geometryIn,
  geometryOut,
  geozoneBody,
  groupIds,
  minDwellSeconds,
  NEW_GEOZONE_PROPERTIES,
  name,
  radiusM,
  shape,
  speedLimitKmh,
  widthM,
} from '../geozone-fields.ts';
import { etagOf } from '../input.ts';
import { type Reply, type Route, route } from '../route.ts';

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

function reply(status: number, geofence: Geofence): Reply {
  return {
    status,
    body: geozoneBody(geofence),
    headers: {
      etag: etagOf(geofence.version),
      ...(status === 201 ? { location: `/api/v1/geozones/${geofence.id}` } : {}),
    },
  };
}

const oneGeozone = { description: 'The geozone.', body: GeozoneOut, headers: { ETag: 'Version, for `If-Match`.' } };

export const geozoneRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/geozones',
    group: 'Geozones',
    operationId: 'listGeozones',
    summary: 'Geozones that the caller may see.',
    description: 'Their own; for a dealer those of their users too, and for an operator all.',
    query: z.object({ ...paging, ...searching('name') }),
    answers: { 200: { description: 'A page.', body: listOf(GeozoneOut) } },
    async handle({ query }, { access }) {
      const search = searchAsked(query);
      const page = search ? access.findGeofences(search) : await access.geofences(pageAsked(query));
      return pageReply<Geofence>(page, geozoneBody);
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/geozones',
    group: 'Geozones',
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
      const { name, groupIds, speedLimitKmh, minDwellSeconds } = body.properties;
      const shape = await geometry.shapeOf(body);
      return reply(201, await access.addGeofence({ name, shape, groupIds, speedLimitKmh, minDwellSeconds }));
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/geozones/{id}',
    group: 'Geozones',
    operationId: 'getGeozone',
    summary: 'One geozone.',
    params: byId,
    answers: { 200: oneGeozone },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return reply(200, await access.geofence(params.id));
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/geozones/{id}',
    group: 'Geozones',
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
          })
          .partial(),
      })
      .partial()
      .meta({ id: 'GeozonePatch', examples: [{ properties: { speedLimitKmh: 30 } }] }),
    conditional: true,
    answers: { 200: oneGeozone },
    problems: ['not-found', 'forbidden', 'conflict', 'quota-exceeded', 'stale'],
    async handle({ params, body }, { access, ifMatch, geometry }) {
      const changed = await access.changeGeofence(params.id, ifMatch, async (current) => {
        const { shape, radiusM, widthM, ...rest } = body.properties ?? {};
        const now = measuresOf(current.shape);
        // A name that was not given has no place in the merge; null takes a measure away.
        const properties = { shape: shape ?? now.properties.shape } as GeozoneFeature['properties'];
        const radius = radiusM === undefined ? now.properties.radiusM : radiusM;
        const width = widthM === undefined ? now.properties.widthM : widthM;
        // Of another kind of shape, what belonged to the old one goes with it.
        const sameKind = properties.shape === now.properties.shape;
        if (radius != null && (sameKind || radiusM != null)) properties.radiusM = radius;
        if (width != null && (sameKind || widthM != null)) properties.widthM = width;
        return {
          name: rest.name ?? current.name,
          groupIds: rest.groupIds === undefined ? current.groupIds : rest.groupIds,
          speedLimitKmh: rest.speedLimitKmh === undefined ? current.speedLimitKmh : rest.speedLimitKmh,
          minDwellSeconds: rest.minDwellSeconds ?? current.minDwellSeconds,
          shape: await geometry.shapeOf({ type: 'Feature', geometry: body.geometry ?? now.geometry, properties }),
        };
      });
      return reply(200, changed);
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/geozones/{id}',
    group: 'Geozones',
    operationId: 'deleteGeozone',
    summary: 'Delete a geozone; visits to it end.',
    params: byId,
    conditional: true,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found', 'forbidden', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.removeGeofence(params.id, ifMatch);
      return { status: 204 };
    },
  }),
];
