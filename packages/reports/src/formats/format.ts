import type { ReportArchive, ReportKind, Row } from '../report.ts';

/** What a format is given to write. */
export interface Rows {
  kind: ReportKind;
  pages: AsyncIterable<Row[]>;
  /** IANA name: whose clock is shown by formats that show one. */
  timeZone: string;
  archive: Pick<ReportArchive, 'file'>;
  signal: AbortSignal;
}

/** A way to write a report. */
export interface Format {
  name: string;
  mediaType: string;
  extension: string;
  /** Only tracks have lines to draw. */
  ofTracks?: true;
  /** Never more than a few pages of rows are held, whatever comes. */
  write(rows: Rows): AsyncIterable<string | Uint8Array>;
}
