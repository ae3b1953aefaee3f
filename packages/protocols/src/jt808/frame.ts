import { readTerminalNumber, terminalNumberBytes } from './bcd.ts';

/** The edition of JT/T 808 that a terminal uses. The edition of 2019 sets a flag and has longer phone numbers. */
export type Edition = 2013 | 2019;

export const FLAG = 0x7e;
const ESCAPE = 0x7d;
const ESCAPED_ESCAPE = 0x01;
const ESCAPED_FLAG = 0x02;

const BODY_LENGTH_MASK = 0x03ff;
const ENCRYPTION_MASK = 0x1c00;
const SPLIT_BIT = 0x2000;
const VERSION_BIT = 0x4000;

export const MAX_BODY_BYTES = BODY_LENGTH_MASK;
/** Id, properties, version, phone number, serial, number of packets, index of the packet. */
const MAX_HEADER_BYTES = 2 + 2 + 1 + 10 + 2 + 4;
const CHECKSUM_BYTES = 1;
/** Escaping may double every byte between the two flags. */
export const MAX_FRAME_BYTES = 2 + 2 * (MAX_HEADER_BYTES + MAX_BODY_BYTES + CHECKSUM_BYTES);

export const PHONE_BYTES: Readonly<Record<Edition, number>> = { 2013: 6, 2019: 10 };

/** Header of a message. */
export interface Header {
  id: number;
  edition: Edition;
  /** The protocol version byte of the 2019 edition; 0 in the edition of 2013. */
  version: number;
  /** The phone number, or the number that replaces it: hexadecimal digits in lower case, without leading zeros. */
  phone: string;
  serial: number;
  /** Index of this part of a split message, from 1; null where the message is not split. */
  part: { number: number; count: number } | null;
}

export interface Message extends Header {
  /** A view of the memory that was read. */
  body: Buffer;
}

export type FrameFault = 'bad-frame' | 'bad-length' | 'bad-checksum' | 'bad-content' | 'unsupported';

const plain = Buffer.allocUnsafe(MAX_HEADER_BYTES + MAX_BODY_BYTES + CHECKSUM_BYTES);

/**
 * Reads the bytes between two flags.
 *
 * @param from the byte after the opening flag
 * @param to the closing flag
 * @returns the message, whose body is in memory that the next call overwrites; or the reason why it is invalid
 */
export function readMessage(bytes: Uint8Array, from: number, to: number): Message | FrameFault {
  let length = 0;
  for (let p = from; p < to; p++) {
    let byte = bytes[p] as number;
    if (byte === ESCAPE) {
      const escaped = p + 1 < to ? bytes[++p] : -1;
      if (escaped === ESCAPED_FLAG) byte = FLAG;
      else if (escaped === ESCAPED_ESCAPE) byte = ESCAPE;
      else return 'bad-frame';
    }
    if (length === plain.length) return 'bad-length';
    plain[length++] = byte;
  }
  if (length < 4) return 'bad-length';

  let checksum = 0;
  for (let i = 0; i < length - CHECKSUM_BYTES; i++) checksum ^= plain[i] as number;
  if (checksum !== plain[length - CHECKSUM_BYTES]) return 'bad-checksum';

  const properties = plain.readUInt16BE(2);
  if ((properties & ENCRYPTION_MASK) !== 0) return 'unsupported';
  const edition: Edition = (properties & VERSION_BIT) !== 0 ? 2019 : 2013;
  const phoneAt = edition === 2019 ? 5 : 4;
  const serialAt = phoneAt + PHONE_BYTES[edition];
  const split = (properties & SPLIT_BIT) !== 0;
  const bodyAt = serialAt + 2 + (split ? 4 : 0);
  if (bodyAt + (properties & BODY_LENGTH_MASK) + CHECKSUM_BYTES !== length) return 'bad-length';

  let part: Header['part'] = null;
  if (split) {
    part = { count: plain.readUInt16BE(serialAt + 2), number: plain.readUInt16BE(serialAt + 4) };
    if (part.number === 0 || part.number > part.count) return 'bad-content';
    if (part.count === 1) part = null;
  }
  return {
    id: plain.readUInt16BE(0),
    edition,
    version: edition === 2019 ? (plain[4] as number) : 0,
    phone: readTerminalNumber(plain, phoneAt, serialAt),
    serial: plain.readUInt16BE(serialAt),
    part,
    body: plain.subarray(bodyAt, length - CHECKSUM_BYTES),
  };
}

/**
 * Builds a message with its flags and escapes.
 *
 * @throws {RangeError} when the body is longer than one packet holds
 */
export function buildMessage(header: Header, body: Uint8Array): Buffer {
  if (body.length > MAX_BODY_BYTES) throw new RangeError(`a body of ${body.length} bytes`);
  const { id, edition, part } = header;
  const properties = body.length | (part ? SPLIT_BIT : 0) | (edition === 2019 ? VERSION_BIT : 0);
  const bytes = Buffer.allocUnsafe(MAX_HEADER_BYTES + body.length + CHECKSUM_BYTES);
  let p = bytes.writeUInt16BE(id, 0);
  p = bytes.writeUInt16BE(properties, p);
  if (edition === 2019) p = bytes.writeUInt8(header.version, p);
  p += terminalNumberBytes(header.phone, PHONE_BYTES[edition]).copy(bytes, p);
  p = bytes.writeUInt16BE(header.serial, p);
  if (part) {
    p = bytes.writeUInt16BE(part.count, p);
    p = bytes.writeUInt16BE(part.number, p);
  }
  bytes.set(body, p);
  p += body.length;
  let checksum = 0;
  for (let i = 0; i < p; i++) checksum ^= bytes[i] as number;
  bytes[p++] = checksum;

  let escapes = 0;
  for (let i = 0; i < p; i++) if (bytes[i] === FLAG || bytes[i] === ESCAPE) escapes++;
  const frame = Buffer.allocUnsafe(2 + p + escapes);
  frame[0] = FLAG;
  let at = 1;
  for (let i = 0; i < p; i++) {
    const byte = bytes[i] as number;
    if (byte === FLAG || byte === ESCAPE) {
      frame[at++] = ESCAPE;
      frame[at++] = byte === FLAG ? ESCAPED_FLAG : ESCAPED_ESCAPE;
    } else frame[at++] = byte;
  }
  frame[at] = FLAG;
  return frame;
}

/**
 * Builds a message as one or more packets; their serials ascend from the header's serial.
 *
 * @throws {RangeError} when there would be more than 65,535 packets
 */
export function buildParts(header: Omit<Header, 'part'>, body: Uint8Array, partBytes = MAX_BODY_BYTES): Buffer[] {
  if (body.length <= partBytes) return [buildMessage({ ...header, part: null }, body)];
  const count = Math.ceil(body.length / partBytes);
  if (count > 0xffff) throw new RangeError(`a body of ${body.length} bytes`);
  return Array.from({ length: count }, (_, i) =>
    buildMessage(
      { ...header, serial: (header.serial + i) & 0xffff, part: { number: i + 1, count } },
      body.subarray(i * partBytes, (i + 1) * partBytes),
    ),
  );
}
