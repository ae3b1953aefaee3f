import { SYSTEM_CLOCK } from '@outrider/domain';
import { featureFromShape, shapeOfTraccarArea } from '@outrider/geo';
import { StartError } from '@outrider/runtime';
import { recalculate, sendHistory } from './history.ts';
import type { ImportProgress } from './import-notes.ts';
import { ImportRun, type ImportRunOptions } from './import-run.ts';
import type { Target } from './target.ts';
import { speedLimit } from './traccar-equivalents.ts';
import { TraccarFleet } from './traccar-fleet.ts';
import { importPlans, importRules, importSensors } from './traccar-linked.ts';
import {
  type SourceDevice,
  type SourceDriver,
  type SourceGeofence,
  type SourceGroup,
  type TraccarSource,
  traccarHistory,
} from './traccar-source.ts';
import { importUsers } from './traccar-users.ts';

export interface TraccarImportOptions extends ImportRunOptions {
  /** ISO 8601: positions from then on are imported as well. */
  history: string | undefined;
  progress: ImportProgress;
}

/**
 * Imports from a Traccar: groups, devices, accounts with what they may see, geofences, drivers, notifications,
 * maintenance, computed attributes, and positions. Existing items are left unchanged, so the import can be repeated.
 *
 * @returns number of items that could not be imported
 * @throws {StartError} when Traccar can't be read
 */
export async function importTraccar(
  target: Target,
  source: TraccarSource,
  options: TraccarImportOptions,
  print: (line: string) => void,
): Promise<number> {
  const { history, progress } = options;
  const fromMs = history === undefined ? null : Date.parse(history);
  if (fromMs !== null && Number.isNaN(fromMs)) throw new StartError('--history must be a time, such as 2026-01-01');
  const run = new ImportRun(target, options, print);
  const fleet = new TraccarFleet(run, source);
  const devices = await source.list<SourceDevice>('devices');
  await fleet.importGroups(await source.list<SourceGroup>('groups'));
  await fleet.importDevices(devices);
  await importUsers(run, source, fleet);
  await importGeofences(run, await source.list<SourceGeofence>('geofences'));
  await importDrivers(run, await source.list<SourceDriver>('drivers'));
  await importRules(run, source, fleet);
  await importPlans(run, source, fleet);
  await importSensors(run, source, fleet);
  if (fromMs !== null && !run.isDryRun)
    for (const [nth, device] of devices.entries()) {
      const vehicle = fleet.vehicleOf(device.id);
      const place = `${nth + 1}/${devices.length}`;
      if (vehicle !== undefined) await importHistory(run, source, progress, { device, vehicle, fromMs, place });
    }
  run.sumUp();
  return run.failed;
}

async function importGeofences(run: ImportRun, geofences: readonly SourceGeofence[]): Promise<void> {
  const { client } = run;
  const known = new Set<string>();
  for await (const { properties } of run.all((page) => client.get('/api/v1/geozones', page)))
    known.add(properties.name);
  for (const { name, area, description, attributes = {} } of geofences) {
    const what = `geofence ${name}`;
    const { polylineDistance } = attributes;
    const shape = shapeOfTraccarArea(area, typeof polylineDistance === 'number' ? 2 * polylineDistance : undefined);
    if (known.has(name)) run.say('unchanged', what);
    else if (shape === null) run.say('skipped', what, 'its area is none of CIRCLE, POLYGON and LINESTRING');
    else {
      const { type, geometry, properties } = featureFromShape(shape);
      const more = { ...(description ? { description } : {}), ...speedLimit(attributes) };
      const body = { type, geometry, properties: { ...properties, name, ...more } };
      await run.make(what, () => client.post('/api/v1/geozones', { body: body as never }));
      known.add(name);
    }
  }
}

async function importDrivers(run: ImportRun, drivers: readonly SourceDriver[]): Promise<void> {
  const { client } = run;
  const known = new Set<string>();
  for await (const { name } of run.all((page) => client.get('/api/v1/drivers', page))) known.add(name);
  for (const { name, uniqueId } of drivers)
    if (known.has(name)) run.say('unchanged', `driver ${name}`);
    else await run.make(`driver ${name}`, () => client.post('/api/v1/drivers', { body: { name, codes: [uniqueId] } }));
}

interface DeviceHistory {
  device: SourceDevice;
  /** The vehicle of the device. */
  vehicle: string;
  fromMs: number;
  /** Number of the device among all, as printed. */
  place: string;
}

/** Imports the positions of a device from a time on, and recalculates its events. */
async function importHistory(
  run: ImportRun,
  source: TraccarSource,
  progress: ImportProgress,
  { device: { id, name, uniqueId }, vehicle, fromMs, place }: DeviceHistory,
): Promise<void> {
  let positions = 0;
  let leftOut = 0;
  let { reachedMs, pending } = progress.of(uniqueId, fromMs);
  await run.attempt(`history of ${name}`, async () => {
    for await (const read of source.positions(id, reachedMs)) {
      const rows = traccarHistory(read.positions, SYSTEM_CLOCK.now());
      const taken = await sendHistory(run.target, vehicle, rows);
      positions += taken.positions;
      leftOut += rows.leftOut;
      const { from, to } = taken;
      if (from !== null && to !== null)
        pending = pending === null ? { from, to } : { from: least(pending.from, from), to: most(pending.to, to) };
      reachedMs = read.reachedMs;
      progress.save(uniqueId, { fromMs, reachedMs, pending });
      if (taken.positions > 0)
        run.print(`history ${place} of ${name}: ${positions} positions up to ${new Date(reachedMs).toISOString()}`);
    }
    const { failed } = pending === null ? { failed: 0 } : await recalculate(run.target, vehicle, pending);
    if (failed === 0) progress.save(uniqueId, { fromMs, reachedMs, pending: null });
    run.say(failed > 0 ? 'failed' : 'made', `history of ${name}`, `${positions} positions, ${leftOut} left out`);
  });
}

const least = (a: string, b: string) => (a < b ? a : b);
const most = (a: string, b: string) => (a > b ? a : b);
