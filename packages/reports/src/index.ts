export { isTimeZone, MAX_INTERVALS, PERIODS, type Period } from './calendar.ts';
export { eventsCursor, jumpState, trackCursor, visitCursor } from './cursors.ts';
export { eventsOf } from './fleet-events.ts';
export {
  armed,
  CsvError,
  type Delimiter,
  decodeText,
  defused,
  delimiterOf,
  readCsv,
  readSheet,
  writeCsvLine,
} from './formats/csv.ts';
export type { Format, Reading } from './formats/format.ts';
export { acceptedFormat, FORMATS, formatsOf, shownAs } from './formats/formats.ts';
export { summaryLines } from './formats/pdf/summary.ts';
export { jsonRow, ndjson } from './formats/text.ts';
export { incompleteWithin, type TimeSpan } from './incomplete.ts';
export { DEFAULT_ECO_WEIGHTS, MAX_ECO_WEIGHTS_LENGTH, readEcoWeights } from './kinds/eco-score.ts';
export { tripsReport } from './kinds/event-lists.ts';
export {
  chartsOf,
  GROUPINGS,
  type Grouping,
  GroupTotals,
  groupingsOf,
  isUsual,
  projected,
  TooManyGroupsError,
  type Totalled,
} from './kinds/groups.ts';
export { judgedTrack, type TrackCursor, type TrackReport } from './kinds/jumps.ts';
export type { MaintenanceOfVehicles, PlannedService } from './kinds/maintenance.ts';
export { rejectedPositions } from './kinds/rejected-positions.ts';
export { shapeVisitsReport } from './kinds/shape-visits.ts';
export { DEFAULT_WORK_HOURS, MAX_WORK_HOURS_LENGTH, readWorkHours } from './kinds/work-hours.ts';
export { REPORT_KINDS, reportKind } from './kinds.ts';
export {
  allRows,
  begun,
  COLUMN_TOTALS,
  COLUMN_UNITS,
  type Column,
  fullPage,
  type NamedPlace,
  type Question,
  type ReportArchive,
  type ReportKind,
  type ReportParameters,
  type ReportSources,
  type Row,
  TooManyRowsError,
  unitOf,
} from './report.ts';
export {
  formatOf,
  kindOf,
  REPORT_JOB,
  type ReportRequest,
  requestOf,
  type ScheduledReport,
  scheduledReport,
  subjectOf,
} from './request.ts';
export { simplifiedTrack, TRACK_PLACES, trackReport } from './tracks.ts';
