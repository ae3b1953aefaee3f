import type { DriverId, FleetEvent, VehicleId } from '@outrider/domain';
import { placeOf } from '../calendar.ts';
import { listCursor } from '../cursors.ts';
import { eventsOf } from '../fleet-events.ts';
import {
  isOfDrivers,
  type Page,
  type Question,
  type ReportKind,
  type ReportSources,
  type Row,
  seconds,
  TooManyRowsError,
  tenths,
} from '../report.ts';
import { byPeriod, dayOf, onceFor, PERIOD_START } from '../totals.ts';
import { driversOf, isBegunIn } from './eco-driving.ts';
import { EcoMean } from './eco-score.ts';
import { ecoTrips } from './eco-trips.ts';
import { per100Km } from './fuel.ts';

/** Maximum number of drivers and periods: nobody reads a larger report. */
const MAX_CELLS = 100_000;

type NamedDriver = { id: DriverId; name: string };

/** Driving of one driver in one period. */
class Work {
  readonly driver: NamedDriver | null;
  readonly place: number;
  readonly vehicles = new Set<VehicleId>();
  readonly eco = new EcoMean();
  readonly fuel = { usedL: 0, distanceM: 0, isKnown: false };
  shifts = 0;
  trips = 0;
  distanceM = 0;
  tripMs = 0;
  movingMs = 0;
  speedings = 0;
  speedingMs = 0;
  harsh = 0;

  constructor(driver: NamedDriver | null, place: number) {
    this.driver = driver;
    this.place = place;
  }
}

/** How much each driver drove, and how. */
export const driversReport: ReportKind = {
  name: 'drivers',
  summary: 'Shifts, distance, driving time, speeding, fuel and score of each driver.',
  description:
    'A row for each driver and period, and a row for each period with trips or shifts of unknown drivers. Trips and shifts count in the period in which they began. The driver of a trip is the one assigned by hand, otherwise the one whose code the terminal sent. `ecoScore` is the mean of the scores of the trips in report `eco-driving`, weighted by distance.',
  parameters: { period: 'whole', ecoWeights: true, driverIds: true },
  charts: [
    { shape: 'bars', measure: 'distanceM', by: 'driver' },
    { shape: 'bars', measure: 'ecoScore', by: 'driver' },
  ],
  columns: [
    { name: 'driverId', type: 'id', about: 'Null: the driver is unknown, or not visible to the caller.' },
    { name: 'driverName', type: 'text' },
    PERIOD_START,
    {
      name: 'shifts',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Number of shifts that began in the period, by the driver codes that terminals sent.',
    },
    { name: 'trips', type: 'whole', always: true, total: 'sum', about: 'Number of trips that began in the period.' },
    { name: 'vehicles', type: 'whole', always: true, about: 'Number of vehicles used on these trips.' },
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
    { name: 'tripSeconds', type: 'number', always: true, total: 'sum', about: 'Time on trips, in seconds.' },
    {
      name: 'movingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time in motion on trips, in seconds.',
    },
    { name: 'speedings', type: 'whole', always: true, total: 'sum' },
    { name: 'speedingSeconds', type: 'number', always: true, total: 'sum' },
    {
      name: 'harshManoeuvres',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Number of harsh accelerations, brakings and cornerings.',
    },
    {
      name: 'fuelUsedL',
      type: 'number',
      total: 'sum',
      about: 'Fuel used on trips, in litres. Null if it is known for none of them.',
    },
    {
      name: 'litresPer100Km',
      type: 'number',
      about:
        'Mean consumption on the trips whose fuel is known. Null if there are none, or if they are shorter than 1 km in total.',
    },
    {
      ...{ name: 'ecoScore', type: 'number', total: 'mean', weight: 'distanceM' },
      about: 'Score from 0 to 100; higher is better. Null if no distance was driven.',
    },
  ],
  cursor: listCursor,
  async page(sources, question, after, limit): Promise<Page> {
    const from = (after as { returned: number } | null)?.returned ?? 0;
    const all = await workOf(question)(sources);
    const rows = all.slice(from, from + limit).map((work) => rowOf(work, question));
    return { rows, next: from + limit < all.length ? { returned: from + limit } : null };
  },
};

/** All driving, by driver and period. The pages of one report share it. */
const workOf = onceFor((question) => {
  let made: Promise<Work[]> | null = null;
  return (sources: ReportSources) => {
    made ??= readWork(sources, question);
    return made;
  };
});

async function readWork(sources: ReportSources, question: Question): Promise<Work[]> {
  const { cuts } = byPeriod(question);
  const works = new Map<string, Work>();
  const workFor = (driver: NamedDriver | null, { startedAtMs }: FleetEvent) => {
    const place = placeOf(cuts, startedAtMs);
    const key = `${driver?.id ?? ''} ${place}`;
    const work = works.get(key) ?? new Work(driver, place);
    if (works.set(key, work).size > MAX_CELLS) throw new TooManyRowsError(MAX_CELLS);
    return work;
  };
  for await (const events of begunEvents(sources, question)) {
    const shifts = events.filter(({ kind }) => kind === 'driver-shift');
    for (const [nth, driver] of (await driversOf(sources, shifts)).entries())
      if (isOfDrivers(question, driver)) workFor(driver, shifts[nth] as FleetEvent).shifts += 1;
    const begun = events.filter((event) => isBegunIn(event, question.fromMs));
    const driven = await driversOf(sources, begun);
    const isAsked = (nth: number) => isOfDrivers(question, driven[nth] ?? null);
    const trips = begun.filter((_, nth) => isAsked(nth));
    const drivers = driven.filter((_, nth) => isAsked(nth));
    for (const [nth, each] of (await ecoTrips(sources, question, trips)).entries()) {
      const { trip, distanceM, counts } = each;
      const work = workFor(drivers[nth] ?? null, trip);
      work.trips += 1;
      work.vehicles.add(trip.vehicleId);
      work.distanceM += distanceM;
      work.tripMs += each.durationMs;
      work.movingMs += each.movingMs;
      work.speedings += counts.speeding;
      work.speedingMs += each.lastedMs.speeding;
      work.harsh += counts.acceleration + counts.braking + counts.cornering;
      work.eco.add(each.score, distanceM);
      if (trip.fuelUsedL === undefined || trip.phase !== 'end') continue;
      work.fuel.isKnown = true;
      work.fuel.usedL += trip.fuelUsedL;
      work.fuel.distanceM += distanceM;
    }
  }
  return [...works.values()].sort(byNameAndTime);
}

/** Sorts by name and time, known drivers before unknown ones. */
function byNameAndTime(a: Work, b: Work): number {
  if (a.driver === null || b.driver === null)
    return Number(a.driver === null) - Number(b.driver === null) || a.place - b.place;
  return (
    a.driver.name.localeCompare(b.driver.name, 'en', { numeric: true }) ||
    a.driver.id.localeCompare(b.driver.id) ||
    a.place - b.place
  );
}

/** Trips and shifts that began in the time range, a page at a time. */
async function* begunEvents({ archive }: ReportSources, question: Question): AsyncGenerator<FleetEvent[]> {
  const { vehicles, fromMs, toMs, signal } = question;
  const ids = vehicles.map(({ id }) => id);
  for await (const events of eventsOf(archive, ids, { kinds: ['trip', 'driver-shift'], fromMs, toMs, signal }))
    yield events.filter(({ startedAtMs }) => startedAtMs >= fromMs);
}

function rowOf(work: Work, question: Question): Row {
  const { driver, place, fuel, eco } = work;
  return [
    driver?.id ?? null,
    driver?.name ?? null,
    dayOf(question, place),
    work.shifts,
    work.trips,
    work.vehicles.size,
    tenths(work.distanceM),
    seconds(work.tripMs),
    seconds(work.movingMs),
    work.speedings,
    seconds(work.speedingMs),
    work.harsh,
    fuel.isKnown ? tenths(fuel.usedL) : null,
    fuel.isKnown ? per100Km(fuel.usedL, fuel.distanceM) : null,
    eco.score === null ? null : tenths(eco.score),
  ];
}
