import type { Position, TerminalCommand, TerminalId } from '@outrider/domain';
import { LineSession } from '../line-session.ts';
import type { Inbound, SentCommand } from '../protocol.ts';
import { endOfHex, HEX_KINDS, KIND_BYTES, readHex } from './hex.ts';
import { readPlaces } from './message.ts';
import { endOfFrame, HEARTBEAT_MARK, REPORT_MARK, readFrame } from './records.ts';

/** A report holds up to 15 places. */
export const MAX_FRAME_BYTES = 4096;

const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const DOLLAR = 0x24;
/** `+RESP:` is new, `+BUFF:` is buffered, `+ACK:` acknowledges a command, `+NACK:` refuses it. */
const HEAD = /^\+(RESP|BUFF|ACK|NACK|EVT):(GT[A-Z\d]{3}|[A-Z]{2,10})$/;
/** An IMEI, or the MEID of a terminal without one. */
const UNIQUE_ID = /^[\dA-F]{14,15}$/i;
const HEARTBEAT = 'GTHBD';
const HEX_HEARTBEAT = '+HBD';
/** A command and its number, which its acknowledgement repeats. */
const COMMAND = /^AT(?:\+(GT[A-Z]{3})|@([A-Z]{2,10}))=(?:.*,([\dA-F]{4})\$?$)?/i;

const isLetter = (byte: number | undefined) => byte !== undefined && byte >= 0x41 && byte <= 0x5a;

/**
 * Queclink @Track: text reports of comma-separated fields that end with a dollar sign, or binary reports as HEX
 * messages ({@link readHex}) and frames of records ({@link readFrame}). With server acknowledgement (SACK) on, each is
 * answered with its count, in text; without that answer, the terminal sends it again.
 */
export class QueclinkSession extends LineSession {
  #terminalId: TerminalId | null = null;
  #correlation = 0;
  /** The command that the terminal has not answered. */
  #pending: { name: string; serial: string | null; correlation: number } | null = null;

  constructor() {
    super({ maxLineBytes: MAX_FRAME_BYTES, ends: [DOLLAR, 0], between: [0, 0x0a, 0x0d] });
  }

  /** Sends an air interface command unchanged; null before the terminal is known, and for other commands. */
  command(command: TerminalCommand): SentCommand | null {
    if (this.#terminalId === null || !('parameters' in command) || command.type !== 'text') return null;
    const { text } = command.parameters;
    const [, ofText, ofRecords, serial] = COMMAND.exec(text) ?? [];
    const name = ofText ?? ofRecords;
    if (name === undefined) return null;
    this.#pending = { name, serial: serial?.toUpperCase() ?? null, correlation: ++this.#correlation };
    return { correlation: this.#correlation, bytes: Buffer.from(text.endsWith('$') ? text : `${text}$`, 'latin1') };
  }

  protected override begins(byte: number): boolean {
    return byte === PLUS;
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const [first, second] = bytes.subarray(from, from + 2);
    if (first !== PLUS && first !== MINUS) return super.take(bytes, from, nowMs, out);
    if (second === undefined) return 0;
    if (second === REPORT_MARK || (second === HEARTBEAT_MARK && first === PLUS))
      return this.#takeFrame(bytes, from, out);
    if (first === MINUS) return this.refuse(out, 'bad-frame', 'a minus that no frame of records follows');
    // Text has a colon and a letter after its kind.
    if (bytes.length - from < KIND_BYTES + 2) return 0;
    const isHex =
      HEX_KINDS.has(bytes.toString('latin1', from + 1, from + KIND_BYTES)) &&
      !(bytes[from + KIND_BYTES] === COLON && isLetter(bytes[from + KIND_BYTES + 1]));
    return isHex ? this.#takeHex(bytes, from, out) : super.take(bytes, from, nowMs, out);
  }

  #takeFrame(bytes: Buffer, from: number, out: Inbound[]): number {
    const end = endOfFrame(bytes, from, MAX_FRAME_BYTES);
    if (typeof end === 'object') return this.refuse(out, end.reason, end.detail);
    if (end === 0) return 0;
    const frame = readFrame(bytes.subarray(from, end));
    if (frame === null) return this.refuse(out, 'bad-content', 'a frame without an IMEI');
    if (!this.#isIdentified(frame.imei, out)) return 0;
    this.#deliver(frame.positions, frame.count, out);
    return end - from;
  }

  #takeHex(bytes: Buffer, from: number, out: Inbound[]): number {
    const end = endOfHex(bytes, from, MAX_FRAME_BYTES);
    if (typeof end === 'object') return this.refuse(out, end.reason, end.detail);
    if (end === 0) return 0;
    const message = readHex(bytes.subarray(from, end));
    if (!this.#isIdentified(message.imei, out)) return 0;
    const { count, version, serial } = message;
    if (serial !== null && this.#pending?.serial === serial)
      this.#answer('done', `acknowledged, number ${serial}`, out);
    const isHeartbeat = bytes.toString('latin1', from, from + KIND_BYTES) === HEX_HEARTBEAT;
    if (isHeartbeat && count !== null) this.#answerHeartbeat(version, count, out);
    else this.#deliver(message.positions, count, out);
    return end - from;
  }

  protected override takeLine(line: string, _nowMs: number, out: Inbound[]): boolean {
    const [start = '', ...all] = line.split(',');
    const head = HEAD.exec(start);
    // The IMEI comes first in the first models, which send no version, and in newer ones, which send it after the IMEI.
    const idAt = UNIQUE_ID.test(all[0] ?? '') ? 0 : 1;
    const [version = '', imei = ''] = [idAt === 0 ? '' : all[0], all[idAt]];
    const fields = all.slice(idAt + 1);
    if (head === null || !UNIQUE_ID.test(imei)) {
      const detail = 'a report begins with +RESP, +BUFF or +ACK, its name, a version and an IMEI';
      if (this.#terminalId !== null) return this.leaveOut(out, detail);
      this.refuse(out, 'bad-content', detail);
      return false;
    }
    if (!this.#isIdentified(imei, out)) return false;
    const [, kind, report = ''] = head;
    const last = fields.at(-1) ?? '';
    const count = /^[0-9A-F]{4}$/i.test(last) ? last : null;
    if (report === HEARTBEAT) {
      this.#answerHeartbeat(version, last, out);
      return true;
    }
    const isAnswer = kind === 'ACK' || kind === 'NACK';
    if (isAnswer && this.#pending?.name === report) this.#answer(kind === 'ACK' ? 'done' : 'failed', line, out);
    // The answer to a command holds no place.
    this.#deliver(isAnswer ? [] : readPlaces(report, fields), count, out);
    return true;
  }

  /**
   * The first message with an id identifies the terminal.
   *
   * @param imei null where the message has none
   * @returns false after a refusal
   */
  #isIdentified(imei: string | null, out: Inbound[]): boolean {
    if (this.#terminalId === null) {
      if (imei === null) {
        this.refuse(out, 'not-identified', 'a message without an IMEI; reports in HEX have it where the mask says so');
        return false;
      }
      this.#terminalId = imei as TerminalId;
      out.push({ type: 'identify', terminalId: this.#terminalId, accept: null, reject: null });
    } else if (imei !== null && this.#terminalId !== imei) {
      this.refuse(out, 'bad-content', 'a report with another IMEI');
      return false;
    }
    return true;
  }

  #answerHeartbeat(version: string, count: string, out: Inbound[]): void {
    out.push({ type: 'positions', positions: [], ack: Buffer.from(`+SACK:GTHBD,${version},${count}$`, 'latin1') });
  }

  #answer(result: 'done' | 'failed', text: string, out: Inbound[]): void {
    if (this.#pending === null) return;
    out.push({
      type: 'answer',
      correlation: this.#pending.correlation,
      answer: { type: 'acknowledged', result, text },
    });
    this.#pending = null;
  }

  /** @param positions a text describes what is wrong */
  #deliver(positions: Position[] | string, count: string | null, out: Inbound[]): void {
    const ack = count === null ? null : Buffer.from(`+SACK:${count}$`, 'latin1');
    if (typeof positions === 'string') this.leaveOut(out, positions, ack);
    else out.push({ type: 'positions', positions, ack });
  }
}
