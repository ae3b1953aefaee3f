import { toInt, toLong } from './numbers.ts';
import { HEADER_BYTES } from './schema-file.ts';

/*
 * Writer of Avro's binary encoding (Avro 1.11, "Binary encoding") for the hand-written codecs. Records are written one
 * after the other into a slab, and returned as views of it. Only one record is under construction at a time.
 */

/**
 * Bytes reserved before each value of a bounded size is written. {@link writeString} leaves the same number after it.
 */
export const RESERVED_BYTES = 256;

const SLAB_BYTES = 256 * 1024;
const TWO_28 = 2 ** 28;
/**
 * Strings up to this length are written character by character. Longer ones use a call of the runtime, which costs as
 * much as a few characters.
 */
const SHORT = 16;
/** A string of fewer bytes has a length prefix of one byte. */
const ONE_BYTE = 64;
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
/** Where the current record begins, and where its next byte goes. */
let begin = 0;
let at = 0;

/** Begins a record with its header, discarding an unfinished one. Leaves {@link RESERVED_BYTES} after it. */
export function beginRecord(header: Buffer): void {
  begin = at;
  reserve(HEADER_BYTES + RESERVED_BYTES);
  slab.set(header, at);
  at += HEADER_BYTES;
}

/**
 * @returns a view of memory shared with other records: it may be copied or sent, but not written to or kept for long
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

/** Writes one byte unchanged: a boolean, a union's branch below 64 (doubled), or the end of an array or map. */
export function writeByte(byte: number): void {
  slab[at++] = byte;
}

/** @param value a 32-bit int */
export function writeInt(value: number): void {
  writeUnsigned(((value << 1) ^ (value >> 31)) >>> 0);
}

/** Writes the scaled value as the nearest int, see {@link toInt}. */
export function writeScaled(value: number, scale: number): void {
  writeInt(toInt(value * scale));
}

/** Writes the nearest long, see {@link toLong}. */
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

/** @param value at most 32 bits */
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

/** @param digits hexadecimal, of exactly `bytes` bytes. @throws {Error} when they are not */
export function writeHex(digits: string, bytes: number): void {
  if (digits.length !== 2 * bytes || slab.write(digits, at, 'hex') !== bytes)
    throw new Error(`${JSON.stringify(digits)} is not ${bytes} bytes in hexadecimal digits`);
  at += bytes;
}

/** Writes a nullable union. `write` writes the value unless it is null. */
export function writeNullable<T>(value: T | null, write: (value: T) => void): void {
  writeByte(value === null ? 0 : 2);
  if (value !== null) write(value);
}

/** Writes four bytes, big-endian. */
export function writeWord(word: number): void {
  slab[at++] = word >>> 24;
  slab[at++] = word >>> 16;
  slab[at++] = word >>> 8;
  slab[at++] = word;
}

/** Reserves its own bytes. Replaces a lone surrogate by the replacement character. */
export function writeString(text: string): void {
  const { length } = text;
  reserve(2 * RESERVED_BYTES + 3 * length);
  if (length < SHORT) {
    // Short strings are mostly ASCII names: one byte for the length, one for each character.
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
    // Strings of this length are mostly ids: written before their length in bytes is known.
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
