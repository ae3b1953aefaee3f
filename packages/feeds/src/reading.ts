import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GeofenceOwners, Problem } from '@outrider/access';
import { type Clock, isoTime, type User } from '@outrider/domain';
import type { Bounds } from '@outrider/log';
import { type FeedCursor, type FeedName, type Place, readFeedCursor, writeFeedCursor } from './cursor.ts';
import { type FeedLog, type Page, type Pages, RemovedError } from './pages.ts';
import type { FeedItem } from './sources.ts';

/** Where a consumer without a cursor starts; a number: at records written at that time (Unix ms) or later. */
export type FeedStart = 'earliest' | 'latest' | number;

export interface ReadingContext {
  feed: FeedName;
  log: FeedLog;
  /** One for each topic of the feed. */
  pages: readonly Pages[];
  owners: GeofenceOwners;
  clock: Clock;
}

/** An item that the caller may see, and the cursor behind it. */
export interface SentItem {
  item: FeedItem;
  cursor: string;
}

/** Limits of one call. */
export interface Taking {
  maxItems: number;
  /** Deadline in steady milliseconds of the reading's clock. */
  byMs: number;
  /** When to return: with `maxItems`, or with the first page that has any items. */
  until: 'full' | 'any';
  /** Whether each item comes with the cursor behind it. */
  hasCursors: boolean;
}

/** A partition of a topic, with the consumer's position in it. */
interface Strand {
  pages: Pages;
  nth: number;
  partition: number;
  place: Place;
}

/** Maximum time for which one consumer occupies the thread before it yields to the others. */
const SLICE_MS = 5;

/** Reads the topics of a feed for one consumer. */
export class FeedReading {
  readonly #context: ReadingContext;
  readonly #identities: readonly string[];
  readonly #strands: Strand[];
  /** Both ends of each partition, by topic, when they were last queried. */
  #bounds: readonly ReadonlyMap<number, Bounds>[];
  /** Index of the partition that comes next, so that no partition waits for the end of another. */
  #turn = 0;
  #yieldAtMs: number;

  private constructor(
    context: ReadingContext,
    identities: readonly string[],
    bounds: readonly ReadonlyMap<number, Bounds>[],
    strands: Strand[],
  ) {
    this.#context = context;
    this.#bounds = bounds;
    this.#identities = identities;
    this.#strands = strands;
    this.#yieldAtMs = context.clock.steadyMs() + SLICE_MS;
  }

  /**
   * @param cursor text that the caller sent, and the name of the parameter that held it
   * @throws {Problem} `invalid-request` when it is no cursor of this feed, `cursor-expired` when the log no longer has
   *   the records after it
   */
  static async from(context: ReadingContext, cursor: { text: string; parameter: string }): Promise<FeedReading> {
    const { topics } = readFeedCursor(cursor.text, context.feed, context.pages.length, cursor.parameter);
    let lost = false;
    const reading = await FeedReading.#open(context, async (pages, nth, bounds, identity) => {
      const known = topics[nth] ?? { identity, places: [] };
      if (known.places.length > bounds.size && known.identity === identity)
        throw new Problem('invalid-request', 'A parameter is not valid.', {
          errors: [{ parameter: cursor.parameter, detail: 'It contains partitions that the log does not have.' }],
        });
      const places = new Map<number, Place>();
      for (const [partition, { earliest, end }] of bounds) {
        // A partition that was added since begins with its first record.
        const place = known.places[partition] ?? { offset: 0, skip: 0 };
        const isHere = known.identity === identity && place.offset >= earliest && place.offset <= end;
        const isNew = known.places[partition] === undefined && earliest === 0;
        if (isHere || isNew) {
          places.set(partition, place);
          continue;
        }
        const saved = { offset: place.offset, identity: known.identity };
        const { offset, discontinuity } = await context.log.locate(pages.source.topic, partition, saved);
        places.set(partition, discontinuity === null ? place : { offset, skip: 0 });
        if (discontinuity !== null) lost = true;
      }
      return places;
    });
    if (lost) throw await reading.#expired();
    return reading;
  }

  static begin(context: ReadingContext, start: FeedStart): Promise<FeedReading> {
    return FeedReading.#open(context, async (pages, _, bounds) => {
      const at = typeof start === 'number' ? await context.log.offsetsAt(pages.source.topic, start) : null;
      return new Map(
        [...bounds].map(([partition, { earliest, end }]) => {
          const offset = at === null ? (start === 'earliest' ? earliest : end) : (at.get(partition) ?? end);
          return [partition, { offset, skip: 0 }];
        }),
      );
    });
  }

  static async #open(
    context: ReadingContext,
    placesOf: (
      pages: Pages,
      nth: number,
      bounds: ReadonlyMap<number, Bounds>,
      identity: string,
    ) => Promise<Map<number, Place>>,
  ): Promise<FeedReading> {
    const identities: string[] = [];
    const all: ReadonlyMap<number, Bounds>[] = [];
    const strands: Strand[] = [];
    for (const [nth, pages] of context.pages.entries()) {
      const identity = await pages.identity();
      const bounds = await pages.boundsNow();
      const places = await placesOf(pages, nth, bounds, identity);
      identities.push(identity);
      all.push(bounds);
      for (const partition of [...places.keys()].sort((a, b) => a - b))
        strands.push({ pages, nth, partition, place: places.get(partition) ?? { offset: 0, skip: 0 } });
    }
    return new FeedReading(context, identities, all, strands);
  }

  /** Time from which all partitions with removed records are complete; null: nothing was removed. */
  async logBeginsAtMs(): Promise<number | null> {
    const { log } = this.#context;
    const times: number[] = [];
    for (const { pages, nth, partition } of this.#strands) {
      const { earliest = 0 } = this.#bounds[nth]?.get(partition) ?? {};
      const writtenAtMs = earliest === 0 ? null : await log.writtenAtMs(pages.source.topic, partition, earliest);
      if (writtenAtMs !== null) times.push(writtenAtMs);
    }
    return times.length === 0 ? null : Math.max(...times);
  }

  /** Cursor for the consumer's current position. */
  cursor(): string {
    const topics: FeedCursor['topics'] = this.#identities.map((identity, nth) => ({
      identity,
      places: this.#strands.filter((strand) => strand.nth === nth).map(({ place }) => place),
    }));
    return writeFeedCursor({ feed: this.#context.feed, topics });
  }

  /** Queries the ends of the log. Consumers that wait at the same time share the query. */
  async look(): Promise<void> {
    this.#bounds = await Promise.all(this.#context.pages.map((pages) => pages.bounds()));
  }

  /** Whether the log, when last queried, had records that the consumer has not read. */
  get isBehind(): boolean {
    return this.#strands.some((strand) => this.#isBehindIn(strand));
  }

  /**
   * Seconds since the oldest unread record was written; 0 where the consumer had read all records when the log was last
   * queried.
   */
  async lagSeconds(): Promise<number> {
    const { log, clock } = this.#context;
    const behind = this.#strands.filter((strand) => this.#isBehindIn(strand));
    const times = await Promise.all(
      behind.map(({ pages, partition, place }) => log.writtenAtMs(pages.source.topic, partition, place.offset)),
    );
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? 0 : Math.max(0, Math.round((clock.now() - Math.min(...known)) / 100) / 10);
  }

  /**
   * The next items that the caller may see. Partitions take turns, with at most one page per turn, so that a call is
   * cheap even if the caller may see few items.
   *
   * @param caller called again for each page, right before its rights are checked
   * @throws {Problem} `cursor-expired` when the log has removed the next records
   */
  async take(caller: () => Promise<User>, asked: Taking): Promise<SentItem[]> {
    const { maxItems, byMs, until } = asked;
    const { steadyMs } = this.#context.clock;
    const taken: SentItem[] = [];
    for (let idle = 0; idle < this.#strands.length && taken.length < maxItems; ) {
      if (until === 'any' && taken.length > 0) break;
      const strand = this.#strands[this.#turn % this.#strands.length];
      this.#turn++;
      if (strand === undefined) break;
      if (!this.#isBehindIn(strand)) {
        idle++;
        continue;
      }
      idle = 0;
      const page = await this.#page(strand);
      if (page === null) {
        // Items read before are returned first. The next call will find the same error.
        if (taken.length > 0) break;
        throw await this.#expired();
      }
      this.#takeFrom(strand, page, await this.#sight(page, caller), asked, taken);
      if (steadyMs() >= byMs) break;
      if (steadyMs() > this.#yieldAtMs) {
        await nextTurn();
        this.#yieldAtMs = steadyMs() + SLICE_MS;
      }
    }
    return taken;
  }

  #isBehindIn(strand: Strand): boolean {
    return strand.place.offset < this.#endOf(strand);
  }

  #endOf({ nth, partition }: Strand): number {
    return this.#bounds[nth]?.get(partition)?.end ?? 0;
  }

  /** Null: the log has removed the next records. */
  async #page(strand: Strand): Promise<Page | null> {
    const { pages, partition, place } = strand;
    try {
      return await pages.from(partition, place.offset, this.#endOf(strand));
    } catch (error) {
      if (error instanceof RemovedError) return null;
      throw error;
    }
  }

  /** The current caller, after loading everything that its rights to the page depend on. */
  async #sight(page: Page, caller: () => Promise<User>): Promise<User> {
    const geofences = page.records.flatMap(({ items }) => items.map(({ geofenceId }) => geofenceId));
    await this.#context.owners.read(geofences);
    return caller();
  }

  #takeFrom(
    strand: Strand,
    { records, nextOffset }: Page,
    caller: User,
    { maxItems, hasCursors }: Taking,
    taken: SentItem[],
  ): void {
    const { owners } = this.#context;
    for (const { offset, items } of records) {
      if (offset < strand.place.offset) continue;
      const first = offset === strand.place.offset ? strand.place.skip : 0;
      for (const [nth, item] of items.entries()) {
        if (nth < first) continue;
        if (taken.length >= maxItems) {
          strand.place = { offset, skip: nth };
          return;
        }
        const isAllowed = owners.mayReceive(caller, item.vehicleId, item.geofenceId);
        if (isAllowed === undefined) {
          // The geofence's owner was dropped from the cache meanwhile. This item is the first of the next call.
          strand.place = { offset, skip: nth };
          return;
        }
        if (!isAllowed) continue;
        strand.place = nth + 1 < items.length ? { offset, skip: nth + 1 } : { offset: offset + 1, skip: 0 };
        taken.push({ item, cursor: hasCursors ? this.cursor() : '' });
      }
    }
    strand.place = { offset: nextOffset, skip: 0 };
  }

  /** Error for a consumer whose next records were removed, with where it can continue. */
  async #expired(): Promise<Problem> {
    const times: number[] = [];
    for (const strand of this.#strands) {
      const { pages, partition, place } = strand;
      const { earliest = 0 } = (await pages.boundsNow()).get(partition) ?? {};
      if (place.offset < earliest) strand.place = { offset: earliest, skip: 0 };
      const writtenAtMs = await this.#context.log.writtenAtMs(pages.source.topic, partition, strand.place.offset);
      if (writtenAtMs !== null) times.push(writtenAtMs);
    }
    const fromMs = times.length === 0 ? this.#context.clock.now() : Math.min(...times);
    return new Problem(
      'cursor-expired',
      `The log no longer contains the records after this cursor. It begins at ${isoTime(fromMs)}. To continue from there, use \`resumption.cursor\`. Use reports for earlier data.`,
      { resumption: { cursor: this.cursor(), from: isoTime(fromMs) } },
    );
  }
}
