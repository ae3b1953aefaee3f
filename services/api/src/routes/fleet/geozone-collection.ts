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
    .meta({ description: 'Name for shapes that have none in the file.', examples: ['Depot'] }),
  radiusM: decimalParameter(1, 1_000_000, 150).optional().meta({
    description:
      'Radius in metres for points that have none in the file. Without it, such points are left out and listed in the answer.',
  }),
  widthM: decimalParameter(1, 100_000, 40).optional().meta({
    description:
      'Width in metres for lines that have none in the file. Without it, such lines are left out and listed in the answer.',
  }),
};
const FILE_ABOUT =
  'Takes GeoJSON of any program (a collection, a feature or a geometry), KML or GPX, whatever `Content-Type` is. A ' +
  'point becomes a circle with the radius `radiusM`, a line becomes a line with the width `widthM`: from its own ' +
  'properties, or else from the parameter. A collection of shapes becomes several geozones. Altitudes are dropped. ' +
  'Repeated names get a number. Known properties are read: name, description, colours, sizes, and those of an export ' +
  `except \`externalId\` and \`customAttributes\`. At most ${MAX_FILE_SHAPES} shapes.`;
const fileBody = z.string().meta({
  id: 'PlacesFile',
  examples: ['{"type":"Feature","geometry":{"type":"Point","coordinates":[30.3,59.9]},"properties":{"name":"Kiosk"}}'],
});
const ignored = z
  .array(z.string())
  .meta({ description: 'Names of unknown properties, which are left out.', examples: [['styleHash']] });
const unsupported = z
  .string()
  .nullable()
  .meta({ description: 'Type of the geometry if it cannot be a geozone; the shape is then left out. Null if it can.' });
const lacks = z.enum(['radiusM', 'widthM']).nullable().meta({
  description: 'Size that is missing in the file and in the call; the shape is then left out. Null if none is missing.',
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
    summary: 'Read the shapes of a file as features for the import, without changing anything.',
    description: `${FILE_ABOUT} The features are not validated here, but by the import.`,
    query: z.object(FILE_QUERY),
    body: z.instanceof(ArrayBuffer),
    bodyType: 'application/octet-stream',
    bodyDescribed: fileBody,
    maxBodyBytes: MAX_COLLECTION_BYTES,
    answers: {
      200: {
        description: 'The shapes of the file, in the order of the file.',
        body: z
          .strictObject({
            items: z.array(
              z.strictObject({
                name: z.string(),
                feature: z
                  .looseObject({})
                  .nullable()
                  .meta({ description: 'Feature for the import. Null if the shape is left out.' }),
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
    summary: 'Add and change many geozones from a file of another program: all of them or none.',
    description: `${FILE_ABOUT} Ids have the same meaning as in \`POST /api/v1/geozones/import\`.`,
    query: z.object({ ...FILE_QUERY, dryRun }),
    body: z.instanceof(ArrayBuffer),
    bodyType: 'application/octet-stream',
    bodyDescribed: fileBody,
    maxBodyBytes: MAX_COLLECTION_BYTES,
    answers: {
      200: {
        description: 'The changes that were made; in a dry run, those that would be made.',
        body: importReport(
          'GeozoneFileImport',
          {
            index: z.int().meta({ description: 'Index of the shape in the file, from 0.' }),
            name: z.string(),
            ignored,
          },
          { index: 0, name: 'Depot', ignored: ['styleHash'] },
          {
            skipped: z
              .array(z.strictObject({ index: z.int(), name: z.string(), unsupported, lacks }))
              .meta({ description: 'Shapes that were left out because they cannot be geozones or have no size.' }),
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
    summary: 'Export all geozones of the caller as one GeoJSON FeatureCollection (RFC 7946), as KML or as CSV.',
    description:
      '`POST /api/v1/geozones/import` accepts the collection unchanged. In KML, circles are drawn as polygons, and properties without a KML element are written as extended data, which `POST /api/v1/geozones/import-file` reads; `externalId` and `customAttributes` are not written, so importing the file again clears them. CSV contains only the properties, without the geometry.',
    query: z.object({
      all: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: '`true`: also export geozones of other accounts that the caller may see.' }),
      format: z.enum(['geojson', 'kml', 'csv']).default('geojson'),
    }),
    answers: {
      200: {
        description: 'The geozones. In GeoJSON, each feature is on a line of its own.',
        mediaType: 'application/geo+json',
        body: z
          .strictObject({ type: z.literal('FeatureCollection'), features: z.array(GeozoneOut) })
          .meta({ id: 'GeozoneCollection', examples: [EXAMPLE] as never }),
        otherTypes: {
          [EXPORTS.kml.mediaType]: z.string().meta({ examples: ['<kml><Document></Document></kml>'] }),
          'text/csv': z.string().meta({ examples: ['id,name,shape\r\n'] }),
        },
        headers: { 'Content-Disposition': 'Suggested file name.' },
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
    summary: 'Add and change many geozones from a GeoJSON FeatureCollection: all of them or none.',
    description:
      'A feature with the `id` of one of the caller’s own geozones replaces it; properties that are left out get the ' +
      'defaults of a new geozone. Any other feature adds a geozone, which belongs to the caller. So importing an ' +
      `unchanged export of the caller’s geozones changes nothing. At most ${MAX_FEATURES} features.`,
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
        description: 'The changes that were made; in a dry run, those that would be made.',
        body: importReport(
          'GeozoneImport',
          { index: z.int().meta({ description: 'Index of the feature in the collection, from 0.' }) },
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
