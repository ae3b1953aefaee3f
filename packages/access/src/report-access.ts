import type { Directory, GeofenceId, GroupId, User, Vehicle } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { DeletedGeofence, Registry } from '@outrider/registry';
import { ownedArchive } from './owned-archive.ts';
import type { ReportArchive, ReportSources } from './reports/report.ts';
import { isOperator, rightToGeofence, rightToVehicle, visibleGeofences } from './rights.ts';

export interface ReportReachSources {
  directory: Directory;
  hub: Pick<Hub, 'latest' | 'connections'>;
  reportArchive: ReportArchive;
  registry: { geofences: Pick<Registry['geofences'], 'deleted' | 'deletedIds'> };
}

/** Names of deleted geofences that a report remembers; then it reads them anew. */
const MAX_DELETED = 10_000;

/** What one caller's reports may be made of. */
export class ReportReach {
  readonly #caller: User;
  readonly #sources: ReportReachSources;

  constructor(caller: User, sources: ReportReachSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  /** The archive, to be asked about {@link vehicles} alone, and what of it may be told. */
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
    return rightToGeofence(this.#caller, geofence, directory.users.get(geofence.ownerId)) !== 'none';
  }
}
