import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type FleetEvent, type TerminalId, type Vehicle, type VehicleId } from '@outrider/domain';
import { sampleRuleFields, sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { clockAt } from '@outrider/testing/clock';
import { openWarehouse, type Warehouse } from '@outrider/warehouse';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { World } from '../api.fixture.ts';
import { createHistoryErasure } from './history-erasure.ts';

const DAY_MS = 86_400_000;
const EVER = { fromMs: 0, toMs: Date.UTC(2100, 0) };
let folder: string;
let warehouse: Warehouse;
let world: World;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'history-erasure-'));
  warehouse = await openWarehouse({ path: folder });
});
afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  world = await World.open({}, { historyArchive: { countBefore: (cuts) => warehouse.countBefore(cuts) } });
});
afterEach(() => world.close());

function eraser(archive: Partial<Warehouse> = {}) {
  const silent = () => {};
  return createHistoryErasure({
    config: { archivePollMs: 20, leaseMs: 60_000 },
    registry: world.registry,
    warehouse: { ...warehouse, ...archive },
    hub: world.hub,
    videoFiles: world.reportFiles,
    reportFiles: world.reportFiles,
    logger: { debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
    clock: clockAt(() => world.nowMs),
  });
}

let made = 0;
/** Sends a position of each of these ages, in days. */
async function drive({ id, terminalId }: Vehicle, ages: readonly number[]): Promise<void> {
  const values = ages.map((age) => {
    const fixTimeMs = world.nowMs - age * DAY_MS;
    const packet = { vehicleId: id, terminalId: terminalId as TerminalId, protocol: 'osmand' as const };
    return { ...packet, receivedAtMs: fixTimeMs + 1000, positions: [blankPosition(fixTimeMs, 50, 10 + age / 1000)] };
  });
  await warehouse.insertPositions(values.map((value) => ({ offset: ++made, value })));
}
const newVehicle = (name: string): Promise<Vehicle> =>
  world.registry.vehicles.create(sampleVehicleFields({ name, terminalId: `t-${name}` as TerminalId }));
async function agesOf(vehicleId: VehicleId): Promise<number[]> {
  const { positions } = await warehouse.track({ vehicleId, ...EVER, limit: 100 });
  return positions.map(({ fixTimeMs }) => Math.round((world.nowMs - fixTimeMs) / DAY_MS)).sort((a, b) => a - b);
}
const before = (days: number) => new Date(world.nowMs - days * DAY_MS).toISOString();

test('what a vehicle did before a date is counted, and erased when that is asked for; what is newer stays', async () => {
  const { jwt, user } = await world.member('root', 'operator');
  const [van, other] = [await newVehicle('van'), await newVehicle('other')];
  for (const each of [van, other]) await drive(each, [1, 40, 100]);
  const rule = await world.registry.notificationRules.create(sampleRuleFields({ name: 'R', ownerId: user.id }), null);
  const event = { id: crypto.randomUUID(), vehicleId: van.id, phase: 'begin', startedAtMs: world.nowMs - 50 * DAY_MS };
  const draft = { offset: 1, rule, event: event as unknown as FleetEvent, vehicleName: 'van', geofenceName: null };
  await world.registry.notifications.record({ consumer: 'test', partition: 0, next: 2, drafts: [draft] });
  await world.hub.updateLatest([sampleStatus(van.id, blankPosition(world.nowMs - 40 * DAY_MS, 50, 10))]);

  const path = `/api/v1/vehicles/${van.id}/history/erase`;
  const body = { before: before(30) };
  expect((await world.call('POST', `${path}?dryRun=true`, { jwt, body })).body).toEqual({
    ...{ positions: 2, events: 0, videos: 0, notifications: 1 },
  });
  expect(await eraser().work()).toBe(false);
  const future = await world.call('POST', path, { jwt, body: { before: before(-1) } });
  expect(future).toMatchObject({ status: 400, body: { errors: [{ pointer: '/before' }] } });
  const { jwt: stranger } = await world.member('dealer', 'dealer');
  expect((await world.call('POST', path, { jwt: stranger, body })).status).toBe(404);

  const asked = await world.call('POST', path, { jwt, body });
  expect(asked).toMatchObject({ status: 202, body: { kind: 'erase-history', before: body.before, state: 'queued' } });
  const job = `/api/v1/jobs/${asked.body.id}`;
  expect((await world.call('POST', `${job}/cancel`, { jwt })).status).toBe(409);
  expect(await eraser().work()).toBe(true);
  expect((await world.call('GET', job, { jwt })).body).toMatchObject({
    state: 'done',
    result: { vehicles: 1, archiveRows: 2, notifications: 1 },
  });
  expect([await agesOf(van.id), await agesOf(other.id)]).toEqual([[1], [1, 40, 100]]);
  expect(await world.hub.latest([van.id])).toEqual([]);
  expect((await world.call('POST', `${path}?dryRun=true`, { jwt, body })).body).toMatchObject({ positions: 0 });
});

test('an erasure whose worker was killed is ended by another; what comes again goes with the next day', async () => {
  const { user } = await world.member('root', 'operator');
  const van = await newVehicle('killed');
  await drive(van, [1, 40, 100]);
  const limit = { vehicleId: van.id, beforeMs: world.nowMs - 30 * DAY_MS };
  await world.registry.historyLimits.request(limit, user.id, {
    ...{ action: 'history-erased', subject: { kind: 'vehicle', id: van.id, name: '' }, after: null },
    ...{ dealerIds: [], ownerIds: [] },
  });
  // The process dies with the deletion under way: its lease is left to lapse.
  const dying = eraser({
    async eraseBefore(cuts) {
      await warehouse.eraseBefore(cuts);
      return new Promise(() => {});
    },
  });
  void dying.work();
  await expect.poll(() => agesOf(van.id), { timeout: 60_000 }).toEqual([1]);
  expect(await eraser().work()).toBe(false);
  world.nowMs += 61_000;
  expect(await eraser().work()).toBe(true);
  const [job] = (await world.registry.jobs.list({ kind: 'erase-history' }, { limit: 1, after: null })).items;
  expect(job).toMatchObject({ state: 'done' });

  // As a replay of the log, late data or an import brings it.
  await drive(van, [2, 100]);
  world.nowMs += DAY_MS;
  await world.registry.historyLimits.planRetention();
  expect(await eraser().work()).toBe(true);
  expect(await agesOf(van.id)).toEqual([2, 3]);
});

test('a group keeps the history of its vehicles for so many days', async () => {
  const { jwt } = await world.member('root', 'operator');
  const [kept, old] = [await newVehicle('kept'), await newVehicle('old')];
  for (const each of [kept, old]) await drive(each, [1, 9, 11]);
  const body = { name: 'Pool cars', retentionDays: 10 };
  for (const retentionDays of [0, 1.5, 40_000])
    expect((await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { ...body, retentionDays } })).status).toBe(
      400,
    );
  const group = await world.call('POST', '/api/v1/vehicle-groups', { jwt, body });
  expect(group.body).toMatchObject(body);
  await world.registry.groups.changeVehicles(group.body.id, { add: [old.id], remove: [] });
  await world.registry.historyLimits.planRetention();
  // A day's job that fails half way goes on later.
  const failing = eraser({
    eraseBefore: async () => {
      throw new Error('the archive is away');
    },
  });
  await expect(failing.work()).rejects.toThrow('the archive is away');
  expect(await agesOf(old.id)).toEqual([1, 9, 11]);
  world.nowMs += 60_000;
  expect(await eraser().work()).toBe(true);
  expect([await agesOf(kept.id), await agesOf(old.id)]).toEqual([
    [1, 9, 11],
    [1, 9],
  ]);
  const listed = await world.call('GET', '/api/v1/jobs?kind=retention', { jwt });
  expect(listed.body.items).toMatchObject([{ state: 'done', result: { vehicles: 1, archiveRows: 1 } }]);
  expect(await world.registry.historyLimits.planRetention()).toBe(false);
});

test('a fleet keeps the history of its vehicles for so many days, and the group of one for fewer', async () => {
  const dealer = await world.member('fleet', 'dealer');
  const of = (name: string) =>
    world.registry.vehicles.create(
      sampleVehicleFields({ name, terminalId: `t-${name}` as TerminalId, dealerId: dealer.user.id }),
    );
  const [long, short, foreign] = [await of('long'), await of('short'), await newVehicle('foreign')];
  for (const each of [long, short, foreign]) await drive(each, [1, 9, 11, 31]);
  const group = await world.registry.groups.create({ name: 'Pool', dealerId: dealer.user.id, retentionDays: 10 });
  await world.registry.groups.setVehicle(group.id, short.id, true);
  const path = `/api/v1/users/${dealer.user.id}/retention`;
  expect((await world.call('PUT', path, { jwt: dealer.jwt, body: { retentionDays: 30 } })).status).toBe(204);
  expect(await world.registry.historyLimits.planRetention()).toBe(true);
  expect(await eraser().work()).toBe(true);
  expect([await agesOf(long.id), await agesOf(short.id), await agesOf(foreign.id)]).toEqual([
    [1, 9, 11],
    [1, 9],
    [1, 9, 11, 31],
  ]);
});

test('counters go on where the vehicle was silent since before the date', async () => {
  const { user } = await world.member('root', 'operator');
  const van = await newVehicle('silent');
  await drive(van, [40, 41]);
  const { counters, historyLimits } = world.registry;
  const first = { odometerM: 0, engineMs: 0, custom: {} };
  const oldest = world.nowMs - 41 * DAY_MS;
  const state = {
    ...{ throughMs: oldest, fix: null, suspects: null, ignition: null, odometerM: 0, engineMs: 0, ownM: 7, ownMs: 0 },
    ...{ odometer: null, engine: null, topM: 7, topMs: 0, firstM: 0, firstMs: 0, custom: {} },
  };
  await counters.save([
    {
      ...{ vehicleId: van.id, revision: 0, contactAtMs: 1, throughMs: oldest, state: JSON.stringify(state) },
      ...{ sums: { ...first, odometerM: 7 }, first, fromMs: 0, isRecount: false, days: [], marks: [] },
    },
  ]);
  await historyLimits.request({ vehicleId: van.id, beforeMs: world.nowMs }, user.id, {
    ...{ action: 'history-erased', subject: { kind: 'vehicle', id: van.id, name: '' }, after: null },
    ...{ dealerIds: [], ownerIds: [] },
  });
  expect(await eraser().work()).toBe(true);
  expect(await agesOf(van.id)).toEqual([]);
  const [kept] = await counters.kept([van.id]);
  expect(kept).toMatchObject({ revision: 3, throughMs: world.nowMs - 40 * DAY_MS });
  expect(kept?.sums.odometerM).toBeGreaterThanOrEqual(7);
});
