import type { FleetEvent } from '@outrider/domain';

/** Repetitions come within seconds, while a partition changes hands; this is minutes of events. */
const DEFAULT_REMEMBERED = 50_000;

/**
 * Detects events that are in the log twice: a member of the rules that had lost its partition and did not know it yet
 * may have appended what its successor appends as well, under the same ids. The first place counts, however often it is
 * read.
 */
export class RepeatedEvents {
  readonly #max: number;
  /**
   * Where an event stands first, by partition, id and phase. What was met of late, and what before it: the older are
   * forgotten as a whole. (Taking the oldest out of one map, one by one, costs more the more are in it: it steps over
   * those that were taken before.)
   */
  #firstOffsets = new Map<string, number>();
  #olderOffsets = new Map<string, number>();

  /** @param max so many of the newest are remembered, and up to as many before them */
  constructor(max = DEFAULT_REMEMBERED) {
    this.#max = max;
  }

  /** True where the same event was met at an earlier place of the partition. */
  isRepetition(partition: number, offset: number, { id, phase }: Pick<FleetEvent, 'id' | 'phase'>): boolean {
    const key = `${partition} ${id} ${phase}`;
    const first = this.#firstOffsets.get(key) ?? this.#olderOffsets.get(key);
    if (first !== undefined && first < offset) return true;
    if (this.#firstOffsets.size >= this.#max && !this.#firstOffsets.has(key)) {
      this.#olderOffsets = this.#firstOffsets;
      this.#firstOffsets = new Map();
    }
    this.#firstOffsets.set(key, offset);
    return false;
  }
}
