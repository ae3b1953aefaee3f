import type { TerminalCommand, TerminalId } from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand } from '../protocol.ts';
import { commandContent, commandText, isRefusal, readCommandContent, readLongAnswer } from './commands.ts';
import {
  buildFrame,
  buildNetworksAnswer,
  type Frame,
  isDocumented,
  MAX_FRAME_BYTES,
  MESSAGE,
  readFrame,
  readNetworksFrame,
} from './frame.ts';
import { LOCATION_BYTES } from './message.ts';
import { ANSWERED, readNetworks, readPacket } from './packets.ts';
import { TerminalClock } from './terminal-clock.ts';

const IMEI_BYTES = 8;
const KIND_BYTES = 2;
const ZONE_BYTES = 2;
const WEST = 0x08;
const MAX_ZONE_HOURS = 14;
/** Maximum number of bytes of an unknown message in its log line. */
const MAX_SHOWN_BYTES = 48;
const NOTHING = Buffer.alloc(0);

/**
 * GT06, the protocol of Concox, adopted by many makers: binary frames with a CRC. The terminal logs in with its IMEI,
 * then sends locations, alarms and heartbeats. The answer to each is a frame with the same number and no content.
 *
 * A heartbeat is stored as a position without a place: current ignition, battery and signal. Cells and information sent
 * without a place are stored in the same way. Other messages are answered with their number and counted as unread.
 */
export class Gt06Session extends FramedSession {
  #terminalId: TerminalId | null = null;
  /** The IMEI as the terminal encodes it. */
  #imei: Buffer = NOTHING;
  #clock = new TerminalClock(0);
  /** The server flag of the newest command. */
  #flag = 0;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const frame = readFrame(bytes, from);
    if (this.#terminalId !== null && (frame === null || 'reason' in frame)) {
      const networks = readNetworksFrame(bytes, from);
      if (networks === 0) return 0;
      if (networks !== null) {
        const { number, timeAt } = networks;
        const positions = [readNetworks(bytes, networks, nowMs)];
        out.push({
          type: 'positions',
          positions,
          ack: buildNetworksAnswer(number, bytes.subarray(timeAt, timeAt + 6)),
        });
        return networks.bytes;
      }
    }
    if (frame === null) return 0;
    if ('reason' in frame) return this.refuse(out, frame.reason, frame.detail);
    if (frame.number === MESSAGE.login) return this.#logIn(bytes, frame, out);
    if (this.#terminalId === null)
      return this.refuse(out, 'not-identified', `message 0x${frame.number.toString(16)} before the login`);
    return this.#takeMessage(bytes, frame, nowMs, out);
  }

  #logIn(bytes: Buffer, frame: Frame, out: Inbound[]): number {
    if (frame.to - frame.from < IMEI_BYTES) return this.refuse(out, 'bad-content', 'a login without an IMEI');
    const digits = bytes.toString('hex', frame.from, frame.from + IMEI_BYTES);
    if (!/^\d+$/.test(digits)) return this.refuse(out, 'bad-content', 'an IMEI has digits only');
    // Fifteen digits in eight bytes: the first half of the first byte is unused.
    const terminalId = digits.replace(/^0/, '') as TerminalId;
    const accept = buildFrame(MESSAGE.login, NOTHING, frame.serial);
    if (this.#terminalId === null) out.push({ type: 'identify', terminalId, accept, reject: null });
    else if (this.#terminalId === terminalId) out.push({ type: 'reply', bytes: accept });
    else return this.refuse(out, 'bad-content', 'a second login with another IMEI');
    this.#terminalId = terminalId;
    this.#imei = Buffer.from(digits, 'hex');
    this.#clock = new TerminalClock(zoneOf(bytes, frame));
    return frame.bytes;
  }

  /** An online command; null before the login, and where there is no such command. */
  command(command: TerminalCommand): SentCommand | null {
    const text = 'parameters' in command ? commandText(command) : null;
    if (this.#terminalId === null || text === null) return null;
    this.#flag = (this.#flag + 1) >>> 0;
    const content = commandContent(this.#flag, text);
    return { correlation: this.#flag, bytes: buildFrame(MESSAGE.command, content, this.#flag & 0xffff) };
  }

  /** The answer to a command repeats its flag; other texts were sent unprompted by the terminal. */
  #takeText(bytes: Buffer, { number, from, to }: Frame, out: Inbound[]): void {
    const read = number === MESSAGE.text ? readCommandContent(bytes, from, to) : readLongAnswer(bytes, from, to);
    const isAnswer = read !== null && read.flag > 0 && read.flag <= this.#flag;
    const text = printable(isAnswer ? read.text : bytes.toString('latin1', from, to));
    if (!isAnswer) return void out.push({ type: 'text', text });
    const result = isRefusal(text) ? 'failed' : 'done';
    out.push({ type: 'answer', correlation: read.flag, answer: { type: 'acknowledged', result, text } });
  }

  /** Some makers put the IMEI of the login before a location. */
  #withoutImei(bytes: Buffer, frame: Frame): Frame {
    const { from, to } = frame;
    const isInFront =
      to - from >= IMEI_BYTES + LOCATION_BYTES && bytes.subarray(from, from + IMEI_BYTES).equals(this.#imei);
    return isInFront ? { ...frame, from: from + IMEI_BYTES } : frame;
  }

  #takeMessage(bytes: Buffer, frame: Frame, nowMs: number, out: Inbound[]): number {
    const { number, serial } = frame;
    switch (number) {
      case MESSAGE.text:
      case MESSAGE.textLong:
        this.#takeText(bytes, frame, out);
        break;
      case MESSAGE.time:
        out.push({ type: 'reply', bytes: buildFrame(number, timeBytes(nowMs), serial) });
        break;
      default: {
        const position = readPacket(bytes, this.#withoutImei(bytes, frame), nowMs);
        const ack = ANSWERED.has(number) || !isDocumented(number) ? buildFrame(number, NOTHING, serial) : null;
        if (position === null && frame.from === frame.to && ANSWERED.has(number)) {
          // A heartbeat without content.
          out.push({ type: 'positions', positions: [], ack });
        } else if (position === null) {
          const content = bytes.toString('hex', frame.from, Math.min(frame.to, frame.from + MAX_SHOWN_BYTES));
          const detail = `message 0x${number.toString(16)} of ${frame.to - frame.from} bytes is not known: ${content}`;
          this.leaveOut(out, detail, ack ?? buildFrame(number, NOTHING, serial));
        } else if (typeof position === 'string') this.leaveOut(out, position, ack);
        else {
          if (position.fixTimeMs !== nowMs) position.fixTimeMs = this.#clock.utcOf(position.fixTimeMs, nowMs);
          out.push({ type: 'positions', positions: [position], ack });
        }
      }
    }
    return frame.bytes;
  }
}

/** UTC offset in minutes from the login, which has a terminal type and a zone after the IMEI; 0 where it has none. */
function zoneOf(bytes: Buffer, { from, to }: Frame): number {
  const at = from + IMEI_BYTES + KIND_BYTES;
  if (to - at < ZONE_BYTES) return 0;
  const zone = bytes.readUInt16BE(at);
  // Hours and minutes as one number such as 530, then the sign and the language.
  const [hours, minutes] = [Math.floor((zone >> 4) / 100), (zone >> 4) % 100];
  if (hours > MAX_ZONE_HOURS || minutes >= 60) return 0;
  return (hours * 60 + minutes) * ((zone & WEST) === 0 ? 1 : -1);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').trim();
}

/** UTC, as requested by the terminal. */
function timeBytes(nowMs: number): Buffer {
  const now = new Date(nowMs);
  return Buffer.of(
    now.getUTCFullYear() - 2000,
    now.getUTCMonth() + 1,
    now.getUTCDate(),
    now.getUTCHours(),
    now.getUTCMinutes(),
    now.getUTCSeconds(),
  );
}
