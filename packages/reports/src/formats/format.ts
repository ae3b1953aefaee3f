import type { Language } from '@outrider/words';
import type { TimeSpan } from '../incomplete.ts';
import type { Grouping } from '../kinds/groups.ts';
import type { ReportArchive, ReportKind, Row } from '../report.ts';

/** What a format is given to write. */
export interface Rows {
  kind: ReportKind;
  pages: AsyncIterable<Row[]>;
  /** IANA name: whose clock is shown by formats for people and spreadsheets; the others have UTC. */
  timeZone: string;
  /** Names of the columns to show, for formats `ofGroups`: others are given those alone. Null: usual ones, or all. */
  columns: readonly string[] | null;
  groupBy: Grouping | null;
  reading: Reading;
  archive: Pick<ReportArchive, 'file'>;
  signal: AbortSignal;
}

/** What people who read a report want to know of it, and how. */
export interface Reading {
  language: Language;
  units: 'metric' | 'imperial';
  /** Name of the account that it is made for. */
  who: string;
  /** Its own name, such as that of a schedule; null: that of its kind. */
  title: string | null;
  /** Unix milliseconds; null: it is about now. */
  fromMs: number | null;
  toMs: number | null;
  madeAtMs: number;
  /** Of when the archive has lost rows. */
  incomplete: readonly TimeSpan[];
}

/** A way to write a report. */
export interface Format {
  name: string;
  mediaType: string;
  extension: string;
  /** It shows groups and their totals, and chooses columns itself. */
  ofGroups?: true;
  /** A report with more rows is refused. Default: as many as come. */
  maxRows?: number;
  /** Only tracks have lines to draw. */
  ofTracks?: true;
  /** Never more than a few pages of rows are held, whatever comes. */
  write(rows: Rows): AsyncIterable<string | Uint8Array>;
}
