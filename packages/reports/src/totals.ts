import type { EventKind, VehicleId } from '@outrider/domain';
import { type CrossingTrip, MAX_FLEET, type Tally, type TripPart } from '@outrider/warehouse';
import { calendarOf, hourGridOf } from './calendar.ts';
import { type TotalsCursor, totalsCursor } from './cursors.ts';
import { type Known, knownOf } from './known.ts';
import {
  type Column,
  fleetFrom,
  type Page,
  type Question,
  type ReportAbout,
  type ReportKind,
  type ReportSources,
  type Row,
  seconds,
  tenths,
} from './report.ts';

/** Totals of one vehicle for one place: a period, or an hour of the day. */
class Totals {
  distanceM = 0;
  movingMs = 0;
  tripIdlingMs = 0;
  maxKmh: number | null = null;
  /** Litres that engines used, with the distance and the engine time of that use. */
  readonly fuel = { usedL: 0, distanceM: 0, engineMs: 0 };
  readonly counts: Partial<Record<EventKind, number>> = {};
  readonly volumesL: Partial<Record<EventKind, number>> = {};
  readonly lastedMs: Partial<Record<EventKind, number>> = {};

  addTally(tally: Tally): void {
    const { kind } = tally;
    this.counts[kind] = (this.counts[kind] ?? 0) + tally.count;
    this.lastedMs[kind] = (this.lastedMs[kind] ?? 0) + tally.durationMs;
    this.volumesL[kind] = (this.volumesL[kind] ?? 0) + tally.volumeL;
    this.fuel.usedL += tally.fuelUsedL;
    this.fuel.distanceM += tally.fuelDistanceM;
    this.fuel.engineMs += tally.fuelEngineMs;
    if (kind === 'trip') this.#addTrip(tally.distanceM, tally.movingMs, tally.idlingMs, tally.peakKmh);
  }

  addPart({ distanceM, movingMs, idlingMs, peakKmh }: TripPart): void {
    this.#addTrip(distanceM, movingMs, idlingMs, peakKmh);
  }

  count(...kinds: EventKind[]): number {
    return kinds.reduce((sum, kind) => sum + (this.counts[kind] ?? 0), 0);
  }

  seconds(...kinds: EventKind[]): number {
    return seconds(kinds.reduce((sum, kind) => sum + (this.lastedMs[kind] ?? 0), 0));
  }

  #addTrip(distanceM: number, movingMs: number, idlingMs: number, peakKmh: number | null): void {
    this.distanceM += distanceM;
    this.movingMs += movingMs;
    this.tripIdlingMs += idlingMs;
    if (peakKmh !== null) this.maxKmh = Math.max(this.maxKmh ?? 0, peakKmh);
  }
}

interface Cut {
  cuts: readonly number[];
  /** The place of each interval; undefined: each interval is a place. */
  places?: readonly number[];
  /** Whether trips that a cut divides are shared out among places; if not, only durations are summed by place. */
  sharesTrips?: true;
  /** Whether fuel is added up. */
  withFuel?: true;
}

/** Kinds of events that may concern a geofence that the caller does not see. */
const OF_GEOFENCES: ReadonlySet<EventKind> = new Set(['geofence-visit', 'speeding']);

/** Maximum number of rows of many vehicles that are computed together. */
const ROWS_TOGETHER = 100_000;

/** A report with rows for each vehicle and place. */
export function totalsReport(
  about: ReportAbout,
  columns: readonly Column[],
  kinds: readonly EventKind[],
  cutOf: (question: Question) => Cut & { placesCount: number },
  rowOf: (totals: Totals, place: number, question: Question, at: (place: number) => Totals) => Row | null,
): ReportKind {
  return {
    ...about,
    columns: [
      { name: 'vehicleId', type: 'id', always: true },
      { name: 'vehicleName', type: 'text', always: true },
      ...columns,
    ],
    cursor: totalsCursor,
    async page(sources, question, after, limit): Promise<Page> {
      const cut = cutOf(question);
      const { vehicle = null, place: lastPlace = -1 } = (after as TotalsCursor | null) ?? {};
      // A whole report queries many vehicles at once, a page those that it may show.
      const together = Math.min(MAX_FLEET, Math.max(1, Math.floor(ROWS_TOGETHER / cut.placesCount)));
      const wanted = limit >= 1000 ? together : Math.min(together, Math.ceil(limit / cut.placesCount) + 1);
      const { part, following } = fleetFrom(question.vehicles, vehicle, wanted);
      if (part.length === 0) return { rows: [], next: null };
      const totals = await totalsOf(
        sources,
        question,
        cut,
        kinds,
        part.map(({ id }) => id),
      );
      const rows: Row[] = [];
      for (const { id, name: vehicleName } of part) {
        const places = totals.get(id) ?? new Map<number, Totals>();
        const at = (place: number) => places.get(place) ?? new Totals();
        for (let place = id === vehicle ? lastPlace + 1 : 0; place < cut.placesCount; place++) {
          const row = rowOf(at(place), place, question, at);
          if (row === null) continue;
          if (rows.length === limit) return { rows, next: { vehicle: id, place: place - 1 } satisfies TotalsCursor };
          rows.push([id, vehicleName, ...row]);
        }
      }
      return { rows, next: following && ({ vehicle: following, place: -1 } satisfies TotalsCursor) };
    },
  };
}

async function totalsOf(
  { archive, visibleGeofences, latest }: ReportSources,
  { fromMs, toMs, nowMs, signal }: Question,
  { cuts, places, sharesTrips, withFuel }: Cut,
  kinds: readonly EventKind[],
  vehicleIds: readonly VehicleId[],
): Promise<Map<VehicleId, Map<number, Totals>>> {
  const known = await knownOf({ archive, latest }, vehicleIds, { nowMs, signal });
  const { tallies, crossing } = await archive.tallies({
    vehicleIds,
    kinds,
    fromMs,
    toMs,
    cuts,
    geofenceIds: kinds.some((kind) => OF_GEOFENCES.has(kind)) ? await visibleGeofences() : null,
    nowMs,
    knownUntilMs: new Map([...known].map(([id, { untilMs }]) => [id, untilMs])),
    withFuel,
    signal,
    ...(places && { places }),
  });
  const all = new Map<VehicleId, Map<number, Totals>>();
  const at = (vehicleId: VehicleId, place: number): Totals => {
    const ofVehicle = all.get(vehicleId) ?? new Map<number, Totals>();
    all.set(vehicleId, ofVehicle);
    const totals = ofVehicle.get(place) ?? new Totals();
    ofVehicle.set(place, totals);
    return totals;
  };
  for (const tally of tallies) at(tally.vehicleId, tally.place).addTally(tally);
  if (places === undefined || sharesTrips)
    for (const part of await archive.tripParts({ trips: crossing.map((trip) => measured(trip, known)), cuts, signal }))
      at(part.vehicleId, places?.[part.interval] ?? part.interval).addPart(part);
  return all;
}

/** A trip in progress, with the totals that the rules published: those that its end would have if it stopped now. */
function measured(trip: CrossingTrip, known: ReadonlyMap<VehicleId, Known>): CrossingTrip {
  const open = known.get(trip.vehicleId)?.trip;
  if (!trip.lasts || open?.startedAtMs !== trip.startedAtMs) return trip;
  const { distanceM, movingMs, idlingMs } = open;
  return { ...trip, lasts: false, distanceM, movingMs, idlingMs };
}

/** Caches a value that is computed once per question, for all its rows. */
export function onceFor<T>(work: (question: Question) => T): (question: Question) => T {
  const known = new WeakMap<Question, { value: T }>();
  return (question) => {
    const made = known.get(question) ?? { value: work(question) };
    known.set(question, made);
    return made.value;
  };
}

const calendar = onceFor((question) => calendarOf(question.fromMs, question.toMs, question.timeZone, question.period));
export const byPeriod = (question: Question) => {
  const { cuts } = calendar(question);
  return { cuts, placesCount: cuts.length - 1 };
};
export const dayOf = (question: Question, place: number) => calendar(question).days[place] ?? '';

/** Pieces of hours, and the total time of each hour of the day. */
const hourGrid = onceFor(({ fromMs, toMs, timeZone }) => {
  const { cuts, hours } = hourGridOf(fromMs, toMs, timeZone);
  const availableMs = new Array<number>(24).fill(0);
  for (const [nth, hour] of hours.entries()) {
    const clippedMs = Math.min(toMs, cuts[nth + 1] ?? toMs) - Math.max(fromMs, cuts[nth] ?? fromMs);
    availableMs[hour] = (availableMs[hour] ?? 0) + clippedMs;
  }
  return { cuts, hours, availableMs };
});

export const PERIOD_START = {
  name: 'period',
  type: 'day',
  always: true,
  about:
    'First day of the period, in the time zone of the report. The first and the last period are cut off at the ends of the time range.',
} as const satisfies Column;

export const mileageReport = totalsReport(
  {
    name: 'mileage',
    summary: 'Distance driven by vehicles, by day, week or month.',
    description:
      'A row for each vehicle and period. A trip that continues past midnight is divided between the two days by its positions; the parts always add up to the totals of the trip. Periods in which a vehicle did not move are left out.',
    parameters: { period: 'day' },
  },
  [
    PERIOD_START,
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
    { name: 'trips', type: 'whole', always: true, total: 'sum', about: 'Number of trips that began in the period.' },
    { name: 'movingSeconds', type: 'number', always: true, total: 'sum' },
  ],
  ['trip'],
  byPeriod,
  (totals, place, question) => {
    const trips = totals.count('trip');
    if (trips === 0 && totals.distanceM === 0 && totals.movingMs === 0) return null;
    return [dayOf(question, place), tenths(totals.distanceM), trips, seconds(totals.movingMs)];
  },
);

export const summaryReport = totalsReport(
  {
    name: 'summary',
    summary: 'All totals of each vehicle and period in one row.',
    parameters: { period: 'whole' },
  },
  [
    PERIOD_START,
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
    {
      name: 'movingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time in motion on trips, in seconds.',
    },
    {
      name: 'idlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time at a standstill with the ignition on, in seconds, on trips and between them.',
    },
    { name: 'parkedSeconds', type: 'number', always: true, total: 'sum' },
    {
      name: 'engineOnSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time with the ignition on, in seconds.',
    },
    { name: 'offlineSeconds', type: 'number', always: true, total: 'sum' },
    { name: 'maxKmh', type: 'number', total: 'max' },
    {
      name: 'meanKmh',
      type: 'number',
      about: 'Mean speed in motion: distance divided by `movingSeconds`. Null if the vehicle did not move.',
    },
    {
      name: 'trips',
      type: 'whole',
      always: true,
      total: 'sum',
      about: 'Number of trips that began in the period. The other numbers also count what began in the period.',
    },
    { name: 'stops', type: 'whole', always: true, total: 'sum' },
    { name: 'speedings', type: 'whole', always: true, total: 'sum' },
    { name: 'geozoneVisits', type: 'whole', always: true, total: 'sum' },
    { name: 'alarms', type: 'whole', always: true, total: 'sum' },
    { name: 'powerCuts', type: 'whole', always: true, total: 'sum' },
  ],
  ['trip', 'parking', 'idling', 'ignition', 'offline', 'speeding', 'geofence-visit', 'alarm', 'power-cut'],
  byPeriod,
  (totals, place, question) => [
    dayOf(question, place),
    tenths(totals.distanceM),
    seconds(totals.movingMs),
    seconds(totals.tripIdlingMs) + totals.seconds('idling'),
    totals.seconds('parking'),
    totals.seconds('ignition'),
    totals.seconds('offline'),
    totals.maxKmh,
    totals.movingMs > 0 ? tenths((totals.distanceM * 3600) / totals.movingMs) : null,
    totals.count('trip'),
    totals.count('parking', 'idling'),
    totals.count('speeding'),
    totals.count('geofence-visit'),
    totals.count('alarm'),
    totals.count('power-cut'),
  ],
);

export const engineHoursReport = totalsReport(
  {
    name: 'engine-hours',
    summary: 'Running time of engines, by day, week or month.',
    description:
      'A row for each vehicle and period. An engine runs while the ignition is on. Time is divided at the ends of periods in the time zone of the report. Periods in which the engine did not run and the vehicle did not move are left out.',
    parameters: { period: 'day' },
  },
  [
    PERIOD_START,
    {
      name: 'engineOnSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time with the ignition on, in seconds.',
    },
    {
      name: 'movingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time in motion on trips, in seconds.',
    },
    {
      name: 'idlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time at a standstill with the ignition on, in seconds, on trips and between them.',
    },
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
  ],
  ['trip', 'idling', 'ignition'],
  byPeriod,
  (totals, place, question) => {
    const engineOn = totals.seconds('ignition');
    if (engineOn === 0 && totals.movingMs === 0) return null;
    return [
      dayOf(question, place),
      engineOn,
      seconds(totals.movingMs),
      seconds(totals.tripIdlingMs) + totals.seconds('idling'),
      tenths(totals.distanceM),
    ];
  },
);

export const utilisationReport = totalsReport(
  {
    name: 'utilisation',
    summary: 'Use of vehicles by hour of the day.',
    charts: [{ shape: 'bars', measure: 'tripSeconds', by: 'hour' }],
  },
  [
    { name: 'hour', type: 'whole', always: true, about: 'Hour of the day in the time zone of the report: 0 to 23.' },
    {
      name: 'tripSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time on trips in this hour of the day, in seconds, over all days together.',
    },
    { name: 'engineOnSeconds', type: 'number', always: true, total: 'sum' },
    {
      name: 'idlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time at a standstill between trips with the ignition on, in seconds.',
    },
    {
      name: 'share',
      type: 'number',
      always: true,
      about: '`tripSeconds` as a fraction of the duration of this hour on all days together: 0 to 1.',
    },
  ],
  ['trip', 'ignition', 'idling'],
  (question) => {
    const { cuts, hours } = hourGrid(question);
    return { cuts, places: hours, placesCount: 24 };
  },
  (totals, place, question) => {
    const availableMs = hourGrid(question).availableMs[place] ?? 0;
    if (availableMs === 0) return null;
    const tripSeconds = totals.seconds('trip');
    const share = Math.round((tripSeconds / (availableMs / 1000)) * 10_000) / 10_000;
    return [place, tripSeconds, totals.seconds('ignition'), totals.seconds('idling'), share];
  },
);
