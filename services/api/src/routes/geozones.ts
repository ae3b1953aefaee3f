import type { Geofence, GeofenceId, GroupId, LngLat } from '@outrider/domain';
import { z } from 'zod';
import { id, idOut, line, listOf, pageAsked, pageReply, paging } from '../fields.ts';
import { type GeozoneFeature, measuresOf } from '../geojson.ts';
import { etagOf } from '../input.ts';
import { type Reply, type Route, route } from '../route.ts';

/** Longitude and latitude; an altitude that a tool added is not kept. */
const lngLat = z
  .tuple([z.number(), z.number()], z.number())
  .transform(([longitude, latitude]): LngLat => [longitude, latitude])
  .meta({ id: 'LngLat', description: 'Longitude and latitude in degrees (RFC 7946).', examples: [[30.3141, 59.9386]] });
const lngLatOut = z.tuple([z.number(), z.number()]);

const MAX_POINTS = 10_000;

const polygon = { type: z.literal('Polygon') };
const point = { type: z.literal('Point') };
const path = { type: z.literal('LineString') };

export const geometryIn = z
  .discriminatedUnion('type', [
    z.strictObject({ ...polygon, coordinates: z.array(z.array(lngLat).max(MAX_POINTS)).min(1).max(1000) }),
    z.strictObject({ ...point, coordinates: lngLat }),
    z.strictObject({ ...path, coordinates: z.array(lngLat).max(MAX_POINTS) }),
  ])
  .meta({ id: 'NewGeometry' });
const geometryOut = z
  .discriminatedUnion('type', [
    z.strictObject({ ...polygon, coordinates: z.array(z.array(lngLatOut)) }),
    z.strictObject({ ...point, coordinates: lngLatOut }),
    z.strictObject({ ...path, coordinates: z.array(lngLatOut) }),
  ])
  .meta({ id: 'Geometry' });

const shape = z.enum(['polygon', 'circle', 'line']).meta({
  description: 'A polygon has a Polygon, a circle a Point with `radiusM`, a line a LineString with `widthM`.',
});
const name = line(200);
const radiusM = z.number();
const widthM = z.number();
const groupIds = z
  .array(id<GroupId>())
  .max(1000)
  .nullable()
  .meta({ description: 'Watches vehicles of these groups; null: all that its owner may see.' });
const speedLimitKmh = z.number().min(1).max(500).nullable().meta({ description: 'Null: no limit of its own.' });
const minDwellSeconds = z
  .number()
  .min(0)
  .max(86_400)
  .meta({ description: 'A shorter stay, or a shorter absence, is no event.' });

/** What a new geozone is made of, besides its geometry. */
export const NEW_GEOZONE_PROPERTIES = {
  shape,
  name,
  radiusM: radiusM.optional(),
  widthM: widthM.optional(),
  groupIds: groupIds.default(null),
  speedLimitKmh: speedLimitKmh.default(null),
  minDwellSeconds: minDwellSeconds.default(0),
};

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

/** A geofence as a GeoJSON feature. */
export function geozoneBody(geofence: Geofence): unknown {
  const { geometry, properties, areaM2, perimeterM } = measuresOf(geofence.shape);
  const { name, groupIds, speedLimitKmh, minDwellSeconds, ownerId } = geofence;
  return {
    type: 'Feature',
    id: geofence.id,
    geometry,
    properties: { ...properties, name, groupIds, speedLimitKmh, minDwellSeconds, ownerId, areaM2, perimeterM },
  };
}

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
    query: z.object(paging),
    answers: { 200: { description: 'A page.', body: listOf(GeozoneOut) } },
    async handle({ query }, { access }) {
      return pageReply(await access.geofences(pageAsked(query)), geozoneBody);
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
