import {
  blankPosition,
  type Definition,
  type DefinitionChange,
  type DefinitionKind,
  Directory,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GeofenceVisit,
  maySeeVehicle,
  type Position,
  rejectionOf,
  type TelemetryPacket,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { Spot } from '@outrider/geo';
import { settle, staysCalm } from './calm.ts';
import { appliesTo, type Fence, OwnerFences } from './fences.ts';
import { impliesJump, outweighAnchor, suspectsAfter } from './jump.ts';
import { advanceRun, endRunByDefinition, isOver, startRun } from './speeding.ts';
import { decodeState, encodeState } from './state-codec.ts';
import { atFix, Step } from './step.ts';
import { freshState, orderOf, type SpeedingRun, type Stay, type VehicleState } from './vehicle-state.ts';
import { advanceStay, confirmEntry, endStayByDefinition, enter, foundInside } from './visits.ts';

/** A vehicle's newest good fix, and when the gateway had it. */
export interface VehicleLatest {
  vehicleId: VehicleId;
  position: Position;
  receivedAtMs: number;
}

/** What a change did to a geofence, for the stays and runs that it is about. */
interface FenceChange {
  fence: Fence;
  shapeChanged: boolean;
  /** Version of the definition that was in force up to now. */
  versionBefore: number;
}

const STATE_KEY = 'vehicle-state:';
const DEFINITION_KEY = 'definition:';

/**
 * The rules: takes definitions and positions in, and says what happened (semantics, "Geofences" and "Speed").
 *
 * Deterministic: the same definitions and packets in the same order make the same events with the same ids, on whatever
 * machine, and across any number of restarts from {@link takeChanges}. No clock, no I/O, no randomness.
 *
 * What can be is settled when a definition changes: whose geofences watch a vehicle, and which those are. A position
 * costs one look into the index of each owner who may see the vehicle and has geofences.
 */
export class Engine {
  readonly #directory = new Directory();
  readonly #vehicles = new Map<VehicleId, VehicleState>();
  readonly #fences = new Map<GeofenceId, Fence>();
  /** Only those who have geofences. */
  readonly #owners = new Map<UserId, OwnerFences>();
  readonly #step = new Step(blankPosition(0, 0, 0));
  readonly #hits: Fence[] = [];
  /** Marks the geofences that contain the fix in hand; see {@link Fence.stamp}. */
  #stamp = 0;
  /** Grows with each change of a definition: what was found out about a vehicle before it may not hold any more. */
  #epoch = 0;
  #dirty: VehicleState[] = [];
  #moved: VehicleState[] = [];
  #removed = new Set<VehicleId>();
  #changedDefinitions = new Map<string, Definition | null>();

  /** Everything that is defined, as the engine knows it. */
  get directory(): Directory {
    return this.#directory;
  }

  /**
   * Takes many definitions in before any vehicle is known: the silent start.
   *
   * @throws {Error} when a vehicle has state already
   */
  load(changes: Iterable<DefinitionChange>): void {
    if (this.#vehicles.size > 0) throw new Error('definitions can only be loaded before the first vehicle');
    for (const change of changes)
      if (bearsOnEvents(change.kind) && this.#directory.apply(change) !== undefined) this.#note(change);
    this.#fences.clear();
    this.#owners.clear();
    const byOwner = Map.groupBy(this.#directory.geofences.values(), (geofence) => geofence.ownerId);
    for (const [ownerId, geofences] of byOwner) {
      const owner = new OwnerFences(ownerId, this.#directory.users.get(ownerId) ?? null);
      this.#owners.set(ownerId, owner);
      for (const fence of owner.load(geofences)) this.#fences.set(fence.definition.id, fence);
    }
  }

  /**
   * Takes one change in. It is in force for the next position. A visit or a speeding that cannot go on under it ends at
   * `changedAtMs`, with the reason; nothing begins: where the change puts a vehicle inside, it is inside silently.
   *
   * @returns the ends
   */
  applyDefinition(change: DefinitionChange): FleetEvent[] {
    if (!bearsOnEvents(change.kind)) return [];
    const before = this.#directory.apply(change);
    if (before === undefined) return [];
    this.#epoch++;
    this.#note(change);
    const events: FleetEvent[] = [];
    switch (change.kind) {
      case 'group':
        // Rights go by the groups that vehicles and users name; what a group is called changes nothing here.
        break;
      case 'user':
        this.#applyUser(change.id as UserId, change.changedAtMs, events);
        break;
      case 'vehicle':
        this.#applyVehicle(change.id as VehicleId, change.changedAtMs, events);
        break;
      case 'geofence':
        this.#applyGeofence(change.id as GeofenceId, change.changedAtMs, events);
        break;
    }
    return events;
  }

  /**
   * Takes one packet in: its positions move the vehicle one after the other, and what happened is added to `events`.
   *
   * A packet at or below the offset that its vehicle has reached was taken in before, and is skipped. A position that is
   * rejected, called invalid by its terminal, or not newer than the newest good fix moves nothing.
   *
   * @param offset of the packet in its partition of the log
   * @returns how many positions moved the vehicle
   */
  process(packet: TelemetryPacket, offset: number, events: FleetEvent[]): number {
    const vehicle = this.#vehicles.get(packet.vehicleId) ?? this.#meet(packet.vehicleId);
    if (offset <= vehicle.offset) return 0;
    vehicle.offset = offset;
    this.#touch(vehicle);

    const { positions, receivedAtMs } = packet;
    let accepted = 0;
    // What nearly every fix changes, and nobody asks about in between, is written down once.
    let { latest, speedKmh } = vehicle;
    for (let i = 0; i < positions.length; i++) {
      const fix = positions[i] as Position;
      if (!fix.valid || rejectionOf(fix, receivedAtMs) !== null) continue;
      if (latest === null) {
        this.#step.set(null, null, fix, 0);
        speedKmh = this.#firstFix(vehicle, events);
      } else {
        const elapsedMs = fix.fixTimeMs - latest.fixTimeMs;
        if (elapsedMs <= 0) continue;
        if (impliesJump(latest.latitude, latest.longitude, fix.latitude, fix.longitude, elapsedMs)) {
          vehicle.suspects = suspectsAfter(vehicle.suspects, fix);
          if (!outweighAnchor(vehicle.suspects) || vehicle.suspects.lastAtMs !== fix.fixTimeMs) continue;
          this.#step.set(null, speedKmh, fix, elapsedMs);
          speedKmh = this.#nextFix(vehicle, events);
        } else if (vehicle.calmEpoch === this.#epoch && staysCalm(vehicle, fix)) {
          speedKmh = fix.speedKmh;
        } else {
          this.#step.set(latest, speedKmh, fix, elapsedMs);
          speedKmh = this.#nextFix(vehicle, events);
        }
      }
      if (vehicle.suspects !== null) vehicle.suspects = null;
      latest = fix;
      accepted++;
    }
    if (accepted === 0) return 0;
    vehicle.latest = latest;
    vehicle.speedKmh = speedKmh;
    vehicle.receivedAtMs = receivedAtMs;
    if (!vehicle.moved) {
      vehicle.moved = true;
      this.#moved.push(vehicle);
    }
    return accepted;
  }

  /** The newest good fix of a vehicle, if there ever was one. */
  latestOf(vehicleId: VehicleId): VehicleLatest | undefined {
    const vehicle = this.#vehicles.get(vehicleId);
    return vehicle && latestIn(vehicle);
  }

  /** The newest good fix of every vehicle: what a hub that lost everything is filled with. */
  *allLatest(): Generator<VehicleLatest> {
    for (const vehicle of this.#vehicles.values()) {
      const latest = latestIn(vehicle);
      if (latest) yield latest;
    }
  }

  /** The newest good fix of each vehicle that moved since the last call. */
  takeMoved(): VehicleLatest[] {
    const moved = this.#moved;
    this.#moved = [];
    const entries: VehicleLatest[] = [];
    for (const vehicle of moved) {
      vehicle.moved = false;
      const latest = latestIn(vehicle);
      if (latest) entries.push(latest);
    }
    return entries;
  }

  /** How many vehicles the engine keeps a state of. */
  get vehicleCount(): number {
    return this.#vehicles.size;
  }

  /**
   * What changed since the last call, as entries of a checkpoint: `vehicle-state:<id>` and `definition:<kind>:<id>`; null
   * where an entry is to be removed. Encoded at once: what comes after this call is not in it.
   */
  takeChanges(): [key: string, value: Buffer | null][] {
    const changes: [string, Buffer | null][] = [];
    for (const [key, definition] of this.#changedDefinitions)
      changes.push([key, definition && Buffer.from(JSON.stringify(definition))]);
    this.#changedDefinitions.clear();
    for (const id of this.#removed) if (!this.#vehicles.has(id)) changes.push([STATE_KEY + id, null]);
    this.#removed.clear();
    for (const vehicle of this.#dirty) {
      vehicle.dirty = false;
      // One that was removed meanwhile is no longer the state of its vehicle.
      if (this.#vehicles.get(vehicle.id) === vehicle) changes.push([STATE_KEY + vehicle.id, encodeState(vehicle)]);
    }
    this.#dirty = [];
    return changes;
  }

  /**
   * Goes back to where a checkpoint was taken: an engine restored from all changes taken so far goes on exactly like the
   * one that they were taken from. Keys that are not the engine's are left alone.
   *
   * @throws {Error} when the engine is not fresh, or an entry is not what {@link takeChanges} wrote
   */
  restore(entries: Iterable<readonly [key: string, value: Buffer]>): void {
    if (this.#vehicles.size + this.#fences.size > 0) throw new Error('only a fresh engine can be restored');
    const definitions: DefinitionChange[] = [];
    const states: (readonly [VehicleId, Buffer])[] = [];
    for (const [key, value] of entries) {
      if (key.startsWith(DEFINITION_KEY)) {
        const definition = JSON.parse(value.toString()) as Definition;
        const { kind, id, version } = definition;
        definitions.push({ kind, id, version, changedAtMs: 0, definition });
      } else if (key.startsWith(STATE_KEY)) {
        states.push([key.slice(STATE_KEY.length) as VehicleId, value]);
      }
    }
    this.load(definitions);
    // What came from the checkpoint need not go back into it.
    this.#changedDefinitions.clear();
    for (const [id, bytes] of states) {
      const vehicle = decodeState(id, bytes, (geofenceId) => {
        const fence = this.#fences.get(geofenceId);
        if (!fence) throw new Error(`the state of vehicle ${id} names geofence ${geofenceId}, which is not defined`);
        return fence;
      });
      this.#resolve(vehicle);
      this.#vehicles.set(id, vehicle);
    }
  }

  #meet(id: VehicleId): VehicleState {
    const vehicle = freshState(id);
    this.#resolve(vehicle);
    this.#vehicles.set(id, vehicle);
    return vehicle;
  }

  /** Takes the vehicle's definition, and who watches it, from the directory. */
  #resolve(vehicle: VehicleState): void {
    const definition = this.#directory.vehicles.get(vehicle.id) ?? null;
    vehicle.definition = definition;
    vehicle.watchers = [];
    if (definition === null) return;
    for (const owner of this.#owners.values())
      if (owner.user && maySeeVehicle(owner.user, definition)) vehicle.watchers.push(owner);
  }

  #touch(vehicle: VehicleState): void {
    if (vehicle.dirty) return;
    vehicle.dirty = true;
    this.#dirty.push(vehicle);
  }

  #note(change: DefinitionChange): void {
    this.#changedDefinitions.set(definitionKey(change.kind, change.id), change.definition);
  }

  /** Finds the geofences that watch the vehicle and contain a place: stamped, and in `#hits`. Returns how many. */
  #look(vehicle: VehicleState, longitude: number, latitude: number): number {
    const { watchers, definition } = vehicle;
    if (watchers.length === 0 || definition === null) return 0;
    const hits = this.#hits;
    let found = 0;
    const { spots } = vehicle;
    while (spots.length < watchers.length) spots.push(new Spot());
    for (let i = 0; i < watchers.length; i++) {
      found = (watchers[i] as OwnerFences).find(longitude, latitude, hits, found, spots[i] as Spot);
    }
    if (found === 0) return 0;
    const stamp = ++this.#stamp;
    let kept = 0;
    for (let i = 0; i < found; i++) {
      const fence = hits[i] as Fence;
      if (fence.groupIds !== null && !appliesTo(fence, definition)) continue;
      fence.stamp = stamp;
      hits[kept++] = fence;
    }
    return kept;
  }

  /** Deals with a vehicle's first fix. Returns the speed there. */
  #firstFix(vehicle: VehicleState, events: FleetEvent[]): number | null {
    const step = this.#step;
    const fix = step.to;
    const speedKmh = step.speedKmh();
    const found = this.#look(vehicle, fix.longitude, fix.latitude);
    const here = atFix(fix, speedKmh);
    for (let i = 0; i < found; i++) vehicle.stays.push(foundInside(this.#hits[i] as Fence, here));
    if (found > 1) vehicle.stays.sort((a, b) => orderOf(a.fence, b.fence));
    this.#judgeSpeed(vehicle, found, speedKmh, events);
    settle(vehicle, this.#epoch);
    return speedKmh;
  }

  /** Deals with the step in hand. Returns the speed at its end. */
  #nextFix(vehicle: VehicleState, events: FleetEvent[]): number | null {
    const step = this.#step;
    const found = this.#look(vehicle, step.to.longitude, step.to.latitude);
    if (found > 0 || vehicle.stays.length > 0) this.#visit(vehicle, found, events);
    const speedKmh = step.speedKmh();
    if (found > 0 || vehicle.runs.length > 0 || vehicle.definition?.speedLimitKmh != null)
      this.#judgeSpeed(vehicle, found, speedKmh, events);
    settle(vehicle, this.#epoch);
    return speedKmh;
  }

  /** Moves the stays on by the step in hand, `found` geofences being hit. */
  #visit(vehicle: VehicleState, found: number, events: FleetEvent[]): void {
    const step = this.#step;
    const stamp = found > 0 ? this.#stamp : -1;
    const { stays } = vehicle;
    let kept = 0;
    let known = 0;
    for (let i = 0; i < stays.length; i++) {
      const stay = stays[i] as Stay;
      const inside = stay.fence.stamp === stamp;
      if (inside) known++;
      const next = advanceStay(vehicle, stay, inside, step, events);
      if (next !== null) stays[kept++] = next;
    }
    stays.length = kept;
    if (known === found) return;
    let entered: Fence | null = null;
    let more: Fence[] | null = null;
    for (let i = 0; i < found; i++) {
      const fence = this.#hits[i] as Fence;
      if (hasStay(stays, fence)) continue;
      if (entered === null) entered = fence;
      else if (more === null) more = [fence];
      else more.push(fence);
    }
    if (entered === null) return;
    if (more === null) this.#enter(vehicle, entered, events);
    else for (const fence of [entered, ...more].sort(orderOf)) this.#enter(vehicle, fence, events);
  }

  /** Begins a stay, in its place among the others. */
  #enter(vehicle: VehicleState, fence: Fence, events: FleetEvent[]): void {
    const step = this.#step;
    const stay = confirmEntry(vehicle, enter(fence, step), step.to.fixTimeMs, step.to.fixTimeMs, events);
    const { stays } = vehicle;
    let at = stays.length;
    while (at > 0 && orderOf((stays[at - 1] as Stay).fence, fence) > 0) at--;
    if (at === stays.length) stays.push(stay);
    else stays.splice(at, 0, stay);
  }

  /** Judges the speed at the fix in hand against all limits that hold there. */
  #judgeSpeed(vehicle: VehicleState, found: number, speedKmh: number | null, events: FleetEvent[]): void {
    const { definition, runs } = vehicle;
    // A first fix without a speed says nothing about speeding.
    if (definition === null || speedKmh === null) return;
    const step = this.#step;
    const stamp = found > 0 ? this.#stamp : -1;
    if (runs.length > 0) {
      let kept = 0;
      for (let i = 0; i < runs.length; i++) {
        const run = runs[i] as SpeedingRun;
        const inside = run.fence === null || run.fence.stamp === stamp;
        if (advanceRun(vehicle, run, definition, inside, speedKmh, step, events)) runs[kept++] = run;
      }
      runs.length = kept;
    }
    const { speedLimitKmh } = definition;
    const before = runs.length;
    if (
      speedLimitKmh !== null &&
      isOver(speedKmh, speedLimitKmh, definition) &&
      (runs.length === 0 || runs[0]?.fence !== null)
    )
      runs.push(startRun(vehicle, definition, null, speedLimitKmh, definition.version, speedKmh, step, events));
    if (found > 0) this.#judgeFences(vehicle, found, speedKmh, events);
    if (runs.length > before) runs.sort((a, b) => orderOf(a.fence, b.fence));
  }

  #judgeFences(vehicle: VehicleState, found: number, speedKmh: number, events: FleetEvent[]): void {
    const { definition, runs } = vehicle;
    if (definition === null) return;
    let over: Fence[] | null = null;
    for (let i = 0; i < found; i++) {
      const fence = this.#hits[i] as Fence;
      const limitKmh = fence.speedLimitKmh;
      if (limitKmh === null || !isOver(speedKmh, limitKmh, definition)) continue;
      if (runs.some((run) => run.fence === fence)) continue;
      over ??= [];
      over.push(fence);
    }
    if (over === null) return;
    for (const fence of over.sort(orderOf)) {
      const { speedLimitKmh, version } = fence.definition;
      if (speedLimitKmh === null) continue;
      runs.push(startRun(vehicle, definition, fence, speedLimitKmh, version, speedKmh, this.#step, events));
    }
  }

  #applyUser(id: UserId, atMs: number, events: FleetEvent[]): void {
    const owner = this.#owners.get(id);
    if (!owner) return;
    owner.user = this.#directory.users.get(id) ?? null;
    this.#resolveOwner(owner, atMs, events);
  }

  /** Settles anew which vehicles an owner watches, and what that means for them. */
  #resolveOwner(owner: OwnerFences, atMs: number, events: FleetEvent[]): void {
    const { user } = owner;
    for (const vehicle of this.#vehicles.values()) {
      const sees = user !== null && vehicle.definition !== null && maySeeVehicle(user, vehicle.definition);
      const at = vehicle.watchers.indexOf(owner);
      if (sees === at >= 0) continue;
      if (sees) vehicle.watchers.push(owner);
      else vehicle.watchers.splice(at, 1);
      this.#reconcile(vehicle, null, atMs, events);
    }
  }

  #applyVehicle(id: VehicleId, atMs: number, events: FleetEvent[]): void {
    const vehicle = this.#vehicles.get(id);
    if (!vehicle) return;
    this.#resolve(vehicle);
    this.#reconcile(vehicle, null, atMs, events);
    if (vehicle.definition !== null) return;
    this.#vehicles.delete(id);
    this.#removed.add(id);
  }

  #applyGeofence(id: GeofenceId, atMs: number, events: FleetEvent[]): void {
    const geofence = this.#directory.geofences.get(id) ?? null;
    const fence = this.#fences.get(id);
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
    let owner = this.#owners.get(geofence.ownerId);
    if (!owner) {
      owner = new OwnerFences(geofence.ownerId, this.#directory.users.get(geofence.ownerId) ?? null);
      this.#owners.set(owner.id, owner);
      this.#resolveOwner(owner, atMs, events);
    }
    const fence = owner.add(geofence);
    this.#fences.set(geofence.id, fence);
    this.#reconcileWatched({ fence, shapeChanged: true, versionBefore: geofence.version }, atMs, events);
  }

  #removeFence(fence: Fence, deleted: boolean, atMs: number, events: FleetEvent[]): void {
    const { owner, definition } = fence;
    owner.remove(fence);
    this.#fences.delete(definition.id);
    fence.gone = deleted ? 'geofence-deleted' : 'no-longer-watched';
    this.#reconcileWatched({ fence, shapeChanged: false, versionBefore: definition.version }, atMs, events);
    if (owner.size > 0) return;
    this.#owners.delete(owner.id);
    for (const vehicle of this.#vehicles.values()) {
      const at = vehicle.watchers.indexOf(owner);
      if (at >= 0) vehicle.watchers.splice(at, 1);
    }
  }

  /** Settles what a change of a geofence means for each vehicle that its owner watches. */
  #reconcileWatched(change: FenceChange, atMs: number, events: FleetEvent[]): void {
    const { fence } = change;
    for (const vehicle of this.#vehicles.values()) {
      const { latest } = vehicle;
      if (latest === null || !vehicle.watchers.includes(fence.owner)) continue;
      // Nearly all vehicles are somewhere else: many geofences may come at once, and each asks all vehicles.
      const near = fence.gone === null && fence.mayContain(latest.longitude, latest.latitude);
      if (near || hasStay(vehicle.stays, fence) || vehicle.runs.some((run) => run.fence === fence))
        this.#reconcile(vehicle, change, atMs, events);
    }
  }

  /**
   * Brings a vehicle's stays and runs in line with the definitions as they now are, by its last good fix: ends what
   * cannot go on, and takes in silently what it turns out to be inside of.
   *
   * @param change the geofence that changed; null where it is the vehicle, or a user
   */
  #reconcile(vehicle: VehicleState, change: FenceChange | null, atMs: number, events: FleetEvent[]): void {
    const { latest } = vehicle;
    if (latest === null) return;
    const inChanged = change?.fence.gone === null && change.fence.contains(latest.longitude, latest.latitude);
    const reasonFor = (fence: Fence): Exclude<GeofenceVisit['endReason'], null | 'left'> | null => {
      if (fence.gone !== null) return fence.gone;
      if (!isWatched(vehicle, fence)) return 'no-longer-watched';
      return fence === change?.fence && change.shapeChanged && !inChanged ? 'geofence-changed' : null;
    };

    const before = events.length;
    const { stays, runs } = vehicle;
    vehicle.stays = stays.filter((stay) => {
      const reason = reasonFor(stay.fence);
      if (reason === null) {
        // A new shape may reach out to a vehicle that was about to have left.
        if (stay.phase === 'leaving' && stay.fence === change?.fence && change.shapeChanged) {
          stay.phase = 'inside';
          stay.exit = null;
          this.#touch(vehicle);
        }
        return true;
      }
      const version = stay.fence === change?.fence ? change.versionBefore : stay.fence.definition.version;
      endStayByDefinition(vehicle, stay, reason, atMs, version, events);
      return false;
    });
    vehicle.runs = runs.filter((run) => {
      const limitKmh = run.fence ? run.fence.speedLimitKmh : vehicle.definition?.speedLimitKmh;
      const reason = run.fence ? reasonFor(run.fence) : vehicle.definition === null ? 'no-longer-watched' : null;
      if (reason === null && limitKmh === run.limitKmh) return true;
      endRunByDefinition(vehicle, run, reason ?? 'limit-removed', events);
      return false;
    });

    let entered: Fence[] = [];
    if (change !== null) {
      if (inChanged && isWatched(vehicle, change.fence)) entered = [change.fence];
    } else {
      const found = this.#look(vehicle, latest.longitude, latest.latitude);
      entered = this.#hits.slice(0, found);
    }
    for (const fence of entered) {
      if (hasStay(vehicle.stays, fence)) continue;
      const sinceMs = Math.max(atMs, latest.fixTimeMs);
      vehicle.stays.push(foundInside(fence, { ...atFix(latest, vehicle.speedKmh), atMs: sinceMs }));
      this.#touch(vehicle);
    }
    vehicle.stays.sort((a, b) => orderOf(a.fence, b.fence));
    if (events.length > before || vehicle.stays.length !== stays.length || vehicle.runs.length !== runs.length)
      this.#touch(vehicle);
  }
}

function hasStay(stays: readonly Stay[], fence: Fence): boolean {
  for (let i = 0; i < stays.length; i++) if (stays[i]?.fence === fence) return true;
  return false;
}

function isWatched(vehicle: VehicleState, fence: Fence): boolean {
  const { definition } = vehicle;
  return definition !== null && vehicle.watchers.includes(fence.owner) && appliesTo(fence, definition);
}

function latestIn(vehicle: VehicleState): VehicleLatest | undefined {
  const { id, latest, receivedAtMs } = vehicle;
  return latest ? { vehicleId: id, position: latest, receivedAtMs } : undefined;
}

/** Who is told of what, and which cameras there are, is nothing that events come from, and so nothing to keep. */
function bearsOnEvents(kind: DefinitionKind): boolean {
  return kind !== 'notification-rule' && kind !== 'video-profile';
}

function definitionKey(kind: DefinitionKind, id: string): string {
  return `${DEFINITION_KEY}${kind}:${id}`;
}
