import {
  blankPosition,
  deriveEventId,
  type FleetEvent,
  isoTime,
  type User,
  type VehicleActivity,
  type VehicleId,
} from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import type { OverlappingEventsQuestion } from '@outrider/warehouse';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

type Caller = { user: User; jwt: string };

let world: World;
let dealer: Caller;
let stranger: Caller;
let anna: Caller;
let van: VehicleId;
let groupId: string;
let events: FleetEvent[];

beforeEach(async () => {
  events = [];
  const reportArchive = {
    ...EMPTY_ARCHIVE,
    overlappingEvents: async ({ vehicleIds, kinds }: OverlappingEventsQuestion) => ({
      events: events.filter((event) => vehicleIds.includes(event.vehicleId) && (kinds?.includes(event.kind) ?? true)),
      next: null,
    }),
  };
  world = await World.open({}, { reportArchive });
  dealer = await world.member('dealer', 'dealer');
  stranger = await world.member('stranger', 'dealer');
  const group = await world.registry.groups.create({ name: 'North', dealerId: dealer.user.id });
  groupId = group.id;
  const more = { dealerId: dealer.user.id, groupIds: [group.id] };
  anna = await world.member('anna', 'user', more);
  van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van', terminalId: null, ...more }))).id;
});
afterEach(() => world.close());

const call = (method: string, path: string, { jwt }: Caller, body?: unknown) =>
  world.call(method, `/api/v1/${path}`, body === undefined ? { jwt } : { jwt, body });
const add = async (fields: object) =>
  (await call('POST', 'drivers', dealer, { name: 'Ivan', groupIds: [groupId], ...fields })).body;
const tripOf = (startedAtMs: number, driverCode: string) =>
  ({
    ...{ id: deriveEventId('trip', van, driverCode, startedAtMs), kind: 'trip', phase: 'end', vehicleId: van },
    ...{ startedAtMs, endedAtMs: startedAtMs + 60_000, fixTimeMs: startedAtMs + 60_000, fromFixTimeMs: startedAtMs },
    ...{ latitude: 52, longitude: 4, startLatitude: 52, startLongitude: 4, speedKmh: null, definitionVersion: 1 },
    ...{ origin: 'live', inferred: false, endReason: 'stopped', driverCode },
    ...{ distanceM: 9000, movingMs: 50_000, idlingMs: 0, maxKmh: 60, meanKmh: 50 },
  }) as unknown as FleetEvent;
const drivenBy = async (who: Caller, driverCode: string | null) => {
  const activity = { state: 'moving', sinceMs: 1, ignition: true, alarms: [], geofenceIds: [], speeding: [] };
  const named = { ...activity, ...(driverCode !== null && { driverCode }) } as VehicleActivity;
  world.nowMs += 1000;
  await world.hub.updateLatest([
    sampleStatus(van, blankPosition(world.nowMs, 52, 4), world.nowMs, { activity: named }),
  ]);
  return (await call('GET', `vehicles/${van}/state`, who)).body;
};

test('a licence that ends is shown as such, and a code is one driver’s', async () => {
  const inDays = (days: number) => new Date(world.nowMs + days * 86_400_000).toISOString().slice(0, 10);
  const licence = async (licenceExpiresOn: string | null) => (await add({ licenceExpiresOn })).licence;
  expect(await licence(null)).toBe('unknown');
  expect(await licence(inDays(-1))).toBe('expired');
  expect(await licence(inDays(0))).toBe('expires-soon');
  expect(await licence(inDays(60))).toBe('valid');
  expect((await add({ codes: ['01:ab'] })).codes).toEqual(['01AB']);
  const other = await call('POST', 'drivers', dealer, { name: 'Olga', codes: ['01AB'] });
  expect([other.status, other.body.errors[0].pointer]).toEqual([409, '/codes']);
});

test('the state names who drives: by hand before the code, and only to those who may see the driver', async () => {
  const ivan = await add({ codes: ['A1'] });
  const olga = await add({ name: 'Olga', groupIds: [] });
  expect(await drivenBy(anna, 'A1')).toMatchObject({ driver: { id: ivan.id, name: 'Ivan' }, driverCode: 'A1' });
  expect(await drivenBy(anna, 'B2')).toMatchObject({ driver: null, driverCode: 'B2' });
  const from = new Date(world.nowMs).toISOString();
  const body = { vehicleId: van, driverId: olga.id, from };
  expect((await call('POST', 'driver-assignments', dealer, body)).status).toBe(201);
  expect(await drivenBy(dealer, 'A1')).toMatchObject({ driver: { id: olga.id, name: 'Olga' } });
  expect(await drivenBy(anna, 'A1')).toMatchObject({ driver: null });
});

test('an assignment is its dealer’s to make, to end and to take back', async () => {
  const ivan = await add({});
  const body = { vehicleId: van, driverId: ivan.id, from: '2026-01-01T06:00:00Z' };
  expect((await call('POST', 'driver-assignments', stranger, body)).status).toBe(400);
  expect((await call('POST', 'driver-assignments', anna, body)).status).toBe(403);
  const { status, body: made } = await call('POST', 'driver-assignments', dealer, body);
  expect(status).toBe(201);
  expect((await call('POST', 'driver-assignments', dealer, body)).status).toBe(409);
  const path = `driver-assignments/${made.id}`;
  const to = '2026-01-01T14:00:00.000Z';
  for (const [who, refused] of [
    [stranger, 404],
    [anna, 403],
  ] as const) {
    expect((await call('PATCH', path, who, { to })).status).toBe(refused);
    expect((await call('DELETE', path, who)).status).toBe(refused);
  }
  expect((await call('PATCH', path, dealer, { to: '2026-01-01T05:00:00Z' })).body.errors[0].pointer).toBe('/to');
  expect((await call('PATCH', path, dealer, { to })).body).toMatchObject({ id: made.id, to });
  expect((await call('GET', `driver-assignments?vehicleId=${van}`, anna)).body.items).toHaveLength(1);
  expect((await call('GET', 'driver-assignments', stranger)).body.items).toEqual([]);
  expect((await call('DELETE', path, dealer)).status).toBe(204);
  expect((await call('GET', 'driver-assignments', dealer)).body.items).toEqual([]);
});

test('drivers are found by name, phone, licence and code, and by the state of the licence', async () => {
  await add({ name: 'Ivan', codes: ['01AB'], phone: '+49 151', licenceNumber: 'L-77', licenceExpiresOn: '2020-01-01' });
  await add({ name: 'Olga' });
  const found = async (query: string) =>
    (await call('GET', `drivers?${query}`, dealer)).body.items.map(({ name }: { name: string }) => name);
  for (const q of ['iVa', '151', 'l-7', '01:ab']) expect(await found(`q=${q}`), q).toEqual(['Ivan']);
  expect(await found('q=9999')).toEqual([]);
  expect(await found('licence=expired')).toEqual(['Ivan']);
  expect(await found('licence=unknown')).toEqual(['Olga']);
});

test('reports are about drivers that the caller may see, and refuse all others', async () => {
  const ivan = await add({ codes: ['A1'] });
  const olga = await add({ name: 'Olga', groupIds: [] });
  const startedAtMs = world.nowMs - 3_600_000;
  for (const [nth, driverCode] of ['A1', 'B2'].entries()) events.push(tripOf(startedAtMs + nth * 600_000, driverCode));
  const range = `from=${isoTime(startedAtMs - 1)}&to=${isoTime(world.nowMs)}`;
  const ask = (who: Caller, kind: string, ...ids: string[]) =>
    call('GET', `reports/${kind}?${range}${ids.map((id) => `&driverId=${id}`).join('')}`, who);
  for (const kind of ['trips', 'eco-driving', 'drivers', 'events']) {
    const { items } = (await ask(anna, kind, ivan.id)).body;
    expect(items.map((row: { driverName: string }) => row.driverName)).toEqual(['Ivan']);
    expect((await ask(anna, kind)).body.items).toHaveLength(2);
    // Of another dealer, of no group of hers, and one that never was: the same answer.
    for (const [who, id] of [
      [stranger, ivan.id],
      [anna, olga.id],
      [anna, van],
    ] as const)
      expect((await ask(who, kind, ...(who === anna ? [ivan.id, id] : [id]))).status).toBe(404);
  }
  expect((await ask(dealer, 'trips', olga.id)).body.items).toEqual([]);
  expect((await ask(anna, 'trips', 'Ivan')).status).toBe(400);
  expect((await ask(anna, 'mileage', ivan.id)).status).toBe(400);
});

test('jobs, schedules and templates name drivers of their caller alone', async () => {
  const ivan = await add({ codes: ['A1'] });
  const olga = await add({ name: 'Olga', groupIds: [] });
  const range = { from: isoTime(world.nowMs - 3_600_000), to: isoTime(world.nowMs) };
  const report = { kind: 'trips', format: 'csv' };
  const bad = await call('POST', 'report-jobs', anna, { ...report, ...range, driverIds: [ivan.id, olga.id] });
  expect([bad.status, bad.body.errors[0].pointer]).toEqual([400, '/driverIds/1']);
  const mileage = await call('POST', 'report-jobs', anna, {
    ...report,
    ...range,
    kind: 'mileage',
    driverIds: [ivan.id],
  });
  expect([mileage.status, mileage.body.errors[0].pointer]).toEqual([400, '/driverIds']);
  expect((await call('POST', 'report-jobs', anna, { ...report, ...range, driverIds: [ivan.id] })).status).toBe(202);
  const terms = { name: 'Ivan', timeZone: 'UTC', frequency: 'daily', hour: 6, covers: 'yesterday', emails: [] };
  const made = await call('POST', 'report-schedules', anna, { ...report, ...terms, driverIds: [ivan.id] });
  expect([made.status, made.body.driverIds]).toEqual([201, [ivan.id]]);
  const path = `report-schedules/${made.body.id}`;
  expect((await call('PATCH', path, anna, { driverIds: [olga.id] })).status).toBe(400);
  await call('PATCH', `drivers/${ivan.id}`, dealer, { groupIds: [] });
  expect((await call('GET', path, anna)).body.driverIds).toEqual([]);
});

describe('as CSV', () => {
  const load = (text: string, query = '', who = dealer) =>
    world.call('POST', `/api/v1/drivers/import${query}`, {
      jwt: who.jwt,
      headers: { 'content-type': 'text/csv' },
      body: text,
    });
  const exported = async () => (await call('GET', 'drivers/export', dealer)).body as string;

  test('rows add drivers, change those of an id or a code, and a dry run changes nothing', async () => {
    const ivan = await add({ codes: ['A1'], phone: '1' });
    const file =
      'id,name,codes,phone,licenceExpiresOn,groups\r\n' +
      `${ivan.id},Ivan Petrov,A1|B2,1,2027-05-31,North\r\n` +
      ",Olga,01:ab,'+49 151,,\r\n";
    const tried = await load(file, '?dryRun=true');
    expect(tried.body).toMatchObject({ dryRun: true, created: 1, updated: 1, unchanged: 0 });
    expect((await call('GET', 'drivers', dealer)).body.items).toHaveLength(1);
    expect((await load(file)).body).toMatchObject({ dryRun: false, created: 1, updated: 1 });
    const { items } = (await call('GET', 'drivers?sort=name', dealer)).body;
    expect(items).toMatchObject([
      { id: ivan.id, name: 'Ivan Petrov', codes: ['A1', 'B2'], licenceExpiresOn: '2027-05-31', groupIds: [groupId] },
      { name: 'Olga', codes: ['01AB'], phone: '+49 151', groupIds: [] },
    ]);
    // By a code, and what has no column stays.
    expect((await load('codes;name\r\nb2 | A1;Ivan P.\r\n')).body).toMatchObject({ created: 0, updated: 1 });
    expect((await call('GET', `drivers/${ivan.id}`, dealer)).body).toMatchObject({ name: 'Ivan P.', phone: '1' });
  });

  test('what is exported can be imported again, and changes nothing', async () => {
    await add({ codes: ['A1', 'B2'], phone: '+1', licenceNumber: '=1+1', licenceExpiresOn: '2027-01-01' });
    const text = await exported();
    expect(text).toContain("'=1+1");
    expect((await load(text)).body).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    expect(await exported()).toBe(text);
    const { body } = await call('GET', 'drivers/export', stranger);
    expect(body.trim().split('\r\n')).toHaveLength(1);
  });

  test('all that is wrong is said by row and column, and nothing is imported', async () => {
    await add({ codes: ['A1'] });
    const wrong = async (text: string) => {
      const { status, body } = await load(text);
      return [status, ...body.errors.map(({ row, column }: { row: number; column?: string }) => [row, column])];
    };
    expect(await wrong('name,age\r\n')).toEqual([400, [1, 'age']]);
    expect(await wrong('name,licenceExpiresOn\r\nOlga,31.05.2027\r\n,2027-05-31\r\n')).toEqual([
      400,
      [2, 'licenceExpiresOn'],
      [3, 'name'],
    ]);
    expect(await wrong('name,codes\r\nOlga,1.2E+15\r\nNina,000\r\n')).toEqual([400, [2, 'codes'], [3, 'codes']]);
    expect(await wrong('name,codes\r\nOlga,C3\r\nNina,c3\r\n')).toEqual([409, [3, 'codes']]);
    expect(await wrong(`id,name\r\n${van},Olga\r\n`)).toEqual([400, [2, 'id']]);
    expect(await wrong('name,groups\r\nOlga,Nowhere\r\n')).toEqual([400, [2, 'groups']]);
    expect((await load('name\r\nOlga\r\n', '', anna)).status).toBe(403);
    expect((await call('GET', 'drivers', dealer)).body.items).toHaveLength(1);
  });

  test('two drivers may swap their codes in one file', async () => {
    const ivan = await add({ codes: ['A1'] });
    const olga = await add({ name: 'Olga', codes: ['B2'] });
    const { status } = await load(`id,codes\r\n${ivan.id},B2\r\n${olga.id},A1\r\n`);
    expect(status).toBe(200);
    const codesOf = async (id: string) => (await call('GET', `drivers/${id}`, dealer)).body.codes;
    expect([await codesOf(ivan.id), await codesOf(olga.id)]).toEqual([['B2'], ['A1']]);
  });
});
