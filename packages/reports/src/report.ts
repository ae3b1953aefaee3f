import type { DriverId, GeofenceId, TerminalId, Vehicle, VehicleId, VehicleStatus } from '@outrider/domain';
import type { TerminalConnection } from '@outrider/hub';
import type { Warehouse } from '@outrider/warehouse';
import type { z } from 'zod';
import type { Period } from './calendar.ts';
import type { Grouping } from './kinds/groups.ts';
import type { MaintenanceOfVehicles } from './kinds/maintenance.ts';

/** The part of the archive that reports need. */
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

/** Query for a report, with all access rights already applied. */
export interface Question {
  /** Vehicles that the caller may see, in the order of their ids. */
  vehicles: readonly Pick<Vehicle, 'id' | 'name' | 'terminalId' | 'sensors' | 'tripGapMinutes'>[];
  /** Unix milliseconds, inclusive. */
  fromMs: number;
  /** Unix milliseconds, exclusive. */
  toMs: number;
  /** IANA name of the zone that days refer to. */
  timeZone: string;
  period: Period;
  /** Kinds of event; null: all. */
  eventKinds: readonly string[] | null;
  /** Only visits of this geofence; null: of all that the caller may see. */
  geofenceId: GeofenceId | null;
  /** Maximum number of positions of each vehicle's track; null: all. */
  maxPoints: number | null;
  /** Hours of work, in the syntax of `readWorkHours`; null: the default. */
  workHours: string | null;
  /** Points of violations, in the syntax of `readEcoWeights`; null: the default. */
  ecoWeights: string | null;
  /** Only what these drivers did, as far as the caller may know them; null: of all drivers. */
  driverIds: readonly DriverId[] | null;
  /** Only these sensors, each by its id or by its name, ignoring case; null: all. */
  sensors: readonly string[] | null;
  nowMs: number;
  signal: AbortSignal;
}

/** A place in words. */
export interface NamedPlace {
  text: string;
  /** `geozone`: a geofence around it; `address`: its address; `town`: the nearest town. */
  source: 'geozone' | 'address' | 'town';
  /** Id of the geofence; null for other sources. */
  geozoneId: GeofenceId | null;
}

/** Data sources of a report. */
export interface ReportSources {
  archive: ReportArchive;
  /** Loads the names of those geofences that were deleted: from then on, `geofenceName` returns them. */
  readDeleted(ids: Iterable<GeofenceId | null>): Promise<void>;
  /** Name of a geofence, or its last name if it was deleted; null if the caller may not see it. */
  geofenceName(id: GeofenceId): string | null;
  /** Whether a row may be shown about a geofence of which not even the name is left. Only operators see such rows. */
  seesGone(id: GeofenceId): boolean;
  /** Geofences that the caller may see, deleted ones included; null: all. */
  visibleGeofences(): Promise<readonly GeofenceId[] | null>;
  /** The driver at each moment; null if no driver is known, or none that the caller may see. */
  driversAt(
    moments: readonly { vehicleId: VehicleId; atMs: number; code: string | null }[],
  ): Promise<({ id: DriverId; name: string } | null)[]>;
  maintenance: MaintenanceOfVehicles;
  latest(vehicleIds: readonly VehicleId[]): Promise<readonly VehicleStatus[]>;
  /** The places in words, as the caller calls them, in the order of the points; null where nothing is known. */
  placesOf(points: readonly { latitude: number; longitude: number }[]): Promise<(NamedPlace | null)[]>;
  /** Connections of the terminals, of those that are connected. */
  connections(terminalIds: readonly TerminalId[]): Promise<ReadonlyMap<TerminalId, TerminalConnection>>;
}

/**
 * - `id`, `text`: text. `day`: a date without a time, as `2026-01-31`.
 * - `time`: Unix milliseconds. `json`: any value; text in formats that have no such type.
 */
export type ColumnType = 'id' | 'text' | 'day' | 'time' | 'number' | 'whole' | 'flag' | 'json';

export interface Column {
  name: string;
  type: ColumnType;
  /** Description, if the name does not say enough. */
  about?: string;
  /** Whether every row has a value. Default: it may be null. */
  always?: true;
  /** All possible values of a text column. Default: any. */
  values?: readonly string[];
  /** How the values of many rows are totalled. Default: there is no total. */
  total?: ColumnTotal;
  /** For a mean: name of the column that weights each value. */
  weight?: string;
  /** Whether readers only see the column if they choose it. Always so for ids, JSON and coordinates. */
  isRare?: true;
}

export const COLUMN_TOTALS = ['sum', 'max', 'min', 'mean'] as const;
export type ColumnTotal = (typeof COLUMN_TOTALS)[number];

/** A chart of a report's rows. */
export interface ReportChart {
  /** `bars`: one for each group. `lines`: one for each vehicle, over time. */
  shape: 'bars' | 'lines';
  /** Name of the column that is drawn; for bars, null: the number of rows. */
  measure: string | null;
  /** What each bar stands for. For lines, the column with the time. */
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

/** The unit at the end of a column's name; null: it has none. */
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
  /** Cursor of the next page; null on the last page. */
  next: unknown;
}

/** Parameters that only some kinds have. Each is a field of {@link Question}. */
export interface ReportParameters {
  /** The default period. */
  period?: Period;
  eventKinds?: true;
  geozoneId?: true;
  maxPoints?: true;
  workHours?: true;
  ecoWeights?: true;
  sensors?: true;
  driverIds?: true;
}

/** A kind of report: its path, documentation, jobs and schedules are derived from this. */
export interface ReportKind {
  name: string;
  /** One line for the API's documentation. */
  summary: string;
  description?: string;
  parameters?: ReportParameters;
  /** Whether the report is about the present: it has no time range. */
  isNow?: true;
  /** Whether the rows are positions: the report can be written in the formats for tracks. */
  isTrack?: true;
  columns: readonly Column[];
  /** Charts in documents and in the console. Default: its first sum by day and by vehicle. */
  charts?: readonly ReportChart[];
  /** Schema of {@link Page.next}, which goes to the client and comes back. */
  cursor: z.ZodType;
  /**
   * @param after the `next` of the page before; null for the first
   * @param limit at most this many rows; there may be fewer, and more to come
   */
  page(sources: ReportSources, question: Question, after: unknown, limit: number): Promise<Page>;
}

/** Description of a kind of report. */
export type ReportAbout = Omit<ReportKind, 'columns' | 'cursor' | 'page'>;

/** The report has more rows than allowed. */
export class TooManyRowsError extends Error {
  override name = 'TooManyRowsError';
  constructor(maxRows: number) {
    super(`A report may have at most ${maxRows} rows`);
  }
}

/** Maximum rows per archive query. */
export const ROWS_AT_ONCE = 5000;

/**
 * All rows of a report, read on demand: at most one page is held in memory.
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
    // A report that just ends would be taken for a complete one.
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

/** A page with as many rows as requested, if that many exist. */
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

/** Whether the report covers this driver. An unknown driver is not covered if drivers are named. */
export function isOfDrivers({ driverIds }: Pick<Question, 'driverIds'>, driver: { id: DriverId } | null): boolean {
  return driverIds === null || (driver !== null && driverIds.includes(driver.id));
}

/** The part of the fleet that a page queries at a time, in the order of ids. */
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

/** Rounds to a tenth: more digits would claim more than is known. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
