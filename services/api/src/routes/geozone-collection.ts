import { Faults } from '@outrider/access';
import { z } from 'zod';
import { exampleOf } from '../fields.ts';
import { collectionOf, FeatureIn, MAX_FEATURES, writeCollection } from '../geozone-collection.ts';
import { dryRun, importReply, importReport } from '../import-report.ts';
import { type Route, route } from '../route.ts';
import { GeozoneOut } from './geozones.ts';

/** Ten thousand sites as people draw them: a few dozen points each. */
const MAX_COLLECTION_BYTES = 16 * 1024 * 1024;

const depot = exampleOf(GeozoneOut);
const EXAMPLE = { type: 'FeatureCollection', features: [depot] };
const DRAWN = {
  type: 'Feature',
  geometry: {
    type: 'LineString',
    coordinates: [
      [30.2711, 59.9311],
      [30.3141, 59.9386],
    ],
  },
  properties: { shape: 'line', widthM: 40, name: 'Road to the depot', speedLimitKmh: 60 },
};

export const geozoneCollectionRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/geozones/export',
    group: 'Geozones',
    operationId: 'exportGeozones',
    summary: 'All geozones of the caller as one GeoJSON FeatureCollection (RFC 7946).',
    description: 'The import takes it as it is.',
    query: z.object({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: '`true`: those of others as well, as far as the caller may see them.' }),
    }),
    answers: {
      200: {
        description: 'A collection, each feature in a line of its own.',
        mediaType: 'application/geo+json',
        body: z
          .strictObject({ type: z.literal('FeatureCollection'), features: z.array(GeozoneOut) })
          .meta({ id: 'GeozoneCollection', examples: [EXAMPLE] as never }),
        headers: { 'Content-Disposition': 'A name for the file.' },
      },
    },
    async handle({ query }, { access }) {
      return {
        status: 200,
        stream: writeCollection(access.bulk.geofences(query.all !== 'true')),
        headers: {
          'content-type': 'application/geo+json',
          'content-disposition': 'attachment; filename="geozones.geojson"',
        },
      };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/geozones/import',
    group: 'Geozones',
    operationId: 'importGeozones',
    summary: 'Draw and change many geozones by a GeoJSON FeatureCollection: all of them, or none.',
    description:
      'A feature whose `id` is that of one of the caller’s own geozones makes that one as it says: what it leaves out ' +
      'is as for a new one. Any other is drawn anew and belongs to the caller. So the same collection, exported and ' +
      `imported again, changes nothing. At most ${MAX_FEATURES} features.`,
    query: z.object({ dryRun }),
    body: z.instanceof(ArrayBuffer),
    bodyType: 'application/geo+json',
    bodyDescribed: collectionOf(FeatureIn).meta({
      id: 'NewGeozoneCollection',
      examples: [{ type: 'FeatureCollection', features: [DRAWN] }] as never,
    }),
    maxBodyBytes: MAX_COLLECTION_BYTES,
    answers: {
      200: {
        description: 'All of it was done; in a dry run: would have been.',
        body: importReport(
          'GeozoneImport',
          { index: z.int().meta({ description: 'Of the feature in the collection, from 0.' }) },
          { index: 0 },
        ),
      },
    },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ query, body }, { access, geometry }) {
      const faults = new Faults();
      const items = await geometry.itemsOf(body, faults);
      const done = await access.bulk.importGeofences(items, faults, query.dryRun === 'true');
      return importReply(query.dryRun === 'true', done, ({ index }) => ({ index }));
    },
  }),
];
