import { pagesOf, readableNumber, SENSOR_KINDS, type Sensor, sensorNameKey, type VehicleId } from '@outrider/domain';
import { type Calendar, calendarOf } from '../calendar.ts';
import { type SensorsCursor, sensorsCursor } from '../cursors.ts';
import {
  type Column,
  type Page,
  type Question,
  type ReportAbout,
  type ReportKind,
  type ReportSources,
  type Row,
  seconds,
} from '../report.ts';
import { onceFor, PERIOD_START } from '../totals.ts';
import { limitsOf, type Measured, SensorStatistics } from './sensor-statistics.ts';

const SENSOR = [
  { name: 'sensorId', type: 'id', always: true },
  { name: 'sensorName', type: 'text', always: true },
  { name: 'sensorKind', type: 'text', values: SENSOR_KINDS, always: true, isRare: true },
  { name: 'unit', type: 'text', always: true, about: 'Unit of the values; may be empty.' },
] as const satisfies readonly Column[];
const VALUES = [
  { name: 'min', type: 'number', about: 'Lowest value. Null, like `mean` and `max`, if no record had a value.' },
  { name: 'mean', type: 'number', about: 'Mean of the values of all records, in which each record counts once.' },
  { name: 'max', type: 'number' },
] as const satisfies readonly Column[];
const SAMPLES: Column = {
  name: 'samples',
  type: 'whole',
  always: true,
  total: 'sum',
  about: 'Number of records with a value.',
};

type Intervals = Pick<Calendar, 'cuts'> & { days: readonly string[] };

/** Maximum number of record times per query. */
const RECORDS_AT_ONCE = 10_000;
/** Maximum time before the range of which records are read: a median depends on as many records as it covers. */
const MOST_LEAD_MS = 6 * 3_600_000;

/** A report with a row for each vehicle, interval and sensor. */
function sensorReport(
  about: ReportAbout,
  columns: readonly Column[],
  intervalsOf: (question: Question) => Intervals,
  rowOf: (measured: Measured, sensor: Sensor, place: number, question: Question) => Row,
): ReportKind {
  return {
    ...about,
    parameters: { ...about.parameters, sensors: true },
    columns: [
      { name: 'vehicleId', type: 'id', always: true },
      { name: 'vehicleName', type: 'text', always: true },
      ...columns,
    ],
    cursor: sensorsCursor,
    async page(sources, question, after, limit): Promise<Page> {
      const cursor = after as SensorsCursor | null;
      const { vehicles } = question;
      const first = cursor === null ? 0 : vehicles.findIndex(({ id }) => id >= cursor.vehicle);
      const nth =
        first < 0 ? -1 : vehicles.findIndex((each, at) => at >= first && sensorsIn(each, question).length > 0);
      const vehicle = vehicles[nth];
      if (vehicle === undefined) return { rows: [], next: null };
      const begun = cursor?.vehicle === vehicle.id ? cursor : { place: 0, sensor: 0 };
      const { cuts } = intervalsOf(question);
      const chosen = sensorsIn(vehicle, question);
      const count = Math.max(1, Math.floor(limit / chosen.length));
      const end = Math.min(cuts.length - 1, begun.place + count);
      const part = cuts.slice(begun.place, end + 1);
      const statistics = await statisticsOf(sources, question, vehicle, chosen, part);
      const rows: Row[] = [];
      for (let place = begun.place; place < end; place++)
        for (let sensor = place === begun.place ? begun.sensor : 0; sensor < chosen.length; sensor++) {
          const measured = statistics.at(sensor, place - begun.place);
          if (measured === null) continue;
          if (rows.length === limit) return { rows, next: { vehicle: vehicle.id, place, sensor } };
          rows.push([vehicle.id, vehicle.name, ...rowOf(measured, chosen[sensor] as Sensor, place, question)]);
        }
      if (end < cuts.length - 1) return { rows, next: { vehicle: vehicle.id, place: end, sensor: 0 } };
      const following = vehicles[nth + 1];
      return { rows, next: following ? { vehicle: following.id, place: 0, sensor: 0 } : null };
    },
  };
}

function sensorsIn({ sensors }: Question['vehicles'][number], { sensors: named }: Question): readonly Sensor[] {
  if (named === null) return sensors;
  const keys = new Set(named.map(sensorNameKey));
  return sensors.filter(({ id, name }) => keys.has(id) || keys.has(sensorNameKey(name)));
}

/** Reads the vehicle's records page by page: the expressions of sensors are evaluated here, as in the rules. */
async function statisticsOf(
  { archive }: ReportSources,
  { signal }: Question,
  { id: vehicleId, tripGapMinutes }: { id: VehicleId; tripGapMinutes: number },
  sensors: readonly Sensor[],
  cuts: readonly number[],
): Promise<SensorStatistics> {
  const gapMs = tripGapMinutes * 60_000;
  const leadMs = Math.min(MOST_LEAD_MS, gapMs * Math.max(...sensors.map(({ smoothing }) => smoothing)));
  const statistics = new SensorStatistics(sensors, cuts, gapMs);
  const interval = { vehicleId, fromMs: (cuts[0] ?? 0) - leadMs, toMs: (cuts.at(-1) ?? 0) + gapMs + 1 };
  const pages = pagesOf((after: number | null) => {
    signal.throwIfAborted();
    return archive.records({ ...interval, limit: RECORDS_AT_ONCE, after, signal });
  });
  for await (const { records } of pages) for (const record of records) statistics.take(record);
  return statistics;
}

function sensorCells({ id, name, kind, unit }: Sensor): Row {
  return [id, name, kind, unit];
}

function valueCells({ samples, min, max, sum }: Measured): Row {
  if (samples === 0) return [null, null, null];
  return [readableNumber(min), readableNumber(sum / samples), readableNumber(max)];
}

const byPeriod = onceFor(({ fromMs, toMs, timeZone, period }) => calendarOf(fromMs, toMs, timeZone, period));

/** What sensors measured: lowest, mean and highest values, and how long they were beyond thresholds, or on. */
export const sensorsReport = sensorReport(
  {
    name: 'sensors',
    summary: 'Statistics of sensors: lowest, mean and highest values, and time beyond thresholds or switched on.',
    description:
      'A row for each vehicle, period and sensor. Values are computed from the archived records with the current definitions of the sensors, so a changed calibration also applies to the past. A value holds until the next one. If the next one comes later than the longest gap allowed in a trip of the vehicle (`tripGapMinutes`), the value between them is unknown. Thresholds are applied without their hysteresis and minimum duration.',
    parameters: { period: 'day' },
    charts: [
      { shape: 'bars', measure: 'aboveSeconds', by: 'sensor' },
      { shape: 'bars', measure: 'onSeconds', by: 'sensor' },
    ],
  },
  [
    PERIOD_START,
    ...SENSOR,
    ...VALUES,
    SAMPLES,
    { name: 'knownSeconds', type: 'number', always: true, about: 'Time for which a value is known, in seconds.' },
    {
      name: 'aboveSeconds',
      type: 'number',
      total: 'sum',
      about: 'Time above the lowest `max` of the thresholds `above` and `outside`, in seconds. Null if there are none.',
    },
    {
      name: 'belowSeconds',
      type: 'number',
      total: 'sum',
      about:
        'Time below the highest `min` of the thresholds `below` and `outside`, in seconds. Null if there are none.',
    },
    {
      name: 'insideSeconds',
      type: 'number',
      total: 'sum',
      about: 'Time in the range of a threshold `inside`, in seconds. Null if there are none.',
      isRare: true,
    },
    {
      name: 'onSeconds',
      type: 'number',
      total: 'sum',
      about: 'Time for which the value was not 0, in seconds; only for digital sensors.',
    },
    {
      name: 'offSeconds',
      type: 'number',
      total: 'sum',
      about: 'Time for which the value was 0, in seconds; only for digital sensors.',
      isRare: true,
    },
    {
      name: 'timesOn',
      type: 'whole',
      total: 'sum',
      about: 'Number of times that the value changed from 0 to another; only for digital sensors.',
    },
  ],
  byPeriod,
  (measured, sensor, place, question) => {
    const { aboveOf, belowOf, inside } = limitsOf(sensor.thresholds);
    const isDigital = sensor.kind === 'digital';
    return [
      byPeriod(question).days[place] ?? '',
      ...sensorCells(sensor),
      ...valueCells(measured),
      measured.samples,
      seconds(measured.knownMs),
      aboveOf === null ? null : seconds(measured.aboveMs),
      belowOf === null ? null : seconds(measured.belowMs),
      inside.length === 0 ? null : seconds(measured.insideMs),
      isDigital ? seconds(measured.onMs) : null,
      isDigital ? seconds(measured.knownMs - measured.onMs) : null,
      isDigital ? measured.timesOn : null,
    ];
  },
);

const MINUTE_MS = 60_000;
const LENGTHS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((each) => each * MINUTE_MS);
const DEFAULT_POINTS = 500;

/** Intervals of equal length from the first midnight on, of the shortest length with which they are not too many. */
export function seriesCuts(question: Pick<Question, 'fromMs' | 'toMs' | 'timeZone' | 'maxPoints'>): number[] {
  const { fromMs, toMs, timeZone, maxPoints } = question;
  const most = Math.max(2, maxPoints ?? DEFAULT_POINTS);
  // The time range truncates the first and the last interval.
  const least = (toMs - fromMs) / (most - 1);
  const lengthMs = LENGTHS_MS.find((each) => each >= least) ?? Math.ceil(least / 86_400_000) * 86_400_000;
  const day = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone).startOfDay();
  const firstMs = day.epochMilliseconds;
  const cuts = [fromMs];
  let at = firstMs + (Math.floor((fromMs - firstMs) / lengthMs) + 1) * lengthMs;
  for (; at < toMs; at += lengthMs) cuts.push(at);
  cuts.push(toMs);
  return cuts;
}

const bySeries = onceFor((question): Intervals => ({ cuts: seriesCuts(question), days: [] }));

/** Values over time. */
export const sensorSeriesReport = sensorReport(
  {
    name: 'sensor-series',
    summary: 'Values of sensors over time: lowest, mean and highest value of each interval.',
    description: `A row for each vehicle, interval and sensor; intervals without a value are left out. Intervals are as short as possible for at most \`maxPoints\` of them (default: ${DEFAULT_POINTS}), but at least one minute long. Values are computed as in the report \`sensors\`.`,
    parameters: { maxPoints: true },
    charts: [{ shape: 'lines', measure: 'mean', by: 'time' }],
  },
  [{ name: 'startedAt', type: 'time', always: true, about: 'Start of the interval.' }, ...SENSOR, ...VALUES, SAMPLES],
  bySeries,
  (measured, sensor, place, question) => [
    bySeries(question).cuts[place] ?? 0,
    ...sensorCells(sensor),
    ...valueCells(measured),
    measured.samples,
  ],
);
