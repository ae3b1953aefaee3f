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
 * Whose geofences watch a vehicle, and which those are, is found out when a definition changes. A position costs one
 * look into the index of each owner who may see the vehicle and has geofences.
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

  /** Everything that is defined, as the engine knows it. */
  get directory(): Directory {
    return this.#definitions.directory;
  }

  /** How many vehicles the engine keeps a state of. */
  get vehicleCount(): number {
    return this.#states.size;
  }

  /**
   * Takes many definitions in before any vehicle is known: the silent start.
   *
   * @throws {Error} when a vehicle has state already
   */
  load(changes: Iterable<DefinitionChange>): void {
    if (this.#states.size > 0) throw new Error('definitions can only be loaded before the first vehicle');
    this.#definitions.load(changes);
  }

  /**
   * Takes one change in. It is in force for the next position. A visit or a speeding that cannot go on under it ends at
   * `changedAtMs`, with the reason; nothing begins: where the change puts a vehicle inside, it is inside silently.
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
   * Advances time to `nowMs`; nothing received before is still to come. Publishes which vehicles went offline
   * meanwhile, and ends the trips of vehicles that sent nothing for too long. The next packet would make the same
   * events, with the same ids, but may never come. An engine that goes over the history ends trips only.
   *
   * @param only this vehicle alone; null: all
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

  /** True where {@link advance} of the live rules would make an event. */
  hasSilent(nowMs: number): boolean {
    if (this.#origin !== 'live') return false;
    for (const vehicle of this.#states.values()) if (isSilent(vehicle, nowMs)) return true;
    return false;
  }

  /** The status of a vehicle that has sent anything. */
  statusOf(vehicleId: VehicleId): VehicleStatus | undefined {
    const vehicle = this.#states.get(vehicleId);
    return (vehicle && statusOf(vehicle)) ?? undefined;
  }

  /** The status of every vehicle that is defined: what a hub that lost everything is filled with. */
  *allStatuses(): Generator<VehicleStatus> {
    for (const vehicle of this.#states.values()) {
      const status = vehicle.definition && statusOf(vehicle);
      if (status) yield status;
    }
  }

  /**
   * The status of each vehicle of which it changed since the last call, in agreement with the events made up to now.
   */
  takeUpdated(): VehicleStatus[] {
    return this.#states.takeUpdated();
  }

  /**
   * For each vehicle that good fixes came of which are older than its newest: the interval that they lie in, since the
   * last call.
   */
  takeLate(): LateInterval[] {
    return this.#late.take();
  }

  /** What was left out since the last call because it is beyond the caps. */
  takeSurplus(): SurplusCount {
    return this.#caps.take();
  }

  /** How many fixes were rejected since the last call, by reason. */
  takeRejected(): Map<Rejection, number> {
    return this.#intake.takeRejected();
  }

  /**
   * Since when something of a vehicle waits for time to pass before it is reported: a stay, an absence or a speeding
   * that is not long enough yet, fixes that may be jumps. Null where nothing does.
   *
   * @param silentFromMs also what was found going on, at this time or later, and is reported at its end alone
   */
  undecidedSinceMs(vehicleId: VehicleId, silentFromMs = Number.POSITIVE_INFINITY): number | null {
    const vehicle = this.#states.get(vehicleId);
    return vehicle === undefined ? null : undecidedSinceMs(vehicle, silentFromMs);
  }

  /**
   * Time of the oldest record that an event of a vehicle's fuel may still depend on, Unix milliseconds; null where none
   * does.
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
   * The partition goes on at `offset`, and what comes from there on was not taken in before, whatever a vehicle has
   * reached: the log that its offset was of is gone.
   */
  rewind(offset: number): void {
    for (const vehicle of this.#states.values()) if (vehicle.offset >= offset) vehicle.offset = offset - 1;
  }

  /** Forgets what it knows of a vehicle but for its definition: its next fix is its first. */
  forget(vehicleId: VehicleId): void {
    this.#states.forget(vehicleId);
    this.#late.forget(vehicleId);
  }

  /**
   * What changed since the last call, as entries of a checkpoint: `vehicle-state:<id>` and `definition:<kind>:<id>`;
   * null where an entry is to be removed. Encoded at once: what comes after this call is not in it.
   */
  takeChanges(): [key: string, value: Buffer | null][] {
    return [...this.#definitions.takeChanges(), ...this.#states.takeChanges()];
  }

  /**
   * Goes back to where a checkpoint was taken: an engine restored from all changes taken up to now goes on exactly like
   * the one that they were taken from. Keys that are not the engine's are left alone.
   *
   * @throws {Error} when the engine is not fresh, or an entry is not what {@link takeChanges} wrote
   */
  restore(entries: Iterable<readonly [key: string, value: Buffer]>): void {
    if (this.#states.size + this.#definitions.fenceCount > 0) throw new Error('only a fresh engine can be restored');
    const stored = [...entries];
    this.#definitions.restore(stored);
    this.#states.restore(stored, this.#definitions, this.#origin);
  }
}
