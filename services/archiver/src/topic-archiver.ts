import type { DeadLetterOffice } from '@outrider/backing';
import type { TraceId } from '@outrider/domain';
import {
  CheckpointFencedError,
  type LogRecord,
  type Subscription,
  type Topic,
  UnreadableRecordError,
} from '@outrider/log';
import { inSpan, NO_SPAN, type Tracing } from '@outrider/runtime';
import { type Rows, UnfitRecordError } from '@outrider/warehouse';
import type { ArchiverParts } from './archiver.ts';
import { fitRows, type UnfitRecord } from './fit-rows.ts';
import { Gatherer } from './gatherer.ts';
import type { ArchiveLag, TopicMetrics } from './metrics.ts';
import { retry } from './retry.ts';

export const GROUP = 'archiver';
/** Small batches: their decoded records soon become garbage that is cheap to collect. */
const BATCH_RECORDS = 256;

/** How the records of a topic become rows. */
export interface ArchivedTopic<T> {
  topic: Topic<T>;
  rowsOf(value: T): number;
  /**
   * @throws {UnfitRecordError} when one of them can never be archived
   * @throws {UnreadableRecordError} when one of them is no record
   */
  asRows(records: readonly LogRecord<T>[]): Rows;
  receivedAtMsOf(value: T): number | null;
  onInserted?(oldest: T): void;
  recordedOf?(records: readonly LogRecord<T>[]): readonly TraceId[];
}

export interface TopicArchiverParts
  extends Pick<ArchiverParts, 'log' | 'checkpoints' | 'warehouse' | 'logger' | 'clock'> {
  tracing: Tracing;
  deadLetters: DeadLetterOffice;
  /** Takes records that cannot be decoded. */
  unreadable: DeadLetterOffice;
  metrics: TopicMetrics;
  maxRows: number;
  maxDelayMs: number;
  maxAskedDelayMs: number;
  retryFirstMs: number;
  retryLongestMs: number;
  /** Aborted when the archiver stops: failures are then not retried. */
  stopping: AbortSignal;
  onFailure(error: unknown): void;
}

/** Consecutive records of a partition as rows. */
interface Packed<T> {
  rows: Rows[];
  /** Records that can never be archived. */
  unfit: (UnfitRecord<T> & { partition: number })[];
  oldest: T | undefined;
  /** When the newest record was received, if that is known. */
  newestMs: number | null;
  /** Packets whose traces are recorded. */
  recorded: readonly TraceId[];
}

/** Archives one topic in the warehouse. */
export class TopicArchiver<T> {
  readonly #archived: ArchivedTopic<T>;
  readonly #parts: TopicArchiverParts;
  readonly #consumer: string;
  readonly #gatherer: Gatherer<T, Packed<T>>;
  /** Partitions whose checkpoints another member has claimed. */
  readonly #fenced = new Set<number>();
  /** By partition of this member: the offset below which everything is archived. */
  readonly #nextOffsets = new Map<number, number>();
  /** Identity of the log that a partition is read from. */
  readonly #identities = new Map<number, string>();
  /** When the newest archived record was received; before the first, when this archiver was created. */
  #archivedThroughMs: number;
  #isFailing = false;

  constructor(archived: ArchivedTopic<T>, parts: TopicArchiverParts) {
    this.#archived = archived;
    this.#parts = parts;
    this.#consumer = `${GROUP}/${archived.topic.name}`;
    this.#archivedThroughMs = parts.clock.now();
    this.#gatherer = new Gatherer<T, Packed<T>>({
      rowsOf: archived.rowsOf,
      maxRows: parts.maxRows,
      maxDelayMs: parts.maxDelayMs,
      maxAskedDelayMs: parts.maxAskedDelayMs,
      pack: (partition, records) => this.#pack(partition, records),
      write: (packed, nextOffsets, rows) => this.#write(packed, nextOffsets, rows),
      onFailure(error) {
        if (parts.stopping.aborted)
          parts.logger.warn({ err: error, topic: archived.topic.name }, 'stopped with records still to archive');
        else parts.onFailure(error);
      },
      clock: parts.clock,
    });
  }

  /** False while the warehouse rejects the rows. */
  get isHealthy(): boolean {
    return !this.#isFailing;
  }

  /** Whether this member believes that it owns the partition. */
  has(partition: number): boolean {
    return this.#nextOffsets.has(partition) && !this.#fenced.has(partition);
  }

  subscribe(): Promise<Subscription> {
    return this.#parts.log.consume(this.#archived.topic, {
      group: GROUP,
      maxBatchRecords: BATCH_RECORDS,
      isPatient: true,
      startAt: (partition) => this.#startAt(partition),
      onBatch: async ({ partition, records }) => {
        if (this.#fenced.has(partition)) throw new CheckpointFencedError(this.#consumer, partition);
        await this.#gatherer.add(partition, records);
      },
      onRevoked: async (partition) => {
        await this.#gatherer.drain();
        this.#nextOffsets.delete(partition);
      },
    });
  }

  drain(): Promise<void> {
    return this.#gatherer.drain();
  }

  /** See {@link Gatherer.hurry}. */
  hurry(): Promise<void> {
    return this.#gatherer.hurry();
  }

  /** Null while the log is unavailable. */
  async lag(): Promise<ArchiveLag | null> {
    const { log, clock } = this.#parts;
    const { topic } = this.#archived;
    const ends = await log.endOffsets(topic).catch(() => null);
    if (ends === null) return null;
    let records = 0;
    for (const [partition, next] of this.#nextOffsets) records += Math.max(0, (ends.get(partition) ?? 0) - next);
    const { maxDelayMs, maxAskedDelayMs } = this.#parts;
    // Rows that only wait for a reader are not late.
    const unreadMs = this.#isFailing ? 0 : maxDelayMs - maxAskedDelayMs;
    const lateMs = clock.now() - this.#archivedThroughMs - unreadMs;
    return { topic: topic.name, records, seconds: records > 0 ? Math.max(0, lateMs) / 1000 : 0 };
  }

  async #startAt(partition: number): Promise<number> {
    const { checkpoints, log } = this.#parts;
    const { topic } = this.#archived;
    // Records gathered under an earlier claim belong to an earlier offset.
    if (this.#fenced.has(partition)) await this.#gatherer.drain();
    const checkpoint = await checkpoints.claim(this.#consumer, partition);
    this.#fenced.delete(partition);
    const offset = checkpoint?.offsets[topic.name];
    const identity = checkpoint?.identities[topic.name] ?? null;
    const saved = offset === undefined ? null : { offset, identity };
    const resumption = await log.resume(topic, partition, GROUP, saved);
    this.#identities.set(partition, resumption.identity);
    // Saved at once, because the lag compares this offset with the current log.
    if (resumption.discontinuity !== null) await this.#saveOffset(partition, resumption.offset);
    this.#nextOffsets.set(partition, resumption.offset);
    return resumption.offset;
  }

  #pack(partition: number, records: readonly LogRecord<T>[]): Packed<T> {
    const { receivedAtMsOf, recordedOf } = this.#archived;
    const [first, last] = [records[0]?.value, records.at(-1)?.value];
    const packed: Packed<T> = {
      rows: [],
      unfit: [],
      oldest: first,
      newestMs: last === undefined ? null : receivedAtMsOf(last),
      recorded: recordedOf?.(records) ?? [],
    };
    packed.rows = fitRows(
      records,
      (some) => this.#archived.asRows(some),
      (unfit) => packed.unfit.push({ ...unfit, partition }),
    );
    return packed;
  }

  async #write(packed: readonly Packed<T>[], nextOffsets: ReadonlyMap<number, number>, rows: number): Promise<void> {
    const { deadLetters, unreadable, tracing, warehouse, metrics, logger } = this.#parts;
    const { topic, onInserted } = this.#archived;
    for (const { unfit } of packed)
      for (const { partition, record, error } of unfit) {
        const office = error instanceof UnreadableRecordError ? unreadable : deadLetters;
        await this.#persistently(() => office.take(topic, partition, record.offset, record.value, error));
      }
    const all = packed.flatMap((each) => each.rows);
    const packets = packed.flatMap(({ recorded }) => recorded);
    const span =
      packets.length > 0
        ? tracing.begin(`archive ${topic.name}`, { packets, facts: { 'outrider.rows': rows } })
        : NO_SPAN;
    // Keep-alive packets have no rows, and must not wake a sleeping warehouse.
    await inSpan(span, () => this.#persistently(() => warehouse.insert(rows > 0 ? all : [])));
    const oldest = packed[0]?.oldest;
    if (oldest !== undefined) onInserted?.(oldest);
    this.#archivedThroughMs = packed.findLast(({ newestMs }) => newestMs !== null)?.newestMs ?? this.#archivedThroughMs;
    for (const [partition, offset] of nextOffsets) {
      if (this.#nextOffsets.has(partition)) this.#nextOffsets.set(partition, offset);
      await this.#saveOffset(partition, offset);
    }
    if (this.#isFailing) logger.info({ topic: topic.name }, 'archiving recovered');
    this.#isFailing = false;
    metrics.rows.inc(rows);
    metrics.inserts.inc();
  }

  /** Called once the rows are durable. If another member owns the partition now, its rows replace these. */
  async #saveOffset(partition: number, offset: number): Promise<void> {
    const { checkpoints, log, logger } = this.#parts;
    const { topic } = this.#archived;
    try {
      const identity = this.#identities.get(partition);
      const change = {
        offsets: { [topic.name]: offset },
        identities: identity === undefined ? {} : { [topic.name]: identity },
        changed: [],
      };
      await this.#persistently(() => checkpoints.save(this.#consumer, partition, change));
      log.release(topic, partition, GROUP, offset);
    } catch (error) {
      if (!(error instanceof CheckpointFencedError)) throw error;
      if (this.#fenced.has(partition)) return;
      this.#fenced.add(partition);
      logger.info({ topic: topic.name, partition }, 'another member has claimed the partition');
    }
  }

  #persistently<R>(work: () => Promise<R>): Promise<R> {
    const { retryFirstMs, retryLongestMs, stopping, metrics, logger, clock } = this.#parts;
    return retry(work, {
      firstMs: retryFirstMs,
      longestMs: retryLongestMs,
      giveUp: stopping,
      isFinal: (error) => error instanceof UnfitRecordError || error instanceof CheckpointFencedError,
      onRetry: (error, attempt, waitMs) => {
        this.#isFailing = true;
        metrics.retries.inc();
        logger.warn({ err: error, topic: this.#archived.topic.name, attempt, waitMs }, 'cannot archive: retrying');
      },
      clock,
    });
  }
}
