import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { MAX_RECORD_BYTES } from '../log.ts';

/*
 * A row of a partition's table holds either plain records, as one commit wrote them, each prefixed by its length, or
 * the records of several such rows, compressed together. The first four bytes distinguish the two: in a plain row they
 * are the length of a record, which is never {@link MARK}.
 *
 *     uint32  MARK
 *     uint32  number of commits that the records are of
 *     uint32  decompressed length of the rest, in bytes
 *     bytes   a zstd frame: the plain records of all commits, then for each commit
 *               uint32  number of records that it wrote
 *               int32   milliseconds by which it precedes the row's `written_at_ms`
 *
 * All numbers are little-endian. `written_at_ms` is the time of the newest commit.
 */

/** Plain records that one commit wrote. */
export interface Commit {
  count: number;
  writtenAtMs: number;
  records: Uint8Array;
}

const MARK = 0xffff_ffff;
const HEADER_BYTES = 12;
const COMMIT_BYTES = 8;
/** Exceeds {@link MAX_RECORD_BYTES} with its framing, and the total of the commits that one row takes. */
const MAX_PLAIN_BYTES = 4 * MAX_RECORD_BYTES;
const MAX_AGE_MS = 2 ** 31 - 1;

/**
 * The fastest level. With one position a packet it takes 45 bytes a position, where level 3 has 39, for a third of the
 * time.
 */
const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 };

/** @param commits in the order of their offsets, at least one. The row's `writtenAtMs` is that of the newest. */
export function compress(commits: readonly Commit[]): { writtenAtMs: number; stored: Buffer } {
  const writtenAtMs = Math.max(...commits.map((commit) => commit.writtenAtMs));
  const recordBytes = commits.reduce((sum, { records }) => sum + records.length, 0);
  const plain = Buffer.allocUnsafe(recordBytes + COMMIT_BYTES * commits.length);
  let at = 0;
  for (const { records } of commits) {
    plain.set(records, at);
    at += records.length;
  }
  for (const commit of commits) {
    at = plain.writeUInt32LE(commit.count, at);
    at = plain.writeInt32LE(Math.min(writtenAtMs - commit.writtenAtMs, MAX_AGE_MS), at);
  }
  const frame = zstdCompressSync(plain, { params: PARAMETERS, chunkSize: Math.max(plain.length, 1024) });
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(MARK, 0);
  header.writeUInt32LE(commits.length, 4);
  header.writeUInt32LE(plain.length, 8);
  return { writtenAtMs, stored: Buffer.concat([header, frame]) };
}

export function isCompressed(stored: Uint8Array): boolean {
  return stored.length >= HEADER_BYTES && viewOf(stored).readUInt32LE(0) === MARK;
}

/**
 * Returns the plain records of a row, compressed or not.
 *
 * @throws {Error} when {@link compress} did not make the row
 */
export function recordsOf(stored: Uint8Array): Buffer {
  return isCompressed(stored) ? decompress(stored).records : viewOf(stored);
}

/** Time at which the `index`-th record of a row was written. */
export function writtenAtOf(stored: Uint8Array, rowWrittenAtMs: number, index: number): number {
  let end = 0;
  for (const { count, ageMs } of commitsOf(stored)) {
    end += count;
    if (index < end) return rowWrittenAtMs - ageMs;
  }
  return rowWrittenAtMs;
}

/** Index in its row of the first record written at or after a time; 0 if the row is plain. */
export function firstWrittenSince(stored: Uint8Array, rowWrittenAtMs: number, atMs: number): number {
  let index = 0;
  for (const { count, ageMs } of commitsOf(stored)) {
    if (rowWrittenAtMs - ageMs >= atMs) return index;
    index += count;
  }
  return 0;
}

function* commitsOf(stored: Uint8Array): Iterable<{ count: number; ageMs: number }> {
  if (!isCompressed(stored)) return;
  const { commits } = decompress(stored);
  for (let at = 0; at < commits.length; at += COMMIT_BYTES)
    yield { count: commits.readUInt32LE(at), ageMs: commits.readInt32LE(at + 4) };
}

function decompress(stored: Uint8Array): { records: Buffer; commits: Buffer } {
  const view = viewOf(stored);
  const commitBytes = COMMIT_BYTES * view.readUInt32LE(4);
  const plainBytes = view.readUInt32LE(8);
  if (plainBytes > MAX_PLAIN_BYTES || commitBytes > plainBytes)
    throw new Error(`a compressed row of ${plainBytes} bytes, ${commitBytes} of them for its commits`);
  const plain = zstdDecompressSync(view.subarray(HEADER_BYTES), {
    // Larger than the data, so that decompression needs only one chunk, which is not copied.
    chunkSize: plainBytes + 64,
    maxOutputLength: plainBytes + 64,
  });
  if (plain.length !== plainBytes) throw new Error(`a compressed row of ${plain.length} bytes, not ${plainBytes}`);
  const end = plainBytes - commitBytes;
  return { records: plain.subarray(0, end), commits: plain.subarray(end) };
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
