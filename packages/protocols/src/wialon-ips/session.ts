import type { Position, TerminalCommand, TerminalId } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand } from '../protocol.ts';
import { EXTENDED_FIELDS, FAULT, readDriverMessage, readMessage, SHORT_FIELDS } from './message.ts';

/** Enough for more than a thousand messages of a black box in one line. */
export const MAX_FRAME_BYTES = 256 * 1024;
/** Before it said who it is, a terminal has no reason to send more. */
const MAX_LOGIN_BYTES = 512;
/** `#`, up to three letters, `#`. */
const MAX_HEAD_BYTES = 5;
/** `0x` and four digits. */
const MAX_CHECKSUM_BYTES = 6;

const HASH = 0x23;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SEMICOLON = 0x3b;
const BAR = 0x7c;
/** A block of a photo, which follows its line; the documents have no bound. */
const MAX_PHOTO_BYTES = 128 * 1024;
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
const MESSAGE_TAKEN = reply('#AM#1');
const MESSAGE_CHECKSUM = reply('#AM#01');
/** Answers a photo without a number of its own. */
const PHOTO_NOT_TAKEN = reply('#AI#0');
const BLACK_BOX_CHECKSUM = reply('#AB#');

/**
 * Wialon IPS 1.1 and 2.x (Gurtam's "Wialon IPS"): lines of text. The login reports the version: 2.x names it, and ends
 * each line with a checksum. A message that can't be taken is answered by its code, and the terminal goes on; what is
 * no line of this protocol ends the connection. The gateway checks the password of the login where the vehicle has one.
 * What a driver writes is kept. A photo is answered by the code for an error, block by block, since photos are not
 * kept. Tachograph files and compressed packets are not spoken.
 */
export class WialonIpsSession extends FramedSession {
  #terminalId: TerminalId | null = null;
  #checksums = false;
  #correlation = 0;
  /** Of the message that the terminal has not answered. */
  #pending: number | null = null;
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
    if (type === 'I' && this.#terminalId !== null)
      return this.#takePhoto(bytes.toString('latin1', bodyStart, Math.max(bodyStart, end)), length, available, out);
    return this.#takeLine(type, bytes, bodyStart, Math.max(bodyStart, end), nowMs, out) ? length : 0;
  }

  protected override restart(): void {
    this.#searched = 0;
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
      case 'AM':
        this.#takeMessageAnswer(bytes.toString('latin1', start, end), out);
        return true;
      case 'P':
        out.push({ type: 'reply', bytes: PONG });
        return true;
      case 'M':
        this.#takeDriverMessage(bytes, start, end, nowMs, out);
        return true;
      default:
        this.refuse(out, 'unsupported', `a packet of type ${type}`);
        return false;
    }
  }

  /** A message to the driver; null before the login, and for other commands. */
  command(command: TerminalCommand): SentCommand | null {
    if (this.#terminalId === null || !('parameters' in command) || command.type !== 'text') return null;
    this.#pending = ++this.#correlation;
    return { correlation: this.#pending, bytes: messageLine(command.parameters.text, this.#checksums) };
  }

  /** Answers have no number: an answer is that of the message before it. */
  #takeMessageAnswer(text: string, out: Inbound[]): void {
    if (this.#pending === null) return;
    const result = text.startsWith('1') ? 'done' : 'failed';
    out.push({ type: 'answer', correlation: this.#pending, answer: { type: 'acknowledged', result } });
    this.#pending = null;
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

  #takeDriverMessage(bytes: Buffer, start: number, end: number, nowMs: number, out: Inbound[]): void {
    if (this.#checksums && !checksumHolds(bytes, start, end, SEMICOLON)) {
      out.push({ type: 'reply', bytes: MESSAGE_CHECKSUM });
      return;
    }
    const line = bytes.toString('utf8', start, end);
    const text = this.#checksums ? line.slice(0, line.lastIndexOf(';')) : line;
    out.push({ type: 'positions', positions: [readDriverMessage(text, nowMs)], ack: MESSAGE_TAKEN });
  }

  /**
   * The block of a photo stands behind its line: size, number of the block, number of the last one, date, time, name.
   *
   * @returns how many bytes it took
   */
  #takePhoto(line: string, lineBytes: number, available: number, out: Inbound[]): number {
    const [size = '', block = ''] = line.split(';');
    if (!/^\d{1,7}$/.test(size)) return this.refuse(out, 'bad-content', 'a photo without a size', PHOTO_NOT_TAKEN);
    if (Number(size) > MAX_PHOTO_BYTES)
      return this.refuse(out, 'bad-length', `a block of a photo of ${size} bytes`, PHOTO_NOT_TAKEN);
    if (available < lineBytes + Number(size)) return 0;
    const isNumbered = /^\d{1,5}$/.test(block);
    out.push({ type: 'text', text: `a block of a photo, ${size} bytes: photos are not kept` });
    out.push({ type: 'reply', bytes: isNumbered ? reply(`#AI#${block};0`) : PHOTO_NOT_TAKEN });
    return lineBytes + Number(size);
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

/** A message, with a checksum as of 2.0. */
export function messageLine(text: string, hasChecksum: boolean): Buffer {
  if (!hasChecksum) return reply(`#M#${text}`);
  const covered = Buffer.from(`${text};`);
  return reply(`#M#${covered}${crc16Arc(covered, 0, covered.length).toString(16).toUpperCase()}`);
}

/**
 * Is what stands after the last separator the checksum, in hexadecimal, of all before it, the separator included? Some
 * terminals write `0x` before it.
 */
function checksumHolds(bytes: Buffer, start: number, end: number, separator: number): boolean {
  let at = end;
  while (at > start && bytes[at - 1] !== separator) {
    at--;
    if (end - at > MAX_CHECKSUM_BYTES) return false;
  }
  const digits = bytes[at] === 0x30 && ((bytes[at + 1] ?? 0) | 0x20) === 0x78 ? at + 2 : at;
  if (at === start || digits >= end || end - digits > 4) return false;
  let reported = 0;
  for (let i = digits; i < end; i++) {
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
