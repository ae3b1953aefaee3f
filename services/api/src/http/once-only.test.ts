import type { User } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from '../api.fixture.ts';
import { ROUTES } from '../routes.ts';
import { createHousekeeping } from '../upkeep/housekeeping.ts';
import { isRepeatable } from './once-only.ts';

const DAY_MS = 86_400_000;
let world: World;
let operator: { user: User; jwt: string };
beforeEach(async () => {
  world = await World.open();
  operator = await world.member('boss', 'operator');
});
afterEach(() => world.close());

const post = (path: string, key: string, body: object, jwt = operator.jwt) =>
  world.call('POST', `/api/v1/${path}`, { jwt, body, headers: { 'idempotency-key': key } });
const vehicles = async () => (await world.registry.vehicles.list({}, { limit: 1000, after: null })).items;

const BODIES: Record<string, object> = {
  vehicles: { name: 'Van 1', terminalId: '100' },
  'vehicle-groups': { name: 'Tankers' },
  users: { login: 'anna', name: 'Anna', password: PASSWORD },
  geozones: {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [13, 52] },
    properties: { name: 'Home', shape: 'circle', radiusM: 100 },
  },
};

describe('a request that makes something, sent again with its key', () => {
  test.each(Object.entries(BODIES))('is answered as it was: %s', async (path, body) => {
    const first = await post(path, 'key-1', body);
    expect(first.status).toBe(201);
    world.nowMs += DAY_MS - 1;
    const jwt = await world.tokenOf(operator.user);
    const again = await post(path, 'key-1', body, jwt);
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    for (const name of ['location', 'etag', 'content-type'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(first.headers.get('location')).toBe(`/api/v1/${path}/${first.body.id}`);
    const trail = await world.registry.audit.list({ subjectId: first.body.id }, { limit: 10, after: null });
    expect(trail.items.map(({ action }) => action)).toEqual(['created']);
  });

  test('is answered as it was even when what it made has changed or is gone', async () => {
    const first = await post('vehicles', 'k', { name: 'Van' });
    await world.call('DELETE', `/api/v1/vehicles/${first.body.id}`, { jwt: operator.jwt });
    expect((await post('vehicles', 'k', { name: 'Van' })).body).toEqual(first.body);
    expect(await vehicles()).toEqual([]);
  });

  test('makes one thing, when many are sent at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('vehicles', 'k', { name: 'Van' })));
    expect(await vehicles()).toHaveLength(1);
    for (const answer of answers) {
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual(answers[0]?.body);
    }
    const users = await Promise.all(Array.from({ length: 4 }, () => post('users', 'u', BODIES.users ?? {})));
    expect(users.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(users.map(({ body }) => body.id)).size).toBe(1);
  });

  test('is a new one after 24 hours, to the millisecond', async () => {
    await post('vehicles', 'k', { name: 'Van' });
    world.nowMs += DAY_MS;
    const jwt = await world.tokenOf(operator.user);
    expect((await post('vehicles', 'k', { name: 'Van' }, jwt)).status).toBe(201);
    expect(await vehicles()).toHaveLength(2);
  });

  test('may be sent again after it was refused: nothing was made', async () => {
    const taken = await post('vehicles', 'other', { name: 'Van 1', terminalId: '100' });
    expect((await post('vehicles', 'k', { name: 'Van 2', terminalId: '100' })).status).toBe(409);
    await world.call('DELETE', `/api/v1/vehicles/${taken.body.id}`, { jwt: operator.jwt });
    expect((await post('vehicles', 'k', { name: 'Van 2', terminalId: '100' })).status).toBe(201);
  });
});

describe('a key', () => {
  test('is good for one request: another body, path or query is refused', async () => {
    const { body: van } = await post('vehicles', 'k', { name: 'Van' });
    const recalculate = (to: string) =>
      post(`vehicles/${van.id}/recalculate?from=2026-01-01T00:00:00Z&to=${to}`, 'j', {});
    expect((await recalculate('2026-01-02T00:00:00Z')).status).toBe(202);
    expect((await recalculate('2026-01-03T00:00:00Z')).status).toBe(422);
    for (const [path, body] of [
      ['vehicles', { name: 'Lorry' }],
      ['vehicle-groups', { name: 'Van' }],
    ] as const)
      expect(await post(path, 'k', body)).toMatchObject({
        status: 422,
        body: { type: 'urn:outrider:problem:idempotency-mismatch' },
      });
    expect(await vehicles()).toHaveLength(1);
    // What is left out and what is said to be as it is anyway are the same.
    expect((await post('vehicles', 'k', { name: 'Van', plate: null })).status).toBe(201);
    expect(await vehicles()).toHaveLength(1);
  });

  test('of a request with a password does not reveal it, and a different password is noticed', async () => {
    await post('users', 'k', BODIES.users ?? {});
    expect((await post('users', 'k', { ...BODIES.users, password: 'another password' })).status).toBe(422);
    expect((await post('users', 'k', BODIES.users ?? {})).status).toBe(201);
    const request = { userId: operator.user.id, key: 'x', content: 'a password', holdsSecret: true };
    const [one, two] = [
      await world.registry.idempotency.claim(request),
      await world.registry.idempotency.claim(request),
    ];
    expect(one.fingerprint).toMatch(/^\$argon2id\$/);
    expect(one.fingerprint).not.toBe(two.fingerprint);
  });

  test('is its user’s alone', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const first = await post('vehicles', 'k', { name: 'Van' });
    const other = await post('vehicles', 'k', { name: 'Van' }, dealer.jwt);
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(first.body.id);
  });

  test('that can not be one is named', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)])
      expect((await post('vehicles', key, { name: 'Van' })).body.errors).toMatchObject([
        { parameter: 'Idempotency-Key' },
      ]);
    expect((await post('vehicles', `"${'x'.repeat(253)}"`, { name: 'Van' })).status).toBe(201);
  });

  test('whose answer was lost with a process is answered with an error, and nothing is made twice', async () => {
    const answered = world.registry.idempotency.answered;
    world.registry.idempotency.answered = async () => {
      throw new Error('killed');
    };
    expect((await post('vehicles', 'k', { name: 'Van' })).status).toBe(500);
    world.registry.idempotency.answered = answered;
    expect((await post('vehicles', 'k', { name: 'Van' })).status).toBe(409);
    expect(await vehicles()).toHaveLength(1);
  });

  test('goes with its account, and after a day', async () => {
    const dealer = await world.member('dealer', 'dealer');
    await post('vehicles', 'k', { name: 'Van' }, dealer.jwt);
    await post('vehicles', 'k', { name: 'Van' });
    await world.call('DELETE', `/api/v1/users/${dealer.user.id}`, { jwt: operator.jwt });
    const log = () => {};
    const housekeeping = createHousekeeping({
      config: { auditRetentionDays: 365 },
      registry: world.registry,
      logger: { debug: log, info: log, warn: log, error: log, fatal: log },
      clock: clockAt(() => world.nowMs),
    });
    await housekeeping.tidy();
    world.nowMs += DAY_MS;
    expect(await world.registry.idempotency.clean(10)).toBe(1);
    expect(await world.registry.idempotency.clean(10)).toBe(0);
  });
});

test('every call that makes something takes a key, but for one whose answer holds a secret and those that only try', () => {
  const repeatable = ROUTES.filter(isRepeatable).map(({ operationId }) => operationId);
  expect(repeatable).toEqual(
    expect.arrayContaining(['addUser', 'addVehicle', 'addVehicleGroup', 'addGeozone', 'recalculateVehicle']),
  );
  const without = ROUTES.filter((route) => route.operationId.startsWith('add') && !isRepeatable(route));
  expect(without.map(({ operationId }) => operationId).toSorted()).toEqual([
    'addChannelTest',
    'addMessageChannelTest',
    'addPasskey',
    'addShareLink',
  ]);
});

test('the token of a share link is in no stored answer', async () => {
  const { id } = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van' }));
  const body = { vehicleIds: [id], expiresAt: new Date(world.nowMs + DAY_MS).toISOString() };
  const [first, second] = [await post('share-links', 'k1', body), await post('share-links', 'k1', body)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body.path).not.toBe(first.body.path);
  const stored = { userId: operator.user.id, key: 'k1', content: 'any', holdsSecret: false };
  expect(await world.registry.idempotency.find(stored)).toBe('new');
});
