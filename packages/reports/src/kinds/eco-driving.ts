import type { FleetEvent, Trip } from '@outrider/domain';
import { LIST_FLEET } from '@outrider/warehouse';
import { type EventsCursor, eventsCursor } from '../cursors.ts';
import { withPlaces } from '../places.ts';
import {
  type Column,
  fleetFrom,
  isOfDrivers,
  type Page,
  type ReportSources,
  type Row,
  seconds,
  tenths,
} from '../report.ts';
import { ECO_VIOLATIONS } from './eco-score.ts';
import { type EcoTrip, ecoTrips, pointsOf } from './eco-trips.ts';
import { DRIVER, LASTED, PLACES, places } from './event-lists.ts';

const sum = (name: string, type: 'number' | 'whole', about?: string): Column => ({
  ...{ name, type, always: true, total: 'sum' },
  ...(about !== undefined && { about }),
});
const rare = (column: Column): Column => ({ ...column, isRare: true });

/** How economically and carefully vehicles are driven: a score for each trip. */
export const ecoDrivingReport = withPlaces({
  name: 'eco-driving',
  summary: 'Economy and safety of driving: a score from 0 to 100 for each trip.',
  description:
    'A row for each trip that began in the time range. Its score is 100 minus its points per 100 km, and at least 0. A trip shorter than 5 km counts as 5 km. `ecoWeights` sets the points for each harsh acceleration, braking and cornering, and for each minute of speeding, of idling, and of engine speed above the upper threshold of a sensor of kind `rpm`. Idling at a stop counts for the trip that begins at its end, otherwise for the trip before it. With `groupBy`, the score of a driver, a vehicle or a day is the mean of the scores of the trips, weighted by distance.',
  parameters: { ecoWeights: true, driverIds: true },
  charts: [
    { shape: 'bars', measure: 'ecoScore', by: 'driver' },
    { shape: 'bars', measure: 'ecoScore', by: 'vehicle' },
  ],
  columns: [
    { name: 'vehicleId', type: 'id', always: true },
    { name: 'vehicleName', type: 'text', always: true },
    ...LASTED,
    ...PLACES,
    sum(
      'distanceM',
      'number',
      'Distance of the trip. While it is in progress, it counts up to the last record of the vehicle.',
    ),
    {
      ...{ name: 'ecoScore', type: 'number', always: true, total: 'mean', weight: 'distanceM' },
      about: 'Score from 0 to 100; higher is better.',
    },
    sum('ecoPoints', 'number', 'Points of all violations together.'),
    sum('speedingPoints', 'number'),
    sum('accelerationPoints', 'number'),
    sum('brakingPoints', 'number'),
    sum('corneringPoints', 'number'),
    sum('idlingPoints', 'number'),
    sum('overRevvingPoints', 'number'),
    rare(sum('speedingSeconds', 'number')),
    rare(sum('harshAccelerations', 'whole')),
    rare(sum('harshBrakings', 'whole')),
    rare(sum('harshCornerings', 'whole')),
    rare(
      sum('idlingSeconds', 'number', 'Idling at the stops before and after the trip that count for it, in seconds.'),
    ),
    rare(sum('overRevvingSeconds', 'number')),
    ...DRIVER,
  ],
  cursor: eventsCursor,
  async page(sources, question, after, limit): Promise<Page> {
    const { fleet = null, after: last = null } = (after as EventsCursor | null) ?? {};
    const { part, following } = fleetFrom(question.vehicles, fleet, LIST_FLEET);
    const [first] = part;
    if (first === undefined) return { rows: [], next: null };
    const { fromMs, toMs, signal } = question;
    const page = await sources.archive.overlappingEvents({
      ...{ vehicleIds: part.map(({ id }) => id), kinds: ['trip'], fromMs, toMs, limit, after: last, signal },
    });
    const begun = page.events.filter((event): event is Trip => isBegunIn(event, fromMs));
    const driven = await driversOf(sources, begun);
    const isAsked = (nth: number) => isOfDrivers(question, driven[nth] ?? null);
    const trips = begun.filter((_, nth) => isAsked(nth));
    const drivers = driven.filter((_, nth) => isAsked(nth));
    const names = new Map(part.map(({ id, name }) => [id, name]));
    const scored = await ecoTrips(sources, question, trips);
    const rows = scored.map((each, nth) => rowOf(each, names.get(each.trip.vehicleId) ?? '', drivers[nth] ?? null));
    const next: EventsCursor | null = page.next
      ? { fleet: first.id, after: page.next }
      : following && { fleet: following, after: null };
    return { rows, next };
  },
});

/** A trip counts once, in the time range in which it began. */
export function isBegunIn(event: FleetEvent, fromMs: number): event is Trip {
  return event.kind === 'trip' && event.startedAtMs >= fromMs;
}

/** The driver at the beginning of each event. */
export function driversOf({ driversAt }: Pick<ReportSources, 'driversAt'>, events: readonly FleetEvent[]) {
  return driversAt(
    events.map(({ vehicleId, startedAtMs, driverCode = null }) => ({ vehicleId, atMs: startedAtMs, code: driverCode })),
  );
}

function rowOf(each: EcoTrip, vehicleName: string, driver: { id: string; name: string } | null): Row {
  const { trip, distanceM, durationMs, score, points, counts, lastedMs } = each;
  return [
    trip.vehicleId,
    vehicleName,
    trip.startedAtMs,
    trip.endedAtMs,
    seconds(durationMs),
    ...places(trip),
    tenths(distanceM),
    tenths(score),
    tenths(pointsOf(each)),
    ...ECO_VIOLATIONS.map((violation) => tenths(points[violation])),
    seconds(lastedMs.speeding),
    counts.acceleration,
    counts.braking,
    counts.cornering,
    seconds(lastedMs.idling),
    seconds(lastedMs['over-revving']),
    driver?.id ?? null,
    driver?.name ?? null,
    trip.driverCode ?? null,
  ];
}
