import { DEFAULT_QUOTAS, type QuotaLimits, type User } from '@outrider/domain';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const QUOTAS: QuotaLimits = {
  account: {
    ...DEFAULT_QUOTAS.account,
    geofences: 10,
    geofenceVertices: 200,
    notificationRules: 3,
    reportSchedules: 2,
  },
  dealer: { ...DEFAULT_QUOTAS.dealer, vehicles: 2 },
};

interface Member {
  user: User;
  jwt: string;
}
let world: World;
let operator: Member;
let dealer: Member;
let anna: Member;
beforeEach(async () => {
  const limits = { failedLoginsPerMinute: 10, authorizedPerMinute: 1e6, unauthorizedPerMinute: 1e6, blockSeconds: 60 };
  world = await World.open({ limits }, {}, QUOTAS);
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
  anna = await world.member('anna', 'user', { dealerId: dealer.user.id });
});
afterEach(() => world.close());

const circle = (name: string) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [30.3, 59.9] },
  properties: { shape: 'circle', radiusM: 500, name },
});
const draw = (by: Member, name: string) => world.call('POST', '/api/v1/geozones', { jwt: by.jwt, body: circle(name) });
const importing = (by: Member, features: object[], query = '') =>
  world.call('POST', `/api/v1/geozones/import${query}`, {
    jwt: by.jwt,
    body: { type: 'FeatureCollection', features },
    headers: { 'content-type': 'application/geo+json' },
  });
const quotasOf = async (by: Member, path = '/api/v1/me/quotas') =>
  (await world.call('GET', path, { jwt: by.jwt })).body;

test('a user who draws one geofence after the other is stopped at the quota, and is shown which and why', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, nth) => draw(anna, `Circle ${nth}`)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  const refused = answers.filter(({ status }) => status === 409);
  expect(refused).toHaveLength(40);
  for (const { body } of refused)
    expect(body).toMatchObject({
      type: 'urn:outrider:problem:quota-exceeded',
      quota: { scope: 'account', kind: 'geofences', limit: 10, used: 10, requested: 1 },
    });
  expect((await quotasOf(anna)).account.geofences).toEqual({ used: 10, limit: 10, isSet: false });
});

test('parallel imports do not get past the quota together, nor does a dry run promise that they would', async () => {
  const features = Array.from({ length: 6 }, (_, nth) => circle(`Nr. ${nth}`));
  expect((await importing(anna, [...features, ...features.map((_, nth) => circle(`${nth}`))])).status).toBe(409);
  expect((await importing(anna, features, '?dryRun=true')).status).toBe(200);
  const imports = await Promise.all(
    Array.from({ length: 8 }, (_, nth) =>
      importing(
        anna,
        features.map((_, i) => circle(`Import ${nth}.${i}`)),
      ),
    ),
  );
  expect(imports.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  const tooMany = Array.from({ length: 5 }, (_, nth) => circle(`Dry ${nth}`));
  expect((await importing(anna, tooMany, '?dryRun=true')).body.quota).toMatchObject({ used: 6, requested: 5 });
  expect((await quotasOf(anna)).account.geofences.used).toBe(6);
});

test('vehicles of a dealer are counted however they are added', async () => {
  const add = (name: string) => world.call('POST', '/api/v1/vehicles', { jwt: dealer.jwt, body: { name } });
  expect((await add('Van 1')).status).toBe(201);
  const csv = (rows: string[]) =>
    world.call('POST', '/api/v1/vehicles/import', {
      jwt: dealer.jwt,
      body: ['name', ...rows].join('\n'),
      headers: { 'content-type': 'text/csv' },
    });
  expect((await csv(['Van 2', 'Van 3'])).body.quota).toMatchObject({ scope: 'dealer', kind: 'vehicles', used: 1 });
  expect((await csv(['Van 2'])).status).toBe(200);
  expect((await add('Van 3')).status).toBe(409);
  const own = await world.call('POST', '/api/v1/vehicles', { jwt: operator.jwt, body: { name: 'Own' } });
  for (const history of ['apart', 'along']) {
    const moved = await world.call('POST', '/api/v1/vehicles/move', {
      jwt: operator.jwt,
      body: { ids: [own.body.id], dealerId: dealer.user.id, history },
    });
    expect([moved.status, moved.body.quota?.kind]).toEqual([409, 'vehicles']);
  }
});

test('nobody raises the own quota; a dealer sets those of its users, none above its own', async () => {
  const set = (by: Member, of: Member, body: object) =>
    world.call('PATCH', `/api/v1/users/${of.user.id}/quotas`, { jwt: by.jwt, body });
  expect((await set(anna, anna, { account: { geofences: 1e6 } })).status).toBe(403);
  expect((await set(dealer, dealer, { account: { geofences: 1e6 } })).status).toBe(403);
  expect((await set(dealer, dealer, { dealer: { vehicles: 1e6 } })).status).toBe(403);
  expect((await set(dealer, anna, { dealer: { vehicles: 1e6 } })).status).toBe(403);
  const rival = await world.member('rival', 'dealer');
  expect((await set(rival, anna, { account: { geofences: 1 } })).status).toBe(404);

  expect((await set(operator, dealer, { dealer: { geofences: 20 } })).status).toBe(200);
  const tooMuch = await set(dealer, anna, { account: { geofences: 21 } });
  expect([tooMuch.status, tooMuch.body.errors[0].pointer]).toEqual([400, '/account/geofences']);
  expect((await set(dealer, anna, { account: { geofences: 12 } })).body.account.geofences).toEqual({
    used: 0,
    limit: 12,
    isSet: true,
  });
  for (let nth = 0; nth < 12; nth++) expect((await draw(anna, `Nr. ${nth}`)).status).toBe(201);
  expect((await draw(anna, 'Nr. 12')).body.quota).toMatchObject({ limit: 12, used: 12 });
  expect((await set(operator, anna, { dealer: { geofences: 5 } })).status).toBe(400);
  expect((await set(operator, anna, { account: { colours: 5 } })).status).toBe(400);
  expect((await set(operator, anna, { account: { geofences: -1 } })).status).toBe(400);
  expect((await set(dealer, anna, { account: { geofences: null } })).body.account.geofences.isSet).toBe(false);

  const all = (await world.call('GET', '/api/v1/audit?limit=100', { jwt: dealer.jwt })).body.items;
  const trail = all.filter(({ action }: { action: string }) => action === 'quotas-changed');
  expect(trail.map(({ subject }: { subject: { id: string } }) => subject.id).toSorted()).toEqual(
    [anna.user.id, anna.user.id, dealer.user.id].toSorted(),
  );
});

test('an account sees its own quotas, a dealer those of its users and of all of them together', async () => {
  await draw(anna, 'Depot');
  expect((await quotasOf(anna)).dealer).toBeNull();
  const whole = await quotasOf(dealer);
  expect(whole.account.geofences.used).toBe(0);
  expect(whole.dealer.geofences.used).toBe(1);
  expect(whole.dealer.storageBytes).toEqual({ used: 0, limit: QUOTAS.dealer.storageBytes, isSet: false });
  expect((await quotasOf(dealer, `/api/v1/users/${anna.user.id}/quotas`)).account.geofences.used).toBe(1);
  const other = await world.call('GET', `/api/v1/users/${dealer.user.id}/quotas`, { jwt: anna.jwt });
  expect(other.status).toBe(404);
});

test('who has stored as many bytes of reports as may be asks for no more', async () => {
  const ask = () =>
    world.call('POST', '/api/v1/report-jobs', {
      jwt: anna.jwt,
      body: { kind: 'trips', format: 'csv', from: '2026-01-14T00:00:00Z', to: '2026-01-15T00:00:00Z' },
    });
  const first = await ask();
  expect(first.status, JSON.stringify(first.body)).toBe(202);
  await world.registry.quotas.set(anna.user.id, [{ scope: 'account', kind: 'storageBytes', limit: 0 }], async () => {});
  const refused = await ask();
  expect([refused.status, refused.body.quota?.kind]).toEqual([409, 'storageBytes']);
});
