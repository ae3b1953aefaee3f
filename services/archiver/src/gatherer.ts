import type { LogRecord } from '@outrider/log';

export interface GathererParts<T, Packed> {
  /** Rows that a record becomes. */
  rowsOf(value: T): number;
  /** Writes go out when this many rows wait… */
  maxRows: number;
  /** …or when the oldest has waited for this long. */
  maxDelayMs: number;
  /** Consecutive records of one partition as they will be written: what waits is held in this form. */
  pack(partition: number, records: readonly LogRecord<T>[]): Packed;
  /** Makes the records durable and remembers where they end. One call at a time, in the order of the log. */
  write(packed: readonly Packed[], nextOffsets: ReadonlyMap<number, number>, rows: number): Promise<void>;
  /** A write that was nobody's to wait for has failed. */
  onFailure(error: unknown): void;
}

/** Records of so many rows are packed together: few enough to be soon forgotten as what they were. */
const PACK_ROWS = 4096;

/**
 * Gathers the small batches of a log into few big writes: ClickHouse makes a part of each, and a part costs the same
 * whether it holds ten rows or a hundred thousand.
 *
 * While one write is under way the next is gathered; then `add` waits. So at most two writes' rows are held.
 */
export class Gatherer<T, Packed> {
  readonly #parts: GathererParts<T, Packed>;
  #packed: Packed[] = [];
  /** What waits to be packed, all of one partition. */
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
   * Takes records in. Resolves when there is space for more, which may be before they are written.
   *
   * @throws what a write failed with: nothing more can be taken in after that
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
   * Writes everything that was taken in.
   *
   * @throws what a write failed with
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
    // All who wait for the same write to end wait for one promise.
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
