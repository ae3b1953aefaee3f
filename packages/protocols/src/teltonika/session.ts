import { blankPosition, type Position, type TerminalCommand, type TerminalId } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand, SessionOptions } from '../protocol.ts';
import { commandText, isRefusal } from './commands.ts';
import {
  CODEC_12,
  carriesMessages,
  ENVELOPE_BYTES,
  encodeMessage,
  MESSAGE,
  type Message,
  readMessages,
} from './messages.ts';
import { elementsOf } from './models.ts';
import { RECORD_CODECS, readRecords } from './records.ts';

/**
 * The wiki's largest packet is 1280 bytes. This limit allows for terminals with longer ones, and for any 255 records of
 * the smallest size.
 */
export const MAX_FRAME_BYTES = 16 * 1024;

/** An IMEI has 15 digits; devices without one (beacons, test devices) send shorter or somewhat longer numbers. */
const MAX_IMEI_DIGITS = 20;
const MIN_IMEI_DIGITS = 5;
/** Sent alone to keep the connection open. */
const PING = 0xff;

const ACCEPT = Buffer.from([1]);
const REJECT = Buffer.from([0]);

/** Acknowledgements by the number of records accepted. Shared, never modified. */
const ACKS: readonly Buffer[] = Array.from({ length: 256 }, (_, count) => Buffer.from([0, 0, 0, count]));

/** Limits of texts that arrived before any place and are held for the first record. */
const MAX_EARLY_TEXTS = 8;
const MAX_EARLY_CHARACTERS = 4096;

/**
 * Teltonika over TCP: Codec 8, 8 Extended and 16 (Teltonika's wiki, "Teltonika Data Sending Protocols"). The terminal
 * sends its IMEI. Once accepted, it sends packets of AVL records, each answered with the number of records accepted. A
 * packet that cannot be accepted is answered with 0 before the connection ends, so that the terminal keeps its records.
 *
 * Messages (Codec 12 to 15) are not answered: the terminal would take four bytes for the beginning of a command. Their
 * text is stored as a record at the last place of the terminal. Commands are sent in Codec 12.
 */
export class TeltonikaSession extends FramedSession {
  readonly #modelOf: SessionOptions['modelOf'];
  #ids: readonly [TerminalId] | null = null;
  /** The newest record, and its time of reception. */
  #newest: Position | null = null;
  #newestCameMs = 0;
  #early: Message[] = [];
  #earlyCharacters = 0;
  #correlation = 0;
  /** Correlation of the command that the terminal has not answered. */
  #pending: number | null = null;

  constructor({ modelOf }: SessionOptions = {}) {
    super(MAX_FRAME_BYTES);
    this.#modelOf = modelOf;
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    if (bytes[from] === PING) return this.takePing(this.#ids !== null, out);
    return this.#ids === null ? this.#takeImei(bytes, from, out) : this.#takePacket(bytes, from, this.#ids, nowMs, out);
  }

  /** Encodes a command as text in Codec 12; null before the terminal has identified itself. */
  command(command: TerminalCommand): SentCommand | null {
    if (this.#ids === null || !('parameters' in command)) return null;
    this.#pending = ++this.#correlation;
    return { correlation: this.#pending, bytes: encodeMessage(CODEC_12, MESSAGE.command, commandText(command)) };
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
    const terminalId = bytes.toString('latin1', from + 2, end) as TerminalId;
    this.#ids = [terminalId];
    out.push({ type: 'identify', terminalId, accept: ACCEPT, reject: REJECT });
    return 2 + digits;
  }

  #takePacket(bytes: Buffer, from: number, ids: readonly [TerminalId], nowMs: number, out: Inbound[]): number {
    const available = bytes.length - from;
    for (let i = 0; i < 4 && i < available; i++)
      if (bytes[from + i] !== 0) return this.refuse(out, 'bad-frame', 'a packet begins with four zero bytes');
    if (available < 8) return 0;
    const length = bytes.readUInt32BE(from + 4);
    // The minimum is codec, count and repeated count.
    if (length < 3 || length > MAX_FRAME_BYTES - ENVELOPE_BYTES)
      return this.refuse(out, 'bad-length', `a packet of ${length} bytes`);
    if (available < length + ENVELOPE_BYTES) return 0;

    const start = from + 8;
    const end = start + length;
    if (bytes.readUInt32BE(end) !== crc16Arc(bytes, start, end))
      return this.refuse(out, 'bad-checksum', 'the checksum of a packet is wrong', ACKS[0]);
    const codec = bytes[start] as number;
    if (carriesMessages(codec)) {
      const messages = readMessages(bytes, start, end);
      if (typeof messages === 'string') return this.refuse(out, 'bad-content', messages);
      for (const message of messages) this.#takeMessage(message, nowMs, out);
      return length + ENVELOPE_BYTES;
    }
    const recordCodec = RECORD_CODECS[codec];
    if (recordCodec === undefined)
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
    const elements = elementsOf(this.#modelOf?.(ids) ?? null);
    const wrong = readRecords(bytes, start + 2, end - 1, count, recordCodec, elements, positions);
    if (wrong !== null) return this.refuse(out, 'bad-content', wrong, ACKS[0]);
    this.#noteNewest(positions, nowMs);
    out.push({ type: 'positions', positions, ack: ACKS[count] ?? null });
    return length + ENVELOPE_BYTES;
  }

  #takeMessage(message: Message, nowMs: number, out: Inbound[]): void {
    const { type, text } = message;
    // Answers have no number: an answer belongs to the command before it.
    if (this.#pending !== null && (type === MESSAGE.answer || type === MESSAGE.refused)) {
      const result = type === MESSAGE.refused || isRefusal(text) ? 'failed' : 'done';
      out.push({ type: 'answer', correlation: this.#pending, answer: { type: 'acknowledged', result, text } });
      this.#pending = null;
      return;
    }
    out.push({ type: 'text', text });
    if (text === '') return;
    if (this.#newest !== null) {
      out.push({ type: 'positions', positions: [this.#recordOf(message, this.#newest, nowMs)], ack: null });
      return;
    }
    if (this.#early.length >= MAX_EARLY_TEXTS || this.#earlyCharacters + text.length > MAX_EARLY_CHARACTERS) return;
    this.#early.push(message);
    this.#earlyCharacters += text.length;
  }

  #noteNewest(positions: Position[], nowMs: number): void {
    const first = positions[0];
    const last = positions[positions.length - 1];
    if (first === undefined || last === undefined) return;
    // The records of a packet are in ascending or descending order of time.
    const newest = first.fixTimeMs > last.fixTimeMs ? first : last;
    if (this.#newest === null || newest.fixTimeMs >= this.#newest.fixTimeMs) {
      this.#newest = newest;
      this.#newestCameMs = nowMs;
    }
    if (this.#early.length === 0) return;
    for (const message of this.#early) positions.push(this.#recordOf(message, this.#newest, nowMs));
    this.#early = [];
    this.#earlyCharacters = 0;
  }

  /**
   * Stores a text as a record at the terminal's last place. Where the message has no time, the time is estimated on the
   * terminal's clock: a terminal that sends its archive is behind, and its next records must not appear to be late.
   */
  #recordOf({ text, timeMs }: Message, { fixTimeMs, latitude, longitude }: Position, nowMs: number): Position {
    const record = blankPosition(timeMs ?? fixTimeMs + Math.max(0, nowMs - this.#newestCameMs), latitude, longitude);
    record.valid = false;
    record.attributes = { text };
    return record;
  }
}
