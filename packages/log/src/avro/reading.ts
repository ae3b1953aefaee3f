import { HEADER_BYTES } from './schema-file.ts';

/*
 * Reader of Avro's binary encoding (Avro 1.11, "Binary encoding") for the hand-written codecs. It reads one record at a
 * time, from front to back, and never beyond the end of the bytes. Each function throws when the bytes do not hold what
 * it reads.
 */

const TWO_28 = 2 ** 28;
let source: Buffer = Buffer.alloc(0);
let cursor = 0;

/** Moves to the first byte after the header of a record. */
export function readFrom(bytes: Buffer): void {
  source = bytes;
  cursor = HEADER_BYTES;
}

/** Offset in the record of the next byte to read. */
export function place(): number {
  return cursor;
}

/** Moves back to an earlier {@link place}. */
export function goTo(earlier: number): void {
  cursor = earlier;
}

/** @throws {Error} when bytes are left */
export function readEnd(): void {
  if (cursor !== source.length) malformed('end');
}

/** @throws {Error} always: the bytes are not a valid record */
export function malformed(what: string): never {
  throw new Error(`not a record: ${what} at byte ${cursor} of ${source.length}`);
}

/** Number of items in the next block of an array or map; 0 ends it. No item takes less than a byte. */
export function readBlock(): number {
  let count = readInt();
  if (count < 0) {
    // A negative count is followed by the block's length in bytes.
    count = -count;
    readLong();
  }
  if (count > source.length - cursor) malformed('count');
  return count;
}

/** Reads the branch of a nullable union: whether a value follows. */
export function readNullable(): boolean {
  const branch = readByte();
  if (branch > 2 || branch === 1) malformed('branch');
  return branch === 2;
}

export function readBoolean(): boolean {
  const byte = readByte();
  if (byte > 1) malformed('boolean');
  return byte === 1;
}

export function readDouble(): number {
  cursor += 8;
  if (cursor > source.length) malformed('double');
  return source.readDoubleLE(cursor - 8);
}

/** Reads four bytes, big-endian. */
export function readWord(): number {
  const at = cursor;
  cursor += 4;
  if (cursor > source.length) malformed('end');
  return (
    ((source[at] ?? 0) << 24) | ((source[at + 1] ?? 0) << 16) | ((source[at + 2] ?? 0) << 8) | (source[at + 3] ?? 0)
  );
}

/** Reads the given number of bytes as hexadecimal digits. */
export function readHex(bytes: number): string {
  const start = cursor;
  cursor += bytes;
  if (cursor > source.length) malformed('end');
  return source.toString('hex', start, cursor);
}

export function readString(): string {
  const start = skipString();
  return source.toString('utf8', start, cursor);
}

/** @returns the {@link place} of the string's first byte; the current place is then its end */
export function skipString(): number {
  const length = readInt();
  const start = cursor;
  cursor += length;
  if (length < 0 || cursor > source.length) malformed('string');
  return start;
}

/** Skips the next string if it equals `text`, which must be ASCII; otherwise reads nothing. */
export function readIfNext(text: string): boolean {
  const { length } = text;
  // Lengths of up to 63 are one byte.
  if (length > 63 || source[cursor] !== length * 2) return false;
  const start = cursor + 1;
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== source[start + i]) return false;
  cursor = start + length;
  return true;
}

/** Cache of names, which repeat often: each is one string, which V8 knows as a property's name already. */
const NAMES = 1024;
const MAX_NAME_LENGTH = 24;
const names: string[] = new Array(NAMES).fill('');

/** Reads a string that has probably been read before. */
export function readName(): string {
  const begin = cursor;
  const length = readInt();
  const start = cursor;
  const end = start + length;
  if (length < 0 || length > MAX_NAME_LENGTH || end > source.length) {
    cursor = begin;
    return readString();
  }
  let hash = length;
  let bits = 0;
  for (let i = start; i < end; i++) {
    const byte = source[i] ?? 0;
    bits |= byte;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const slot = (hash ^ (hash >>> 15)) & (NAMES - 1);
  const known = names[slot] ?? '';
  cursor = end;
  // The bytes equal the characters only in ASCII.
  if (known.length === length && bits < 128) {
    let i = 0;
    while (i < length && known.charCodeAt(i) === source[start + i]) i++;
    if (i === length) return known;
  }
  const name = source.toString('utf8', start, end);
  names[slot] = name;
  return name;
}

/** Reads a single byte unchanged. */
export function readByte(): number {
  return source[cursor++] ?? malformed('end');
}

// The two functions below keep the offset in a local variable, for speed: most of a record is numbers.

export function readInt(): number {
  const bytes = source;
  let at = cursor;
  let byte = bytes[at++] ?? malformed('end');
  let zigzag = byte & 127;
  for (let shift = 7; byte > 127; shift += 7) {
    if (shift > 28) malformed('int');
    byte = bytes[at++] ?? malformed('end');
    zigzag |= (byte & 127) << shift;
  }
  cursor = at;
  return (zigzag >>> 1) ^ -(zigzag & 1);
}

/** Exact up to `MAX_LONG`. */
export function readLong(): number {
  const bytes = source;
  let at = cursor;
  let byte = bytes[at++] ?? malformed('end');
  let low = byte & 127;
  for (let shift = 7; byte > 127 && shift < 28; shift += 7) {
    byte = bytes[at++] ?? malformed('end');
    low |= (byte & 127) << shift;
  }
  // The remaining bits, which bitwise operations can't hold.
  let high = 0;
  for (let place = 1; byte > 127; place *= 128) {
    if (place > TWO_28 * 128) malformed('long');
    byte = bytes[at++] ?? malformed('end');
    high += (byte & 127) * place;
  }
  cursor = at;
  if (high === 0) return (low >>> 1) ^ -(low & 1);
  const half = high * (TWO_28 / 2) + (low >>> 1);
  return low & 1 ? -half - 1 : half;
}
