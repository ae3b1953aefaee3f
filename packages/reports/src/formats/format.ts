import type { Language } from '@outrider/words';
import type { TimeSpan } from '../incomplete.ts';
import type { Grouping } from '../kinds/groups.ts';
import type { ReportArchive, ReportKind, Row } from '../report.ts';

/** Input of a format. */
export interface Rows {
  kind: ReportKind;
  pages: AsyncIterable<Row[]>;
  /** IANA name of the time zone that formats for people and spreadsheets show; the others use UTC. */
  timeZone: string;
  /** Columns to show, by name, for formats `ofGroups`: others get only these columns. Null: the usual ones, or all. */
  columns: readonly string[] | null;
  groupBy: Grouping | null;
  reading: Reading;
  archive: Pick<ReportArchive, 'file'>;
  signal: AbortSignal;
}

/** Facts about a report for its readers, and how to present them. */
export interface Reading {
  language: Language;
  units: 'metric' | 'imperial';
  /** Name of the account that it is made for. */
  who: string;
  /** The report's own name, such as that of a schedule; null: that of its kind. */
  title: string | null;
  /** Unix milliseconds; null: the report is about the present. */
  fromMs: number | null;
  toMs: number | null;
  madeAtMs: number;
  /** Time spans of which the archive has lost rows. */
  incomplete: readonly TimeSpan[];
}

/** A way to write a report. */
export interface Format {
  name: string;
  mediaType: string;
  extension: string;
  /** Whether the format shows groups with their totals, and selects columns itself. */
  ofGroups?: true;
  /** Maximum number of rows: larger reports are refused. Default: no limit. */
  maxRows?: number;
  /** Whether the format is for tracks only: they alone have lines to draw. */
  ofTracks?: true;
  /** Holds at most a few pages of rows in memory. */
  write(rows: Rows): AsyncIterable<string | Uint8Array>;
}
