import type { FleetEvent, VehicleId, VehicleStatus } from '@outrider/domain';
import type { Definitions } from './definitions.ts';
import { decodeState, encodeState } from './state-codec.ts';
import { statusOf } from './status.ts';
import type { VehicleState } from './vehicle-state.ts';

const STATE_KEY = 'vehicle-state:';

/** The states of all vehicles, with a record of which changed. */
export class VehicleStates {
  readonly #byId = new Map<VehicleId, VehicleState>();
  /** Vehicles whose checkpoint entry must be written. */
  #dirty: VehicleState[] = [];
  /** Vehicles whose status changed. */
  #updated: VehicleState[] = [];
  readonly #removed = new Set<VehicleId>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: VehicleId): VehicleState | undefined {
    return this.#byId.get(id);
  }

  values(): MapIterator<VehicleState> {
    return this.#byId.values();
  }

  add(vehicle: VehicleState): void {
    this.#byId.set(vehicle.id, vehicle);
  }

  /** Removes the state, and its entry from the checkpoint. */
  remove(id: VehicleId): void {
    this.#byId.delete(id);
    this.#removed.add(id);
  }

  forget(id: VehicleId): void {
    const vehicle = this.#byId.get(id);
    this.#byId.delete(id);
    this.#dirty = this.#dirty.filter((each) => each !== vehicle);
    this.#updated = this.#updated.filter((each) => each !== vehicle);
  }

  /** Notes that the state of a vehicle changed. */
  touch(vehicle: VehicleState): void {
    if (vehicle.dirty) return;
    vehicle.dirty = true;
    this.#dirty.push(vehicle);
  }

  /** Notes that the status of a vehicle may have changed. */
  update(vehicle: VehicleState, atMs: number): void {
    this.touch(vehicle);
    if (atMs > vehicle.asOfMs) vehicle.asOfMs = atMs;
    if (vehicle.updated) return;
    vehicle.updated = true;
    this.#updated.push(vehicle);
  }

  /** The statuses that changed since the last call. */
  takeUpdated(): VehicleStatus[] {
    const updated = this.#updated;
    this.#updated = [];
    const statuses: VehicleStatus[] = [];
    for (const vehicle of updated) {
      vehicle.updated = false;
      // A deleted vehicle, or one that is not defined yet, has no status that anyone may see.
      const status = vehicle.definition && statusOf(vehicle);
      if (status) statuses.push(status);
    }
    return statuses;
  }

  /** Checkpoint entries that changed since the last call; null: to be removed. */
  takeChanges(): [key: string, value: Buffer | null][] {
    const changes: [string, Buffer | null][] = [];
    for (const id of this.#removed) if (!this.#byId.has(id)) changes.push([STATE_KEY + id, null]);
    this.#removed.clear();
    for (const vehicle of this.#dirty) {
      vehicle.dirty = false;
      // A state that was removed meanwhile is no longer that of its vehicle.
      if (this.#byId.get(vehicle.id) === vehicle) changes.push([STATE_KEY + vehicle.id, encodeState(vehicle)]);
    }
    this.#dirty = [];
    return changes;
  }

  /**
   * Restores what {@link takeChanges} returned; other entries are ignored.
   *
   * @throws {Error} where an entry is damaged, or refers to a geofence that is not defined
   */
  restore(
    entries: readonly (readonly [key: string, value: Buffer])[],
    definitions: Definitions,
    origin: FleetEvent['origin'],
  ): void {
    for (const [key, bytes] of entries) {
      if (!key.startsWith(STATE_KEY)) continue;
      const id = key.slice(STATE_KEY.length) as VehicleId;
      const vehicle = decodeState(
        id,
        bytes,
        origin,
        (geofenceId) => {
          const fence = definitions.fence(geofenceId);
          if (!fence) throw new Error(`the state of vehicle ${id} names geofence ${geofenceId}, which is not defined`);
          return fence;
        },
        definitions.sensorsOf(id),
      );
      definitions.resolve(vehicle);
      this.add(vehicle);
    }
  }
}
