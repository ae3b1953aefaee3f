import { SYSTEM_CLOCK, sensorNameKey } from '@outrider/domain';
import { StartError } from '@outrider/runtime';
import type { ImportRun } from './import-run.ts';
import { type Equivalent, planOf, ruleOf, type SensorTerms, sensorOf } from './traccar-equivalents.ts';
import type { TraccarFleet } from './traccar-fleet.ts';
import type {
  LinkedList,
  SourceComputed,
  SourceLinks,
  SourceMaintenance,
  SourceNotification,
  TraccarSource,
} from './traccar-source.ts';

/** Imports notifications as rules of the importing account. Those with equal terms and vehicles become one rule. */
export async function importRules(run: ImportRun, source: TraccarSource, fleet: TraccarFleet): Promise<void> {
  const { client } = run;
  const notifications = await listed<SourceNotification>('notifications', run, source);
  const single = notifications.some(({ always }) => !always);
  const links = single ? await fleet.linksOf('notifications') : new Map<number, SourceLinks>();
  const known = new Set<string>();
  for await (const { name } of run.all((page) => client.get('/api/v1/notification-rules', page))) known.add(name);
  for (const notification of notifications) {
    const { id, type, always } = notification;
    const what = `notification ${id} (${type})`;
    const terms = equivalentOf(what, ruleOf(notification), run);
    if (terms === null) continue;
    const linked = links.get(id);
    if (!always && linked === undefined) {
      run.say('skipped', what, 'it is linked to no device or group');
      continue;
    }
    const name = always ? terms.name : `${terms.name} (${id})`;
    if (known.has(name)) {
      run.say('unchanged', what);
      continue;
    }
    known.add(name);
    const { vehicleIds, groupIds } = fleet.targetsOf(linked);
    if (!always && vehicleIds.length + groupIds.length === 0) {
      run.say('skipped', what, 'it is linked to nothing that was imported');
      continue;
    }
    const named = { vehicleIds: orNull(vehicleIds), groupIds: orNull(groupIds) };
    const body = { ...terms, name, ...(always ? {} : named) };
    await run.make(what, () => client.post('/api/v1/notification-rules', { body }));
  }
}

/** Imports maintenance as a plan for each vehicle and each group that it is linked to. */
export async function importPlans(run: ImportRun, source: TraccarSource, fleet: TraccarFleet): Promise<void> {
  const { client } = run;
  const maintenances = await listed<SourceMaintenance>('maintenance', run, source);
  if (maintenances.length === 0) return;
  const links = await fleet.linksOf('maintenance');
  const known = new Set<string>();
  const key = (name: string, vehicleId: unknown, groupId: unknown) => JSON.stringify([name, vehicleId, groupId]);
  for await (const plan of run.all((page) => client.get('/api/v1/maintenance-plans', page)))
    known.add(key(plan.name, plan.vehicleId, plan.groupId));
  for (const maintenance of maintenances) {
    const { id, name } = maintenance;
    const what = `maintenance ${name}`;
    const terms = equivalentOf(what, planOf(maintenance, SYSTEM_CLOCK.now()), run);
    if (terms === null) continue;
    const { vehicleIds, groupIds } = fleet.targetsOf(links.get(id));
    const { every, startsAtMs } = terms;
    const starts = startsAtMs === null ? {} : { startsAt: new Date(startsAtMs).toISOString() };
    const places = [
      ...vehicleIds.map((vehicleId) => ({ vehicleId, groupId: null })),
      ...groupIds.map((groupId) => ({ vehicleId: null, groupId })),
    ];
    if (places.length === 0) run.say('skipped', what, 'it is linked to nothing that was imported');
    for (const place of places)
      if (known.has(key(name, place.vehicleId, place.groupId))) run.say('unchanged', what);
      else {
        const body = { name, every, ...starts, ...place };
        await run.make(what, () => client.post('/api/v1/maintenance-plans', { body }));
      }
  }
}

/** Imports computed attributes as sensors of the vehicles that they are linked to. */
export async function importSensors(run: ImportRun, source: TraccarSource, fleet: TraccarFleet): Promise<void> {
  const attributes = await listed<SourceComputed>('attributes/computed', run, source);
  if (attributes.length === 0) return;
  const links = await fleet.linksOf('attributes/computed');
  for (const attribute of attributes) {
    const what = `computed attribute ${attribute.description || attribute.attribute}`;
    const sensor = equivalentOf(what, sensorOf(attribute), run);
    if (sensor === null) continue;
    const linked = links.get(attribute.id) ?? { deviceIds: [], groupIds: [] };
    const devices = fleet.devices.filter(
      ({ id, groupId }) =>
        linked.deviceIds.includes(id) || fleet.chain(groupId).some((each) => linked.groupIds.includes(each)),
    );
    if (devices.length === 0) run.say('skipped', what, 'it is linked to no device');
    for (const { id, name } of devices) {
      const vehicle = fleet.vehicleOf(id);
      const of = `${what} of ${name}`;
      if (vehicle === undefined) run.say(run.isDryRun ? 'made' : 'skipped', of);
      else await importSensor(of, vehicle, sensor, run);
    }
  }
}

async function importSensor(what: string, id: string, sensor: SensorTerms, run: ImportRun): Promise<void> {
  const { sensors } = await run.call(() => run.client.get('/api/v1/vehicles/{id}', { path: { id } }));
  if (sensors.some(({ name }) => sensorNameKey(name) === sensorNameKey(sensor.name))) return run.say('unchanged', what);
  const body = { sensors: [...sensors, sensor] };
  await run.make(what, () => run.client.patch('/api/v1/vehicles/{id}', { path: { id }, body }));
}

/** A list that some accounts of Traccar may not read, or that older versions lack. */
async function listed<T>(name: LinkedList, run: ImportRun, source: TraccarSource): Promise<T[]> {
  try {
    return await source.list<T>(name);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    run.say('skipped', name, error.message);
    return [];
  }
}

function equivalentOf<T>(what: string, equivalent: Equivalent<T>, run: ImportRun): T | null {
  if ('is' in equivalent) return equivalent.is;
  run.say('skipped', what, equivalent.isNone);
  return null;
}

function orNull(ids: readonly string[]): string[] | null {
  return ids.length === 0 ? null : [...ids];
}
