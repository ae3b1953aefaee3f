import type { User, VehicleId } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

interface Member {
  user: User;
  jwt: string;
}

let world: World;
let operator: Member;
let dealer: Member;
let anna: Member;
beforeEach(async () => {
  world = await World.open();
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
  anna = await world.member('anna', 'user', { dealerId: dealer.user.id });
});
afterEach(() => world.close());

const read = async ({ user }: Member, { jwt }: Member) =>
  (await world.call('GET', `/api/v1/users/${user.id}/retention`, { jwt })).body.retentionDays;
const set = ({ user }: Member, { jwt }: Member, retentionDays: unknown) =>
  world.call('PUT', `/api/v1/users/${user.id}/retention`, { jwt, body: { retentionDays } });

test('a dealer says how long its fleet keeps histories, and its users read it; the trail has who did', async () => {
  expect(await read(dealer, dealer)).toBeNull();
  expect((await set(dealer, dealer, 30)).status).toBe(204);
  expect([await read(dealer, dealer), await read(anna, anna), await read(dealer, operator)]).toEqual([30, 30, 30]);
  expect(await read(operator, operator)).toBeNull();
  const trail = await world.call('GET', '/api/v1/audit?limit=1', { jwt: dealer.jwt });
  expect(trail.body.items).toMatchObject([
    {
      ...{ action: 'changed', user: { login: 'dealer' }, subject: { kind: 'user', id: dealer.user.id } },
      ...{ before: { fleetRetentionDays: null }, after: { fleetRetentionDays: 30 } },
    },
  ]);
  expect((await set(dealer, operator, null)).status).toBe(204);
  expect(await read(anna, anna)).toBeNull();
});

test('operators share one fleet: the vehicles that no dealer has', async () => {
  const other = await world.member('second', 'operator');
  const staff = await world.member('staff', 'user');
  expect((await set(operator, operator, 90)).status).toBe(204);
  expect([await read(other, other), await read(staff, staff), await read(dealer, dealer)]).toEqual([90, 90, null]);
});

test('users say nothing of it, dealers nothing of other fleets, and values that make no sense are refused', async () => {
  expect((await set(anna, anna, 5)).status).toBe(403);
  expect((await set(anna, dealer, 5)).status).toBe(409);
  const stranger = await world.member('stranger', 'dealer');
  expect((await set(dealer, stranger, 5)).status).toBe(404);
  expect((await set(operator, dealer, 5)).status).toBe(404);
  for (const days of [0, 1.5, 40_000, '5', undefined])
    expect(await set(dealer, dealer, days)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/retentionDays' }] },
    });
  expect(await read(dealer, dealer)).toBeNull();
});

test('a key that is limited to groups does not reach it', async () => {
  const group = await world.registry.groups.create({ name: 'North', dealerId: dealer.user.id });
  const key = { name: 'ERP', scopes: ['read' as const, 'write' as const], groupIds: [group.id], expiresAtMs: null };
  const { text } = await world.registry.apiKeys.create(dealer.user.id, key);
  const path = `/api/v1/users/${dealer.user.id}/retention`;
  const headers = { authorization: `Bearer ${text}` };
  expect((await world.call('PUT', path, { headers, body: { retentionDays: 5 } })).status).toBe(403);
  expect(await read(dealer, dealer)).toBeNull();
});

test('what is dated before the limit of a vehicle is refused with the time of the limit', async () => {
  const fields = { dealerId: dealer.user.id, terminalId: null };
  const van = (await world.registry.vehicles.create(sampleVehicleFields({ ...fields, name: 'Van' }))).id;
  const free = (await world.registry.vehicles.create(sampleVehicleFields({ ...fields, name: 'Free' }))).id;
  const limitMs = world.nowMs - 30 * 86_400_000;
  await world.registry.historyLimits.request({ vehicleId: van, beforeMs: limitMs }, dealer.user.id, {
    ...{ action: 'history-erased', subject: { kind: 'vehicle', id: van, name: 'Van' }, after: null },
    ...{ dealerIds: [], ownerIds: [] },
  });
  const limit = new Date(limitMs).toISOString();
  const [before, at] = [new Date(limitMs - 1).toISOString(), limit];
  const post = (path: string, body: object) => world.call('POST', `/api/v1/${path}`, { jwt: dealer.jwt, body });
  const every = { distanceKm: 15_000 };
  const plan = await post('maintenance-plans', { name: 'Oil', vehicleId: van, every });
  expect(plan.status).toBe(201);
  const calls: [
    what: string,
    pointer: string,
    send: (vehicleId: VehicleId, time: string) => Promise<{ status: number; body: unknown }>,
  ][] = [
    [
      'correction',
      '/at',
      (id, time) => post(`vehicles/${id}/counter-corrections`, { counter: 'odometer', value: 5, at: time }),
    ],
    [
      'counter',
      '/startsAt',
      (id, time) =>
        post(`vehicles/${id}/counters`, { name: `Winch ${time} ${id}`, source: 'manual', unit: 'h', startsAt: time }),
    ],
    [
      'plan',
      '/startsAt',
      (id, time) => post('maintenance-plans', { name: `Plan ${time} ${id}`, vehicleId: id, every, startsAt: time }),
    ],
  ];
  for (const [what, pointer, send] of calls) {
    const refused = await send(van, before);
    expect(refused, what).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    expect(JSON.stringify(refused.body), what).toContain(`The history of the vehicle before ${limit} is erased`);
    expect((await send(van, at)).status, what).toBe(201);
    expect((await send(free, before)).status, what).toBe(201);
  }
  // A service that a plan begins anew from; what is only an entry of a service book may be older.
  const service = (body: object) => post(`vehicles/${van}/service-records`, { at: before, title: 'Oil', ...body });
  expect(await service({ planId: plan.body.id })).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/at' }] },
  });
  expect((await service({})).status).toBe(201);
  const moved = await world.call('PATCH', `/api/v1/maintenance-plans/${plan.body.id}`, {
    ...{ jwt: dealer.jwt, body: { startsAt: before } },
  });
  expect(moved).toMatchObject({ status: 400, body: { errors: [{ pointer: '/startsAt' }] } });
});

test('a row of an import that is dated before the limit is named, and nothing of the file is taken', async () => {
  const van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van', terminalId: null }))).id;
  const limitMs = world.nowMs - 30 * 86_400_000;
  await world.registry.historyLimits.request({ vehicleId: van, beforeMs: limitMs }, operator.user.id, {
    ...{ action: 'history-erased', subject: { kind: 'vehicle', id: van, name: 'Van' }, after: null },
    ...{ dealerIds: [], ownerIds: [] },
  });
  const send = (path: string, body: string) =>
    world.call('POST', `/api/v1/${path}`, { jwt: operator.jwt, headers: { 'content-type': 'text/csv' }, body });
  const [old, fine] = [new Date(limitMs - 1).toISOString(), new Date(limitMs).toISOString()];
  const readings = await send(
    'counter-corrections/import',
    `vehicleName,value,at\r\nVan,5,${fine}\r\nVan,6,${old}\r\n`,
  );
  expect(readings).toMatchObject({ status: 400, body: { errors: [{ row: 3, column: 'at' }] } });
  expect(await world.registry.counters.corrections(van)).toEqual([]);
  const plans = await send(
    'maintenance-plans/import?dryRun=true',
    `name,vehicleName,everyKm,startsAt\r\nOil,Van,5000,${old}\r\n`,
  );
  expect(plans).toMatchObject({ status: 400, body: { errors: [{ row: 2, column: 'startsAt' }] } });
});
