import { badParameter } from '@outrider/access';

/** What can be followed. */
export const FEED_NAMES = ['events', 'positions'] as const;
export type FeedName = (typeof FEED_NAMES)[number];

/** How far a consumer got in a partition. */
export interface Place {
  /** Of the record that comes next. */
  offset: number;
  /** Items of that record that were sent already: a record may hold several. */
  skip: number;
}

/** How far a consumer got in one topic. */
export interface TopicPlaces {
  /** Of the records that the offsets count. */
  identity: string;
  /** By partition. */
  places: readonly Place[];
}

/** How far a consumer got in each topic of a feed, in the order of its sources. */
export interface FeedCursor {
  feed: FeedName;
  topics: readonly TopicPlaces[];
}

/** A later form of cursors begins with another number. */
const VERSION = '1';
/** What a request line holds beside everything else, and more than 200 partitions need. */
export const MAX_CURSOR_CHARACTERS = 6000;
const PLACE = /^([0-9a-z]{1,10})(?:~([0-9a-z]{1,4}))?$/;
const IDENTITY = /^\w{1,64}$/;
const NO_CURSOR = 'It is no cursor that this feed gave.';

/** A cursor as text: only letters, digits, `-` and `_`, without meaning for clients. */
export function writeFeedCursor({ feed, topics }: FeedCursor): string {
  const parts = topics.map(({ identity, places }) => `${identity};${places.map(writePlace).join('.')}`);
  return Buffer.from([VERSION, feed, ...parts].join(';')).toString('base64url');
}

/**
 * @param topicCount topics that the feed is made of
 * @param parameter where the cursor came from, as it is named to the caller
 * @throws {Problem} when the text is no cursor of the feed
 */
export function readFeedCursor(text: string, feed: FeedName, topicCount: number, parameter: string): FeedCursor {
  const refuse = (detail = NO_CURSOR) => badParameter(parameter, detail);
  if (text.length > MAX_CURSOR_CHARACTERS) throw refuse();
  const bytes = Buffer.from(text, 'base64url');
  // What is no base64url is read over: such a text is not what was written.
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
