export { isTimeZone, MAX_INTERVALS, PERIODS, type Period } from './calendar.ts';
export { eventsCursor, jumpState, trackCursor, visitCursor } from './cursors.ts';
export {
  armed,
  CsvError,
  type Delimiter,
  defused,
  delimiterOf,
  readCsv,
  writeCsvLine,
} from './formats/csv.ts';
export type { Format } from './formats/format.ts';
export { acceptedFormat, FORMATS, formatsOf } from './formats/formats.ts';
export { jsonRow } from './formats/text.ts';
export { judgedTrack, type TrackCursor, type TrackReport } from './jumps.ts';
export { REPORT_KINDS, reportKind } from './kinds.ts';
export { rejectedPositions } from './rejected-positions.ts';
export {
  allRows,
  begun,
  type Column,
  fullPage,
  type Question,
  type ReportArchive,
  type ReportKind,
  type ReportParameters,
  type ReportSources,
  type Row,
  TooManyRowsError,
} from './report.ts';
export {
  formatOf,
  kindOf,
  REPORT_JOB,
  type ReportRequest,
  requestOf,
  type ScheduledReport,
  scheduledReport,
} from './request.ts';
export { shapeVisitsReport } from './shape-visits.ts';
export { trackReport } from './tracks.ts';
