import { type Column, type ReportChart, type ReportKind, type Row, tenths, type Value } from '../report.ts';

export const GROUPINGS = ['vehicle', 'driver', 'day', 'geozone', 'kind', 'sensor'] as const;
/** Criteria by which rows can be grouped. */
export type Grouping = (typeof GROUPINGS)[number];

/** Candidate columns of each grouping: the first that a report has is used. */
const COLUMNS_OF = {
  vehicle: ['vehicleName'],
  driver: ['driverName'],
  day: ['period', 'day', 'startedAt'],
  geozone: ['geozoneName'],
  kind: ['kind'],
  sensor: ['sensorName'],
} as const satisfies Record<Grouping, readonly string[]>;

function groupColumn({ columns }: Pick<ReportKind, 'columns'>, grouping: Grouping): number {
  const names: readonly string[] = COLUMNS_OF[grouping];
  for (const name of names) {
    const at = columns.findIndex((column) => column.name === name);
    if (at >= 0) return at;
  }
  return -1;
}

/** The groupings that a kind's columns allow; none for tracks, whose rows have no meaningful totals. */
export function groupingsOf(kind: Pick<ReportKind, 'columns' | 'isTrack'>): Grouping[] {
  return kind.isTrack ? [] : GROUPINGS.filter((grouping) => groupColumn(kind, grouping) >= 0);
}

/**
 * Creates a function that returns the group of a row: a name, or a day as `2026-01-31`; null: none.
 *
 * @param timeZone IANA name of the zone that days refer to
 * @throws {Error} when the kind has no such grouping
 */
export function groupKey(
  kind: Pick<ReportKind, 'name' | 'columns'>,
  grouping: Grouping,
  timeZone: string,
): (row: Row) => string | null {
  const at = groupColumn(kind, grouping);
  const column = kind.columns[at];
  if (column === undefined) throw new Error(`report ${kind.name} has no groups by ${grouping}`);
  const textOf = column.type === 'time' ? dayIn(timeZone) : String;
  return (row) => {
    const value = row[at] ?? null;
    return value === null ? null : textOf(value);
  };
}

/** The day of a time in Unix milliseconds. */
function dayIn(timeZone: string): (timeMs: Value) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (timeMs) => format.format(Number(timeMs));
}

/** Totals of many rows: their number, and a total for each column that has one. */
export class Totalled {
  readonly #columns: readonly Column[];
  readonly #values: number[];
  readonly #counts: number[];
  /** For each column, the index of the column that weights it; -1: none. */
  readonly #weights: number[];
  rows = 0;

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.#values = columns.map(() => 0);
    this.#counts = columns.map(() => 0);
    this.#weights = columns.map(({ weight }) => columns.findIndex(({ name }) => name === weight));
  }

  add(row: Row): void {
    this.rows += 1;
    for (const [nth, { total }] of this.#columns.entries()) {
      const value = row[nth];
      if (total === undefined || typeof value !== 'number') continue;
      const weightAt = this.#weights[nth] ?? -1;
      const weight = weightAt < 0 ? 1 : Number(row[weightAt] ?? 0);
      const present = this.#values[nth] ?? 0;
      const isFirst = this.#counts[nth] === 0;
      if (total === 'max') this.#values[nth] = isFirst ? value : Math.max(present, value);
      else if (total === 'min') this.#values[nth] = isFirst ? value : Math.min(present, value);
      else this.#values[nth] = present + value * weight;
      this.#counts[nth] = (this.#counts[nth] ?? 0) + weight;
    }
  }

  /** The total of a column; null: it has none, or no row had a value. */
  at(nth: number): number | null {
    const total = this.#columns[nth]?.total;
    const count = this.#counts[nth] ?? 0;
    if (total === undefined || count === 0) return null;
    const value = this.#values[nth] ?? 0;
    if (total === 'mean') return tenths(value / count);
    // Floating-point sums of tenths and thousandths are not exact.
    return Math.round(value * 1000) / 1000;
  }

  /** A value for each column. */
  get row(): (number | null)[] {
    return this.#columns.map((_, nth) => this.at(nth));
  }
}

/** Maximum number of groups: nobody reads more. */
export const MAX_GROUPS = 10_000;

/** The report has more groups than allowed. */
export class TooManyGroupsError extends Error {
  override name = 'TooManyGroupsError';
  constructor() {
    super(`A report may have at most ${MAX_GROUPS} groups`);
  }
}

/** Totals of all rows, and of each group. */
export class GroupTotals {
  readonly all: Totalled;
  readonly groups = new Map<string | null, Totalled>();
  readonly #columns: readonly Column[];
  readonly #keyOf: ((row: Row) => string | null) | null;

  /** @param grouping null: only totals of all rows */
  constructor(kind: Pick<ReportKind, 'name' | 'columns'>, grouping: Grouping | null, timeZone: string) {
    this.#columns = kind.columns;
    this.all = new Totalled(kind.columns);
    this.#keyOf = grouping === null ? null : groupKey(kind, grouping, timeZone);
  }

  /** @throws {TooManyGroupsError} */
  add(row: Row): void {
    this.all.add(row);
    if (this.#keyOf === null) return;
    const key = this.#keyOf(row);
    let group = this.groups.get(key);
    if (group === undefined) {
      if (this.groups.size === MAX_GROUPS) throw new TooManyGroupsError();
      group = new Totalled(this.#columns);
      this.groups.set(key, group);
    }
    group.add(row);
  }

  /** Days in their order, other groups by name; rows without a group last. */
  get sorted(): [string | null, Totalled][] {
    return [...this.groups].sort(([a], [b]) => byKey(a, b));
  }
}

export function byKey(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Charts of a kind: its own, else its first sum by its first grouping. */
export function chartsOf(kind: Pick<ReportKind, 'columns' | 'isTrack' | 'isNow' | 'charts'>): readonly ReportChart[] {
  if (kind.charts !== undefined) return kind.charts;
  const measure = kind.columns.find(({ total, type }) => total === 'sum' && type === 'number');
  const groupings = groupingsOf(kind);
  const by = (['day', 'vehicle'] as const).filter((grouping) => groupings.includes(grouping));
  return kind.isNow || measure === undefined
    ? []
    : by.map((grouping) => ({ shape: 'bars', measure: measure.name, by: grouping }));
}

/** The same report with these columns only, in the order of the report. */
export function projected(kind: ReportKind, names: readonly string[] | null): ReportKind {
  if (names === null) return kind;
  const at = kind.columns.flatMap(({ name }, nth) => (names.includes(name) ? [nth] : []));
  return {
    ...kind,
    columns: kind.columns.filter(({ name }) => names.includes(name)).map((column) => weighable(column, names)),
    async page(sources, question, after, limit) {
      const page = await kind.page(sources, question, after, limit);
      return { ...page, rows: page.rows.map((row) => at.map((nth) => row[nth] ?? null)) };
    },
  };
}

/** Removes the total of a mean whose weighting column is missing: the mean would be another. */
function weighable(column: Column, names: readonly string[]): Column {
  const { total: _, ...rest } = column;
  return column.weight === undefined || names.includes(column.weight) ? column : rest;
}

const RARE = new Set(['phase', 'origin', 'inferred', 'valid', 'satellites', 'recordTime', 'receivedAt', 'protocol']);

/** Whether the column is shown when the reader has chosen no columns. */
export function isUsual({ name, type, isRare }: Column): boolean {
  return !isRare && type !== 'id' && type !== 'json' && !/(?:^l|L)(?:at|ong)itude$/.test(name) && !RARE.has(name);
}
