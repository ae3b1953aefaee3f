import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { inIntervals, isOnQuarters, type Later, measuredQuarters } from './kept-measures.ts';
import { type Measured, measure } from './measure-trips.ts';
import type { CrossingTrip } from './tallies.ts';

export interface TripPartsQuestion {
  trips: readonly CrossingTrip[];
  /** Unix milliseconds, increasing: the cuts passed to `tallies`. */
  cuts: readonly number[];
  signal?: AbortSignal | undefined;
}

/** The part of a trip in one interval. */
export interface TripPart {
  vehicleId: VehicleId;
  /** Index of the interval, from 0. */
  interval: number;
  distanceM: number;
  movingMs: number;
  idlingMs: number;
  peakKmh: number | null;
}

/** Maximum number of trips in a query, to which their vehicles, starts and ends are bound. */
const TRIPS_A_QUERY = 2000;

/**
 * Distributes trips that cuts divide among the intervals, by the distances between their positions: by the odometer
 * where both fixes have it. The distance between the two fixes around a cut is divided by time. If the totals of a trip
 * are known, its parts add up to these, so that no mileage is lost or gained at midnight. A trip whose positions are
 * gone is divided by time alone. A trip that `lasts` has the totals of its positions. Only parts between the first cut
 * and the last are returned.
 *
 * Measures of a trip by quarters of an hour are cached for the next query, see `kept-measures.ts`.
 */
export async function tripParts(engine: Engine, question: TripPartsQuestion, later: Later): Promise<TripPart[]> {
  const { trips, cuts, signal } = question;
  const parts: TripPart[] = [];
  const inOrder = trips.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  for (let at = 0; at < trips.length; at += TRIPS_A_QUERY) {
    const chunk = inOrder.slice(at, at + TRIPS_A_QUERY);
    const onQuarters = chunk.filter((trip) => isOnQuarters(trip, cuts));
    const quarters = await measuredQuarters(engine, onQuarters, signal, later);
    for (const [trip, measured] of quarters) parts.push(...shared(trip, cuts, inIntervals(trip, measured, cuts)));
    const others = chunk.filter((trip) => !quarters.has(trip));
    parts.push(...(await partsByPositions(engine, { trips: others, cuts, signal })));
  }
  return parts;
}

/** {@link tripParts} without the cache. Trips are in the order of their starts, 2000 at most. */
export async function partsByPositions(
  engine: Engine,
  { trips, cuts, signal }: TripPartsQuestion,
): Promise<TripPart[]> {
  if (trips.length === 0) return [];
  const measured = await measure(engine, trips, cuts, signal);
  return trips.flatMap((trip, nth) => shared(trip, cuts, measured.get(nth) ?? []));
}

/** Divides a trip's totals among the intervals. */
function shared(trip: CrossingTrip, cuts: readonly number[], measured: readonly Measured[]): TripPart[] {
  const { vehicleId, startedAtMs, lasts } = trip;
  const endMs = Math.max(startedAtMs, trip.untilMs);
  const sum = (of: (part: Measured) => number) => measured.reduce((total, part) => total + of(part), 0);
  const [metres, moving, stationary] = [
    sum((part) => part.distanceM),
    sum((part) => part.movingMs),
    sum((part) => part.stationaryMs),
  ];
  const parts: TripPart[] = [];
  for (let interval = 0; interval + 1 < cuts.length; interval++) {
    const [from = 0, to = 0] = [cuts[interval], cuts[interval + 1]];
    const lastedMs = Math.min(to, endMs) - Math.max(from, startedAtMs);
    // A trip with a single fix up to now is completely in the interval of that fix.
    const isMoment = endMs === startedAtMs && startedAtMs >= from && startedAtMs < to;
    if (lastedMs <= 0 && !isMoment) continue;
    const byTime = isMoment ? 1 : lastedMs / (endMs - startedAtMs);
    const part = measured.find((each) => each.interval === interval);
    const share = (own: number, all: number) => (all > 0 ? own / all : byTime);
    parts.push({
      vehicleId,
      interval,
      distanceM: lasts ? (part?.distanceM ?? 0) : trip.distanceM * share(part?.distanceM ?? 0, metres),
      movingMs: lasts ? (part?.movingMs ?? 0) : trip.movingMs * share(part?.movingMs ?? 0, moving),
      idlingMs: lasts ? 0 : trip.idlingMs * share(part?.stationaryMs ?? 0, stationary),
      peakKmh: part?.peakKmh ?? null,
    });
  }
  return parts;
}
