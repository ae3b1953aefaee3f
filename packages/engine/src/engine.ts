import {
  asChange,
  blankPosition,
  type Definition,
  type DefinitionChange,
  type DefinitionKind,
  Directory,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GeofenceVisit,
  geofenceOf,
  isTimely,
  type LateInterval,
  MAX_AHEAD_LIVE_MS,
  mayListVehicle,
  type Position,
  type Rejection,
  readStoredDefinition,
  recordMark,
  rejectionOf,
  storedDefinition,
  type TelemetryPacket,
  type UserId,
  type Vehicle,
  type VehicleId,
  type VehicleStatus,
  withoutCustomFields,
} from '@outrider/domain';
import { CachedCell } from '@outrider/geo';
import { endConditionsByDefinition, hasAlarm, isRepeat, observe, observeBeside, saysNothingNew } from './conditions.ts';
import { advanceShift, concernsDriver, endShiftByDefinition, nameDriver } from './driver-shift.ts';
import { appliesTo, type Fence, OwnerFences } from './fences.ts';
import { remembersSinceMs } from './fuel/fuel-state.ts';
import { endFuelByDefinition, type FuelGauge, fuelGaugeOf, measureFuel } from './fuel/tank-watch.ts';
import { harshBetween, harshLimitsOf, NOTHING_HARSH } from './harsh-driving.ts';
import { impliesJump, outweighAnchor, suspectsAfter } from './jump.ts';
import { advanceMotion, continueMotion, endMotionByDefinition, endSilentTrip, gapMsOf, stepM } from './motion.ts';
import { inFixTimeOrder } from './packet-order.ts';
import {
  endSensorsByDefinition,
  followSensors,
  freshSensors,
  noteRecords,
  redefineSensors,
  windowOf,
} from './sensors/sensor-state.ts';
import { vehicleSensors } from './sensors/vehicle-sensors.ts';
import { endSilence, isSilent, receive, reportSilence } from './silence.ts';
import { advanceRun, endRunByDefinition, isOver, startRun } from './speeding.ts';
import { decodeState, encodeState } from './state-codec.ts';
import { noteRecord, statusOf } from './status.ts';
import { isInPlace, isSteady, keepsOn, settle, settleMotion } from './steady-state.ts';
import { atFix, isWayKnown, repeatsSpeed, Step } from './step.ts';
import {
  admit,
  MAX_EVENTS_PER_MINUTE,
  MAX_GEOFENCES_AT_ONCE,
  noSurplus,
  noteGeofences,
  type SurplusCount,
} from './surplus.ts';
import { undecidedSinceMs } from './undecided.ts';
import { freshState, orderOf, type Presence, type SpeedingRun, type VehicleState } from './vehicle-state.ts';
import { advancePresence, confirmEntry, endPresenceByDefinition, enter, foundInside, passThrough } from './visits.ts';

/** What a change did to a geofence, for the stays and runs that it is about. */
interface FenceChange {
  fence: Fence;
  shapeChanged: boolean;
  /** Version of the definition that was in force up to now. */
  versionBefore: number;
}

/** A server's clock may be set so much too early; a fix that is further ahead is its terminal's fault. */
const MAX_CLOCK_ERROR_MS = 86_400_000;
/**
 * So many fixes in a row that are ahead of their reception, and not rejected for it, are of a terminal whose clock is
 * fast: it is followed live, by the times that it gives.
 */
const FIXES_OF_FAST_CLOCK = 3;
const STATE_KEY = 'vehicle-state:';
const DEFINITION_KEY = 'definition:';

export interface EngineOptions {
  /** See {@link MAX_GEOFENCES_AT_ONCE}, which is the default; another number is for tests. */
  maxGeofencesAtOnce?: number;
  /** See {@link MAX_EVENTS_PER_MINUTE}, which is the default; another number is for tests. */
  maxEventsPerMinute?: number;
  /**
   * The `origin` of the events; default `live`. `recalculated` is for an engine that processes the history in the order
   * of the fixes. It makes no offline events, which depend on when data came and not on its content.
   */
  origin?: FleetEvent['origin'];
}

/**
 * The rules engine: makes events from definitions and positions (semantics, from "Positions" to "Other events").
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
  readonly #origin: FleetEvent['origin'];
  readonly #hits: Fence[] = [];
  /** Geofences whose boundary the way to the fix in hand may meet. */
  readonly #onWay: Fence[] = [];
  #onWayCount = 0;
  /** Marks the geofences that contain the fix in hand; see {@link Fence.stamp}. */
  #stamp = 0;
  /** Marks those in `#onWay`, where there are any. */
  #wayStamp = -1;
  /** Grows with each change of a definition: what was found out about a vehicle before it may not hold any more. */
  #epoch = 0;
  #dirty: VehicleState[] = [];
  #updated: VehicleState[] = [];
  readonly #late = new Map<VehicleId, LateInterval>();
  readonly #rejected = new Map<Rejection, number>();
  readonly #maxGeofencesAtOnce: number;
  readonly #maxEventsPerMinute: number;
  #surplus: SurplusCount = { geofences: 0, events: 0, vehicles: new Set() };
  #removed = new Set<VehicleId>();
  #changedDefinitions = new Map<string, Definition | null>();

  constructor({
    origin = 'live',
    maxGeofencesAtOnce = MAX_GEOFENCES_AT_ONCE,
    maxEventsPerMinute = MAX_EVENTS_PER_MINUTE,
  }: EngineOptions = {}) {
    this.#origin = origin;
    this.#maxGeofencesAtOnce = maxGeofencesAtOnce;
    this.#maxEventsPerMinute = maxEventsPerMinute;
  }

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
    for (const each of changes) {
      const change = withoutCustomFields(each);
      if (bearsOnEvents(change.kind) && this.#directory.apply(change) !== undefined) this.#note(change);
    }
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
  applyDefinition(published: DefinitionChange): FleetEvent[] {
    if (!bearsOnEvents(published.kind)) return [];
    // States and checkpoints hold definitions: attributes of clients would only take space there.
    const change = withoutCustomFields(published);
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
        this.#applyVehicle(change.id as VehicleId, before as Vehicle | null, change.changedAtMs, events);
        break;
      case 'geofence':
        this.#applyGeofence(change.id as GeofenceId, change.changedAtMs, events);
        break;
    }
    return events.filter((event) => this.#admitsEnd(event));
  }

  /**
   * Takes one packet in: its positions move the vehicle one after the other, in the order of their fix times whatever
   * order they were sent in, and what happened is added to `events`.
   *
   * A packet at or below the offset that its vehicle has reached was taken in before, and is skipped. A position that
   * is rejected, called invalid by its terminal, or not newer than the newest good fix moves nothing. What one with a
   * bad place and a good time says of ignition, alarms and power counts: a panic button counts without satellites. So
   * does what another record of the same fix time says; the same record again is no news. A position more than a minute
   * ahead of its reception is late data of the time that it names, see {@link takeLate}; but the third in a row, and
   * those after it, are live.
   *
   * Events beyond {@link MAX_EVENTS_PER_MINUTE} are left out, and counted: see {@link takeSurplus}.
   *
   * @param offset of the packet in its partition of the log
   * @returns how many positions moved the vehicle
   */
  process(packet: TelemetryPacket, offset: number, events: FleetEvent[]): number {
    const vehicle = this.#vehicles.get(packet.vehicleId) ?? this.#meet(packet.vehicleId);
    if (offset <= vehicle.offset) return 0;
    const eventsBefore = events.length;
    vehicle.offset = offset;
    vehicle.named = eventsBefore;

    const { receivedAtMs } = packet;
    const positions = inFixTimeOrder(packet.positions);
    if (this.#origin === 'live') receive(vehicle, receivedAtMs, events);
    else if (receivedAtMs > vehicle.receivedLastAtMs) vehicle.receivedLastAtMs = receivedAtMs;
    vehicle.protocol = packet.protocol;
    this.#update(vehicle, receivedAtMs);
    const before = vehicle.latest;
    let accepted = 0;
    let { latest } = vehicle;
    // Nearly every fix changes it, and nobody asks about it in between: it is written down once.
    let { speedKmh } = vehicle;
    for (let i = 0; i < positions.length; i++) {
      const fix = positions[i] as Position;
      const rejection = rejectionOf(fix, receivedAtMs);
      if (rejection !== null) this.#countRejected(rejection);
      if (fix.fixTimeMs > receivedAtMs + MAX_AHEAD_LIVE_MS) {
        if (fix.valid && rejection === null && fix.fixTimeMs > vehicle.aheadMs) vehicle.aheadFixes++;
        if (vehicle.aheadFixes < FIXES_OF_FAST_CLOCK || !fix.valid || rejection !== null) {
          // Once its time has come, the history has it in its place: until then it is nowhere.
          if (fix.fixTimeMs <= receivedAtMs + MAX_CLOCK_ERROR_MS) {
            this.#noteLate(vehicle.id, fix.fixTimeMs, receivedAtMs);
            vehicle.aheadMs = Math.max(vehicle.aheadMs, fix.fixTimeMs);
          }
          noteRecord(vehicle, fix, receivedAtMs);
          continue;
        }
        vehicle.aheadMs = Math.max(vehicle.aheadMs, fix.fixTimeMs);
      } else if (fix.valid) vehicle.aheadFixes = 0;
      if (!fix.valid || rejection !== null) {
        if (latest !== null && fix.fixTimeMs < Math.max(latest.fixTimeMs, vehicle.recordAtMs))
          if (isTimely(fix, receivedAtMs)) this.#noteLate(vehicle.id, fix.fixTimeMs, receivedAtMs);
        carry(vehicle, latest, fix, receivedAtMs, events);
        noteRecord(vehicle, fix, receivedAtMs);
        continue;
      }
      if (latest === null) {
        judgeDriver(vehicle, fix, events);
        this.#step.set(null, false, null, fix, 0);
        speedKmh = this.#firstFix(vehicle, events);
      } else {
        const elapsedMs = fix.fixTimeMs - latest.fixTimeMs;
        // Older than the newest, or than a record that moved nothing but was evaluated.
        if (elapsedMs < 0 || fix.fixTimeMs < vehicle.recordAtMs)
          this.#noteLate(vehicle.id, fix.fixTimeMs, receivedAtMs);
        // The archive has one of them, and so has a recalculation.
        else if (fix.fixTimeMs === vehicle.recordAtMs && isRepeat(vehicle, fix)) continue;
        if (elapsedMs <= 0) {
          if (elapsedMs === 0 && fix.fixTimeMs >= vehicle.recordAtMs) besideFix(vehicle, latest, speedKmh, fix, events);
          noteRecord(vehicle, fix, receivedAtMs);
          continue;
        }
        if (impliesJump(latest.latitude, latest.longitude, fix.latitude, fix.longitude, elapsedMs)) {
          vehicle.suspects = suspectsAfter(vehicle.suspects, fix);
          if (!outweighAnchor(vehicle.suspects) || vehicle.suspects.lastAtMs !== fix.fixTimeMs) {
            this.#countRejected('jump');
            carry(vehicle, latest, fix, receivedAtMs, events);
            noteRecord(vehicle, fix, receivedAtMs);
            continue;
          }
          judgeDriver(vehicle, fix, events);
          this.#step.set(latest, false, speedKmh, fix, elapsedMs);
          speedKmh = this.#nextFix(vehicle, false, events);
        } else {
          judgeDriver(vehicle, fix, events);
          const inPlace = vehicle.steadyEpoch === this.#epoch && isInPlace(vehicle, fix);
          if (!inPlace || !isSteady(vehicle, fix) || repeatsSpeed(latest, fix, elapsedMs)) {
            this.#step.set(latest, true, speedKmh, fix, elapsedMs);
            speedKmh = this.#nextFix(vehicle, inPlace, events);
          } else {
            const { motion, definition, ignition } = vehicle;
            const before = speedKmh;
            speedKmh = fix.speedKmh as number;
            if (motion !== null && keepsOn(vehicle, speedKmh, fix, elapsedMs)) {
              continueMotion(motion, latest, fix, elapsedMs);
            } else if (definition !== null) {
              this.#step.set(latest, true, before, fix, elapsedMs);
              advanceMotion(vehicle, definition, this.#step, speedKmh, ignition, events);
              settleMotion(vehicle);
            }
          }
        }
      }
      if (vehicle.gauge !== null) judgeFuel(vehicle, vehicle.gauge, latest, fix, events);
      if (vehicle.suspects !== null) vehicle.suspects = null;
      if (vehicle.sensors !== null) follow(vehicle, fix, fix, speedKmh, events);
      latest = fix;
      // Which past shifts may still be named depends on it.
      vehicle.latest = fix;
      accepted++;
    }
    if (vehicle.sensors !== null && this.#origin === 'live')
      noteRecords(vehicle.sensors, positions, receivedAtMs + MAX_AHEAD_LIVE_MS);
    if (vehicle.aheadMs !== 0 && positions.length > 0 && (positions[0] as Position).fixTimeMs <= vehicle.aheadMs)
      this.#noteBehindAhead(vehicle, packet);
    if (events.length > eventsBefore) {
      nameDriver(vehicle, events);
      this.#admit(vehicle, events, eventsBefore);
    }
    if (accepted === 0 || latest === null) return 0;
    if (vehicle.tripCut && before !== null) this.#resume(vehicle, before, packet);
    noteRecord(vehicle, latest, receivedAtMs);
    vehicle.speedKmh = speedKmh;
    vehicle.receivedAtMs = receivedAtMs;
    return accepted;
  }

  /**
   * Advances time to `nowMs`; nothing received before is still to come. Publishes which vehicles went offline
   * meanwhile, and ends the trips of vehicles that sent nothing for too long. The next packet would make the same
   * events, with the same ids, but may never come. An engine that goes over the history ends trips only.
   *
   * @param only this vehicle alone; null: all
   */
  advance(nowMs: number, events: FleetEvent[], only: VehicleId | null = null): void {
    const report = this.#origin === 'live' ? reportSilence : endSilentTrip;
    const advanced = only === null ? this.#vehicles.values() : [this.#vehicles.get(only)];
    for (const vehicle of advanced) {
      const before = events.length;
      if (vehicle === undefined) continue;
      vehicle.named = before;
      if (!report(vehicle, nowMs, events)) continue;
      nameDriver(vehicle, events);
      this.#admit(vehicle, events, before);
      this.#update(vehicle, nowMs);
    }
  }

  /** True where {@link advance} of the live rules would make an event. */
  hasSilent(nowMs: number): boolean {
    if (this.#origin !== 'live') return false;
    for (const vehicle of this.#vehicles.values()) if (isSilent(vehicle, nowMs)) return true;
    return false;
  }

  /** The status of a vehicle that has sent anything. */
  statusOf(vehicleId: VehicleId): VehicleStatus | undefined {
    const vehicle = this.#vehicles.get(vehicleId);
    return (vehicle && statusOf(vehicle)) ?? undefined;
  }

  /** The status of every vehicle that is defined: what a hub that lost everything is filled with. */
  *allStatuses(): Generator<VehicleStatus> {
    for (const vehicle of this.#vehicles.values()) {
      const status = vehicle.definition && statusOf(vehicle);
      if (status) yield status;
    }
  }

  /**
   * The status of each vehicle of which it changed since the last call, in agreement with the events made up to now.
   */
  takeUpdated(): VehicleStatus[] {
    const updated = this.#updated;
    this.#updated = [];
    const statuses: VehicleStatus[] = [];
    for (const vehicle of updated) {
      vehicle.updated = false;
      // One that was deleted, or is not defined yet, has no status that anyone may see.
      const status = vehicle.definition && statusOf(vehicle);
      if (status) statuses.push(status);
    }
    return statuses;
  }

  /**
   * For each vehicle that good fixes came of which are older than its newest: the interval that they lie in, since the
   * last call. They moved nothing; what they change of the past is for a recalculation to find out.
   */
  takeLate(): LateInterval[] {
    const late = [...this.#late.values()];
    this.#late.clear();
    return late;
  }

  /** What was left out since the last call because it is beyond the caps. */
  takeSurplus(): SurplusCount {
    const surplus = this.#surplus;
    if (surplus.vehicles.size > 0) this.#surplus = { geofences: 0, events: 0, vehicles: new Set() };
    return surplus;
  }

  /** How many fixes were rejected since the last call, by reason. */
  takeRejected(): Map<Rejection, number> {
    const rejected = new Map(this.#rejected);
    this.#rejected.clear();
    return rejected;
  }

  #countRejected(reason: Rejection): void {
    this.#rejected.set(reason, (this.#rejected.get(reason) ?? 0) + 1);
  }

  /**
   * Since when something of a vehicle waits for time to pass before it is reported: a stay, an absence or a speeding
   * that is not long enough yet, fixes that may be jumps. Null where nothing does.
   *
   * @param silentFromMs also what was found going on, at this time or later, and is reported at its end alone
   */
  undecidedSinceMs(vehicleId: VehicleId, silentFromMs = Number.POSITIVE_INFINITY): number | null {
    const vehicle = this.#vehicles.get(vehicleId);
    return vehicle === undefined ? null : undecidedSinceMs(vehicle, silentFromMs);
  }

  /**
   * Time of the oldest record that an event of a vehicle's fuel may still depend on, Unix milliseconds; null where none
   * does.
   */
  fuelSinceMs(vehicleId: VehicleId): number | null {
    const { fuel = null, gauge = null } = this.#vehicles.get(vehicleId) ?? {};
    return fuel === null || gauge?.tank == null ? null : remembersSinceMs(fuel);
  }

  /**
   * False where a threshold hangs on the median of values of which one is not newer than a moment: what came late
   * before it may have changed it.
   */
  hasMediansAfter(vehicleId: VehicleId, atMs: number): boolean {
    const states = this.#vehicles.get(vehicleId)?.sensors ?? null;
    if (states === null) return true;
    return states.sensors.followed.every((place) => {
      const [oldest] = place.sensor.definition.thresholds.length === 0 ? [] : windowOf(states, place);
      return oldest === undefined || oldest[0] > atMs;
    });
  }

  /**
   * Until when an event may begin that is named after the driver of a past shift: the latest end of the shifts that
   * touch the interval. Null where none does.
   */
  pastShiftUntilMs(vehicleId: VehicleId, fromMs: number, toMs: number): number | null {
    const { pastShifts = [] } = this.#vehicles.get(vehicleId) ?? {};
    const within = pastShifts.filter(({ startedAtMs, untilMs }) => startedAtMs <= toMs && untilMs >= fromMs);
    return within.length === 0 ? null : Math.max(...within.map(({ untilMs }) => untilMs));
  }

  /**
   * The partition goes on at `offset`, and what comes from there on was not taken in before, whatever a vehicle has
   * reached: the log that its offset was of is gone.
   */
  rewind(offset: number): void {
    for (const vehicle of this.#vehicles.values()) if (vehicle.offset >= offset) vehicle.offset = offset - 1;
  }

  /** Forgets what it knows of a vehicle but for its definition: its next fix is its first. */
  forget(vehicleId: VehicleId): void {
    const vehicle = this.#vehicles.get(vehicleId);
    this.#vehicles.delete(vehicleId);
    this.#late.delete(vehicleId);
    this.#dirty = this.#dirty.filter((each) => each !== vehicle);
    this.#updated = this.#updated.filter((each) => each !== vehicle);
  }

  /** How many vehicles the engine keeps a state of. */
  get vehicleCount(): number {
    return this.#vehicles.size;
  }

  /**
   * What changed since the last call, as entries of a checkpoint: `vehicle-state:<id>` and `definition:<kind>:<id>`;
   * null where an entry is to be removed. Encoded at once: what comes after this call is not in it.
   */
  takeChanges(): [key: string, value: Buffer | null][] {
    const changes: [string, Buffer | null][] = [];
    for (const [key, definition] of this.#changedDefinitions)
      changes.push([key, definition && Buffer.from(storedDefinition(definition))]);
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
   * Goes back to where a checkpoint was taken: an engine restored from all changes taken up to now goes on exactly like
   * the one that they were taken from. Keys that are not the engine's are left alone.
   *
   * @throws {Error} when the engine is not fresh, or an entry is not what {@link takeChanges} wrote
   */
  restore(entries: Iterable<readonly [key: string, value: Buffer]>): void {
    if (this.#vehicles.size + this.#fences.size > 0) throw new Error('only a fresh engine can be restored');
    const definitions: DefinitionChange[] = [];
    const states: (readonly [VehicleId, Buffer])[] = [];
    for (const [key, value] of entries) {
      if (key.startsWith(DEFINITION_KEY)) {
        definitions.push(asChange(readStoredDefinition(value.toString()), 0));
      } else if (key.startsWith(STATE_KEY)) {
        states.push([key.slice(STATE_KEY.length) as VehicleId, value]);
      }
    }
    this.load(definitions);
    // What came from the checkpoint need not go back into it.
    this.#changedDefinitions.clear();
    for (const [id, bytes] of states) {
      const fenceOf = (geofenceId: GeofenceId) => {
        const fence = this.#fences.get(geofenceId);
        if (!fence) throw new Error(`the state of vehicle ${id} names geofence ${geofenceId}, which is not defined`);
        return fence;
      };
      const sensors = vehicleSensors(this.#directory.vehicles.get(id)?.sensors ?? []);
      const vehicle = decodeState(id, bytes, this.#origin, fenceOf, sensors);
      this.#resolve(vehicle);
      this.#vehicles.set(id, vehicle);
    }
  }

  /**
   * Data came for a vehicle whose trip had ended without packets. Fixes from within the gap show that the trip went on:
   * a recalculation corrects its published end, as for all late data.
   *
   * @param before the last fix before the silence
   */
  #resume(vehicle: VehicleState, before: Position, { positions, receivedAtMs }: TelemetryPacket): void {
    vehicle.tripCut = false;
    const { definition, id } = vehicle;
    if (definition === null) return;
    const untilMs = before.fixTimeMs + gapMsOf(definition);
    for (const { fixTimeMs } of positions) {
      if (fixTimeMs <= before.fixTimeMs || fixTimeMs > untilMs) continue;
      this.#noteLate(id, before.fixTimeMs, receivedAtMs);
      this.#noteLate(id, fixTimeMs, receivedAtMs);
    }
  }

  /**
   * What comes with an older time than a fix that was ahead changes what that fix makes of the history: it is late,
   * too.
   */
  #noteBehindAhead(vehicle: VehicleState, { positions, receivedAtMs }: TelemetryPacket): void {
    const { aheadMs } = vehicle;
    for (const { fixTimeMs } of positions) {
      if (fixTimeMs > receivedAtMs + MAX_AHEAD_LIVE_MS) continue;
      if (fixTimeMs <= aheadMs) this.#noteLate(vehicle.id, fixTimeMs, receivedAtMs);
    }
  }

  #noteLate(vehicleId: VehicleId, fixTimeMs: number, receivedAtMs: number): void {
    const known = this.#late.get(vehicleId);
    if (known === undefined) this.#late.set(vehicleId, { vehicleId, fromMs: fixTimeMs, toMs: fixTimeMs, receivedAtMs });
    else if (fixTimeMs < known.fromMs) known.fromMs = fixTimeMs;
    else if (fixTimeMs > known.toMs) known.toMs = fixTimeMs;
  }

  #meet(id: VehicleId): VehicleState {
    const vehicle = freshState(id, this.#origin);
    this.#resolve(vehicle);
    this.#vehicles.set(id, vehicle);
    return vehicle;
  }

  /** Takes the vehicle's definition, and who watches it, from the directory. */
  #resolve(vehicle: VehicleState): void {
    const definition = this.#directory.vehicles.get(vehicle.id) ?? null;
    vehicle.definition = definition;
    vehicle.gauge = fuelGaugeOf(definition);
    vehicle.harsh = harshLimitsOf(definition);
    vehicle.watchers = [];
    vehicle.sensors ??= freshSensors(vehicleSensors(definition?.sensors ?? []));
    if (definition === null) return;
    for (const owner of this.#owners.values())
      if (owner.user && mayListVehicle(owner.user, definition)) vehicle.watchers.push(owner);
  }

  #touch(vehicle: VehicleState): void {
    if (vehicle.dirty) return;
    vehicle.dirty = true;
    this.#dirty.push(vehicle);
  }

  /** Notes that the status of a vehicle changed, or may have. */
  #update(vehicle: VehicleState, atMs: number): void {
    this.#touch(vehicle);
    if (atMs > vehicle.asOfMs) vehicle.asOfMs = atMs;
    if (vehicle.updated) return;
    vehicle.updated = true;
    this.#updated.push(vehicle);
  }

  #note(change: DefinitionChange): void {
    this.#changedDefinitions.set(definitionKey(change.kind, change.id), change.definition);
  }

  /**
   * Finds the geofences that watch the vehicle and contain a place: stamped, and in `#hits`. Returns how many.
   *
   * @param way the step that leads there, where it is to be known which boundaries it may meet: those are stamped, and
   *   in `#onWay`; null where there is nothing to be found on it
   */
  #look(vehicle: VehicleState, { longitude, latitude, fixTimeMs: atMs }: Position, way: Step | null): number {
    this.#onWayCount = 0;
    const { watchers, definition, cachedCells } = vehicle;
    if (watchers.length === 0 || definition === null) return 0;
    const from = way !== null && isWayKnown(way) ? way.from : null;
    const isSettled = vehicle.steadyEpoch === this.#epoch;
    while (cachedCells.length < watchers.length) cachedCells.push(new CachedCell());
    let found = 0;
    let onWay = 0;
    for (let i = 0; i < watchers.length; i++) {
      const owner = watchers[i] as OwnerFences;
      const cached = cachedCells[i] as CachedCell;
      const before = found;
      if (way === null || from === null) {
        found = owner.find(longitude, latitude, this.#hits, found, cached);
        if (found - before > this.#maxGeofencesAtOnce) found = this.#leaveOut(vehicle, owner, before, found, atMs);
        continue;
      }
      // Most ways lead from a place without a boundary to the next, or meet none of this owner's (of a single owner it
      // would not have come here).
      const wasClear = isSettled && owner.isClear(cached);
      const isUnchanged = isSettled && watchers.length > 1 && owner.isUnchanged(cached, way.to);
      const { column, row } = cached;
      found = owner.find(longitude, latitude, this.#hits, found, cached);
      if (found - before > this.#maxGeofencesAtOnce) found = this.#leaveOut(vehicle, owner, before, found, atMs);
      if (isUnchanged || (wasClear && owner.isClear(cached) && cached.isBeside(column, row))) continue;
      onWay = owner.findOnWay(from, way.to, this.#onWay, onWay);
    }
    if (onWay > 0) this.#markOnWay(definition, onWay);
    if (found === 0) return 0;
    const hits = this.#hits;
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

  /**
   * Leaves out those of an owner's geofences in `#hits`, from one index to before another, that are beyond the cap.
   * Returns the index after the last one that counts.
   */
  #leaveOut(vehicle: VehicleState, owner: OwnerFences, from: number, to: number, atMs: number): number {
    const { definition } = vehicle;
    const hits = this.#hits;
    let end = from;
    for (let i = from; i < to; i++) {
      const fence = hits[i] as Fence;
      if (definition === null || appliesTo(fence, definition)) hits[end++] = fence;
    }
    const most = this.#maxGeofencesAtOnce;
    const surplus = end - from - most;
    if (surplus <= 0) return end;
    this.#noteLeftOut(vehicle, owner, surplus, atMs);
    return owner.keepOldest(hits, from, end, most);
  }

  #noteLeftOut(vehicle: VehicleState, owner: OwnerFences, geofences: number, atMs: number): void {
    vehicle.surplus ??= noSurplus();
    noteGeofences(vehicle.surplus, owner.id, atMs, geofences);
    this.#surplus.geofences += geofences;
    this.#surplus.vehicles.add(vehicle.id);
  }

  /** Takes out those events from an index on that are beyond the cap, and the ends of those whose begin was. */
  #admit(vehicle: VehicleState, events: FleetEvent[], from: number): void {
    let kept = from;
    for (let i = from; i < events.length; i++) {
      const event = events[i] as FleetEvent;
      if (this.#admits(vehicle, event)) events[kept++] = event;
    }
    events.length = kept;
  }

  #admits(vehicle: VehicleState, event: FleetEvent): boolean {
    // Silence is bounded by itself: one event between two packets.
    if (event.kind === 'offline') return true;
    if (vehicle.surplus === null) {
      if (event.phase === 'end') return true;
      vehicle.surplus = noSurplus();
    }
    const geofenceId = geofenceOf(event);
    const owner = geofenceId === null ? '' : (this.#fences.get(geofenceId)?.owner.id ?? '');
    if (admit(vehicle.surplus, event, owner, this.#maxEventsPerMinute)) return true;
    if (event.phase === 'begin') {
      this.#surplus.events++;
      this.#surplus.vehicles.add(vehicle.id);
    }
    return false;
  }

  /** For an event that a definition ended. */
  #admitsEnd(event: FleetEvent): boolean {
    const vehicle = this.#vehicles.get(event.vehicleId);
    return vehicle === undefined || this.#admits(vehicle, event);
  }

  /** Stamps those of the first `found` geofences in `#onWay` that watch the vehicle, and leaves out the others. */
  #markOnWay(definition: Vehicle, found: number): void {
    const onWay = this.#onWay;
    const stamp = ++this.#stamp;
    let kept = 0;
    for (let i = 0; i < found; i++) {
      const fence = onWay[i] as Fence;
      if (fence.groupIds !== null && !appliesTo(fence, definition)) continue;
      fence.wayStamp = stamp;
      onWay[kept++] = fence;
    }
    this.#onWayCount = kept;
    this.#wayStamp = stamp;
  }

  /** Deals with a vehicle's first fix. Returns the speed there. */
  #firstFix(vehicle: VehicleState, events: FleetEvent[]): number | null {
    const step = this.#step;
    const fix = step.to;
    const speedKmh = step.speedKmh();
    const found = this.#look(vehicle, fix, null);
    const here = atFix(fix, speedKmh);
    for (let i = 0; i < found; i++) vehicle.presences.push(foundInside(this.#hits[i] as Fence, here, fix.fixTimeMs));
    if (found > 1) vehicle.presences.sort((a, b) => orderOf(a.fence, b.fence));
    this.#judgeSpeed(vehicle, found, speedKmh, events);
    this.#judgeRecord(vehicle, speedKmh, events);
    settle(vehicle, this.#epoch);
    return speedKmh;
  }

  /**
   * Deals with the step in hand. Returns the speed at its end.
   *
   * @param inPlace true where its way is known to meet no boundary
   */
  #nextFix(vehicle: VehicleState, inPlace: boolean, events: FleetEvent[]): number | null {
    const step = this.#step;
    const found = this.#look(vehicle, step.to, inPlace ? null : step);
    if (found > 0 || vehicle.presences.length > 0 || this.#onWayCount > 0) this.#visit(vehicle, found, events);
    const speedKmh = step.speedKmh();
    if (found > 0 || vehicle.runs.length > 0 || vehicle.definition?.speedLimitKmh != null)
      this.#judgeSpeed(vehicle, found, speedKmh, events);
    this.#judgeRecord(vehicle, speedKmh, events);
    settle(vehicle, this.#epoch);
    return speedKmh;
  }

  /** Takes in what the fix in hand says besides its place, and what it makes of trips and stops. */
  #judgeRecord(vehicle: VehicleState, speedKmh: number | null, events: FleetEvent[]): void {
    const { definition, ignition } = vehicle;
    if (definition === null) return;
    const step = this.#step;
    const harsh =
      vehicle.harsh === null || step.from === null ? NOTHING_HARSH : harshBetween(vehicle.harsh, step.from, step.to);
    if (harsh.length > 0 || !saysNothingNew(vehicle, step.to) || hasAlarm(vehicle))
      observe(vehicle, definition.version, step.to, atFix(step.to, speedKmh), events, harsh);
    advanceMotion(vehicle, definition, step, speedKmh, ignition, events);
  }

  /** Moves the stays on by the step in hand, `found` geofences being hit. */
  #visit(vehicle: VehicleState, found: number, events: FleetEvent[]): void {
    const step = this.#step;
    const stamp = found > 0 ? this.#stamp : -1;
    const { presences } = vehicle;
    const onWay = this.#onWayCount;
    let kept = 0;
    let known = 0;
    for (let i = 0; i < presences.length; i++) {
      const presence = presences[i] as Presence;
      const { fence } = presence;
      const inside = fence.stamp === stamp;
      if (inside) known++;
      const mayPass = onWay > 0 && fence.wayStamp === this.#wayStamp;
      const next = advancePresence(vehicle, presence, inside, mayPass, step, events);
      // What it had to do with the way is settled.
      if (mayPass) fence.wayStamp = -1;
      if (next !== null) presences[kept++] = next;
    }
    presences.length = kept;
    if (onWay > 0) this.#passThrough(vehicle, stamp, events);
    if (known === found) return;
    let entered: Fence | null = null;
    let more: Fence[] | null = null;
    for (let i = 0; i < found; i++) {
      const fence = this.#hits[i] as Fence;
      if (hasPresence(presences, fence)) continue;
      if (entered === null) entered = fence;
      else if (more === null) more = [fence];
      else more.push(fence);
    }
    if (entered === null) return;
    if (more === null) this.#enter(vehicle, entered, events);
    else for (const fence of [entered, ...more].sort(orderOf)) this.#enter(vehicle, fence, events);
  }

  /**
   * Deals with the geofences on the way of the step in hand that the vehicle had no stay in and is not inside of now.
   *
   * @param stamp of those that it is inside of
   */
  #passThrough(vehicle: VehicleState, stamp: number, events: FleetEvent[]): void {
    const onWay = this.#onWay;
    let passed: Fence[] | null = null;
    for (let i = 0; i < this.#onWayCount; i++) {
      const fence = onWay[i] as Fence;
      if (fence.wayStamp !== this.#wayStamp || fence.stamp === stamp) continue;
      passed ??= [];
      passed.push(fence);
    }
    if (passed === null) return;
    if (passed.length > 1) passed.sort(orderOf);
    const counts = passed.length > this.#maxGeofencesAtOnce ? new Map<OwnerFences, number>() : null;
    for (const fence of passed) {
      const count = counts?.get(fence.owner) ?? 0;
      if (count === this.#maxGeofencesAtOnce) {
        this.#noteLeftOut(vehicle, fence.owner, 1, this.#step.to.fixTimeMs);
        continue;
      }
      const before = events.length;
      const presence = passThrough(vehicle, fence, this.#step, events);
      if (presence !== null) addPresence(vehicle.presences, presence);
      if (presence !== null || events.length > before) counts?.set(fence.owner, count + 1);
    }
  }

  /**
   * Begins a stay, in its place among the others. A geofence that the vehicle was inside of before and that did not
   * count until another was left is found, not entered.
   */
  #enter(vehicle: VehicleState, fence: Fence, events: FleetEvent[]): void {
    const step = this.#step;
    const { from, to } = step;
    const { owner } = fence;
    if (from !== null && vehicle.surplus?.notes.some((note) => note.owner === owner.id))
      if (fence.contains(from.longitude, from.latitude)) {
        addPresence(vehicle.presences, foundInside(fence, atFix(to, step.speedKmh()), to.fixTimeMs));
        return;
      }
    addPresence(
      vehicle.presences,
      confirmEntry(vehicle, enter(fence, step), step.to.fixTimeMs, step.to.fixTimeMs, events),
    );
  }

  /** Judges the speed at the fix in hand against all limits that hold there. */
  #judgeSpeed(vehicle: VehicleState, found: number, speedKmh: number | null, events: FleetEvent[]): void {
    const { definition, runs } = vehicle;
    // A first fix without a speed can't begin or end speeding.
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
      const sees = user !== null && vehicle.definition !== null && mayListVehicle(user, vehicle.definition);
      const at = vehicle.watchers.indexOf(owner);
      if (sees === at >= 0) continue;
      if (sees) vehicle.watchers.push(owner);
      else vehicle.watchers.splice(at, 1);
      this.#reconcile(vehicle, null, atMs, events);
    }
  }

  #applyVehicle(id: VehicleId, before: Vehicle | null, atMs: number, events: FleetEvent[]): void {
    const vehicle = this.#vehicles.get(id);
    if (!vehicle) return;
    const levelSource = vehicle.gauge?.levelSource;
    const { sensors } = vehicle;
    vehicle.sensors = null;
    this.#resolve(vehicle);
    // Levels of before and after can't be compared.
    if (before !== null && vehicle.gauge?.levelSource !== levelSource)
      endFuelByDefinition(vehicle, before.version, events);
    if (vehicle.definition === null) vehicle.sensors = sensors;
    else {
      vehicle.named = events.length;
      vehicle.sensors = redefineSensors(vehicle, sensors, vehicleSensors(vehicle.definition.sensors), events);
      nameDriver(vehicle, events);
    }
    this.#reconcile(vehicle, null, atMs, events);
    this.#update(vehicle, atMs);
    if (vehicle.definition !== null) {
      // What nobody watched for is no silence.
      if (before === null) vehicle.receivedLastAtMs = Math.max(vehicle.receivedLastAtMs, atMs);
      return;
    }
    if (before !== null) endAll(vehicle, before.version, atMs, events);
    this.#admit(vehicle, events, 0);
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
      owner = new OwnerFences(geofence.ownerId, this.#directory.ownerOf(geofence) ?? null);
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
      if (near || hasPresence(vehicle.presences, fence) || vehicle.runs.some((run) => run.fence === fence))
        this.#reconcile(vehicle, change, atMs, events);
    }
  }

  /**
   * True where as many of the owner's other geofences contain the vehicle as count: which of them do, the next fix
   * shows.
   */
  #isFull({ presences }: VehicleState, { owner }: Fence): boolean {
    if (owner.size <= this.#maxGeofencesAtOnce) return false;
    let count = 0;
    for (const { fence, phase } of presences) if (fence.owner === owner && phase !== 'leaving') count++;
    return count >= this.#maxGeofencesAtOnce;
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
    vehicle.named = before;
    const { presences, runs } = vehicle;
    vehicle.presences = presences.filter((presence) => {
      const reason = reasonFor(presence.fence);
      if (reason === null) {
        // A new shape may reach out to a vehicle that was about to have left.
        if (presence.phase === 'leaving' && presence.fence === change?.fence && change.shapeChanged) {
          presence.phase = 'inside';
          presence.exit = null;
          this.#touch(vehicle);
        }
        return true;
      }
      const version = presence.fence === change?.fence ? change.versionBefore : presence.fence.definition.version;
      endPresenceByDefinition(vehicle, presence, reason, atMs, version, events);
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
      if (inChanged && isWatched(vehicle, change.fence) && !this.#isFull(vehicle, change.fence))
        entered = [change.fence];
    } else {
      const found = this.#look(vehicle, latest, null);
      entered = this.#hits.slice(0, found);
    }
    for (const fence of entered) {
      if (hasPresence(vehicle.presences, fence)) continue;
      const sinceMs = Math.max(atMs, latest.fixTimeMs);
      const known = { ...atFix(latest, vehicle.speedKmh), atMs: sinceMs };
      vehicle.presences.push(foundInside(fence, known, latest.fixTimeMs));
      this.#touch(vehicle);
    }
    vehicle.presences.sort((a, b) => orderOf(a.fence, b.fence));
    nameDriver(vehicle, events);
    if (
      events.length > before ||
      vehicle.presences.length !== presences.length ||
      vehicle.runs.length !== runs.length
    ) {
      this.#update(vehicle, atMs);
    }
  }
}

/** Ends what the vehicle does, whatever it is, because its profile was deleted. */
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

/** Takes in what a fix that moves the vehicle says of the driver, as {@link observe} does with its conditions. */
function judgeDriver(vehicle: VehicleState, fix: Position, events: FleetEvent[]): void {
  if (!concernsDriver(vehicle, fix) || fix.fixTimeMs < vehicle.recordAtMs) return;
  advanceShift(vehicle, fix, atFix(fix, fix.speedKmh), fix.fixTimeMs === vehicle.recordAtMs, events);
}

/** Takes in what a fix that moves the vehicle says of its fuel. */
function judgeFuel(
  vehicle: VehicleState,
  gauge: FuelGauge,
  latest: Position | null,
  fix: Position,
  events: FleetEvent[],
): void {
  const metres = latest === null ? 0 : stepM(latest, fix, fix.fixTimeMs - latest.fixTimeMs);
  measureFuel(vehicle, gauge, fix, metres, fix, events);
}

/** Puts a stay into its place among the others. */
function addPresence(presences: Presence[], presence: Presence): void {
  let at = presences.length;
  while (at > 0 && orderOf((presences[at - 1] as Presence).fence, presence.fence) > 0) at--;
  if (at === presences.length) presences.push(presence);
  else presences.splice(at, 0, presence);
}

/**
 * Evaluates the attributes of a record with a bad place: at the vehicle's last place, at the time of the record. Before
 * its first good fix a vehicle has no place, and nothing is published.
 */
function carry(
  vehicle: VehicleState,
  latest: Position | null,
  record: Position,
  receivedAtMs: number,
  events: FleetEvent[],
): void {
  const { definition } = vehicle;
  const { fixTimeMs } = record;
  if (definition === null || latest === null || fixTimeMs < latest.fixTimeMs || !isTimely(record, receivedAtMs)) return;
  const { latitude, longitude } = latest;
  const at = { atMs: fixTimeMs, latitude, longitude, speedKmh: null };
  if (fixTimeMs === latest.fixTimeMs) {
    if (fixTimeMs >= vehicle.recordAtMs) observeBeside(vehicle, definition.version, latest, record, at, events);
    follow(vehicle, record, latest, null, events);
    return;
  }
  const isNewest = fixTimeMs > vehicle.recordAtMs;
  if (isNewest && concernsDriver(vehicle, record)) advanceShift(vehicle, record, at, false, events);
  observe(vehicle, definition.version, record, at, events);
  follow(vehicle, record, latest, null, events);
  if (!isNewest) return;
  if (vehicle.gauge !== null) measureFuel(vehicle, vehicle.gauge, record, null, latest, events);
  vehicle.recordAtMs = fixTimeMs;
  vehicle.beside = { atMs: fixTimeMs, marks: [recordMark(record)] };
  // Whether it is calm may have changed; it is found out with the next fix.
  vehicle.steadyEpoch = -1;
}

/** Takes in what another good record of the newest fix's time says; the vehicle is where the first one put it. */
function besideFix(
  vehicle: VehicleState,
  latest: Position,
  speedKmh: number | null,
  record: Position,
  events: FleetEvent[],
): void {
  const { definition } = vehicle;
  if (definition !== null) observeBeside(vehicle, definition.version, latest, record, atFix(latest, speedKmh), events);
  follow(vehicle, record, latest, speedKmh, events);
}

/** Takes a record in by the sensors whose every value counts. */
function follow(
  vehicle: VehicleState,
  record: Position,
  place: Position,
  speedKmh: number | null,
  events: FleetEvent[],
): void {
  const { sensors, definition } = vehicle;
  if (sensors === null || definition === null || sensors.sensors.followed.length === 0) return;
  followSensors(vehicle, sensors, definition.version, record, place, speedKmh, gapMsOf(definition), events);
}

function hasPresence(presences: readonly Presence[], fence: Fence): boolean {
  for (let i = 0; i < presences.length; i++) if (presences[i]?.fence === fence) return true;
  return false;
}

function isWatched(vehicle: VehicleState, fence: Fence): boolean {
  const { definition } = vehicle;
  return definition !== null && vehicle.watchers.includes(fence.owner) && appliesTo(fence, definition);
}

/** Notification rules, video profiles and drivers cause no events, so the engine does not keep them. */
function bearsOnEvents(kind: DefinitionKind): boolean {
  return kind !== 'notification-rule' && kind !== 'video-profile' && kind !== 'driver';
}

function definitionKey(kind: DefinitionKind, id: string): string {
  return `${DEFINITION_KEY}${kind}:${id}`;
}
