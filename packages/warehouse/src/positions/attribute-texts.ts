import type { NativeColumn } from '../native/block.ts';

/** Size of the hash table of a position's names; a power of two. */
const NAMES = 512;
/** At most half of the table is used, so that a free slot is found quickly. */
const MAX_NAMES = NAMES / 2;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const BRACE = 0x7b;
const END_BRACE = 0x7d;

/** 1 for characters that JSON has unchanged: printable ASCII without quotes and backslashes. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x20 && code < 0x7f && !'"\\'.includes(String.fromCharCode(code)) ? 1 : 0,
);
/** Integers below this are written digit by digit. */
const MAX_DIGITS = 1e9;
/** Maximum length of a number as text. */
const NUMBER_BYTES = 32;

/**
 * A column of attributes as JSON, written byte by byte. The result equals that of `JSON.stringify` for an object with
 * the same attributes. Each text is prefixed by its length (LEB128).
 */
export class AttributeTexts {
  #bytes: Buffer;
  #length = 0;
  /** Start of the current text, including the byte of its length. */
  #start = 0;
  #count = 0;
  /** Hash table of the position's names, by hash. */
  readonly #hashes = new Int32Array(NAMES);
  /** The position that wrote each slot: slots of earlier ones need not be cleared. */
  readonly #writtenBy = new Int32Array(NAMES);
  #position = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  column(name: string): NativeColumn {
    return { name, type: 'String', chunks: [this.#bytes.subarray(0, this.#length)] };
  }

  /** Adds a position without attributes. */
  none(): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = 0;
  }

  begin(): void {
    this.#position++;
    this.#count = 0;
    this.#reserve(2);
    this.#start = this.#length++;
    this.#bytes[this.#length++] = BRACE;
  }

  /**
   * @param hash of the name
   * @returns false if an object might be written differently: an object has numeric names first and repeated names
   *   once, and some characters are escaped
   */
  name(source: Buffer, from: number, to: number, hash: number): boolean {
    const first = source[from] ?? 0;
    if ((first >= ZERO && first <= ZERO + 9) || !this.#isNew(hash)) return false;
    this.#reserve(to - from + 4);
    if (this.#count++ > 0) this.#bytes[this.#length++] = COMMA;
    if (!this.#quote(source, from, to)) return false;
    this.#bytes[this.#length++] = COLON;
    return true;
  }

  boolean(value: boolean): void {
    this.#reserve(NUMBER_BYTES);
    this.#ascii(value ? 'true' : 'false');
  }

  number(value: number): void {
    this.#reserve(NUMBER_BYTES);
    if ((value | 0) === value && value > -MAX_DIGITS && value < MAX_DIGITS) {
      this.#whole(value);
      return;
    }
    const thousandths = Math.round(value * 1000);
    // For such a number the decimal digits up to thousandths are the shortest text that parses to it.
    if (thousandths > 0 && thousandths < MAX_DIGITS && thousandths / 1000 === value) this.#thousandths(thousandths);
    else this.#ascii(Number.isFinite(value) ? String(value) : 'null');
  }

  text(source: Buffer, from: number, to: number): void {
    this.#reserve(to - from + 2);
    const start = this.#length;
    if (this.#quote(source, from, to)) return;
    this.#length = start;
    const json = JSON.stringify(source.toString('utf8', from, to));
    this.#reserve(json.length * 3);
    this.#length += this.#bytes.write(json, this.#length, 'utf8');
  }

  end(): void {
    this.#reserve(8);
    this.#bytes[this.#length++] = END_BRACE;
    this.#writeLength();
  }

  /** Writes the complete text of the current position, replacing what was written of it. */
  whole(json: string): void {
    this.#length = this.#start + 1;
    this.#reserve(json.length * 3 + 8);
    this.#length += this.#bytes.write(json, this.#length, 'utf8');
    this.#writeLength();
  }

  /** If the length needs more than the one reserved byte, moves the text. */
  #writeLength(): void {
    const bytes = this.#bytes;
    let at = this.#start;
    let length = this.#length - at - 1;
    if (length > 0x7f) {
      let more = 0;
      for (let rest = length >>> 7; rest > 0; rest >>>= 7) more++;
      bytes.copyWithin(at + 1 + more, at + 1, this.#length);
      this.#length += more;
      for (; length > 0x7f; length >>>= 7) bytes[at++] = (length & 0x7f) | 0x80;
    }
    bytes[at] = length;
  }

  // Callers of these have reserved the space.

  #ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length++] = text.charCodeAt(i);
  }

  #whole(value: number): void {
    const bytes = this.#bytes;
    let at = this.#length;
    let rest = Math.abs(value) | 0;
    if (value < 0) bytes[at++] = MINUS;
    let digits = 1;
    for (let bound = 10; bound <= rest; bound *= 10) digits++;
    this.#length = at + digits;
    for (at += digits - 1; digits > 0; digits--) {
      const tenth = (rest / 10) | 0;
      bytes[at--] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
  }

  #thousandths(thousandths: number): void {
    const whole = (thousandths / 1000) | 0;
    this.#whole(whole);
    const bytes = this.#bytes;
    bytes[this.#length++] = POINT;
    let rest = thousandths - whole * 1000;
    for (let unit = 100; rest > 0; unit /= 10) {
      const digit = (rest / unit) | 0;
      bytes[this.#length++] = ZERO + digit;
      rest -= digit * unit;
    }
  }

  /** @returns whether JSON needs no escapes for the text */
  #quote(source: Buffer, from: number, to: number): boolean {
    const bytes = this.#bytes;
    let at = this.#length;
    let plain = 1;
    bytes[at++] = QUOTE;
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      plain &= IS_PLAIN[byte] ?? 0;
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.#length = at;
    return plain === 1;
  }

  #isNew(hash: number): boolean {
    if (this.#count >= MAX_NAMES) return false;
    for (let at = (hash ^ (hash >>> 15)) & (NAMES - 1); ; at = (at + 1) & (NAMES - 1)) {
      if (this.#writtenBy[at] !== this.#position) {
        this.#writtenBy[at] = this.#position;
        this.#hashes[at] = hash;
        return true;
      }
      if (this.#hashes[at] === hash) return false;
    }
  }

  #reserve(extra: number): void {
    if (this.#length + extra <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + extra));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
