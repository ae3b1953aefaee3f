import {
  type Directory,
  type Geofence,
  type GeofenceId,
  mayReceive,
  type User,
  type VehicleId,
} from '@outrider/domain';
import type { GeofenceOwner, Geofences } from '@outrider/registry';

/** Owners of geofences that the directory does not have; beyond this many all are read again. */
const MAX_REMEMBERED = 10_000;

/**
 * Who may be sent an event: the rights to its vehicle and to its geofence, as they are now. The owner of a geofence
 * that was deleted is read from the registry, so that the event of its end still reaches the owner, and nobody else.
 */
export class GeofenceOwners {
  readonly #directory: Directory;
  readonly #ownersOf: Geofences['ownersOf'];
  /** Null: the registry knows nothing of this id. */
  readonly #gone = new Map<GeofenceId, GeofenceOwner | null>();

  constructor(directory: Directory, ownersOf: Geofences['ownersOf']) {
    this.#directory = directory;
    this.#ownersOf = ownersOf;
  }

  /**
   * Reads the owners of those of the geofences that are not known yet. Costs nothing where all are defined.
   *
   * @throws {Error} when the registry does not answer
   */
  async read(ids: Iterable<GeofenceId | null>): Promise<void> {
    const unknown = new Set<GeofenceId>();
    for (const id of ids) if (id !== null && !this.#isKnown(id)) unknown.add(id);
    if (unknown.size === 0) return;
    const found = await this.#ownersOf([...unknown]);
    if (this.#gone.size > MAX_REMEMBERED) this.#gone.clear();
    for (const id of unknown) this.#gone.set(id, null);
    for (const owner of found) this.#gone.set(owner.id, owner);
  }

  /** Keeps the owner of a geofence that is being deleted. */
  remember(geofence: Geofence): void {
    const { id, ownerId, sharedWithOrganisation, sharedGroupIds } = geofence;
    const owner = this.#directory.ownerOf(geofence) ?? { id: ownerId, role: 'user' as const, dealerId: null };
    this.#gone.set(id, { id, ownerId, owner, sharedWithOrganisation, sharedGroupIds });
  }

  /**
   * May the account be sent an event of the vehicle that is about the geofence?
   *
   * @returns undefined where the owner of the geofence was not read
   */
  mayReceive(user: User, vehicleId: VehicleId, geofenceId: GeofenceId | null): boolean | undefined {
    const vehicle = this.#directory.vehicles.get(vehicleId);
    if (vehicle === undefined) return false;
    if (geofenceId === null) return mayReceive(user, { vehicle, geofence: undefined, geofenceOwner: undefined });
    const geofence = this.#directory.geofences.get(geofenceId);
    if (geofence !== undefined)
      return mayReceive(user, { vehicle, geofence, geofenceOwner: this.#directory.ownerOf(geofence) });
    const gone = this.#gone.get(geofenceId);
    // Operators may know of all geofences, no matter who owned them.
    if (user.role === 'operator') return !user.blocked;
    if (gone === undefined) return undefined;
    return gone !== null && mayReceive(user, { vehicle, geofence: gone, geofenceOwner: gone.owner });
  }

  #isKnown(id: GeofenceId): boolean {
    return this.#directory.geofences.has(id) || this.#gone.has(id);
  }
}
