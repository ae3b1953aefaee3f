import type { TerminalId } from '@outrider/domain';
import { LineSession } from '../line-session.ts';
import type { Inbound } from '../protocol.ts';
import { readPlace } from './message.ts';

export const MAX_FRAME_BYTES = 1024;

const OPENING = 0x28;
const CLOSING = 0x29;
/** The terminal's digits, usually 12, two letters, two digits; some models separate them by commas. */
const HEAD = /^\((\d{12,15}),?([A-Z]{2}\d{2}),?/;
const IMEI_DIGITS = 15;

/**
 * TK103: messages in brackets, each with the terminal's number. The login and the handshake are answered, and alarms
 * are confirmed; regular places are not. Other messages are accepted and not answered.
 */
export class Tk103Session extends LineSession {
  #terminalId: TerminalId | null = null;

  constructor() {
    super({ maxLineBytes: MAX_FRAME_BYTES, ends: [CLOSING] });
  }

  protected override begins(byte: number): boolean {
    return byte === OPENING;
  }

  protected override takeLine(line: string, _nowMs: number, out: Inbound[]): boolean {
    const head = HEAD.exec(line);
    if (head === null) {
      const detail = 'a message begins with the 12 digits of the terminal and its name';
      if (this.#terminalId !== null) return this.leaveOut(out, detail);
      this.refuse(out, 'bad-content', detail);
      return false;
    }
    const [start, number = '', message = ''] = head;
    if (this.#terminalId === null) {
      this.#terminalId = number as TerminalId;
      out.push({ type: 'identify', terminalId: this.#terminalId, accept: null, reject: null });
    } else if (this.#terminalId !== number) {
      this.refuse(out, 'bad-content', 'a message with another number');
      return false;
    }
    const content = line.slice(start.length);
    const answer = (text: string) => Buffer.from(`(${number}${text})`, 'latin1');
    switch (message) {
      case 'BP00':
        return this.#take(null, null, answer('AP01HSO'), out);
      case 'BP05':
        return this.#take(content.slice(IMEI_DIGITS), null, answer('AP05'), out);
      case 'BR00':
      case 'BP04':
        return this.#take(content, null, null, out);
      case 'BO01':
        return this.#take(content.slice(1), content.slice(0, 1), answer(`AS01${content.slice(0, 1)}`), out);
      default:
        return this.#take(null, null, null, out);
    }
  }

  /** @returns whether the session continues */
  #take(place: string | null, alarmCode: string | null, ack: Buffer | null, out: Inbound[]): boolean {
    if (place === null || place === '') {
      out.push({ type: 'positions', positions: [], ack });
      return true;
    }
    const position = readPlace(place, alarmCode);
    if (typeof position === 'string') return this.leaveOut(out, position, ack);
    out.push({ type: 'positions', positions: [position], ack });
    return true;
  }
}
