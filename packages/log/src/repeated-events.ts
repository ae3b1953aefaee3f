import type { FleetEvent } from '@outrider/domain';

/** Number of events to remember. Repetitions come within seconds of a partition's reassignment; this covers minutes. */
const DEFAULT_REMEMBERED = 50_000;

/**
 * Detects events that are in the log twice. A rules member that has lost its partition without knowing it yet may
 * append the same events as its successor, under the same ids. The first occurrence counts, however often it is read.
 */
export class RepeatedEvents {
  readonly #max: number;
  /**
   * First offset of each event, by partition, id and phase, in two generations: recent ones and those before. The older
   * generation is dropped as a whole. (Deleting the oldest entries of one map one by one gets slower with their number,
   * because the map's iterator steps over deleted ones.)
   */
  #firstOffsets = new Map<string, number>();
  #olderOffsets = new Map<string, number>();

  /** @param max number of events per generation; two generations are remembered */
  constructor(max = DEFAULT_REMEMBERED) {
    this.#max = max;
  }

  /** Whether the same event was found at an earlier offset of the partition. */
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
