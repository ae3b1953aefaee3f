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

/** The definitions that cause events, and the indexes made of their geofences. */
export class Definitions {
  /** Everything that is defined, as the engine knows it. */
  readonly directory = new Directory();
  readonly #fences = new Map<GeofenceId, Fence>();
  /** Only those who have geofences. */
  readonly #owners = new Map<UserId, OwnerFences>();
  /** Grows with each change: what was found out about a vehicle before it may not hold any more. */
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

  /** Takes many definitions in before any vehicle is known. */
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
   * Takes a change into the directory; the geofences' indexes are left as they are.
   *
   * @returns what was in force before, null: nothing; undefined where the change changes nothing of what causes events
   */
  apply(published: DefinitionChange): Definition | null | undefined {
    if (!bearsOnEvents(published.kind)) return undefined;
    // States and checkpoints hold definitions: attributes of clients would only take space there.
    const change = withoutCustomFields(published);
    const before = this.directory.apply(change);
    if (before === undefined) return undefined;
    this.epoch++;
    this.#changed.set(`${DEFINITION_KEY}${change.kind}:${change.id}`, change.definition);
    return before;
  }

  /** For the first geofence of an account. */
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

  /** The account has no geofences any more. */
  removeOwner({ id }: OwnerFences): void {
    this.#owners.delete(id);
  }

  /** Takes a vehicle's definition, and who watches it, from the directory. */
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

  /** Entries of the checkpoint that changed since the last call; null: to be removed. */
  takeChanges(): [key: string, value: Buffer | null][] {
    const changes = [...this.#changed].map(([key, definition]): [string, Buffer | null] => [
      key,
      definition && Buffer.from(storedDefinition(definition)),
    ]);
    this.#changed.clear();
    return changes;
  }

  /** Takes in what {@link takeChanges} wrote; other entries are left alone. */
  restore(entries: readonly (readonly [key: string, value: Buffer])[]): void {
    const stored = entries.filter(([key]) => key.startsWith(DEFINITION_KEY));
    this.load(stored.map(([, value]) => asChange(readStoredDefinition(value.toString()), 0)));
    // What came from the checkpoint need not go back into it.
    this.#changed.clear();
  }
}

/** Notification rules, video profiles and drivers cause no events, so the engine does not keep them. */
function bearsOnEvents(kind: DefinitionKind): boolean {
  return kind !== 'notification-rule' && kind !== 'video-profile' && kind !== 'driver';
}
