import { type EventKind, type FleetEvent, geofenceOf, manoeuvreOf, type Trip, type VehicleId } from '@outrider/domain';
import { eventsOf } from '../fleet-events.ts';
import { knownOfOpen, lastingUntil, totalsOfOpenTrips } from '../known.ts';
import type { Question, ReportSources } from '../report.ts';
import {
  DEFAULT_ECO_WEIGHTS,
  type EcoAmounts,
  type EcoViolation,
  ecoPoints,
  ecoScore,
  readEcoWeights,
} from './eco-score.ts';
import { isIncluded } from './event-lists.ts';

/** Kinds of events that may be violations. */
const KINDS: readonly EventKind[] = ['speeding', 'harsh-driving', 'alarm', 'idling', 'sensor-threshold'];

/** A trip with its violations. */
export interface EcoTrip {
  trip: Trip;
  /** For a trip in progress, up to now. */
  distanceM: number;
  movingMs: number;
  durationMs: number;
  /** Number of events of each violation. */
  counts: Record<EcoViolation, number>;
  /** Duration of each violation, in milliseconds. */
  lastedMs: Record<EcoViolation, number>;
  points: EcoAmounts;
  score: number;
}

/**
 * The trips with their violations and scores. A violation belongs to the trip during which it began. Idling belongs to
 * the trip that begins at its end, else to the trip that ended where it began. So each belongs to at most one trip,
 * whichever trips are queried.
 */
export async function ecoTrips(sources: ReportSources, question: Question, trips: readonly Trip[]): Promise<EcoTrip[]> {
  if (trips.length === 0) return [];
  const { nowMs, signal } = question;
  const weights = readEcoWeights(question.ecoWeights ?? DEFAULT_ECO_WEIGHTS);
  const knownOfTrip = await knownOfOpen(sources, trips, { nowMs, signal });
  const openTrips = await totalsOfOpenTrips(sources, trips, knownOfTrip, { signal });
  const made = trips.map((trip): EcoTrip => {
    const total = openTrips.get(trip.id) ?? trip;
    const { untilMs } = knownOfTrip(trip);
    return {
      ...{ trip, distanceM: total.distanceM, movingMs: total.movingMs, counts: none(), lastedMs: none() },
      durationMs: Math.max(0, (trip.endedAtMs ?? untilMs) - trip.startedAtMs),
      ...{ points: none(), score: 100 },
    };
  });
  const byVehicle = Map.groupBy(made, ({ trip }) => trip.vehicleId);
  for (const all of byVehicle.values()) all.sort((a, b) => a.trip.startedAtMs - b.trip.startedAtMs);
  for await (const { event, violation, durationMs } of violationsOf(sources, question, trips)) {
    const of = tripOf(byVehicle.get(event.vehicleId) ?? [], event);
    if (of === null) continue;
    of.counts[violation] += 1;
    of.lastedMs[violation] += durationMs;
  }
  for (const each of made) {
    each.points = ecoPoints(amountsOf(each), weights);
    each.score = ecoScore(pointsOf(each), each.distanceM);
  }
  return made;
}

/** Points of all violations together. */
export function pointsOf({ points }: Pick<EcoTrip, 'points'>): number {
  return Object.values(points).reduce((a, b) => a + b, 0);
}

function none(): Record<EcoViolation, number> {
  return { speeding: 0, acceleration: 0, braking: 0, cornering: 0, idling: 0, 'over-revving': 0 };
}

function amountsOf({ counts, lastedMs }: EcoTrip): EcoAmounts {
  const minutes = (violation: EcoViolation) => lastedMs[violation] / 60_000;
  return {
    speeding: minutes('speeding'),
    acceleration: counts.acceleration,
    braking: counts.braking,
    cornering: counts.cornering,
    idling: minutes('idling'),
    'over-revving': minutes('over-revving'),
  };
}

/** @param trips trips of the event's vehicle, in their order */
function tripOf(trips: readonly EcoTrip[], event: FleetEvent): EcoTrip | null {
  const [low, high] = [0, trips.length];
  if (event.kind !== 'idling') {
    const before = lastBefore(trips, event.startedAtMs, low, high);
    const { endedAtMs = 0 } = before?.trip ?? {};
    return before !== null && (endedAtMs === null || event.startedAtMs <= endedAtMs) ? before : null;
  }
  if (event.endReason === 'moved' && event.endedAtMs !== null) {
    const next = lastBefore(trips, event.endedAtMs, low, high);
    return next?.trip.startedAtMs === event.endedAtMs ? next : null;
  }
  const before = lastBefore(trips, event.startedAtMs, low, high);
  return before?.trip.endedAtMs === event.startedAtMs ? before : null;
}

/** The last trip that began at this time or before. */
function lastBefore(trips: readonly EcoTrip[], atMs: number, from: number, to: number): EcoTrip | null {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((trips[middle] as EcoTrip).trip.startedAtMs <= atMs) low = middle + 1;
    else high = middle;
  }
  return trips[low - 1] ?? null;
}

interface Violation {
  event: FleetEvent;
  violation: EcoViolation;
  durationMs: number;
}

/** Possible violations on the trips, a page at a time. */
async function* violationsOf(
  sources: ReportSources,
  question: Question,
  trips: readonly Trip[],
): AsyncGenerator<Violation> {
  const vehicleIds = [...new Set(trips.map(({ vehicleId }) => vehicleId))] satisfies VehicleId[];
  const starts = trips.map(({ startedAtMs }) => startedAtMs);
  const ends = trips.map(({ endedAtMs }) => endedAtMs ?? question.nowMs);
  const range = {
    // Wider by 1 ms: idling that ends exactly where a trip begins would not overlap it.
    fromMs: starts.reduce((a, b) => Math.min(a, b)) - 1,
    toMs: ends.reduce((a, b) => Math.max(a, b)) + 1,
  };
  const asked = { kinds: KINDS, ...range, signal: question.signal };
  for await (const events of eventsOf(sources.archive, vehicleIds, asked)) {
    await sources.readDeleted(events.map(geofenceOf));
    const untilOf = await lastingUntil(sources, events, question);
    for (const event of events) {
      const geofenceId = geofenceOf(event);
      if (geofenceId !== null && !isIncluded(geofenceId, sources, { geofenceId: null })) continue;
      const violation = violationOf(event);
      if (violation === null) continue;
      yield { event, violation, durationMs: Math.max(0, (event.endedAtMs ?? untilOf(event)) - event.startedAtMs) };
    }
  }
}

function violationOf(event: FleetEvent): EcoViolation | null {
  switch (event.kind) {
    case 'speeding':
    case 'idling':
      return event.kind;
    case 'harsh-driving':
      return event.manoeuvre;
    case 'alarm':
      // Earlier versions reported harsh driving as an alarm.
      return manoeuvreOf(event.alarm);
    case 'sensor-threshold':
      // Below the range, the engine stalls: only speeds above it count.
      return event.sensorKind === 'rpm' && event.max !== null && event.peakValue > event.max ? 'over-revving' : null;
    default:
      return null;
  }
}
