/** A stream of records of one type, with its encoding. */
export interface Topic<T> {
  name: string;
  /** Records with the same key keep their order: they go to one partition. */
  key(record: T): string;
  /** The record as bytes (Avro, see `schemas/`). The log copies or sends them before `append` resolves. */
  encode(record: T): Buffer;
  /**
   * The record may keep the bytes: nothing is written to them afterwards.
   *
   * @throws {Error} when the bytes are not such a record
   */
  decode(bytes: Buffer): T;
  /** A compacted topic keeps the newest record of each key for ever; any other forgets after its retention. */
  compacted: boolean;
  /**
   * Whether its records come from outside. A log at its size bound, with records that some reader has not read, refuses
   * only these: it accepts the records that readers derive from it, since readers must go on to free space.
   */
  isInput?: boolean;
}

/** A record that was read. */
export interface LogRecord<T> {
  /** Its place in the partition: grows, with gaps where compaction or retention removed records. */
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
  /** Asked when a partition is given to this consumer. An offset older than what is kept means the oldest kept. */
  startAt(partition: number): StartAt | Promise<StartAt>;
  /**
   * Called for one batch after the other, never twice at a time for a partition; the next comes when the promise
   * settles, which is the backpressure. A rejection stops the subscription: see {@link Subscription.failed}. A
   * `CheckpointFencedError` is no failure: another member has claimed the partition. This one releases it, and begins
   * again with `startAt` if the group assigns it again, or still does a while later.
   */
  onBatch(batch: Batch<T>): Promise<void>;
  /**
   * Called when all records of a partition before an offset were handed out, those that could not be decoded among
   * them: they are in no batch, so a consumer that waits for the end of the partition can't know by its batches alone.
   */
  onProgress?(partition: number, nextOffset: number): void;
  /**
   * Called before a partition goes to another member, and when the subscription stops. The consumer's work on it must
   * be saved when this resolves. A `CheckpointFencedError` is no failure: another member has claimed it meanwhile.
   */
  onRevoked?(partition: number): Promise<void>;
  /** At most this many records in a batch. Default 1000. */
  maxBatchRecords?: number;
  /**
   * Whether the consumer collects records anyway: then they may come a quarter of a second later and in larger batches,
   * which costs less. Default no: each comes as soon as it is durable.
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
   * {@link Resumption.identity} of the log that the offset belongs to; null for one saved by a version without them.
   */
  identity: string | null;
}

/** Where a reader resumes in the current log. */
export interface Resumption {
  offset: number;
  /** Identity of the topic's records. To be kept with every offset from here on. */
  identity: string;
  /** Null when the reader resumes exactly at its offset. */
  discontinuity: Discontinuity | null;
}

/**
 * A reader could not resume at its offset:
 * - `replaced`: its offset is of other records, such as those of a lost disk or another cluster. It begins with the
 *   oldest.
 * - `truncated`: the log ends, or ended, before the offset, as one that was restored from a copy does. It begins with
 *   the first record that it has not read where that is known, else with the oldest.
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

/** How far a registered reader is from both ends of its partition. */
export interface ReaderProgress extends Bounds {
  reader: string;
  topic: string;
  partition: number;
  /** The offset that it released last, or resumed at. */
  offset: number;
  /**
   * Unix milliseconds at which the oldest record that it has not released was appended, or somewhat earlier; null when
   * it has released all.
   */
  oldestUnreadAtMs: number | null;
  /** Age at which the log may remove a record, read or not. Null: it does not. */
  removedAfterMs: number | null;
}

export interface Subscription {
  /** Finishes the current batch, then stops. */
  stop(): Promise<void>;
  /** Rejects with the error that stopped the subscription; never resolves. */
  readonly failed: Promise<never>;
}

/** How many copies the partitions of a topic have. */
export interface TopicReplication {
  topic: string;
  partitions: number;
  /** Brokers that are to have a copy, of the partition that has the fewest. */
  replicas: number;
  /** As many as are set, or as there are brokers. */
  wanted: number;
}

/** The log that connects all services: durable, ordered per key, read by offset. */
export interface Log {
  /**
   * Resolves when all records are durable: they outlive a crash of the process and of the machine. Records of one call,
   * and of calls made one after the other, keep their order per key.
   *
   * When a call fails, so do later calls with the same keys that were made before the failure was known: a caller that
   * repeats them all in order keeps the order. Records of a failed call that were written nevertheless are then in the
   * log twice.
   *
   * @throws {LogAtBoundError} when the log is at its size bound and holds what a reader has not read
   * @throws {LogFullError} when more than the bound is waiting to be written: the caller must hold its peers back
   * @throws {RangeError} when a record is longer than {@link MAX_RECORD_BYTES}: then none of the call is written
   */
  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void>;
  /** Bytes handed to `append` and not yet durable; the gateway's backpressure depends on them. */
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
   * Records that a registered reader has saved `offset` and will not read earlier records again.
   * Retention of the embedded log removes nothing that a registered reader has not released.
   */
  release<T>(topic: Topic<T>, partition: number, reader: string, offset: number): void;
  /** The readers that were registered through this opening and where they are. For metrics: a query for each topic. */
  readers(): Promise<ReaderProgress[]>;
  /**
   * Records that the consumers of this opening have not processed yet, by the name of the topic; where a topic has
   * several, of the one that is farthest behind. One that began after the newest record counts from its first batch on.
   */
  behind(): Promise<Record<string, number>>;
  /**
   * As {@link resume}, for an offset that no registered reader keeps, such as a client's: nothing is registered or
   * reported.
   */
  locate<T>(topic: Topic<T>, partition: number, saved: ReaderPlace | null): Promise<Resumption>;
  /** Offsets of the oldest record and after the newest, by partition. */
  bounds<T>(topic: Topic<T>): Promise<Map<number, Bounds>>;
  /** Offsets after the newest record, by partition: a reader that has reached them has read everything. */
  endOffsets<T>(topic: Topic<T>): Promise<Map<number, number>>;
  /**
   * The first offset of each partition whose record was written at a time or later, as far as the log keeps it; the end
   * where none was. Clocks that were set make it somewhat sooner or later.
   */
  offsetsAt<T>(topic: Topic<T>, atMs: number): Promise<Map<number, number>>;
  /**
   * Unix milliseconds at which the record at an offset was written, or the first after it that is kept; null where none
   * is.
   */
  writtenAtMs<T>(topic: Topic<T>, partition: number, offset: number): Promise<number | null>;
  /** Discontinuities that readers met since the log was opened, the newest of each reader and partition. */
  readonly discontinuities: readonly Discontinuity[];
  /** Why records from outside are refused now; null while they are taken. */
  readonly holdUp: HoldUp | null;
  /** Of the topics that were used, as it was a minute ago at most; none where the log is one file. */
  readonly replication: readonly TopicReplication[];
  /** Everything from `from` (inclusive) up to `to` (exclusive) of one partition, in batches. */
  read<T>(topic: Topic<T>, partition: number, from: StartAt, to: number): AsyncIterable<Batch<T>>;
  /** Writes pending records, then closes everything. */
  close(): Promise<void>;
}

/** The longest record that a log takes, encoded. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/**
 * Encoded records of one topic. A caller that may have to append refused records again keeps this form, which takes a
 * fraction of their memory.
 */
export class Encoded<T> {
  readonly keys: readonly string[];
  /**
   * Views of memory that they may share with others: not to be written to, nor kept for longer than the call.
   */
  readonly values: readonly Buffer[];

  /**
   * All records are encoded before the first is added: when one can't be, none is.
   *
   * @throws {RangeError} when one is longer than {@link MAX_RECORD_BYTES}
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

/** Is it that no broker of the log answers, which may pass? A file always does. */
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

/** Why a log at its size bound can remove nothing. */
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

/** Too much is waiting to be written. */
export class LogFullError extends Error {
  override name = 'LogFullError';
}
