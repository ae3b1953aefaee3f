import {
  beganAtMs,
  type EventId,
  type FleetEvent,
  type GeofenceId,
  MAX_AHEAD_LIVE_MS,
  pagesOf,
  type Rejection,
  type VehicleId,
} from '@outrider/domain';
import type { Engine } from '@outrider/engine';
import { type Correction, correct, type HistoricEvent } from './correction.ts';
import {
  type HistoricPosition,
  HistoryRun,
  isJudged,
  phaseKey,
  type Scope,
  TooManyEventsError,
  touches,
} from './history-run.ts';

/** The part of the archive that a recalculation needs. */
export interface History {
  /** A vehicle's positions, by the time of the fix, oldest first; `fromMs` inclusive, `toMs` exclusive. */
  track(question: {
    vehicleId: VehicleId;
    withRejected: true;
    fromMs: number;
    toMs: number;
    limit: number;
    after: PositionCursor | null;
  }): Promise<{ positions: readonly HistoricPosition[]; next: PositionCursor | null }>;
  /** Time of the oldest of a vehicle's newest `count` good and valid fixes up to a moment; null without any. */
  startOfLastFixes(question: { vehicleId: VehicleId; throughMs: number; count: number }): Promise<number | null>;
  /** A vehicle's archived events that lasted until `untilMs` or longer, by their start (both bounds inclusive). */
  archivedEvents(question: {
    vehicleId: VehicleId;
    fromMs: number;
    throughMs: number;
    untilMs: number;
    geofenceId: GeofenceId | null;
    limit: number;
    after: EventCursor | null;
  }): Promise<{ events: readonly HistoricEvent[]; next: EventCursor | null }>;
  /** Replaces events atomically: a reader sees all of the change or none. */
  replaceEvents(replacement: {
    number: number;
    written: readonly FleetEvent[];
    removed: readonly FleetEvent[];
  }): Promise<void>;
}
/**
 * Query whether any data of an interval of a vehicle's past arrived at or after a time. All in Unix milliseconds,
 * bounds inclusive.
 */
export interface LateArrivalsQuestion {
  vehicleId: VehicleId;
  fromMs: number;
  throughMs: number;
  receivedFromMs: number;
}
/** Where a page of positions ended. */
export interface PositionCursor {
  fixTimeMs: number;
  rejection: Rejection | null;
}
/** Where a page of events ended. */
export interface EventCursor {
  beganAtMs: number;
  id: EventId;
}

export interface VehicleTask {
  scope: Scope;
  /** Has the definitions of the scope, and no state of the vehicle yet. */
  engine: Engine;
  /** The interval of history, by the times of fixes in Unix milliseconds; both inclusive. */
  fromMs: number;
  toMs: number;
  /**
   * Whether only positions are new, not definitions. Then the archive knows what was reported before the interval, and
   * that stays.
   */
  isLateData: boolean;
  /** Whether the interval was recalculated before: data in transit then has arrived. Default: false. */
  isRepeat?: boolean;
  /**
   * Positions after the interval that the gateway received at this time or later are left out: the events that the live
   * rules derive from them may not be archived yet.
   */
  freshMs: number;
  /** Number of this recalculation: larger than those of all earlier ones if clocks are right. */
  number: number;
  /**
   * Publishes events that were not published before, each with the reception time of its data. Called before the
   * archive is changed: after a crash in between they are published again, and not lost. Default: no notifications.
   */
  publish?: ((events: readonly FleetEvent[]) => Promise<void>) | null;
  /**
   * Announces changes of the archive to readers that cache it. Called before the change, for the same reason. Default:
   * no announcement.
   */
  announce?: (correction: Pick<Correction, 'written' | 'removed'>) => Promise<void>;
  /** Positions per step: other work gets the thread between two steps. Default 5000. */
  pagePositions?: number;
}

export interface VehicleOutcome {
  positions: number;
  added: number;
  changed: number;
  removed: number;
  /** False when lasting events differ from those of the live rules: recalculate again when they are over. */
  settled: boolean;
  /** True when data in transit may end lasting events: recalculate again when it has arrived. */
  awaitsData: boolean;
}

/** Outcome for a vehicle with nothing to recalculate. */
export const UNTOUCHED: Readonly<VehicleOutcome> = Object.freeze({
  positions: 0,
  added: 0,
  changed: 0,
  removed: 0,
  settled: true,
  awaitsData: false,
});

const PAGE_POSITIONS = 5000;
const PAGE_EVENTS = 5000;
const MAX_ARCHIVED = 400_000;
const MINUTE_MS = 60_000;
/** Time before the interval that the engine processes first, to have its state at the beginning. */
const MIN_WARM_UP_MS = 2 * 3_600_000;
/** Tank levels are compared with those of half a day before, which are smoothed values themselves. */
const TANK_WARM_UP_MS = 86_400_000;
const TANK_WARM_UP_FIXES = 400;
/** The first fix may be a jump: the engine needs several to see that the others are right. */
const WARM_UP_FIXES = 16;
/** An event that began longer before the interval than this keeps its archived start. */
export const MAX_LOOK_BACK_MS = 7 * 86_400_000;
/** Events that began longer before the interval than this are not considered. */
const MAX_EVENT_MS = 400 * 86_400_000;
/** A packet that the gateway received this long ago is archived, and the live rules have processed it. */
const ON_THE_WAY_MS = 60_000;

/**
 * Recalculates the events of an interval of a vehicle's history, and corrects the archive.
 *
 * The run begins before everything that was in progress when the interval began, and some time earlier: then the engine
 * has the state that it would have had. The run continues after the interval until its lasting events are those of the
 * live rules: from there on everything is as it was reported. If that does not happen before the newest fix, the result
 * is written as it is, and the outcome is marked as not settled.
 *
 * A repetition has the same result and changes nothing.
 *
 * @param onProgress called now and then, with 0 to 1 and the number of positions; an error that it throws ends the run
 * @throws {TooManyEventsError} when the interval holds more events than can be assembled in memory
 */
export async function recalculateVehicle(
  history: History,
  task: VehicleTask,
  onProgress: (share: number, positions: number) => Promise<void>,
): Promise<VehicleOutcome> {
  const { scope, fromMs, toMs, freshMs, isRepeat = false, pagePositions = PAGE_POSITIONS } = task;
  const archived = new ArchivedUpTo(history, scope, fromMs);
  await archived.readThrough(fromMs);
  const startMs = await startOf(history, scope, archived.earliestMs(fromMs));
  const fixBefore = { vehicleId: scope.vehicle.id, throughMs: startMs - 1, count: 1 };
  const beginsHistory = (await history.startOfLastFixes(fixBefore)) === null;

  const run = new HistoryRun(task.engine, scope, fromMs, toMs);
  const knownBefore = task.isLateData ? run.reportedBefore : null;
  let correction: Correction | null = null;
  /** The first position that was left out because it is too new. */
  let withheld: HistoricPosition | undefined;
  const question = { vehicleId: scope.vehicle.id, fromMs: startMs, toMs: Number.POSITIVE_INFINITY };
  const pages = pagesOf((after: PositionCursor | null) =>
    history.track({ ...question, withRejected: true, limit: pagePositions, after }),
  );
  for await (const { positions, next } of pages) {
    const fresh = positions.findIndex(
      ({ fixTimeMs, receivedAtMs }) =>
        // A fix in the future is processed when its time has come.
        fixTimeMs > freshMs + MAX_AHEAD_LIVE_MS || (fixTimeMs > toMs && receivedAtMs >= freshMs),
    );
    run.take(fresh < 0 ? positions : positions.slice(0, fresh));
    withheld = positions[fresh];
    const isOver = next === null || fresh >= 0;
    if (next === null && fresh < 0) run.end(freshMs - ON_THE_WAY_MS);
    const { firstFixMs, lastFixMs } = run;
    if (firstFixMs === null || lastFixMs === null) {
      if (isOver) break;
      continue;
    }
    if (isOver || lastFixMs > toMs) {
      await archived.readThrough(lastFixMs);
      const { events: made, firstAfterMs } = run;
      const awaitsData = withheld !== undefined && !isRepeat;
      const bounds = { fromMs, firstFixMs, beginsHistory, firstAfterMs, untilMs: lastFixMs };
      const findings = { made, ...bounds, knownBefore, awaitsData };
      correction = correct(findings, archived.events);
      if (!run.isDecided) correction.settled = false;
      if (correction.settled) break;
    }
    const share = (lastFixMs - startMs) / (Math.max(toMs, lastFixMs) - startMs);
    await onProgress(Math.min(1, share), run.positions);
    if (isOver) break;
  }
  if (correction === null) return UNTOUCHED;

  const { written, added, removed, news, open, settled } = correction;
  const made = news.map((phase) => run.made.get(phaseKey(phase))).filter((event) => event !== undefined);
  if (task.publish && made.length > 0) await task.publish(made);
  if (written.length + removed.length > 0) {
    await task.announce?.({ written, removed });
    await history.replaceEvents({ number: Math.max(task.number, archived.lastNumber + 1), written, removed });
  }
  const awaitsData = withheld !== undefined && (open > 0 || isLate(withheld));
  const changed = written.length - added;
  return { positions: run.positions, added, changed, removed: removed.length, settled, awaitsData };
}

/** Whether the position came late itself, as a further part of a terminal's stored records. */
function isLate({ fixTimeMs, receivedAtMs }: HistoricPosition): boolean {
  return fixTimeMs < receivedAtMs - ON_THE_WAY_MS;
}

/** Time of the first fix that the engine needs in order to have the vehicle's state at `knownFromMs`. */
async function startOf(history: History, scope: Scope, knownFromMs: number): Promise<number> {
  // Earlier events decide how something begins: a trip, by where the vehicle had stood.
  const before = new ArchivedUpTo(history, scope, knownFromMs - 1);
  await before.readThrough(knownFromMs - 1);
  const isTank = scope.vehicle.tankCapacityL !== null;
  const leastMs = isTank ? TANK_WARM_UP_MS : MIN_WARM_UP_MS;
  const warmMs = before.earliestMs(knownFromMs) - Math.max(leastMs, 2 * scope.longestWaitMs);
  // At least some fixes, however old: without earlier fixes, nothing is seen to begin.
  const lastFixes = {
    vehicleId: scope.vehicle.id,
    throughMs: warmMs,
    count: isTank ? TANK_WARM_UP_FIXES : WARM_UP_FIXES,
  };
  const startMs = (await history.startOfLastFixes(lastFixes)) ?? warmMs;
  // The event cap counts by the minute: from the middle of a minute on, it would leave out fewer events than live.
  return startMs - (startMs % MINUTE_MS);
}

/** Archived events that touch an interval, as far as they have been read. */
class ArchivedUpTo {
  readonly #history: History;
  readonly #scope: Scope;
  readonly #fromMs: number;
  readonly events: HistoricEvent[] = [];
  /** Highest number of a recalculation that wrote any of them. */
  lastNumber = 0;
  #nextMs: number;

  constructor(history: History, scope: Scope, fromMs: number) {
    this.#history = history;
    this.#scope = scope;
    this.#fromMs = fromMs;
    this.#nextMs = fromMs - MAX_EVENT_MS;
  }

  /** Start of the earliest event, except those that keep their archived start. */
  earliestMs(fromMs: number): number {
    let earliestMs = fromMs;
    for (const { event } of this.events) {
      const beganMs = beganAtMs(event.id);
      if (beganMs >= this.#fromMs - MAX_LOOK_BACK_MS) earliestMs = Math.min(earliestMs, beganMs);
    }
    return earliestMs;
  }

  /** Continues reading, up to the events that began at `throughMs`. */
  async readThrough(throughMs: number): Promise<void> {
    if (throughMs < this.#nextMs) return;
    const { vehicle, geofenceId } = this.#scope;
    const question = { vehicleId: vehicle.id, geofenceId, fromMs: this.#nextMs, throughMs, untilMs: this.#fromMs };
    const pages = pagesOf((after: EventCursor | null) =>
      this.#history.archivedEvents({ ...question, limit: PAGE_EVENTS, after }),
    );
    for await (const { events } of pages) {
      for (const each of events) {
        this.lastNumber = Math.max(this.lastNumber, each.recalculation ?? 0);
        if (isJudged(this.#scope, each.event) && touches(each.event, this.#fromMs)) this.events.push(each);
      }
      if (this.events.length > MAX_ARCHIVED) throw new TooManyEventsError(`more than ${MAX_ARCHIVED} archived events`);
    }
    this.#nextMs = throughMs + 1;
  }
}
