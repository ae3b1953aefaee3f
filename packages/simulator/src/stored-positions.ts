import type { Position } from '@outrider/domain';

/** Recorded positions that the server has not acknowledged: a bounded queue that drops the oldest first. */
export class StoredPositions {
  acknowledged = 0;
  dropped = 0;
  readonly #max: number;
  #positions: Position[] = [];
  /** Index in `#positions` of the first stored position; earlier ones are acknowledged. */
  #head = 0;
  /** Index of the first position that is not in flight. */
  #next = 0;
  #waiting: PromiseWithResolvers<void>[] = [];

  /** @throws {RangeError} when `max` is not a positive whole number */
  constructor(max: number) {
    if (!Number.isInteger(max) || max < 1) throw new RangeError(`a store of ${max} positions`);
    this.#max = max;
  }

  get size(): number {
    return this.#positions.length - this.#head;
  }

  add(positions: readonly Position[]): void {
    for (const position of positions) this.#positions.push(position);
    const over = Math.min(this.size - this.#max, this.#positions.length - this.#next);
    if (over <= 0) return;
    // Positions in flight are kept: the server may be acknowledging them.
    this.#positions.splice(this.#next, over);
    this.dropped += over;
  }

  /** Takes the oldest positions that are not in flight, at most `max`; they are then in flight. */
  take(max: number): Position[] {
    const taken = this.#positions.slice(this.#next, this.#next + max);
    this.#next += taken.length;
    return taken;
  }

  /** Removes the oldest `count` positions in flight. */
  acknowledge(count: number): void {
    this.acknowledged += count;
    this.#head += count;
    if (this.#head >= 1024 && this.#head * 2 >= this.#positions.length) {
      this.#positions = this.#positions.slice(this.#head);
      this.#next -= this.#head;
      this.#head = 0;
    }
    if (this.size > 0) return;
    for (const each of this.#waiting.splice(0)) each.resolve();
  }

  /** Marks all positions as not in flight, so that all stored ones are taken again. */
  rewind(): void {
    this.#next = this.#head;
  }

  /** Resolves when nothing is stored. */
  emptied(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    const waiting = Promise.withResolvers<void>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  /** Rejects all promises of {@link emptied}. */
  abandon(reason: Error): void {
    for (const each of this.#waiting.splice(0)) each.reject(reason);
  }
}
