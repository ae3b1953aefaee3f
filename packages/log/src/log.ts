/** A stream of records of one type, with what is needed to write and to read them. */
export interface Topic<T> {
  name: string;
  /** Records with the same key keep their order: they go to one partition. */
  key(record: T): string;
  /** The record as bytes (Avro, see `schemas/`). The log copies or sends them before `append` resolves. */
  encode(record: T): Buffer;
  /** @throws {Error} when the bytes are not such a record */
  decode(bytes: Buffer): T;
  /** A compacted topic keeps the newest record of each key for ever; any other forgets after its retention. */
  compacted: boolean;
}

/** A record as it was read. */
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
   * settles, which is the backpressure. A rejection stops the subscription: see {@link Subscription.failed}. One is no
   * failure: a `CheckpointFencedError` says that the partition was claimed by another member. It is let go of, and where the
   * group gives it to this one again, or still does a while later, it begins anew with `startAt`.
   */
  onBatch(batch: Batch<T>): Promise<void>;
  /**
   * Called before a partition goes to another member, and when the subscription is stopped; what the consumer has of it must
   * be written when this resolves. Where another has claimed it meanwhile, a `CheckpointFencedError` is no failure.
   */
  onRevoked?(partition: number): Promise<void>;
  /** At most this many records in a batch. Default 1000. */
  maxBatchRecords?: number;
  /**
   * Whether the consumer gathers anyway what it is given: records may come later then (by a quarter of a second), and so more at a
   * time, which costs less. Default no: each comes as soon as it is durable.
   */
  isPatient?: boolean;
}

export interface Subscription {
  /** Lets the batch in hand finish and stops. */
  stop(): Promise<void>;
  /** Rejects with what stopped the subscription; never resolves. The service's supervisor listens to it. */
  readonly failed: Promise<never>;
}

/** The log that everything meets at: durable, ordered per key, read by offset. */
export interface Log {
  /**
   * Resolves when all records are durable: they outlive a crash of the process and of the machine. Records of one call,
   * and of calls made one after the other, keep their order per key.
   *
   * When a call is refused, so are those behind it that have records of the same keys and were made before it was known: who makes
   * them all again in their order keeps the order. What of a refused call was written nevertheless is then there twice.
   *
   * @throws {LogFullError} when more than the bound is waiting to be written: the caller must hold its peers back
   * @throws {RangeError} when a record is longer than {@link MAX_RECORD_BYTES}: then none of the call is written
   */
  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void>;
  /** Bytes handed to `append` and not yet durable: what the gateway's backpressure looks at. */
  readonly pendingBytes: number;
  consume<T>(topic: Topic<T>, options: ConsumeOptions<T>): Promise<Subscription>;
  /** Offsets after the newest record, by partition: what a reader must reach to have seen all there was. */
  endOffsets<T>(topic: Topic<T>): Promise<Map<number, number>>;
  /** Everything from `from` (inclusive) up to `to` (exclusive) of one partition, in batches. */
  read<T>(topic: Topic<T>, partition: number, from: StartAt, to: number): AsyncIterable<Batch<T>>;
  /** Writes what is pending, then lets go of everything. */
  close(): Promise<void>;
}

/** The longest record that a log takes, encoded. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/**
 * Records of one topic as they are written. Who may have to append what was refused again keeps them so: they take a fraction of
 * the memory that the records themselves do.
 */
export class Encoded<T> {
  readonly keys: readonly string[];
  /** Views of memory that they may share with others: not to be written to, and not to be kept for longer than it takes. */
  readonly values: readonly Buffer[];

  /**
   * All are encoded before the first is taken: one that can't be leaves nothing of the others behind.
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

/** There is no room on the disk: nothing was written, and it can be tried again when there is. */
export class DiskFullError extends Error {
  override name = 'DiskFullError';
}

/** The disk takes longer than a disk should: the file was not to be had. Nothing was written, and it can be tried again. */
export class DiskBusyError extends Error {
  override name = 'DiskBusyError';
}

/** Whether it is the disk that is waited for: one that is full, or busy, need not stay so. */
export function isDiskOutage(error: unknown): boolean {
  return error instanceof DiskFullError || error instanceof DiskBusyError;
}

/** Too much is waiting to be written. */
export class LogFullError extends Error {
  override name = 'LogFullError';
}
