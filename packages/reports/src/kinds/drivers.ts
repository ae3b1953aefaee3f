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
  summary: 'What drivers did: shifts, distance, hours, speeding, fuel and their score.',
  description:
    'A row for each driver and period, and one for what was driven by nobody that is known. A trip, and a shift, counts in the period in which it began. Who drove is whom somebody assigned, else whose code the terminal sent. `ecoScore` is the mean of the trips’ in report `eco-driving`, by their distance.',
  parameters: { period: 'whole', ecoWeights: true, driverIds: true },
  charts: [
    { shape: 'bars', measure: 'distanceM', by: 'driver' },
    { shape: 'bars', measure: 'ecoScore', by: 'driver' },
  ],
  columns: [
    { name: 'driverId', type: 'id', about: 'Null: nobody that is known, or that the caller may see.' },
    { name: 'driverName', type: 'text' },
    PERIOD_START,
    { name: 'shifts', type: 'whole', always: true, total: 'sum', about: 'By codes of terminals, that began in it.' },
    { name: 'trips', type: 'whole', always: true, total: 'sum', about: 'That began in it.' },
    { name: 'vehicles', type: 'whole', always: true, about: 'That they were made with.' },
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
    { name: 'tripSeconds', type: 'number', always: true, total: 'sum', about: 'On trips.' },
    { name: 'movingSeconds', type: 'number', always: true, total: 'sum', about: 'On trips, while the vehicle moved.' },
    { name: 'speedings', type: 'whole', always: true, total: 'sum' },
    { name: 'speedingSeconds', type: 'number', always: true, total: 'sum' },
    { name: 'harshManoeuvres', type: 'whole', always: true, total: 'sum', about: 'Acceleration, braking, cornering.' },
    { name: 'fuelUsedL', type: 'number', total: 'sum', about: 'On trips. Null where it is not known of any.' },
    { name: 'litresPer100Km', type: 'number', about: 'Of the trips whose fuel is known.' },
    {
      ...{ name: 'ecoScore', type: 'number', total: 'mean', weight: 'distanceM' },
      about: '0 to 100: the higher the better. Null without any distance.',
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
