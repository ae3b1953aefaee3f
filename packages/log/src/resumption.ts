import type { Bounds, Discontinuity, ReaderPlace, Resumption } from './log.ts';

/** The log that a reader is to go on in, as far as one partition is concerned. */
export interface PartitionNow {
  topic: string;
  partition: number;
  /** Whether records in between are removed as a matter of course: then a missing one is no loss. */
  compacted: boolean;
  bounds: Bounds;
  identity: string;
  /**
   * Offset up to which the records are those that the log had under an earlier identity.
   *
   * @returns null where they never were
   */
  sharedWith(identity: string): Promise<number | null>;
}

/** Where a reader goes on. The one place that decides it, for all adapters and all readers. */
export async function resumptionOf(now: PartitionNow, reader: string, saved: ReaderPlace | null): Promise<Resumption> {
  const { topic, partition, compacted, bounds, identity } = now;
  if (saved === null) return { offset: bounds.earliest, identity, discontinuity: null };
  const begin = (kind: Discontinuity['kind'], from: number): Resumption => {
    const offset = Math.max(from, bounds.earliest);
    return {
      offset,
      identity,
      discontinuity: { kind, reader, topic, partition, savedOffset: saved.offset, offset },
    };
  };
  if (saved.identity === null || saved.identity === identity) {
    // Where it was cut is not known: what now stands below the offset need not be what was read.
    if (saved.offset > bounds.end) return begin('truncated', bounds.earliest);
  } else {
    const shared = await now.sharedWith(saved.identity);
    if (shared === null) return begin('replaced', bounds.earliest);
    if (saved.offset > shared) return begin('truncated', shared);
  }
  if (saved.offset < bounds.earliest && !compacted) return begin('removed', bounds.earliest);
  return { offset: saved.offset, identity, discontinuity: null };
}
