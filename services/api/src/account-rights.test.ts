import { ACCOUNT_RIGHTS, type AccountRight, type GroupId, type UserId, type VehicleId } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const CIRCLE = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [30, 60] },
  properties: { name: 'Depot', shape: 'circle', radiusM: 100 },
};

let world: World;
let dealer: { user: { id: UserId }; jwt: string };
let group: GroupId;
let van: VehicleId;
beforeEach(async () => {
  world = await World.open();
  dealer = await world.member('garage', 'dealer');
  const dealerId = dealer.user.id;
  group = (await world.registry.groups.create({ name: 'Vans', dealerId })).id;
  van = (await world.registry.vehicles.create(sampleVehicleFields({ dealerId, groupIds: [group] }))).id;
});
afterEach(() => world.close());

const member = (login: string, rights: AccountRight[]) =>
  world.member(login, 'user', { dealerId: dealer.user.id, groupIds: [group], rights });
const rename = (jwt: string) => world.call('PATCH', `/api/v1/vehicles/${van}`, { jwt, body: { name: 'Renamed' } });
const fence = (options: object) => world.call('POST', '/api/v1/geozones', { body: CIRCLE, ...options });

describe('what a user may change', () => {
  test('is what users could change before there were rights, where nothing else is said', async () => {
    const body = { login: 'anna', name: 'Anna', password: 'correct horse battery staple' };
    const added = await world.call('POST', '/api/v1/users', { jwt: dealer.jwt, body });
    expect(added.body.rights).toEqual(['edit-geofences', 'edit-notifications', 'share']);
  });

  test('is nothing in a read-only account; what is refused names the right', async () => {
    const { jwt } = await member('anna', []);
    const expiresAt = new Date(world.nowMs + 3_600_000).toISOString();
    const refused = [
      await rename(jwt),
      await fence({ jwt }),
      await world.call('POST', '/api/v1/share-links', { jwt, body: { vehicleIds: [van], expiresAt } }),
      await world.call('DELETE', '/api/v1/report-schedules/00000000-0000-7000-8000-000000000001', { jwt }),
    ];
    expect(refused.map(({ status, body }) => [status, body.right])).toEqual([
      [403, 'edit-vehicles'],
      [403, 'edit-geofences'],
      [403, 'share'],
      [403, 'edit-notifications'],
    ]);
    const ofService = await world.call('GET', `/api/v1/vehicles/${van}/commands`, { jwt });
    expect([ofService.status, ofService.body.right]).toEqual([403, 'commands']);
    for (const path of [
      '/api/v1/vehicles',
      '/api/v1/geozones',
      '/api/v1/notifications',
      `/api/v1/vehicles/${van}/state`,
    ])
      expect((await world.call('GET', path, { jwt })).status).toBe(200);
    expect((await world.call('PATCH', '/api/v1/me', { jwt, body: { name: 'Anna' } })).status).toBe(200);
  });

  test('with edit-vehicles is the profile, and neither who sees the vehicle nor whether it exists', async () => {
    const { jwt } = await member('anna', ['edit-vehicles']);
    expect((await rename(jwt)).body.name).toBe('Renamed');
    const many = { ids: [van], patch: { speedLimitKmh: 80 } };
    expect((await world.call('PATCH', '/api/v1/vehicles', { jwt, body: many })).body.updated).toBe(1);
    // As it is shown to them: nothing changes.
    const same = await world.call('PATCH', `/api/v1/vehicles/${van}`, { jwt, body: { groupIds: [group] } });
    expect(same.status).toBe(200);
    const refused = [
      await world.call('PATCH', `/api/v1/vehicles/${van}`, { jwt, body: { groupIds: [] } }),
      await world.call('PATCH', '/api/v1/vehicles', { jwt, body: { ids: [van], patch: { groupIds: [] } } }),
      await world.call('DELETE', `/api/v1/vehicles/${van}`, { jwt }),
      await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Another' } }),
      await world.call('POST', `/api/v1/vehicles/${van}/suspend`, { jwt, body: { reason: 'unpaid' } }),
      await fence({ jwt }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
  });

  test('changes at once, for running tokens and API keys, and is in the audit trail', async () => {
    const { user, jwt } = await member('anna', []);
    const grant = { name: 'ERP', scopes: ['read', 'write'] as const, groupIds: null, expiresAtMs: null };
    const { text } = await world.registry.apiKeys.create(user.id, grant);
    const bearer = { headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' } };
    const change = (rights: AccountRight[]) =>
      world.call('PATCH', `/api/v1/users/${user.id}`, { jwt: dealer.jwt, body: { rights } });
    expect((await fence(bearer)).status).toBe(403);
    expect((await change(['share', 'edit-geofences', 'share'])).body.rights).toEqual(['edit-geofences', 'share']);
    const { status, body } = await fence(bearer);
    expect(status).toBe(201);
    const path = `/api/v1/geozones/${body.id}`;
    await change(['share']);
    expect((await world.call('DELETE', path, bearer)).body.right).toBe('edit-geofences');
    expect((await world.call('DELETE', path, { jwt })).body.right).toBe('edit-geofences');
    const trail = await world.call('GET', `/api/v1/audit?subject=${user.id}&limit=1`, { jwt: dealer.jwt });
    expect(trail.body.items[0]).toMatchObject({
      before: { rights: ['edit-geofences', 'share'] },
      after: { rights: ['share'] },
    });
  });

  test('is given by dealers to their users, and by nobody to themselves', async () => {
    const { user, jwt } = await member('anna', []);
    const body = { rights: [...ACCOUNT_RIGHTS] };
    expect((await world.call('PATCH', `/api/v1/users/${user.id}`, { jwt, body })).status).toBe(403);
    const stranger = await world.member('other', 'dealer');
    expect((await world.call('PATCH', `/api/v1/users/${user.id}`, { jwt: stranger.jwt, body })).status).toBe(404);
    const wrong = await world.call('PATCH', `/api/v1/users/${user.id}`, { jwt: dealer.jwt, body: { rights: ['all'] } });
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/rights/0']);
  });

  test('shared links show nothing while their maker has no right to share', async () => {
    const { user, jwt } = await member('anna', ['share']);
    const expiresAt = new Date(world.nowMs + 3_600_000).toISOString();
    const made = await world.call('POST', '/api/v1/share-links', { jwt, body: { vehicleIds: [van], expiresAt } });
    const view = async () => (await world.call('GET', `${made.body.path}/data`)).status;
    expect(await view()).toBe(200);
    await world.registry.users.update(user.id, null, { rights: [] });
    expect(await view()).toBe(404);
    await world.registry.users.update(user.id, null, { rights: ['share'] });
    expect(await view()).toBe(200);
    await world.registry.users.update(user.id, null, { rights: [] });
    expect((await world.call('DELETE', `/api/v1/share-links/${made.body.id}`, { jwt })).status).toBe(204);
  });
});
