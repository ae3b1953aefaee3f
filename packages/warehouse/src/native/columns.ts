import { UnfitRecordError } from '../recorded.ts';
import type { NativeColumn } from './block.ts';

/*
 * Columns are collected in typed arrays and written without conversion: Native is little-endian, and so are all
 * machines that both Node and ClickHouse run on.
 */

type Fixed = Uint8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float64Array | BigUint64Array;

const bytesOf = (array: Fixed): Uint8Array => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** A column of fixed-width values, such as `Int32` in an Int32Array. */
export function fixedColumn(name: string, type: string, values: Fixed): NativeColumn {
  return { name, type, chunks: [bytesOf(values)] };
}

/**
 * A column with an array of fixed-width values per row.
 *
 * @param type type of the values, without `Array`
 * @param values values of all rows, row by row
 */
export function arrayColumn(name: string, type: string, ends: OffsetValues, values: Fixed): NativeColumn {
  return { name, type: `Array(${type})`, chunks: [ends.chunk, bytesOf(values)] };
}

/**
 * A column of fixed-width values that may be missing.
 *
 * @param type type of the values, without `Nullable`
 * @param nulls 1 where the value is missing, one byte per row
 */
export function nullableColumn(name: string, type: string, nulls: Uint8Array, values: Fixed): NativeColumn {
  return { name, type: `Nullable(${type})`, chunks: [nulls, bytesOf(values)] };
}

/** 64-bit signed values, such as Unix milliseconds, from numbers. Stores two halves, to avoid a BigInt per row. */
export class Int64Values {
  readonly #halves: Int32Array;

  constructor(rows: number) {
    this.#halves = new Int32Array(rows * 2);
  }

  /** Clamps to the safe integers; NaN becomes 0. */
  set(row: number, value: number): void {
    const whole = Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.trunc(value) || 0));
    this.#halves[row * 2] = whole | 0;
    this.#halves[row * 2 + 1] = Math.floor(whole / 0x1_0000_0000);
  }

  column(name: string, type: string): NativeColumn {
    return { name, type, chunks: [bytesOf(this.#halves)] };
  }

  nullableColumn(name: string, type: string, nulls: Uint8Array): NativeColumn {
    return { name, type: `Nullable(${type})`, chunks: [nulls, bytesOf(this.#halves)] };
  }
}

/** A UUID in Native format: two 64-bit halves, each little-endian; here as four 32-bit words in that order. */
export type UuidWords = readonly [number, number, number, number];

/** Value of each character of a UUID; 16 for a dash, which is skipped; 17 for an invalid character. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (character === '-') return 16;
  return /[0-9a-fA-F]/.test(character) ? Number.parseInt(character, 16) : 17;
});

/** @throws {UnfitRecordError} when `text` is not a UUID */
export function uuidWords(text: string): UuidWords {
  const words: [number, number, number, number] = [0, 0, 0, 0];
  let digits = 0;
  if (text.length === 36)
    for (let i = 0; i < 36; i++) {
      const digit = DIGITS[text.charCodeAt(i)] ?? 17;
      if (digit === 16) continue;
      if (digit > 16 || digits === 32) throw notUuid(text);
      // The halves are little-endian, so the second word of each precedes its first.
      const word = ((digits >> 3) ^ 1) as 0 | 1 | 2 | 3;
      words[word] = (words[word] << 4) | digit;
      digits++;
    }
  if (digits !== 32) throw notUuid(text);
  return words;
}

/**
 * Parses a UUID from text in bytes, like {@link uuidWords}.
 *
 * @param words receives the result
 * @throws {UnfitRecordError} when it is not a UUID
 */
export function readUuid(source: Buffer, from: number, to: number, words: Uint32Array): void {
  const hasDashes =
    to - from === 36 &&
    source[from + 8] === DASH &&
    source[from + 13] === DASH &&
    source[from + 18] === DASH &&
    source[from + 23] === DASH;
  if (hasDashes) {
    const first = quad(source, from);
    const second = quad(source, from + 4);
    const third = quad(source, from + 9);
    const fourth = quad(source, from + 14);
    const fifth = quad(source, from + 19);
    const sixth = quad(source, from + 24);
    const seventh = quad(source, from + 28);
    const eighth = quad(source, from + 32);
    if ((first | second | third | fourth | fifth | sixth | seventh | eighth) < NO_QUAD) {
      words[0] = (third << 16) | fourth;
      words[1] = (first << 16) | second;
      words[2] = (seventh << 16) | eighth;
      words[3] = (fifth << 16) | sixth;
      return;
    }
  }
  words.set(uuidWords(source.toString('utf8', from, to)));
}

const DASH = 0x2d;
const NO_QUAD = 0x10000;

/** Value of four hexadecimal digits; {@link NO_QUAD} or more if one is invalid. */
function quad(source: Buffer, at: number): number {
  const a = DIGITS[source[at] ?? 0] ?? 17;
  const b = DIGITS[source[at + 1] ?? 0] ?? 17;
  const c = DIGITS[source[at + 2] ?? 0] ?? 17;
  const d = DIGITS[source[at + 3] ?? 0] ?? 17;
  return (a | b | c | d) > 15 ? NO_QUAD : (a << 12) | (b << 8) | (c << 4) | d;
}

function notUuid(text: string): UnfitRecordError {
  return new UnfitRecordError(`${JSON.stringify(text)} is not a UUID`);
}

/** A column of UUIDs. */
export class UuidValues {
  readonly #words: Uint32Array;

  constructor(rows: number) {
    this.#words = new Uint32Array(rows * 4);
  }

  set(row: number, uuid: UuidWords | Uint32Array): void {
    const at = row * 4;
    this.#words[at] = uuid[0] as number;
    this.#words[at + 1] = uuid[1] as number;
    this.#words[at + 2] = uuid[2] as number;
    this.#words[at + 3] = uuid[3] as number;
  }

  column(name: string): NativeColumn {
    return { name, type: 'UUID', chunks: [bytesOf(this.#words)] };
  }

  nullableColumn(name: string, nulls: Uint8Array): NativeColumn {
    return { name, type: 'Nullable(UUID)', chunks: [nulls, bytesOf(this.#words)] };
  }
}

/** Strings of any length, each prefixed by its length (LEB128), as UTF-8 in a growing buffer. */
export class StringValues {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  push(text: string): void {
    // UTF-8 needs at most 3 bytes per UTF-16 unit; a length of up to 2^31 at most 5.
    this.#reserve(text.length * 3 + 5);
    let length = text.length;
    // The byte length is known beforehand only for ASCII, so short texts are written as if it took one byte.
    const written = this.#bytes.write(text, this.#length + 1, 'utf8');
    if (written < 0x80) {
      this.#bytes[this.#length] = written;
      this.#length += written + 1;
      return;
    }
    length = written;
    let prefix = 1;
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) prefix++;
    this.#bytes.copyWithin(this.#length + prefix, this.#length + 1, this.#length + 1 + length);
    while (length > 0x7f) {
      this.#bytes[this.#length++] = (length & 0x7f) | 0x80;
      length >>>= 7;
    }
    this.#bytes[this.#length++] = length;
    this.#length += written;
  }

  #reserve(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + extra));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  get chunk(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  column(name: string): NativeColumn {
    return { name, type: 'String', chunks: [this.chunk] };
  }
}

// Serialization of LowCardinality: its version, and per block the width of the indexes with the flags "has keys of its
// own" and "new dictionary".
const LOW_CARDINALITY_VERSION = 1n;
const INDEXES_UINT32 = 2n;
const OWN_KEYS = 1n << 9n;
const NEW_DICTIONARY = 1n << 10n;
const VERSION_CHUNK = bytesOf(new BigUint64Array([LOW_CARDINALITY_VERSION]));

/** `LowCardinality(String)`: each distinct string once, and an index per value. */
export class LowCardinalityValues {
  readonly #indexOf = new Map<string, number>();
  readonly #keys = new StringValues();
  #indexes: Uint32Array;
  #length = 0;

  constructor(capacity = 64) {
    this.#indexes = new Uint32Array(capacity);
  }

  /** The index of `text`, to be pushed for every value that equals it. */
  index(text: string): number {
    let index = this.#indexOf.get(text);
    if (index === undefined) {
      index = this.#indexOf.size;
      this.#indexOf.set(text, index);
      this.#keys.push(text);
    }
    return index;
  }

  pushIndex(index: number): void {
    if (this.#length === this.#indexes.length) {
      const grown = new Uint32Array(this.#indexes.length * 2);
      grown.set(this.#indexes);
      this.#indexes = grown;
    }
    this.#indexes[this.#length++] = index;
  }

  push(text: string): void {
    this.pushIndex(this.index(text));
  }

  column(name: string): NativeColumn {
    return { name, type: 'LowCardinality(String)', chunks: [VERSION_CHUNK, ...this.#chunks()] };
  }

  /** The values as an array per row. `ends` has, for each row, the number of values up to its end. */
  arrayColumn(name: string, ends: OffsetValues): NativeColumn {
    return { name, type: 'Array(LowCardinality(String))', chunks: [VERSION_CHUNK, ends.chunk, ...this.#chunks()] };
  }

  #chunks(): Uint8Array[] {
    // Where no row has any value, the format has neither dictionary nor indexes.
    if (this.#length === 0) return [];
    const flags = INDEXES_UINT32 | OWN_KEYS | NEW_DICTIONARY;
    return [
      bytesOf(new BigUint64Array([flags, BigInt(this.#indexOf.size)])),
      this.#keys.chunk,
      bytesOf(new BigUint64Array([BigInt(this.#length)])),
      bytesOf(this.#indexes.subarray(0, this.#length)),
    ];
  }
}

/** For each row, where its array ends among the values of all rows (UInt64). */
export class OffsetValues {
  readonly #ends: Uint32Array;

  constructor(rows: number) {
    this.#ends = new Uint32Array(rows * 2);
  }

  set(row: number, end: number): void {
    this.#ends[row * 2] = end;
  }

  get chunk(): Uint8Array {
    return bytesOf(this.#ends);
  }
}
