import { FairQueue } from '@outrider/domain';
import type { Bounds, Log } from '@outrider/log';
import { sharedFor } from '@outrider/runtime';
import type { FeedItem, FeedSource } from './sources.ts';

/** What of the log feeds need. */
export type FeedLog = Pick<Log, 'bounds' | 'locate' | 'offsetsAt' | 'read' | 'writtenAtMs'>;

/** Consecutive records of a partition, with what they say. */
export interface Page {
  records: readonly { offset: number; items: readonly FeedItem[] }[];
  /** The page has everything below this offset; where it begins there as well, there was nothing yet. */
  nextOffset: number;
}

/** What a consumer asked for is no longer in the log: retention was faster. */
export class RemovedError extends Error {
  override name = 'RemovedError';
}

/** A page ends with the record that reaches one of these. */
const MAX_RECORDS = 500;
const MAX_ITEMS = 1000;
/** Pages of a topic that are kept for consumers that are at the same place. */
const KEPT_PAGES = 16;
/** Readings of the log at the same time, over all feeds: consumers wait in turn, a page at a time. */
const MAX_READINGS = 4;
/** All consumers that wait ask together where the log ends. */
const BOUNDS_KEPT_MS = 200;

/** Readings of all topics share these. */
export function readingQueue(): FairQueue {
  return new FairQueue({ atOnce: MAX_READINGS, maxWaiting: Number.POSITIVE_INFINITY });
}

/**
 * The records of a topic by the page, for all consumers: those that are at the same place, as most are, read and decode
 * a page once.
 */
export class Pages {
  readonly source: FeedSource;
  readonly #log: FeedLog;
  readonly #readings: FairQueue;
  /** The page used last is the last. */
  readonly #kept = new Map<string, Promise<Page>>();
  /** Both ends of each partition, as they were a moment ago. */
  readonly bounds: () => Promise<ReadonlyMap<number, Bounds>>;
  #identity: Promise<string> | null = null;

  constructor(log: FeedLog, source: FeedSource, readings: FairQueue) {
    this.#log = log;
    this.source = source;
    this.#readings = readings;
    this.bounds = sharedFor(BOUNDS_KEPT_MS, () => log.bounds(source.topic));
  }

  /** Both ends as they are now. */
  boundsNow(): Promise<ReadonlyMap<number, Bounds>> {
    return this.#log.bounds(this.source.topic);
  }

  /** Of the records that offsets count now. */
  identity(): Promise<string> {
    this.#identity ??= this.#log.locate(this.source.topic, 0, null).then(({ identity }) => identity);
    // The next consumer asks again.
    this.#identity.catch(() => {
      this.#identity = null;
    });
    return this.#identity;
  }

  /**
   * The records from an offset on, as many as one page has.
   *
   * @param end offset that the partition is known to reach
   * @throws {RemovedError} when the log begins after the offset
   */
  from(partition: number, offset: number, end: number): Promise<Page> {
    const key = `${partition}:${offset}`;
    const known = this.#kept.get(key);
    const page = known ?? this.#readings.run(() => this.#read(partition, offset, end));
    // What it has stays true however far the partition has grown since.
    this.#kept.delete(key);
    this.#kept.set(key, page);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_PAGES) break;
      this.#kept.delete(oldest);
    }
    if (known === undefined)
      page.then(
        ({ nextOffset }) => nextOffset === offset && this.#forget(key, page),
        () => this.#forget(key, page),
      );
    return page;
  }

  #forget(key: string, page: Promise<Page>): void {
    if (this.#kept.get(key) === page) this.#kept.delete(key);
  }

  async #read(partition: number, from: number, end: number): Promise<Page> {
    const { topic, itemsOf } = this.source;
    const records: { offset: number; items: readonly FeedItem[] }[] = [];
    let items = 0;
    let nextOffset = end;
    reading: for await (const batch of this.#log.read(topic, partition, from, end))
      for (const { offset, value } of batch.records) {
        const said = itemsOf(partition, offset, value);
        records.push({ offset, items: said });
        items += said.length;
        if (records.length < MAX_RECORDS && items < MAX_ITEMS) continue;
        nextOffset = offset + 1;
        break reading;
      }
    // Asked after the reading: what was removed meanwhile may have been left out.
    if (records[0]?.offset !== from) {
      const { earliest = 0 } = (await this.boundsNow()).get(partition) ?? {};
      if (earliest > from) throw new RemovedError(`${topic.name}/${partition} begins at ${earliest}, after ${from}`);
    }
    return { records, nextOffset };
  }
}
