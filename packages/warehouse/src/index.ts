export { type ArchiveFile, archiveFiles } from './engines/archive-files.ts';
export {
  BusyError,
  FILE_FORMATS,
  type FileFormat,
  type FileRows,
  TooMuchError,
  WarehouseAwayError,
  WarehouseDamagedError,
  WarehouseFullError,
} from './engines/engine.ts';
export { probeClickHouse } from './engines/probe-clickhouse.ts';
export { type HistoryCut, type HistoryRows, MAX_CUTS } from './erasure.ts';
export type { EventReplacement } from './events/replacement.ts';
export type { Scrub } from './inventory/inspection.ts';
export type { ArchiveGap } from './inventory/ledger.ts';
export { type Recorded, UnfitRecordError } from './recorded.ts';
export type { ArchivedEvent, ArchivedEvents, ArchivedEventsQuestion } from './reports/archived-events.ts';
export { type Events, type EventsCursor, type EventsQuestion, MAX_EVENTS_LIMIT } from './reports/events.ts';
export type { ArchivedFix, FixesBeforeQuestion } from './reports/fixes-before.ts';
export { MAX_FLEET_OF_FIXES } from './reports/fixes-before.ts';
export { LIST_FLEET, MAX_FLEET } from './reports/fleet.ts';
export type { LastFixesQuestion } from './reports/last-fixes.ts';
export type { LateArrivalsQuestion } from './reports/late-arrivals.ts';
export type { FleetCursor, OverlappingEvents, OverlappingEventsQuestion } from './reports/overlapping-events.ts';
export type { Box, Positions, PositionsCursor, PositionsQuestion } from './reports/positions.ts';
export { MAX_RECENT_VEHICLES, type RecentEventsQuestion } from './reports/recent-events.ts';
export type { MeasuredRecord, Records, RecordsQuestion } from './reports/records.ts';
export type { RejectedPositions, RejectionsQuestion } from './reports/rejections.ts';
export type { CrossingTrip, Tallies, TalliesQuestion, Tally } from './reports/tallies.ts';
export {
  type ArchivedPosition,
  MAX_TRACK_LIMIT,
  type Track,
  type TrackCursor,
  type TrackQuestion,
} from './reports/track.ts';
export type { TripPart, TripPartsQuestion } from './reports/trip-parts.ts';
export type { ArchiveTable } from './tables.ts';
export {
  type ArchiveQueries,
  type OpenedArchive,
  openWarehouse,
  type Rows,
  type Warehouse,
  type WarehouseAddress,
  type WarehouseOptions,
} from './warehouse.ts';
