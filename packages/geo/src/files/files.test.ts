import { sampleGeofence } from '@outrider/domain/samples';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { featureFromShape } from '../feature-from-shape.ts';
import { type FileFormat, KML_FOOT, KML_HEAD, readPlaces, writePlacemark } from './files.ts';

const DEFAULTS = { name: 'drawing', radiusM: 100, widthM: 50 };
// biome-ignore lint/suspicious/noExplicitAny: features are looked into.
type Feature = Record<string, any> | null;
const read = (format: FileFormat, text: string) => readPlaces(format, text, DEFAULTS);
const geoJson = (value: unknown) => read('geojson', JSON.stringify(value));
const RING = [
  [30.1, 59.9, 12],
  [30.2, 59.9, 12],
  [30.2, 60, 12],
  [30.1, 59.9, 12],
];
const FLAT = RING.map((point) => point.slice(0, 2));
const feature = (geometry: object | null, properties: object | null = {}, id?: string) => ({
  ...{ type: 'Feature', geometry, properties },
  ...(id === undefined ? {} : { id }),
});
const collection = (...features: unknown[]) => ({ type: 'FeatureCollection', features });

test('each shape of GeoJSON becomes a geofence with a name of its own, without altitudes', () => {
  const items = geoJson(
    collection(
      feature({ type: 'MultiPolygon', coordinates: [[RING], [RING]] }, { name: 'Port' }),
      feature({ type: 'Point', coordinates: [1, 2, 3] }, { title: 'Port' }),
      feature({ type: 'GeometryCollection', geometries: [{ type: 'LineString', coordinates: RING }] }, null),
      feature({ type: 'MultiPoint', coordinates: RING.slice(0, 2) }, { name: 'Port 2' }),
      feature({ type: 'Circle', coordinates: [1, 2] }, { name: 'Yard' }),
      feature(null),
    ),
  );
  expect(items.map(({ name, feature: made, unsupported }) => [name, (made as Feature)?.geometry, unsupported])).toEqual(
    [
      ['Port', { type: 'MultiPolygon', coordinates: [[FLAT], [FLAT]] }, null],
      ['Port 2', { type: 'Point', coordinates: [1, 2] }, null],
      ['drawing', { type: 'LineString', coordinates: FLAT }, null],
      ['Port 2 2', { type: 'Point', coordinates: FLAT[0] }, null],
      ['Port 2 3', { type: 'Point', coordinates: FLAT[1] }, null],
      ['Yard', undefined, 'Circle'],
    ],
  );
  expect([geoJson(feature(null)).length, geoJson({ type: 'Point', coordinates: [1, 2] }).length]).toEqual([0, 1]);
});

test('what a file says of colour, size and description is kept, and what is left out is named', () => {
  const point = { type: 'Point', coordinates: [1, 2] };
  const of = (properties: object, id?: string) => geoJson(feature(point, properties, id))[0];
  const drawn = of({ stroke: '#AA00FF', 'stroke-width': 2, desc: ' Gate ', radius: '250', fid: 7, empty: null });
  expect((drawn?.feature as Feature)?.properties).toMatchObject({
    ...{ shape: 'circle', radiusM: 250, color: '#aa00ff', description: 'Gate', speedLimitKmh: null },
  });
  expect(drawn?.ignored).toEqual(['stroke-width', 'fid']);
  const own = { name: 'Depot', radiusM: 250, speedLimitKmh: 20, minDwellSeconds: 60, color: null, groupIds: ['g'] };
  expect(of({ ...own, ownerId: 'o', areaM2: 3 }, 'id')).toMatchObject({
    feature: { id: 'id', properties: { ...own, description: null } },
    ignored: [],
  });
});

test('KML has its placemarks in folders, with shared styles, holes and data', () => {
  const ring = (points: number[][]) =>
    `<LinearRing><coordinates>\n${points.map((point) => point.join(',')).join('\n ')}</coordinates></LinearRing>`;
  const items = read(
    'kml',
    `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="x"><Document>
      <Style id="line"><LineStyle><color>ff0000ff</color></LineStyle></Style>
      <StyleMap id="map"><Pair><key>normal</key><styleUrl>#line</styleUrl></Pair></StyleMap>
      <Folder><Placemark><name>A &amp; B</name><styleUrl>#map</styleUrl><description><![CDATA[<b>x</b>]]></description>
        <Polygon><outerBoundaryIs>${ring(RING)}</outerBoundaryIs><innerBoundaryIs>${ring(RING)}</innerBoundaryIs></Polygon>
      </Placemark></Folder>
      <Placemark><ExtendedData><Data name="radiusM"><value>70</value></Data><Data name="owner"><value>me</value></Data>
        </ExtendedData><Point><coordinates>1,2,3</coordinates></Point></Placemark>
      <Placemark><MultiGeometry><Point><coordinates>1,2</coordinates></Point>
        <LineString><coordinates>1,2 3,4</coordinates></LineString></MultiGeometry></Placemark>
      <Placemark><gx:Track><gx:coord>1 2 0</gx:coord><gx:coord>3 4 0</gx:coord></gx:Track></Placemark>
    </Document></kml>`,
  );
  expect(items.map(({ name, feature: made }) => [name, (made as Feature)?.geometry])).toEqual([
    ['A & B', { type: 'Polygon', coordinates: [FLAT, FLAT] }],
    ['drawing', { type: 'Point', coordinates: [1, 2] }],
    ['drawing 2', { type: 'Point', coordinates: [1, 2] }],
    [
      'drawing 3',
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    [
      'drawing 4',
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
  ]);
  expect((items[0]?.feature as Feature)?.properties).toMatchObject({ color: '#ff0000', description: '<b>x</b>' });
  expect((items[1]?.feature as Feature)?.properties.radiusM).toBe(70);
  expect(items[1]?.ignored).toEqual(['owner']);
});

test('GPX has waypoints, routes and segments of tracks', () => {
  const items = read(
    'gpx',
    `<gpx><wpt lat="2" lon="1"><name>Gate</name><cmt>left</cmt></wpt>
      <rte><name>Way</name><rtept lat="2" lon="1"/><rtept lat="4" lon="3"/></rte>
      <trk><trkseg><trkpt lat="2" lon="1"><ele>7</ele></trkpt><trkpt lat="4" lon="3"/></trkseg>
      <trkseg><trkpt lat="2" lon="1"/><trkpt lat="4" lon="3"/></trkseg></trk></gpx>`,
  );
  const line = {
    type: 'LineString',
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  };
  expect(items.map(({ name, feature: made }) => [name, (made as Feature)?.geometry])).toEqual([
    ['Gate', { type: 'Point', coordinates: [1, 2] }],
    ['Way', line],
    ['drawing', line],
    ['drawing 2', line],
  ]);
  expect((items[0]?.feature as Feature)?.properties).toMatchObject({ description: 'left', radiusM: 100 });
});

test('what was written as KML is read as the same geofence', () => {
  const degrees = fc.integer({ min: -170_0000000, max: 170_0000000 }).map((value) => value / 1e7);
  const point = fc.tuple(
    degrees,
    degrees.map((value) => value / 2),
  );
  const ring = fc
    .array(point, { minLength: 3, maxLength: 6 })
    .map((points) => [...points, points[0] as [number, number]]);
  const shape = fc.oneof(
    fc.record({ type: fc.constant('circle' as const), center: point, radiusM: fc.integer({ min: 1, max: 5000 }) }),
    fc.record({
      type: fc.constant('line' as const),
      path: fc.array(point, { minLength: 2, maxLength: 6 }),
      widthM: fc.integer({ min: 1, max: 500 }),
    }),
    fc.record({ type: fc.constant('polygon' as const), rings: fc.array(ring, { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('multipolygon' as const),
      polygons: fc.array(fc.array(ring, { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 3 }),
    }),
  );
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map((value) => value.toWellFormed());
  const printable = text.map((value) => `x${value.replace(/\p{Cc}|[\uFFFE\uFFFF]/gu, '')}x`);
  const geofence = fc.record({
    ...{ shape, name: printable, description: fc.option(printable), category: fc.option(printable) },
    color: fc.constantFrom(null, '#1f5fc4', '#abcdef'),
    speedLimitKmh: fc.constantFrom(null, 20.5),
    minDwellSeconds: fc.constantFrom(0, 60),
    groupIds: fc.constantFrom(null, ['a', 'b']),
    sharedWithOrganisation: fc.boolean(),
    sharedGroupIds: fc.constantFrom([], ['c']),
    externalId: fc.option(printable),
    customAttributes: fc.constantFrom({}, { costCentre: '47"<11>', axles: 4, leased: true }),
  });
  fc.assert(
    fc.property(geofence, (drawn) => {
      const known = sampleGeofence(drawn as never);
      const [item] = read('kml', KML_HEAD + writePlacemark(known) + KML_FOOT);
      const { geometry, properties } = featureFromShape(known.shape);
      const { shape: _, ...terms } = drawn;
      expect(item).toEqual({
        ...{ name: drawn.name, unsupported: null, lacks: null, ignored: [] },
        feature: { type: 'Feature', id: known.id, geometry, properties: { ...properties, ...terms } },
      });
    }),
    { numRuns: runs(300) },
  );
});

test('what is no such file, too deep, too much or expands is refused in words', () => {
  const refused = (format: FileFormat, text: string) => expect(() => read(format, text), text.slice(0, 80));
  for (const text of ['null', '{}', '[]', '{"type":"Topology"}']) refused('geojson', text).toThrow('It is not GeoJSON');
  refused('geojson', '').toThrow('It is not JSON');
  refused('kml', 'PK\u0003\u0004…').toThrow('KMZ');
  refused('kml', '<gpx/>').toThrow('It is not KML');
  refused('gpx', '<kml/>').toThrow('It is not GPX');
  refused('kml', '<kml><Placemark></kml>').toThrow('It is not XML');
  refused('kml', '').toThrow('It is not XML');
  const laughs =
    '<!DOCTYPE kml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><kml><Placemark><name>&b;</name></Placemark></kml>';
  refused('kml', laughs).toThrow('It is not XML');
  refused('kml', `<kml>${'<Folder>'.repeat(100)}`).toThrow('nests elements more than 64 deep');
  refused('kml', `<kml>${'<a/>'.repeat(1_000_001)}</kml>`).toThrow('more than 1000000 elements');
  const deep = `${'{"type":"GeometryCollection","geometries":['.repeat(200)}${']}'.repeat(200)}`;
  refused('geojson', deep).toThrow('nests collections more than 16 deep');
  refused('geojson', JSON.stringify({ type: 'MultiPoint', coordinates: new Array(10_001).fill([1, 2]) })).toThrow(
    'more than 10000 shapes',
  );
});

test('whatever stands in a file is read or refused, and never more than that', () => {
  const nested = `{"type":"LineString","coordinates":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  expect(read('geojson', nested)).toHaveLength(1);
  fc.assert(
    fc.property(fc.json(), (json) => {
      const text = `{"type":"FeatureCollection","features":[${json},{"type":"Feature","properties":${json},"geometry":{"type":"Polygon","coordinates":${json}}}]}`;
      expect(read('geojson', text).length).toBeLessThan(100);
    }),
    { numRuns: runs(300) },
  );
});
