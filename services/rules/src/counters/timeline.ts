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
/** Sums are compared with so much to spare, in metres and in milliseconds: they are added up in another order. */
const TOLERANCE = 0.001;
/** The same of custom counters, in units of any size. */
const CUSTOM_TOLERANCE = 1e-6;

/** What a plan's events are made from, for one vehicle and since one service. */
export interface Subject {
  plan: Pick<MaintenancePlan, 'id' | 'name' | 'every' | 'warning'>;
  vehicle: Pick<Vehicle, 'id' | 'version'>;
  base: Pick<PlanBase, 'key' | 'sinceMs'>;
  /** Nothing begins before: what it goes by was said then. */
  floorMs: number;
  /** How often people changed what it goes by. */
  generation: number;
  /** The custom counter that the plan goes by. */
  counterId: CustomCounterId | null;
  /** What was counted when nothing was used up yet; null: nothing is known of the vehicle. */
  zero: CounterSums | null;
  stage: 'ok' | 'warning' | 'due';
  /** Where the vehicle is, for what begins by the calendar. */
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
 * The events that history makes of a plan since a service, as far as the stage that it is at: they depend on the
 * records, not on the order in which these came, nor on when somebody looked.
 *
 * @returns null where it can't be known yet
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

/** When the first of what a plan goes by was used up, or used up but for the warning. */
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
  // An event has a place: of a vehicle that never had a fix nothing is published.
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

/** What makes published events what they should have been. */
export interface Reconciled {
  /** All events since the service, each in its latest phase. */
  published: MaintenanceDue[];
  /** To be published. */
  news: MaintenanceDue[];
  /** To be put into the archive in the place of what was published. */
  written: MaintenanceDue[];
  removed: MaintenanceDue[];
}

/**
 * Brings what was published to what history says. An event that began at another time than it was published with is
 * another event, and takes its place in the archive; nobody is notified again of the same stage. What was taken back
 * and is right after all is put back into the archive under its id; where it lasts, it comes again as another event.
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

/** The id of an event: its own, or one that follows from it where it was published, taken back, and lasts again. */
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
