import { FairQueue } from '@outrider/domain';
import type { Log } from '@outrider/log';
import { type EventMessage, type EventRange, indexAt, type LiveTopic, memoryBytesOf } from '../event-messages.ts';

/** Pages begin at multiples of this: clients with similar cursors read the same pages. */
const PAGE_OFFSETS = 1024;
/** Pages read concurrently. */
const MAX_READINGS = 8;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

interface Page {
  messages: readonly EventMessage[];
  /** The page has all events below this offset. */
  endOffset: number;
}

/** A page that is cached or being read. */
interface Entry {
  page: Promise<Page>;
  /** Null while it is being read. */
  bytes: number | null;
  endOffset: number;
}

/**
 * Events read back from the log in pages, for all clients that need them. A page is read once for all waiting clients,
 * and the most recently used pages are cached. Each client takes pages at its own pace.
 */
export class PastEvents<T> {
  readonly #log: Pick<Log, 'read'>;
  readonly #of: LiveTopic<T>;
  readonly #maxBytes: number;
  /** In order of use: the most recently used page is last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  readonly #readings = new FairQueue({ atOnce: MAX_READINGS, maxWaiting: Number.POSITIVE_INFINITY });

  constructor(log: Pick<Log, 'read'>, of: LiveTopic<T>, maxBytes = DEFAULT_MAX_BYTES) {
    this.#log = log;
    this.#of = of;
    this.#maxBytes = maxBytes;
  }

  /**
   * The events of a partition from an offset on, at most one page. If the log no longer has the next event, the range
   * begins with the first event that it has.
   *
   * @param to known end offset of the partition
   */
  async from(partition: number, offset: number, to: number): Promise<EventRange> {
    const page = await this.#entry(partition, offset, to).page;
    if (page.endOffset < to) this.prefetch(partition, page.endOffset, to);
    return { messages: page.messages, start: indexAt(page.messages, offset), endOffset: page.endOffset };
  }

  /** Starts to read the page that {@link from} will need, unless other reads are already queued. */
  prefetch(partition: number, offset: number, to: number): void {
    if (this.#readings.weight < MAX_READINGS) this.#entry(partition, offset, to);
  }

  #entry(partition: number, offset: number, to: number): Entry {
    const pageOffset = offset - (offset % PAGE_OFFSETS);
    const endOffset = Math.min(pageOffset + PAGE_OFFSETS, to);
    const key = `${partition}:${pageOffset}`;
    let entry = this.#entries.get(key);
    if (entry === undefined || entry.endOffset <= offset) {
      this.#drop(key);
      entry = {
        page: this.#readings.run(() => this.#load(partition, pageOffset, endOffset, to)),
        bytes: null,
        endOffset,
      };
      this.#settle(key, entry);
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  async #settle(key: string, entry: Entry): Promise<void> {
    try {
      const { messages, endOffset } = await entry.page;
      if (this.#entries.get(key) !== entry) return;
      entry.endOffset = endOffset;
      entry.bytes = messages.reduce((sum, message) => sum + memoryBytesOf(message), 0);
      this.#bytes += entry.bytes;
    } catch {
      // The clients waiting for the page get the error. The next request reads it again.
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    }
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      if (bytes !== null) this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  async #load(partition: number, from: number, endOffset: number, to: number): Promise<Page> {
    const { topic, messageOf } = this.#of;
    const messages: EventMessage[] = [];
    for await (const { records } of this.#log.read(topic, partition, from, endOffset))
      for (const { offset, value } of records) messages.push(messageOf(offset, value));
    if (messages.length > 0) return { messages, endOffset };
    // Nothing of the page remains. The first remaining event may be many pages ahead: a single read finds it.
    for await (const { records } of this.#log.read(topic, partition, endOffset, to)) {
      const found = records.map(({ offset, value }) => messageOf(offset, value));
      return { messages: found, endOffset: (found.at(-1)?.offset ?? endOffset) + 1 };
    }
    return { messages, endOffset: to };
  }
}
