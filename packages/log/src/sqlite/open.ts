import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { ConsumerPlaces } from '../consumer-places.ts';
import type { UnreadableRecord } from '../dead-letters.ts';
import type {
  Batch,
  Bounds,
  ConsumeOptions,
  Discontinuity,
  Encoded,
  HoldUp,
  Log,
  ReaderPlace,
  ReaderProgress,
  Resumption,
  StartAt,
  Subscription,
  Topic,
} from '../log.ts';
import { ReaderRegister, type RegisteredReader } from '../reader-register.ts';
import { resumptionOf } from '../resumption.ts';
import { Appender } from './appender.ts';
import { COMPRESSION, type CompressionSettings } from './compressor.ts';
import { prepareFile, readersChannelOf, registerReader } from './database.ts';
import { Growth } from './growth.ts';
import { Cursor, Reader } from './reader.ts';
import { Signal, SqliteSubscription } from './subscription.ts';

export interface SqliteLogOptions {
  /** The file; its folder is created. SQLite's own `-wal` and `-shm` files are beside it. */
  path: string;
  /** Partitions of each topic; the same in every opening of the file. Default 1. */
  partitions?: number;
  /** `append` refuses records while this many bytes wait to be written. Default 64 MiB. */
  maxPendingBytes?: number;
  /**
   * Minimum time between the starts of two commits of this instance, unless 256 KiB wait. The first record after a
   * pause is written at once. Meant for many concurrent appends: it slows down a caller that awaits each append before
   * the next. Default 0.
   */
  commitGapMs?: number;
  /**
   * Whether this opening is a start of the service: the first one, before any other reads or appends. The recorded
   * starts distinguish a file from older copies of itself. Default no.
   */
  startsRun?: boolean;
  /**
   * Records older than this are removed once all registered readers have read them, save those of compacted topics.
   * Default 7 days.
   */
  maxAgeMs?: number;
  /**
   * When the file holds more than this, the oldest records that all registered readers have read are removed, save
   * those of compacted topics. When no such record is left, records from outside are refused. Default 8 GiB.
   */
  maxBytes?: number;
  /** The file never grows beyond this: appends then fail as on a full disk. Default: no limit but the disk. */
  maxFileBytes?: number;
  /** Interval of retention. Default 10 seconds. */
  retentionEveryMs?: number;
  /** An append fails when the file's lock was not available for this long. Default 10 seconds. */
  lockTimeoutMs?: number;
  /** Sizes for compression. Default: half a MiB is compressed together, once a MiB follows it. */
  compression?: CompressionSettings;
  /**
   * Called with a record that can't be decoded; when it resolves, the reader skips the record. Default: the reader
   * stops.
   */
  onUnreadable?: (record: UnreadableRecord) => Promise<void>;
  /** Called when a reader can't resume at its offset. Default: a warning of the process. */
  onDiscontinuity?: (discontinuity: Discontinuity) => void;
}

/**
 * A gap between commits for appends by many concurrent peers, see {@link SqliteLogOptions.commitGapMs}. Without it each
 * packet of a small fleet would have a commit of its own, which is synced and wakes the readers. With it a packet still
 * appears on a WebSocket within 20 ms.
 */
export const COMMIT_GAP_MS = 15;

const DEFAULT_BATCH_RECORDS = 1000;
const MIB = 1024 * 1024;
/** Interval of publishing released offsets to the writers. */
const PUBLISH_RELEASED_EVERY_MS = 250;

/**
 * The embedded log: a SQLite file with a write-ahead log, which each commit syncs to the disk. One commit writes all
 * waiting records. Every thread of a process may open the same file, to append and to read. Each instance has a writer
 * thread of its own, and the writers take turns. Commits notify readers in all threads.
 *
 * @throws {Error} when the folder can't be written, or the file is not such a log
 */
export function openSqliteLog(options: SqliteLogOptions): Log {
  return new SqliteLog(options);
}

class SqliteLog implements Log {
  readonly #path: string;
  readonly #identity: string;
  readonly #partitions: number;
  readonly #register: ReaderRegister;
  /** Channel on which instances publish released offsets. */
  readonly #released: BroadcastChannel;
  #publishTimer: Timer | null = null;
  readonly #onUnreadable: SqliteLogOptions['onUnreadable'];
  readonly #appender: Appender;
  readonly #reader: Reader;
  readonly #growth: Growth;
  readonly #subscriptions = new Set<Subscription>();
  readonly #consumers = new ConsumerPlaces();
  #closed: Promise<void> | null = null;

  constructor(options: SqliteLogOptions) {
    const { path, identity } = prepareFile(options.path, options.startsRun ?? false);
    this.#path = path;
    this.#identity = identity;
    this.#register = new ReaderRegister(options.onDiscontinuity);
    this.#partitions = options.partitions ?? 1;
    this.#onUnreadable = options.onUnreadable;
    this.#appender = new Appender(
      {
        path,
        maxAgeMs: options.maxAgeMs ?? 7 * 24 * 3600_000,
        maxBytes: options.maxBytes ?? 8192 * MIB,
        maxFileBytes: options.maxFileBytes ?? Number.POSITIVE_INFINITY,
        retentionEveryMs: options.retentionEveryMs ?? 10_000,
        lockTimeoutMs: options.lockTimeoutMs ?? 10_000,
        compression: options.compression ?? COMPRESSION,
      },
      this.#partitions,
      options.maxPendingBytes ?? 64 * MIB,
      options.commitGapMs ?? 0,
    );
    this.#reader = new Reader(path);
    this.#growth = new Growth(path, () => this.#reader.hasChanged());
    this.#released = new BroadcastChannel(readersChannelOf(path));
    this.#released.unref();
  }

  get pendingBytes(): number {
    return this.#appender.pendingBytes;
  }

  get discontinuities(): readonly Discontinuity[] {
    return this.#register.discontinuities;
  }

  get holdUp(): HoldUp | null {
    return this.#appender.holdUp;
  }

  readonly replication = [];

  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    return this.#appender.append(topic, records);
  }

  async consume<T>(topic: Topic<T>, given: ConsumeOptions<T>): Promise<Subscription> {
    const { options, forget } = this.#consumers.follow(topic, given);
    const {
      startAt,
      onBatch,
      onProgress,
      onRevoked,
      maxBatchRecords = DEFAULT_BATCH_RECORDS,
      isPatient = false,
    } = options;
    const places = await Promise.all(
      this.#partitionNumbers().map(async (partition) => {
        const offset = this.#offsetOf(topic, partition, await startAt(partition));
        return { partition, cursor: this.#cursor(topic, partition, offset) };
      }),
    );
    const feeds = places.map(({ partition, cursor }) => {
      const grown = new Signal();
      const stop = this.#growth.follow(topic.name, partition, isPatient, (row) => {
        cursor.hand(row);
        grown.raise();
      });
      return { partition, cursor, grown, stop };
    });
    const subscription = new SqliteSubscription(
      feeds,
      { maxBatchRecords, onBatch, onProgress, onRevoked, onUnreadable: this.#onUnreadable },
      () => {
        for (const { stop } of feeds) stop();
        forget();
        this.#subscriptions.delete(subscription);
      },
    );
    this.#subscriptions.add(subscription);
    return subscription;
  }

  behind(): Promise<Record<string, number>> {
    return this.#consumers.behind((topic) => this.bounds(topic));
  }

  async endOffsets<T>(topic: Topic<T>): Promise<Map<number, number>> {
    return new Map(this.#partitionNumbers().map((partition) => [partition, this.#reader.end(topic, partition)]));
  }

  async bounds<T>(topic: Topic<T>): Promise<Map<number, Bounds>> {
    return new Map(this.#partitionNumbers().map((partition) => [partition, this.#boundsOf(topic, partition)]));
  }

  async offsetsAt<T>(topic: Topic<T>, atMs: number): Promise<Map<number, number>> {
    return new Map(
      this.#partitionNumbers().map((partition) => [partition, this.#reader.offsetAt(topic, partition, atMs)]),
    );
  }

  async writtenAtMs<T>(topic: Topic<T>, partition: number, offset: number): Promise<number | null> {
    const kept = Math.max(offset, this.#reader.earliest(topic, partition));
    return this.#reader.writtenAtMs(topic.name, partition, kept);
  }

  async resume<T>(topic: Topic<T>, partition: number, reader: string, saved: ReaderPlace | null): Promise<Resumption> {
    const resumption = await this.#resumptionOf(topic, partition, reader, saved);
    // Compacted topics need no registration: nothing is removed from them that a reader needs.
    if (!topic.compacted) {
      registerReader(this.#path, { reader, topic: topic.name, partition, offset: resumption.offset });
      this.#register.add({ reader, topic: topic.name, partition, offset: resumption.offset });
      this.#publishSoon();
    }
    if (resumption.discontinuity) this.#register.report(resumption.discontinuity);
    return resumption;
  }

  locate<T>(topic: Topic<T>, partition: number, saved: ReaderPlace | null): Promise<Resumption> {
    return this.#resumptionOf(topic, partition, '', saved);
  }

  release<T>(topic: Topic<T>, partition: number, reader: string, offset: number): void {
    this.#register.release(reader, topic.name, partition, offset);
    this.#publishSoon();
  }

  async readers(): Promise<ReaderProgress[]> {
    return this.#register.all.map((each) => {
      const { topic, partition, offset } = each;
      const bounds = this.#boundsOf({ name: topic, compacted: false }, partition);
      const oldestUnreadAtMs = this.#reader.writtenAtMs(topic, partition, offset);
      return { ...each, ...bounds, oldestUnreadAtMs, removedAfterMs: null };
    });
  }

  async *read<T>(topic: Topic<T>, partition: number, from: StartAt, to: number): AsyncIterable<Batch<T>> {
    const cursor = this.#cursor(topic, partition, this.#offsetOf(topic, partition, from));
    for (;;) {
      // This cursor receives no commits: each iteration reads the file.
      cursor.hand(null);
      const records = cursor.take(DEFAULT_BATCH_RECORDS, to);
      const unreadable = cursor.takeUnreadable();
      for (const record of unreadable) await this.#onUnreadable?.(record);
      if (records.length > 0) yield { partition, records };
      else if (unreadable.length === 0) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    this.#publishTimer?.cancel();
    await this.#appender.close();
    this.#released.close();
    this.#reader.close();
  }

  #boundsOf(topic: Pick<Topic<unknown>, 'name' | 'compacted'>, partition: number): Bounds {
    return { earliest: this.#reader.earliest(topic, partition), end: this.#reader.end(topic, partition) };
  }

  #resumptionOf<T>(topic: Topic<T>, partition: number, reader: string, saved: ReaderPlace | null): Promise<Resumption> {
    const { name, compacted } = topic;
    return resumptionOf(
      {
        topic: name,
        partition,
        compacted,
        bounds: this.#boundsOf(topic, partition),
        identity: this.#identity,
        sharedWith: async (identity) => this.#reader.sharedWith(identity, name, partition),
      },
      reader,
      saved,
    );
  }

  #publishSoon(): void {
    this.#publishTimer ??= SYSTEM_CLOCK.after(PUBLISH_RELEASED_EVERY_MS, () => this.#publishReleased()).unref();
  }

  #publishReleased(): void {
    this.#publishTimer = null;
    this.#released.postMessage(this.#register.all satisfies readonly RegisteredReader[]);
  }

  #cursor<T>(topic: Topic<T>, partition: number, offset: number): Cursor<T> {
    return new Cursor(this.#reader, topic, partition, offset, this.#onUnreadable !== undefined);
  }

  #partitionNumbers(): number[] {
    return Array.from({ length: this.#partitions }, (_, partition) => partition);
  }

  #offsetOf<T>(topic: Topic<T>, partition: number, startAt: StartAt): number {
    if (startAt === 'earliest') return 0;
    if (startAt === 'latest') return this.#reader.end(topic, partition);
    return startAt;
  }
}
