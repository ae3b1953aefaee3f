import { Faults } from '@outrider/access';
import { FILE_FORMATS, type FileFormat, MAX_FILE_SHAPES } from '@outrider/geo/files';
import { z } from 'zod';
import { dryRun, importReply, importReport } from '../../csv/import-report.ts';
import { decimalParameter, exampleOf, line } from '../../fields/fields.ts';
import type { PlacesFile } from '../../geozones/geometry-messages.ts';
import { writeCollection, writeGeozoneCsv, writeKml } from '../../geozones/geozone-collection.ts';
import { collectionOf, FeatureIn, MAX_FEATURES } from '../../geozones/geozone-reading.ts';
import { callsOf, type Route } from '../../route.ts';
import { GeozoneOut } from './geozones.ts';

const { get, post } = callsOf('Geozones');

/** Ten thousand geofences as people draw them: a few dozen points each. */
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

const EXPORTS = {
  geojson: { mediaType: 'application/geo+json', write: writeCollection },
  kml: { mediaType: 'application/vnd.google-earth.kml+xml', write: writeKml },
  csv: { mediaType: 'text/csv; charset=utf-8', write: writeGeozoneCsv },
};

const FILE_QUERY = {
  format: z.enum(FILE_FORMATS),
  name: line(180)
    .default('Geozone')
    .meta({ description: 'Of what has none in the file.', examples: ['Depot'] }),
  radiusM: decimalParameter(1, 1_000_000, 150)
    .optional()
    .meta({ description: 'Of points that say nothing of their size. Without it they are left out, and named.' }),
  widthM: decimalParameter(1, 100_000, 40).optional().meta({ description: 'As `radiusM`, of lines.' }),
};
const FILE_ABOUT =
  'GeoJSON of any program (a collection, a feature or a geometry), KML or GPX, whatever `Content-Type` says. A point ' +
  'becomes a circle of `radiusM`, a line one of `widthM` (in its properties, or of the call), and a collection of shapes several geozones; altitudes are left ' +
  'out. Names that come twice get numbers. Properties are read where they mean something here (name, description, ' +
  'colours, sizes, and all that an export says). At most ' +
  `${MAX_FILE_SHAPES} shapes.`;
const fileBody = z.string().meta({
  id: 'PlacesFile',
  examples: ['{"type":"Feature","geometry":{"type":"Point","coordinates":[30.3,59.9]},"properties":{"name":"Kiosk"}}'],
});
const ignored = z
  .array(z.string())
  .meta({ description: 'Names of properties that mean nothing here: they are left out.', examples: [['styleHash']] });
const unsupported = z
  .string()
  .nullable()
  .meta({ description: 'Kind of a geometry that can’t be a geozone: it is left out.' });
const lacks = z.enum(['radiusM', 'widthM']).nullable().meta({
  description: 'The size that a point or a line does not say, nor the call: it is left out.',
});

interface FileQuery {
  format: FileFormat;
  name: string;
  radiusM?: number | undefined;
  widthM?: number | undefined;
}

function fileOf(bytes: ArrayBuffer, { format, name, radiusM, widthM }: FileQuery): PlacesFile {
  return { bytes, format, defaults: { name, radiusM: radiusM ?? null, widthM: widthM ?? null } };
}

const fileRoutes: Route[] = [
  post('/api/v1/geozones/read-file', {
    operationId: 'readGeozoneFile',
    summary: 'What a file draws, as features that the import takes: nothing is changed.',
    description: `${FILE_ABOUT} What the features say is not checked: the import does.`,
    query: z.object(FILE_QUERY),
    body: z.instanceof(ArrayBuffer),
    bodyType: 'application/octet-stream',
    bodyDescribed: fileBody,
    maxBodyBytes: MAX_COLLECTION_BYTES,
    answers: {
      200: {
        description: 'The shapes of the file, in their order.',
        body: z
          .strictObject({
            items: z.array(
              z.strictObject({
                name: z.string(),
                feature: z.looseObject({}).nullable().meta({ description: 'Null where it is left out.' }),
                unsupported,
                lacks,
                ignored,
              }),
            ),
          })
          .meta({
            id: 'GeozoneFile',
            examples: [
              { items: [{ name: 'Road to the depot', feature: DRAWN, unsupported: null, lacks: null, ignored: [] }] },
            ],
          }),
      },
    },
    async handle({ query, body }, { geometry }) {
      const { read } = await geometry.readFile(fileOf(body, query), null);
      return { status: 200, body: { items: read } };
    },
  }),
  post('/api/v1/geozones/import-file', {
    operationId: 'importGeozoneFile',
    summary: 'Draw and change many geozones by a file of another program: all of them, or none.',
    description: `${FILE_ABOUT} Ids count as in the import of a collection.`,
    query: z.object({ ...FILE_QUERY, dryRun }),
    body: z.instanceof(ArrayBuffer),
    bodyType: 'application/octet-stream',
    bodyDescribed: fileBody,
    maxBodyBytes: MAX_COLLECTION_BYTES,
    answers: {
      200: {
        description: 'All of it was done; in a dry run: would have been.',
        body: importReport(
          'GeozoneFileImport',
          {
            index: z.int().meta({ description: 'Of the shape in the file, from 0.' }),
            name: z.string(),
            ignored,
          },
          { index: 0, name: 'Depot', ignored: ['styleHash'] },
          {
            skipped: z
              .array(z.strictObject({ index: z.int(), name: z.string(), unsupported, lacks }))
              .meta({ description: 'Shapes that can’t be geozones, or lack a size.' }),
          },
          { skipped: [] },
        ),
      },
    },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ query, body }, { access, geometry }) {
      const faults = new Faults();
      const isDryRun = query.dryRun === 'true';
      const { read, items } = await geometry.readFile(fileOf(body, query), faults);
      const done = await access.geofenceImport.import(items, faults, isDryRun);
      const reply = importReply(isDryRun, done, ({ index }) => ({
        index,
        name: read[index]?.name ?? '',
        ignored: read[index]?.ignored ?? [],
      }));
      const skipped = read.flatMap(({ name, feature, unsupported, lacks }, index) =>
        feature === null ? [{ index, name, unsupported, lacks }] : [],
      );
      return { ...reply, body: { ...(reply.body as object), skipped } };
    },
  }),
];

export const geozoneCollectionRoutes: Route[] = [
  get('/api/v1/geozones/export', {
    operationId: 'exportGeozones',
    summary: 'All geozones of the caller as one GeoJSON FeatureCollection (RFC 7946), as KML or as CSV.',
    description:
      'The import takes the collection as it is. KML draws a circle as a polygon, and says in its data what it has no element for: the import of files makes the same geozones of it. CSV has the properties alone.',
    query: z.object({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: '`true`: those of others as well, as far as the caller may see them.' }),
      format: z.enum(['geojson', 'kml', 'csv']).default('geojson'),
    }),
    answers: {
      200: {
        description: 'A collection, each feature in a line of its own.',
        mediaType: 'application/geo+json',
        body: z
          .strictObject({ type: z.literal('FeatureCollection'), features: z.array(GeozoneOut) })
          .meta({ id: 'GeozoneCollection', examples: [EXAMPLE] as never }),
        otherTypes: {
          [EXPORTS.kml.mediaType]: z.string().meta({ examples: ['<kml><Document></Document></kml>'] }),
          'text/csv': z.string().meta({ examples: ['id,name,shape\r\n'] }),
        },
        headers: { 'Content-Disposition': 'A name for the file.' },
      },
    },
    async handle({ query }, { access }) {
      const { format } = query;
      const { mediaType, write } = EXPORTS[format];
      return {
        status: 200,
        stream: write(access.geofenceImport.all(query.all !== 'true')),
        headers: {
          'content-type': mediaType,
          'content-disposition': `attachment; filename="geozones.${format}"`,
        },
      };
    },
  }),
  post('/api/v1/geozones/import', {
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
      const done = await access.geofenceImport.import(items, faults, query.dryRun === 'true');
      return importReply(query.dryRun === 'true', done, ({ index }) => ({ index }));
    },
  }),
  ...fileRoutes,
];
