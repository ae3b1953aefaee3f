import type { Position, TerminalCommand, TerminalId } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand } from '../protocol.ts';
import { EXTENDED_FIELDS, FAULT, readDriverMessage, readMessage, SHORT_FIELDS } from './message.ts';

/** Enough for a black box of more than a thousand messages in one line. */
export const MAX_FRAME_BYTES = 256 * 1024;
/** Limit before the login, when a terminal has no reason to send more. */
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
/** Maximum size of a block of a photo, which follows its line; the documents set no limit. */
const MAX_PHOTO_BYTES = 128 * 1024;
/** First byte of a packet compressed by zlib. */
const COMPRESSED = 0xff;

const reply = (text: string): Buffer => Buffer.from(`${text}\r\n`);
// Shared, never modified.
const ACCEPT = reply('#AL#1');
const REJECT = reply('#AL#0');
const LOGIN_CHECKSUM = reply('#AL#10');
const SHORT_TAKEN = reply('#ASD#1');
const EXTENDED_TAKEN = reply('#AD#1');
const PONG = reply('#AP#');
const MESSAGE_TAKEN = reply('#AM#1');
const MESSAGE_CHECKSUM = reply('#AM#01');
/** Answer to a photo without a block number. */
const PHOTO_NOT_TAKEN = reply('#AI#0');
const BLACK_BOX_CHECKSUM = reply('#AB#');

/**
 * Wialon IPS 1.1 and 2.x (Gurtam's "Wialon IPS"): lines of text. A login of version 2.x names its version, and each
 * line ends with a checksum. A message that cannot be accepted is answered with its code, and the session continues. A
 * line of another protocol ends the connection. The gateway checks the password of the login where the vehicle has one.
 *
 * Driver messages are stored. Photos are not stored: each block is answered with the code for an error. Tachograph
 * files and compressed packets are not supported.
 */
export class WialonIpsSession extends FramedSession {
  #terminalId: TerminalId | null = null;
  #checksums = false;
  #correlation = 0;
  /** Correlation of the message that the terminal has not answered. */
  #pending: number | null = null;
  /** Bytes of the incomplete line already searched for a line feed. */
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

  /** @returns whether the session continues */
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

  /** Encodes a message to the driver; null before the login, and for other commands. */
  command(command: TerminalCommand): SentCommand | null {
    if (this.#terminalId === null || !('parameters' in command) || command.type !== 'text') return null;
    this.#pending = ++this.#correlation;
    return { correlation: this.#pending, bytes: messageLine(command.parameters.text, this.#checksums) };
  }

  /** Answers have no number: an answer belongs to the message before it. */
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
    // Allows letters, digits and characters that are not separators here.
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
   * Takes the block of a photo, which follows its line: size, block number, number of the last block, date, time, name.
   *
   * @returns the number of bytes consumed
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

  /** Takes short and extended messages in any mix; the answer counts the valid ones. */
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

/** Builds a message line, with a checksum from version 2.0 on. */
export function messageLine(text: string, hasChecksum: boolean): Buffer {
  if (!hasChecksum) return reply(`#M#${text}`);
  const covered = Buffer.from(`${text};`);
  return reply(`#M#${covered}${crc16Arc(covered, 0, covered.length).toString(16).toUpperCase()}`);
}

/**
 * Whether the hexadecimal text after the last separator is the checksum of all bytes up to and including the separator.
 * Some terminals write `0x` before it.
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
