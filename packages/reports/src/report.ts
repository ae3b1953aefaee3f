import type { DriverId, GeofenceId, TerminalId, Vehicle, VehicleId, VehicleStatus } from '@outrider/domain';
import type { TerminalConnection } from '@outrider/hub';
import type { Warehouse } from '@outrider/warehouse';
import type { z } from 'zod';
import type { Period } from './calendar.ts';
import type { Grouping } from './kinds/groups.ts';
import type { MaintenanceOfVehicles } from './kinds/maintenance.ts';

/** The archive, as far as reports go. */
export type ReportArchive = Pick<
  Warehouse,
  | 'positions'
  | 'records'
  | 'fixesBefore'
  | 'vehiclesWithin'
  | 'overlappingEvents'
  | 'openEvents'
  | 'tallies'
  | 'tripParts'
  | 'rejections'
  | 'file'
  | 'gaps'
>;

/** What is asked, with everything about rights answered already. */
export interface Question {
  /** Those that the caller may see, by id. */
  vehicles: readonly Pick<Vehicle, 'id' | 'name' | 'terminalId' | 'sensors' | 'tripGapMinutes'>[];
  /** Unix milliseconds, inclusive. */
  fromMs: number;
  /** Unix milliseconds, exclusive. */
  toMs: number;
  /** IANA name: whose days they are. */
  timeZone: string;
  period: Period;
  /** Kinds of event; null: all. */
  eventKinds: readonly string[] | null;
  /** Only visits of this one; null: of all that the caller may see. */
  geofenceId: GeofenceId | null;
  /** Of each vehicle's track at most so many positions; null: all. */
  maxPoints: number | null;
  /** Hours of work, as `readWorkHours` takes them; null: the usual ones. */
  workHours: string | null;
  /** What violations cost, as `readEcoWeights` takes it; null: the usual points. */
  ecoWeights: string | null;
  /** Only what these drivers did, as the caller may know them; null: what anybody did. */
  driverIds: readonly DriverId[] | null;
  /** Of these sensors alone, each by its id or by its name, whatever the case; null: of all. */
  sensors: readonly string[] | null;
  nowMs: number;
  signal: AbortSignal;
}

/** A place in words. */
export interface NamedPlace {
  text: string;
  /** `geozone`: a geofence around it; `address`: its address; `town`: the nearest town. */
  source: 'geozone' | 'address' | 'town';
  /** Of a geofence. */
  geozoneId: GeofenceId | null;
}

/** Where a report's rows come from. */
export interface ReportSources {
  archive: ReportArchive;
  /** Reads the names of those geofences that were deleted: `geofenceName` has them from then on. */
  readDeleted(ids: Iterable<GeofenceId | null>): Promise<void>;
  /** Name of a geofence, or its last name where it was deleted; null where the caller may not see it. */
  geofenceName(id: GeofenceId): string | null;
  /** May a row about a geofence be shown of which not even the name is left? Operators alone see such rows. */
  seesGone(id: GeofenceId): boolean;
  /** Those that the caller may see, deleted ones included; null: all. */
  visibleGeofences(): Promise<readonly GeofenceId[] | null>;
  /** Names of those who drove at each moment; null where nobody is known, or nobody that the caller may see. */
  driversAt(
    moments: readonly { vehicleId: VehicleId; atMs: number; code: string | null }[],
  ): Promise<({ id: DriverId; name: string } | null)[]>;
  maintenance: MaintenanceOfVehicles;
  latest(vehicleIds: readonly VehicleId[]): Promise<readonly VehicleStatus[]>;
  /** The places in words, as the caller calls them, in the order of the points; null where nothing is known. */
  placesOf(points: readonly { latitude: number; longitude: number }[]): Promise<(NamedPlace | null)[]>;
  /** Connections of those of the terminals that are connected. */
  connections(terminalIds: readonly TerminalId[]): Promise<ReadonlyMap<TerminalId, TerminalConnection>>;
}

/**
 * - `id`, `text`: text. `day`: a date without a time, as `2026-01-31`.
 * - `time`: Unix milliseconds. `json`: anything; text where a format has nothing of the kind.
 */
export type ColumnType = 'id' | 'text' | 'day' | 'time' | 'number' | 'whole' | 'flag' | 'json';

export interface Column {
  name: string;
  type: ColumnType;
  /** What it says, where its name does not. */
  about?: string;
  /** It is in every row. Default: it may be null. */
  always?: true;
  /** All that it may be, of text. Default: anything. */
  values?: readonly string[];
  /** How a total is made of the values of many rows. Default: there is no total. */
  total?: ColumnTotal;
  /** Of a mean: name of the column that each value is weighted by. */
  weight?: string;
  /** It is left out where people read, unless they choose it. Ids, JSON and degrees are so without. */
  isRare?: true;
}

export const COLUMN_TOTALS = ['sum', 'max', 'min', 'mean'] as const;
export type ColumnTotal = (typeof COLUMN_TOTALS)[number];

/** A picture of a report's rows. */
export interface ReportChart {
  /** `bars`: one for each group. `lines`: one for each vehicle, over time. */
  shape: 'bars' | 'lines';
  /** Name of the column that is drawn; of bars null: the number of rows. */
  measure: string | null;
  /** What each bar stands for. Of lines, the column with the time. */
  by: Grouping | 'hour' | 'time';
}

const UNITS = [
  [/(?:S|^s)econds$/, 's'],
  [/Kmh$/, 'km/h'],
  [/M$/, 'm'],
  [/Deg$|^latitude$|^longitude$|Latitude$|Longitude$/, 'deg'],
  [/L$/, 'l'],
  [/V$/, 'V'],
  [/^share$/, 'ratio'],
] as const;
export const COLUMN_UNITS = UNITS.map(([, unit]) => unit);
export type ColumnUnit = (typeof UNITS)[number][1];

/** The unit that the end of a column's name says; null: it has none. */
export function unitOf({ name, type }: Pick<Column, 'name' | 'type'>): ColumnUnit | null {
  if (type !== 'number' && type !== 'whole') return null;
  return UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

export type Value = string | number | boolean | null | object;
/** A value for each column. */
export type Row = readonly Value[];

/** A page of a report. */
export interface Page {
  rows: Row[];
  /** Where to go on; null when there is no more. */
  next: unknown;
}

/** Parameters that only some kinds have. Each is a field of {@link Question}. */
export interface ReportParameters {
  /** Its default. */
  period?: Period;
  eventKinds?: true;
  geozoneId?: true;
  maxPoints?: true;
  workHours?: true;
  ecoWeights?: true;
  sensors?: true;
  driverIds?: true;
}

/** A kind of report: everything that its path, its documentation, its jobs and its schedules are made from. */
export interface ReportKind {
  name: string;
  /** One line for the API's documentation. */
  summary: string;
  description?: string;
  parameters?: ReportParameters;
  /** It is about the present: it has no time range. */
  isNow?: true;
  /** Its rows are positions: it can be written in the formats for tracks. */
  isTrack?: true;
  columns: readonly Column[];
  /** What files for reading and the console draw of it. Default: its first sum by day and by vehicle. */
  charts?: readonly ReportChart[];
  /** What {@link Page.next} looks like: it goes to the client and comes back. */
  cursor: z.ZodType;
  /**
   * @param after the `next` of the page before; null for the first
   * @param limit at most this many rows; there may be fewer, and more to come
   */
  page(sources: ReportSources, question: Question, after: unknown, limit: number): Promise<Page>;
}

/** What a kind of report says about itself. */
export type ReportAbout = Omit<ReportKind, 'columns' | 'cursor' | 'page'>;

/** A report has more rows than one may have. */
export class TooManyRowsError extends Error {
  override name = 'TooManyRowsError';
  constructor(maxRows: number) {
    super(`A report may have ${maxRows} rows`);
  }
}

/** Rows that one question to the archive brings at most. */
export const ROWS_AT_ONCE = 5000;

/**
 * All rows of a report, as they are asked for: no more than a page is held.
 *
 * @throws {TooManyRowsError} when there are more
 */
export async function* allRows(
  kind: ReportKind,
  sources: ReportSources,
  question: Question,
  maxRows: number,
): AsyncGenerator<Row[]> {
  let left = maxRows;
  let after: unknown = null;
  do {
    question.signal.throwIfAborted();
    const { rows, next } = await kind.page(sources, question, after, Math.min(ROWS_AT_ONCE, left));
    if (rows.length > 0) yield rows;
    left -= rows.length;
    after = next;
    // A report that just ends would be taken for a whole one.
    if (after !== null && left <= 0) throw new TooManyRowsError(maxRows);
  } while (after !== null);
}

/** The same pages after reading the first: a failure up to there can still be answered with an error response. */
export async function begun<T>(parts: AsyncIterable<T>): Promise<AsyncGenerator<T>> {
  const pages = parts[Symbol.asyncIterator]();
  const first = await pages.next();
  return (async function* () {
    try {
      if (first.done) return;
      yield first.value;
      for (let next = await pages.next(); !next.done; next = await pages.next()) yield next.value;
    } finally {
      await pages.return?.(undefined);
    }
  })();
}

/** A page with as many rows as were asked for, if there are so many. */
export async function fullPage(
  kind: ReportKind,
  sources: ReportSources,
  question: Question,
  first: unknown,
  limit: number,
): Promise<Page> {
  const rows: Row[] = [];
  let after = first;
  do {
    question.signal.throwIfAborted();
    const page = await kind.page(sources, question, after, limit - rows.length);
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null && rows.length < limit);
  return { rows, next: after };
}

/** Is the report about what this driver did? Nobody that is known is not among drivers that are named. */
export function isOfDrivers({ driverIds }: Pick<Question, 'driverIds'>, driver: { id: DriverId } | null): boolean {
  return driverIds === null || (driver !== null && driverIds.includes(driver.id));
}

/** A page asks about so many vehicles at a time; in the order of their ids. */
export function fleetFrom<V extends Pick<Vehicle, 'id'>>(vehicles: readonly V[], from: string | null, most: number) {
  const at = from === null ? 0 : vehicles.findIndex(({ id }) => id >= from);
  const part = at < 0 ? [] : vehicles.slice(at, at + most);
  const following = at < 0 ? undefined : vehicles[at + most];
  return { part, following: following?.id ?? null };
}

/** Seconds to the millisecond. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** To a tenth: more would be said than is known. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
