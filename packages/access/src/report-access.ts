import {
  type Directory,
  type DriverId,
  type GeofenceId,
  type GroupId,
  limitedAccount,
  maySeeVehicle,
  type User,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { DeletedGeofence, Registry } from '@outrider/registry';
import {
  incompleteWithin,
  type Question,
  type Reading,
  type ReportArchive,
  type ReportRequest,
  type ReportSources,
  type TimeSpan,
} from '@outrider/reports';
import type { Language } from '@outrider/words';
import { driversAt } from './fleet/who-drove.ts';
import { maintenanceFor } from './maintenance/plan-access.ts';
import { readerOf } from './notifications/reader.ts';
import { type Owned, ownedArchive } from './owned-archive.ts';
import { PlaceAccess, type PlaceSources } from './place-access.ts';
import { isOperator, rightToDriver, rightToGeofence, rightToGroup, visibleGeofences } from './rights.ts';

export interface ReportAccessSources extends PlaceSources {
  hub: Pick<Hub, 'latest' | 'connections' | 'publish'>;
  reportArchive: Owned<ReportArchive>;
  registry: {
    geofences: Pick<Registry['geofences'], 'deleted' | 'deletedIds'>;
    preferences: Pick<Registry['preferences'], 'get'>;
  } & Pick<Registry, 'drivers' | 'driverAssignments' | 'maintenance' | 'serviceRecords' | 'historyLimits'>;
}

/** Cached names of deleted geofences in a report; beyond this number the cache is cleared. */
const MAX_DELETED = 10_000;

/** Time that a call may wait for addresses. */
export const ADDRESSES_MS = 3000;

/** Data that one caller's reports may use. */
export class ReportAccess {
  readonly #caller: User;
  readonly #sources: ReportAccessSources;
  readonly #addressesMs: number;

  /** @param addressesMs time that one report may wait for unknown addresses */
  constructor(caller: User, sources: ReportAccessSources, addressesMs = ADDRESSES_MS) {
    this.#caller = caller;
    this.#sources = sources;
    this.#addressesMs = addressesMs;
  }

  /** The archive, which may only be queried about {@link vehicles}, and the names that the caller may see. */
  get sources(): ReportSources {
    const { directory, hub, reportArchive, registry } = this.#sources;
    /** Null: the registry has no name of a deleted geofence with this id. */
    const deleted = new Map<GeofenceId, DeletedGeofence | null>();
    const places = new PlaceAccess(this.#caller, this.#sources, this.#addressesMs);
    return {
      archive: ownedArchive(reportArchive, this.#caller),
      readDeleted: async (ids) => {
        if (deleted.size > MAX_DELETED) deleted.clear();
        const unknown = new Set<GeofenceId>();
        for (const id of ids) if (id !== null && !directory.geofences.has(id) && !deleted.has(id)) unknown.add(id);
        if (unknown.size === 0) return;
        for (const id of unknown) deleted.set(id, null);
        for (const each of await registry.geofences.deleted([...unknown])) deleted.set(each.id, each);
      },
      geofenceName: (id) => {
        const geofence = directory.geofences.get(id);
        if (geofence) return this.#seesGeofence(id) ? geofence.name : null;
        const gone = deleted.get(id);
        return gone && rightToGeofence(this.#caller, gone, gone.owner) !== 'none' ? gone.name : null;
      },
      seesGone: (id) => isOperator(this.#caller) && !directory.geofences.has(id),
      visibleGeofences: async () => {
        if (isOperator(this.#caller)) return null;
        const existing = [...directory.geofences.keys()].filter((id) => this.#seesGeofence(id));
        return [...existing, ...(await registry.geofences.deletedIds(visibleGeofences(this.#caller)))];
      },
      placesOf: (points) => places.placesOf(points),
      driversAt: (moments) => driversAt(this.#caller, this.#sources, moments),
      maintenance: maintenanceFor(this.#caller, directory, registry),
      latest: (vehicleIds) => hub.latest(vehicleIds),
      connections: (terminalIds) => hub.connections(terminalIds),
    };
  }

  /**
   * Details of a report for its reader, by the caller's preferences.
   *
   * @param language null: the caller's
   * @param about time range and other details of the report
   */
  async reading(language: Language | null, about: Omit<Reading, 'language' | 'units' | 'who'>): Promise<Reading> {
    const { id, name, login } = this.#caller;
    const reader = await readerOf(this.#sources.registry, id, 'UTC');
    return {
      ...about,
      language: language ?? reader.language,
      units: reader.units,
      who: name === '' ? login : name,
    };
  }

  /** Vehicles whose data the caller may see, by id: those of a group, or all. */
  vehicles(groupId: GroupId | null): Vehicle[] {
    const found: Vehicle[] = [];
    for (const vehicle of this.#sources.directory.vehicles.values())
      if ((groupId === null || vehicle.groupIds.includes(groupId)) && maySeeVehicle(this.#caller, vehicle))
        found.push(vehicle);
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * Time from which the history of all these vehicles is complete, in Unix milliseconds; null if it is not after
   * `fromMs`. The caller must be allowed to see all of them.
   */
  historyFrom(vehicleIds: readonly VehicleId[], fromMs: number): Promise<number | null> {
    return this.#sources.registry.historyLimits.latestAfter(vehicleIds, fromMs);
  }

  /** Spans within a time range in which the archive has lost rows, of any vehicle. */
  incomplete(fromMs: number, toMs: number): Promise<TimeSpan[]> {
    return incompleteWithin(this.#sources.reportArchive, { fromMs, toMs });
  }

  #seesGeofence(id: GeofenceId): boolean {
    const { directory } = this.#sources;
    const geofence = directory.geofences.get(id);
    if (geofence === undefined) return false;
    return rightToGeofence(this.#caller, geofence, directory.ownerOf(geofence)) !== 'none';
  }
}

/**
 * Finds a reference that the caller does not see, which then looks as if it did not exist.
 *
 * @returns the first field with such a reference; null if none exists
 */
export function unseenIn(
  { vehicleId, vehicleIds, groupId, geofenceId, driverIds }: NamedByReport,
  caller: User,
  directory: Directory,
): 'vehicleId' | 'vehicleIds' | 'groupId' | 'geozoneId' | 'driverIds' | null {
  // A report on several vehicles or drivers is made of those still visible.
  if (vehicleIds && seenVehicles(vehicleIds, caller, directory).length === 0) return 'vehicleIds';
  if (vehicleId !== null) {
    const vehicle = directory.vehicles.get(vehicleId);
    if (vehicle === undefined || !maySeeVehicle(caller, vehicle)) return 'vehicleId';
  }
  if (groupId !== null && rightToGroup(caller, directory.groups.get(groupId)) === 'none') return 'groupId';
  if (geofenceId !== null) {
    const geofence = directory.geofences.get(geofenceId);
    if (rightToGeofence(caller, geofence, directory.ownerOf(geofence)) === 'none') return 'geozoneId';
  }
  if (driverIds && seenDrivers(driverIds, caller, directory).length === 0) return 'driverIds';
  return null;
}

/** Objects that a report names. */
export type NamedByReport = Pick<ReportRequest, 'vehicleId' | 'vehicleIds' | 'groupId' | 'geofenceId' | 'driverIds'>;

/** Those of the vehicles that the caller sees. */
export function seenVehicles(ids: readonly VehicleId[], caller: User, directory: Directory): VehicleId[] {
  return ids.filter((id) => {
    const vehicle = directory.vehicles.get(id);
    return vehicle !== undefined && maySeeVehicle(caller, vehicle);
  });
}

/** Those of the drivers that the caller sees. */
export function seenDrivers(ids: readonly DriverId[], caller: User, directory: Directory): DriverId[] {
  return ids.filter((id) => rightToDriver(caller, directory.drivers.get(id)) !== 'none');
}

/** Input of a report, with the vehicles that the caller may see now. */
export function questionFor(
  request: ReportRequest,
  access: ReportAccess,
  nowMs: number,
  signal: AbortSignal,
): Question & { vehicles: readonly { id: VehicleId; name: string }[] } {
  const { vehicleId, vehicleIds, groupId, fromMs, toMs, timeZone, period, eventKinds, geofenceId, maxPoints } = request;
  const wanted = vehicleId === null ? vehicleIds && new Set(vehicleIds) : new Set([vehicleId]);
  const vehicles = access.vehicles(groupId).filter(({ id }) => !wanted || wanted.has(id));
  return {
    vehicles,
    fromMs: fromMs ?? 0,
    toMs: toMs ?? nowMs,
    timeZone,
    period,
    eventKinds,
    geofenceId,
    maxPoints,
    workHours: request.workHours ?? null,
    ecoWeights: request.ecoWeights ?? null,
    sensors: request.sensors ?? null,
    driverIds: request.driverIds ?? null,
    nowMs,
    signal,
  };
}

/**
 * Whether the caller may still see everything in a file. Objects deleted since are not checked, but a key limited to
 * groups may not have a file with such objects.
 *
 * @param contents ids of the vehicles and geofences that it may contain
 */
export function maySeeStill(
  contents: { vehicleIds: readonly VehicleId[]; geofenceIds: readonly GeofenceId[] },
  caller: User,
  directory: Directory,
): boolean {
  const mayHaveDeleted = limitedAccount(caller) === null;
  return (
    contents.vehicleIds.every((id) => {
      const vehicle = directory.vehicles.get(id);
      return vehicle === undefined ? mayHaveDeleted : maySeeVehicle(caller, vehicle);
    }) &&
    contents.geofenceIds.every((id) => {
      const geofence = directory.geofences.get(id);
      const owner = directory.ownerOf(geofence);
      return geofence === undefined ? mayHaveDeleted : rightToGeofence(caller, geofence, owner) !== 'none';
    })
  );
}
