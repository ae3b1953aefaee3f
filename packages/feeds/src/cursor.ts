import { badParameter } from '@outrider/access';

/** Feeds that consumers can follow. */
export const FEED_NAMES = ['events', 'positions'] as const;
export type FeedName = (typeof FEED_NAMES)[number];

/** Position of a consumer in a partition. */
export interface Place {
  /** Offset of the next record. */
  offset: number;
  /** Items of that record that were sent already: a record may hold several. */
  skip: number;
}

/** Positions of a consumer in one topic. */
export interface TopicPlaces {
  /** Identity of the log that the offsets refer to. */
  identity: string;
  /** By partition. */
  places: readonly Place[];
}

/** Positions of a consumer in each topic of a feed, in the order of its sources. */
export interface FeedCursor {
  feed: FeedName;
  topics: readonly TopicPlaces[];
}

/** Format of cursors; a later format starts with another number. */
const VERSION = '1';
/** Fits into a request line beside everything else, and suffices for more than 200 partitions. */
export const MAX_CURSOR_CHARACTERS = 6000;
const PLACE = /^([0-9a-z]{1,10})(?:~([0-9a-z]{1,4}))?$/;
const IDENTITY = /^\w{1,64}$/;
const NO_CURSOR = 'It is no cursor that this feed gave.';

/** Encodes a cursor as opaque text of letters, digits, `-` and `_`. */
export function writeFeedCursor({ feed, topics }: FeedCursor): string {
  const parts = topics.map(({ identity, places }) => `${identity};${places.map(writePlace).join('.')}`);
  return Buffer.from([VERSION, feed, ...parts].join(';')).toString('base64url');
}

/**
 * @param topicCount number of topics of the feed
 * @param parameter name of the parameter that held the cursor, for the error
 * @throws {Problem} when the text is no cursor of the feed
 */
export function readFeedCursor(text: string, feed: FeedName, topicCount: number, parameter: string): FeedCursor {
  const refuse = (detail = NO_CURSOR) => badParameter(parameter, detail);
  if (text.length > MAX_CURSOR_CHARACTERS) throw refuse();
  const bytes = Buffer.from(text, 'base64url');
  // The decoder skips characters that are no base64url; a text with such characters was not written here.
  if (bytes.toString('base64url') !== text) throw refuse();
  const [version, named, ...parts] = bytes.toString('latin1').split(';');
  if (version !== VERSION) throw refuse();
  if (named !== feed)
    throw refuse(
      (FEED_NAMES as readonly unknown[]).includes(named) ? `It is a cursor of the feed of ${named}.` : NO_CURSOR,
    );
  if (parts.length !== 2 * topicCount) throw refuse();
  const topics = Array.from({ length: topicCount }, (_, nth) => {
    const [identity = '', places = ''] = parts.slice(2 * nth, 2 * nth + 2);
    if (!IDENTITY.test(identity)) throw refuse();
    return { identity, places: places.split('.').map((place) => readPlace(place) ?? fail(refuse())) };
  });
  return { feed, topics };
}

function fail(problem: Error): never {
  throw problem;
}

function writePlace({ offset, skip }: Place): string {
  return skip === 0 ? offset.toString(36) : `${offset.toString(36)}~${skip.toString(36)}`;
}

function readPlace(text: string): Place | null {
  const [, offset, skip = '0'] = PLACE.exec(text) ?? [];
  return offset === undefined ? null : { offset: Number.parseInt(offset, 36), skip: Number.parseInt(skip, 36) };
}
