import type { Directory, GeofenceId, GroupId, User, Vehicle } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { ReportArchive, ReportSources } from './reports/report.ts';
import { isOperator, rightToGeofence, rightToVehicle } from './rights.ts';

export interface ReportReachSources {
  directory: Directory;
  hub: Pick<Hub, 'latest'>;
  reportArchive: ReportArchive;
}

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
    const { directory, hub, reportArchive } = this.#sources;
    return {
      archive: reportArchive,
      geofenceName: (id) => {
        const geofence = directory.geofences.get(id);
        return geofence && this.#seesGeofence(id) ? geofence.name : null;
      },
      seesGone: (id) => isOperator(this.#caller) && !directory.geofences.has(id),
      visibleGeofences: () =>
        isOperator(this.#caller) ? null : [...directory.geofences.keys()].filter((id) => this.#seesGeofence(id)),
      latest: (vehicleIds) => hub.latest([...vehicleIds]),
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
