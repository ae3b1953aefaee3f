import type { GroupId, User } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, PASSWORD, World } from './api.fixture.ts';
import { createHousekeeping } from './upkeep/housekeeping.ts';

const HOUR_MS = 3_600_000;
const RULE = {
  name: 'Too fast',
  eventKinds: ['speeding'],
  phases: ['begin'],
  timeZone: 'Etc/UTC',
};

describe('API keys', () => {
  let world: World;
  let anna: User;
  let jwt: string;
  let operator: { user: User; jwt: string };
  let north: GroupId;
  let south: GroupId;
  beforeEach(async () => {
    world = await World.open();
    operator = await world.member('boss', 'operator');
    [north, south] = (await Promise.all(
      ['North', 'South'].map(async (name) => (await world.registry.groups.create({ name, dealerId: null })).id),
    )) as [GroupId, GroupId];
    ({ user: anna, jwt } = await world.member('anna', 'user', { groupIds: [north, south] }));
    for (const [name, groupId] of [
      ['Van', north],
      ['Truck', south],
    ] as const)
      await world.registry.vehicles.create(sampleVehicleFields({ name, groupIds: [groupId] }));
  });
  afterEach(() => world.close());

  const make = async (body: object = {}, as = jwt): Promise<Answer['body']> => {
    const made = await world.call('POST', '/api/v1/api-keys', {
      jwt: as,
      body: { name: 'ERP', scopes: ['read'], ...body },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body;
  };
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const namesSeen = async (key: string) => {
    const { status, body } = await world.call('GET', '/api/v1/vehicles', bearer(key));
    expect(status).toBe(200);
    return body.items.map(({ name }: { name: string }) => name).toSorted();
  };

  test('a key is shown once, and opens the API as a bearer token and as a JWT', async () => {
    const { key, ...shown } = await make();
    expect(key).toMatch(/^outrider_[0-9a-f]{32}_[\w-]{43}$/);
    expect(key).toContain(shown.id.replaceAll('-', ''));
    expect(shown).toMatchObject({
      userId: anna.id,
      scopes: ['read'],
      groupIds: null,
      expiresAt: null,
      lastUsedAt: null,
    });
    expect(await namesSeen(key)).toEqual(['Truck', 'Van']);
    expect((await world.call('GET', '/api/v1/me', { jwt: key })).body.id).toBe(anna.id);
    const read = await world.call('GET', `/api/v1/api-keys/${shown.id}`, { jwt });
    expect(read.body).toMatchObject({ id: shown.id, name: 'ERP' });
    expect(JSON.stringify(read.body)).not.toContain(key.slice(-43));
  });

  test('only API keys are taken as bearer tokens', async () => {
    expect((await world.call('GET', '/api/v1/me', bearer(jwt))).status).toBe(401);
  });

  test('a wrong secret, a key that never was and one that is nothing are refused', async () => {
    const { key } = await make();
    for (const wrong of [
      `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
      key.replace(/[0-9a-f]{32}/, 'a'.repeat(32)),
    ]) {
      const { status, headers } = await world.call('GET', '/api/v1/me', bearer(wrong));
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain('unknown-key');
    }
    expect((await world.call('GET', '/api/v1/me', bearer('outrider_x'))).status).toBe(401);
  });

  test('its last use is shown with the address, and is written rarely', async () => {
    const { id, key } = await make();
    const touched: string[] = [];
    const touch = world.registry.apiKeys.touch.bind(world.registry.apiKeys);
    world.registry.apiKeys.touch = async (...args) => {
      touched.push(args[1]);
      await touch(...args);
    };
    for (let nth = 0; nth < 5; nth++) await world.call('GET', '/api/v1/me', { ...bearer(key), from: '203.0.113.5' });
    expect(touched).toEqual(['203.0.113.5']);
    const { body } = await world.call('GET', `/api/v1/api-keys/${id}`, { jwt });
    expect(body).toMatchObject({ lastUsedAddress: '203.0.113.5', lastUsedAt: new Date(world.nowMs).toISOString() });
    world.nowMs += HOUR_MS / 2;
    await world.call('GET', '/api/v1/me', { ...bearer(key), from: '203.0.113.6' });
    expect(touched).toEqual(['203.0.113.5', '203.0.113.6']);
  });

  test('what a scope does not allow is refused, with the name of the scope that is needed', async () => {
    const { key } = await make({ scopes: ['read'] });
    const geozone = {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13, 52] },
      properties: { name: 'Depot', shape: 'circle', radiusM: 100 },
    };
    const refused = await world.call('POST', '/api/v1/geozones', { ...bearer(key), body: geozone });
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('`write`');
    const vehicleId = [...world.directory.vehicles.keys()][0];
    const commands = await world.call('GET', `/api/v1/vehicles/${vehicleId}/commands`, bearer(key));
    expect(commands.body.detail).toContain('`commands`');
    expect((await world.call('GET', '/service/ovms/api/profiles', bearer(key))).body.detail).toContain('`video`');
    const { key: writing } = await make({ scopes: ['write'] });
    expect((await world.call('POST', '/api/v1/geozones', { ...bearer(writing), body: geozone })).status).toBe(201);
    expect((await world.call('GET', '/api/v1/vehicles', bearer(writing))).body.detail).toContain('`read`');
  });

  test('without the scope for commands, no rule sends any either', async () => {
    const body = {
      ...RULE,
      command: { type: 'position-request', parameters: {}, expiresInSeconds: 60 },
    };
    const { key } = await make({ scopes: ['write'] }, operator.jwt);
    const refused = await world.call('POST', '/api/v1/notification-rules', { ...bearer(key), body });
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('`commands`');
    const { key: commanding } = await make({ scopes: ['write', 'commands'] }, operator.jwt);
    const made = await world.call('POST', '/api/v1/notification-rules', { ...bearer(commanding), body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  });

  test('a key that is limited to groups sees their vehicles alone, whatever its account is', async () => {
    for (const as of [jwt, operator.jwt]) {
      const { key } = await make({ groupIds: [north], scopes: ['read', 'write'] }, as);
      expect(await namesSeen(key)).toEqual(['Van']);
      const groups = await world.call('GET', '/api/v1/vehicle-groups', bearer(key));
      expect(groups.body.items.map(({ id }: { id: string }) => id)).toEqual([north]);
      expect((await world.call('GET', '/api/v1/users', bearer(key))).body.items).toHaveLength(1);
      const van = [...world.directory.vehicles.values()].find(({ name }) => name === 'Van');
      const patch = { ...bearer(key), body: { name: 'Mine' } };
      expect((await world.call('PATCH', `/api/v1/vehicles/${van?.id}`, patch)).status).toBe(403);
      // What goes on with all rights of the account is not written with it.
      expect((await world.call('POST', '/api/v1/notification-rules', { ...bearer(key), body: RULE })).status).toBe(403);
    }
  });

  test('a limited key gets the report of its groups, and not that of the whole account', async () => {
    const ask = { kind: 'current-state', format: 'csv' };
    const whole = await world.call('POST', '/api/v1/report-jobs', { jwt, body: ask });
    expect(whole.status, JSON.stringify(whole.body)).toBe(202);
    const { key } = await make({ groupIds: [north], scopes: ['read', 'write'] });
    const own = await world.call('POST', '/api/v1/report-jobs', { ...bearer(key), body: ask });
    expect(own.status, JSON.stringify(own.body)).toBe(202);
    expect(await world.registry.jobs.get(own.body.id)).toMatchObject({ parameters: { limitedTo: [north] } });
    expect(await world.registry.jobs.get(whole.body.id)).toMatchObject({ parameters: { limitedTo: null } });
  });

  test('what its user loses, the key has lost as well, at once', async () => {
    const { key } = await make({ groupIds: [north, south] });
    expect(await namesSeen(key)).toEqual(['Truck', 'Van']);
    await world.registry.users.update(anna.id, null, { groupIds: [south] });
    expect(await namesSeen(key)).toEqual(['Truck']);
    await world.registry.users.update(anna.id, null, { apiAccess: false });
    expect((await world.call('GET', '/api/v1/vehicles', bearer(key))).status).toBe(403);
    await world.registry.users.update(anna.id, null, { apiAccess: true, blocked: true });
    expect((await world.call('GET', '/api/v1/vehicles', bearer(key))).status).toBe(401);
    await world.registry.users.update(anna.id, null, { blocked: false });
    expect(await namesSeen(key)).toEqual(['Truck']);
    await world.registry.users.delete(anna.id, null);
    expect((await world.call('GET', '/api/v1/vehicles', bearer(key))).status).toBe(401);
  });

  test('a revoked key opens nothing here at once, and elsewhere within five seconds', async () => {
    const { id, key } = await make();
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(200);
    expect((await world.call('DELETE', `/api/v1/api-keys/${id}`, { jwt })).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(401);
    const { id: second, key: unseen } = await make();
    expect((await world.call('GET', '/api/v1/me', bearer(unseen))).status).toBe(200);
    // As another instance does, of which this one learns nothing.
    await world.registry.apiKeys.delete(second, null);
    world.nowMs += 5000;
    expect((await world.call('GET', '/api/v1/me', bearer(unseen))).status).toBe(401);
  });

  test('a changed key allows what it says from then on', async () => {
    const { id, key } = await make();
    const patch = { scopes: ['write'], groupIds: [south], name: 'WMS' };
    const { status, body, headers } = await world.call('PATCH', `/api/v1/api-keys/${id}`, { jwt, body: patch });
    expect(status).toBe(200);
    expect(body).toMatchObject(patch);
    expect(headers.get('etag')).toBe('"2"');
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(403);
    const stale = { jwt, body: { name: 'Old' }, headers: { 'if-match': '"1"' } };
    expect((await world.call('PATCH', `/api/v1/api-keys/${id}`, stale)).status).toBe(412);
  });

  test('an expired key opens nothing, and is swept', async () => {
    const { id, key } = await make({ expiresAt: new Date(world.nowMs + HOUR_MS).toISOString() });
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(200);
    world.nowMs += HOUR_MS;
    jwt = await world.tokenOf(anna);
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(401);
    expect((await world.call('GET', '/api/v1/api-keys', { jwt })).body.items).toEqual([]);
    const { registry } = world;
    const quiet = () => {};
    await createHousekeeping({
      config: { auditRetentionDays: 365 },
      registry,
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet } as never,
      clock: clockAt(() => world.nowMs),
    }).tidy();
    world.nowMs -= HOUR_MS;
    expect(await registry.apiKeys.get(id)).toBeNull();
  });

  test('bad wishes are refused by what is wrong with them', async () => {
    const post = (body: object) => world.call('POST', '/api/v1/api-keys', { jwt, body });
    const wish = { name: 'ERP', scopes: ['read'] };
    for (const [pointer, body] of [
      ['/scopes', { ...wish, scopes: [] }],
      ['/scopes', { ...wish, scopes: ['read', 'read'] }],
      ['/scopes/0', { ...wish, scopes: ['all'] }],
      ['/groupIds', { ...wish, groupIds: [] }],
      ['/groupIds/0', { ...wish, groupIds: ['01961f3c-0000-7c3e-9b1d-2f6a0c4e8d57'] }],
      ['/expiresAt', { ...wish, expiresAt: new Date(world.nowMs).toISOString() }],
      ['/expiresAt', { ...wish, expiresAt: '2199-01-01T00:00:00.000Z' }],
    ] as const) {
      const answer = await post(body);
      expect(answer.status, pointer).toBe(400);
      expect(answer.body.errors[0].pointer).toBe(pointer);
    }
  });

  test('who has no right to use the API makes no key', async () => {
    await world.registry.users.update(anna.id, null, { apiAccess: false });
    const cookie = await world.call('POST', '/auth/login', { body: { login: 'anna', password: PASSWORD } });
    const headers = {
      cookie: (cookie.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '',
      origin: 'http://outrider.test',
      host: 'outrider.test',
    };
    const { status, body } = await world.call('POST', '/api/v1/api-keys', {
      headers,
      body: { name: 'ERP', scopes: ['read'] },
    });
    expect(status).toBe(403);
    expect(body.type).toBe('urn:outrider:problem:no-api-access');
  });

  test('a key makes no keys, and touches neither passwords nor sessions', async () => {
    const { id, key } = await make({ scopes: ['read', 'write', 'commands', 'video'] }, operator.jwt);
    const body = { name: 'Another', scopes: ['read'] };
    const user = operator.user.id;
    for (const [method, path, more] of [
      ['POST', '/api/v1/api-keys', { body }],
      ['GET', '/api/v1/api-keys', {}],
      ['GET', `/api/v1/api-keys/${id}`, {}],
      ['PATCH', `/api/v1/api-keys/${id}`, { body: { scopes: ['read'] } }],
      ['DELETE', `/api/v1/api-keys/${id}`, {}],
      ['PUT', '/api/v1/me/password', { body: { currentPassword: PASSWORD, password: 'another and unknown' } }],
      ['PUT', `/api/v1/users/${anna.id}/password`, { body: { password: 'another and unknown' } }],
      ['GET', `/api/v1/users/${user}/sessions`, {}],
      ['DELETE', `/api/v1/users/${user}/sessions`, {}],
      ['GET', '/api/v1/operator/sessions', {}],
      ['POST', '/auth/logout', {}],
    ] as const) {
      const answer = await world.call(method, path, { ...bearer(key), ...more });
      expect(answer.status, `${method} ${path}`).toBe(403);
    }
    expect((await world.call('POST', '/auth/refresh', bearer(key))).status).toBe(401);
  });

  test('operators see and revoke the keys of others, and change none', async () => {
    const { id, key } = await make();
    const list = await world.call('GET', `/api/v1/api-keys?userId=${anna.id}`, { jwt: operator.jwt });
    expect(list.body.items).toMatchObject([{ id, userId: anna.id }]);
    expect((await world.call('GET', '/api/v1/api-keys', { jwt: operator.jwt })).body.items).toEqual([]);
    const patch = { jwt: operator.jwt, body: { name: 'Mine' } };
    expect((await world.call('PATCH', `/api/v1/api-keys/${id}`, patch)).status).toBe(403);
    const ben = await world.member('ben');
    for (const path of [`/api/v1/api-keys/${id}`, `/api/v1/api-keys?userId=${anna.id}`])
      expect((await world.call('GET', path, { jwt: ben.jwt })).status).toBe(404);
    expect((await world.call('DELETE', `/api/v1/api-keys/${id}`, { jwt: ben.jwt })).status).toBe(404);
    expect((await world.call('DELETE', `/api/v1/api-keys/${id}`, { jwt: operator.jwt })).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(401);
  });

  test('a request that is repeated makes one key, and is not answered with its secret again', async () => {
    const ask = () =>
      world.call('POST', '/api/v1/api-keys', {
        jwt,
        body: { name: 'ERP', scopes: ['read'] },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, again] = [await ask(), await ask()];
    expect(again.status).toBe(201);
    expect(again.body).toEqual({ ...first.body, key: null });
    expect((await world.call('GET', '/api/v1/api-keys', { jwt })).body.items).toHaveLength(1);
  });

  test('the trail says who made, changed and revoked a key, and what was done with it', async () => {
    const { id, key } = await make({ scopes: ['read', 'write'] });
    await world.call('PATCH', `/api/v1/api-keys/${id}`, { jwt, body: { name: 'WMS' } });
    await world.call('PATCH', '/api/v1/me', { ...bearer(key), body: { name: 'Anna by a program' } });
    await world.call('DELETE', `/api/v1/api-keys/${id}`, { jwt });
    const { body } = await world.call('GET', '/api/v1/audit', { jwt: operator.jwt });
    const ofKey = body.items.filter(({ subject }: { subject: { kind: string } }) => subject.kind === 'api-key');
    expect(ofKey.map(({ action }: { action: string }) => action)).toEqual(['deleted', 'changed', 'created']);
    const done = body.items.find(
      ({ subject, action }: { subject: { id: string }; action: string }) =>
        subject.id === anna.id && action === 'changed',
    );
    expect(done).toMatchObject({ apiKeyId: id, sessionId: null, user: { login: 'anna' } });
    expect(JSON.stringify(body)).not.toContain(key.slice(-43));
  });

  test('the calls of a key have a limit of their own, and are not counted for its user', async () => {
    await world.close();
    world = await World.open(
      {
        limits: {
          failedLoginsPerMinute: 10,
          authorizedPerMinute: 5,
          apiKeyPerMinute: 2,
          unauthorizedPerMinute: 60,
          blockSeconds: 60,
        },
      },
      {},
    );
    ({ jwt } = await world.member('anna'));
    const { key } = await make();
    const { key: other } = await make();
    const first = await world.call('GET', '/api/v1/me', bearer(key));
    expect(first.headers.get('ratelimit-policy')).toBe('"api-key";q=2;w=60');
    expect(first.headers.get('ratelimit')).toContain('r=1');
    await world.call('GET', '/api/v1/me', bearer(key));
    const over = await world.call('GET', '/api/v1/me', bearer(key));
    expect(over.status).toBe(429);
    expect(over.headers.get('retry-after')).toBe('60');
    expect(over.body.detail).toContain('this API key');
    expect((await world.call('GET', '/api/v1/me', bearer(other))).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', { jwt })).headers.get('ratelimit')).toContain('r=2');
    world.nowMs += 60_000;
    expect((await world.call('GET', '/api/v1/me', bearer(key))).status).toBe(200);
  });
});
