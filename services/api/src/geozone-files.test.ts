import { afterEach, beforeEach, expect, test } from 'vitest';
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
  const dry = await send('import-file', 'format=kml&dryRun=true&widthM=20&name=Way', KML);
  expect(dry.body).toEqual({
    ...{ dryRun: true, created: 2, updated: 0, unchanged: 0, skipped: [] },
    items: [
      { index: 0, name: 'Gate', ignored: ['fid'], id: null, outcome: 'created' },
      { index: 1, name: 'Way', ignored: [], id: null, outcome: 'created' },
    ],
  });
  expect((await exported('geojson')).features).toEqual([]);
  expect((await send('import-file', 'format=kml&widthM=20&name=Way', KML)).body).toMatchObject({ created: 2 });
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
  const mixed = await send('import-file', 'format=geojson', file(CIRCLE, point), 'application/json');
  expect(mixed.body).toMatchObject({
    created: 1,
    items: [{ index: 1, name: 'Geozone 2' }],
    skipped: [{ index: 0, name: 'Geozone', unsupported: 'Circle' }],
  });
  const wrong = await send('import-file', 'format=geojson&name=X', file(point, far), 'application/json');
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors).toMatchObject([{ pointer: '/features/1/geometry/coordinates/0' }]);
  expect((await exported('geojson')).features).toHaveLength(1);
  expect((await send('import-file', 'format=gpx', KML)).body.errors).toEqual([
    { pointer: '', detail: 'It is no GPX.' },
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
    { name: 'Geozone', feature: { geometry: { type: 'LineString' } } },
  ]);
  expect((await exported('geojson')).features).toEqual([]);
});
