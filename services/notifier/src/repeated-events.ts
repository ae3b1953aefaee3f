import type { FleetEvent } from '@outrider/domain';

/** Repetitions come within seconds, while a partition changes hands; this is minutes of events. */
const DEFAULT_REMEMBERED = 50_000;

/**
 * Tells events that stand in the log twice: a member of the rules that had lost its partition and did not know it yet may
 * have appended what its successor appends as well, under the same ids. The first place counts, however often it is read.
 */
export class RepeatedEvents {
  readonly #max: number;
  /** Where an event stands first, by partition, id and phase; in the order in which they were first met. */
  readonly #firstOffsets = new Map<string, number>();

  /** @param max so many of the newest are remembered */
  constructor(max = DEFAULT_REMEMBERED) {
    this.#max = max;
  }

  /** True where the same event was met at an earlier place of the partition. */
  isRepetition(partition: number, offset: number, { id, phase }: Pick<FleetEvent, 'id' | 'phase'>): boolean {
    const key = `${partition} ${id} ${phase}`;
    const first = this.#firstOffsets.get(key);
    if (first !== undefined && first < offset) return true;
    if (first === undefined)
      for (const oldest of this.#firstOffsets.keys()) {
        if (this.#firstOffsets.size < this.#max) break;
        this.#firstOffsets.delete(oldest);
      }
    this.#firstOffsets.set(key, offset);
    return false;
  }
}
