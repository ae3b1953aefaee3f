import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Definition,
  type DefinitionChange,
  Directory,
  SYSTEM_CLOCK,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import {
  sampleGeofenceFields,
  sampleRuleFields,
  sampleUserFields,
  sampleVehicleFields,
} from '@outrider/domain/samples';
import { definitionsTopic, type Log, openSqliteLog } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics, NotReadyError, StartError } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseLostRegistry } from '../first-start.ts';
import { createRelay } from '../http/relay.ts';
import { reconcileDefinitions } from './definitions-reconciliation.ts';
import { rebuildRegistry } from './registry-rebuild.ts';

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
  await notReady();
}

/** Starts the relay once. @returns why it is not ready; null where it is */
async function notReady(said: unknown[] = [], metrics = new Metrics()): Promise<Error | null> {
  const error = (fields: unknown, message: string) => said.push({ ...(fields as object), message });
  const relay = createRelay({ registry, log, logger: { ...logger, error } as never, metrics, clock: SYSTEM_CLOCK });
  await relay.start();
  const reason = await relay.check().then(
    () => null,
    (failure: Error) => failure,
  );
  await relay.stop();
  return reason;
}

/** The registry as it was at a moment, in place of the present one. */
async function putBack(copy: string): Promise<void> {
  await registry.close();
  for (const end of ['-wal', '-shm']) rmSync(join(folder, `registry.sqlite${end}`), { force: true });
  copyFileSync(copy, join(folder, 'registry.sqlite'));
  registry = await openTestRegistry({ path: join(folder, 'registry.sqlite') });
}

/** Its file, which has everything once it is closed. */
async function copyOfRegistry(): Promise<string> {
  const path = join(folder, 'registry.sqlite');
  await registry.close();
  copyFileSync(path, join(folder, 'copy.sqlite'));
  registry = await openTestRegistry({ path });
  return join(folder, 'copy.sqlite');
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

test('what is older in the topic is published again, and the deletion that the registry knows of', async () => {
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

  expect(await reconcileDefinitions({ registry, log, now: Date.now }, 'none')).toEqual({
    inRegistry: 4,
    missing: 0,
    older: 1,
    earlierFormat: 0,
    undeleted: 1,
    gone: 0,
    newer: 0,
    examples: [],
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

test('what the registry has lost stays in the topic, and the service is not ready', async () => {
  const { vehicleIds } = await addFleet(2);
  const [vehicleId] = vehicleIds as [VehicleId];
  const copy = await copyOfRegistry();
  await registry.vehicles.update(vehicleId, null, { name: 'another name' });
  const added = await registry.vehicles.create(sampleVehicleFields({ name: 'new', terminalId: null }));
  expect(await notReady()).toBeNull();
  const end = await endOfTopic();

  await putBack(copy);
  const said: unknown[] = [];
  const metrics = new Metrics();
  const reason = await notReady(said, metrics);
  expect(reason).toBeInstanceOf(NotReadyError);
  expect((reason as NotReadyError).warnings[0]).toContain('the registry lacks the newest state of 2 definitions');
  expect(await endOfTopic()).toBe(end);
  expect(said).toEqual([
    {
      gone: 1,
      newer: 1,
      examples: [
        { kind: 'vehicle', id: vehicleId },
        { kind: 'vehicle', id: added.id },
      ],
      message: expect.stringContaining('outrider definitions republish'),
    },
  ]);
  expect(await metrics.metrics()).toContain('outrider_definitions_lost 2');
});

test('a change that is made after the loss does not hide it, and does not take the place of the lost one', async () => {
  const { vehicleIds } = await addFleet(1);
  const [vehicleId] = vehicleIds as [VehicleId];
  await startOnce();
  const copy = await copyOfRegistry();
  await registry.vehicles.update(vehicleId, null, { name: 'lost' });
  await startOnce();
  const end = await endOfTopic();
  await putBack(copy);
  await registry.vehicles.update(vehicleId, null, { name: 'made later' });
  for (const _ of [1, 2]) expect(await notReady()).toBeInstanceOf(NotReadyError);
  await registry.vehicles.update(vehicleId, null, { name: 'made last' });
  for (const _ of [1, 2]) expect(await notReady()).toBeInstanceOf(NotReadyError);
  expect(await endOfTopic()).toBe(end);
  await reconcileDefinitions({ registry, log, now: Date.now }, 'accept');
  expect(await notReady()).toBeNull();
  expect((await published()).findLast(({ id }) => id === vehicleId)).toMatchObject({
    version: 4,
    definition: { name: 'made last' },
  });
});

test('a registry that is accepted as it is deletes what it lacks, and its older versions come into force', async () => {
  const { vehicleIds } = await addFleet(2);
  const [vehicleId, deleted] = vehicleIds as [VehicleId, VehicleId];
  const copy = await copyOfRegistry();
  await registry.vehicles.update(vehicleId, null, { name: 'another name' });
  await registry.vehicles.delete(deleted, null);
  const added = await registry.vehicles.create(sampleVehicleFields({ name: 'new', terminalId: null }));
  await startOnce();
  await putBack(copy);

  const accepted = await reconcileDefinitions({ registry, log, now: Date.now }, 'accept');
  expect(accepted).toMatchObject({ gone: 1, newer: 2 });
  expect(await notReady()).toBeNull();
  const directory = new Directory();
  for (const change of await published()) directory.apply(change);
  expect(directory.vehicles.get(added.id)).toBeUndefined();
  expect([...directory.all()].sort(byId)).toEqual(
    (await registry.snapshot()).map(({ definition }) => definition as Definition).sort(byId),
  );
  expect(directory.vehicles.get(vehicleId)).toMatchObject({ version: 3, name: 'van 0' });
});

test('a registry that is built anew from the topic has what it lost, and what was made after the loss', async () => {
  const { owner, vehicleIds } = await addFleet(3);
  const [renamed, deleted, contested] = vehicleIds as [VehicleId, VehicleId, VehicleId];
  const group = await registry.groups.create({ name: 'Closed', dealerId: null });
  await registry.groups.setVehicle(group.id, renamed, true);
  await startOnce();
  const copy = await copyOfRegistry();
  await registry.vehicles.update(renamed, null, { name: 'lost name' });
  await registry.vehicles.update(contested, null, { name: 'lost name too' });
  await registry.vehicles.delete(deleted, null);
  await registry.groups.delete(group.id, null);
  const lost = await registry.vehicles.create(sampleVehicleFields({ name: 'lost', terminalId: null }));
  const rule = await registry.notificationRules.create(
    sampleRuleFields({ ownerId: owner, channelIds: ['of a lost registry'] }),
    null,
  );
  await startOnce();
  await putBack(copy);
  const later = await registry.vehicles.create(sampleVehicleFields({ name: 'later', terminalId: null }));
  await registry.vehicles.update(contested, null, { name: 'made after the loss' });
  expect(await notReady()).toBeInstanceOf(NotReadyError);

  const rebuild = await rebuildRegistry(registry, log, Date.now);
  expect(Object.fromEntries(rebuild.written)).toEqual({ vehicle: 3, 'notification-rule': 1 });
  expect(Object.fromEntries(rebuild.deleted)).toEqual({ vehicle: 1, group: 1 });
  expect(rebuild).toMatchObject({ logins: [], rules: ['Rule'], difference: { gone: 0, newer: 0 } });
  const names = (await registry.vehicles.list({}, { limit: 10, after: null })).items.map(({ name }) => name);
  expect(names).toEqual(['lost name', 'lost name too', 'lost', 'later']);
  expect(await registry.vehicles.get(lost.id)).toEqual(lost);
  expect(await registry.notificationRules.get(rule.id)).toEqual({ ...rule, version: 2, channelIds: [] });
  expect(await registry.users.authenticate('owner', 'long enough a password')).not.toBeNull();

  expect(await notReady()).toBeNull();
  expect(await registry.outbox.size()).toBe(0);
  const directory = new Directory();
  for (const change of await published()) directory.apply(change);
  expect([...directory.all()].sort(byId)).toEqual(
    (await registry.snapshot()).map(({ definition }) => definition as Definition).sort(byId),
  );
  expect(directory.vehicles.has(later.id)).toBe(true);
});

test('an empty registry beside definitions in the log is refused, until it is accepted', async () => {
  await refuseLostRegistry(registry, log, 'of a new service');
  await addFleet(2);
  await startOnce();
  await refuseLostRegistry(registry, log, 'that has them');
  const end = await endOfTopic();
  await registry.close();
  registry = await openTestRegistry();
  const refused = refuseLostRegistry(registry, log, 'registry.sqlite');
  await expect(refused).rejects.toThrow(StartError);
  await expect(refused).rejects.toThrow(/registry\.sqlite is empty.*user: 1, .*vehicle: 2.*definitions republish/);
  expect(await endOfTopic()).toBe(end);
  await reconcileDefinitions({ registry, log, now: Date.now }, 'accept');
  await refuseLostRegistry(registry, log, 'registry.sqlite');
});

const byId = (one: Definition, other: Definition) => (one.id < other.id ? -1 : 1);
