import { isDeepStrictEqual } from 'node:util';
import { sampleGeofence } from '@outrider/domain/samples';
import { prepareShape } from '@outrider/geo';
import { FILE_FORMATS, FileError, KML_FOOT, KML_HEAD, readPlaces, writePlacemark } from '@outrider/geo/files';
import type { Random } from '@outrider/simulator';
import { Faults } from '../../../packages/access/src/faults.ts';
import { Problem } from '../../../packages/access/src/problem.ts';
import { eventsCursor, trackCursor, visitCursor } from '../../../packages/reports/src/cursors.ts';
import {
  armed,
  CsvError,
  defused,
  delimiterOf,
  readCsv,
  writeCsvLine,
} from '../../../packages/reports/src/formats/csv.ts';
import { DRIVER_CSV } from '../../../services/api/src/csv/driver-csv.ts';
import { VEHICLE_CSV } from '../../../services/api/src/csv/vehicle-csv.ts';
import {
  readCursor as readListCursor,
  writeCursor as writeListCursor,
} from '../../../services/api/src/fields/fields.ts';
import { shapeOf } from '../../../services/api/src/geozones/geojson.ts';
import { collectionOf, FeatureIn, readFeature } from '../../../services/api/src/geozones/geozone-reading.ts';
import { isKnown, mayBeSentInPart, partAsked } from '../../../services/api/src/http/byte-range.ts';
import { validate, versionOfIfMatch } from '../../../services/api/src/http/input.ts';
import { textFrame } from '../../../services/notifier/src/live/frames.ts';
import { parseClientMessage, readCursor, writeCursor } from '../../../services/notifier/src/live/messages.ts';
import { geofenceFeatures } from '../../bench/road/definitions.ts';
import { claim, type Outcome, type Target } from '../target.ts';

const ID = '01990000-0000-7000-8000-000000000001';
const words = (...texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text));
const JSON_WORDS = words(
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  'true',
  '1e400',
  '-0',
  '9007199254740993',
  '"__proto__":{}',
  '"constructor":1',
  '\\u0000',
  '\\ud800',
  `"${ID}"`,
  '""',
  '[[[[',
  '1e-7',
  '180.0000001',
  '-90',
  '90',
);

const DRAWN = [
  sampleGeofence({ shape: { type: 'circle', center: [30.1, 59.9], radiusM: 250 } }),
  sampleGeofence({
    shape: {
      type: 'line',
      path: [
        [30.1, 59.9],
        [30.2, 59.9],
      ],
      widthM: 40,
    },
  }),
];
const GPX =
  '<gpx><wpt lat="59.9" lon="30.1"><name>Gate</name></wpt><rte><rtept lat="59.9" lon="30.1"/><rtept lat="60" lon="30"/>' +
  '</rte><trk><name>Way</name><trkseg><trkpt lat="59.9" lon="30.1"/><trkpt lat="60" lon="30.2"/></trkseg></trk></gpx>';

/** What clients of the live API and of REST may write, as the code reads it that looks at it first. */
export const requestTargets: readonly Target[] = [
  {
    name: 'live messages',
    covers: ['/notifier/src/live/messages.ts', '/notifier/src/live/frames.ts'],
    words: [
      ...JSON_WORDS,
      ...words('"all":true', '"since":', '0:1042,1:77;n:12', '"vehicles":', '"type":"subscribe"', '"jwt":"x"'),
    ],
    maxBytes: 8192,
    seeds: () =>
      [
        { type: 'authorize', jwt: 'a.b.c' },
        { type: 'subscribe', all: true, since: '0:1042,1:77;n:12', positions: false },
        {
          type: 'subscribe',
          vehicles: [ID],
          groups: [ID],
          events: true,
          notifications: false,
          videoTasks: true,
          reportJobs: true,
        },
        { type: 'unsubscribe' },
      ].map((message) => Buffer.from(JSON.stringify(message))),
    run(input) {
      const text = input.toString('utf8');
      checkFrame(text);
      const cursor = readCursor(text);
      if (cursor !== null)
        claim(
          isDeepStrictEqual(readCursor(writeCursor(cursor)), cursor),
          () => 'a cursor is not what is written of it',
        );
      const message = parseClientMessage(text);
      if (!('error' in message)) return 'accepted';
      claim(message.error.length > 0, () => 'refused without a word');
      return 'refused';
    },
  },
  {
    name: 'csv of vehicles and drivers',
    covers: [
      '/api/src/csv.ts',
      '/api/src/csv/definition-csv.ts',
      '/api/src/csv/vehicle-csv.ts',
      '/api/src/csv/driver-csv.ts',
    ],
    words: words(
      '"',
      '""',
      ',',
      ';',
      '\t',
      '\r\n',
      '\n',
      '\r',
      '\ufeff',
      'name',
      'terminalId',
      'groups',
      'speedLimitKmh',
      '1,5',
      '=1+1',
      "'=",
      ID,
      '1E+15',
    ),
    maxBytes: 8192,
    seeds: (random: Random) => {
      const delimiter = random.pick([',', ';', '\t'] as const);
      const header = writeCsvLine(['name', 'plate', 'terminalId', 'groups', 'speedLimitKmh', 'id'], delimiter);
      return [
        Buffer.from(
          header + writeCsvLine(['Van "7"', 'A-1', '356307042441013', 'North, South', '60', ID], delimiter).repeat(2),
        ),
        Buffer.from(
          writeCsvLine(['name', 'codes', 'phone', 'licenceExpiresOn', 'groups'], delimiter) +
            writeCsvLine(['Ben', '0100000F28F9A1|02', '+1', '2027-05-31', 'North'], delimiter),
        ),
      ];
    },
    run(input) {
      const text = input.toString('utf8');
      const delimiter = delimiterOf(text);
      const rows = refusedBy(CsvError, () => [...readCsv(text, delimiter)]);
      if (rows === null) return 'refused';
      const written = rows.map(({ cells }) => writeCsvLine(cells, delimiter)).join('');
      const again = [...readCsv(written, delimiter)].map(({ cells }) => cells);
      claim(
        isDeepStrictEqual(
          again,
          rows.map(({ cells }) => cells),
        ),
        () => 'the rows are not what is written of them',
      );
      for (const { cells } of rows)
        for (const cell of cells)
          claim(armed(defused(cell)) === cell, () => `the cell ${JSON.stringify(cell)} does not come back`);
      const faults = new Faults();
      VEHICLE_CSV.read(text, faults);
      DRIVER_CSV.read(text, new Faults());
      return refusedBy(Problem, () => faults.throwIfAny()) === null ? 'refused' : 'accepted';
    },
  },
  {
    name: 'geojson',
    covers: [
      '/api/src/geozones/geojson.ts',
      '/api/src/geozones/geozone-reading.ts',
      '/geo/src/shape-from-feature.ts',
      '/geo/src/prepare-shape.ts',
    ],
    words: [
      ...JSON_WORDS,
      ...words('"Polygon"', '"Point"', '"LineString"', '"MultiPolygon"', '"radiusM":', '"widthM":', '"shape":"circle"'),
    ],
    maxBytes: 8192,
    seeds: (random) => {
      const features = geofenceFeatures(20);
      const from = Math.floor(random.next() * 18);
      return [Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: features.slice(from, from + 2) }))];
    },
    async run(input): Promise<Outcome> {
      const value = refusedBy(SyntaxError, () => JSON.parse(input.toString('utf8')) as unknown);
      const collection = refusedBy(Problem, () => validate(collectionOf(FeatureIn), value, 'body'));
      const list = (value as { features?: unknown } | null)?.features;
      const faults = new Faults();
      for (const [index, feature] of (Array.isArray(list) ? list : [value]).entries()) {
        const item = readFeature(index, feature, faults);
        if (item === null) continue;
        // What was let in is what the engine computes with.
        const shape = prepareShape(item.fields.shape);
        claim(shape !== null, () => 'a shape that can not be prepared');
      }
      if (collection === null) return 'refused';
      return refusedBy(Problem, () => collection.features.forEach((feature) => void shapeOf(feature as never))) === null
        ? 'refused'
        : 'accepted';
    },
  },
  {
    name: 'files of places',
    covers: ['/geo/src/files/'],
    words: [
      ...JSON_WORDS,
      ...words(
        '<Placemark>',
        '</Placemark>',
        '<kml>',
        '<![CDATA[',
        ']]>',
        '&amp;',
        '&x;',
        '<!DOCTYPE a [<!ENTITY x "x">]>',
      ),
      ...words('<Folder>', '<coordinates>', '<trkpt lat="1" lon="2"/>', 'gx:', '#a1', '"MultiPolygon"', '30.1,59.9,0 '),
    ],
    maxBytes: 8192,
    seeds: (random) => {
      const [place] = geofenceFeatures(20).slice(Math.floor(random.next() * 20)) as [object];
      const kml = KML_HEAD + writePlacemark(random.pick(DRAWN)) + KML_FOOT;
      return [JSON.stringify(place), kml, GPX].map((text) => Buffer.from(text));
    },
    run(input) {
      const text = input.toString('utf8');
      let taken = false;
      for (const format of FILE_FORMATS) {
        const items = refusedBy(FileError, () => readPlaces(format, text, { name: 'Place', radiusM: 100, widthM: 50 }));
        for (const [index, { name, feature, unsupported }] of (items ?? []).entries()) {
          claim(name.length > 0, () => `a ${format} with a place without a name`);
          claim((feature === null) === (unsupported !== null), () => `a ${format} with a place that is neither`);
          taken ||= feature !== null && readFeature(index, feature, new Faults()) !== null;
        }
      }
      return taken ? 'accepted' : 'refused';
    },
  },
  {
    name: 'cursors and headers',
    covers: ['/api/src/fields/fields.ts', '/api/src/http/byte-range.ts', '/api/src/http/input.ts'],
    words: words(
      'bytes=',
      '-',
      ',',
      '"',
      'W/"',
      '*',
      '0',
      '99999999999999999999',
      ID,
      Buffer.from(`"${ID}"`).toString('base64url'),
    ),
    maxBytes: 1024,
    seeds: () => [
      Buffer.from(writeListCursor({ fleet: ID, after: { vehicleId: ID, fixTimeMs: 1 } })),
      Buffer.from(writeListCursor({ fleet: ID, after: { vehicleId: ID, beganAtMs: 1, id: ID }, left: null })),
      Buffer.from('bytes=0-499'),
      Buffer.from('"17", W/"a"'),
    ],
    run(input) {
      const text = input.toString('latin1');
      let taken = false;
      for (const schema of [eventsCursor, trackCursor, visitCursor])
        if (refusedBy(Problem, () => readListCursor(schema, text)) !== null) taken = true;
      const part = partAsked(text, 1000);
      if (part !== null && part !== 'unsatisfiable') {
        claim(
          part.start >= 0 && part.start < part.end && part.end <= 1000,
          () => `the part ${part.start} to ${part.end} of 1000 bytes`,
        );
        taken = true;
      }
      isKnown(text, '"1"');
      mayBeSentInPart(text, '"1"', '');
      const version = refusedBy(Problem, () => [versionOfIfMatch(text)]);
      return taken || version !== null ? 'accepted' : 'refused';
    },
  },
];

/** A frame says how long it is. */
function checkFrame(text: string): void {
  const frame = textFrame(text);
  const length = Buffer.byteLength(text);
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  claim(frame.length === header + length, () => `a frame of ${frame.length} bytes for ${length}`);
}

/** @returns null where it was refused as things are refused there; any other error is a finding */
function refusedBy<T>(refusal: new (...parts: never[]) => Error, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof refusal) return null;
    throw error;
  }
}
