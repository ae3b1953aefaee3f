import { Worker } from 'node:worker_threads';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { Encoded, type HoldUp, LogAtBoundError, LogFullError, type Topic } from '../log.ts';
import { type DiskOutage, errorOf, messageOf } from './database.ts';
import { COPIED_BYTES, PREFIX_BYTES, pushRecord, SEGMENT_BYTES, type Segment } from './segment.ts';
import type { FromWriter, ToWriter, WriterSettings } from './writer.ts';

/** Number of written segment buffers that are kept for reuse. */
const SPARE_SEGMENTS = 16;
/**
 * With this many bytes waiting, the gap between two commits is skipped: the commit is large enough to be worth its
 * cost.
 */
const FULL_COMMIT_BYTES = 256 * 1024;

/** A call of `append` whose records are not durable yet. */
interface Waiting {
  bytes: number;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Group commit: records that arrive during a commit of the writer thread go into its next transaction, however many
 * they are. They are durable after one sync. A minimum gap between commits may be set, so that a low rate of records
 * costs few commits. The first record after a pause is written at once.
 */
export class Appender {
  readonly #settings: WriterSettings;
  readonly #partitions: number;
  readonly #maxPendingBytes: number;
  readonly #commitGapMs: number;
  #worker: Worker | null = null;
  #pendingBytes = 0;
  /** The segment of each partition that takes the next record, with its memory; `#full` has the full ones before it. */
  readonly #filling = new Map<string, { segment: Segment; target: Buffer }>();
  #full: Segment[] = [];
  #waiting: Waiting[] = [];
  /** Calls whose records the writer thread has. */
  #writing: Waiting[] | null = null;
  /** The flush at the end of this turn of the event loop, or when the gap is over. */
  #turnEnd: NodeJS.Immediate | null = null;
  #gapEnd: Timer | null = null;
  /** Monotonic time at which the gap since the start of the last commit ends. */
  #nextCommitAtMs = 0;
  #holdUp: HoldUp | null = null;
  readonly #spare: ArrayBuffer[] = [];
  #closed = false;

  /** @param commitGapMs minimum time between the starts of two commits, unless {@link FULL_COMMIT_BYTES} wait */
  constructor(settings: WriterSettings, partitions: number, maxPendingBytes: number, commitGapMs: number) {
    this.#settings = settings;
    this.#partitions = partitions;
    this.#maxPendingBytes = maxPendingBytes;
    this.#commitGapMs = commitGapMs;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Why records from outside are refused; null while they are taken. */
  get holdUp(): HoldUp | null {
    return this.#holdUp;
  }

  async append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    if (this.#closed) throw new Error(`the log ${this.#settings.path} is closed`);
    if (records.length === 0) return;
    if (topic.isInput && this.#holdUp !== null) throw new LogAtBoundError(this.#holdUp);
    if (this.#pendingBytes >= this.#maxPendingBytes)
      throw new LogFullError(`${this.#pendingBytes} bytes wait to be written to the log, ${this.#maxPendingBytes} may`);

    const { keys, values } = Encoded.of(topic, records);
    let bytes = 0;
    values.forEach((value, i) => {
      bytes += this.#take(topic, keys[i] as string, value);
    });
    this.#pendingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      this.#scheduleFlush();
    });
  }

  /** Writes the waiting records, then ends the writer thread. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#scheduleFlush();
    while (this.#waiting.length > 0 || this.#writing)
      await new Promise<void>((settle) => this.#waiting.push({ bytes: 0, resolve: settle, reject: () => settle() }));
    const worker = this.#worker;
    if (!worker) return;
    this.#worker = null;
    worker.ref();
    await new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
      worker.postMessage({ type: 'close' } satisfies ToWriter);
    });
  }

  /** @returns the bytes that the record occupies */
  #take<T>(topic: Topic<T>, key: string, encoded: Buffer): number {
    const partition = this.#partitions > 1 ? partitionOf(key, this.#partitions) : 0;
    const bytes = PREFIX_BYTES + encoded.length;
    const place = `${topic.name}/${partition}`;
    let filling = this.#filling.get(place);
    if (!filling || filling.segment.usedBytes + bytes > filling.target.length) {
      if (filling) this.#full.push(filling.segment);
      const memory = this.#memory(bytes);
      const keys = topic.compacted ? [] : null;
      const segment = { topic: topic.name, partition, keys, count: 0, bytes: memory, usedBytes: 0 };
      filling = { segment, target: Buffer.from(memory) };
      this.#filling.set(place, filling);
    }
    pushRecord(filling.segment, filling.target, encoded, topic.compacted ? key : null);
    return bytes;
  }

  #memory(bytes: number): ArrayBuffer {
    if (bytes > SEGMENT_BYTES) return new ArrayBuffer(bytes);
    return this.#spare.pop() ?? new ArrayBuffer(SEGMENT_BYTES);
  }

  #trim(segment: Segment): void {
    const { bytes, usedBytes } = segment;
    if (usedBytes > COPIED_BYTES) return;
    segment.bytes = bytes.slice(0, usedBytes);
    this.#keep(bytes);
  }

  #keep(memory: ArrayBuffer): void {
    if (memory.byteLength === SEGMENT_BYTES && this.#spare.length < SPARE_SEGMENTS) this.#spare.push(memory);
  }

  /** Flushes at the end of the gap, or of the event loop's turn: packets that arrived together are written together. */
  #scheduleFlush(): void {
    if (this.#writing || this.#turnEnd) return;
    const gapMs = this.#gapLeftMs();
    if (gapMs > 0) this.#gapEnd ??= SYSTEM_CLOCK.after(gapMs, () => this.#flush());
    else this.#turnEnd = setImmediate(() => this.#flush());
  }

  #gapLeftMs(): number {
    if (this.#closed || this.#pendingBytes >= FULL_COMMIT_BYTES) return 0;
    return Math.max(0, this.#nextCommitAtMs - SYSTEM_CLOCK.steadyMs());
  }

  #flush(): void {
    clearImmediate(this.#turnEnd ?? undefined);
    this.#turnEnd = null;
    this.#gapEnd?.cancel();
    this.#gapEnd = null;
    if (this.#writing || this.#waiting.length === 0) return;
    this.#nextCommitAtMs = SYSTEM_CLOCK.steadyMs() + this.#commitGapMs;
    const segments = this.#full;
    for (const { segment } of this.#filling.values()) segments.push(segment);
    this.#full = [];
    this.#filling.clear();
    this.#writing = this.#waiting;
    this.#waiting = [];
    if (segments.length === 0) {
      this.#settle(null);
      return;
    }
    this.#worker ??= this.#start();
    // Keeps the process alive only while records are not yet durable.
    this.#worker.ref();
    for (const segment of segments) this.#trim(segment);
    const memory = segments.map(({ bytes }) => bytes);
    this.#worker.postMessage({ type: 'write', segments } satisfies ToWriter, memory);
  }

  #settle(error: Error | null): void {
    const settled = this.#writing ?? [];
    this.#writing = null;
    if (error) {
      // Fails the waiting records too: otherwise they would overtake the failed ones, which the caller appends again.
      settled.push(...this.#waiting);
      this.#waiting = [];
      this.#full = [];
      this.#filling.clear();
    }
    for (const { bytes } of settled) this.#pendingBytes -= bytes;
    for (const { resolve, reject } of settled) {
      if (error) reject(error);
      else resolve();
    }
    if (this.#waiting.length === 0) return;
    // Records that waited during a commit wait only for the rest of the gap.
    if (this.#gapLeftMs() > 0) this.#scheduleFlush();
    else this.#flush();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./writer.ts', import.meta.url), {
      name: 'log-writer',
      workerData: this.#settings,
      execArgv: [],
      // The thread creates few objects: the records are outside the heap.
      resourceLimits: { maxYoungGenerationSizeMb: 3 },
    });
    let failure = 'it stopped';
    worker.on('message', (message: FromWriter) => {
      if (message.type === 'held') {
        this.#holdUp = message.holdUp;
        return;
      }
      const { error, outage, memory } = message;
      for (const buffer of memory) this.#keep(buffer);
      worker.unref();
      this.#settle(error === null ? null : this.#failed(error, outage));
    });
    worker.on('error', (error) => {
      failure = messageOf(error);
    });
    // The next records start another writer.
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#holdUp = null;
      if (this.#writing) this.#settle(this.#failed(failure));
    });
    return worker;
  }

  #failed(reason: string, outage: DiskOutage | null = null): Error {
    const Failure = errorOf(outage);
    return new Failure(`the log ${this.#settings.path} could not be written: ${reason}`);
  }
}

/** The partition of a key: FNV-1a of its UTF-16 code units. */
export function partitionOf(key: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % partitions;
}
