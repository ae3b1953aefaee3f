import {
  asChange,
  type Definition,
  type DefinitionChange,
  type DefinitionKind,
  Directory,
  type Geofence,
  type GeofenceId,
  mayListVehicle,
  readStoredDefinition,
  storedDefinition,
  type UserId,
  type VehicleId,
  withoutCustomFields,
} from '@outrider/domain';
import { fuelGaugeOf } from './fuel/tank-watch.ts';
import { type Fence, OwnerFences } from './geofences/fences.ts';
import { harshLimitsOf } from './harsh-driving.ts';
import { freshSensors } from './sensors/sensor-state.ts';
import { type VehicleSensors, vehicleSensors } from './sensors/vehicle-sensors.ts';
import type { VehicleState } from './vehicle-state.ts';

const DEFINITION_KEY = 'definition:';

/** The definitions that affect events, and the indexes of their geofences. */
export class Definitions {
  /** All definitions known to the engine. */
  readonly directory = new Directory();
  readonly #fences = new Map<GeofenceId, Fence>();
  /** Only owners that have geofences. */
  readonly #owners = new Map<UserId, OwnerFences>();
  /** Grows with each change: facts derived about a vehicle in an earlier epoch may be outdated. */
  epoch = 0;
  readonly #changed = new Map<string, Definition | null>();

  get fenceCount(): number {
    return this.#fences.size;
  }

  fence(id: GeofenceId): Fence | undefined {
    return this.#fences.get(id);
  }

  /** The geofences of an account; undefined where it has none. */
  owner(id: UserId): OwnerFences | undefined {
    return this.#owners.get(id);
  }

  sensorsOf(vehicleId: VehicleId): VehicleSensors {
    return vehicleSensors(this.directory.vehicles.get(vehicleId)?.sensors ?? []);
  }

  /** Loads many definitions before any vehicle is known. */
  load(changes: Iterable<DefinitionChange>): void {
    for (const change of changes) this.apply(change);
    this.#fences.clear();
    this.#owners.clear();
    const byOwner = Map.groupBy(this.directory.geofences.values(), (geofence) => geofence.ownerId);
    for (const [ownerId, geofences] of byOwner) {
      const owner = new OwnerFences(ownerId, this.directory.users.get(ownerId) ?? null);
      this.#owners.set(ownerId, owner);
      for (const fence of owner.load(geofences)) this.#fences.set(fence.definition.id, fence);
    }
  }

  /**
   * Applies a change to the directory. The indexes of geofences are not updated.
   *
   * @returns the previous definition, null: none; undefined where the change does not affect events
   */
  apply(published: DefinitionChange): Definition | null | undefined {
    if (!bearsOnEvents(published.kind)) return undefined;
    // States and checkpoints contain definitions: custom attributes of clients would only take space there.
    const change = withoutCustomFields(published);
    const before = this.directory.apply(change);
    if (before === undefined) return undefined;
    this.epoch++;
    this.#changed.set(`${DEFINITION_KEY}${change.kind}:${change.id}`, change.definition);
    return before;
  }

  /** Call for the first geofence of an account. */
  addOwner(geofence: Geofence): OwnerFences {
    const owner = new OwnerFences(geofence.ownerId, this.directory.ownerOf(geofence) ?? null);
    this.#owners.set(owner.id, owner);
    return owner;
  }

  addFence(owner: OwnerFences, geofence: Geofence): Fence {
    const fence = owner.add(geofence);
    this.#fences.set(geofence.id, fence);
    return fence;
  }

  removeFence(fence: Fence): void {
    fence.owner.remove(fence);
    this.#fences.delete(fence.definition.id);
  }

  /** Call once the account has no geofences any more. */
  removeOwner({ id }: OwnerFences): void {
    this.#owners.delete(id);
  }

  /** Updates a vehicle's definition, and the owners that watch it, from the directory. */
  resolve(vehicle: VehicleState): void {
    const definition = this.directory.vehicles.get(vehicle.id) ?? null;
    vehicle.definition = definition;
    vehicle.gauge = fuelGaugeOf(definition);
    vehicle.harsh = harshLimitsOf(definition);
    vehicle.watchers = [];
    vehicle.sensors ??= freshSensors(this.sensorsOf(vehicle.id));
    if (definition === null) return;
    for (const owner of this.#owners.values())
      if (owner.user && mayListVehicle(owner.user, definition)) vehicle.watchers.push(owner);
  }

  /** Checkpoint entries that changed since the last call; null: to be removed. */
  takeChanges(): [key: string, value: Buffer | null][] {
    const changes = [...this.#changed].map(([key, definition]): [string, Buffer | null] => [
      key,
      definition && Buffer.from(storedDefinition(definition)),
    ]);
    this.#changed.clear();
    return changes;
  }

  /** Restores what {@link takeChanges} returned; other entries are ignored. */
  restore(entries: readonly (readonly [key: string, value: Buffer])[]): void {
    const stored = entries.filter(([key]) => key.startsWith(DEFINITION_KEY));
    this.load(stored.map(([, value]) => asChange(readStoredDefinition(value.toString()), 0)));
    // Definitions restored from the checkpoint need not be written to it again.
    this.#changed.clear();
  }
}

/** Notification rules, video profiles and drivers do not affect events, so the engine does not keep them. */
function bearsOnEvents(kind: DefinitionKind): boolean {
  return kind !== 'notification-rule' && kind !== 'video-profile' && kind !== 'driver';
}
