import type { TerminalId } from '@outrider/domain';
import { LineSession } from '../line-session.ts';
import type { Inbound } from '../protocol.ts';
import { readReport } from './message.ts';

export const MAX_FRAME_BYTES = 1024;

const SEMICOLON = 0x3b;
const LOGIN = /^##,imei:(\d{15}),A$/;
const HEARTBEAT = /^(?:imei:)?(\d{15})$/;
/** Some models send a heartbeat without a terminator before the report. */
const REPORT = /^(?:\d{15})?imei:(\d{15}),/;
// Shared buffers, never modified.
const LOAD = Buffer.from('LOAD', 'latin1');
const ON = Buffer.from('ON', 'latin1');

/**
 * GPS103, of Coban trackers: lines of text that end with a semicolon. A login is answered with `LOAD` and a heartbeat
 * with `ON`. Reports are not answered, except for the panic button: the terminal repeats it until the server confirms
 * it.
 */
export class Gps103Session extends LineSession {
  #terminalId: TerminalId | null = null;

  constructor() {
    super({ maxLineBytes: MAX_FRAME_BYTES, ends: [SEMICOLON] });
  }

  protected override begins(byte: number): boolean {
    // `##`, `imei`, or the digits of a heartbeat.
    return byte === 0x23 || byte === 0x69 || (byte >= 0x30 && byte <= 0x39);
  }

  protected override takeLine(line: string, nowMs: number, out: Inbound[]): boolean {
    const login = LOGIN.exec(line)?.[1];
    if (login !== undefined) return this.#identify(login, LOAD, out);
    const heartbeat = HEARTBEAT.exec(line)?.[1];
    if (heartbeat !== undefined) return this.#identify(heartbeat, ON, out);
    const reporting = REPORT.exec(line)?.[1];
    if (reporting === undefined) {
      const detail = 'a line is a login, a heartbeat or a report with an IMEI';
      if (this.#terminalId !== null) return this.leaveOut(out, detail);
      this.refuse(out, 'bad-content', detail);
      return false;
    }
    if (this.#terminalId !== reporting && !this.#identify(reporting, null, out)) return false;
    const fields = line.split(',').slice(1);
    const position = readReport(fields, nowMs);
    if (typeof position === 'string') return this.leaveOut(out, position);
    const isPanic = position.alarms.includes('sos');
    const ack = isPanic ? Buffer.from(`**,imei:${reporting},E;`, 'latin1') : null;
    out.push({ type: 'positions', positions: [position], ack });
    return true;
  }

  #identify(imei: string, answer: Buffer | null, out: Inbound[]): boolean {
    if (this.#terminalId === null) {
      this.#terminalId = imei as TerminalId;
      out.push({ type: 'identify', terminalId: this.#terminalId, accept: answer, reject: null });
    } else if (this.#terminalId !== imei) {
      this.refuse(out, 'bad-content', 'a line with another IMEI');
      return false;
      // Queued as an acknowledgement, so that it is sent after the reports before it are durable.
    } else if (answer !== null) out.push({ type: 'positions', positions: [], ack: answer });
    return true;
  }
}
