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

/** An archived event. */
export interface HistoricEvent {
  event: FleetEvent;
  /** Number of the recalculation that wrote the event; null: it was published live. */
  recalculation: number | null;
  /** Whether a recalculation found that the event never happened. */
  removed: boolean;
}

/** Changes to the archived events. */
export interface Correction {
  /** Events that are new, or differ from the archived ones. */
  written: FleetEvent[];
  /** How many of the written events are new. */
  added: number;
  /** Archived events that never happened. */
  removed: FleetEvent[];
  /** Phases of events in `written` that neither the live rules nor a recalculation published before. */
  news: Phase[];
  /** How many lasting events are new or changed, whether written or held back. */
  open: number;
  /**
   * Whether the live rules have the same lasting events, with the same ids. Then everything that they report from here
   * on agrees with the history, and nothing is left to correct.
   */
  settled: boolean;
}

/** One phase of an event. */
export type Phase = Pick<FleetEvent, 'id' | 'phase'>;

/** Kinds whose end reports totals since their start. */
const SUMMED: ReadonlySet<EventKind> = new Set(eventKindsWhere(({ description }) => description.isSummed === true));

/** Kinds that a single record states by itself, whatever other positions are still in transit. */
const ALARMS: ReadonlySet<EventKind> = new Set(['alarm', 'harsh-driving']);

/** Result of a run over the history, up to a fix. */
export interface Findings {
  /** Events by id, each in its latest phase. */
  made: ReadonlyMap<EventId, FleetEvent>;
  /** Events that were over by this time stay as archived. */
  fromMs: number;
  /** First fix of the run. Of what began before, the run only knows that it was in progress. */
  firstFixMs: number;
  /** Whether that is the vehicle's very first fix. */
  beginsHistory: boolean;
  /** The first fix after the interval that is recalculated. */
  firstAfterMs: number;
  /** Last fix of the run. What the archive derived from later fixes prevails. */
  untilMs: number;
  /** Events that the archive would already have if they had happened; null: none. */
  knownBefore: ReadonlySet<EventId> | null;
  /**
   * Whether positions in transit may contradict lasting events. New lasting events are then held back, except alarms.
   */
  awaitsData: boolean;
}

/**
 * Compares recalculated events with those in the archive.
 *
 * @param archived those that began no later than `untilMs`, and that this recalculation judges
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
  /** Events removed by an earlier recalculation: they were published. */
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
      // The live rules do not know an event that a recalculation began: another recalculation has to find its end.
      if (recalculation !== null && known.phase === 'begin') settled = false;
      // Nor do they add late data to the totals of a lasting event.
      if (SUMMED.has(now.kind) && beganAtMs(now.id) <= firstAfterMs) settled = false;
      if (known.phase === 'begin' ? !isSame(now, known) : !beganAlike(now, known)) {
        written.push(now);
        settled = false;
      } else if (!isStartSame(now, known)) {
        // The event was archived with its end, and is corrected there.
        settled = false;
      }
    } else if (!isSame(now, known)) {
      written.push(now);
      // The live rules report the ends of events that they know.
      if (recalculation !== null && known.phase === 'begin' && now.phase === 'end') news.push(now);
      if (now.phase === 'begin') settled = false;
    }
  }
  for (const event of rest.values()) {
    // Seen only from its middle, and not archived: its start is unknown.
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

/** Phases of a new event that were never published. The event may be a removed one in another form. */
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

/** The event that the run found in progress at its first fix, and that may be the archived one. */
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

/** Whether the event lasted at this fix, according to fixes up to it. */
function isOpenAt(event: FleetEvent, fixMs: number): boolean {
  return event.phase === 'begin' || event.fixTimeMs > fixMs;
}

/** An event that was found in progress, with its known start. */
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

/** Whether both began at the same place. True for an event recorded before start positions were kept. */
function isStartSame(a: FleetEvent, b: FleetEvent): boolean {
  if (a.startLatitude === undefined || b.startLatitude === undefined) return true;
  const isNear = (x = 0, y = 0) => roundedDegrees(x) === roundedDegrees(y);
  return isNear(a.startLatitude, b.startLatitude) && isNear(a.startLongitude, b.startLongitude);
}

/** Rounds to the precision of the archive. */
function roundedDegrees(degrees: number): number {
  return Math.round(degrees * 1e7);
}

function beganAlike(a: FleetEvent, b: FleetEvent): boolean {
  return a.startedAtMs === b.startedAtMs && a.fromFixTimeMs === b.fromFixTimeMs;
}

/** Whether both state the same facts, to the precision of the archive. The origin does not matter. */
export function isSame(a: FleetEvent, b: FleetEvent): boolean {
  // An event recorded before start positions were kept does not contradict one that has them.
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
