import { BitWriter } from './bit-writer.ts';

/** Side of a block in pixels: pictures consist of whole blocks. */
export const BLOCK = 16;

/** A picture in 4:2:0: one luma byte per pixel, and one byte of each chroma plane per four pixels. */
export interface Picture {
  width: number;
  height: number;
  luma: Uint8Array;
  blue: Uint8Array;
  red: Uint8Array;
}

const NAL = { slice: 0x21, keySlice: 0x65, sps: 0x67, pps: 0x68 };
const BASELINE = 66;
/** Constraint flags 0 and 1: compatible with every decoder of the baseline and main profiles. */
const CONSTRAINTS = 0xc0;
const LEVEL = 30;
export const FRAME_NUMBER_BITS = 8;
/** Slice types of pictures whose slices all have the same type, and block types of raw samples in each. */
const ALL_I = 7;
const ALL_P = 5;
export const PLAIN_BLOCK_IN_I = 25;
export const PLAIN_BLOCK_IN_P = 5 + PLAIN_BLOCK_IN_I;

/**
 * An H.264 encoder whose output any decoder reads, and which needs no other program. Blocks are raw samples (I_PCM);
 * between key pictures, unchanged blocks are skipped. Decoding is therefore lossless. Baseline profile, one reference
 * picture, no deblocking filter.
 */
export class PlainH264Encoder {
  readonly #width: number;
  readonly #height: number;
  #last: Picture | null = null;
  #frameNumber = 0;
  #keyCount = 0;

  /** @throws {RangeError} when a side is not a multiple of 16 */
  constructor(width: number, height: number) {
    if (width % BLOCK !== 0 || height % BLOCK !== 0)
      throw new RangeError(`${width} × ${height} is not made of whole blocks`);
    this.#width = width;
    this.#height = height;
  }

  /**
   * Encodes the next picture, in the form of Annex B. A key picture includes its parameter sets. The first must be a
   * key picture.
   */
  encode(picture: Picture, key: boolean): Buffer {
    const last = key ? null : this.#last;
    if (!key && last === null) throw new Error('the first picture is a key picture');
    this.#frameNumber = key ? 0 : (this.#frameNumber + 1) % 2 ** FRAME_NUMBER_BITS;
    const bits = new BitWriter();
    bits
      .unsigned(0)
      .unsigned(key ? ALL_I : ALL_P)
      .unsigned(0)
      .bits(this.#frameNumber, FRAME_NUMBER_BITS);
    if (key) {
      // idr_pic_id: must differ between two consecutive key pictures.
      bits.unsigned(this.#keyCount++ % 2).bits(0b00, 2);
    } else {
      // Default reference picture in default order, without marking of others.
      bits.bits(0b000, 3);
    }
    bits.signed(0).unsigned(1);

    let skipped = 0;
    const across = this.#width / BLOCK;
    const blocks = across * (this.#height / BLOCK);
    for (let block = 0; block < blocks; block++) {
      const x = (block % across) * BLOCK;
      const y = Math.floor(block / across) * BLOCK;
      if (last !== null && isSame(picture, last, x, y)) {
        skipped++;
        continue;
      }
      if (!key) bits.unsigned(skipped);
      skipped = 0;
      bits.unsigned(key ? PLAIN_BLOCK_IN_I : PLAIN_BLOCK_IN_P).align();
      writeSamples(bits, picture, x, y);
    }
    if (skipped > 0) bits.unsigned(skipped);
    this.#last = { ...picture, luma: picture.luma.slice(), blue: picture.blue.slice(), red: picture.red.slice() };

    const slice = unit(key ? NAL.keySlice : NAL.slice, bits.end());
    return key ? Buffer.concat([this.#sequenceParameters(), pictureParameters(), slice]) : slice;
  }

  #sequenceParameters(): Buffer {
    const bits = new BitWriter().bits(BASELINE, 8).bits(CONSTRAINTS, 8).bits(LEVEL, 8).unsigned(0);
    // Output order is decoding order; one reference picture, no gaps.
    bits
      .unsigned(FRAME_NUMBER_BITS - 4)
      .unsigned(2)
      .unsigned(1)
      .bits(0, 1);
    bits.unsigned(this.#width / BLOCK - 1).unsigned(this.#height / BLOCK - 1);
    // Frames only, with the direct inference that frames require, no cropping, no usability information.
    return unit(NAL.sps, bits.bits(0b1100, 4).end());
  }
}

function pictureParameters(): Buffer {
  const bits = new BitWriter().unsigned(0).unsigned(0);
  // Variable-length codes, no field order, one slice group, one reference picture per list.
  bits.bits(0b00, 2).unsigned(0).unsigned(0).unsigned(0);
  // No weighting; default quantizers; slices control the deblocking filter (and disable it).
  bits.bits(0b000, 3).signed(0).signed(0).signed(0).bits(0b100, 3);
  return unit(NAL.pps, bits.end());
}

function isSame(one: Picture, other: Picture, x: number, y: number): boolean {
  for (let row = y; row < y + BLOCK; row++) {
    const at = row * one.width + x;
    for (let i = at; i < at + BLOCK; i++) if (one.luma[i] !== other.luma[i]) return false;
  }
  for (let row = y / 2; row < (y + BLOCK) / 2; row++) {
    const at = (row * one.width + x) / 2;
    for (let i = at; i < at + BLOCK / 2; i++)
      if (one.blue[i] !== other.blue[i] || one.red[i] !== other.red[i]) return false;
  }
  return true;
}

function writeSamples(bits: BitWriter, picture: Picture, x: number, y: number): void {
  for (let row = y; row < y + BLOCK; row++) {
    const at = row * picture.width + x;
    bits.bytes(picture.luma.subarray(at, at + BLOCK));
  }
  for (const colour of [picture.blue, picture.red])
    for (let row = y / 2; row < (y + BLOCK) / 2; row++) {
      const at = (row * picture.width + x) / 2;
      bits.bytes(colour.subarray(at, at + BLOCK / 2));
    }
}

/** Builds a unit with its start code and its emulation prevention bytes. */
function unit(header: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(5 + payload.length + Math.ceil(payload.length / 2));
  let p = bytes.writeUInt32BE(1, 0);
  bytes[p++] = header;
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      bytes[p++] = 3;
      zeros = 0;
    }
    bytes[p++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(bytes.subarray(0, p));
}
