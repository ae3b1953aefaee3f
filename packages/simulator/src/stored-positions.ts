import type { Position } from '@outrider/domain';

/** What a terminal has recorded and the server has not acknowledged: a bounded queue that the oldest fall out of. */
export class StoredPositions {
  acknowledged = 0;
  dropped = 0;
  readonly #max: number;
  #positions: Position[] = [];
  /** Where the stored ones begin in `#positions`; what is before is acknowledged. */
  #head = 0;
  /** Where those begin that are not under way. */
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
    // What is under way stays: the server may be acknowledging it just now.
    this.#positions.splice(this.#next, over);
    this.dropped += over;
  }

  /** The oldest that are not under way, at most `max`; under way from now on. */
  take(max: number): Position[] {
    const taken = this.#positions.slice(this.#next, this.#next + max);
    this.#next += taken.length;
    return taken;
  }

  /** The oldest `count` under way arrived. */
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

  /** Nothing is under way any more: all that is stored will be taken again. */
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

  /** Those who wait for the store to be empty wait in vain. */
  abandon(reason: Error): void {
    for (const each of this.#waiting.splice(0)) each.reject(reason);
  }
}
