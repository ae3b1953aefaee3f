import type { VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { inIntervals, isOnQuarters, type Later, measuredQuarters } from './kept-measures.ts';
import { type Measured, measure } from './measure-trips.ts';
import type { CrossingTrip } from './tallies.ts';

export interface TripPartsQuestion {
  trips: readonly CrossingTrip[];
  /** Unix milliseconds, growing: as they were asked for in `tallies`. */
  cuts: readonly number[];
  signal?: AbortSignal | undefined;
}

/** What of a trip lies in one interval. */
export interface TripPart {
  vehicleId: VehicleId;
  /** From 0. */
  interval: number;
  distanceM: number;
  movingMs: number;
  idlingMs: number;
  peakKmh: number | null;
}

/** Their vehicles, starts and ends are bound to the query. */
const TRIPS_A_QUERY = 2000;

/**
 * How trips that cuts divide are shared out among the intervals: by the way from fix to fix, by the odometer where both
 * have it, as the positions show it. The way between the two fixes around a cut is shared by time. The parts of a trip
 * whose totals are known come to these, so that no mileage is lost or won at midnight; one whose positions are gone is
 * shared by time alone. One that `lasts` is what its positions show. Only what lies between the first cut and the last
 * is returned.
 *
 * What was measured of a trip by the quarters of an hour is kept for the next question, see `kept-measures.ts`.
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

/** {@link tripParts} without anything that was kept. Trips are in the order of their starts, 2000 at most. */
export async function partsByPositions(
  engine: Engine,
  { trips, cuts, signal }: TripPartsQuestion,
): Promise<TripPart[]> {
  if (trips.length === 0) return [];
  const measured = await measure(engine, trips, cuts, signal);
  return trips.flatMap((trip, nth) => shared(trip, cuts, measured.get(nth) ?? []));
}

/** A trip's totals, shared out. */
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
    // Of a trip that has one fix yet, all is in the interval of that.
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
