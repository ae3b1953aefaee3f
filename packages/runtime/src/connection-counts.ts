/** How many connections may be open at the same time. */
export interface ConnectionBounds {
  total: number;
  /** Bound for one key: an address, an account, a terminal. */
  perKey: number;
}

/** The bound that refuses a connection. */
export type ExceededBound = 'total' | 'key';

/**
 * Counts open connections, in all and by key, against bounds: one peer cannot take the places of all others. Stores one
 * number for each key that has a connection.
 */
export class ConnectionCounts {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  get total(): number {
    return this.#total;
  }

  of(key: string): number {
    return this.#open.get(key) ?? 0;
  }

  /**
   * Counts a connection, unless a bound refuses it.
   *
   * @param key null: only the total counts
   * @returns null if it was admitted: then {@link release} must be called once, when it ends
   */
  admit(key: string | null): ExceededBound | null {
    if (this.#total >= this.#bounds.total) return 'total';
    if (key !== null) {
      const open = this.of(key);
      if (open >= this.#bounds.perKey) return 'key';
      this.#open.set(key, open + 1);
    }
    this.#total++;
    return null;
  }

  release(key: string | null): void {
    this.#total--;
    if (key === null) return;
    const open = this.of(key);
    if (open > 1) this.#open.set(key, open - 1);
    else this.#open.delete(key);
  }
}
