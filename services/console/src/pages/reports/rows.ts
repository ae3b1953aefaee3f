import type { ReportKind } from '@outrider/client';

export type ReportColumn = ReportKind['columns'][number];
/** A row of the JSON response, by column name. */
export type Row = Readonly<Record<string, unknown>>;

export interface Place {
  latitude: number;
  longitude: number;
}

/** Time of a row's event, in Unix milliseconds; null: the row has no time. */
export function momentOf(row: Row): number | null {
  for (const name of ['startedAt', 'fixTime', 'stateSince', 'recordTime']) {
    const text = row[name];
    if (typeof text === 'string') return Date.parse(text);
  }
  return null;
}

export function endOf(row: Row): number | null {
  return typeof row.endedAt === 'string' ? Date.parse(row.endedAt) : null;
}

/** Place where a row's event began or happened. */
export function placeOf(row: Row): Place | null {
  return pair(row.startLatitude, row.startLongitude) ?? pair(row.latitude, row.longitude);
}

/** Place where the event ended, if it is another one. */
export function endPlaceOf(row: Row): Place | null {
  const end = pair(row.endLatitude, row.endLongitude);
  const start = placeOf(row);
  return end !== null && start !== null && end.latitude === start.latitude && end.longitude === start.longitude
    ? null
    : end;
}

function pair(latitude: unknown, longitude: unknown): Place | null {
  return typeof latitude === 'number' && typeof longitude === 'number' ? { latitude, longitude } : null;
}

export function numberIn(row: Row, name: string): number | null {
  const value = row[name];
  return typeof value === 'number' ? value : null;
}

/**
 * Total of a column over many rows, as the column defines it; null without values, and for a column without a total.
 */
export function totalOf(
  rows: readonly Row[],
  { name, total, weight }: Pick<ReportColumn, 'name' | 'total' | 'weight'>,
): number | null {
  if (total === null) return null;
  let result: number | null = null;
  let count = 0;
  for (const row of rows) {
    const value = numberIn(row, name);
    if (value === null) continue;
    const share = weight === null ? 1 : (numberIn(row, weight) ?? 0);
    count += share;
    if (total === 'max') result = Math.max(result ?? value, value);
    else if (total === 'min') result = Math.min(result ?? value, value);
    else result = (result ?? 0) + value * share;
  }
  if (total !== 'mean' || result === null) return result;
  return count > 0 ? result / count : null;
}

/** Columns that a chart can show: sums and means. A chart can also count rows. */
export function measuresOf(columns: readonly ReportColumn[]): ReportColumn[] {
  return columns.filter(({ total }) => total === 'sum' || total === 'mean');
}

export interface Slice {
  key: string;
  value: number;
  rows: number;
}

/** What one bar of a chart represents. */
export type Dimension = 'hour' | 'period' | 'day' | 'vehicle' | 'driver' | 'sensor' | 'geofence' | 'kind' | 'duration';

/** Dimensions by which the rows can be grouped, most informative first. */
export function dimensionsOf(columns: readonly ReportColumn[], rows: readonly Row[]): Dimension[] {
  const has = (name: string) => columns.some((column) => column.name === name);
  const differs = (name: string) => new Set(rows.map((row) => row[name])).size > 1;
  const found: Dimension[] = [];
  if (has('hour')) found.push('hour');
  if (has('period') && differs('period')) found.push('period');
  if (has('startedAt')) found.push('day');
  found.push('vehicle');
  if (has('driverName')) found.push('driver');
  if (has('aboveSeconds')) found.unshift('sensor');
  if (has('geozoneName')) found.push('geofence');
  if (has('kind')) found.push('kind');
  if (has('durationSeconds')) found.push('duration');
  return found;
}

const COLUMN_OF = {
  ...{ hour: 'hour', period: 'period', vehicle: 'vehicleName', driver: 'driverName', sensor: 'sensorName' },
  ...{ geofence: 'geozoneName', kind: 'kind' },
};
/** Upper ends of the classes of durations, in seconds. */
export const DURATIONS = [300, 900, 3600, 14_400, 43_200, Number.POSITIVE_INFINITY];

/**
 * Groups the rows by a dimension. Times and durations are in ascending order, everything else by descending value.
 *
 * @param measure column to total, as the column defines it; null counts the rows
 * @param dayOf the date of a time in the viewer's zone
 */
export function slicesOf(
  rows: readonly Row[],
  dimension: Dimension,
  measure: Pick<ReportColumn, 'name' | 'total' | 'weight'> | null,
  dayOf: (ms: number) => string,
): Slice[] {
  const groups = Map.groupBy(rows, (row) => keyOf(row, dimension, dayOf));
  const all = [...groups].flatMap(([key, group]): Slice[] => {
    if (key === null) return [];
    return [{ key, value: measure === null ? group.length : (totalOf(group, measure) ?? 0), rows: group.length }];
  });
  if (dimension === 'hour' || dimension === 'duration') return all.sort((a, b) => Number(a.key) - Number(b.key));
  if (dimension === 'day' || dimension === 'period') return all.sort((a, b) => (a.key < b.key ? -1 : 1));
  return all.sort((a, b) => b.value - a.value);
}

function keyOf(row: Row, dimension: Dimension, dayOf: (ms: number) => string): string | null {
  if (dimension === 'day') {
    const at = momentOf(row);
    return at === null ? null : dayOf(at);
  }
  if (dimension === 'duration') {
    const seconds = numberIn(row, 'durationSeconds');
    return seconds === null ? null : String(DURATIONS.findIndex((end) => seconds < end));
  }
  const value = row[COLUMN_OF[dimension]];
  return value === null || value === undefined ? null : String(value);
}

/** Inserts empty days between those with rows, unless that makes more than `most`. */
export function withEmptyDays(slices: readonly Slice[], next: (day: string) => string, most: number): Slice[] {
  const [first, last] = [slices.at(0), slices.at(-1)];
  if (first === undefined || last === undefined) return [];
  const known = new Map(slices.map((slice) => [slice.key, slice]));
  const all: Slice[] = [];
  for (let key = first.key; key <= last.key; key = next(key)) {
    if (all.length === most) return [...slices];
    all.push(known.get(key) ?? { key, value: 0, rows: 0 });
  }
  return all;
}

export const DAYS = 7;
export const HOURS = 24;

/**
 * Cells for the hours of the week, from Monday's first hour: the number of rows that began in each, or the seconds that
 * they lasted in each.
 *
 * @param clockOf local clock time of a moment in the viewer's zone, in the fields of UTC
 */
export function heatOf(
  rows: readonly Row[],
  measure: 'count' | 'duration',
  clockOf: (ms: number) => Date,
  nowMs: number,
): Float64Array {
  const cells = new Float64Array(DAYS * HOURS);
  const add = (ms: number, value: number) => {
    const clock = clockOf(ms);
    const cell = ((clock.getUTCDay() + 6) % 7) * HOURS + clock.getUTCHours();
    cells[cell] = (cells[cell] ?? 0) + value;
  };
  for (const row of rows) {
    const start = momentOf(row);
    if (start === null) continue;
    if (measure === 'count') {
      add(start, 1);
      continue;
    }
    const end = Math.min(endOf(row) ?? nowMs, start + MOST_MS);
    for (let at = start; at < end; ) {
      const next = Math.min(end, (Math.floor(at / QUARTER_MS) + 1) * QUARTER_MS);
      add(at, (next - at) / 1000);
      at = next;
    }
  }
  return cells;
}
/** The offset of every zone from UTC is a multiple of a quarter of an hour. */
const QUARTER_MS = 900_000;
/** Maximum duration that counts of one row: a vehicle that was parked for years would take too long to process. */
const MOST_MS = 31 * 86_400_000;

/** Values of a column over time, for one vehicle or sensor. */
export interface Line {
  /** Name of the vehicle, with that of the sensor if the rows have one. */
  name: string;
  /** Unix seconds, ascending. */
  seconds: number[];
  values: (number | null)[];
  /** The row at each entry of `seconds`. */
  rows: Row[];
}

/** A line for each of the first vehicles, or of their sensors. */
export function linesOf(rows: readonly Row[], measure: string, most: number): Line[] {
  const lines = new Map<string, Line>();
  for (const row of rows) {
    const at = momentOf(row);
    if (at === null) continue;
    const name = [row.vehicleName ?? '', row.sensorName].filter((part) => part !== undefined).join(' · ');
    const line = lines.get(name) ?? { name, seconds: [], values: [], rows: [] };
    if (line.seconds.length === 0) {
      if (lines.size === most) break;
      lines.set(name, line);
    }
    // Two records of the same second share one point of the chart.
    if (line.seconds.at(-1) === at / 1000) continue;
    line.seconds.push(at / 1000);
    line.values.push(numberIn(row, measure));
    line.rows.push(row);
  }
  return [...lines.values()];
}

/** The units of the values of sensors, in the order of the rows: one axis shows one of them. */
export function unitsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap(({ unit }) => (typeof unit === 'string' ? [unit] : [])))];
}

/** @param unit undefined: rows without a unit of their own */
export function ofUnit(rows: readonly Row[], unit: string | undefined): readonly Row[] {
  return unit === undefined ? rows : rows.filter((row) => row.unit === unit);
}

/** Rows with a place. If there are too many to draw, a sample spread over the whole report. */
export function placedRows(rows: readonly Row[], most: number): { row: Row; index: number; place: Place }[] {
  const placed = rows.flatMap((row, index) => {
    const place = placeOf(row);
    return place === null ? [] : [{ row, index, place }];
  });
  if (placed.length <= most) return placed;
  return Array.from(
    { length: most },
    (_, nth) => placed[Math.floor((nth * placed.length) / most)] as (typeof placed)[0],
  );
}
