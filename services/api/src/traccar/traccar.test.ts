import {
  API_KEY_SCOPES,
  type ApiKeyScope,
  blankPosition,
  type GroupId,
  type TerminalId,
  type User,
  type Vehicle,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleVehicleFields } from '@outrider/domain/samples';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from '../api.fixture.ts';
import { traccarEndId, traccarId, traccarPositionId } from './ids.ts';

const T0 = Date.UTC(2026, 0, 15, 11);
const RANGE = 'from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00.000000Z';

let world: World;
let anna: { user: User; jwt: string };
let north: GroupId;
let van: Vehicle;
let truck: Vehicle;

beforeEach(async () => {
  world = await World.open();
  const { groups } = world.registry;
  north = (await groups.create({ name: 'North', dealerId: null })).id;
  const south = (await groups.create({ name: 'South', dealerId: null })).id;
  van = await world.registry.vehicles.create(
    sampleVehicleFields({ name: 'Van', terminalId: '356307042441013' as TerminalId, groupIds: [south, north] }),
  );
  truck = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Truck', groupIds: [south] }));
  anna = await world.member('anna@example.com', 'user', { groupIds: [north] });
});
afterEach(() => world.close());

const remake = (more: Parameters<World['remake']>[0]) => {
  world.api = world.remake({ metrics: new Metrics(), ...more });
};
const basic = (login: string, password = PASSWORD) => ({
  authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
});
async function call(path: string, headers: Record<string, string> = basic('anna@example.com'), more: RequestInit = {}) {
  const request = new Request(`http://outrider.test/api/${path}`, { headers, ...more });
  const response = await world.api.fetch(request, { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}
const form = (fields: Record<string, string>) => ({
  method: 'POST',
  body: new URLSearchParams(fields).toString(),
});
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const cookieOf = (headers: Headers) => ({ cookie: headers.get('set-cookie')?.split(';', 1)[0] ?? '' });

async function keyOf(user: User, scopes: readonly ApiKeyScope[] = API_KEY_SCOPES, groupIds: GroupId[] | null = null) {
  const jwt = await world.tokenOf(user);
  const body = { name: 'Home', scopes, groupIds };
  const { status, body: made } = await world.call('POST', '/api/v1/api-keys', { jwt, body });
  expect(status, JSON.stringify(made)).toBe(201);
  return made as { id: string; key: string };
}

const statusOf = (vehicleId: VehicleId, more: Partial<VehicleStatus> = {}): VehicleStatus => {
  const position = {
    ...blankPosition(T0, 59.9386, 30.3141),
    ...{ speedKmh: 92.6, courseDeg: 90, altitudeM: 12, satellites: 9, ignition: true, odometerM: 5000 },
    ...{ supplyV: 13.9, fuelL: 40, alarms: ['sos'] as const, attributes: { batteryPercent: 80, io21: 4 } },
  };
  return {
    ...{ vehicleId, asOfMs: T0 + 1000, position, receivedAtMs: T0 + 1000, record: position },
    ...{ recordReceivedAtMs: T0 + 1000, lastContactAtMs: T0 + 2000, protocol: 'teltonika' },
    activity: {
      ...{ state: 'moving', sinceMs: T0, ignition: true, alarms: [], geofenceIds: [], speeding: [] },
    },
    ...more,
  } as VehicleStatus;
};

describe('who calls', () => {
  test('a login and a password with each call begin one session, which ends with its password', async () => {
    const answers = await Promise.all([call('devices'), call('devices'), call('session')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await call('positions')).status).toBe(200);
    const sessions = await world.registry.sessions.listOf(anna.user.id);
    // That of the token that the fixture made, and this.
    expect(sessions).toHaveLength(2);
    await world.registry.users.setPassword(anna.user.id, 'another horse battery staple', null);
    world.tokens.revokeUser(anna.user.id);
    expect((await call('devices')).status).toBe(401);
    expect((await call('devices', basic('anna@example.com', 'another horse battery staple'))).status).toBe(200);
  });

  test('a blocked account is nobody at once', async () => {
    expect((await call('devices')).status).toBe(200);
    await world.registry.users.update(anna.user.id, null, { blocked: true });
    expect((await call('devices')).status).toBe(401);
  });

  test('wrong passwords count as failed logins of the address, whichever way they come', async () => {
    const wrong = { ...FORM };
    for (let nth = 0; nth < 5; nth++) {
      expect((await call('devices', basic('anna@example.com', `wrong ${nth}`))).status).toBe(401);
      expect((await call('session', wrong, form({ email: 'anna@example.com', password: `w${nth}` }))).status).toBe(401);
    }
    expect((await call('devices', basic('anna@example.com', 'wrong'))).status).toBe(429);
    expect((await call('session', wrong, form({ email: 'anna@example.com', password: PASSWORD }))).status).toBe(429);
  });

  test('the right to use the API is needed, by password, cookie and key', async () => {
    await world.addUser('eve', 'user', { apiAccess: false });
    expect((await call('devices', basic('eve'))).status).toBe(403);
    expect((await call('session', FORM, form({ email: 'eve', password: PASSWORD }))).status).toBe(403);
    const login = await call('session', FORM, form({ email: 'anna@example.com', password: PASSWORD }));
    await world.registry.users.update(anna.user.id, null, { apiAccess: false });
    expect((await call('devices', cookieOf(login.headers))).status).toBe(403);
  });

  test('a form begins a session in a cookie, for these paths alone, until it is ended', async () => {
    const login = await call('session', FORM, form({ email: 'anna@example.com', password: PASSWORD }));
    expect(login).toMatchObject({ status: 200, body: { email: 'anna@example.com', administrator: false } });
    expect(login.headers.get('set-cookie')).toMatch(
      /^JSESSIONID=\S+; Path=\/api; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    const cookie = cookieOf(login.headers);
    expect((await call('session', cookie)).body).toMatchObject({
      id: traccarId(anna.user.id),
      name: 'anna@example.com',
    });
    expect((await call('v1/me', cookie)).status).toBe(401);
    // A client that shows its password with each call has a session of that as well: it stays.
    const ended = await call('session', { ...cookie, ...basic('anna@example.com') }, { method: 'DELETE' });
    expect(ended.status).toBe(204);
    expect(ended.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await call('session', cookie)).status).toBe(401);
  });

  test('a page of another site logs nobody in or out', async () => {
    const other = { ...FORM, 'sec-fetch-site': 'cross-site' };
    const fields = form({ email: 'anna@example.com', password: PASSWORD });
    expect((await call('session', other, fields)).status).toBe(403);
    const { headers } = await call('session', FORM, fields);
    const out = await call('session', { ...cookieOf(headers), 'sec-fetch-site': 'cross-site' }, { method: 'DELETE' });
    expect(out.status).toBe(403);
    expect((await call('session', cookieOf(headers))).status).toBe(200);
  });

  test('keys and JWTs come as bearer tokens, and as the token of a session', async () => {
    const { id, key } = await keyOf(anna.user);
    for (const token of [key, anna.jwt]) {
      expect((await call('devices', { authorization: `Bearer ${token}` })).body).toHaveLength(1);
      const begun = await call(`session?token=${token}`, {});
      expect(begun.status).toBe(200);
      expect((await call('devices', cookieOf(begun.headers))).body).toHaveLength(1);
    }
    // Nobody began a session for them.
    const sessions = (await world.registry.sessions.listOf(anna.user.id)).length;
    await world.call('DELETE', `/api/v1/api-keys/${id}`, { jwt: anna.jwt });
    expect((await call('devices', { cookie: `JSESSIONID=${key}` })).status).toBe(401);
    expect(await world.registry.sessions.listOf(anna.user.id)).toHaveLength(sessions);
  });

  test('a key needs the scope read, and shows its groups alone', async () => {
    const { user } = await world.member('boss', 'operator');
    const writer = await keyOf(user, ['write']);
    expect((await call('devices', { authorization: `Bearer ${writer.key}` })).status).toBe(403);
    const limited = await keyOf(user, ['read'], [north]);
    const { body } = await call('devices', { authorization: `Bearer ${limited.key}` });
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['Van']);
  });

  test.each([
    {},
    { authorization: 'Basic !!!' },
    { authorization: 'Basic bm9jb2xvbg==' },
    { authorization: 'Digest x' },
    { cookie: 'JSESSIONID=' },
    { cookie: 'JSESSIONID=a b' },
    { cookie: 'JSESSIONID=x;y' },
  ])('%j is nobody', async (headers) => {
    expect((await call('devices', headers as Record<string, string>)).status).toBe(401);
  });
});

describe('what is shown', () => {
  test('devices are the vehicles that the caller may see, with the groups that the caller may see', async () => {
    await world.hub.updateLatest([statusOf(van.id), statusOf(truck.id)]);
    const { body } = await call('devices');
    expect(body).toEqual([
      expect.objectContaining({
        ...{
          id: traccarId(van.id),
          name: 'Van',
          uniqueId: van.terminalId,
          status: 'online',
          groupId: traccarId(north),
        },
        ...{ lastUpdate: new Date(T0 + 2000).toISOString(), positionId: traccarPositionId(van.id, T0) },
      }),
    ]);
    const names = (await call('groups')).body.map(({ name }: { name: string }) => name);
    expect(names).toContain('North');
    expect(names).not.toContain('South');
    expect((await call(`devices/${traccarId(van.id)}`)).body).toEqual(body[0]);
    expect((await call(`devices?id=${traccarId(van.id)}`)).body).toEqual(body);
    expect((await call(`devices?uniqueId=${van.terminalId}`)).body).toEqual(body);
    expect((await call('devices?uniqueId=none')).body).toEqual([]);
    for (const path of ['devices/', 'devices?id=', 'positions?deviceId=', `reports/trips?${RANGE}&deviceId=`])
      expect((await call(path + traccarId(truck.id))).status).toBe(404);
  });

  test('positions are in knots and metres, with the geofences that the caller may know', async () => {
    const geofence = (name: string, ownerId: User['id']) =>
      world.registry.geofences.create({ ...sampleGeofenceFields({ name }), ownerId });
    const { user: eve } = await world.member('eve');
    const [own, foreign] = await Promise.all([geofence('Own', anna.user.id), geofence('Foreign', eve.id)]);
    const status = statusOf(van.id);
    await world.hub.updateLatest([
      { ...status, activity: { ...status.activity, geofenceIds: [foreign.id, own.id] } } as VehicleStatus,
      statusOf(truck.id),
    ]);
    const { body } = await call('positions');
    expect(body).toEqual([
      {
        ...{ id: traccarPositionId(van.id, T0), deviceId: traccarId(van.id), protocol: 'teltonika' },
        ...{ serverTime: new Date(T0 + 1000).toISOString(), deviceTime: new Date(T0).toISOString() },
        ...{ fixTime: new Date(T0).toISOString(), outdated: false, valid: true, latitude: 59.9386, longitude: 30.3141 },
        ...{ altitude: 12, speed: 50, course: 90, address: null, accuracy: 0, network: null },
        geofenceIds: [traccarId(own.id)],
        attributes: {
          ...{ batteryPercent: 80, io21: 4, sat: 9, ignition: true, odometer: 5000, power: 13.9, fuel: 40 },
          ...{ alarm: 'sos', batteryLevel: 80, motion: true },
        },
      },
    ]);
    expect((await call(`positions?id=${body[0].id}`)).body).toEqual(body);
    expect((await call('geofences')).body).toMatchObject([{ id: traccarId(own.id), name: 'Own' }]);
  });

  test('accounts are those that the caller may see', async () => {
    expect((await call('users')).body).toMatchObject([{ login: 'anna@example.com', readonly: true }]);
    const { jwt } = await world.member('boss', 'operator');
    expect((await call('users', { authorization: `Bearer ${jwt}` })).body).toHaveLength(2);
  });

  test('the server is shown to anybody', async () => {
    expect((await call('server', {})).body).toMatchObject({ readonly: true, registration: false });
  });

  test('nothing is written, and nothing else is served', async () => {
    for (const [method, path] of [
      ['POST', 'devices'],
      ['PUT', `devices/${traccarId(van.id)}`],
      ['DELETE', 'geofences/1'],
      ['PUT', 'session'],
      ['POST', 'reports/route'],
    ] as const) {
      const { status, body, headers } = await call(path, basic('anna@example.com'), { method });
      expect([status, headers.get('allow')], path).toEqual([405, 'GET']);
      expect(body.detail).toMatch(/read-only/);
    }
    expect((await call('events/1')).status).toBe(404);
    expect((await call('permissions')).status).toBe(404);
    expect((await call('devices?limit=1')).body.errors).toMatchObject([{ parameter: 'limit' }]);
  });

  test('switched off, nothing is served', async () => {
    remake({ config: { ...world.config, traccarApi: false } });
    expect((await call('server', {})).status).toBe(404);
    expect((await call('devices')).status).toBe(404);
    expect(world.api.upgrade({ url: '/api/socket' } as never, null as never, Buffer.alloc(0))).toBe(false);
  });
});

describe('reports', () => {
  const common = { phase: 'end', latitude: 59.95, longitude: 30.35, startLatitude: 59.94, startLongitude: 30.31 };
  const event = (id: string, kind: string, fromMs: number, toMs: number | null, more: object = {}) => ({
    ...common,
    ...{ id: `01961f3c-0000-7000-8000-${id.padStart(12, '0')}`, kind, vehicleId: van.id, startedAtMs: fromMs },
    ...{ endedAtMs: toMs, phase: toMs === null ? 'begin' : 'end', speedKmh: null, fromFixTimeMs: fromMs },
    ...{ fixTimeMs: toMs ?? fromMs, definitionVersion: 1, origin: 'live', inferred: false, endReason: null },
    ...more,
  });
  const asked: { kinds: readonly string[]; vehicleIds: readonly string[] }[] = [];
  const withEvents = (events: readonly object[]) => {
    asked.length = 0;
    remake({
      reportArchive: {
        ...EMPTY_ARCHIVE,
        overlappingEvents: async (question: { kinds: readonly string[]; vehicleIds: readonly string[] }) => {
          asked.push(question);
          const wanted = events.filter((each) => question.kinds.includes((each as { kind: string }).kind));
          return { events: wanted, next: null };
        },
      } as never,
    });
  };

  test('trips and stops are in knots, metres and milliseconds', async () => {
    withEvents([
      event('1', 'trip', T0, T0 + 600_000, {
        ...{ distanceM: 9000, movingMs: 540_000, idlingMs: 0, maxKmh: 92.6, meanKmh: 46.3, endReason: 'stopped' },
      }),
      event('2', 'parking', T0 + 600_000, T0 + 1_200_000, { idlingMs: 30_000 }),
    ]);
    const { body } = await call(`reports/trips?${RANGE}&deviceId=${traccarId(van.id)}`);
    expect(body).toMatchObject([
      {
        ...{ deviceId: traccarId(van.id), deviceName: 'Van', distance: 9000, duration: 600_000, maxSpeed: 50 },
        ...{ averageSpeed: 25, startLat: 59.94, endLon: 30.35, startTime: new Date(T0).toISOString() },
      },
    ]);
    expect((await call(`reports/stops?${RANGE}`)).body).toMatchObject([
      { deviceId: traccarId(van.id), duration: 600_000, engineHours: 30_000, latitude: 59.95 },
    ]);
    // Nothing but what the caller may see was asked for.
    expect(new Set(asked.flatMap(({ vehicleIds }) => vehicleIds))).toEqual(new Set([van.id]));
  });

  test('an event that lasts is two, each in its time, of the types that were asked for', async () => {
    const midnight = Date.UTC(2026, 0, 16);
    withEvents([
      event('1', 'ignition', T0, T0 + 600_000),
      event('2', 'offline', T0, midnight + 1),
      event('3', 'alarm', T0, null, { alarm: 'sos' }),
      event('4', 'sensor-threshold', T0, null),
    ]);
    const id = (nth: string) => `01961f3c-0000-7000-8000-${nth.padStart(12, '0')}`;
    const { body } = await call(`reports/events?${RANGE}`);
    expect(body.map(({ id: nth, type }: { id: number; type: string }) => [nth, type])).toEqual([
      [traccarId(id('1')), 'ignitionOn'],
      [traccarEndId(id('1')), 'ignitionOff'],
      [traccarId(id('2')), 'deviceOffline'],
      [traccarId(id('3')), 'alarm'],
    ]);
    expect(body.at(-1)).toMatchObject({ deviceId: traccarId(van.id), attributes: { alarm: 'sos' } });
    const off = await call(`reports/events?${RANGE}&type=ignitionOff&type=deviceOnline`);
    expect(off.body.map(({ type }: { type: string }) => type)).toEqual(['ignitionOff']);
    expect((await call(`reports/events?${RANGE}&type=nonsense`)).status).toBe(400);
  });

  test('a route is the track, a position with from and to as well', async () => {
    const positions = [0, 1, 2].map((nth) => ({
      ...blankPosition(T0 + nth * 60_000, 59.9 + nth / 1000, 30.3),
      ...{ vehicleId: van.id, speedKmh: 18.52, receivedAtMs: T0, terminalId: '1', protocol: 'osmand', rejection: null },
    }));
    remake({
      reportArchive: { ...EMPTY_ARCHIVE, positions: async () => ({ positions, next: null }) } as never,
    });
    const { body } = await call(`reports/route?${RANGE}`);
    expect(body).toHaveLength(3);
    expect(body[1]).toMatchObject({
      ...{ deviceId: traccarId(van.id), speed: 10, fixTime: new Date(T0 + 60_000).toISOString() },
    });
    expect(body[1].attributes).toEqual({ motion: true });
    expect((await call(`positions?${RANGE}&deviceId=${traccarId(van.id)}`)).body).toEqual(body);
  });

  test('a summary is of the whole range, or of each day', async () => {
    remake({ reportArchive: EMPTY_ARCHIVE });
    const { status, body } = await call(`reports/summary?${RANGE}`);
    expect([status, body]).toMatchObject([200, [{ deviceName: 'Van', distance: 0, engineHours: 0 }]]);
    expect((await call('reports/summary?from=2026-01-14T12:00:00Z&to=2026-01-15T06:00:00Z&daily=true')).body).toEqual([
      expect.objectContaining({ startTime: '2026-01-14T12:00:00.000Z', endTime: '2026-01-15T00:00:00.000Z' }),
      expect.objectContaining({ startTime: '2026-01-15T00:00:00.000Z', endTime: '2026-01-15T06:00:00.000Z' }),
    ]);
  });

  test.each(['reports/trips', `reports/trips?${RANGE}&from=2026-01-15T00:00:00Z`, 'reports/route?from=1&to=2'])(
    '%s is refused',
    async (path) => {
      expect((await call(path)).status).toBe(400);
    },
  );
});
