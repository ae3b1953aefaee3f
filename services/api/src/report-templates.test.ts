import { afterEach, beforeEach, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const PATH = '/api/v1/me/report-templates';
const WEEK = { name: 'Week', kind: 'mileage', range: 'last-week', period: 'day', vehicleIds: [ABSENT] };
const EMPTY = {
  vehicleIds: [],
  groupId: null,
  geozoneId: null,
  range: null,
  period: null,
  eventKinds: null,
  maxPoints: null,
  workHours: null,
  ecoWeights: null,
  sensors: null,
  driverIds: null,
  format: null,
  groupBy: null,
  columns: null,
  sort: null,
  shape: null,
};

test('each account has its own list; what a template does not say is null', async () => {
  const anna = await world.member('anna');
  const bert = await world.member('bert');
  expect((await world.call('GET', PATH, anna)).body).toEqual({ items: [] });
  const set = await world.call('PUT', PATH, { ...anna, body: { items: [WEEK] } });
  expect(set.body).toEqual({ items: [{ ...EMPTY, ...WEEK }] });
  expect((await world.call('GET', PATH, anna)).body).toEqual(set.body);
  expect((await world.call('GET', PATH, bert)).body).toEqual({ items: [] });
});

test('a shape comes back as it was drawn', async () => {
  const anna = await world.member('anna');
  const shape = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [13, 52] },
    properties: { shape: 'circle', radiusM: 300, minDwellSeconds: 0 },
  };
  const body = { items: [{ name: 'Yard', kind: 'geozone-visits', shape }] };
  expect((await world.call('PUT', PATH, { ...anna, body })).body.items[0].shape).toEqual(shape);
});

test('what was saved meanwhile is not overwritten', async () => {
  const anna = await world.member('anna');
  const { headers } = await world.call('GET', PATH, anna);
  const put = (name: string) =>
    world.call('PUT', PATH, {
      ...anna,
      body: { items: [{ ...WEEK, name }] },
      headers: { 'if-match': headers.get('etag') ?? '' },
    });
  expect((await put('First')).status).toBe(200);
  expect((await put('Second')).status).toBe(412);
  expect((await world.call('GET', PATH, anna)).body.items[0].name).toBe('First');
});

test('anything else is refused, by its place', async () => {
  const anna = await world.member('anna');
  for (const [item, pointer] of [
    [{ ...WEEK, kind: 'horoscope' }, '/items/0/kind'],
    [{ ...WEEK, name: ' ' }, '/items/0/name'],
    [{ ...WEEK, range: 'tomorrow' }, '/items/0/range'],
    [{ ...WEEK, columns: ['no such name!'] }, '/items/0/columns/0'],
    [{ ...WEEK, sort: '--x' }, '/items/0/sort'],
    [{ ...WEEK, format: 'gpx' }, '/items/0/format'],
    [{ ...WEEK, groupBy: 'geozone' }, '/items/0/groupBy'],
    [{ ...WEEK, kind: 'work-time', workHours: 'Mo 8-17' }, '/items/0/workHours'],
    [{ ...WEEK, kind: 'eco-driving', ecoWeights: 'brake=5' }, '/items/0/ecoWeights'],
    [{ ...WEEK, colour: 'red' }, '/items/0/colour'],
  ] as const) {
    const { status, body } = await world.call('PUT', PATH, { ...anna, body: { items: [item] } });
    expect([status, body.errors?.[0].pointer]).toEqual([400, pointer]);
  }
  const twice = await world.call('PUT', PATH, { ...anna, body: { items: [WEEK, WEEK] } });
  expect([twice.status, twice.body.errors?.[0].pointer]).toEqual([400, '/items/1/name']);
  const many = { items: Array.from({ length: 101 }, (_, nth) => ({ ...WEEK, name: `Week ${nth}` })) };
  expect((await world.call('PUT', PATH, { ...anna, body: many })).body.errors[0].pointer).toBe('/items');
});

test('they go with the account', async () => {
  const { user, jwt } = await world.member('anna');
  await world.call('PUT', PATH, { jwt, body: { items: [WEEK] } });
  await world.registry.users.delete(user.id, null);
  expect(await world.registry.reportTemplates.get(user.id)).toEqual({ version: 1, templates: [] });
});
