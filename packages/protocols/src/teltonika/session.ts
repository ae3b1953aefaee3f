import type { Position, TerminalId } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { readRecords } from './records.ts';

export const CODEC_8 = 0x08;
export const CODEC_8_EXTENDED = 0x8e;
/** Codecs of messages: text of the terminal, or of a serial device connected to it, and what it says to a command. */
export const CODEC_12 = 0x0c;
/** With the time of the text before it. */
export const CODEC_13 = 0x0d;
/** With the terminal's IMEI before it. */
export const CODEC_14 = 0x0e;
/** With time and IMEI before it. */
export const CODEC_15 = 0x0f;

/** By codec, the bytes of a message before its text. */
const BYTES_BEFORE_TEXT: Readonly<Record<number, number>> = {
  [CODEC_12]: 0,
  [CODEC_13]: 4,
  [CODEC_14]: 8,
  [CODEC_15]: 12,
};

/** Zeros (4), length (4), and the checksum (4) after what the length counts. */
export const ENVELOPE_BYTES = 12;
/**
 * The wiki's largest packet is 1280 bytes; this leaves space for terminals with longer ones, and holds any 255 records
 * of the smallest size.
 */
export const MAX_FRAME_BYTES = 16 * 1024;

/** An IMEI has 15 digits; devices without one (beacons, test devices) send shorter or somewhat longer numbers. */
const MAX_IMEI_DIGITS = 20;
const MIN_IMEI_DIGITS = 5;
/** Sent alone to keep the link open. */
const PING = 0xff;

const ACCEPT = Buffer.from([1]);
const REJECT = Buffer.from([0]);

/** How many records were taken: what a packet is acknowledged with. Shared, never written to. */
const ACKS: readonly Buffer[] = Array.from({ length: 256 }, (_, count) => Buffer.from([0, 0, 0, count]));

/**
 * Teltonika over TCP: Codec 8 and 8 Extended (Teltonika's wiki, "Teltonika Data Sending Protocols"). The terminal says
 * its IMEI; accepted, it sends packets of AVL records, each answered with the count of records taken. A packet that
 * can't be taken is answered with 0 before the connection ends: the terminal keeps its records. Messages (Codec 12 to
 * 15) are not answered: the terminal would take four bytes for the beginning of a command.
 */
export class TeltonikaSession extends FramedSession {
  #identified = false;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    if (bytes[from] === PING) return 1;
    return this.#identified ? this.#takePacket(bytes, from, out) : this.#takeImei(bytes, from, out);
  }

  #takeImei(bytes: Buffer, from: number, out: Inbound[]): number {
    if (bytes[from] !== 0) return this.refuse(out, 'bad-frame', 'an IMEI begins with its length in two bytes');
    if (bytes.length - from < 2) return 0;
    const digits = bytes[from + 1] as number;
    if (digits === 0) return this.refuse(out, 'not-identified', 'data before the IMEI');
    if (digits < MIN_IMEI_DIGITS || digits > MAX_IMEI_DIGITS)
      return this.refuse(out, 'bad-length', `an IMEI of ${digits} digits`, REJECT);
    const end = Math.min(bytes.length, from + 2 + digits);
    for (let i = from + 2; i < end; i++) {
      const digit = bytes[i] as number;
      if (digit < 0x30 || digit > 0x39) return this.refuse(out, 'bad-content', 'an IMEI has digits only', REJECT);
    }
    if (bytes.length - from < 2 + digits) return 0;
    this.#identified = true;
    const terminalId = bytes.toString('latin1', from + 2, end) as TerminalId;
    out.push({ type: 'identify', terminalId, accept: ACCEPT, reject: REJECT });
    return 2 + digits;
  }

  #takePacket(bytes: Buffer, from: number, out: Inbound[]): number {
    const available = bytes.length - from;
    for (let i = 0; i < 4 && i < available; i++)
      if (bytes[from + i] !== 0) return this.refuse(out, 'bad-frame', 'a packet begins with four zero bytes');
    if (available < 8) return 0;
    const length = bytes.readUInt32BE(from + 4);
    // Codec, count, count again: nothing shorter can be.
    if (length < 3 || length > MAX_FRAME_BYTES - ENVELOPE_BYTES)
      return this.refuse(out, 'bad-length', `a packet of ${length} bytes`);
    if (available < length + ENVELOPE_BYTES) return 0;

    const start = from + 8;
    const end = start + length;
    if (bytes.readUInt32BE(end) !== crc16Arc(bytes, start, end))
      return this.refuse(out, 'bad-checksum', 'the checksum of a packet is wrong', ACKS[0]);
    const codec = bytes[start] as number;
    const beforeText = BYTES_BEFORE_TEXT[codec];
    if (beforeText !== undefined) {
      const texts = readTexts(bytes, start, end, beforeText);
      if (typeof texts === 'string') return this.refuse(out, 'bad-content', texts);
      for (const text of texts) out.push({ type: 'text', text });
      return length + ENVELOPE_BYTES;
    }
    if (codec !== CODEC_8 && codec !== CODEC_8_EXTENDED)
      return this.refuse(out, 'unsupported', `codec 0x${codec.toString(16).padStart(2, '0')}`, ACKS[0]);
    const count = bytes[start + 1] as number;
    if (count !== bytes[end - 1])
      return this.refuse(
        out,
        'bad-content',
        `${count} records at the beginning, ${bytes[end - 1]} at the end`,
        ACKS[0],
      );

    const positions: Position[] = [];
    const wrong = readRecords(bytes, start + 2, end - 1, count, codec === CODEC_8_EXTENDED, positions);
    if (wrong !== null) return this.refuse(out, 'bad-content', wrong, ACKS[0]);
    out.push({ type: 'positions', positions, ack: ACKS[count] ?? null });
    return length + ENVELOPE_BYTES;
  }
}

/**
 * Reads messages: codec, count, and for each its type, a size and as many bytes; the count again.
 *
 * @param beforeText bytes of each message that are not its text
 * @returns the texts, or what is wrong
 */
function readTexts(bytes: Buffer, start: number, end: number, beforeText: number): string[] | string {
  const count = bytes[start + 1] as number;
  if (count !== bytes[end - 1]) return `${count} messages at the beginning, ${bytes[end - 1]} at the end`;
  const texts: string[] = [];
  let p = start + 2;
  for (let message = 1; message <= count; message++) {
    // Type and size: the same for what is said, answered and refused.
    const size = end - 1 - p >= 5 ? bytes.readUInt32BE(p + 1) : Number.NaN;
    p += 5;
    if (!(size <= end - 1 - p)) return `message ${message} of ${count} is cut off`;
    texts.push(textOf(bytes.subarray(p + Math.min(beforeText, size), p + size)));
    p += size;
  }
  return p === end - 1 ? texts : `${end - 1 - p} bytes after the last message`;
}

/**
 * Printable text as it stands; anything else as hexadecimal digits, as of serial devices that speak a protocol of their
 * own.
 */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e\t\r\n]*$/.test(text) ? text.trimEnd() : bytes.toString('hex');
}
