import {
  type DefinitionChange,
  type Directory,
  type FleetEvent,
  type LateInterval,
  MAX_AHEAD_LIVE_MS,
  type Position,
  type Rejection,
  type TelemetryPacket,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { type CapOptions, Caps } from './caps.ts';
import { Definitions } from './definitions.ts';
import { nameDriver, pastShiftUntilMs } from './driver-shift.ts';
import { FixSteps } from './fix-steps.ts';
import { remembersSinceMs } from './fuel/fuel-state.ts';
import { FenceFinder } from './geofences/fence-finder.ts';
import { inFixTimeOrder } from './intake/packet-order.ts';
import { PositionIntake } from './intake/position-intake.ts';
import { LateIntervals } from './late-intervals.ts';
import { endSilentTrip } from './motion.ts';
import { Reconciler } from './reconciler.ts';
import { hasMediansAfter, noteRecords } from './sensors/sensor-state.ts';
import { isSilent, receive, reportSilence } from './silence.ts';
import { noteRecord, statusOf } from './status.ts';
import type { SurplusCount } from './surplus.ts';
import { undecidedSinceMs } from './undecided.ts';
import { freshState, type VehicleState } from './vehicle-state.ts';
import { VehicleStates } from './vehicle-states.ts';

export interface EngineOptions extends CapOptions {
  /**
   * The `origin` of the events; default `live`. `recalculated` is for an engine that processes the history in the order
   * of the fixes. It creates no offline events, which depend on when data came and not on its content.
   */
  origin?: FleetEvent['origin'];
}

/**
 * The rules engine: derives events from definitions and positions (semantics, from "Positions" to "Other events").
 *
 * Deterministic: the same definitions and packets in the same order give the same events with the same ids, on any
 * machine, and across any number of restarts from {@link takeChanges}. No clock, no I/O, no randomness.
 *
 * Which geofences watch a vehicle is precomputed whenever a definition changes. A position costs one query to the index
 * of each owner who may see the vehicle and has geofences.
 */
export class Engine {
  readonly #definitions = new Definitions();
  readonly #states = new VehicleStates();
  readonly #late = new LateIntervals();
  readonly #origin: FleetEvent['origin'];
  readonly #caps: Caps;
  readonly #reconciler: Reconciler;
  readonly #intake: PositionIntake;

  constructor({ origin = 'live', ...limits }: EngineOptions = {}) {
    const definitions = this.#definitions;
    const caps = new Caps(limits, (id) => definitions.fence(id)?.owner.id);
    const finder = new FenceFinder(caps);
    this.#origin = origin;
    this.#caps = caps;
    this.#reconciler = new Reconciler({ definitions, states: this.#states, finder, caps });
    this.#intake = new PositionIntake(new FixSteps(definitions, finder, caps), this.#late);
  }

  /** All definitions known to the engine. */
  get directory(): Directory {
    return this.#definitions.directory;
  }

  /** Number of vehicles that have a state. */
  get vehicleCount(): number {
    return this.#states.size;
  }

  /**
   * Loads many definitions before any vehicle is known, without events.
   *
   * @throws {Error} when a vehicle has state already
   */
  load(changes: Iterable<DefinitionChange>): void {
    if (this.#states.size > 0) throw new Error('definitions can only be loaded before the first vehicle');
    this.#definitions.load(changes);
  }

  /**
   * Applies one change, which is in force for the next position. A visit or speeding that it makes impossible ends at
   * `changedAtMs`, with the reason. Nothing begins: a vehicle that the change puts inside a geofence is inside
   * silently.
   *
   * @returns the ends
   */
  applyDefinition(change: DefinitionChange): FleetEvent[] {
    const ends: FleetEvent[] = [];
    this.#reconciler.apply(change, ends);
    return ends.filter((event) => {
      const vehicle = this.#states.get(event.vehicleId);
      return vehicle === undefined || this.#caps.admits(vehicle, event);
    });
  }

  /**
   * Processes one packet: moves the vehicle through its positions, in the order of their fix times whatever order they
   * were sent in, and appends the resulting events to `events`.
   *
   * A packet at or below the vehicle's last offset was processed before and is skipped. A position does not move the
   * vehicle if it is rejected, marked invalid by its terminal, or not newer than the newest good fix. Ignition, alarms
   * and power of a record with a bad place and a good time are still evaluated: a panic button must work without
   * satellites. So are those of another record of the same fix time; an identical record is ignored. A position more
   * than a minute ahead of its reception is late data for its own time, see {@link takeLate}; but from the third in a
   * row on such positions are live.
   *
   * Events beyond the caps are left out, and counted: see {@link takeSurplus}.
   *
   * @param offset of the packet in its partition of the log
   * @returns how many positions moved the vehicle
   */
  process(packet: TelemetryPacket, offset: number, events: FleetEvent[]): number {
    const vehicle = this.#states.get(packet.vehicleId) ?? this.#meet(packet.vehicleId);
    if (offset <= vehicle.offset) return 0;
    const eventsBefore = events.length;
    vehicle.offset = offset;
    vehicle.named = eventsBefore;

    const { receivedAtMs } = packet;
    const positions = inFixTimeOrder(packet.positions);
    if (this.#origin === 'live') receive(vehicle, receivedAtMs, events);
    else if (receivedAtMs > vehicle.receivedLastAtMs) vehicle.receivedLastAtMs = receivedAtMs;
    vehicle.protocol = packet.protocol;
    this.#states.update(vehicle, receivedAtMs);
    const before = vehicle.latest;
    const accepted = this.#intake.take(vehicle, positions, receivedAtMs, events);
    if (vehicle.sensors !== null && this.#origin === 'live')
      noteRecords(vehicle.sensors, positions, receivedAtMs + MAX_AHEAD_LIVE_MS);
    if (vehicle.aheadMs !== 0 && positions.length > 0 && (positions[0] as Position).fixTimeMs <= vehicle.aheadMs)
      this.#late.noteBehindAhead(vehicle, packet);
    if (events.length > eventsBefore) {
      nameDriver(vehicle, events);
      this.#caps.admit(vehicle, events, eventsBefore);
    }
    if (accepted === 0 || vehicle.latest === null) return 0;
    if (vehicle.tripCut && before !== null) {
      vehicle.tripCut = false;
      this.#late.noteInGap(vehicle, before, packet);
    }
    noteRecord(vehicle, vehicle.latest, receivedAtMs);
    vehicle.receivedAtMs = receivedAtMs;
    return accepted;
  }

  #meet(id: VehicleId): VehicleState {
    const vehicle = freshState(id, this.#origin);
    this.#definitions.resolve(vehicle);
    this.#states.add(vehicle);
    return vehicle;
  }

  /**
   * Advances time to `nowMs`; every packet received before it must have been processed. Publishes which vehicles went
   * offline meanwhile, and ends the trips of vehicles that sent nothing for too long. The next packet would cause the
   * same events, with the same ids, but may never come. An engine that recalculates the history only ends trips.
   *
   * @param only limits this to one vehicle; null: all
   */
  advance(nowMs: number, events: FleetEvent[], only: VehicleId | null = null): void {
    const report = this.#origin === 'live' ? reportSilence : endSilentTrip;
    const advanced = only === null ? this.#states.values() : [this.#states.get(only)];
    for (const vehicle of advanced) {
      const before = events.length;
      if (vehicle === undefined) continue;
      vehicle.named = before;
      if (!report(vehicle, nowMs, events)) continue;
      nameDriver(vehicle, events);
      this.#caps.admit(vehicle, events, before);
      this.#states.update(vehicle, nowMs);
    }
  }

  /** Whether {@link advance} of a live engine would create an event. */
  hasSilent(nowMs: number): boolean {
    if (this.#origin !== 'live') return false;
    for (const vehicle of this.#states.values()) if (isSilent(vehicle, nowMs)) return true;
    return false;
  }

  /** The status of a vehicle; undefined before its first packet. */
  statusOf(vehicleId: VehicleId): VehicleStatus | undefined {
    const vehicle = this.#states.get(vehicleId);
    return (vehicle && statusOf(vehicle)) ?? undefined;
  }

  /** The status of every defined vehicle, to refill a hub that lost its data. */
  *allStatuses(): Generator<VehicleStatus> {
    for (const vehicle of this.#states.values()) {
      const status = vehicle.definition && statusOf(vehicle);
      if (status) yield status;
    }
  }

  /** The statuses that changed since the last call, consistent with the events created up to now. */
  takeUpdated(): VehicleStatus[] {
    return this.#states.takeUpdated();
  }

  /**
   * Late intervals since the last call: for each vehicle that sent good fixes older than its newest, the interval that
   * contains these fixes.
   */
  takeLate(): LateInterval[] {
    return this.#late.take();
  }

  /** Counts of what exceeded the caps and was left out since the last call. */
  takeSurplus(): SurplusCount {
    return this.#caps.take();
  }

  /** Number of fixes rejected since the last call, by reason. */
  takeRejected(): Map<Rejection, number> {
    return this.#intake.takeRejected();
  }

  /**
   * The time since which something of a vehicle waits for more time to pass before it is reported: a presence, an
   * absence or speeding that is not long enough yet, or fixes that may be jumps. Null where nothing waits.
   *
   * @param silentFromMs also includes conditions found in progress at or after this time, of which only the end is
   *   reported
   */
  undecidedSinceMs(vehicleId: VehicleId, silentFromMs = Number.POSITIVE_INFINITY): number | null {
    const vehicle = this.#states.get(vehicleId);
    return vehicle === undefined ? null : undecidedSinceMs(vehicle, silentFromMs);
  }

  /**
   * Time of the oldest record on which an event of a vehicle's fuel may still depend, Unix milliseconds; null: none.
   */
  fuelSinceMs(vehicleId: VehicleId): number | null {
    const { fuel = null, gauge = null } = this.#states.get(vehicleId) ?? {};
    return fuel === null || gauge?.tank == null ? null : remembersSinceMs(fuel);
  }

  /** See {@link hasMediansAfter}. */
  hasMediansAfter(vehicleId: VehicleId, atMs: number): boolean {
    const states = this.#states.get(vehicleId)?.sensors ?? null;
    return states === null || hasMediansAfter(states, atMs);
  }

  /** See {@link pastShiftUntilMs}. */
  pastShiftUntilMs(vehicleId: VehicleId, fromMs: number, toMs: number): number | null {
    const vehicle = this.#states.get(vehicleId);
    return vehicle === undefined ? null : pastShiftUntilMs(vehicle, fromMs, toMs);
  }

  /**
   * Continues the partition at `offset` after its log was lost. Packets from there on are new, even where a vehicle's
   * offset from the lost log is higher.
   */
  rewind(offset: number): void {
    for (const vehicle of this.#states.values()) if (vehicle.offset >= offset) vehicle.offset = offset - 1;
  }

  /** Drops the state of a vehicle except for its definition: its next fix counts as its first. */
  forget(vehicleId: VehicleId): void {
    this.#states.forget(vehicleId);
    this.#late.forget(vehicleId);
  }

  /**
   * Checkpoint entries that changed since the last call: `vehicle-state:<id>` and `definition:<kind>:<id>`; null where
   * an entry is to be removed. Encoded at once: later changes are not included.
   */
  takeChanges(): [key: string, value: Buffer | null][] {
    return [...this.#definitions.takeChanges(), ...this.#states.takeChanges()];
  }

  /**
   * Restores a checkpoint. An engine restored from all changes taken up to now continues exactly like the one that they
   * were taken from. Keys of other components are ignored.
   *
   * @throws {Error} when the engine is not fresh, or an entry was not written by {@link takeChanges}
   */
  restore(entries: Iterable<readonly [key: string, value: Buffer]>): void {
    if (this.#states.size + this.#definitions.fenceCount > 0) throw new Error('only a fresh engine can be restored');
    const stored = [...entries];
    this.#definitions.restore(stored);
    this.#states.restore(stored, this.#definitions, this.#origin);
  }
}
