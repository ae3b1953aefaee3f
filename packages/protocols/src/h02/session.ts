import type { TerminalId } from '@outrider/domain';
import { textOfUtc } from '../calendar.ts';
import { LineSession } from '../line-session.ts';
import type { Inbound } from '../protocol.ts';
import { BINARY_BYTES, BINARY_MARK, MAX_TAIL_BYTES, NUMBER_BYTES, readBinary, readNumber } from './binary.ts';
import { placeAt, readPlace, readWithoutPlace } from './message.ts';

/** The longest lines list the neighbouring cells. */
export const MAX_FRAME_BYTES = 1024;

const STAR = 0x2a;
const HASH = 0x23;
/** `*HQ,<terminal id>,<message>`: the first field names the maker. */
const HEAD = /^\*([A-Z0-9]{2,10}),(\d{8,17}),([A-Z0-9]{1,8})$/i;
/** Places that must be confirmed: regular ones, alarms, and those with the number of the SIM card. */
const CONFIRMED = new Set(['V1', 'V2', 'V5', 'V6']);
const HEARTBEATS = new Set(['XT', 'LINK', 'HTBT']);
const KEPT = new Set(['NBR', 'LINK', 'HTBT']);

/**
 * H02, of small trackers of many makers: lines of text from `*` to `#`, each with the terminal's number. A place is
 * confirmed with `V4`. The same models can be configured to send places in binary form, which are not confirmed. Lines
 * that the codec does not interpret are accepted and not answered.
 */
export class H02Session extends LineSession {
  #terminalId: TerminalId | null = null;
  /** Bytes that may follow a binary place before the next message. */
  #tailBytes = 0;
  /** The number in that place. */
  #number = '';

  constructor() {
    super({ maxLineBytes: MAX_FRAME_BYTES, ends: [HASH] });
  }

  protected override begins(byte: number): boolean {
    return byte === STAR;
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const first = bytes[from] as number;
    if (this.#tailBytes > 0) {
      const isNext = this.#beginsNext(bytes, from);
      if (isNext === null) return 0;
      this.#tailBytes = isNext ? 0 : this.#tailBytes - 1;
      if (!isNext) return 1;
    }
    return first === BINARY_MARK ? this.#takeBinary(bytes, from, out) : super.take(bytes, from, nowMs, out);
  }

  /**
   * Whether a message begins here. In the tail of a place, any byte may equal the first byte of a message.
   * @returns null where more bytes are needed
   */
  #beginsNext(bytes: Buffer, from: number): boolean | null {
    const next = from + 1;
    if (bytes[from] === STAR)
      return next === bytes.length ? null : /[A-Z\d]/i.test(String.fromCharCode(bytes[next] ?? 0));
    if (bytes[from] !== BINARY_MARK) return false;
    const number = bytes.toString('hex', next, next + NUMBER_BYTES);
    if (number.length === this.#number.length) return number === this.#number;
    return this.#number.startsWith(number) ? null : false;
  }

  #takeBinary(bytes: Buffer, from: number, out: Inbound[]): number {
    const number = readNumber(bytes, from);
    if (number === null) return this.refuse(out, 'bad-content', 'the number of a terminal is digits');
    if (bytes.length - from < BINARY_BYTES) return 0;
    const position = readBinary(bytes, from);
    if (typeof position === 'string' && this.#terminalId === null) return this.refuse(out, 'bad-content', position);
    if (!this.#identify(number, out)) return 0;
    if (typeof position === 'string') this.leaveOut(out, position);
    else out.push({ type: 'positions', positions: [position], ack: null });
    this.#tailBytes = MAX_TAIL_BYTES;
    this.#number = number;
    return BINARY_BYTES;
  }

  protected override takeLine(line: string, nowMs: number, out: Inbound[]): boolean {
    const fields = line.split(',');
    const head = HEAD.exec(fields.slice(0, 3).join(','));
    if (head === null) {
      const detail = 'a line begins with *, the letters of its maker, and the number of the terminal';
      if (this.#terminalId !== null) return this.leaveOut(out, detail);
      this.refuse(out, 'bad-content', detail);
      return false;
    }
    const [, maker = '', number = '', message = ''] = head;
    if (!this.#identify(number, out)) return false;
    const answer = Buffer.from(`*${maker},${number},V4,${message},${textOfUtc(nowMs, 'YYYYMMDD').join('')}#`, 'latin1');
    const ack = CONFIRMED.has(message) || HEARTBEATS.has(message) ? answer : null;
    const content = fields.slice(3);
    const at = placeAt(content);
    if (at === -1 && !CONFIRMED.has(message)) {
      const said = KEPT.has(message) ? readWithoutPlace(message, content, nowMs) : null;
      out.push({ type: 'positions', positions: said === null ? [] : [said], ack });
      return true;
    }
    const position = readPlace(content.slice(Math.max(0, at)));
    if (typeof position === 'string') return this.leaveOut(out, position, ack);
    out.push({ type: 'positions', positions: [position], ack });
    return true;
  }

  /** @returns whether the session continues */
  #identify(number: string, out: Inbound[]): boolean {
    const terminalId = number as TerminalId;
    if (this.#terminalId === null) {
      this.#terminalId = terminalId;
      out.push({ type: 'identify', terminalId, accept: null, reject: null });
    } else if (this.#terminalId !== terminalId) {
      this.refuse(out, 'bad-content', 'a message with another number');
      return false;
    }
    return true;
  }
}
