/** A stream of records of one type, with its encoding. */
export interface Topic<T> {
  name: string;
  /** Records with the same key go to one partition and keep their order. */
  key(record: T): string;
  /** Encodes the record (Avro, see `schemas/`). The log copies or sends the bytes before `append` resolves. */
  encode(record: T): Buffer;
  /**
   * Decodes a record, which may keep the bytes: they are never overwritten.
   *
   * @throws {Error} when the bytes are not such a record
   */
  decode(bytes: Buffer): T;
  /**
   * A compacted topic keeps the newest record of each key for ever; other topics remove records after their retention
   * time.
   */
  compacted: boolean;
  /**
   * Whether its records come from outside. A log at its size bound with unread records refuses only these. It still
   * accepts the records that readers derive, since readers must progress to free space.
   */
  isInput?: boolean;
}

/** A record that was read. */
export interface LogRecord<T> {
  /** Offset in the partition. Offsets grow, with gaps where compaction or retention removed records. */
  offset: number;
  value: T;
}

/** Consecutive records of one partition. Never empty. */
export interface Batch<T> {
  partition: number;
  records: readonly LogRecord<T>[];
}

/** Where to begin in a partition: at an offset, at the oldest record kept, or after the newest. */
export type StartAt = number | 'earliest' | 'latest';

export interface ConsumeOptions<T> {
  /** Consumers of one group share the partitions among them; with the embedded log a group has one member. */
  group: string;
  /**
   * Called when a partition is assigned to this consumer. An offset older than the oldest retained means the oldest.
   */
  startAt(partition: number): StartAt | Promise<StartAt>;
  /**
   * Called for one batch after the other, never concurrently for one partition. The next batch waits until the promise
   * settles, which provides backpressure. A rejection stops the subscription: see {@link Subscription.failed}. A
   * `CheckpointFencedError` is no failure: another member has claimed the partition. This member releases it, and
   * begins again with `startAt` if the group assigns it again, or still does a while later.
   */
  onBatch(batch: Batch<T>): Promise<void>;
  /**
   * Called when all records of a partition before an offset were processed. This includes undecodable records, which
   * are in no batch: a consumer that waits for the end of a partition can't detect it by its batches alone.
   */
  onProgress?(partition: number, nextOffset: number): void;
  /**
   * Called before a partition goes to another member, and when the subscription stops. The consumer must have saved its
   * work on the partition when this resolves. A `CheckpointFencedError` is no failure: another member has claimed it
   * meanwhile.
   */
  onRevoked?(partition: number): Promise<void>;
  /** At most this many records in a batch. Default 1000. */
  maxBatchRecords?: number;
  /**
   * Whether records may arrive up to a quarter of a second later and in larger batches, which costs less. For consumers
   * that collect records anyway. Default no: each arrives as soon as it is durable.
   */
  isPatient?: boolean;
}

/** Offset of the oldest retained record, and the offset after the newest; equal when the partition is empty. */
export interface Bounds {
  earliest: number;
  end: number;
}

/** The offset of a reader, which it saves together with its results. */
export interface ReaderPlace {
  offset: number;
  /**
   * {@link Resumption.identity} of the log that the offset belongs to; null when an older version without identities
   * saved it.
   */
  identity: string | null;
}

/** Where a reader resumes in the current log. */
export interface Resumption {
  offset: number;
  /** Identity of the topic's records, to be saved with every offset from now on. */
  identity: string;
  /** Null when the reader resumes exactly at its offset. */
  discontinuity: Discontinuity | null;
}

/**
 * Reports that a reader could not resume at its offset:
 * - `replaced`: its offset belongs to other records, such as those of a lost disk or another cluster. It begins with
 *   the oldest.
 * - `truncated`: the log ends, or ended, before the offset, as a log restored from a copy does. It begins with the
 *   first record that it has not read if that is known, otherwise with the oldest.
 * - `removed`: records were removed before it had read them. It begins with the oldest.
 */
export interface Discontinuity {
  kind: 'replaced' | 'truncated' | 'removed';
  reader: string;
  topic: string;
  partition: number;
  savedOffset: number;
  offset: number;
}

/** Distance of a registered reader from both ends of its partition. */
export interface ReaderProgress extends Bounds {
  reader: string;
  topic: string;
  partition: number;
  /** The offset that the reader last released or resumed at. */
  offset: number;
  /**
   * Unix milliseconds at which the oldest unreleased record was appended, or somewhat earlier; null when the reader has
   * released all.
   */
  oldestUnreadAtMs: number | null;
  /** Age at which the log may remove a record, read or not. Null: it never removes unread records. */
  removedAfterMs: number | null;
}

export interface Subscription {
  /** Stops after the current batch. */
  stop(): Promise<void>;
  /** Rejects with the error that stopped the subscription; never resolves. */
  readonly failed: Promise<never>;
}

/** Number of replicas of a topic's partitions. */
export interface TopicReplication {
  topic: string;
  partitions: number;
  /** Number of replicas of the partition with the fewest. */
  replicas: number;
  /** The configured number, or the number of brokers if that is less. */
  wanted: number;
}

/** The log that connects all services: durable, ordered per key, read by offset. */
export interface Log {
  /**
   * Resolves when all records are durable: they survive a crash of the process and of the machine. Records of one call,
   * and of successive calls, keep their order per key.
   *
   * When a call fails, so do later calls with the same keys that were made before the failure was known: a caller that
   * repeats them all in order keeps the order. If records of a failed call were written nevertheless, the log then has
   * them twice.
   *
   * @throws {LogAtBoundError} when the log is at its size bound and holds records that some reader has not read
   * @throws {LogFullError} when more bytes than the bound wait to be written: the caller must apply backpressure to its
   *   peers
   * @throws {RangeError} when a record is longer than {@link MAX_RECORD_BYTES}: then none of the call is written
   */
  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void>;
  /** Bytes passed to `append` and not yet durable; the gateway's backpressure depends on them. */
  readonly pendingBytes: number;
  consume<T>(topic: Topic<T>, options: ConsumeOptions<T>): Promise<Subscription>;
  /**
   * Registers a reader of a partition, and returns where it resumes. A reader with a saved offset calls this before
   * using it: the log may have been replaced, truncated, or have removed records since. Such a discontinuity is passed
   * to `onDiscontinuity`.
   *
   * @param reader stable name, the same at every start
   * @param saved null: it begins with the oldest record
   */
  resume<T>(topic: Topic<T>, partition: number, reader: string, saved: ReaderPlace | null): Promise<Resumption>;
  /**
   * Marks all records before `offset` as processed: the registered reader has saved the offset and will not read them
   * again. Retention of the embedded log removes nothing that a registered reader has not released.
   */
  release<T>(topic: Topic<T>, partition: number, reader: string, offset: number): void;
  /** Progress of the readers that this instance registered. For metrics: it queries each topic. */
  readers(): Promise<ReaderProgress[]>;
  /**
   * Number of records that the consumers of this instance have not processed yet, by topic. A topic with several
   * consumers counts the one that is farthest behind. A consumer that began after the newest record counts from its
   * first batch on.
   */
  behind(): Promise<Record<string, number>>;
  /**
   * Like {@link resume}, for an offset that no registered reader keeps, such as a client's: registers and reports
   * nothing.
   */
  locate<T>(topic: Topic<T>, partition: number, saved: ReaderPlace | null): Promise<Resumption>;
  /** Offsets of the oldest record and after the newest, by partition. */
  bounds<T>(topic: Topic<T>): Promise<Map<number, Bounds>>;
  /** Offsets after the newest record, by partition: a reader at these offsets has read everything. */
  endOffsets<T>(topic: Topic<T>): Promise<Map<number, number>>;
  /**
   * Offset of the first retained record of each partition that was written at or after a time; the end if none was.
   * Clock adjustments make it somewhat inexact.
   */
  offsetsAt<T>(topic: Topic<T>, atMs: number): Promise<Map<number, number>>;
  /**
   * Unix milliseconds at which the record at an offset, or the first retained one after it, was written; null if none
   * exists.
   */
  writtenAtMs<T>(topic: Topic<T>, partition: number, offset: number): Promise<number | null>;
  /** Discontinuities found since the log was opened, the newest of each reader and partition. */
  readonly discontinuities: readonly Discontinuity[];
  /** Why records from outside are refused at present; null while they are accepted. */
  readonly holdUp: HoldUp | null;
  /** Replication of the topics in use, at most a minute old; empty for a log in one file. */
  readonly replication: readonly TopicReplication[];
  /** Reads one partition from `from` (inclusive) to `to` (exclusive), in batches. */
  read<T>(topic: Topic<T>, partition: number, from: StartAt, to: number): AsyncIterable<Batch<T>>;
  /** Writes pending records, then closes everything. */
  close(): Promise<void>;
}

/** Maximum size of an encoded record. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/**
 * Encoded records of one topic. A caller that may have to append refused records again keeps this form, which takes a
 * fraction of their memory.
 */
export class Encoded<T> {
  readonly keys: readonly string[];
  /** Views of possibly shared memory: not to be written to, nor kept for longer than the call. */
  readonly values: readonly Buffer[];

  /**
   * Encodes all records before it adds the first: if one fails, none is added.
   *
   * @throws {RangeError} when a record is longer than {@link MAX_RECORD_BYTES}
   */
  constructor(topic: Topic<T>, records: readonly T[]) {
    this.keys = records.map((record) => topic.key(record));
    this.values = records.map((record) => {
      const bytes = topic.encode(record);
      if (bytes.length > MAX_RECORD_BYTES)
        throw new RangeError(`a record of ${bytes.length} bytes for ${topic.name}: ${MAX_RECORD_BYTES} is the most`);
      return bytes;
    });
  }

  get length(): number {
    return this.values.length;
  }

  static of<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Encoded<T> {
    return records instanceof Encoded ? records : new Encoded(topic, records);
  }
}

/**
 * Whether the error means that no broker of the log responds, which may be temporary. Never true for the embedded log.
 */
export function isLogAway(error: unknown): boolean {
  return error instanceof Error && error.name.startsWith('KafkaJS');
}

/** The disk is full. Nothing was written; the caller can try again once it has space. */
export class DiskFullError extends Error {
  override name = 'DiskFullError';
}

/**
 * The disk is too slow: the file's lock was not available in time. Nothing was written; the caller can try again.
 */
export class DiskBusyError extends Error {
  override name = 'DiskBusyError';
}

/** Whether the disk is full or busy, which may pass. */
export function isDiskOutage(error: unknown): boolean {
  return error instanceof DiskFullError || error instanceof DiskBusyError;
}

/**
 * The log is at its size bound, and holds records that some reader has not read: removing them would lose data. Nothing
 * was written; the caller can try again when the reader has caught up.
 */
export class LogAtBoundError extends Error {
  override name = 'LogAtBoundError';
  readonly holdUp: HoldUp;

  constructor(holdUp: HoldUp) {
    super('the log is at its size bound and a reader is behind');
    this.holdUp = holdUp;
  }
}

/** Why a log at its size bound can't remove records. */
export interface HoldUp {
  /** The reader that is farthest behind. */
  reader: string;
  topic: string;
  partition: number;
  /** Records that it has not released. */
  behindRecords: number;
  usedBytes: number;
  maxBytes: number;
}

/** Too many bytes are waiting to be written. */
export class LogFullError extends Error {
  override name = 'LogFullError';
}
