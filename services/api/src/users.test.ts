import type { User } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, PASSWORD, World } from './api.fixture.ts';

let world: World;
let operator: { user: User; jwt: string };
let dealer: { user: User; jwt: string };
beforeEach(async () => {
  world = await World.open();
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
});
afterEach(() => world.close());

const add = (jwt: string, body: object) =>
  world.call('POST', '/api/v1/users', { jwt, body: { name: 'Anna', password: PASSWORD, ...body } });

describe('adding an account', () => {
  test('a user comes with a group of their own, and never with a password in any answer', async () => {
    const { status, body, headers } = await add(operator.jwt, { login: 'anna', apiAccess: true });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: body.id,
      login: 'anna',
      name: 'Anna',
      role: 'user',
      dealerId: null,
      blocked: false,
      apiAccess: true,
      services: [],
      rights: ['edit-geofences', 'edit-notifications', 'share'],
      groupIds: [expect.any(String)],
      externalId: null,
      customAttributes: {},
    });
    expect(headers.get('location')).toBe(`/api/v1/users/${body.id}`);
    expect((await world.login('anna', PASSWORD)).status).toBe(200);
  });

  test('a dealer adds users of their own, without the right to use the API', async () => {
    const { body } = await add(dealer.jwt, { login: 'carl' });
    expect(body).toMatchObject({ dealerId: dealer.user.id, apiAccess: false, role: 'user' });
    expect((await add(dealer.jwt, { login: 'x', apiAccess: true })).status).toBe(403);
    expect((await add(dealer.jwt, { login: 'x', role: 'dealer' })).status).toBe(403);
    expect((await add(dealer.jwt, { login: 'x', role: 'operator' })).status).toBe(403);
    expect((await add(dealer.jwt, { login: 'x', dealerId: null })).status).toBe(403);
    const group = await world.registry.groups.create({ name: 'Foreign', dealerId: null });
    expect((await add(dealer.jwt, { login: 'x', groupIds: [group.id] })).body.errors).toMatchObject([
      { pointer: '/groupIds/0' },
    ]);
  });

  test('a user adds nobody, no vehicle and no group', async () => {
    const { jwt } = await world.member('anna');
    expect((await add(jwt, { login: 'x' })).status).toBe(403);
    expect((await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'x' } })).status).toBe(403);
    expect((await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: 'x' } })).status).toBe(403);
  });

  test('a login that is taken is a conflict, whatever its case', async () => {
    const { status, body } = await add(operator.jwt, { login: 'BOSS' });
    expect(status).toBe(409);
    expect(body.errors).toMatchObject([{ pointer: '/login' }]);
  });

  test('bad fields are named', async () => {
    const errors = async (body: object) => (await add(operator.jwt, body)).body.errors;
    expect(await errors({ login: 'x', password: 'short' })).toMatchObject([{ pointer: '/password' }]);
    expect(await errors({ login: '   ' })).toMatchObject([{ pointer: '/login' }]);
    expect(await errors({ login: 'x', role: 'king' })).toMatchObject([{ pointer: '/role' }]);
    expect(await errors({ login: 'x', blocked: true })).toMatchObject([{ pointer: '/blocked' }]);
    expect(await errors({ login: 'x', dealerId: operator.user.id })).toMatchObject([{ pointer: '/dealerId' }]);
    expect(await errors({ login: 'x', role: 'dealer', dealerId: dealer.user.id })).toMatchObject([
      { pointer: '/dealerId' },
    ]);
  });
});

describe('reading and changing accounts', () => {
  test('each sees their own: operators all, dealers their users, users themselves', async () => {
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const anna = await world.member('anna');
    const seen = async (jwt: string) =>
      (await world.call('GET', '/api/v1/users', { jwt })).body.items.map((item: { login: string }) => item.login);
    expect((await seen(operator.jwt)).toSorted()).toEqual(['anna', 'boss', 'carl', 'dealer']);
    expect((await seen(dealer.jwt)).toSorted()).toEqual(['carl', 'dealer']);
    expect(await seen(carl.jwt)).toEqual(['carl']);
    const get = async (jwt: string, id: string) => (await world.call('GET', `/api/v1/users/${id}`, { jwt })).status;
    expect(await get(dealer.jwt, carl.user.id)).toBe(200);
    expect(await get(dealer.jwt, anna.user.id)).toBe(404);
    expect(await get(dealer.jwt, operator.user.id)).toBe(404);
    expect(await get(carl.jwt, dealer.user.id)).toBe(404);
    expect(await get(operator.jwt, ABSENT)).toBe(404);
  });

  test('a dealer changes their users, not themselves and not whose they are', async () => {
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const patch = (id: string, body: object) => world.call('PATCH', `/api/v1/users/${id}`, { jwt: dealer.jwt, body });
    expect((await patch(carl.user.id, { name: 'Carl C.' })).body.name).toBe('Carl C.');
    expect((await patch(carl.user.id, { dealerId: null })).status).toBe(403);
    expect((await patch(dealer.user.id, { name: 'x' })).status).toBe(403);
    expect((await patch(carl.user.id, { apiAccess: true })).body.errors).toMatchObject([{ pointer: '/apiAccess' }]);
    const access = `/api/v1/users/${carl.user.id}/api-access`;
    expect((await world.call('DELETE', access, { jwt: dealer.jwt })).status).toBe(403);
    expect((await world.call('DELETE', access, { jwt: operator.jwt })).body.apiAccess).toBe(false);
    expect((await world.call('PUT', access, { jwt: operator.jwt })).body.apiAccess).toBe(true);
  });

  test('groups that a dealer does not see are neither shown to them nor lost through them', async () => {
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const [own] = carl.user.groupIds;
    const hidden = await world.registry.groups.create({ name: 'Hidden', dealerId: null });
    await world.registry.groups.setUser(hidden.id, carl.user.id, true);
    const path = `/api/v1/users/${carl.user.id}`;
    expect((await world.call('GET', path, { jwt: dealer.jwt })).body.groupIds).toEqual([own]);
    await world.call('PATCH', path, { jwt: dealer.jwt, body: { groupIds: [] } });
    expect(await world.registry.users.get(carl.user.id)).toMatchObject({ groupIds: [hidden.id] });
    expect((await world.call('GET', path, { jwt: operator.jwt })).body.groupIds).toEqual([hidden.id]);
  });

  test('everyone may change their own name, and only that', async () => {
    const { jwt } = await world.member('anna');
    const patch = (body: object) => world.call('PATCH', '/api/v1/me', { jwt, body });
    expect((await patch({ name: 'Anna A.' })).body.name).toBe('Anna A.');
    expect((await patch({})).body.name).toBe('Anna A.');
    expect((await patch({ role: 'operator' })).body.errors).toMatchObject([{ pointer: '/role' }]);
  });

  test('If-Match lets only those change who saw the newest', async () => {
    const { user } = await world.member('anna');
    const patch = (name: string) =>
      world.call('PATCH', `/api/v1/users/${user.id}`, {
        jwt: operator.jwt,
        body: { name },
        headers: { 'if-match': '"1"' },
      });
    expect((await patch('A')).status).toBe(200);
    expect((await patch('B')).status).toBe(412);
  });

  test('a new password from above ends the sessions', async () => {
    const { user, jwt } = await world.member('carl', 'user', { dealerId: dealer.user.id });
    await world.call('GET', '/api/v1/me', { jwt });
    const path = `/api/v1/users/${user.id}/password`;
    const body = { password: 'something else entirely' };
    expect((await world.call('PUT', path, { jwt, body })).status).toBe(403);
    expect((await world.call('PUT', path, { jwt: dealer.jwt, body })).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
    expect((await world.login('carl', body.password)).status).toBe(200);
  });

  test('a dealer that is blocked takes its users along: tokens and logins, until it is let in again', async () => {
    const { user, jwt } = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const block = (id: string, verb: string) =>
      world.call('POST', `/api/v1/users/${id}/${verb}`, { jwt: operator.jwt });
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    await block(dealer.user.id, 'block');
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
    expect((await world.call('POST', '/auth/refresh', { jwt })).status).toBe(401);
    expect((await world.login('carl', PASSWORD)).status).toBe(401);
    expect((await block(user.id, 'unblock')).body).toMatchObject({ blocked: true });
    await block(dealer.user.id, 'unblock');
    expect((await world.login('carl', PASSWORD)).status).toBe(200);
  });

  test('nobody blocks, deletes or shuts out themselves', async () => {
    const call = async (method: string, path: string) =>
      (await world.call(method, `/api/v1/users/${operator.user.id}${path}`, { jwt: operator.jwt })).status;
    expect(await call('POST', '/block')).toBe(409);
    expect(await call('DELETE', '')).toBe(409);
    expect(await call('DELETE', '/api-access')).toBe(409);
    expect(await call('GET', '')).toBe(200);
  });

  test('deleting an account takes its geozones along and keeps the vehicles', async () => {
    const { user, jwt } = await world.member('anna');
    const van = await world.call('POST', '/api/v1/vehicles', {
      jwt: operator.jwt,
      body: { name: 'Van', groupIds: user.groupIds },
    });
    const zone = await world.call('POST', '/api/v1/geozones', {
      jwt,
      body: {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [30, 60] },
        properties: { shape: 'circle', radiusM: 50, name: 'Home' },
      },
    });
    expect((await world.call('DELETE', `/api/v1/users/${user.id}`, { jwt: operator.jwt })).status).toBe(204);
    expect((await world.call('GET', `/api/v1/geozones/${zone.body.id}`, { jwt: operator.jwt })).status).toBe(404);
    expect((await world.call('GET', `/api/v1/vehicles/${van.body.id}`, { jwt: operator.jwt })).status).toBe(200);
  });
});

describe('a dealer’s vehicles and groups', () => {
  test('belong to the dealer that adds them, and are another dealer’s nothing', async () => {
    const other = await world.member('other', 'dealer');
    const van = await world.call('POST', '/api/v1/vehicles', {
      jwt: dealer.jwt,
      body: { name: 'Van', terminalId: '1' },
    });
    const group = await world.call('POST', '/api/v1/vehicle-groups', { jwt: dealer.jwt, body: { name: 'Vans' } });
    expect([van.body.dealerId, group.body.dealerId]).toEqual([dealer.user.id, dealer.user.id]);
    for (const path of [
      `vehicles/${van.body.id}`,
      'vehicles/terminal:1',
      `vehicles/${van.body.id}/state`,
      `vehicle-groups/${group.body.id}`,
      `vehicle-groups/${group.body.id}/vehicles`,
      `vehicle-groups/${group.body.id}/users`,
      `vehicles?groupId=${group.body.id}`,
    ])
      expect((await world.call('GET', `/api/v1/${path}`, { jwt: other.jwt })).status).toBe(404);
    for (const list of ['vehicles', 'vehicles?terminalId=1', 'vehicle-groups'])
      expect((await world.call('GET', `/api/v1/${list}`, { jwt: other.jwt })).body.items).toEqual([]);
    for (const path of [`vehicles/${van.body.id}`, `vehicle-groups/${group.body.id}`]) {
      const url = `/api/v1/${path}`;
      expect((await world.call('PATCH', url, { jwt: other.jwt, body: { name: 'x' } })).status).toBe(404);
      expect((await world.call('DELETE', url, { jwt: other.jwt })).status).toBe(404);
      expect((await world.call('PATCH', url, { jwt: dealer.jwt, body: { dealerId: null } })).status).toBe(403);
    }
    const foreign = `/api/v1/vehicle-groups/${group.body.id}/users/${other.user.id}`;
    expect((await world.call('PUT', foreign, { jwt: dealer.jwt })).status).toBe(404);
    // The terminal is fitted elsewhere: the conflict has to reveal that much.
    const taken = await world.call('POST', '/api/v1/vehicles', {
      jwt: other.jwt,
      body: { name: 'x', terminalId: '1' },
    });
    expect(taken.status).toBe(409);
  });

  test('a user reads what is in their groups, and changes nothing', async () => {
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const [own] = carl.user.groupIds;
    const hidden = await world.registry.groups.create({ name: 'Hidden', dealerId: dealer.user.id });
    const van = await world.call('POST', '/api/v1/vehicles', {
      jwt: dealer.jwt,
      body: { name: 'Van', groupIds: [own, hidden.id] },
    });
    const path = `/api/v1/vehicles/${van.body.id}`;
    // That the vehicle is in other groups as well is not the user's to know.
    expect((await world.call('GET', path, { jwt: carl.jwt })).body.groupIds).toEqual([own]);
    expect((await world.call('PATCH', path, { jwt: carl.jwt, body: { name: 'x' } })).status).toBe(403);
    expect((await world.call('DELETE', path, { jwt: carl.jwt })).status).toBe(403);
    const group = `/api/v1/vehicle-groups/${own}`;
    expect((await world.call('GET', group, { jwt: carl.jwt })).status).toBe(200);
    expect((await world.call('PATCH', group, { jwt: carl.jwt, body: { name: 'x' } })).status).toBe(403);
    expect((await world.call('PUT', `${group}/vehicles/${van.body.id}`, { jwt: carl.jwt })).status).toBe(403);
    expect((await world.call('PUT', `${group}/users/${carl.user.id}`, { jwt: carl.jwt })).status).toBe(403);
    expect((await world.call('GET', `/api/v1/vehicle-groups/${hidden.id}`, { jwt: carl.jwt })).status).toBe(404);
  });
});
