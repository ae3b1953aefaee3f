import {
  type CounterKey,
  type CounterSums,
  type CustomCounterId,
  deriveEventId,
  type MaintenanceCause,
  type MaintenanceDue,
  type MaintenancePlan,
  type Position,
  sumOf,
  type Vehicle,
} from '@outrider/domain';
import type { Reached } from '@outrider/engine';
import type { KeptState, PlanBase } from '@outrider/registry';

const DAY_MS = 86_400_000;
/** Tolerance when sums are compared, in metres and in milliseconds: they are added up in another order. */
const TOLERANCE = 0.001;
/** The same for custom counters, whose units may be of any size. */
const CUSTOM_TOLERANCE = 1e-6;

/** Input for a plan's events, for one vehicle and since one service. */
export interface Subject {
  plan: Pick<MaintenancePlan, 'id' | 'name' | 'every' | 'warning'>;
  vehicle: Pick<Vehicle, 'id' | 'version'>;
  base: Pick<PlanBase, 'key' | 'sinceMs'>;
  /** Nothing begins before this time: the basis of the plan was entered then. */
  floorMs: number;
  /** How often the basis of the plan changed. */
  generation: number;
  /** The custom counter that the plan uses. */
  counterId: CustomCounterId | null;
  /** Sums at which nothing was used up; null: nothing is known of the vehicle. */
  zero: CounterSums | null;
  stage: 'ok' | 'warning' | 'due';
  /** Current position of the vehicle, for events that begin by the calendar. */
  position: Pick<Position, 'latitude' | 'longitude' | 'speedKmh'> | null;
  nowMs: number;
}

/** Finds the first record with which a sum of the vehicle was as large as `value`. */
export type FindReached = (counter: CounterKey, value: number) => Promise<Reached | null>;

interface Moment {
  atMs: number;
  cause: MaintenanceCause;
  fix: Pick<Position, 'latitude' | 'longitude' | 'speedKmh'> | null;
}

/**
 * Derives the events of a plan since a service from history, up to its current stage. They depend on the records only,
 * not on the order of arrival or on the time of the evaluation.
 *
 * @returns null when they cannot be known yet
 */
export async function timelineOf(subject: Subject, find: FindReached): Promise<MaintenanceDue[] | null> {
  const { stage, floorMs, plan } = subject;
  if (stage === 'ok') return [];
  const warned = await momentOf(subject, plan.warning, find);
  const due = stage === 'due' ? await momentOf(subject, null, find) : null;
  if (stage === 'due' && due === null) return null;
  if (stage === 'warning' && warned === null) return null;
  const from = (moment: Moment) => Math.max(moment.atMs, floorMs);
  const events: MaintenanceDue[] = [];
  if (warned !== null && (due === null || from(warned) < from(due))) {
    const warning = begun(subject, 'warning', warned, from(warned));
    if (warning === null) return null;
    events.push(due === null ? warning : endedAt(warning, from(due), 'due', due.fix));
  }
  if (due !== null) {
    const event = begun(subject, 'due', due, from(due));
    if (event === null) return null;
    events.push(event);
  }
  return events;
}

/** Finds when the first limit of a plan was used up, or used up except for the warning margin. */
async function momentOf(
  { plan: { every }, base, counterId, zero, nowMs }: Subject,
  less: MaintenancePlan['warning'] | null,
  find: FindReached,
): Promise<Moment | null> {
  const moments: Moment[] = [];
  for (const [cause, span, counter, tolerance] of [
    ['distance', 'distanceM', 'odometer', TOLERANCE],
    ['engine-hours', 'engineMs', 'engine-hours', TOLERANCE],
    ['counter', 'counter', counterId, CUSTOM_TOLERANCE],
  ] as const) {
    const whole = every[span];
    if (whole === null || counter === null || zero === null || (less !== null && less[span] === null)) continue;
    const reached = await find(counter, sumOf(counter, zero) + whole - (less?.[span] ?? 0) - tolerance);
    if (reached !== null) moments.push({ atMs: Math.max(reached.fixTimeMs, base.sinceMs), cause, fix: reached.fix });
  }
  if (every.days !== null && (less === null || less.days !== null)) {
    const atMs = Math.round(base.sinceMs + (every.days - (less?.days ?? 0)) * DAY_MS);
    if (atMs <= nowMs) moments.push({ atMs, cause: 'days', fix: null });
  }
  return moments.reduce<Moment | null>(
    (first, each) => (first !== null && first.atMs <= each.atMs ? first : each),
    null,
  );
}

function begun(
  { plan, vehicle, base, generation, position }: Subject,
  stage: MaintenanceDue['stage'],
  { cause, fix }: Moment,
  startedAtMs: number,
): MaintenanceDue | null {
  const place = fix ?? position;
  // An event needs a place: nothing is published for a vehicle that never had a fix.
  if (place === null) return null;
  const { latitude, longitude, speedKmh } = place;
  return {
    kind: 'maintenance-due',
    id: deriveEventId('maintenance-due', vehicle.id, [plan.id, base.key, stage, generation].join('/'), startedAtMs),
    phase: 'begin',
    vehicleId: vehicle.id,
    startedAtMs,
    endedAtMs: null,
    latitude,
    longitude,
    startLatitude: latitude,
    startLongitude: longitude,
    speedKmh,
    fromFixTimeMs: startedAtMs,
    fixTimeMs: startedAtMs,
    definitionVersion: vehicle.version,
    origin: 'live',
    inferred: false,
    planId: plan.id,
    planName: plan.name,
    stage,
    cause,
    endReason: null,
  };
}

export function endedAt(
  event: MaintenanceDue,
  atMs: number,
  endReason: NonNullable<MaintenanceDue['endReason']>,
  place: Moment['fix'],
): MaintenanceDue {
  const endedAtMs = Math.max(atMs, event.startedAtMs);
  return {
    ...event,
    phase: 'end',
    endedAtMs,
    fixTimeMs: endedAtMs,
    ...(place && { latitude: place.latitude, longitude: place.longitude, speedKmh: place.speedKmh }),
    endReason,
  };
}

/** Changes that bring published events in line with history. */
export interface Reconciled {
  /** All events since the service, each in its latest phase. */
  published: MaintenanceDue[];
  /** To be published. */
  news: MaintenanceDue[];
  /** To be archived in place of published events. */
  written: MaintenanceDue[];
  removed: MaintenanceDue[];
}

/**
 * Brings published events in line with history.
 *
 * - An event with another start than published is another event. It replaces the published one in the archive; nobody
 *   is notified of the same stage again.
 * - An event that was withdrawn and proves right after all is archived again under its id. If it lasts, it is published
 *   again as another event.
 */
export function reconcile(
  { published, rewritten, sentIds }: Pick<KeptState, 'published' | 'rewritten' | 'sentIds'>,
  history: readonly MaintenanceDue[],
  nowMs: number,
): Reconciled {
  const news: MaintenanceDue[] = [];
  const written: MaintenanceDue[] = [];
  const removed: MaintenanceDue[] = [];
  const wanted = history.map((event) => ({ ...event, id: idOf(event, published, sentIds) }));
  for (const event of wanted) {
    const same = published.find(({ id }) => id === event.id);
    const isRewritten = rewritten.includes(event.id);
    if (same === undefined) {
      const moved = published.find(({ stage }) => stage === event.stage);
      if (moved === undefined && !sentIds.includes(event.id)) {
        news.push(opened(event), ...(event.phase === 'end' ? [event] : []));
        if (isRewritten) written.push(event);
      } else {
        written.push({ ...event, origin: 'recalculated' });
        if (moved?.phase === 'begin' && event.phase === 'end') news.push(event);
      }
    } else if (same.endedAtMs !== event.endedAtMs) {
      if (same.phase === 'begin') news.push(event);
      if (same.phase === 'end' || isRewritten) written.push({ ...event, origin: 'recalculated' });
    }
  }
  for (const event of published) {
    if (wanted.some(({ id }) => id === event.id)) continue;
    removed.push(event);
    const isMoved = wanted.some(({ stage }) => stage === event.stage);
    if (event.phase === 'begin' && !isMoved) news.push(endedAt(event, nowMs, 'corrected', null));
  }
  return { published: wanted, news, written, removed };
}

/** Id of an event: its own, or one derived from it if the event was published, withdrawn, and lasts again. */
function idOf(
  event: MaintenanceDue,
  published: readonly MaintenanceDue[],
  sentIds: readonly MaintenanceDue['id'][],
): MaintenanceDue['id'] {
  let last = event.id;
  let next = event.id;
  for (;;) {
    const id = next;
    if (published.some((each) => each.id === id)) return id;
    if (!sentIds.includes(id)) break;
    last = id;
    next = deriveEventId(event.kind, event.vehicleId, id, event.startedAtMs);
  }
  const beginsAgain = event.phase === 'begin' && !published.some(({ stage }) => stage === event.stage);
  return beginsAgain ? next : last;
}

/** An event as it was when it began. */
function opened(event: MaintenanceDue): MaintenanceDue {
  const { startLatitude = event.latitude, startLongitude = event.longitude, startedAtMs: fixTimeMs } = event;
  const place = { latitude: startLatitude, longitude: startLongitude };
  return { ...event, ...place, fixTimeMs, phase: 'begin', endedAtMs: null, endReason: null };
}
