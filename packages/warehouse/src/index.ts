export { type Recorded, UnfitRecordError } from './recorded.ts';
export { type Events, type EventsCursor, type EventsQuestion, MAX_EVENTS_LIMIT } from './reports/events.ts';
export { MAX_RECENT_VEHICLES, type RecentEventsQuestion } from './reports/recent-events.ts';
export {
  type ArchivedPosition,
  MAX_TRACK_LIMIT,
  type Track,
  type TrackCursor,
  type TrackQuestion,
} from './reports/track.ts';
export { openWarehouse, type Warehouse, type WarehouseAddress } from './warehouse.ts';
