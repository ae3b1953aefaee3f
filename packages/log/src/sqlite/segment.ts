/** Consecutive records of one partition to be written to the file: as one row, or a row each in a compacted topic. */
export interface Segment {
  topic: string;
  partition: number;
  /** The records' keys, where the topic is compacted. */
  keys: string[] | null;
  count: number;
  /** Records, each prefixed by its length, a little-endian uint32. */
  bytes: ArrayBuffer;
  /** Number of bytes that are used by records. */
  usedBytes: number;
}

/** A segment of a topic that is not compacted, as it is in the file. */
export interface WrittenRow {
  baseOffset: number;
  count: number;
  /** Records, each prefixed by its length, as in {@link Segment}. */
  bytes: Uint8Array;
}

/** Maximum size of a segment, unless one record is longer: a reader loads a segment into memory at a time. */
export const SEGMENT_BYTES = 512 * 1024;

/**
 * Up to this size, a segment's records are copied to the writer, and from there to readers. V8 counts transferred
 * memory as allocated by the receiving thread, so transferring half a megabyte for a few packets would trigger garbage
 * collection again and again.
 */
export const COPIED_BYTES = 64 * 1024;

/** Length of a record's prefix. */
export const PREFIX_BYTES = 4;

/** Appends a record. The segment must have space for it and its prefix. */
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
 * @throws {RangeError} when the bytes end before the record does
 */
export function recordAt(bytes: Buffer, at: number): Buffer {
  const begin = at + PREFIX_BYTES;
  const end = begin + bytes.readUInt32LE(at);
  if (end > bytes.length) throw new RangeError(`a record of ${end - begin} bytes in ${bytes.length - begin}`);
  return bytes.subarray(begin, end);
}
