import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, World } from './api.fixture.ts';

let world: World;
let jwt: string;
beforeEach(async () => {
  world = await World.open();
  jwt = (await world.member('anna')).jwt;
});
afterEach(() => world.close());

const KML =
  '<kml><Placemark><name>Gate</name><ExtendedData><Data name="fid"><value>7</value></Data></ExtendedData>' +
  '<Point><coordinates>30.3,59.9</coordinates></Point></Placemark>' +
  '<Placemark><LineString><coordinates>30,59 31,59</coordinates></LineString></Placemark></kml>';
const CIRCLE = { type: 'Circle', coordinates: [30, 59] };
const send = (path: string, query: string, body: unknown, type = 'text/plain'): Promise<Answer> =>
  world.call('POST', `/api/v1/geozones/${path}?${query}`, { jwt, body, headers: { 'content-type': type } });
const exported = async (format: string) =>
  (await world.call('GET', `/api/v1/geozones/export?format=${format}`, { jwt })).body;

test('a file of another program becomes geozones, and says what of it was left out', async () => {
  const dry = await send('import-file', 'format=kml&dryRun=true&radiusM=100&widthM=20&name=Way', KML);
  expect(dry.body).toEqual({
    ...{ dryRun: true, created: 2, updated: 0, unchanged: 0, skipped: [] },
    items: [
      { index: 0, name: 'Gate', ignored: ['fid'], id: null, outcome: 'created' },
      { index: 1, name: 'Way', ignored: [], id: null, outcome: 'created' },
    ],
  });
  expect((await exported('geojson')).features).toEqual([]);
  expect((await send('import-file', 'format=kml&radiusM=100&widthM=20&name=Way', KML)).body).toMatchObject({
    created: 2,
  });
  const { features } = await exported('geojson');
  expect(features.map(({ properties }: never) => properties)).toMatchObject([
    { name: 'Gate', shape: 'circle', radiusM: 100 },
    { name: 'Way', shape: 'line', widthM: 20 },
  ]);

  const kml = await exported('kml');
  expect(kml).toMatch(/^<\?xml.*<name>Gate<\/name>.*<\/Document><\/kml>\n$/s);
  expect((await send('import-file', 'format=kml', kml, 'application/vnd.google-earth.kml+xml')).body).toMatchObject({
    ...{ created: 0, updated: 0, unchanged: 2 },
  });
  const [header, gate, way] = (await exported('csv')).split('\r\n');
  expect(header).toMatch(/^id,name,shape,radiusM,widthM,category/);
  expect([gate, way]).toEqual([
    expect.stringContaining(',Gate,circle,100,,'),
    expect.stringContaining(',Way,line,,20,'),
  ]);
});

test('what can’t be a geozone is skipped; what is wrong is refused by its place, and nothing is drawn', async () => {
  const file = (...geometries: object[]) => ({ type: 'GeometryCollection', geometries });
  const far = { type: 'Point', coordinates: [300, 59] };
  const point = { type: 'Point', coordinates: [30, 59] };
  const mixed = await send('import-file', 'format=geojson&radiusM=100', file(CIRCLE, point), 'application/json');
  expect(mixed.body).toMatchObject({
    created: 1,
    items: [{ index: 1, name: 'Geozone 2' }],
    skipped: [{ index: 0, name: 'Geozone', unsupported: 'Circle', lacks: null }],
  });
  const wrong = await send('import-file', 'format=geojson&name=X&radiusM=100', file(point, far), 'application/json');
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors).toMatchObject([{ pointer: '/features/1/geometry/coordinates/0' }]);
  expect((await exported('geojson')).features).toHaveLength(1);
  expect((await send('import-file', 'format=gpx', KML)).body.errors).toEqual([
    { pointer: '', detail: 'It is not GPX.' },
  ]);
  expect((await send('import-file', 'format=shp', KML)).body.errors).toMatchObject([{ parameter: 'format' }]);
  expect((await send('import-file', 'format=kml&radiusM=0', KML)).body.errors).toMatchObject([
    { parameter: 'radiusM' },
  ]);
});

test('a file is read without anything being checked or changed', async () => {
  const { body } = await send('read-file', 'format=kml&radiusM=30', KML);
  expect(body.items).toMatchObject([
    { name: 'Gate', unsupported: null, ignored: ['fid'], feature: { properties: { shape: 'circle', radiusM: 30 } } },
    { name: 'Geozone', feature: null, unsupported: null, lacks: 'widthM' },
  ]);
  expect((await exported('geojson')).features).toEqual([]);
});

describe('a file as a tool writes it', () => {
  const drawn = async () =>
    (await exported('geojson')).features.map(
      ({ geometry, properties }: { geometry: { type: string; coordinates: unknown[] }; properties: object }) => ({
        ...{ ...properties, type: geometry.type, parts: geometry.coordinates.length },
      }),
    );
  const square = (x: number, y: number, size = 0.002, ...height: number[]) =>
    [
      [x, y],
      [x + size, y],
      [x + size, y + size],
      [x, y + size],
      [x, y],
    ].map((point) => [...point, ...height]);
  const named = (name: string, geometry: object, more: object = {}) => ({
    ...{ type: 'Feature', properties: { name, ...more }, geometry },
  });

  test('geojson.io: with styles, numbers as ids, and points and lines without a size', async () => {
    const style = { stroke: '#555555', 'stroke-width': 2, 'stroke-opacity': 1, fill: '#1f77b4', 'fill-opacity': 0.5 };
    const file = {
      type: 'FeatureCollection',
      features: [
        { ...named('Yard', { type: 'Polygon', coordinates: [square(16.31, 48.2)] }, style), id: 0 },
        {
          ...{ type: 'Feature', properties: { 'marker-color': '#7e7e7e', 'marker-size': 'medium' }, id: 1 },
          geometry: { type: 'Point', coordinates: [16.315, 48.201] },
        },
        {
          ...{ type: 'Feature', properties: {} },
          geometry: {
            type: 'LineString',
            coordinates: [
              [16.31, 48.203],
              [16.314, 48.2034],
            ],
          },
        },
      ],
    };
    const { status, body } = await send('import-file', 'format=geojson&widthM=20', file, 'application/json');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      created: 2,
      items: [{ name: 'Yard', ignored: ['stroke-width', 'stroke-opacity', 'fill-opacity'] }, { name: 'Geozone 2' }],
      skipped: [{ index: 1, name: 'Geozone', unsupported: null, lacks: 'radiusM' }],
    });
    expect(await drawn()).toMatchObject([
      { name: 'Yard', shape: 'polygon', color: '#555555' },
      { name: 'Geozone 2', shape: 'line', widthM: 20 },
    ]);
  });

  test('QGIS: with a name, a coordinate system, heights and areas of several parts', async () => {
    const hole = square(16.3006, 48.2104, 0.0004, 171.5).toReversed();
    const north = [[square(16.3001, 48.2101, 0.002, 171.5), hole], [square(16.3031, 48.2101, 0.001, 171.5)]];
    const file = {
      ...{ type: 'FeatureCollection', name: 'depots' },
      crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
      features: [
        named('Depot North', { type: 'MultiPolygon', coordinates: north }, { fid: 1, area_ha: 1.52, opened: null }),
        named('Depot South', { type: 'MultiPolygon', coordinates: [[square(16.3001, 48.2, 0.001, 165)]] }, { fid: 2 }),
      ],
    };
    const { status, body } = await send('import-file', 'format=geojson', file, 'application/json');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ created: 2, skipped: [] },
      items: [{ name: 'Depot North', ignored: ['fid', 'area_ha'] }, { name: 'Depot South' }],
    });
    expect(await drawn()).toMatchObject([
      { name: 'Depot North', type: 'MultiPolygon', parts: 2 },
      { name: 'Depot South', type: 'Polygon', parts: 1 },
    ]);
  });

  test('Google Earth: folders in folders, holes, several areas of one name, a path and a place', async () => {
    const ring = (name: string, points: number[][]) =>
      `<${name}><LinearRing><coordinates>\n\t${points.map((point) => point.join(',')).join(' ')} \n</coordinates></LinearRing></${name}>`;
    const area = (x: number, ...holes: number[][][]) =>
      `<Polygon><tessellate>1</tessellate>${ring('outerBoundaryIs', square(x, 48.2, 0.002, 0))}${holes.map((hole) => ring('innerBoundaryIs', hole)).join('')}</Polygon>`;
    const place = (name: string, shape: string) => `<Placemark><name>${name}</name>${shape}</Placemark>`;
    const file = `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document><name>Sites.kml</name>
<Folder><name>Depots</name><open>1</open><Folder><name>Vienna &amp; around</name>
${place('Depot A', area(16.33, square(16.3305, 48.2005, 0.0005, 0)))}</Folder>
${place('Two halls', `<MultiGeometry>${area(16.34)}${area(16.345)}</MultiGeometry>`)}
${place('Haul way', '<LineString><coordinates>16.35,48.2,0 16.36,48.205,0</coordinates></LineString>')}
${place('Fuel station', '<Point><coordinates>16.38,48.2,0</coordinates></Point>')}
</Folder></Document></kml>`;
    const { status, body } = await send('import-file', 'format=kml', file);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ created: 2, items: [{ name: 'Depot A' }, { name: 'Two halls' }] },
      skipped: [
        { name: 'Haul way', lacks: 'widthM' },
        { name: 'Fuel station', lacks: 'radiusM' },
      ],
    });
    expect(await drawn()).toMatchObject([
      { name: 'Depot A', type: 'Polygon', parts: 2 },
      { name: 'Two halls', type: 'MultiPolygon', parts: 2 },
    ]);
  });

  test('the own export, saved by QGIS: the same geozones, none twice', async () => {
    const body = {
      type: 'FeatureCollection',
      features: [
        named('Depot', { type: 'Polygon', coordinates: [square(16.3, 48.2)] }),
        { ...named('Kiosk', { type: 'Point', coordinates: [16.31, 48.2] }, { radiusM: 40 }) },
      ],
    };
    expect((await send('import-file', 'format=geojson', body, 'application/json')).body).toMatchObject({ created: 2 });
    const before = await drawn();
    // QGIS has ids and lists as attributes, writes areas as several, and adds what it knows of the file.
    const saved = {
      ...{ type: 'FeatureCollection', name: 'export' },
      crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
      features: (await exported('geojson')).features.map(
        ({
          id,
          geometry,
          properties,
        }: {
          id: string;
          geometry: { type: string; coordinates: unknown };
          properties: object;
        }) => ({
          ...{ type: 'Feature', properties: { id, ...properties, sharedGroupIds: '[ ]' } },
          geometry:
            geometry.type === 'Polygon' ? { type: 'MultiPolygon', coordinates: [geometry.coordinates] } : geometry,
        }),
      ),
    };
    expect((await send('import-file', 'format=geojson', saved, 'application/json')).body).toMatchObject({
      ...{ created: 0, updated: 0, unchanged: 2, skipped: [] },
    });
    expect(await drawn()).toEqual(before);
  });
});
