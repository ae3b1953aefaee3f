import type { DefinitionChange } from '@outrider/domain';
import { definitionRecordsTopic, definitionsTopic, type Log } from '@outrider/log';
import { partitionIn } from './partition-checkpoint.ts';

/** A change with its position in topic `definitions`. */
interface PlacedChange {
  partition: number;
  offset: number;
  change: DefinitionChange;
}

/** Changes of definitions that a partition is to apply, in the order of topic `definitions`. */
export class HeldChanges {
  readonly #log: Log;
  /** Next offset to read, by partition of the topic. */
  readonly #next = new Map<number, number>();
  #held: PlacedChange[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  get all(): DefinitionChange[] {
    return this.#held.map(({ change }) => change);
  }

  /** Resumes from a checkpoint, with the offsets that {@link offsets} returned. */
  restore(offsets: Readonly<Record<string, number>>): void {
    for (const [name, offset] of Object.entries(offsets)) {
      const partition = partitionIn('definitions', name);
      if (partition !== null) this.#next.set(partition, offset);
    }
  }

  /**
   * Reads the newest change of each definition up to now, without holding it. Earlier changes, which may be many and
   * large, are not kept in memory.
   */
  async readNewest(): Promise<DefinitionChange[]> {
    const newest = new Map<string, DefinitionChange>();
    await this.#readOn(({ change }) => {
      const known = newest.get(change.id);
      if (known === undefined || known.version < change.version) newest.set(change.id, change);
    });
    return [...newest.values()];
  }

  /** Reads and holds the changes up to now. */
  readOn(): Promise<void> {
    return this.#readOn((placed) => this.#held.push(placed));
  }

  /** Holds a change, unless it was read before. */
  hold(partition: number, offset: number, change: DefinitionChange): void {
    if (offset < (this.#next.get(partition) ?? 0)) return;
    this.#next.set(partition, offset + 1);
    this.#held.push({ partition, offset, change });
  }

  /** Drops the held changes: they were applied. */
  release(): void {
    this.#held = [];
  }

  /**
   * Offsets for a checkpoint.
   *
   * @param areApplied whether the checkpoint contains the held changes; if not, the offsets are before them
   */
  offsets(areApplied: boolean): Record<string, number> {
    const offsets: Record<string, number> = {};
    for (const [partition, offset] of this.#next) offsets[`definitions/${partition}`] = offset;
    if (areApplied) return offsets;
    for (const { partition, offset } of this.#held) {
      const name = `definitions/${partition}`;
      offsets[name] = Math.min(offset, offsets[name] ?? offset);
    }
    return offsets;
  }

  async #readOn(take: (placed: PlacedChange) => void): Promise<void> {
    for (const [partition, end] of await this.#log.endOffsets(definitionsTopic)) {
      const from = this.#next.get(partition) ?? 'earliest';
      if (from !== 'earliest' && from >= end) continue;
      for await (const { records } of this.#log.read(definitionRecordsTopic, partition, from, end))
        for (const { offset, value } of records)
          if (value.change !== null) take({ partition, offset, change: value.change });
      this.#next.set(partition, end);
    }
  }
}
