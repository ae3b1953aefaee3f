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

/** Names of deleted geofences that a report remembers; then it reads them anew. */
const MAX_DELETED = 10_000;

/** How long a call may wait for addresses. */
export const ADDRESSES_MS = 3000;

/** What one caller's reports may be made of. */
export class ReportAccess {
  readonly #caller: User;
  readonly #sources: ReportAccessSources;
  readonly #addressesMs: number;

  /** @param addressesMs how long one report may wait for addresses that are not known yet */
  constructor(caller: User, sources: ReportAccessSources, addressesMs = ADDRESSES_MS) {
    this.#caller = caller;
    this.#sources = sources;
    this.#addressesMs = addressesMs;
  }

  /** The archive, to be asked about {@link vehicles} alone, and the names that the caller may see. */
  get sources(): ReportSources {
    const { directory, hub, reportArchive, registry } = this.#sources;
    /** Null: none of this id was deleted since names are kept. */
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
   * How the caller reads, by their preferences, and what of.
   *
   * @param language null: the caller's
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
   * From when on there is a history of all these vehicles, in Unix milliseconds; null where that is no later than a
   * time. All of them are vehicles that the caller may see.
   */
  historyFrom(vehicleIds: readonly VehicleId[], fromMs: number): Promise<number | null> {
    return this.#sources.registry.historyLimits.latestAfter(vehicleIds, fromMs);
  }

  /** The spans within a time range of which the archive has lost rows, of whichever vehicles. */
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
 * Does the caller see what is named? What they do not see looks as if it did not exist.
 *
 * @returns the first field that names something else; null where all is well
 */
export function unseenIn(
  { vehicleId, vehicleIds, groupId, geofenceId, driverIds }: NamedByReport,
  caller: User,
  directory: Directory,
): 'vehicleId' | 'vehicleIds' | 'groupId' | 'geozoneId' | 'driverIds' | null {
  // Of several vehicles, those that are left make the report; of several drivers as well.
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

/** What a report names. */
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

/** The question as the reports take it, about the vehicles that the caller may see now. */
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
 * May the caller still see everything that a file contains? What was deleted since is not checked; a key that is
 * limited to groups may not have what can't be checked.
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
