import type { UnreadableRecord } from '../dead-letters.ts';
import type { Batch, ConsumeOptions, Encoded, Log, StartAt, Subscription, Topic } from '../log.ts';
import { Appender } from './appender.ts';
import { channelOf, prepareFile } from './database.ts';
import { Cursor, Reader } from './reader.ts';
import { Signal, SqliteSubscription } from './subscription.ts';
import type { Growth } from './writer.ts';

export interface SqliteLogOptions {
  /** The file; its folder is made. Beside it lie SQLite's own `-wal` and `-shm`. */
  path: string;
  /** Partitions of each topic; the same in every opening of the file. Default 1. */
  partitions?: number;
  /** `append` refuses while so many bytes wait to be written. Default 64 MiB. */
  maxPendingBytes?: number;
  /** Records older than this are forgotten, save those of compacted topics. Default 7 days. */
  maxAgeMs?: number;
  /** When the file holds more than this, the oldest records are forgotten, save those of compacted topics. Default 8 GiB. */
  maxBytes?: number;
  /** The file never grows beyond this: appends are then refused as on a full disk. Default: as far as the disk goes. */
  maxFileBytes?: number;
  /** How often it is looked for what can be forgotten. Default 10 seconds. */
  retentionEveryMs?: number;
  /** An append fails when the file's lock was not to be had for so long. Default 10 seconds. */
  lockTimeoutMs?: number;
  /**
   * Takes a record that can't be decoded; when it resolves, what reads goes on behind it. Default: it stops the reading.
   */
  onUnreadable?: (record: UnreadableRecord) => Promise<void>;
}

const DEFAULT_BATCH_RECORDS = 1000;
/** Growth by another process is seen by looking; growth in this one is told at once. */
const LOOK_EVERY_MS = 250;
const MIB = 1024 * 1024;

/**
 * The embedded log: a SQLite file with a write-ahead log, synced to the disk by each commit, and one commit for all that
 * waits. Every thread of a process may open the same file, to append and to read: each opening has a thread of its own
 * that writes, they take turns, and readers in all threads learn of new records as they are committed.
 *
 * @throws {Error} when the folder can't be written, or the file is not such a log
 */
export function openSqliteLog(options: SqliteLogOptions): Log {
  return new SqliteLog(options);
}

class SqliteLog implements Log {
  readonly #partitions: number;
  readonly #onUnreadable: SqliteLogOptions['onUnreadable'];
  readonly #appender: Appender;
  readonly #reader: Reader;
  readonly #growth: BroadcastChannel;
  readonly #subscriptions = new Set<Subscription>();
  readonly #followers = new Set<{ topic: string; partition: number; grown: Signal }>();
  #lookTimer: NodeJS.Timeout | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: SqliteLogOptions) {
    const path = prepareFile(options.path);
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
      },
      this.#partitions,
      options.maxPendingBytes ?? 64 * MIB,
    );
    this.#reader = new Reader(path);
    this.#growth = new BroadcastChannel(channelOf(path));
    this.#growth.unref();
    this.#growth.onmessage = ({ data }) => this.#onGrowth(data as Growth[]);
  }

  get pendingBytes(): number {
    return this.#appender.pendingBytes;
  }

  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    return this.#appender.append(topic, records);
  }

  async consume<T>(topic: Topic<T>, options: ConsumeOptions<T>): Promise<Subscription> {
    const { startAt, onBatch, onRevoked, maxBatchRecords = DEFAULT_BATCH_RECORDS } = options;
    const feeds = await Promise.all(
      this.#partitionNumbers().map(async (partition) => {
        const offset = this.#offsetOf(topic, partition, await startAt(partition));
        return { partition, cursor: this.#cursor(topic, partition, offset), grown: new Signal() };
      }),
    );
    const followers = feeds.map(({ partition, grown }) => ({ topic: topic.name, partition, grown }));
    for (const follower of followers) this.#followers.add(follower);
    const subscription = new SqliteSubscription(
      feeds,
      { maxBatchRecords, onBatch, onRevoked, onUnreadable: this.#onUnreadable },
      () => {
        for (const follower of followers) this.#followers.delete(follower);
        this.#subscriptions.delete(subscription);
        if (this.#followers.size === 0) this.#stopLooking();
      },
    );
    this.#subscriptions.add(subscription);
    this.#lookTimer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    return subscription;
  }

  async endOffsets<T>(topic: Topic<T>): Promise<Map<number, number>> {
    return new Map(this.#partitionNumbers().map((partition) => [partition, this.#reader.end(topic, partition)]));
  }

  async *read<T>(topic: Topic<T>, partition: number, from: StartAt, to: number): AsyncIterable<Batch<T>> {
    const cursor = this.#cursor(topic, partition, this.#offsetOf(topic, partition, from));
    for (;;) {
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
    this.#stopLooking();
    await this.#appender.close();
    this.#growth.close();
    this.#reader.close();
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

  #onGrowth(grown: readonly Growth[]): void {
    for (const follower of this.#followers)
      if (grown.some(({ topic, partition }) => topic === follower.topic && partition === follower.partition))
        follower.grown.raise();
  }

  #look(): void {
    for (const { grown } of this.#followers) grown.raise();
  }

  #stopLooking(): void {
    if (this.#lookTimer) clearInterval(this.#lookTimer);
    this.#lookTimer = null;
  }
}
