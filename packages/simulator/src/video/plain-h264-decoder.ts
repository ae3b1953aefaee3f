import { BLOCK, FRAME_NUMBER_BITS, type Picture, PLAIN_BLOCK_IN_I, PLAIN_BLOCK_IN_P } from './plain-h264.ts';

const TYPE = { slice: 1, keySlice: 5, sps: 7 };

/**
 * Decodes the output of `PlainH264Encoder`, and no other H.264: blocks of raw samples, and unchanged blocks. It allows
 * the pictures of a file to be viewed where no other decoder is installed.
 */
export class PlainH264Decoder {
  #size: { width: number; height: number } | null = null;
  #last: Picture | null = null;

  /**
   * @param units of one picture, with their header bytes, without start codes or lengths
   * @throws {Error} when they contain syntax that the encoder does not produce
   */
  decode(units: readonly Uint8Array[]): Picture | null {
    let picture: Picture | null = null;
    for (const unit of units) {
      const type = (unit[0] ?? 0) & 0x1f;
      if (type === TYPE.sps) this.#size = readSize(unit);
      else if (type === TYPE.keySlice || type === TYPE.slice) picture = this.#decodeSlice(unit, type === TYPE.keySlice);
    }
    if (picture !== null) this.#last = picture;
    return picture;
  }

  #decodeSlice(unit: Uint8Array, key: boolean): Picture {
    const size = this.#size;
    if (size === null) throw new Error('a picture before its parameter set');
    const { width, height } = size;
    const picture = key || this.#last === null ? blank(width, height) : copyOf(this.#last);
    const bits = new Bits(unit);
    bits.expect(0, 'the first block');
    bits.unsigned();
    bits.expect(0, 'the parameter set');
    bits.bits(FRAME_NUMBER_BITS);
    if (key) {
      bits.unsigned();
      bits.bits(2);
    } else bits.bits(3);
    bits.unsigned();
    bits.expect(1, 'the filter');

    const across = width / BLOCK;
    const blocks = across * (height / BLOCK);
    for (let block = 0; block < blocks; block++) {
      if (!key) block += bits.unsigned();
      if (block >= blocks) break;
      bits.expect(key ? PLAIN_BLOCK_IN_I : PLAIN_BLOCK_IN_P, 'the type of a block');
      bits.align();
      const x = (block % across) * BLOCK;
      const y = Math.floor(block / across) * BLOCK;
      for (let row = y; row < y + BLOCK; row++) picture.luma.set(bits.bytes(BLOCK), row * width + x);
      for (const colour of [picture.blue, picture.red])
        for (let row = y / 2; row < (y + BLOCK) / 2; row++) colour.set(bits.bytes(BLOCK / 2), (row * width + x) / 2);
    }
    return picture;
  }
}

/** Units of a packet of an MP4 file: each follows its length in four bytes. */
export function unitsOfMp4Packet(data: Uint8Array): Uint8Array[] {
  const units: Uint8Array[] = [];
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    units.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return units;
}

function readSize(sps: Uint8Array): { width: number; height: number } {
  const bits = new Bits(sps);
  bits.bits(24);
  for (let i = 0; i < 4; i++) bits.unsigned();
  bits.bits(1);
  return { width: BLOCK * (bits.unsigned() + 1), height: BLOCK * (bits.unsigned() + 1) };
}

function blank(width: number, height: number): Picture {
  const colours = (width * height) / 4;
  return {
    width,
    height,
    luma: new Uint8Array(width * height),
    blue: new Uint8Array(colours),
    red: new Uint8Array(colours),
  };
}

function copyOf({ width, height, luma, blue, red }: Picture): Picture {
  return { width, height, luma: luma.slice(), blue: blue.slice(), red: red.slice() };
}

/** Reads the bits of a unit after its header byte. */
class Bits {
  readonly #bytes: Uint8Array;
  #bit = 0;

  constructor(unit: Uint8Array) {
    const plain: number[] = [];
    let zeros = 0;
    for (const byte of unit.subarray(1)) {
      if (zeros >= 2 && byte === 3) zeros = 0;
      else {
        plain.push(byte);
        zeros = byte === 0 ? zeros + 1 : 0;
      }
    }
    this.#bytes = Uint8Array.from(plain);
  }

  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, this.#bit++) {
      const byte = this.#bytes[this.#bit >> 3];
      if (byte === undefined) throw new Error('the picture is cut off');
      value = value * 2 + ((byte >> (7 - (this.#bit & 7))) & 1);
    }
    return value;
  }

  unsigned(): number {
    let zeros = 0;
    while (this.bits(1) === 0) zeros++;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  expect(value: number, what: string): void {
    const read = this.unsigned();
    if (read !== value) throw new Error(`${what} is ${read}, not ${value}`);
  }

  align(): void {
    this.#bit = (this.#bit + 7) & ~7;
  }

  bytes(count: number): Uint8Array {
    const at = this.#bit / 8;
    if (at + count > this.#bytes.length) throw new Error('the picture is cut off');
    this.#bit += 8 * count;
    return this.#bytes.subarray(at, at + count);
  }
}
