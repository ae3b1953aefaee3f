import type { Bounds, Discontinuity, ReaderPlace, Resumption } from './log.ts';

/** Current state of the partition in which a reader is to resume. */
export interface PartitionNow {
  topic: string;
  partition: number;
  /** Whether compaction removes records: a missing record is then no loss. */
  compacted: boolean;
  bounds: Bounds;
  identity: string;
  /**
   * Offset up to which the records are those that the log had under an earlier identity.
   *
   * @returns null if it never had that identity
   */
  sharedWith(identity: string): Promise<number | null>;
}

/** Decides where a reader resumes, for all adapters and all readers. */
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
    // The point of truncation is not known: records below the offset may differ from those that were read.
    if (saved.offset > bounds.end) return begin('truncated', bounds.earliest);
  } else {
    const shared = await now.sharedWith(saved.identity);
    if (shared === null) return begin('replaced', bounds.earliest);
    if (saved.offset > shared) return begin('truncated', shared);
  }
  if (saved.offset < bounds.earliest && !compacted) return begin('removed', bounds.earliest);
  return { offset: saved.offset, identity, discontinuity: null };
}
