import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GeofenceId, SYSTEM_CLOCK, type UserId, type VehicleId } from '@outrider/domain';
import { sampleGeofenceFields, sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { type Log, openSqliteLog } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import { changePastRegistry, openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRelay } from '../http/relay.ts';
import { createRegistryCheck, type RegistryCheck } from './registry-check.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const logger = createLogger('silent', 'json');

let folder: string;
let registry: Registry;
let log: Log;
let said: string[];
let check: RegistryCheck | null;
let metrics: Metrics;
let owner: UserId;
let vehicle: VehicleId;
let geofence: GeofenceId;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-registry-check-'));
  registry = await openTestRegistry({ path: join(folder, 'registry.sqlite') });
  log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  [said, check, metrics] = [[], null, new Metrics()];
  const group = (await registry.groups.create({ name: 'Vans', dealerId: null, externalId: null, customAttributes: {} }))
    .id;
  owner = (await registry.users.create(sampleUserFields({ login: 'owner' }), 'long enough a password')).id;
  vehicle = (await registry.vehicles.create(sampleVehicleFields({ name: 'Van', groupIds: [group] }))).id;
  geofence = (await registry.geofences.create(sampleGeofenceFields({ ownerId: owner, name: 'Yard' }))).id;
});
afterEach(async () => {
  await check?.stop();
  await log.close();
  await registry.close();
  rmSync(folder, { recursive: true });
});

/** What was committed is in the topic, as the relay leaves it. */
async function publish(): Promise<void> {
  const relay = createRelay({ registry, log, logger, metrics: new Metrics(), clock: SYSTEM_CLOCK });
  await relay.start();
  await relay.stop();
}

async function start(): Promise<RegistryCheck> {
  const note = (_: unknown, message?: string) => said.push(message ?? String(_));
  check = createRegistryCheck({
    ...{ registry, log, metrics, clock: SYSTEM_CLOCK, checkEveryMs: 250, lookEveryMs: 10 },
    logger: { ...logger, error: note, info: note, warn: note } as never,
  });
  await check.start();
  return check;
}

const damage = (sql: string, ...values: string[]) =>
  changePastRegistry(join(folder, 'registry.sqlite'), sql, ...values);
const isSaid = (sentence: string) => vi.waitFor(() => expect(said).toContain(sentence), PATIENCE);
const damagedRows = async () => /outrider_registry_damaged_rows (\d+)/.exec(await metrics.metrics())?.[1];

test.each([
  ["update geofences set name = 'Yarf'"],
  ["update vehicles set name = 'Vam', version = version"],
  ["update users set role = 'dealer' where login = 'owner'"],
  ["update vehicle_groups set name = 'Vams'"],
])('what topic definitions has is put back, without anybody asking: %s', async (sql) => {
  await publish();
  const before = await registry.snapshot();
  const { check: ready } = await start();
  damage(sql);
  await isSaid('restored the damaged row of the registry from topic definitions');
  const unaged = (changes: typeof before) => changes.map((change) => ({ ...change, changedAtMs: 0 }));
  expect(unaged(await registry.snapshot())).toEqual(unaged(before));
  expect(said).toContain('a row of the registry is damaged');
  expect(await ready()).toEqual({ warnings: [] });
  expect(await damagedRows()).toBe('0');
  expect(await registry.rowSums?.check()).toEqual([]);
});

test('a row that was read and is damaged is put back, whatever finds it first', async () => {
  await publish();
  damage("update geofences set name = 'Yarf'");
  await expect(registry.geofences.get(geofence)).rejects.toThrow('damaged');
  await start();
  await vi.waitFor(async () => expect((await registry.geofences.get(geofence))?.name).toBe('Yard'), PATIENCE);
});

test('a change that is not published yet is not replaced by what the topic has', async () => {
  await publish();
  await registry.vehicles.update(vehicle, null, { name: 'Lorry' });
  damage("update vehicles set name = 'Lorrz'");
  await start();
  await isSaid('a row of the registry is damaged');
  await publish();
  await vi.waitFor(async () => expect((await registry.vehicles.get(vehicle))?.name).toBe('Lorry'), PATIENCE);
});

test('a row that nothing else has is said, counted and warned of, until it is accepted', async () => {
  await publish();
  const { check: ready } = await start();
  damage('update credentials set changed_at_ms = changed_at_ms + 1');
  await isSaid('cannot restore the damaged row of the registry; requests that need it fail');
  expect(await ready()).toMatchObject({ warnings: [expect.stringContaining('RegistryRowsDamaged')] });
  expect(await damagedRows()).toBe('1');
  const once = said.length;
  await vi.waitFor(() => registry.rowSums?.check(), PATIENCE);
  expect(said).toHaveLength(once);
  registry.rowSums?.accept();
  expect(await ready()).toEqual({ warnings: [] });
});

test('a registry that is whole is not spoken of', async () => {
  await publish();
  const { check: ready } = await start();
  await registry.rowSums?.check();
  expect(await ready()).toEqual({ warnings: [] });
  expect(said).toEqual([]);
});
