import type { TerminalCommand, TerminalId } from '@outrider/domain';
import { crc16Kermit } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound, SentCommand } from '../protocol.ts';
import {
  ANSWER_FAULT_CODES,
  ANSWER_HEARTBEAT,
  ANSWER_IDENTIFICATION,
  ANSWER_RECORDS,
  COMMAND,
  readRecords,
  TEXT,
} from './records.ts';

/** The maker's limit is 1,024 bytes of records. */
export const MAX_FRAME_BYTES = 2048;

/** IMEI and command, present in every packet. */
const LEAST_CONTENT_BYTES = 9;
const ACCEPTED = 1;
const NOT_ACCEPTED = 0;

/**
 * Ruptela: binary packets with a CRC, each with the IMEI. Records are answered with one byte once they are durable; the
 * terminal then deletes them. Text commands have the syntax of SMS commands, and terminals answer them. Other messages,
 * such as files, are accepted and not answered.
 */
export class RuptelaSession extends FramedSession {
  #terminalId: TerminalId | null = null;
  #correlation = 0;
  /** Correlation of the command that the terminal has not answered. */
  #pending: number | null = null;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    if (bytes.length - from < 2) return 0;
    const length = bytes.readUInt16BE(from);
    const total = 2 + length + 2;
    if (length < LEAST_CONTENT_BYTES || total > MAX_FRAME_BYTES)
      return this.refuse(out, 'bad-length', `a packet of ${length} bytes`);
    if (bytes.length - from < total) return 0;
    const end = from + 2 + length;
    if (bytes.readUInt16BE(end) !== crc16Kermit(bytes, from + 2, end))
      return this.refuse(out, 'bad-checksum', 'the checksum of a packet is wrong');
    const imei = bytes.readBigUInt64BE(from + 2).toString() as TerminalId;
    if (!/^\d{15}$/.test(imei)) return this.refuse(out, 'bad-content', 'an IMEI has 15 digits');
    if (this.#terminalId !== null && this.#terminalId !== imei)
      return this.refuse(out, 'bad-content', 'a packet with another IMEI');
    const command = bytes[from + 10] as number;
    if (this.#terminalId === null) {
      this.#terminalId = imei;
      const isIdentification = command === COMMAND.identification;
      const accept = isIdentification ? buildPacket(ANSWER_IDENTIFICATION, Buffer.of(ACCEPTED)) : null;
      const reject = isIdentification ? buildPacket(ANSWER_IDENTIFICATION, Buffer.of(NOT_ACCEPTED)) : null;
      out.push({ type: 'identify', terminalId: imei, accept, reject });
      if (isIdentification) return total;
    }
    return this.#takeCommand(command, bytes, from + 11, end, out) ? total : 0;
  }

  /** Sends a text command unchanged; null before the terminal is known, and for other commands. */
  command(command: TerminalCommand): SentCommand | null {
    if (this.#terminalId === null || !('parameters' in command) || command.type !== 'text') return null;
    this.#pending = ++this.#correlation;
    return { correlation: this.#pending, bytes: buildPacket(TEXT, Buffer.from(command.parameters.text, 'latin1')) };
  }

  /** Answers have no number: an answer belongs to the command before it. */
  #takeAnswer(text: string, out: Inbound[]): void {
    if (this.#pending === null) {
      out.push({ type: 'text', text });
      return;
    }
    const result = isRefusal(text) ? 'failed' : 'done';
    out.push({ type: 'answer', correlation: this.#pending, answer: { type: 'acknowledged', result, text } });
    this.#pending = null;
  }

  /** @returns whether the session continues */
  #takeCommand(command: number, bytes: Buffer, from: number, to: number, out: Inbound[]): boolean {
    switch (command) {
      case COMMAND.records:
      case COMMAND.recordsExtended: {
        const positions = readRecords(bytes, from, to, command === COMMAND.recordsExtended);
        if (typeof positions === 'string') {
          this.refuse(out, 'bad-content', positions);
          return false;
        }
        out.push({ type: 'positions', positions, ack: buildPacket(ANSWER_RECORDS, Buffer.of(ACCEPTED)) });
        break;
      }
      case COMMAND.identification:
        out.push({ type: 'reply', bytes: buildPacket(ANSWER_IDENTIFICATION, Buffer.of(ACCEPTED)) });
        break;
      case COMMAND.heartbeat:
        out.push({ type: 'reply', bytes: buildPacket(ANSWER_HEARTBEAT, Buffer.of(ACCEPTED)) });
        break;
      case COMMAND.textAnswer:
        this.#takeAnswer(printable(bytes.toString('latin1', from, to)), out);
        break;
      case COMMAND.faultCodes:
        out.push({ type: 'positions', positions: [], ack: buildPacket(ANSWER_FAULT_CODES, Buffer.of(ACCEPTED)) });
        break;
      default:
        out.push({ type: 'positions', positions: [], ack: null });
    }
    return true;
  }
}

/** Builds a packet of the server: length, command, content, checksum. */
export function buildPacket(command: number, content: Uint8Array): Buffer {
  const packet = Buffer.alloc(2 + 1 + content.length + 2);
  packet.writeUInt16BE(1 + content.length, 0);
  packet[2] = command;
  packet.set(content, 3);
  packet.writeUInt16BE(crc16Kermit(packet, 2, packet.length - 2), packet.length - 2);
  return packet;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').trim();
}

/** Whether the text reports that the terminal did not execute the command. */
function isRefusal(text: string): boolean {
  return /fail|error|incorrect|invalid|unknown|wrong|not /i.test(text);
}
