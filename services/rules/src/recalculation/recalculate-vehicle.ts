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

/** The archive, as far as a recalculation goes. */
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
  /**
   * What is archived of a vehicle's events, by when they began (both bounds inclusive), if they lasted till `untilMs`.
   */
  archivedEvents(question: {
    vehicleId: VehicleId;
    fromMs: number;
    throughMs: number;
    untilMs: number;
    geofenceId: GeofenceId | null;
    limit: number;
    after: EventCursor | null;
  }): Promise<{ events: readonly HistoricEvent[]; next: EventCursor | null }>;
  /** Puts events in the place of others: a reader sees all of it or nothing. */
  replaceEvents(replacement: {
    number: number;
    written: readonly FleetEvent[];
    removed: readonly FleetEvent[];
  }): Promise<void>;
}
/**
 * Did something of an interval of a vehicle's past come no sooner than at a time? All in Unix milliseconds, bounds
 * inclusive.
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
  /** One that knows the definitions of the scope, and nothing of the vehicle yet. */
  engine: Engine;
  /** The interval of history, by the times of fixes in Unix milliseconds; both inclusive. */
  fromMs: number;
  toMs: number;
  /**
   * True where only positions are new, not definitions: the archive knows what was reported before the interval, and it
   * stays.
   */
  isLateData: boolean;
  /** True where it was recalculated before: data that was on its way then is there. Default: false. */
  isRepeat?: boolean;
  /**
   * Beyond the interval, nothing that the gateway had at this moment or later is gone through: what the live rules make
   * of it may not be archived yet.
   */
  freshMs: number;
  /** Larger than that of any recalculation before, where clocks are right. */
  number: number;
  /**
   * Publishes what was not published before, each event with when its data was received: before the archive knows it,
   * so that it is published again, and not never, where the process dies in between. Default: no notifications.
   */
  publish?: ((events: readonly FleetEvent[]) => Promise<void>) | null;
  /**
   * Announces what the archive is about to say, for readers that keep what it has: before it does, for the same reason.
   * Default: nobody wants to know.
   */
  announce?: (correction: Pick<Correction, 'written' | 'removed'>) => Promise<void>;
  /** Positions at a time: what is between two chances for others to use the thread. Default 5000. */
  pagePositions?: number;
}

export interface VehicleOutcome {
  positions: number;
  added: number;
  changed: number;
  removed: number;
  /** False where what lasts is otherwise than the live rules have it: it has to be looked at again when it is over. */
  settled: boolean;
  /** True where data that is on its way may end what lasts: it has to be looked at again when that is there. */
  awaitsData: boolean;
}

/** Of a vehicle of which nothing had to be recalculated. */
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
/** Levels of a tank are compared with those of half a day before, and these were smoothed. */
const TANK_WARM_UP_MS = 86_400_000;
const TANK_WARM_UP_FIXES = 400;
/** The first of them may be a jump: the engine needs a few to see that the others are right. */
const WARM_UP_FIXES = 16;
/** An event that began longer before the interval than this keeps the begin that the archive has of it. */
export const MAX_LOOK_BACK_MS = 7 * 86_400_000;
/** Of an event that began longer before the interval than this, nothing is known. */
const MAX_EVENT_MS = 400 * 86_400_000;
/** A packet that the gateway received this long ago is archived, and known to the live rules. */
const ON_THE_WAY_MS = 60_000;

/**
 * Recalculates the events of an interval of a vehicle's history, and corrects the archive.
 *
 * It begins early enough for the engine to have the state that it would have had: before the begin of everything that
 * was going on when the interval began, and some more. It goes on behind the interval until what lasts is, event for
 * event, what the live rules have as well: from there on all is as it was reported. Where that is not before the newest
 * fix, what is there is written, and the outcome says that it is not settled.
 *
 * A repetition has the same result and changes nothing.
 *
 * @param onProgress called now and then, with 0 to 1 and the number of positions; what it throws breaks it off
 * @throws {TooManyEventsError} when the interval holds more than can be put together in memory
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
  /** The first position that is not gone through because it is too new. */
  let withheld: HistoricPosition | undefined;
  const question = { vehicleId: scope.vehicle.id, fromMs: startMs, toMs: Number.POSITIVE_INFINITY };
  const pages = pagesOf((after: PositionCursor | null) =>
    history.track({ ...question, withRejected: true, limit: pagePositions, after }),
  );
  for await (const { positions, next } of pages) {
    const fresh = positions.findIndex(
      ({ fixTimeMs, receivedAtMs }) =>
        // What is ahead has its place when its time has come.
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

/** Did it come late itself, as more of what a terminal had kept? */
function isLate({ fixTimeMs, receivedAtMs }: HistoricPosition): boolean {
  return fixTimeMs < receivedAtMs - ON_THE_WAY_MS;
}

/** From when on the engine has to see a vehicle's fixes in order to know, at a moment, how things stand. */
async function startOf(history: History, scope: Scope, knownFromMs: number): Promise<number> {
  // What went before decides how something begins: a trip, by where the vehicle had stood.
  const before = new ArchivedUpTo(history, scope, knownFromMs - 1);
  await before.readThrough(knownFromMs - 1);
  const isTank = scope.vehicle.tankCapacityL !== null;
  const leastMs = isTank ? TANK_WARM_UP_MS : MIN_WARM_UP_MS;
  const warmMs = before.earliestMs(knownFromMs) - Math.max(leastMs, 2 * scope.longestWaitMs);
  // Some fixes at least, however long before: where nothing is known of before, nothing is seen to begin.
  const lastFixes = {
    vehicleId: scope.vehicle.id,
    throughMs: warmMs,
    count: isTank ? TANK_WARM_UP_FIXES : WARM_UP_FIXES,
  };
  const startMs = (await history.startOfLastFixes(lastFixes)) ?? warmMs;
  // Events are counted by the minute: from the middle of one on, fewer would be left out than were live.
  return startMs - (startMs % MINUTE_MS);
}

/** The archived events that touch an interval, as far as they were read. */
class ArchivedUpTo {
  readonly #history: History;
  readonly #scope: Scope;
  readonly #fromMs: number;
  readonly events: HistoricEvent[] = [];
  /** The number of the last recalculation that wrote any of them. */
  lastNumber = 0;
  #nextMs: number;

  constructor(history: History, scope: Scope, fromMs: number) {
    this.#history = history;
    this.#scope = scope;
    this.#fromMs = fromMs;
    this.#nextMs = fromMs - MAX_EVENT_MS;
  }

  /** When the first of them began, of those that are not left as they began. */
  earliestMs(fromMs: number): number {
    let earliestMs = fromMs;
    for (const { event } of this.events) {
      const beganMs = beganAtMs(event.id);
      if (beganMs >= this.#fromMs - MAX_LOOK_BACK_MS) earliestMs = Math.min(earliestMs, beganMs);
    }
    return earliestMs;
  }

  /** Reads on, up to what began at a moment. */
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
