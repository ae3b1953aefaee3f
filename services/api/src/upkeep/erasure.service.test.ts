import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type EventId, type FleetEvent, type TerminalId, type VehicleId } from '@outrider/domain';
import { sampleRuleFields, sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import type { Registry } from '@outrider/registry';
import { Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { openWarehouse, type Warehouse } from '@outrider/warehouse';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { World } from '../api.fixture.ts';
import { createErasureRunner } from './erasure.ts';

const DAY_MS = 86_400_000;
const EVER = { fromMs: 0, toMs: Date.UTC(2100, 0) };
let folder: string;
let warehouse: Warehouse;
let world: World;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'erasure-'));
  warehouse = await openWarehouse({ path: folder });
});
afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const runner = (more: { warehouse?: Pick<Warehouse, 'erase'>; registry?: Registry } = {}) => {
  const silent = () => {};
  return createErasureRunner({
    config: { archivePollMs: 20 },
    registry: world.registry,
    warehouse,
    hub: world.hub,
    videoFiles: world.reportFiles,
    reportFiles: world.reportFiles,
    serviceFiles: world.serviceFiles,
    logger: { debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
    metrics: new Metrics(),
    clock: clockAt(() => world.nowMs),
    ...more,
  });
};

async function positionsOf(vehicleId: VehicleId): Promise<number> {
  return (await warehouse.track({ vehicleId, ...EVER, limit: 100, withRejected: true })).positions.length;
}

/** A vehicle with positions, a status, events and notifications. */
async function livedVehicle(name: string): Promise<VehicleId> {
  const { id } = await world.registry.vehicles.create(
    sampleVehicleFields({ name, terminalId: `t-${name}` as TerminalId }),
  );
  const packet = {
    vehicleId: id,
    terminalId: `t-${name}` as TerminalId,
    protocol: 'osmand',
    receivedAtMs: world.nowMs,
  } as const;
  const positions = [blankPosition(world.nowMs - 60_000, 50, 10), blankPosition(world.nowMs - 30_000, 50, 10)];
  await warehouse.insertPositions([{ offset: 1, value: { ...packet, positions } }]);
  await world.hub.updateLatest([sampleStatus(id, blankPosition(world.nowMs - 30_000, 50, 10))]);
  return id;
}

test('nothing is left of a deleted vehicle once its grace time is over, and until then the operator sees it and can stop it', async () => {
  const { jwt } = await world.member('root', 'operator');
  const anna = await world.addUser('anna');
  const [gone, spared, other] = [await livedVehicle('gone'), await livedVehicle('spared'), await livedVehicle('other')];
  const rule = await world.registry.notificationRules.create(
    sampleRuleFields({ name: 'Rule', ownerId: anna.id }),
    null,
  );
  const event = { id: crypto.randomUUID() as EventId, vehicleId: gone, phase: 'begin' } as FleetEvent;
  const draft = { offset: 1, rule, event, vehicleName: 'gone', geofenceName: null };
  await world.registry.notifications.record({ consumer: 'test', partition: 0, next: 2, drafts: [draft] });

  for (const id of [gone, spared])
    expect((await world.call('DELETE', `/api/v1/vehicles/${id}`, { jwt })).status).toBe(204);
  const listed = await world.call('GET', '/api/v1/jobs?kind=erasure', { jwt });
  expect(listed.body.items).toMatchObject([
    { subjectId: spared, subject: 'vehicle', state: 'queued' },
    { subjectId: gone },
  ]);
  expect(Date.parse(listed.body.items[1].dueAt)).toBe(world.nowMs + 7 * DAY_MS);
  // Nobody else sees it, and nothing is erased yet.
  const { jwt: dealer } = await world.member('dealer', 'dealer');
  expect((await world.call('GET', '/api/v1/jobs?kind=erasure', { jwt: dealer })).body.items).toEqual([]);
  const path = `/api/v1/jobs/${listed.body.items[0].id}/cancel`;
  expect((await world.call('POST', path, { jwt: dealer })).status).toBe(404);
  expect(await runner().work()).toBe(0);
  expect(await positionsOf(gone)).toBe(2);

  expect((await world.call('POST', path, { jwt })).body).toMatchObject({ state: 'cancelled' });
  world.nowMs += 7 * DAY_MS;
  // One that runs can't be called off: half of it would be gone.
  const { jwt: late } = await world.member('late', 'operator');
  let refused = 0;
  const stopped = runner({
    warehouse: {
      async erase(question) {
        refused = (await world.call('POST', `/api/v1/jobs/${listed.body.items[1].id}/cancel`, { jwt: late })).status;
        return warehouse.erase(question);
      },
    },
  });
  expect(await stopped.work()).toBe(1);
  expect(refused).toBe(409);
  expect([await positionsOf(gone), await positionsOf(spared), await positionsOf(other)]).toEqual([0, 2, 2]);
  expect((await world.hub.latest([gone, other])).map(({ vehicleId }) => vehicleId)).toEqual([other]);
  const inbox = await world.registry.inboxes.list(anna.id, {}, { limit: 10, after: null });
  expect(inbox.items).toEqual([]);
  // Her token is a week old by now.
  const { jwt: later } = await world.member('later', 'operator');
  const done = await world.call('GET', `/api/v1/jobs/${listed.body.items[1].id}`, { jwt: later });
  expect(done.body).toMatchObject({ state: 'done', percent: 100, result: { archiveRows: 2, notifications: 1 } });
  const trail = (await world.registry.audit.list({ subjectId: gone }, { limit: 10, after: null })).items;
  expect(trail.map(({ action }) => action)).toEqual(['erased', 'deleted', 'created']);
  expect(JSON.stringify(trail)).not.toContain('t-gone');
});

test('an erasure that was cut off goes on to its end, and erases what is still there', async () => {
  const gone = await livedVehicle('cut');
  await world.registry.vehicles.delete(gone, null, 0);
  world.nowMs += 600_000;
  let calls = 0;
  const broken = runner({
    warehouse: {
      async erase(question) {
        calls++;
        if (calls > 1) throw new Error('the archive is away');
        return warehouse.erase(question);
      },
    },
  });
  await expect(broken.work()).rejects.toThrow('the archive is away');
  expect((await world.registry.jobs.list({ kind: 'erasure' }, { limit: 1, after: null })).items).toMatchObject([
    { state: 'queued' },
  ]);
  world.nowMs += 61_000;
  expect(await runner().work()).toBe(1);
  expect(await positionsOf(gone)).toBe(0);
  expect(await runner().work()).toBe(0);
});
