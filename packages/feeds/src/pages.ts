import { FairQueue } from '@outrider/domain';
import type { Bounds, Log } from '@outrider/log';
import { sharedFor } from '@outrider/runtime';
import type { FeedItem, FeedSource } from './sources.ts';

/** Methods of the log that feeds need. */
export type FeedLog = Pick<Log, 'bounds' | 'locate' | 'offsetsAt' | 'read' | 'writtenAtMs'>;

/** Consecutive records of a partition, decoded into items. */
export interface Page {
  records: readonly { offset: number; items: readonly FeedItem[] }[];
  /** The page covers everything below this offset. If the page starts at this offset, no record existed yet. */
  nextOffset: number;
}

/** The requested records are no longer in the log, because retention removed them. */
export class RemovedError extends Error {
  override name = 'RemovedError';
}

/** A page ends with the record that makes it as large as one of these. */
const MAX_RECORDS = 500;
const MAX_ITEMS = 1000;
/** Cached pages per topic, for consumers at the same position. */
const KEPT_PAGES = 16;
/** Concurrent reads of the log, over all feeds. Consumers wait in turn, one page at a time. */
const MAX_READINGS = 4;
/** The ends of the log are queried once per interval for all waiting consumers. */
const BOUNDS_KEPT_MS = 200;

/** Queue of reads, shared by all topics. */
export function readingQueue(): FairQueue {
  return new FairQueue({ atOnce: MAX_READINGS, maxWaiting: Number.POSITIVE_INFINITY });
}

/**
 * Pages of the records of a topic, shared by all consumers. Most consumers are at the same position, so a page is read
 * and decoded once for them.
 */
export class Pages {
  readonly source: FeedSource;
  readonly #log: FeedLog;
  readonly #readings: FairQueue;
  /** Least recently used first. */
  readonly #kept = new Map<string, Promise<Page>>();
  /** Both ends of each partition, cached for {@link BOUNDS_KEPT_MS}. */
  readonly bounds: () => Promise<ReadonlyMap<number, Bounds>>;
  #identity: Promise<string> | null = null;

  constructor(log: FeedLog, source: FeedSource, readings: FairQueue) {
    this.#log = log;
    this.source = source;
    this.#readings = readings;
    this.bounds = sharedFor(BOUNDS_KEPT_MS, () => log.bounds(source.topic));
  }

  /** Both ends of each partition, queried now. */
  boundsNow(): Promise<ReadonlyMap<number, Bounds>> {
    return this.#log.bounds(this.source.topic);
  }

  /** Identity of the log that offsets refer to now. */
  identity(): Promise<string> {
    this.#identity ??= this.#log.locate(this.source.topic, 0, null).then(({ identity }) => identity);
    // A failure is not cached: the next consumer tries again.
    this.#identity.catch(() => {
      this.#identity = null;
    });
    return this.#identity;
  }

  /**
   * Reads a page of records from an offset on.
   *
   * @param end offset up to which the partition is known to have records
   * @throws {RemovedError} when the log begins after the offset
   */
  from(partition: number, offset: number, end: number): Promise<Page> {
    const key = `${partition}:${offset}`;
    const known = this.#kept.get(key);
    const page = known ?? this.#readings.run(() => this.#read(partition, offset, end));
    // A cached page remains correct, even if the partition has grown since.
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
    // Queried after reading: records that were removed meanwhile may be missing.
    if (records[0]?.offset !== from) {
      const { earliest = 0 } = (await this.boundsNow()).get(partition) ?? {};
      if (earliest > from) throw new RemovedError(`${topic.name}/${partition} begins at ${earliest}, after ${from}`);
    }
    return { records, nextOffset };
  }
}
