import {
  type Directory,
  type EventId,
  type EventKind,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  geofenceOf,
  mayListVehicle,
  type Position,
  type ProtocolName,
  type Rejection,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
  WORKER_EVENT_KINDS,
  watches,
} from '@outrider/domain';
import {
  type CompiledSensor,
  type Engine,
  MAX_GEOFENCES_AT_ONCE,
  REANCHOR_FIXES,
  REANCHOR_MS,
  vehicleSensors,
} from '@outrider/engine';
import type { Phase } from './correction.ts';

/** An archived position, with the values by which the engine judges it. */
export interface HistoricPosition extends Position {
  receivedAtMs: number;
  terminalId: TerminalId;
  protocol: ProtocolName;
  /** Why the position does not move the vehicle. Its ignition and alarms count all the same. */
  rejection: Rejection | null;
}

/** Maximum number of events of one vehicle that are assembled in memory. */
const MAX_EVENTS = 200_000;

/** Kinds that can't be recalculated from fixes: they depend on when data came, or a worker makes them. */
const BY_ARRIVAL: ReadonlySet<EventKind> = new Set(['offline', ...WORKER_EVENT_KINDS]);

/** The interval holds too many events to be recalculated at once; the caller must ask for a shorter one. */
export class TooManyEventsError extends Error {
  override name = 'TooManyEventsError';
}

/** The definitions that a recalculation depends on: see {@link scopeOf}. */
export interface Scope {
  vehicle: Vehicle;
  /** Only this geofence's events; null: all of the vehicle's. */
  geofenceId: GeofenceId | null;
  /** Users who may see the vehicle, … */
  owners: readonly User[];
  /** … and their geofences, whether or not they watch the vehicle. */
  geofences: readonly Geofence[];
  /** Geofences whose events can be judged. */
  geofenceIds: ReadonlySet<GeofenceId>;
  /** Longest wait before something is reported, in milliseconds. */
  longestWaitMs: number;
}

/**
 * Returns the current definitions that determine a vehicle's events: its own, and the geofences that watch it with
 * their owners. Null when the vehicle (or the requested geofence) no longer exists, or when the geofence does not watch
 * it.
 */
export function scopeOf(directory: Directory, vehicleId: VehicleId, geofenceId: GeofenceId | null): Scope | null {
  const vehicle = directory.vehicles.get(vehicleId);
  if (vehicle === undefined) return null;
  const owners = new Map<UserId, User>();
  for (const user of directory.users.values()) if (mayListVehicle(user, vehicle)) owners.set(user.id, user);
  const geofences: Geofence[] = [];
  const geofenceIds = new Set<GeofenceId>();
  let longestWaitMs = Math.max(vehicle.speedingMinSeconds * 1000, vehicle.tripStopMinutes * 60_000);
  for (const { thresholds } of vehicle.sensors)
    for (const { forSeconds } of thresholds) longestWaitMs = Math.max(longestWaitMs, forSeconds * 1000);
  const named = geofenceId === null ? null : directory.geofences.get(geofenceId);
  for (const geofence of named === null ? directory.geofences.values() : considered(directory, named)) {
    const owner = owners.get(geofence.ownerId);
    if (owner === undefined) continue;
    geofences.push(geofence);
    if (!watches(geofence, owner, vehicle)) continue;
    if (named === null || geofence.id === geofenceId) geofenceIds.add(geofence.id);
    longestWaitMs = Math.max(longestWaitMs, geofence.minDwellSeconds * 1000);
  }
  if (geofenceId !== null && geofenceIds.size === 0) return null;
  return { vehicle, geofenceId, owners: [...owners.values()], geofences, geofenceIds, longestWaitMs };
}

/**
 * The geofences that determine the events of one geofence. If its owner has more geofences than count at one position,
 * the others decide whether it counts.
 */
function considered(directory: Directory, named: Geofence | undefined): readonly Geofence[] {
  if (named === undefined) return [];
  const ofOwner = [...directory.geofences.values()].filter(({ ownerId }) => ownerId === named.ownerId);
  return ofOwner.length > MAX_GEOFENCES_AT_ONCE ? ofOwner : [named];
}

/** Whether a recalculation of this scope decides if the event happened. */
export function isJudged({ geofenceId, geofenceIds }: Scope, event: FleetEvent): boolean {
  if (BY_ARRIVAL.has(event.kind)) return false;
  const of = geofenceOf(event);
  if (geofenceId !== null) return of === geofenceId;
  // Events of a geofence that is deleted, or now watches other vehicles, cannot be judged any more: they stay.
  return of === null || geofenceIds.has(of);
}

/**
 * Runs the engine of the live rules over a vehicle's history, with the current definitions. Fixes are processed in the
 * order in which they were taken, whenever they arrived.
 */
export class HistoryRun {
  readonly #scope: Scope;
  readonly #engine: Engine;
  readonly #fromMs: number;
  readonly #toMs: number;
  #offset = 0;
  /** Events that touch the interval, each in its latest phase. */
  readonly events = new Map<EventId, FleetEvent>();
  /**
   * Phases reported by fixes of the interval or later, by `<id> <phase>`, with the reception times of their packets.
   */
  readonly made = new Map<string, FleetEvent>();
  /** Events whose begin was reported by a fix before the interval. */
  readonly reportedBefore = new Set<EventId>();
  /** Unix milliseconds of the first fix that counts, … */
  firstFixMs: number | null = null;
  /** … and of the last position of any kind; null before the first. */
  lastFixMs: number | null = null;
  /** First fix after the interval. Its step depends on the fix before, which may have come late. */
  firstAfterMs = Number.POSITIVE_INFINITY;
  positions = 0;
  /** Number of consecutive fixes after the interval that were accepted without doubt, … */
  #sound = 0;
  /** … and the times of the first and the last of them. */
  #soundSinceMs = 0;
  #soundUntilMs = 0;
  /**
   * Values reported in the interval and not repeated since: their current state may be known from the interval alone.
   */
  readonly #unrepeated = new Set<'ignition' | 'supplyV' | 'fuel-used'>();
  /** Fuel counters of the vehicle: a trip begins with their last reading. */
  readonly #counters: readonly CompiledSensor[];

  /**
   * @param engine has the definitions of the scope, and no state of the vehicle yet
   * @param fromMs events that were over by then are left out
   * @param toMs time of the last fix of the interval
   */
  constructor(engine: Engine, scope: Scope, fromMs: number, toMs: number) {
    this.#engine = engine;
    this.#scope = scope;
    this.#fromMs = fromMs;
    this.#toMs = toMs;
    const { all } = vehicleSensors(scope.vehicle.sensors);
    this.#counters = all.filter(({ definition }) => definition.kind === 'fuel-used');
  }

  /**
   * Processes positions, in order and newer than all before.
   *
   * @throws {TooManyEventsError} when more happened than can be kept
   */
  take(positions: readonly HistoricPosition[]): void {
    const reported: FleetEvent[] = [];
    const vehicleId = this.#scope.vehicle.id;
    for (let from = 0; from < positions.length; ) {
      const { receivedAtMs: reachedAtMs, terminalId, protocol, fixTimeMs } = positions[from] as HistoricPosition;
      let to = from + 1;
      while (
        positions[to]?.receivedAtMs === reachedAtMs &&
        (positions[to]?.fixTimeMs ?? 0) <= Math.max(reachedAtMs, fixTimeMs)
      )
        to++;
      // A fix newer than its reception was received by a slow clock. It is past, or it would not be here.
      const receivedAtMs = Math.max(reachedAtMs, fixTimeMs);
      const part = positions.slice(from, to);
      const packet: TelemetryPacket = { vehicleId, terminalId, protocol, receivedAtMs, positions: part };
      const before = reported.length;
      this.#judge(part, this.#engine.process(packet, this.#offset++, reported));
      const untilMs = part.at(-1)?.fixTimeMs ?? 0;
      for (let nth = before; nth < reported.length; nth++) {
        const event = reported[nth] as FleetEvent;
        this.#note(event, receivedAtMs);
        this.#keep(event, untilMs);
      }
      from = to;
    }
    for (const position of positions) this.#listen(position);
    this.positions += positions.length;
    this.firstFixMs ??= positions.find(isGood)?.fixTimeMs ?? null;
    this.lastFixMs = positions.at(-1)?.fixTimeMs ?? this.lastFixMs;
  }

  /**
   * Ends the run: no more positions exist, and none will come up to `nowMs`. Ends the trip of a vehicle that has been
   * silent for too long.
   */
  end(nowMs: number): void {
    const reported: FleetEvent[] = [];
    // The engine may be in the middle of other vehicles' histories.
    this.#engine.advance(nowMs, reported, this.#scope.vehicle.id);
    for (const event of reported) this.#keep(event, nowMs);
  }

  /**
   * Whether the live rules certainly judge the newest fixes alike. False while something waits for time to pass. Also
   * false while the fixes since the interval are too few for the live rules to have
   *
   * - recognised that a fix before was a jump,
   * - given up an absence that was longer than they know,
   * - or learned whether the ignition is on.
   */
  get isDecided(): boolean {
    // The live rules noticed later, or not yet, what late data first showed to be in progress.
    if (this.#engine.undecidedSinceMs(this.#scope.vehicle.id, this.#fromMs) !== null) return false;
    if (this.#unrepeated.size > 0) return false;
    // The live rules measure the fuel against levels that late data may have changed.
    const fuelSinceMs = this.#engine.fuelSinceMs(this.#scope.vehicle.id);
    if (fuelSinceMs !== null && fuelSinceMs <= this.#toMs) return false;
    // The live rules do not know the driver of a shift from late data: a lasting event may get that driver at its end.
    const namedUntilMs = this.#engine.pastShiftUntilMs(this.#scope.vehicle.id, this.#fromMs, this.#toMs);
    if (namedUntilMs !== null && this.#lastsSince(namedUntilMs)) return false;
    if (!this.#engine.hasMediansAfter(this.#scope.vehicle.id, this.#toMs)) return false;
    const sinceMs = this.#soundUntilMs - this.#soundSinceMs;
    return this.#sound >= REANCHOR_FIXES && sinceMs >= Math.max(REANCHOR_MS, this.#scope.longestWaitMs);
  }

  /** Whether an event lasts that began at this time or before. */
  #lastsSince(ms: number): boolean {
    for (const { phase, startedAtMs } of this.events.values()) if (phase === 'begin' && startedAtMs <= ms) return true;
    return false;
  }

  #listen(position: HistoricPosition): void {
    if (position.fixTimeMs < this.#fromMs) return;
    if (position.fixTimeMs > this.#toMs && isGood(position))
      this.firstAfterMs = Math.min(this.firstAfterMs, position.fixTimeMs);
    for (const what of ['ignition', 'supplyV'] as const) {
      if (position[what] === null) continue;
      if (position.fixTimeMs <= this.#toMs) this.#unrepeated.add(what);
      else this.#unrepeated.delete(what);
    }
    if (this.#counters.length === 0 || !this.#counters.every((counter) => Number.isFinite(counter.valueOf(position))))
      return;
    if (position.fixTimeMs <= this.#toMs) this.#unrepeated.add('fuel-used');
    else this.#unrepeated.delete('fuel-used');
  }

  #judge(positions: readonly HistoricPosition[], accepted: number): void {
    const valid = positions.filter(isGood);
    // Records of the same time move the vehicle once.
    if (accepted < new Set(valid.map(({ fixTimeMs }) => fixTimeMs)).size) this.#sound = 0;
    else
      for (const { fixTimeMs } of valid) {
        if (fixTimeMs <= this.#toMs) continue;
        if (this.#sound++ === 0) this.#soundSinceMs = fixTimeMs;
        this.#soundUntilMs = fixTimeMs;
      }
  }

  #note(event: FleetEvent, receivedAtMs: number): void {
    if (event.fixTimeMs < this.#fromMs || !isJudged(this.#scope, event)) return;
    this.made.set(phaseKey(event), { ...event, receivedAtMs });
    if (this.made.size > 2 * MAX_EVENTS) throw new TooManyEventsError(`more than ${MAX_EVENTS} events`);
  }

  /** @param untilMs time of the fix that shows the event; the fix time of a gap event may be before the interval */
  #keep(event: FleetEvent, untilMs: number): void {
    if (!isJudged(this.#scope, event)) return;
    if (touches(event, this.#fromMs) || untilMs >= this.#fromMs) this.events.set(event.id, event);
    else this.events.delete(event.id);
    if (event.phase === 'begin' && event.fixTimeMs < this.#fromMs) this.reportedBefore.add(event.id);
    else if (!this.events.has(event.id)) this.reportedBefore.delete(event.id);
    if (this.events.size > MAX_EVENTS) throw new TooManyEventsError(`more than ${MAX_EVENTS} events`);
  }
}

/** The key of {@link HistoryRun.made}. */
export function phaseKey({ id, phase }: Phase): string {
  return `${id} ${phase}`;
}

function isGood({ valid, rejection }: HistoricPosition): boolean {
  return valid && rejection === null;
}

/** Whether fixes from `fromMs` on contribute to the event. */
export function touches(event: FleetEvent, fromMs: number): boolean {
  return event.phase === 'begin' || event.fixTimeMs >= fromMs || (event.endedAtMs ?? fromMs) >= fromMs;
}
