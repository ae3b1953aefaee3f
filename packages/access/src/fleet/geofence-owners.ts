import {
  type Directory,
  type Geofence,
  type GeofenceId,
  mayReceive,
  type User,
  type VehicleId,
} from '@outrider/domain';
import type { GeofenceOwner, Geofences } from '@outrider/registry';

/** Cached owners of geofences that are not in the directory; beyond this number the cache is cleared. */
const MAX_REMEMBERED = 10_000;

/**
 * Decides who may be sent an event, by the current rights to its vehicle and its geofence. The owner of a deleted
 * geofence is read from the registry, so that the end of an event is still sent to the owner, and to nobody else.
 */
export class GeofenceOwners {
  readonly #directory: Directory;
  readonly #ownersOf: Geofences['ownersOf'];
  /** Null: the registry does not know the id. */
  readonly #gone = new Map<GeofenceId, GeofenceOwner | null>();

  constructor(directory: Directory, ownersOf: Geofences['ownersOf']) {
    this.#directory = directory;
    this.#ownersOf = ownersOf;
  }

  /**
   * Reads the unknown owners of the given geofences. No query is made if all are defined.
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
   * Whether the account may be sent an event of the vehicle that concerns the geofence.
   *
   * @returns undefined if the owner of the geofence was not read
   */
  mayReceive(user: User, vehicleId: VehicleId, geofenceId: GeofenceId | null): boolean | undefined {
    const vehicle = this.#directory.vehicles.get(vehicleId);
    if (vehicle === undefined) return false;
    if (geofenceId === null) return mayReceive(user, { vehicle, geofence: undefined, geofenceOwner: undefined });
    const geofence = this.#directory.geofences.get(geofenceId);
    if (geofence !== undefined)
      return mayReceive(user, { vehicle, geofence, geofenceOwner: this.#directory.ownerOf(geofence) });
    const gone = this.#gone.get(geofenceId);
    // Operators may see all geofences, regardless of the owner.
    if (user.role === 'operator') return !user.blocked;
    if (gone === undefined) return undefined;
    return gone !== null && mayReceive(user, { vehicle, geofence: gone, geofenceOwner: gone.owner });
  }

  #isKnown(id: GeofenceId): boolean {
    return this.#directory.geofences.has(id) || this.#gone.has(id);
  }
}
