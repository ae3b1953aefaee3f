import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

test('a place is called by the own geozone around it, and by none of another account', async () => {
  const { jwt } = await world.member('anna');
  const bert = await world.member('bert');
  const depot = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [27.5, 53.9] },
    properties: { shape: 'circle', radiusM: 500, name: 'Depot' },
  };
  const { id } = (await world.call('POST', '/api/v1/geozones', { jwt, body: depot })).body;
  const ask = async (as: string, query: string) =>
    (await world.call('GET', `/api/v1/place?${query}`, { jwt: as })).body;
  const here = 'latitude=53.9001&longitude=27.5001';
  expect(await ask(jwt, here)).toEqual({ place: { text: 'Depot', source: 'geozone', geozoneId: id } });
  const town = { place: { text: 'Town at 54 28', source: 'town', geozoneId: null } };
  expect(await ask(bert.jwt, here)).toEqual(town);
  expect(await ask(jwt, 'latitude=53.95&longitude=27.6')).toEqual(town);
});

test('degrees that are none are refused by name', async () => {
  const { jwt } = await world.member('anna');
  for (const query of ['latitude=91&longitude=x', 'latitude=&longitude=', ''])
    expect(await world.call('GET', `/api/v1/place?${query}`, { jwt })).toMatchObject({
      status: 400,
      body: { errors: [{ parameter: 'latitude' }, { parameter: 'longitude' }] },
    });
});
