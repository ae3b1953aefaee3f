import type { LogRecord } from '@outrider/log';

export interface GathererParts<T> {
  /** Rows that a record becomes. */
  rowsOf(value: T): number;
  /** Writes go out when this many rows wait… */
  maxRows: number;
  /** …or when the oldest has waited for this long. */
  maxDelayMs: number;
  /** Makes the records durable and remembers where they end. One call at a time, in the order of the log. */
  write(records: readonly LogRecord<T>[], nextOffsets: ReadonlyMap<number, number>, rows: number): Promise<void>;
  /** A write that was nobody's to wait for has failed. */
  onFailure(error: unknown): void;
}

/**
 * Gathers the small batches of a log into few big writes: ClickHouse makes a part of each, and a part costs the same
 * whether it holds ten rows or a hundred thousand.
 *
 * While one write is under way the next is gathered; then `add` waits. So at most two writes' rows are held.
 */
export class Gatherer<T> {
  readonly #parts: GathererParts<T>;
  #records: LogRecord<T>[] = [];
  #rows = 0;
  #nextOffsets = new Map<number, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #beginning: Promise<void> | null = null;
  #failure: { error: unknown } | null = null;

  constructor(parts: GathererParts<T>) {
    this.#parts = parts;
  }

  /**
   * Takes records in. Resolves when there is room for more, which may be before they are written.
   *
   * @throws what a write failed with: nothing more can be taken in after that
   */
  async add(partition: number, records: readonly LogRecord<T>[]): Promise<void> {
    for (const record of records) {
      this.#throwIfFailed();
      this.#records.push(record);
      this.#rows += this.#parts.rowsOf(record.value);
      this.#nextOffsets.set(partition, record.offset + 1);
      if (this.#rows >= this.#parts.maxRows) await this.#beginWrite();
    }
    if (this.#records.length > 0) this.#timer ??= setTimeout(() => this.#onTimer(), this.#parts.maxDelayMs);
  }

  /**
   * Writes everything that was taken in.
   *
   * @throws what a write failed with
   */
  async drain(): Promise<void> {
    while (this.#records.length > 0 || this.#writing) {
      await this.#beginWrite();
      await this.#writing;
    }
    this.#throwIfFailed();
  }

  #onTimer(): void {
    this.#timer = null;
    // A failure is told by the write itself.
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
    if (this.#records.length === 0) return;
    const records = this.#records;
    const nextOffsets = this.#nextOffsets;
    const rows = this.#rows;
    this.#records = [];
    this.#nextOffsets = new Map();
    this.#rows = 0;
    this.#writing = this.#parts.write(records, nextOffsets, rows).then(
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
