import {
  beganAtMs,
  type EventId,
  type EventKind,
  eventKindsWhere,
  eventSubjectOf,
  type FleetEvent,
  geofenceOf,
} from '@outrider/domain';
import { touches } from './history-run.ts';

/** An event as the archive has it. */
export interface HistoricEvent {
  event: FleetEvent;
  /** Number of the recalculation that wrote it; null: it was published live. */
  recalculation: number | null;
  /** True where a recalculation found that it never happened. */
  removed: boolean;
}

/** What the archive's events become. */
export interface Correction {
  /** New, or otherwise than they were archived. */
  written: FleetEvent[];
  /** How many of those are new. */
  added: number;
  /** Never happened. */
  removed: FleetEvent[];
  /**
   * What was not published before: phases of events in `written` that neither the live rules nor a recalculation
   * published.
   */
  news: Phase[];
  /** How many events that last are new or changed, written or held back. */
  open: number;
  /**
   * True where what lasts is what the live rules have too, by the same ids: whatever they report from here on is what
   * the history will say, and nothing is left to be corrected.
   */
  settled: boolean;
}

/** One phase of an event. */
export type Phase = Pick<FleetEvent, 'id' | 'phase'>;

/** Kinds that report at their end what was gone through since their begin. */
const SUMMED: ReadonlySet<EventKind> = new Set(eventKindsWhere(({ description }) => description.isSummed === true));

/** What records say themselves, whatever other positions are on their way. */
const ALARMS: ReadonlySet<EventKind> = new Set(['alarm', 'harsh-driving']);

/** What a run over the history made, up to a fix. */
export interface Findings {
  /** By id, each in its latest phase. */
  made: ReadonlyMap<EventId, FleetEvent>;
  /** What was over by then stays as the archive has it, where it has it. */
  fromMs: number;
  /** The first fix that was gone through: of what began before nothing is known but that it was there. */
  firstFixMs: number;
  /** True where that is the vehicle's first fix of all. */
  beginsHistory: boolean;
  /** The first fix after the interval that is recalculated. */
  firstAfterMs: number;
  /** The last fix that was gone through: what the archive knows from later fixes, it knows better. */
  untilMs: number;
  /** Events that would be archived already if they had happened; null: none. */
  knownBefore: ReadonlySet<EventId> | null;
  /**
   * True where positions are on their way that may contradict what lasts: what is new of it is held back, but for
   * alarms.
   */
  awaitsData: boolean;
}

/**
 * Holds events that were recalculated against those in the archive.
 *
 * @param archived those that began no later than `untilMs`, and that are the recalculation's to judge
 */
export function correct(findings: Findings, archived: readonly HistoricEvent[]): Correction {
  const { made, fromMs, firstFixMs, beginsHistory, firstAfterMs, untilMs, knownBefore, awaitsData } = findings;
  const written: FleetEvent[] = [];
  const removed: FleetEvent[] = [];
  const news: Phase[] = [];
  let added = 0;
  let held = 0;
  let settled = true;
  const rest = new Map(made);
  /** Removed by an earlier recalculation: they were published. */
  const gone = new Set<EventId>();

  for (const { event: known, recalculation, removed: isGone } of archived) {
    if (isGone) {
      gone.add(known.id);
      continue;
    }
    const lasts = isOpenAt(known, untilMs);
    let now = rest.get(known.id);
    if (now === undefined && beganAtMs(known.id) < firstFixMs) {
      now = takenUp(rest, known, firstFixMs);
      if (now === undefined) continue;
      rest.delete(now.id);
      now = begunAs(known, now);
    }
    rest.delete(known.id);
    if (now === undefined) {
      removed.push(known);
      if (lasts) settled = false;
    } else if (now.phase === 'begin' && lasts) {
      // The live rules know nothing of an event that a recalculation began: its end is for another one to find.
      if (recalculation !== null && known.phase === 'begin') settled = false;
      // Nor do they put what came late into the totals of what goes on.
      if (SUMMED.has(now.kind) && beganAtMs(now.id) <= firstAfterMs) settled = false;
      if (known.phase === 'begin' ? !isSame(now, known) : !beganAlike(now, known)) {
        written.push(now);
        settled = false;
      } else if (!isStartSame(now, known)) {
        // It was archived with its end, and is corrected there.
        settled = false;
      }
    } else if (!isSame(now, known)) {
      written.push(now);
      // The end of what the live rules know is theirs to find.
      if (recalculation !== null && known.phase === 'begin' && now.phase === 'end') news.push(now);
      if (now.phase === 'begin') settled = false;
    }
  }
  for (const event of rest.values()) {
    // Seen from the middle on, and archived by nobody: when it began is not known.
    if (!beginsHistory && beganAtMs(event.id) === firstFixMs) continue;
    if (knownBefore?.has(event.id) || !touches(event, fromMs)) continue;
    if (awaitsData && event.phase === 'begin' && !ALARMS.has(event.kind)) {
      held++;
      settled = false;
      continue;
    }
    written.push(event);
    added++;
    if (!gone.has(event.id)) for (const phase of unknownPhasesOf(event, removed)) news.push({ id: event.id, phase });
    if (event.phase === 'begin') settled = false;
  }
  const open = held + written.filter(({ phase }) => phase === 'begin').length;
  return { written, added, removed, news, open, settled };
}

/**
 * Phases of a new event that nothing was published of: it may be what was removed, only otherwise than it was known.
 */
function unknownPhasesOf(event: FleetEvent, removed: readonly FleetEvent[]): FleetEvent['phase'][] {
  const phases: FleetEvent['phase'][] = event.phase === 'begin' ? ['begin'] : ['begin', 'end'];
  const known = removed.filter((each) => subjectOf(each) === subjectOf(event) && overlaps(each, event));
  if (known.length === 0) return phases;
  return known.some(({ phase }) => phase === 'end') ? [] : phases.filter((phase) => phase === 'end');
}

function overlaps(a: FleetEvent, b: FleetEvent): boolean {
  const lastMs = ({ endedAtMs }: FleetEvent) => endedAtMs ?? Number.POSITIVE_INFINITY;
  return a.startedAtMs <= lastMs(b) && b.startedAtMs <= lastMs(a);
}

/**
 * What the run found already going on at its first fix, and which may be the event that the archive knows the begin of.
 */
function takenUp(
  made: ReadonlyMap<EventId, FleetEvent>,
  known: FleetEvent,
  firstFixMs: number,
): FleetEvent | undefined {
  for (const event of made.values())
    if (beganAtMs(event.id) === firstFixMs && subjectOf(event) === subjectOf(known)) return event;
  return undefined;
}

function subjectOf(event: FleetEvent): string {
  return `${event.kind} ${geofenceOf(event) ?? ''} ${eventSubjectOf(event)}`;
}

/** Did it last when this fix was taken, as far as fixes up to it say? */
function isOpenAt(event: FleetEvent, fixMs: number): boolean {
  return event.phase === 'begin' || event.fixTimeMs > fixMs;
}

/** An event that was found going on, with the begin that is known of it. */
function begunAs(known: FleetEvent, found: FleetEvent): FleetEvent {
  const { id, startedAtMs, fromFixTimeMs, startLatitude, startLongitude } = known;
  const hasStart = startLatitude !== undefined && startLongitude !== undefined;
  return {
    ...found,
    id,
    startedAtMs,
    fromFixTimeMs,
    ...(hasStart && { startLatitude, startLongitude }),
  } as FleetEvent;
}

/** Did they begin at the same place? What was recorded before places of begins were kept, did. */
function isStartSame(a: FleetEvent, b: FleetEvent): boolean {
  if (a.startLatitude === undefined || b.startLatitude === undefined) return true;
  const isNear = (x = 0, y = 0) => roundedDegrees(x) === roundedDegrees(y);
  return isNear(a.startLatitude, b.startLatitude) && isNear(a.startLongitude, b.startLongitude);
}

/** To the precision of the archive. */
function roundedDegrees(degrees: number): number {
  return Math.round(degrees * 1e7);
}

function beganAlike(a: FleetEvent, b: FleetEvent): boolean {
  return a.startedAtMs === b.startedAtMs && a.fromFixTimeMs === b.fromFixTimeMs;
}

/** Do they say the same, to the precision of the archive? By whom it was said is another matter. */
export function isSame(a: FleetEvent, b: FleetEvent): boolean {
  // An event recorded before it was kept where events began says nothing else.
  const hasStart = a.startLatitude !== undefined && b.startLatitude !== undefined;
  return factsOf(a, hasStart) === factsOf(b, hasStart);
}

function factsOf({ origin: _, startLatitude, startLongitude, ...facts }: FleetEvent, hasStart: boolean): string {
  const compared = hasStart ? { ...facts, startLatitude, startLongitude } : facts;
  const rounded = Object.entries(compared).map(([name, value]) => {
    if (typeof value !== 'number') return [name, value];
    if (/(lat|long)itude$/i.test(name)) return [name, roundedDegrees(value)];
    return [name, name === 'speedKmh' ? Math.round(value * 10) : value];
  });
  return JSON.stringify(rounded.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}
