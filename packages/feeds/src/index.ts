export {
  FEED_NAMES,
  type FeedCursor,
  type FeedName,
  MAX_CURSOR_CHARACTERS,
  readFeedCursor,
  writeFeedCursor,
} from './cursor.ts';
export { type FeedLog, Pages, readingQueue } from './pages.ts';
export { FeedReading, type FeedStart, type ReadingContext, type SentItem, type Taking } from './reading.ts';
export { type FeedFact, type FeedItem, type FeedSource, feedSources } from './sources.ts';
