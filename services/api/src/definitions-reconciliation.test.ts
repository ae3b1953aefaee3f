import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DefinitionChange, UserId, VehicleId } from '@outrider/domain';
import { sampleGeofenceFields, sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { definitionsTopic, type Log, openSqliteLog } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reconcileDefinitions } from './definitions-reconciliation.ts';
import { createRelay } from './relay.ts';

const logger = createLogger('silent', 'json');

let folder: string;
let registry: Registry;
let log: Log;
let logs = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-reconciliation-'));
  registry = await openTestRegistry({ path: join(folder, 'registry.sqlite') });
  log = openLog();
});
afterEach(async () => {
  await log.close();
  await registry.close();
  rmSync(folder, { recursive: true });
});

const openLog = () => openSqliteLog({ path: join(folder, `log-${logs++}.sqlite`) });

/** One start of the relay, as a service starts it. */
async function startOnce(): Promise<void> {
  const relay = createRelay({ registry, log, logger, now: Date.now });
  await relay.start();
  await relay.stop();
}

async function published(): Promise<DefinitionChange[]> {
  const changes: DefinitionChange[] = [];
  for (const [partition, { end }] of await log.bounds(definitionsTopic))
    for await (const { records } of log.read(definitionsTopic, partition, 'earliest', end))
      changes.push(...records.map(({ value }) => value));
  return changes;
}

async function endOfTopic(): Promise<number> {
  return (await log.endOffsets(definitionsTopic)).get(0) ?? 0;
}

const inForce = async () =>
  new Map((await published()).filter(({ definition }) => definition !== null).map(({ id, version }) => [id, version]));
const inRegistry = async () => new Map((await registry.snapshot()).map(({ id, version }) => [id, version]));

async function addFleet(vehicles: number): Promise<{ owner: UserId; vehicleIds: VehicleId[] }> {
  const owner = (await registry.users.create(sampleUserFields({ login: 'owner' }), 'long enough a password')).id;
  const vehicleIds: VehicleId[] = [];
  for (let i = 0; i < vehicles; i++)
    vehicleIds.push((await registry.vehicles.create(sampleVehicleFields({ name: `van ${i}`, terminalId: null }))).id);
  await registry.geofences.create(sampleGeofenceFields({ ownerId: owner }));
  return { owner, vehicleIds };
}

test('after the log was lost, the next start brings every definition back', async () => {
  await addFleet(3);
  await startOnce();
  expect(await inForce()).toEqual(await inRegistry());
  await log.close();
  log = openLog();
  expect(await published()).toEqual([]);
  await startOnce();
  expect(await inForce()).toEqual(await inRegistry());
  expect((await inForce()).size).toBe(5);
});

test('a start with nothing to mend appends nothing', async () => {
  await addFleet(3);
  await startOnce();
  const end = await endOfTopic();
  await startOnce();
  expect(await endOfTopic()).toBe(end);
});

test('what is older in the topic is published again, and the deletion of what is gone', async () => {
  const { vehicleIds } = await addFleet(3);
  const [changed, deleted] = vehicleIds as [VehicleId, VehicleId, VehicleId];
  await startOnce();
  // As in a log that was restored from an older copy: it has neither the change nor the deletion, and the outbox is
  // empty.
  const before = await published();
  await registry.vehicles.update(changed, null, { name: 'another name' });
  await registry.vehicles.delete(deleted, null);
  await startOnce();
  await log.close();
  log = openLog();
  await log.append(definitionsTopic, before);

  expect(await reconcileDefinitions({ registry, log, now: Date.now }, false)).toEqual({
    inRegistry: 4,
    missing: 0,
    older: 1,
    earlierFormat: 0,
    gone: 1,
    newer: 0,
  });
  await startOnce();
  expect(await inForce()).toEqual(await inRegistry());
  expect((await published()).find(({ id }) => id === deleted)).toMatchObject({ version: 2, definition: null });
});

test('what this version can not read in the topic is published again in its place', async () => {
  const { vehicleIds } = await addFleet(2);
  await startOnce();
  const change = (await published()).find(({ id }) => id === vehicleIds[0]) as DefinitionChange;
  const foreign = { ...definitionsTopic, encode: () => Buffer.from('c301000000000000000000', 'hex') };
  await log.append(foreign, [change]);
  await startOnce();
  expect(await inForce()).toEqual(await inRegistry());
});

test('a registry that is older than the topic is reported, and nothing is put over what is newer', async () => {
  const { vehicleIds } = await addFleet(1);
  const [vehicleId] = vehicleIds as [VehicleId];
  await startOnce();
  const change = (await published()).find(({ id }) => id === vehicleId) as DefinitionChange;
  await log.append(definitionsTopic, [{ ...change, version: 9 }]);
  const end = await endOfTopic();
  expect(await reconcileDefinitions({ registry, log, now: Date.now }, true)).toMatchObject({ newer: 1, missing: 0 });
  expect(await endOfTopic()).toBe(end);
});
