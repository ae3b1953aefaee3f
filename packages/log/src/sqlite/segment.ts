/**
 * Consecutive records of one partition on their way into the file: one row there, or a row each in a compacted topic.
 */
export interface Segment {
  topic: string;
  partition: number;
  /** The records' keys, where the topic is compacted. */
  keys: string[] | null;
  count: number;
  /** Each record behind its length, a little-endian uint32. */
  bytes: ArrayBuffer;
  /** How many of the bytes are records. */
  usedBytes: number;
}

/** A segment of a topic that is not compacted, as it is in the file. */
export interface WrittenRow {
  baseOffset: number;
  count: number;
  /** Each record behind its length, as in {@link Segment}. */
  bytes: Uint8Array;
}

/** A segment holds as much, or one longer record: a reader takes a segment into memory at a time. */
export const SEGMENT_BYTES = 512 * 1024;

/**
 * Up to this, a segment's records go to the writer, and from there to readers, as a copy: each thread counts what is
 * handed over to it as memory that it took, so half a megabyte for a few packets would have it collect garbage again
 * and again.
 */
export const COPIED_BYTES = 64 * 1024;

/** What lies before each record. */
export const PREFIX_BYTES = 4;

/** Puts a record behind the others. The segment must have space for it and its prefix. */
export function pushRecord(segment: Segment, target: Buffer, record: Uint8Array, key: string | null): void {
  const at = segment.usedBytes;
  const { length } = record;
  target[at] = length;
  target[at + 1] = length >>> 8;
  target[at + 2] = length >>> 16;
  target[at + 3] = length >>> 24;
  target.set(record, at + PREFIX_BYTES);
  segment.usedBytes = at + PREFIX_BYTES + length;
  segment.count++;
  if (key !== null) segment.keys?.push(key);
}

/**
 * The record whose prefix is at `at`: it ends at `at + PREFIX_BYTES + length`.
 *
 * @throws {RangeError} when the bytes end before it does
 */
export function recordAt(bytes: Buffer, at: number): Buffer {
  const begin = at + PREFIX_BYTES;
  const end = begin + bytes.readUInt32LE(at);
  if (end > bytes.length) throw new RangeError(`a record of ${end - begin} bytes in ${bytes.length - begin}`);
  return bytes.subarray(begin, end);
}
