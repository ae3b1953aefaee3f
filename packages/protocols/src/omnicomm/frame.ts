import { crc16CcittFalse } from '../crc16.ts';

export const COMMAND = {
  identification: 0x80,
  archiveRequest: 0x85,
  archiveData: 0x86,
  archiveDurable: 0x87,
} as const;

const OPENING = 0xc0;
const ESCAPE = 0xdb;
const ESCAPED_OPENING = 0xdc;
const ESCAPED_ESCAPE = 0xdd;

/** Command and length. */
const HEADER_BYTES = 3;
const CHECKSUM_BYTES = 2;

/** The length field allows 65,535; the packets of terminals are far smaller than this. */
export const MAX_DATA_BYTES = 16 * 1024;
/** Escaping may double every byte after the opening one. */
export const MAX_FRAME_BYTES = 1 + 2 * (HEADER_BYTES + MAX_DATA_BYTES + CHECKSUM_BYTES);

/** Byte order of the checksum. */
export type ChecksumOrder = 'low-first' | 'high-first';

export type FrameFault = 'bad-frame' | 'bad-length' | 'bad-checksum';

/**
 * Unescapes frames, one after the other, into memory that all of them share: a frame must be processed before the next
 * one is read.
 */
export class FrameReader {
  /** The whole frame, unescaped and without its opening byte. */
  readonly bytes = Buffer.allocUnsafe(HEADER_BYTES + MAX_DATA_BYTES + CHECKSUM_BYTES);
  command = 0;
  readonly dataStart = HEADER_BYTES;
  dataEnd = HEADER_BYTES;
  checksumOrder: ChecksumOrder = 'low-first';
  fault: FrameFault | null = null;
  /** Minimum number of further bytes needed to complete the frame. */
  missing = 0;

  /**
   * Reads the frame that begins at `from`.
   *
   * The checksum is accepted in either byte order: terminals are described as little-endian throughout, while checksums
   * of this family are widely sent high byte first. `checksumOrder` holds the order found, so that the answer can use
   * it.
   *
   * @returns the number of bytes of `source` consumed; 0 when the frame is incomplete (then `missing` is set) or
   *   invalid (then `fault` is set)
   */
  read(source: Buffer, from: number): number {
    const { bytes } = this;
    const available = source.length;
    this.fault = null;
    this.missing = 1;
    if (source[from] !== OPENING) return this.#fail('bad-frame');

    let whole = HEADER_BYTES;
    let length = 0;
    let p = from + 1;
    while (length < whole) {
      if (p >= available) {
        this.missing = whole - length;
        return 0;
      }
      let byte = source[p++] as number;
      if (byte === OPENING) return this.#fail('bad-frame');
      if (byte === ESCAPE) {
        if (p >= available) {
          this.missing = whole - length;
          return 0;
        }
        const escaped = source[p++];
        if (escaped === ESCAPED_OPENING) byte = OPENING;
        else if (escaped === ESCAPED_ESCAPE) byte = ESCAPE;
        else return this.#fail('bad-frame');
      }
      bytes[length++] = byte;
      if (length === HEADER_BYTES) {
        const dataBytes = bytes.readUInt16LE(1);
        if (dataBytes > MAX_DATA_BYTES) return this.#fail('bad-length');
        whole = HEADER_BYTES + dataBytes + CHECKSUM_BYTES;
      }
    }

    this.dataEnd = length - CHECKSUM_BYTES;
    const checksum = crc16CcittFalse(bytes, 0, this.dataEnd);
    if (bytes.readUInt16LE(this.dataEnd) === checksum) this.checksumOrder = 'low-first';
    else if (bytes.readUInt16BE(this.dataEnd) === checksum) this.checksumOrder = 'high-first';
    else return this.#fail('bad-checksum');
    this.command = bytes[0] as number;
    return p - from;
  }

  #fail(fault: FrameFault): 0 {
    this.fault = fault;
    return 0;
  }
}

/** Builds a frame with its escapes. */
export function buildFrame(command: number, data: Uint8Array, checksumOrder: ChecksumOrder): Buffer {
  const plain = Buffer.allocUnsafe(HEADER_BYTES + data.length + CHECKSUM_BYTES);
  plain[0] = command;
  plain.writeUInt16LE(data.length, 1);
  plain.set(data, HEADER_BYTES);
  const checksumAt = HEADER_BYTES + data.length;
  const checksum = crc16CcittFalse(plain, 0, checksumAt);
  if (checksumOrder === 'low-first') plain.writeUInt16LE(checksum, checksumAt);
  else plain.writeUInt16BE(checksum, checksumAt);

  let escapes = 0;
  for (const byte of plain) if (byte === OPENING || byte === ESCAPE) escapes++;
  const frame = Buffer.allocUnsafe(1 + plain.length + escapes);
  frame[0] = OPENING;
  let p = 1;
  for (const byte of plain) {
    if (byte === OPENING || byte === ESCAPE) {
      frame[p++] = ESCAPE;
      frame[p++] = byte === OPENING ? ESCAPED_OPENING : ESCAPED_ESCAPE;
    } else frame[p++] = byte;
  }
  return frame;
}

/** Builds a frame whose data is one 32-bit number. */
export function buildNumberFrame(command: number, number: number, checksumOrder: ChecksumOrder): Buffer {
  const data = Buffer.allocUnsafe(4);
  data.writeUInt32LE(number, 0);
  return buildFrame(command, data, checksumOrder);
}
