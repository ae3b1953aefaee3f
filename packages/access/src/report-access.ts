import type { Directory, GeofenceId, GroupId, User, Vehicle, VehicleId } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { DeletedGeofence, Registry } from '@outrider/registry';
import type { Question, ReportArchive, ReportRequest, ReportSources } from '@outrider/reports';
import { ownedArchive } from './owned-archive.ts';
import { isOperator, rightToGeofence, rightToGroup, rightToVehicle, visibleGeofences } from './rights.ts';

export interface ReportAccessSources {
  directory: Directory;
  hub: Pick<Hub, 'latest' | 'connections'>;
  reportArchive: ReportArchive;
  registry: { geofences: Pick<Registry['geofences'], 'deleted' | 'deletedIds'> };
}

/** Names of deleted geofences that a report remembers; then it reads them anew. */
const MAX_DELETED = 10_000;

/** What one caller's reports may be made of. */
export class ReportAccess {
  readonly #caller: User;
  readonly #sources: ReportAccessSources;

  constructor(caller: User, sources: ReportAccessSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  /** The archive, to be asked about {@link vehicles} alone, and the names that the caller may see. */
  get sources(): ReportSources {
    const { directory, hub, reportArchive, registry } = this.#sources;
    /** Null: none of this id was deleted since names are kept. */
    const deleted = new Map<GeofenceId, DeletedGeofence | null>();
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
        return gone && rightToGeofence(this.#caller, gone, gone) !== 'none' ? gone.name : null;
      },
      seesGone: (id) => isOperator(this.#caller) && !directory.geofences.has(id),
      visibleGeofences: async () => {
        if (isOperator(this.#caller)) return null;
        const existing = [...directory.geofences.keys()].filter((id) => this.#seesGeofence(id));
        return [...existing, ...(await registry.geofences.deletedIds(visibleGeofences(this.#caller)))];
      },
      latest: (vehicleIds) => hub.latest(vehicleIds),
      connections: (terminalIds) => hub.connections(terminalIds),
    };
  }

  /** Vehicles that the caller may see, by id: those of a group, or all. */
  vehicles(groupId: GroupId | null): Vehicle[] {
    const found: Vehicle[] = [];
    for (const vehicle of this.#sources.directory.vehicles.values())
      if ((groupId === null || vehicle.groupIds.includes(groupId)) && rightToVehicle(this.#caller, vehicle) !== 'none')
        found.push(vehicle);
    return found.sort((a, b) => (a.id < b.id ? -1 : 1));
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
  { vehicleId, groupId, geofenceId }: Pick<ReportRequest, 'vehicleId' | 'groupId' | 'geofenceId'>,
  caller: User,
  directory: Directory,
): 'vehicleId' | 'groupId' | 'geozoneId' | null {
  if (vehicleId !== null) {
    const vehicle = directory.vehicles.get(vehicleId);
    if (vehicle === undefined || rightToVehicle(caller, vehicle) === 'none') return 'vehicleId';
  }
  if (groupId !== null) {
    const group = directory.groups.get(groupId);
    if (group === undefined || rightToGroup(caller, group) === 'none') return 'groupId';
  }
  if (geofenceId !== null) {
    const geofence = directory.geofences.get(geofenceId);
    const owner = directory.ownerOf(geofence);
    if (geofence === undefined || rightToGeofence(caller, geofence, owner) === 'none') return 'geozoneId';
  }
  return null;
}

/** The question as the reports take it, about the vehicles that the caller may see now. */
export function questionFor(
  request: ReportRequest,
  access: ReportAccess,
  nowMs: number,
  signal: AbortSignal,
): Question & { vehicles: readonly { id: VehicleId; name: string }[] } {
  const { vehicleId, groupId, fromMs, toMs, timeZone, period, eventKinds, geofenceId, maxPoints } = request;
  const vehicles = access.vehicles(groupId).filter(({ id }) => vehicleId === null || id === vehicleId);
  return {
    vehicles,
    fromMs: fromMs ?? 0,
    toMs: toMs ?? nowMs,
    timeZone,
    period,
    eventKinds,
    geofenceId,
    maxPoints,
    nowMs,
    signal,
  };
}

/**
 * May the caller still see everything that a file contains? What was deleted since is not checked.
 *
 * @param contents ids of the vehicles and geofences that it may contain
 */
export function maySeeStill(
  contents: { vehicleIds: readonly VehicleId[]; geofenceIds: readonly GeofenceId[] },
  caller: User,
  directory: Directory,
): boolean {
  return (
    contents.vehicleIds.every((id) => {
      const vehicle = directory.vehicles.get(id);
      return vehicle === undefined || rightToVehicle(caller, vehicle) !== 'none';
    }) &&
    contents.geofenceIds.every((id) => {
      const geofence = directory.geofences.get(id);
      const owner = directory.ownerOf(geofence);
      return geofence === undefined || rightToGeofence(caller, geofence, owner) !== 'none';
    })
  );
}
