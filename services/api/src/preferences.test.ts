import { afterEach, beforeEach, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const PATH = '/api/v1/me/preferences';
const DEFAULTS = {
  language: null,
  browserLanguage: null,
  browserTimeZone: null,
  theme: 'auto',
  units: 'metric',
  compactList: false,
  listColumns: null,
  timeZone: null,
  favourites: [],
  clusters: true,
  vehicleColors: false,
  map: null,
};

test('what was never set has its default; what is set stays, of each account its own', async () => {
  const anna = await world.member('anna');
  const bert = await world.member('bert');
  expect((await world.call('GET', PATH, anna)).body).toEqual(DEFAULTS);
  const body = { theme: 'dark', timeZone: 'Europe/Berlin', language: 'de', favourites: [ABSENT], units: 'imperial' };
  expect((await world.call('PATCH', PATH, { ...anna, body })).body).toEqual({ ...DEFAULTS, ...body });
  const next = await world.call('PATCH', PATH, { ...anna, body: { timeZone: null, clusters: false } });
  expect(next.body).toEqual({ ...DEFAULTS, ...body, timeZone: null, clusters: false });
  expect((await world.call('GET', PATH, anna)).body).toEqual(next.body);
  expect((await world.call('GET', PATH, bert)).body).toEqual(DEFAULTS);
});

test('changes at the same time are all kept', async () => {
  const anna = await world.member('anna');
  const bodies = [{ theme: 'dark' }, { units: 'imperial' }, { clusters: false }, { map: 'region' }];
  await Promise.all(bodies.map((body) => world.call('PATCH', PATH, { ...anna, body })));
  expect((await world.call('GET', PATH, anna)).body).toEqual({ ...DEFAULTS, ...Object.assign({}, ...bodies) });
});

test('anything else is refused, by its place', async () => {
  const anna = await world.member('anna');
  for (const [body, pointer] of [
    [{ theme: 'pink' }, '/theme'],
    [{ language: 'English!' }, '/language'],
    [{ language: 'pt-BR' }, '/language'],
    [{ browserLanguage: 'xx' }, '/browserLanguage'],
    [{ browserTimeZone: 'Moon' }, '/browserTimeZone'],
    [{ timeZone: 'Mars/Olympus' }, '/timeZone'],
    [{ map: '../etc' }, '/map'],
    [{ listColumns: ['plate', 'weight'] }, '/listColumns/1'],
    [{ colour: 'red' }, '/colour'],
    [{ favourites: ['me'] }, '/favourites/0'],
    [{ favourites: Array.from({ length: 1001 }, () => ABSENT) }, '/favourites'],
  ] as const) {
    const { status, body: problem } = await world.call('PATCH', PATH, { ...anna, body });
    expect([status, problem.errors?.[0].pointer]).toEqual([400, pointer]);
  }
  expect((await world.call('GET', PATH, anna)).body).toEqual(DEFAULTS);
});

test('what another version stored and this one does not take has its default', async () => {
  const { user, jwt } = await world.member('anna');
  await world.registry.preferences.change(user.id, () => ({ theme: 'sepia', units: 'imperial', gone: 1 }));
  expect((await world.call('GET', PATH, { jwt })).body).toEqual({ ...DEFAULTS, units: 'imperial' });
});

test('they go with the account', async () => {
  const { user, jwt } = await world.member('anna');
  await world.call('PATCH', PATH, { jwt, body: { theme: 'dark' } });
  await world.registry.users.delete(user.id, null);
  expect(await world.registry.preferences.get(user.id)).toBeNull();
});
