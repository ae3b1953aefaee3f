import { randomBytes } from 'node:crypto';
import { ApiError, type Client } from '@outrider/client';
import { SYSTEM_CLOCK, sensorNameKey, VEHICLE_FIELDS } from '@outrider/domain';
import { featureFromShape, shapeOfTraccarArea } from '@outrider/geo';
import { StartError } from '@outrider/runtime';
import { recalculate, sendHistory } from './history.ts';
import type { ImportProgress, ImportReport } from './import-notes.ts';
import type { Target } from './target.ts';
import { type Equivalent, planOf, ruleOf, type SensorTerms, sensorOf } from './traccar-equivalents.ts';
import {
  KMH_PER_KNOT,
  type LinkedList,
  type SourceComputed,
  type SourceDevice,
  type SourceDriver,
  type SourceGeofence,
  type SourceGroup,
  type SourceLinks,
  type SourceMaintenance,
  type SourceNotification,
  type SourceUser,
  type TraccarSource,
  traccarHistory,
} from './traccar-source.ts';

export interface TraccarImportOptions {
  /** Only find out what would be made. */
  isDryRun: boolean;
  /** ISO 8601: positions from then on are imported as well. */
  history: string | undefined;
  progress: ImportProgress;
  report: ImportReport;
}

const PASSWORD_BYTES = 24;

/**
 * Imports what a Traccar has: groups, devices, accounts with what they may see, geofences, drivers, notifications,
 * maintenance, computed attributes, and positions. What exists here already is left as it is, so it can be repeated.
 *
 * @returns how many things could not be imported
 * @throws {StartError} where Traccar can't be read
 */
export async function importTraccar(
  target: Target,
  source: TraccarSource,
  options: TraccarImportOptions,
  print: (line: string) => void,
): Promise<number> {
  const { isDryRun, history } = options;
  const fromMs = history === undefined ? null : Date.parse(history);
  if (fromMs !== null && Number.isNaN(fromMs)) throw new StartError('--history must be a time, such as 2026-01-01');
  const move = new Move(target, source, options, print);
  const devices = await source.list<SourceDevice>('devices');
  await move.groups(await source.list<SourceGroup>('groups'));
  await move.devices(devices);
  await move.users();
  await move.geofences(await source.list<SourceGeofence>('geofences'));
  await move.drivers(await source.list<SourceDriver>('drivers'));
  await move.rules();
  await move.plans();
  await move.sensors();
  if (fromMs !== null && !isDryRun)
    for (const [nth, device] of devices.entries()) await move.history(device, fromMs, `${nth + 1}/${devices.length}`);
  move.sumUp();
  return move.failed;
}

type Outcome = 'made' | 'changed' | 'unchanged' | 'skipped' | 'failed';

/** One run of the import. */
class Move {
  readonly #client: Client;
  readonly #target: Target;
  readonly #source: TraccarSource;
  readonly #isDryRun: boolean;
  readonly #progress: ImportProgress;
  readonly #report: ImportReport;
  readonly #print: (line: string) => void;
  readonly #counts = new Map<string, number>();
  failed = 0;
  #sourceGroups = new Map<number, SourceGroup>();
  /** Ids here; in a dry run those that exist. */
  readonly #groupIds = new Map<string, string>();
  readonly #vehicles = new Map<string, { id: string; groupIds: readonly string[] }>();
  readonly #vehicleOf = new Map<number, string>();
  #sourceDevices: readonly SourceDevice[] = [];

  constructor(target: Target, source: TraccarSource, options: TraccarImportOptions, print: (line: string) => void) {
    this.#client = target.client;
    this.#target = target;
    this.#source = source;
    this.#isDryRun = options.isDryRun;
    this.#progress = options.progress;
    this.#report = options.report;
    this.#print = print;
  }

  async groups(groups: readonly SourceGroup[]): Promise<void> {
    this.#sourceGroups = new Map(groups.map((group) => [group.id, group]));
    for await (const { id, name } of this.#all((cursor) => this.#client.get('/api/v1/vehicle-groups', page(cursor))))
      this.#groupIds.set(name, id);
    for (const { id } of groups) await this.#group(this.#nameOf(id));
  }

  async devices(devices: readonly SourceDevice[]): Promise<void> {
    for await (const vehicle of this.#all((cursor) => this.#client.get('/api/v1/vehicles', page(cursor))))
      if (vehicle.terminalId !== null) this.#vehicles.set(vehicle.terminalId, vehicle);
    this.#sourceDevices = devices;
    for (const { id, name, uniqueId, groupId, attributes = {} } of devices) {
      const what = `device ${name} (${uniqueId})`;
      if (!VEHICLE_FIELDS.terminalId.pattern.test(uniqueId)) {
        this.#say('skipped', what, 'its unique id can be no terminal’s here');
        continue;
      }
      const groupIds = this.#chain(groupId).flatMap((each) => this.#groupIds.get(this.#nameOf(each)) ?? []);
      const known = this.#vehicles.get(uniqueId);
      if (known === undefined) {
        const made = await this.#make(what, () =>
          this.#client.post('/api/v1/vehicles', {
            body: {
              name,
              terminalId: uniqueId,
              groupIds,
              terminalAccess: { protocol: 'any' },
              ...speedLimit(attributes),
            },
          }),
        );
        if (made !== null) this.#vehicleOf.set(id, made.id);
        continue;
      }
      this.#vehicleOf.set(id, known.id);
      const missing = groupIds.filter((each) => !known.groupIds.includes(each));
      await this.#add(what, missing.length, async () => {
        for (const groupIdHere of missing) await this.#putVehicle(groupIdHere, known.id);
      });
    }
  }

  /** Accounts, and what they may see. Administrators are left to who runs the service. */
  async users(): Promise<void> {
    const users = await this.#source.list<SourceUser>('users').catch(() => null);
    if (users === null) return this.#say('skipped', 'accounts', 'Traccar shows them to administrators alone');
    const known = new Map<string, { id: string; groupIds: readonly string[] }>();
    for await (const user of this.#all((cursor) => this.#client.get('/api/v1/users', page(cursor))))
      known.set(user.login, user);
    for (const user of users) {
      const login = user.login || user.email;
      const what = `account ${login}`;
      if (user.administrator) {
        this.#say('skipped', what, 'an administrator of Traccar: make such accounts by hand');
        continue;
      }
      if (user.disabled) {
        this.#say('skipped', what, 'it is disabled');
        continue;
      }
      const groupIds = await this.#groupsOf(user, login);
      const here = known.get(login);
      if (here === undefined) {
        // Nobody knows it: Traccar keeps hashes, and who runs the service sets another.
        const password = randomBytes(PASSWORD_BYTES).toString('base64url');
        await this.#make(what, () =>
          this.#client.post('/api/v1/users', { body: { login, name: user.name || login, password, groupIds } }),
        );
        continue;
      }
      const missing = groupIds.filter((id) => !here.groupIds.includes(id));
      await this.#add(what, missing.length, async () => {
        for (const id of missing)
          await this.#call(() =>
            this.#client.put('/api/v1/vehicle-groups/{id}/users/{userId}', { path: { id, userId: here.id } }),
          );
      });
    }
  }

  async geofences(geofences: readonly SourceGeofence[]): Promise<void> {
    const known = new Set<string>();
    for await (const { properties } of this.#all((cursor) => this.#client.get('/api/v1/geozones', page(cursor))))
      known.add(properties.name);
    for (const { name, area, description, attributes = {} } of geofences) {
      const what = `geofence ${name}`;
      const { polylineDistance } = attributes;
      const shape = shapeOfTraccarArea(area, typeof polylineDistance === 'number' ? 2 * polylineDistance : undefined);
      if (known.has(name)) this.#say('unchanged', what);
      else if (shape === null) this.#say('skipped', what, 'its area is none of CIRCLE, POLYGON and LINESTRING');
      else {
        const { type, geometry, properties } = featureFromShape(shape);
        const more = {
          ...(description ? { description } : {}),
          ...speedLimit(attributes),
        };
        const body = { type, geometry, properties: { ...properties, name, ...more } };
        await this.#make(what, () => this.#client.post('/api/v1/geozones', { body: body as never }));
        known.add(name);
      }
    }
  }

  async drivers(drivers: readonly SourceDriver[]): Promise<void> {
    const known = new Set<string>();
    for await (const { name } of this.#all((cursor) => this.#client.get('/api/v1/drivers', page(cursor))))
      known.add(name);
    for (const { name, uniqueId } of drivers)
      if (known.has(name)) this.#say('unchanged', `driver ${name}`);
      else
        await this.#make(`driver ${name}`, () =>
          this.#client.post('/api/v1/drivers', { body: { name, codes: [uniqueId] } }),
        );
  }

  /** Notifications as rules of the importing account; those of the same terms for the same vehicles are one. */
  async rules(): Promise<void> {
    const notifications = await this.#listed<SourceNotification>('notifications');
    const single = notifications.some(({ always }) => !always);
    const links = single ? await this.#linksOf('notifications') : new Map<number, SourceLinks>();
    const known = new Set<string>();
    for await (const { name } of this.#all((cursor) => this.#client.get('/api/v1/notification-rules', page(cursor))))
      known.add(name);
    for (const notification of notifications) {
      const { id, type, always } = notification;
      const what = `notification ${id} (${type})`;
      const terms = this.#equivalent(what, ruleOf(notification));
      if (terms === null) continue;
      const linked = links.get(id);
      if (!always && linked === undefined) {
        this.#say('skipped', what, 'it is linked to no device or group');
        continue;
      }
      const name = always ? terms.name : `${terms.name} (${id})`;
      if (known.has(name)) {
        this.#say('unchanged', what);
        continue;
      }
      known.add(name);
      const { vehicleIds, groupIds } = this.#targetsOf(linked);
      if (!always && vehicleIds.length + groupIds.length === 0) {
        this.#say('skipped', what, 'it is linked to nothing that was imported');
        continue;
      }
      const named = { vehicleIds: orNull(vehicleIds), groupIds: orNull(groupIds) };
      const body = { ...terms, name, ...(always ? {} : named) };
      await this.#make(what, () => this.#client.post('/api/v1/notification-rules', { body }));
    }
  }

  /** Maintenance as a plan for each vehicle and each group that it is linked to. */
  async plans(): Promise<void> {
    const maintenances = await this.#listed<SourceMaintenance>('maintenance');
    if (maintenances.length === 0) return;
    const links = await this.#linksOf('maintenance');
    const known = new Set<string>();
    const key = (name: string, vehicleId: unknown, groupId: unknown) => JSON.stringify([name, vehicleId, groupId]);
    for await (const plan of this.#all((cursor) => this.#client.get('/api/v1/maintenance-plans', page(cursor))))
      known.add(key(plan.name, plan.vehicleId, plan.groupId));
    for (const maintenance of maintenances) {
      const { id, name } = maintenance;
      const what = `maintenance ${name}`;
      const terms = this.#equivalent(what, planOf(maintenance, SYSTEM_CLOCK.now()));
      if (terms === null) continue;
      const { vehicleIds, groupIds } = this.#targetsOf(links.get(id));
      const { every, startsAtMs } = terms;
      const starts = startsAtMs === null ? {} : { startsAt: new Date(startsAtMs).toISOString() };
      const places = [
        ...vehicleIds.map((vehicleId) => ({ vehicleId, groupId: null })),
        ...groupIds.map((groupId) => ({ vehicleId: null, groupId })),
      ];
      if (places.length === 0) this.#say('skipped', what, 'it is linked to nothing that was imported');
      for (const place of places)
        if (known.has(key(name, place.vehicleId, place.groupId))) this.#say('unchanged', what);
        else
          await this.#make(what, () =>
            this.#client.post('/api/v1/maintenance-plans', { body: { name, every, ...starts, ...place } }),
          );
    }
  }

  /** Computed attributes as sensors of the vehicles that they are linked to. */
  async sensors(): Promise<void> {
    const attributes = await this.#listed<SourceComputed>('attributes/computed');
    if (attributes.length === 0) return;
    const links = await this.#linksOf('attributes/computed');
    for (const attribute of attributes) {
      const what = `computed attribute ${attribute.description || attribute.attribute}`;
      const sensor = this.#equivalent(what, sensorOf(attribute));
      if (sensor === null) continue;
      const linked = links.get(attribute.id) ?? { deviceIds: [], groupIds: [] };
      const devices = this.#sourceDevices.filter(
        ({ id, groupId }) =>
          linked.deviceIds.includes(id) || this.#chain(groupId).some((each) => linked.groupIds.includes(each)),
      );
      if (devices.length === 0) this.#say('skipped', what, 'it is linked to no device');
      for (const { id, name } of devices) {
        const vehicle = this.#vehicleOf.get(id);
        const of = `${what} of ${name}`;
        if (vehicle === undefined) this.#say(this.#isDryRun ? 'made' : 'skipped', of);
        else await this.#sensor(of, vehicle, sensor);
      }
    }
  }

  async #sensor(what: string, id: string, sensor: SensorTerms): Promise<void> {
    const { sensors } = await this.#call(() => this.#client.get('/api/v1/vehicles/{id}', { path: { id } }));
    if (sensors.some(({ name }) => sensorNameKey(name) === sensorNameKey(sensor.name)))
      return this.#say('unchanged', what);
    await this.#make(what, () =>
      this.#client.patch('/api/v1/vehicles/{id}', { path: { id }, body: { sensors: [...sensors, sensor] } }),
    );
  }

  /** A list that some accounts of Traccar may not read, or that older versions lack. */
  async #listed<T>(name: LinkedList): Promise<T[]> {
    try {
      return await this.#source.list<T>(name);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.#say('skipped', name, error.message);
      return [];
    }
  }

  #linksOf(name: LinkedList): Promise<Map<number, SourceLinks>> {
    const deviceIds = this.#sourceDevices.map(({ id }) => id);
    return this.#source.links(name, { deviceIds, groupIds: [...this.#sourceGroups.keys()] });
  }

  /** Ids here of what something is linked to. In a dry run, what would be made has the id that it has in Traccar. */
  #targetsOf({ deviceIds, groupIds }: SourceLinks = { deviceIds: [], groupIds: [] }) {
    const ids = (known: string | undefined, id: number) => known ?? (this.#isDryRun ? String(id) : []);
    return {
      vehicleIds: deviceIds.flatMap((id) => ids(this.#vehicleOf.get(id), id)),
      groupIds: groupIds.flatMap((id) => ids(this.#groupIds.get(this.#nameOf(id)), id)),
    };
  }

  #equivalent<T>(what: string, equivalent: Equivalent<T>): T | null {
    if ('is' in equivalent) return equivalent.is;
    this.#say('skipped', what, equivalent.isNone);
    return null;
  }

  /** The positions of a device from a moment on, and what happened by them. */
  async history({ id, name, uniqueId }: SourceDevice, fromMs: number, place: string): Promise<void> {
    const vehicle = this.#vehicleOf.get(id);
    if (vehicle === undefined) return;
    let positions = 0;
    let leftOut = 0;
    let { reachedMs, pending } = this.#progress.of(uniqueId, fromMs);
    await this.#attempt(`history of ${name}`, async () => {
      for await (const read of this.#source.positions(id, reachedMs)) {
        const rows = traccarHistory(read.positions, SYSTEM_CLOCK.now());
        const taken = await sendHistory(this.#target, vehicle, rows);
        positions += taken.positions;
        leftOut += rows.leftOut;
        const { from, to } = taken;
        if (from !== null && to !== null)
          pending = pending === null ? { from, to } : { from: least(pending.from, from), to: most(pending.to, to) };
        reachedMs = read.reachedMs;
        this.#progress.save(uniqueId, { fromMs, reachedMs, pending });
        if (taken.positions > 0)
          this.#print(`history ${place} of ${name}: ${positions} positions up to ${new Date(reachedMs).toISOString()}`);
      }
      const { failed } = pending === null ? { failed: 0 } : await recalculate(this.#target, vehicle, pending);
      if (failed === 0) this.#progress.save(uniqueId, { fromMs, reachedMs, pending: null });
      this.#say(failed > 0 ? 'failed' : 'made', `history of ${name}`, `${positions} positions, ${leftOut} left out`);
    });
  }

  sumUp(): void {
    const counts = [...this.#counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
    this.#print(`${this.#isDryRun ? 'dry run: ' : ''}${counts === '' ? 'nothing to import' : counts}`);
  }

  /** Groups here of what an account was given there; vehicles given one by one have a group of their own. */
  async #groupsOf({ id }: SourceUser, login: string): Promise<string[]> {
    const { groupIds, deviceIds } = await this.#source.grants(id);
    const single = this.#sourceDevices.filter(
      (device) =>
        deviceIds.includes(device.id) && this.#chain(device.groupId).every((each) => !groupIds.includes(each)),
    );
    const ids = groupIds.flatMap((groupId) => this.#groupIds.get(this.#nameOf(groupId)) ?? []);
    if (single.length === 0) return ids;
    const own = await this.#group(`Traccar: ${login}`);
    if (own === null) return ids;
    for (const device of single) {
      const vehicle = this.#vehicleOf.get(device.id);
      if (vehicle !== undefined && !this.#isDryRun)
        await this.#attempt(`device ${device.name} for ${login}`, () => this.#putVehicle(own, vehicle));
    }
    return [...ids, own];
  }

  /** The group of this name, made where it does not exist; null in a dry run that would make it, or where it failed. */
  async #group(name: string): Promise<string | null> {
    const known = this.#groupIds.get(name);
    if (known !== undefined) {
      this.#say('unchanged', `group ${name}`);
      return known;
    }
    const made = await this.#make(`group ${name}`, () =>
      this.#client.post('/api/v1/vehicle-groups', { body: { name } }),
    );
    if (made !== null) this.#groupIds.set(name, made.id);
    return made?.id ?? null;
  }

  #putVehicle(id: string, vehicleId: string): Promise<unknown> {
    return this.#call(() =>
      this.#client.put('/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}', { path: { id, vehicleId } }),
    );
  }

  /** A group and all that it is in, the innermost first: who was given one of them sees what is in it. */
  #chain(groupId: number | null | undefined): number[] {
    const chain: number[] = [];
    let group = this.#sourceGroups.get(groupId ?? 0);
    while (group !== undefined && !chain.includes(group.id)) {
      chain.push(group.id);
      group = this.#sourceGroups.get(group.groupId ?? 0);
    }
    return chain;
  }

  /** Groups are in no others here: their names say where they were. */
  #nameOf(groupId: number): string {
    return this.#chain(groupId)
      .map((id) => this.#sourceGroups.get(id)?.name ?? '')
      .toReversed()
      .join(' / ');
  }

  async #make<T>(what: string, make: () => Promise<T>): Promise<T | null> {
    if (this.#isDryRun) {
      this.#say('made', what);
      return null;
    }
    const made = await this.#attempt(what, () => this.#call(make));
    if (made !== null) this.#say('made', what);
    return made;
  }

  async #add(what: string, missing: number, add: () => Promise<void>): Promise<void> {
    if (missing === 0) return this.#say('unchanged', what);
    const done = this.#isDryRun || (await this.#attempt(what, async () => add().then(() => true)));
    if (done) this.#say('changed', what, `put into ${missing} ${missing === 1 ? 'group' : 'groups'} more`);
  }

  async #attempt<T>(what: string, attempt: () => Promise<T>): Promise<T | null> {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof StartError)) throw error;
      const details = error instanceof ApiError ? (error.problem.errors ?? []).map(({ detail }) => detail) : [];
      this.#say('failed', what, [error.message, ...details].join(' '));
      return null;
    }
  }

  #call<T>(make: () => Promise<T>): Promise<T> {
    return this.#target.call(make);
  }

  async *#all<T>(list: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor: string | null }>) {
    for await (const items of this.#client.pages((cursor) => this.#call(() => list(cursor)))) yield* items;
  }

  #say(outcome: Outcome, what: string, why = ''): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
    if (outcome === 'failed') this.failed++;
    this.#report.write(outcome, what, why);
    if (outcome !== 'unchanged') this.#print(`${outcome}: ${what}${why === '' ? '' : `: ${why}`}`);
  }
}

function page(cursor: string | undefined) {
  return { query: { limit: 1000, ...(cursor === undefined ? {} : { cursor }) } };
}

/** Of Traccar's attribute, which is in knots. */
function speedLimit({ speedLimit: knots }: Record<string, unknown>): { speedLimitKmh?: number } {
  return typeof knots === 'number' && knots > 0 ? { speedLimitKmh: Math.round(knots * KMH_PER_KNOT) } : {};
}

const orNull = (ids: string[]) => (ids.length === 0 ? null : ids);
const least = (a: string, b: string) => (a < b ? a : b);
const most = (a: string, b: string) => (a > b ? a : b);
