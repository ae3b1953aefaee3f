import type { LogRecord } from '@outrider/log';

export interface GathererParts<T, Packed> {
  /** Rows that a record becomes. */
  rowsOf(value: T): number;
  /** Writes go out when this many rows wait… */
  maxRows: number;
  /** …or when the oldest has waited for this long. */
  maxDelayMs: number;
  /** Consecutive records of one partition as rows; waiting records are held in this form. */
  pack(partition: number, records: readonly LogRecord<T>[]): Packed;
  /** Makes the records durable and remembers where they end. One call at a time, in the order of the log. */
  write(packed: readonly Packed[], nextOffsets: ReadonlyMap<number, number>, rows: number): Promise<void>;
  /** A write that no caller awaited has failed. */
  onFailure(error: unknown): void;
}

/** Rows that are packed together: few, so that their records can soon be freed. */
const PACK_ROWS = 4096;

/**
 * Collects the small batches of a log into few large writes: ClickHouse makes a part of each, which costs the same for
 * ten rows as for a hundred thousand.
 *
 * During a write the next one is collected; then `add` waits. So at most two writes' rows are held.
 */
export class Gatherer<T, Packed> {
  readonly #parts: GathererParts<T, Packed>;
  #packed: Packed[] = [];
  /** Records to be packed, all of one partition. */
  #loose: LogRecord<T>[] = [];
  #looseRows = 0;
  #loosePartition = 0;
  #rows = 0;
  #nextOffsets = new Map<number, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #beginning: Promise<void> | null = null;
  #failure: { error: unknown } | null = null;

  constructor(parts: GathererParts<T, Packed>) {
    this.#parts = parts;
  }

  /**
   * Adds records. Resolves when there is space for more, which may be before they are written.
   *
   * @throws the error of a failed write, after which nothing can be added
   */
  async add(partition: number, records: readonly LogRecord<T>[]): Promise<void> {
    for (const record of records) {
      this.#throwIfFailed();
      if (partition !== this.#loosePartition) this.#pack();
      this.#loosePartition = partition;
      this.#loose.push(record);
      const rows = this.#parts.rowsOf(record.value);
      this.#looseRows += rows;
      this.#rows += rows;
      this.#nextOffsets.set(partition, record.offset + 1);
      if (this.#looseRows >= PACK_ROWS) this.#pack();
      if (this.#rows >= this.#parts.maxRows) await this.#beginWrite();
    }
    if (this.#nextOffsets.size > 0) this.#timer ??= setTimeout(() => this.#onTimer(), this.#parts.maxDelayMs);
  }

  /**
   * Writes everything that was added.
   *
   * @throws the error of a failed write
   */
  async drain(): Promise<void> {
    while (this.#nextOffsets.size > 0 || this.#writing) {
      await this.#beginWrite();
      await this.#writing;
    }
    this.#throwIfFailed();
  }

  #pack(): void {
    if (this.#loose.length === 0) return;
    this.#packed.push(this.#parts.pack(this.#loosePartition, this.#loose));
    this.#loose = [];
    this.#looseRows = 0;
  }

  #onTimer(): void {
    this.#timer = null;
    // A failure is reported by the write itself.
    this.#beginWrite().catch(() => {});
  }

  /** Resolves when what was gathered is on its way: once the write before it is done. */
  #beginWrite(): Promise<void> {
    // Callers that wait for the same write share one promise.
    this.#beginning ??= this.#begin().finally(() => {
      this.#beginning = null;
    });
    return this.#beginning;
  }

  async #begin(): Promise<void> {
    await this.#writing;
    this.#throwIfFailed();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#nextOffsets.size === 0) return;
    this.#pack();
    const packed = this.#packed;
    const nextOffsets = this.#nextOffsets;
    const rows = this.#rows;
    this.#packed = [];
    this.#nextOffsets = new Map();
    this.#rows = 0;
    this.#writing = this.#parts.write(packed, nextOffsets, rows).then(
      () => {
        this.#writing = null;
      },
      (error: unknown) => {
        this.#writing = null;
        this.#failure = { error };
        this.#parts.onFailure(error);
      },
    );
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
