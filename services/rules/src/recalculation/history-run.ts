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

/** A position as the archive gives it back: with what the engine judges it by. */
export interface HistoricPosition extends Position {
  receivedAtMs: number;
  terminalId: TerminalId;
  protocol: ProtocolName;
  /** Why it moves nothing; what it says of ignition and alarms counts all the same. */
  rejection: Rejection | null;
}

/** More than these of one vehicle are not put together in memory. */
const MAX_EVENTS = 200_000;

/** Kinds that can't be recalculated from fixes: they depend on when data came, or a worker makes them. */
const BY_ARRIVAL: ReadonlySet<EventKind> = new Set(['offline', ...WORKER_EVENT_KINDS]);

/** The interval holds too many events to be recalculated at once; the caller must ask for a shorter one. */
export class TooManyEventsError extends Error {
  override name = 'TooManyEventsError';
}

/** What of all definitions a recalculation goes by: see {@link scopeOf}. */
export interface Scope {
  vehicle: Vehicle;
  /** Only this geofence's events; null: all of the vehicle's. */
  geofenceId: GeofenceId | null;
  /** Those who may see the vehicle, … */
  owners: readonly User[];
  /** … and their geofences, be the vehicle among those that they watch or not. */
  geofences: readonly Geofence[];
  /** Geofences that can be judged by. */
  geofenceIds: ReadonlySet<GeofenceId>;
  /** The longest that anything waits before it is reported, in milliseconds. */
  longestWaitMs: number;
}

/**
 * The definitions that decide over a vehicle's events: its own, and the geofences that watch it with their owners, as
 * they are now. Null where the vehicle (or the geofence that is asked about) is no more, or is not watched.
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
 * The geofences that decide over the events of one. Where its owner has more than count at one position, the others
 * decide whether it does.
 */
function considered(directory: Directory, named: Geofence | undefined): readonly Geofence[] {
  if (named === undefined) return [];
  const ofOwner = [...directory.geofences.values()].filter(({ ownerId }) => ownerId === named.ownerId);
  return ofOwner.length > MAX_GEOFENCES_AT_ONCE ? ofOwner : [named];
}

/** Is it for a recalculation of this scope to say whether the event happened? */
export function isJudged({ geofenceId, geofenceIds }: Scope, event: FleetEvent): boolean {
  if (BY_ARRIVAL.has(event.kind)) return false;
  const of = geofenceOf(event);
  if (geofenceId !== null) return of === geofenceId;
  // What a geofence saw that is gone, or that watches other vehicles now, nobody can judge any more: it stays.
  return of === null || geofenceIds.has(of);
}

/**
 * The engine of the live rules on a vehicle's history: fixes in the order in which they were taken, whenever they came,
 * under the definitions as they are.
 */
export class HistoryRun {
  readonly #scope: Scope;
  readonly #engine: Engine;
  readonly #fromMs: number;
  readonly #toMs: number;
  #offset = 0;
  /** Those that touch the interval: each in its latest phase. */
  readonly events = new Map<EventId, FleetEvent>();
  /** What fixes of the interval and after it made known, as `<id> <phase>`: each with when its packet was received. */
  readonly made = new Map<string, FleetEvent>();
  /** Those whose begin was reported by a fix before the interval. */
  readonly reportedBefore = new Set<EventId>();
  /** Unix milliseconds of the first fix that counts, … */
  firstFixMs: number | null = null;
  /** … and of the last position of whatever kind; null before. */
  lastFixMs: number | null = null;
  /** The first fix after the interval: what it makes of a step hangs on the fix before, which may have come late. */
  firstAfterMs = Number.POSITIVE_INFINITY;
  positions = 0;
  /** Fixes after the interval that were taken in one after the other without a doubt, … */
  #sound = 0;
  /** … from this one to this. */
  #soundSinceMs = 0;
  #soundUntilMs = 0;
  /** What positions of the interval said and none after it has said again: it may be known from there alone. */
  readonly #unrepeated = new Set<'ignition' | 'supplyV' | 'fuel-used'>();
  /** The engine's counters of fuel: a trip begins with their last reading. */
  readonly #counters: readonly CompiledSensor[];

  /**
   * @param engine that knows the definitions of the scope, and nothing of the vehicle yet
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
   * Takes positions in: newer than all before, in their order.
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
      // A fix ahead of its reception was received by a slow clock: it is past, or it would not be here.
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
   * There are no more positions, and up to `nowMs` none will come: the trip of a vehicle that is silent for too long is
   * over.
   */
  end(nowMs: number): void {
    const reported: FleetEvent[] = [];
    // The engine may be in the middle of other vehicles' histories.
    this.#engine.advance(nowMs, reported, this.#scope.vehicle.id);
    for (const event of reported) this.#keep(event, nowMs);
  }

  /**
   * False where the live rules may see the newest fixes in another light, though they have them too: something waits
   * for time to pass; or the fixes since the interval are too few for them to have seen that one of before was a jump,
   * or to have given up an absence that was longer than they know, or to know whether the ignition is on.
   */
  get isDecided(): boolean {
    // What was first found going on by something that came late, the live rules found later, or not yet.
    if (this.#engine.undecidedSinceMs(this.#scope.vehicle.id, this.#fromMs) !== null) return false;
    if (this.#unrepeated.size > 0) return false;
    // The live rules measure the fuel against levels that late data may have changed.
    const fuelSinceMs = this.#engine.fuelSinceMs(this.#scope.vehicle.id);
    if (fuelSinceMs !== null && fuelSinceMs <= this.#toMs) return false;
    // Of a driver whose shift late data made, they know nothing: what lasts may be named after that driver at its end.
    const namedUntilMs = this.#engine.pastShiftUntilMs(this.#scope.vehicle.id, this.#fromMs, this.#toMs);
    if (namedUntilMs !== null && this.#lastsSince(namedUntilMs)) return false;
    if (!this.#engine.hasMediansAfter(this.#scope.vehicle.id, this.#toMs)) return false;
    const sinceMs = this.#soundUntilMs - this.#soundSinceMs;
    return this.#sound >= REANCHOR_FIXES && sinceMs >= Math.max(REANCHOR_MS, this.#scope.longestWaitMs);
  }

  /** Does anything last that began then or before? */
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
    // Records of one time move the vehicle once.
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

  /** @param untilMs time of the fix that shows it: of a gap that may be one before the interval */
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

/** Does what fixes from a moment on say have a part in the event? */
export function touches(event: FleetEvent, fromMs: number): boolean {
  return event.phase === 'begin' || event.fixTimeMs >= fromMs || (event.endedAtMs ?? fromMs) >= fromMs;
}
