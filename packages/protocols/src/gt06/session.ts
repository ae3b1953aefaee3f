import type { TerminalCommand, TerminalId } from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand } from '../protocol.ts';
import { commandContent, commandText, isRefusal, readCommandContent, readLongAnswer } from './commands.ts';
import { buildFrame, type Frame, isDocumented, MAX_FRAME_BYTES, MESSAGE, readFrame } from './frame.ts';
import { ANSWERED, readPacket } from './packets.ts';

const IMEI_BYTES = 8;
const NOTHING = Buffer.alloc(0);

/**
 * GT06, the protocol of Concox and of many makers that took it over: binary frames with a CRC. The terminal logs in
 * with its IMEI, then sends locations, alarms and heartbeats. Each is answered by its own number, and nothing else.
 *
 * A heartbeat is a position without a place: ignition, battery and signal of now; so are cells, and information that is
 * transmitted beside places. Messages without a meaning here are accepted and not answered, as the makers' documents
 * have it.
 */
export class Gt06Session extends FramedSession {
  #terminalId: TerminalId | null = null;
  /** Of the newest command: the server's flag. */
  #flag = 0;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const frame = readFrame(bytes, from);
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
    // Fifteen digits in eight bytes: the first half of a byte is free.
    const terminalId = digits.replace(/^0/, '') as TerminalId;
    const accept = buildFrame(MESSAGE.login, NOTHING, frame.serial);
    if (this.#terminalId === null) out.push({ type: 'identify', terminalId, accept, reject: null });
    else if (this.#terminalId === terminalId) out.push({ type: 'reply', bytes: accept });
    else return this.refuse(out, 'bad-content', 'a second login with another IMEI');
    this.#terminalId = terminalId;
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

  /** The answer to a command repeats its flag; other texts are of the terminal's own. */
  #takeText(bytes: Buffer, { number, from, to }: Frame, out: Inbound[]): void {
    const read = number === MESSAGE.text ? readCommandContent(bytes, from, to) : readLongAnswer(bytes, from, to);
    const isAnswer = read !== null && read.flag > 0 && read.flag <= this.#flag;
    const text = printable(isAnswer ? read.text : bytes.toString('latin1', from, to));
    if (!isAnswer) return void out.push({ type: 'text', text });
    const result = isRefusal(text) ? 'failed' : 'done';
    out.push({ type: 'answer', correlation: read.flag, answer: { type: 'acknowledged', result, text } });
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
        const position = readPacket(bytes, frame, nowMs);
        const isAnswered = ANSWERED.has(number) || (position !== null && !isDocumented(number));
        const ack = isAnswered ? buildFrame(number, NOTHING, serial) : null;
        if (typeof position === 'string') {
          this.leaveOut(out, position, ack);
          break;
        }
        out.push({ type: 'positions', positions: position === null ? [] : [position], ack });
      }
    }
    return frame.bytes;
  }
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').trim();
}

/** UTC, as the terminal asks for it. */
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
