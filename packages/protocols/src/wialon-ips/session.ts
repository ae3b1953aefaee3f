import type { Position, TerminalId } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { EXTENDED_FIELDS, FAULT, readMessage, SHORT_FIELDS } from './message.ts';

/** Enough for more than a thousand messages of a black box in one line. */
export const MAX_FRAME_BYTES = 256 * 1024;
/** Before it said who it is, a terminal has no reason to send more. */
const MAX_LOGIN_BYTES = 512;
/** `#`, up to three letters, `#`. */
const MAX_HEAD_BYTES = 5;

const HASH = 0x23;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SEMICOLON = 0x3b;
const BAR = 0x7c;
/** Begins a packet compressed by zlib. */
const COMPRESSED = 0xff;

const reply = (text: string): Buffer => Buffer.from(`${text}\r\n`);
// Shared, never written to.
const ACCEPT = reply('#AL#1');
const REJECT = reply('#AL#0');
const LOGIN_CHECKSUM = reply('#AL#10');
const SHORT_TAKEN = reply('#ASD#1');
const EXTENDED_TAKEN = reply('#AD#1');
const PONG = reply('#AP#');
const MESSAGE_NOT_TAKEN = reply('#AM#0');
const BLACK_BOX_CHECKSUM = reply('#AB#');

/**
 * Wialon IPS 1.1 and 2.x (Gurtam's "Wialon IPS"): lines of text. The login reports the version: 2.x names it, and ends
 * each line with a checksum. A message that can't be taken is answered by its code, and the terminal goes on; what is
 * no line of this protocol ends the connection. The gateway checks the password of the login where the vehicle has one.
 * Photos, tachograph files and compressed packets are not spoken.
 */
export class WialonIpsSession extends FramedSession {
  #terminalId: TerminalId | null = null;
  #checksums = false;
  /** Bytes of the unfinished line that hold no line feed: not searched again. */
  #searched = 0;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const first = bytes[from];
    if (first === LINE_FEED || first === CARRIAGE_RETURN) return 1;
    if (first === COMPRESSED) return this.refuse(out, 'unsupported', 'a compressed packet');
    if (first !== HASH) return this.refuse(out, 'bad-frame', 'a line begins with #');

    const available = bytes.length - from;
    const second = bytes.subarray(from + 1, from + MAX_HEAD_BYTES).indexOf(HASH);
    if (second === -1) {
      if (available < MAX_HEAD_BYTES && isLetters(bytes, from + 1, bytes.length)) return 0;
      return this.refuse(out, 'bad-frame', 'no type of packet between # and #');
    }
    const bodyStart = from + second + 2;
    if (!isLetters(bytes, from + 1, bodyStart - 1))
      return this.refuse(out, 'bad-frame', 'no type of packet between # and #');

    const limit = this.#terminalId === null ? MAX_LOGIN_BYTES : MAX_FRAME_BYTES;
    const lineFeed = bytes.indexOf(LINE_FEED, from + this.#searched);
    const length = lineFeed === -1 ? available : lineFeed - from + 1;
    if (length > limit) return this.refuse(out, 'bad-length', `a line of more than ${limit} bytes`);
    if (lineFeed === -1) {
      this.#searched = available;
      return 0;
    }
    this.#searched = 0;

    const end = bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed;
    const type = bytes.toString('latin1', from + 1, bodyStart - 1);
    return this.#takeLine(type, bytes, bodyStart, Math.max(bodyStart, end), nowMs, out) ? length : 0;
  }

  /** @returns whether the conversation goes on */
  #takeLine(type: string, bytes: Buffer, start: number, end: number, nowMs: number, out: Inbound[]): boolean {
    if (type === 'L') return this.#login(bytes, start, end, out);
    if (this.#terminalId === null) {
      this.refuse(out, 'not-identified', `#${type}# before the login`);
      return false;
    }
    switch (type) {
      case 'D':
      case 'SD':
        this.#takeMessage(type, bytes, start, end, nowMs, out);
        return true;
      case 'B':
        this.#takeBlackBox(bytes, start, end, nowMs, out);
        return true;
      case 'P':
        out.push({ type: 'reply', bytes: PONG });
        return true;
      case 'M':
        // A driver's message has nobody here to read it, which the answer says.
        out.push({ type: 'reply', bytes: MESSAGE_NOT_TAKEN });
        return true;
      default:
        this.refuse(out, 'unsupported', `a packet of type ${type}`);
        return false;
    }
  }

  #login(bytes: Buffer, start: number, end: number, out: Inbound[]): boolean {
    const fields = bytes.toString('utf8', start, end).split(';');
    const versioned = fields.length === 4;
    if (versioned && !/^2\.\d$/.test(fields[0] ?? '')) {
      this.refuse(out, 'unsupported', 'a version that is neither 1.1 nor 2', REJECT);
      return false;
    }
    if (versioned && !checksumHolds(bytes, start, end, SEMICOLON)) {
      this.refuse(out, 'bad-checksum', 'the checksum of the login is wrong', LOGIN_CHECKSUM);
      return false;
    }
    const terminalId = (versioned ? fields[1] : fields[0]) ?? '';
    // Letters, digits and marks that are no separators here.
    if ((!versioned && fields.length !== 2) || !/^[\w.:@/+-]{1,64}$/.test(terminalId)) {
      this.refuse(out, 'bad-content', 'a login without an identifier', REJECT);
      return false;
    }
    if (this.#terminalId === null) {
      this.#terminalId = terminalId as TerminalId;
      this.#checksums = versioned;
      const secret = (versioned ? fields[2] : fields[1]) ?? '';
      out.push({
        type: 'identify',
        terminalId: this.#terminalId,
        ...(secret !== '' && { secret }),
        accept: ACCEPT,
        reject: REJECT,
      });
    } else if (this.#terminalId === terminalId) {
      this.#checksums = versioned;
      out.push({ type: 'reply', bytes: ACCEPT });
    } else {
      this.refuse(out, 'bad-content', 'a second login by another terminal', REJECT);
      return false;
    }
    return true;
  }

  #takeMessage(type: 'D' | 'SD', bytes: Buffer, start: number, end: number, nowMs: number, out: Inbound[]): void {
    const short = type === 'SD';
    if (this.#checksums && !checksumHolds(bytes, start, end, SEMICOLON)) {
      out.push({ type: 'reply', bytes: reply(short ? '#ASD#13' : '#AD#16') });
      return;
    }
    const fields = bytes.toString('utf8', start, end).split(';');
    if (this.#checksums) fields.pop();
    const position =
      fields.length === (short ? SHORT_FIELDS : EXTENDED_FIELDS) ? readMessage(fields, nowMs) : FAULT.structure;
    if (typeof position === 'string') out.push({ type: 'reply', bytes: reply(`#A${type}#${position}`) });
    else out.push({ type: 'positions', positions: [position], ack: short ? SHORT_TAKEN : EXTENDED_TAKEN });
  }

  /** Short and extended messages in any mix; what is counted in the answer is how many of them were good. */
  #takeBlackBox(bytes: Buffer, start: number, end: number, nowMs: number, out: Inbound[]): void {
    if (this.#checksums && !checksumHolds(bytes, start, end, BAR)) {
      out.push({ type: 'reply', bytes: BLACK_BOX_CHECKSUM });
      return;
    }
    const messages = bytes.toString('utf8', start, end).split('|');
    if (this.#checksums) messages.pop();
    const positions: Position[] = [];
    for (const message of messages) {
      const position = readMessage(message.split(';'), nowMs);
      if (typeof position !== 'string') positions.push(position);
    }
    out.push({ type: 'positions', positions, ack: reply(`#AB#${positions.length}`) });
  }
}

/** Is what stands after the last separator the checksum, in hexadecimal, of all before it, the separator included? */
function checksumHolds(bytes: Buffer, start: number, end: number, separator: number): boolean {
  let at = end;
  while (at > start && bytes[at - 1] !== separator) {
    at--;
    if (end - at > 4) return false;
  }
  if (at === start || at === end) return false;
  let reported = 0;
  for (let i = at; i < end; i++) {
    const digit = hexDigit(bytes[i] as number);
    if (digit === -1) return false;
    reported = reported * 16 + digit;
  }
  return reported === crc16Arc(bytes, start, at);
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x46) return code - 0x37;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return -1;
}

function isLetters(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = bytes[i] as number;
    if (code < 0x41 || code > 0x5a) return false;
  }
  return true;
}
