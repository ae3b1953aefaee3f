import {
  type DefinitionChange,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GeofenceVisit,
  mayListVehicle,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { Caps } from './caps.ts';
import { endConditionsByDefinition } from './conditions.ts';
import type { Definitions } from './definitions.ts';
import { endShiftByDefinition, nameDriver } from './driver-shift.ts';
import { endFuelByDefinition } from './fuel/tank-watch.ts';
import type { FenceFinder } from './geofences/fence-finder.ts';
import { appliesTo, type Fence, type OwnerFences } from './geofences/fences.ts';
import { hasPresence } from './geofences/presences.ts';
import { endPresenceByDefinition, foundInside } from './geofences/visits.ts';
import { endMotionByDefinition } from './motion.ts';
import { endSensorsByDefinition, redefineSensors } from './sensors/sensor-state.ts';
import { endSilence } from './silence.ts';
import { endRunByDefinition } from './speeding.ts';
import { atFix } from './step.ts';
import { orderOf, type VehicleState } from './vehicle-state.ts';
import type { VehicleStates } from './vehicle-states.ts';

/** Effect of a definition's change on a geofence, for its presences and runs. */
interface FenceChange {
  fence: Fence;
  shapeChanged: boolean;
  /** Version of the definition in force before the change. */
  versionBefore: number;
}

/** Why a presence or a run ends because of a definition; null: it continues. */
type Reason = Exclude<GeofenceVisit['endReason'], 'left'>;

export interface ReconcilerParts {
  definitions: Definitions;
  states: VehicleStates;
  finder: FenceFinder;
  caps: Caps;
}

/**
 * Adjusts the states of vehicles to changed definitions: ends what can't continue, and silently begins presences in
 * geofences that now contain a vehicle.
 */
export class Reconciler {
  readonly #definitions: Definitions;
  readonly #states: VehicleStates;
  readonly #finder: FenceFinder;
  readonly #caps: Caps;

  constructor({ definitions, states, finder, caps }: ReconcilerParts) {
    this.#definitions = definitions;
    this.#states = states;
    this.#finder = finder;
    this.#caps = caps;
  }

  /** Applies a change, and appends the ends to `events`. */
  apply(change: DefinitionChange, events: FleetEvent[]): void {
    const before = this.#definitions.apply(change);
    if (before === undefined) return;
    switch (change.kind) {
      case 'user':
        return this.#applyUser(change.id as UserId, change.changedAtMs, events);
      case 'vehicle':
        return this.#applyVehicle(change.id as VehicleId, before as Vehicle | null, change.changedAtMs, events);
      case 'geofence':
        return this.#applyGeofence(change.id as GeofenceId, change.changedAtMs, events);
    }
    // A group's own definition has no effect here: vehicles and users refer to groups by id.
  }

  #applyUser(id: UserId, atMs: number, events: FleetEvent[]): void {
    const owner = this.#definitions.owner(id);
    if (!owner) return;
    owner.user = this.#definitions.directory.users.get(id) ?? null;
    this.#resolveOwner(owner, atMs, events);
  }

  /** Recomputes which vehicles an owner watches, and adjusts their states. */
  #resolveOwner(owner: OwnerFences, atMs: number, events: FleetEvent[]): void {
    const { user } = owner;
    for (const vehicle of this.#states.values()) {
      const sees = user !== null && vehicle.definition !== null && mayListVehicle(user, vehicle.definition);
      const at = vehicle.watchers.indexOf(owner);
      if (sees === at >= 0) continue;
      if (sees) vehicle.watchers.push(owner);
      else vehicle.watchers.splice(at, 1);
      this.#reconcile(vehicle, null, atMs, events);
    }
  }

  #applyVehicle(id: VehicleId, before: Vehicle | null, atMs: number, events: FleetEvent[]): void {
    const vehicle = this.#states.get(id);
    if (!vehicle) return;
    const levelSource = vehicle.gauge?.levelSource;
    const { sensors } = vehicle;
    vehicle.sensors = null;
    this.#definitions.resolve(vehicle);
    // Levels before and after the change are not comparable.
    if (before !== null && vehicle.gauge?.levelSource !== levelSource)
      endFuelByDefinition(vehicle, before.version, events);
    if (vehicle.definition === null) vehicle.sensors = sensors;
    else {
      vehicle.named = events.length;
      vehicle.sensors = redefineSensors(vehicle, sensors, this.#definitions.sensorsOf(id), events);
      nameDriver(vehicle, events);
    }
    this.#reconcile(vehicle, null, atMs, events);
    this.#states.update(vehicle, atMs);
    if (vehicle.definition !== null) {
      // Time without a definition does not count as silence.
      if (before === null) vehicle.receivedLastAtMs = Math.max(vehicle.receivedLastAtMs, atMs);
      return;
    }
    if (before !== null) endAll(vehicle, before.version, atMs, events);
    this.#caps.admit(vehicle, events, 0);
    this.#states.remove(id);
  }

  #applyGeofence(id: GeofenceId, atMs: number, events: FleetEvent[]): void {
    const geofence = this.#definitions.directory.geofences.get(id) ?? null;
    const fence = this.#definitions.fence(id);
    if (fence && geofence && fence.owner.id === geofence.ownerId) {
      const { definition } = fence;
      const shapeChanged = JSON.stringify(definition.shape) !== JSON.stringify(geofence.shape);
      fence.owner.replace(fence, geofence, shapeChanged);
      this.#reconcileWatched({ fence, shapeChanged, versionBefore: definition.version }, atMs, events);
      return;
    }
    if (fence) this.#removeFence(fence, geofence === null, atMs, events);
    if (geofence) this.#addFence(geofence, atMs, events);
  }

  #addFence(geofence: Geofence, atMs: number, events: FleetEvent[]): void {
    let owner = this.#definitions.owner(geofence.ownerId);
    if (!owner) {
      owner = this.#definitions.addOwner(geofence);
      this.#resolveOwner(owner, atMs, events);
    }
    const fence = this.#definitions.addFence(owner, geofence);
    this.#reconcileWatched({ fence, shapeChanged: true, versionBefore: geofence.version }, atMs, events);
  }

  #removeFence(fence: Fence, deleted: boolean, atMs: number, events: FleetEvent[]): void {
    const { owner, definition } = fence;
    this.#definitions.removeFence(fence);
    fence.gone = deleted ? 'geofence-deleted' : 'no-longer-watched';
    this.#reconcileWatched({ fence, shapeChanged: false, versionBefore: definition.version }, atMs, events);
    if (owner.size > 0) return;
    this.#definitions.removeOwner(owner);
    for (const vehicle of this.#states.values()) {
      const at = vehicle.watchers.indexOf(owner);
      if (at >= 0) vehicle.watchers.splice(at, 1);
    }
  }

  /** Adjusts each vehicle that the geofence's owner watches to a change of the geofence. */
  #reconcileWatched(change: FenceChange, atMs: number, events: FleetEvent[]): void {
    const { fence } = change;
    for (const vehicle of this.#states.values()) {
      const { latest } = vehicle;
      if (latest === null || !vehicle.watchers.includes(fence.owner)) continue;
      // Nearly all vehicles are elsewhere. Many geofences may change at once, and each checks all vehicles.
      const near = fence.gone === null && fence.mayContain(latest.longitude, latest.latitude);
      if (near || hasPresence(vehicle.presences, fence) || vehicle.runs.some((run) => run.fence === fence))
        this.#reconcile(vehicle, change, atMs, events);
    }
  }

  /**
   * Adjusts a vehicle's presences and runs to the current definitions, by its last good fix.
   *
   * @param change the geofence that changed; null where a vehicle or a user changed
   */
  #reconcile(vehicle: VehicleState, change: FenceChange | null, atMs: number, events: FleetEvent[]): void {
    const { latest } = vehicle;
    if (latest === null) return;
    const inChanged = change?.fence.gone === null && change.fence.contains(latest.longitude, latest.latitude);
    const reasonFor = (fence: Fence): Reason => {
      if (fence.gone !== null) return fence.gone;
      if (!isWatched(vehicle, fence)) return 'no-longer-watched';
      return fence === change?.fence && change.shapeChanged && !inChanged ? 'geofence-changed' : null;
    };

    const before = events.length;
    vehicle.named = before;
    const { presences, runs } = vehicle;
    vehicle.presences = this.#presencesThatGoOn(vehicle, change, reasonFor, atMs, events);
    vehicle.runs = runsThatGoOn(vehicle, reasonFor, events);
    for (const fence of this.#around(vehicle, change, inChanged)) {
      if (hasPresence(vehicle.presences, fence)) continue;
      const sinceMs = Math.max(atMs, latest.fixTimeMs);
      const known = { ...atFix(latest, vehicle.speedKmh), atMs: sinceMs };
      vehicle.presences.push(foundInside(fence, known, latest.fixTimeMs));
      this.#states.touch(vehicle);
    }
    vehicle.presences.sort((a, b) => orderOf(a.fence, b.fence));
    nameDriver(vehicle, events);
    if (
      events.length > before ||
      vehicle.presences.length !== presences.length ||
      vehicle.runs.length !== runs.length
    ) {
      this.#states.update(vehicle, atMs);
    }
  }

  #presencesThatGoOn(
    vehicle: VehicleState,
    change: FenceChange | null,
    reasonFor: (fence: Fence) => Reason,
    atMs: number,
    events: FleetEvent[],
  ) {
    return vehicle.presences.filter((presence) => {
      const { fence } = presence;
      const reason = reasonFor(fence);
      if (reason !== null) {
        const version = fence === change?.fence ? change.versionBefore : fence.definition.version;
        endPresenceByDefinition(vehicle, presence, reason, atMs, version, events);
        return false;
      }
      // A changed shape may contain a vehicle that was about to leave.
      if (presence.phase === 'leaving' && fence === change?.fence && change.shapeChanged) {
        presence.phase = 'inside';
        presence.exit = null;
        this.#states.touch(vehicle);
      }
      return true;
    });
  }

  /** The geofences around the last good fix that the change may affect. */
  #around(vehicle: VehicleState, change: FenceChange | null, inChanged: boolean): readonly Fence[] {
    if (change !== null) {
      const { fence } = change;
      return inChanged && isWatched(vehicle, fence) && !this.#isFull(vehicle, fence) ? [fence] : [];
    }
    if (vehicle.latest === null) return [];
    this.#finder.look(vehicle, vehicle.latest, null, false);
    return this.#finder.hits.slice(0, this.#finder.hitCount);
  }

  /**
   * Whether the vehicle is in as many of the owner's other geofences as the cap allows. The next fix then decides which
   * of them count.
   */
  #isFull({ presences }: VehicleState, { owner }: Fence): boolean {
    const most = this.#caps.maxGeofencesAtOnce;
    if (owner.size <= most) return false;
    let count = 0;
    for (const { fence, phase } of presences) if (fence.owner === owner && phase !== 'leaving') count++;
    return count >= most;
  }
}

function runsThatGoOn(vehicle: VehicleState, reasonFor: (fence: Fence) => Reason, events: FleetEvent[]) {
  const { definition, runs } = vehicle;
  return runs.filter((run) => {
    const limitKmh = run.fence ? run.fence.speedLimitKmh : definition?.speedLimitKmh;
    const reason = run.fence ? reasonFor(run.fence) : definition === null ? 'no-longer-watched' : null;
    if (reason === null && limitKmh === run.limitKmh) return true;
    endRunByDefinition(vehicle, run, reason ?? 'limit-removed', events);
    return false;
  });
}

/** Ends everything in progress for a vehicle because its profile was deleted. */
function endAll(vehicle: VehicleState, version: number, atMs: number, events: FleetEvent[]): void {
  const { latest, speedKmh } = vehicle;
  if (latest === null) return;
  vehicle.named = events.length;
  endMotionByDefinition(vehicle, version, events);
  endFuelByDefinition(vehicle, version, events);
  endConditionsByDefinition(vehicle, version, atFix(latest, speedKmh), events);
  if (vehicle.sensors !== null) endSensorsByDefinition(vehicle, vehicle.sensors, events);
  nameDriver(vehicle, events);
  endShiftByDefinition(vehicle, version, events);
  if (vehicle.offline) endSilence(vehicle, version, atMs, 'no-longer-watched', events);
}

function isWatched(vehicle: VehicleState, fence: Fence): boolean {
  const { definition } = vehicle;
  return definition !== null && vehicle.watchers.includes(fence.owner) && appliesTo(fence, definition);
}
