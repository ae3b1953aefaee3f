import { toInt, toLong } from './numbers.ts';
import { HEADER_BYTES } from './schema-file.ts';

/*
 * Avro's binary encoding (Avro 1.11, "Binary encoding"), for the codecs that are written by hand: records are written
 * one behind the other into a slab, and handed out as views of it. One record is in hand at a time.
 */

/** Bytes reserved before each value of a bounded size is written; {@link writeString} leaves as many behind it. */
export const RESERVED_BYTES = 256;

const SLAB_BYTES = 256 * 1024;
const TWO_28 = 2 ** 28;
/**
 * Up to here characters are written one by one, beyond it by a call of the runtime's, which costs as much as a few of
 * them.
 */
const SHORT = 16;
/** The length of fewer bytes takes one. */
const ONE_BYTE = 64;
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
/** Where the record in hand begins, and where its next byte goes. */
let begin = 0;
let at = 0;

/** Begins a record with its header, and discards one that was not ended. Leaves {@link RESERVED_BYTES} behind it. */
export function beginRecord(header: Buffer): void {
  begin = at;
  reserve(HEADER_BYTES + RESERVED_BYTES);
  slab.set(header, at);
  at += HEADER_BYTES;
}

/**
 * @returns a view of memory that the record shares with others: to be copied or sent, not to be written to or kept for
 * long
 */
export function endRecord(): Buffer {
  return slab.subarray(begin, at);
}

/** Reserves `bytes` more. When the slab is full, moves the current record to a new one. */
export function reserve(bytes: number): void {
  if (at + bytes <= slab.length) return;
  const written = at - begin;
  const next = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * (written + bytes)));
  slab.copy(next, 0, begin, at);
  slab = next;
  begin = 0;
  at = written;
}

/** A byte as it is: a boolean, a union's branch where it is less than 64 (doubled), the end of an array or map. */
export function writeByte(byte: number): void {
  slab[at++] = byte;
}

/** @param value an int of 32 bits */
export function writeInt(value: number): void {
  writeUnsigned(((value << 1) ^ (value >> 31)) >>> 0);
}

/** The nearest int to a value by a scale, see {@link toInt}. */
export function writeScaled(value: number, scale: number): void {
  writeInt(toInt(value * scale));
}

/** The nearest long there is, see {@link toLong}. */
export function writeLong(value: number): void {
  const whole = toLong(value);
  const zigzag = whole >= 0 ? whole * 2 : -whole * 2 - 1;
  if (zigzag < TWO_28) {
    writeUnsigned(zigzag);
    return;
  }
  const high = Math.floor(zigzag / TWO_28);
  const low = zigzag - high * TWO_28;
  const bytes = slab;
  let end = at;
  bytes[end++] = (low & 127) | 128;
  bytes[end++] = ((low >>> 7) & 127) | 128;
  bytes[end++] = ((low >>> 14) & 127) | 128;
  bytes[end++] = (low >>> 21) | 128;
  at = end;
  writeUnsigned(high);
}

/** @param value of 32 bits at most */
function writeUnsigned(value: number): void {
  const bytes = slab;
  let end = at;
  let rest = value;
  while (rest > 127) {
    bytes[end++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  at = end;
}

export function writeDouble(value: number): void {
  at = slab.writeDoubleLE(value, at);
}

/** @param digits hexadecimal, of exactly so many bytes. @throws {Error} when they are not */
export function writeHex(digits: string, bytes: number): void {
  if (digits.length !== 2 * bytes || slab.write(digits, at, 'hex') !== bytes)
    throw new Error(`${JSON.stringify(digits)} is not ${bytes} bytes in hexadecimal digits`);
  at += bytes;
}

/** A union of null and something, which `write` writes where it is there. */
export function writeNullable<T>(value: T | null, write: (value: T) => void): void {
  writeByte(value === null ? 0 : 2);
  if (value !== null) write(value);
}

/** The four bytes of a word, the highest first. */
export function writeWord(word: number): void {
  slab[at++] = word >>> 24;
  slab[at++] = word >>> 16;
  slab[at++] = word >>> 8;
  slab[at++] = word;
}

/** Reserves its own bytes. A lone surrogate becomes the replacement character. */
export function writeString(text: string): void {
  const { length } = text;
  reserve(2 * RESERVED_BYTES + 3 * length);
  if (length < SHORT) {
    // A name: one byte for its length, one for each character, where it is ASCII.
    const start = at;
    slab[at++] = length << 1;
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      slab[at++] = code;
    }
    if (i === length) return;
    at = start;
  }
  if (length < ONE_BYTE) {
    // An id: written before it is known how many bytes it takes.
    const bytes = slab.write(text, at + 1);
    if (bytes < ONE_BYTE) {
      slab[at] = bytes << 1;
      at += 1 + bytes;
      return;
    }
  }
  writeInt(Buffer.byteLength(text));
  at += slab.write(text, at);
}
