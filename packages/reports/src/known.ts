import {
  type EventId,
  type FleetEvent,
  isTimely,
  type OpenTrip,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import type { CrossingTrip } from '@outrider/warehouse';
import type { Question, ReportSources } from './report.ts';

/** What is known of a vehicle now. */
export interface Known {
  /** Unix milliseconds of its last record, at most now: what it has done since is unknown. */
  untilMs: number;
  /** The vehicle's current trip, if the rules published one. */
  trip: OpenTrip | null;
}

/**
 * A vehicle without a status is searched for in the archive: first this far back, and if nothing is found, in all of
 * it.
 */
const RECENT_MS = 31 * 86_400_000;

/** Time up to which each vehicle is known: by its status, or without one, by its last archived fix. */
export async function knownOf(
  sources: Pick<ReportSources, 'latest' | 'archive'>,
  vehicleIds: readonly VehicleId[],
  { nowMs, signal }: Pick<Question, 'nowMs' | 'signal'>,
): Promise<Map<VehicleId, Known>> {
  const known = new Map<VehicleId, Known>();
  if (vehicleIds.length === 0) return known;
  for (const status of await sources.latest(vehicleIds))
    known.set(status.vehicleId, { untilMs: Math.min(nowMs, lastRecordMs(status)), trip: status.trip ?? null });
  for (const fromMs of [nowMs - RECENT_MS, 0]) {
    const left = vehicleIds.filter((id) => !known.has(id));
    if (left.length === 0) break;
    const fixes = await sources.archive.fixesBefore({
      vehicleIds: left,
      fromMs,
      beforeMs: nowMs + 1,
      count: 1,
      queue: 'report',
      signal,
    });
    for (const { vehicleId, fixTimeMs } of fixes) known.set(vehicleId, { untilMs: fixTimeMs, trip: null });
  }
  for (const id of vehicleIds) if (!known.has(id)) known.set(id, { untilMs: 0, trip: null });
  return known;
}

/** What is known of the vehicle of each event that has not ended: see {@link knownOf}. */
export async function knownOfOpen(
  sources: Pick<ReportSources, 'latest' | 'archive'>,
  events: readonly FleetEvent[],
  question: Pick<Question, 'nowMs' | 'signal'>,
): Promise<(event: FleetEvent) => Known> {
  const open = events.filter(({ endedAtMs, kind }) => endedAtMs === null && kind !== 'offline');
  const known = await knownOf(sources, [...new Set(open.map(({ vehicleId }) => vehicleId))], question);
  return ({ vehicleId }) => known.get(vehicleId) ?? { untilMs: 0, trip: null };
}

/** Totals of a trip in progress. The idling time is known only if the rules published the trip. */
export interface OpenTotals extends Pick<OpenTrip, 'distanceM' | 'movingMs' | 'maxKmh'> {
  idlingMs: number | null;
}

/**
 * Totals of trips in progress, by id. They are those that the rules published; if late data gave the trip another
 * start, they are computed from its positions. `mileage` has the same totals.
 */
export async function totalsOfOpenTrips(
  { archive }: Pick<ReportSources, 'archive'>,
  events: readonly FleetEvent[],
  knownOfEvent: (event: FleetEvent) => Known,
  { signal }: Pick<Question, 'signal'>,
): Promise<Map<EventId, OpenTotals>> {
  const totals = new Map<EventId, OpenTotals>();
  const others: CrossingTrip[] = [];
  const ids = new Map<VehicleId, EventId>();
  for (const event of events) {
    if (event.kind !== 'trip' || event.endedAtMs !== null) continue;
    const { untilMs, trip } = knownOfEvent(event);
    const { vehicleId, startedAtMs } = event;
    if (trip?.startedAtMs === startedAtMs) totals.set(event.id, trip);
    else if (untilMs >= startedAtMs) {
      ids.set(vehicleId, event.id);
      const none = { distanceM: 0, movingMs: 0, idlingMs: 0, peakKmh: null };
      others.push({ vehicleId, startedAtMs, untilMs, lasts: true, ...none });
    }
  }
  if (others.length === 0) return totals;
  const from = Math.min(...others.map(({ startedAtMs }) => startedAtMs));
  const to = Math.max(...others.map(({ untilMs }) => untilMs));
  for (const { vehicleId, distanceM, movingMs, peakKmh } of await archive.tripParts({
    trips: others,
    cuts: [from, to + 1],
    signal,
  })) {
    const id = ids.get(vehicleId);
    if (id !== undefined) totals.set(id, { distanceM, movingMs, idlingMs: null, maxKmh: peakKmh ?? 0 });
  }
  return totals;
}

/** Time until which each event lasts that has not ended. Silence lasts until now. */
export async function lastingUntil(
  sources: Pick<ReportSources, 'latest' | 'archive'>,
  events: readonly FleetEvent[],
  question: Pick<Question, 'nowMs' | 'signal'>,
): Promise<(event: FleetEvent) => number> {
  const knownOfEvent = await knownOfOpen(sources, events, question);
  return (event) => (event.kind === 'offline' ? question.nowMs : knownOfEvent(event).untilMs);
}

/** Time of the last record. A record does not count if the terminal's clock is not set. */
function lastRecordMs({ position, record, recordReceivedAtMs }: VehicleStatus): number {
  const recordMs = isTimely(record, recordReceivedAtMs) ? record.fixTimeMs : 0;
  return Math.max(position?.fixTimeMs ?? 0, recordMs);
}
