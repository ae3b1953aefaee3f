import { GeofenceOwners, Problem } from '@outrider/access';
import type { Clock, Directory, User, UserId } from '@outrider/domain';
import {
  FEED_NAMES,
  type FeedLog,
  type FeedName,
  FeedReading,
  type FeedStart,
  feedSources,
  Pages,
  readingQueue,
  type SentItem,
} from '@outrider/feeds';
import { isLogAway } from '@outrider/log';
import type { Geofences } from '@outrider/registry';
import { ConnectionCounts, type Metrics } from '@outrider/runtime';
import { asProblem } from '../http/error-responses.ts';
import { createFeedMetrics, type FeedMetrics } from './feed-metrics.ts';

/** Forms of delivery: a page of JSON, or a stream of JSON lines or server-sent events. */
export const FEED_FORMS = ['page', 'ndjson', 'sse'] as const;
export type FeedForm = (typeof FEED_FORMS)[number];
export type StreamForm = Exclude<FeedForm, 'page'>;

export interface FeedBounds {
  /** Concurrent calls of feeds in this process, including waiting ones. */
  total: number;
  /** Concurrent calls of one account. */
  perAccount: number;
}
export const FEED_BOUNDS: FeedBounds = { total: 256, perAccount: 10 };

/** The longest that a call may wait. */
export const MAX_WAIT_SECONDS = 60;
/** Interval of the heartbeats with which a stream reports its position, whether or not there are items. */
export const HEARTBEAT_MS = 15_000;
/** Interval at which consumers that have read everything poll for more. All are polled together. */
const LOOK_EVERY_MS = 250;
/** Longest time for which one read scans the log. Items that the caller may not see take time as well. */
const LOOK_THROUGH_MS = 1000;
/** Interval at which the caller's permission is checked again, in addition to once for each page. */
const RECHECK_EVERY_MS = 2000;
/** Items that are written at once. */
const CHUNK_ITEMS = 200;

export interface FeedsParts {
  /** Absent: feeds are unavailable. */
  log?: FeedLog | undefined;
  directory: Directory;
  /** Owners of geofences, deleted ones included. */
  geofenceOwners: Geofences['ownersOf'];
  metrics: Metrics;
  clock: Clock;
  bounds?: FeedBounds;
}

/** The caller of a feed. */
export interface FeedCall {
  userId: UserId;
  /**
   * The caller with their current rights.
   *
   * @throws {Problem} when the caller may no longer call
   */
  callerNow(): Promise<User>;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** Where a consumer resumes or begins. */
export type FeedPlace = { cursor: { text: string; parameter: string } } | { from: FeedStart };

export interface FeedPage {
  items: Record<string, unknown>[];
  nextCursor: string;
  lagSeconds: number;
}

/** A slot within the bounds, held until it is released. */
interface Admission {
  lagSeconds: number;
  release(): void;
}

/**
 * Feeds of events and positions read from the log, starting at a cursor: what the consumer missed, what follows, and
 * corrections of the past by late data and recalculations. Consumers pull items, so nothing is buffered for them.
 * Access to each item is checked at the moment when it is sent.
 */
export class Feeds {
  readonly #parts: FeedsParts;
  readonly #owners: GeofenceOwners;
  readonly #pages: ReadonlyMap<FeedName, readonly Pages[]>;
  readonly #counts: ConnectionCounts;
  readonly #open = new Map<Admission, FeedName>();
  readonly #closing = new AbortController();
  readonly #metrics: FeedMetrics;

  constructor(parts: FeedsParts) {
    const { log, directory, geofenceOwners, bounds = FEED_BOUNDS } = parts;
    this.#parts = parts;
    this.#owners = new GeofenceOwners(directory, geofenceOwners);
    this.#counts = new ConnectionCounts({ total: bounds.total, perKey: bounds.perAccount });
    const readings = readingQueue();
    const sources = feedSources();
    this.#pages = new Map(
      FEED_NAMES.map((feed) => [feed, log ? sources[feed].map((source) => new Pages(log, source, readings)) : []]),
    );
    this.#metrics = createFeedMetrics(parts.metrics, (feed) =>
      Math.max(0, ...[...this.#open].filter(([, of]) => of === feed).map(([{ lagSeconds }]) => lagSeconds)),
    );
  }

  /**
   * The next items, at most `limit`. Waits for the first item if none exists yet.
   *
   * @throws {Problem} when the cursor is invalid; `too-many-requests` and `unavailable` beyond the bounds, or while the
   *   log is unavailable
   */
  async page(feed: FeedName, place: FeedPlace, asked: { limit: number; waitMs: number }, call: FeedCall) {
    const admission = this.#admit(feed, 'page', call);
    try {
      const reading = await this.#reading(feed, place);
      const { steadyMs } = this.#parts.clock;
      const untilMs = steadyMs() + asked.waitMs;
      const ended = AbortSignal.any([call.signal, this.#closing.signal]);
      let items: SentItem[];
      let recheckAtMs = steadyMs() + RECHECK_EVERY_MS;
      for (;;) {
        const byMs = steadyMs() + LOOK_THROUGH_MS;
        items = await reading.take(call.callerNow, { maxItems: asked.limit, byMs, until: 'full', hasCursors: false });
        const leftMs = untilMs - steadyMs();
        if (items.length > 0 || leftMs <= 0 || ended.aborted) break;
        if (!reading.isBehind) await this.#parts.clock.pause(Math.min(LOOK_EVERY_MS, leftMs), ended);
        if (steadyMs() >= recheckAtMs) {
          recheckAtMs = steadyMs() + RECHECK_EVERY_MS;
          await call.callerNow();
        }
        await reading.look();
      }
      // A caller that may no longer call must get that error instead of an empty page.
      if (items.length === 0) await call.callerNow();
      this.#metrics.sent(feed, items.length);
      return {
        items: items.map(({ item }) => item.json()),
        nextCursor: reading.cursor(),
        lagSeconds: await reading.lagSeconds(),
      } satisfies FeedPage;
    } catch (error) {
      throw asFeedProblem(error);
    } finally {
      admission.release();
    }
  }

  /**
   * All items from a position on, until the client disconnects, may no longer call, or the service stops. Nothing more
   * is read until the client has taken the previous items.
   *
   * @throws {Problem} as {@link page} does, before anything is sent
   */
  async stream(feed: FeedName, place: FeedPlace, form: StreamForm, call: FeedCall): Promise<AsyncIterable<Uint8Array>> {
    const admission = this.#admit(feed, form, call);
    try {
      const reading = await this.#reading(feed, place);
      const left = new AbortController();
      const leave = () => {
        left.abort();
        admission.release();
      };
      if (call.signal.aborted) leave();
      call.signal.addEventListener('abort', leave, { once: true });
      const ended = AbortSignal.any([left.signal, this.#closing.signal]);
      const chunks = this.#chunksOf(feed, reading, FORMS[form], admission, call, ended);
      // Not a generator: a generator that is never started would not release its slot.
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            const next = await chunks.next();
            if (next.done) leave();
            return next;
          },
          async return() {
            leave();
            await chunks.return(undefined);
            return { done: true as const, value: undefined };
          },
        }),
      };
    } catch (error) {
      admission.release();
      throw asFeedProblem(error);
    }
  }

  /** Ends all streams and all waiting calls. Clients resume elsewhere with their cursors. */
  close(): void {
    this.#closing.abort();
  }

  async *#chunksOf(
    feed: FeedName,
    reading: FeedReading,
    form: Form,
    admission: Admission,
    call: FeedCall,
    ended: AbortSignal,
  ): AsyncGenerator<Uint8Array, undefined> {
    try {
      const { steadyMs } = this.#parts.clock;
      let heartbeatAtMs = steadyMs();
      let recheckAtMs = steadyMs() + RECHECK_EVERY_MS;
      while (!ended.aborted) {
        if (steadyMs() >= heartbeatAtMs) {
          heartbeatAtMs = steadyMs() + HEARTBEAT_MS;
          admission.lagSeconds = await reading.lagSeconds();
          const { lagSeconds } = admission;
          yield form.heartbeat({ type: 'heartbeat', cursor: reading.cursor(), lagSeconds });
        }
        if (steadyMs() >= recheckAtMs) {
          recheckAtMs = steadyMs() + RECHECK_EVERY_MS;
          await call.callerNow();
        }
        const byMs = steadyMs() + LOOK_THROUGH_MS;
        const chunk = { maxItems: CHUNK_ITEMS, byMs, until: 'any', hasCursors: true } as const;
        const items = await reading.take(call.callerNow, chunk);
        if (items.length > 0) {
          this.#metrics.sent(feed, items.length);
          yield form.items(items);
        } else if (!reading.isBehind) {
          admission.lagSeconds = 0;
          await this.#parts.clock.pause(LOOK_EVERY_MS, ended);
        }
        await reading.look();
      }
      if (this.#closing.signal.aborted) yield form.end(new Problem('unavailable', 'The service is stopping.'));
    } catch (error) {
      const problem = asFeedProblem(error);
      if (!(problem instanceof Problem)) throw problem;
      yield form.end(problem);
    }
    return undefined;
  }

  async #reading(feed: FeedName, place: FeedPlace): Promise<FeedReading> {
    const { log, clock } = this.#parts;
    if (log === undefined)
      throw new Problem('unavailable', 'Feeds are not available in this service, which has no log.');
    const context = { feed, log, pages: this.#pages.get(feed) ?? [], owners: this.#owners, clock };
    return 'cursor' in place ? FeedReading.from(context, place.cursor) : FeedReading.begin(context, place.from);
  }

  #admit(feed: FeedName, form: FeedForm, { userId }: FeedCall): Admission {
    const exceeded = this.#counts.admit(userId);
    if (exceeded !== null) {
      this.#metrics.refused(exceeded === 'key' ? 'account' : 'total');
      const headers = { 'retry-after': '5' };
      if (exceeded === 'key')
        throw new Problem('too-many-requests', 'This account already follows the maximum number of feeds.', {
          headers,
        });
      throw new Problem('unavailable', 'This service already has the maximum number of open feeds; try again later.', {
        headers,
      });
    }
    let isOpen = true;
    const admission: Admission = {
      lagSeconds: 0,
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#counts.release(userId);
        this.#open.delete(admission);
        this.#metrics.closed(feed, form);
      },
    };
    this.#open.set(admission, feed);
    this.#metrics.opened(feed, form);
    return admission;
  }
}

/** Encoding of a stream. */
interface Form {
  items(items: readonly SentItem[]): Uint8Array;
  heartbeat(heartbeat: { type: 'heartbeat'; cursor: string; lagSeconds: number }): Uint8Array;
  /** States why the stream ends. The next call fails for the same reason. */
  end(problem: Problem): Uint8Array;
}

const messageOf = ({ item, cursor }: SentItem) => `${item.text},"cursor":"${cursor}"}`;
const endOf = ({ status, message }: Problem) => JSON.stringify({ type: 'end', status, detail: message });

const FORMS: Readonly<Record<StreamForm, Form>> = {
  ndjson: {
    items: (items) => Buffer.from(`${items.map(messageOf).join('\n')}\n`),
    heartbeat: (heartbeat) => Buffer.from(`${JSON.stringify(heartbeat)}\n`),
    end: (problem) => Buffer.from(`${endOf(problem)}\n`),
  },
  // JSON holds no line breaks, so each message is one line of data.
  sse: {
    items: (items) => Buffer.from(items.map((sent) => `id: ${sent.cursor}\ndata: ${messageOf(sent)}\n\n`).join('')),
    heartbeat: (heartbeat) =>
      Buffer.from(`event: heartbeat\nid: ${heartbeat.cursor}\ndata: ${JSON.stringify(heartbeat)}\n\n`),
    end: (problem) => Buffer.from(`event: end\ndata: ${endOf(problem)}\n\n`),
  },
};

/** Maps a failure to a problem for the caller. Unexpected errors are returned unchanged. */
function asFeedProblem(error: unknown): unknown {
  if (isLogAway(error))
    return new Problem('unavailable', 'The log is unavailable; try again later.', { headers: { 'retry-after': '5' } });
  return asProblem(error) ?? error;
}
