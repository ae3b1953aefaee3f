import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { crc16Arc } from '../crc16.ts';
import type { CreateSimulator, Inbound, Session, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { ENVELOPE_BYTES } from './messages.ts';
import { createTeltonikaSimulator } from './simulator.ts';

/** Length of the rest, packet id, an unused byte, id of the AVL packet, length of the IMEI. */
const HEAD_BYTES = 8;
/** Bytes of the length field itself, which it does not count. */
const LENGTH_BYTES = 2;
const ANSWER_LENGTH = 5;
const WITHOUT_ANSWER = 1;
const NOTHING = Buffer.alloc(0);

/**
 * Teltonika over UDP (the wiki, "UDP channel protocol"): each packet holds the IMEI, ids, and the records as over TCP,
 * without zeros, length and checksum. It is read as the same packet over TCP. The answer repeats both ids.
 */
export class TeltonikaDatagramSession implements Session {
  readonly #createOverTcp: () => Session;

  /** @param createOverTcp creates the session that reads the packets */
  constructor(createOverTcp: () => Session) {
    this.#createOverTcp = createOverTcp;
  }

  push(chunk: Buffer, nowMs: number): Inbound[] {
    const out: Inbound[] = [];
    const session = this.#createOverTcp();
    let imei: string | null = null;
    for (let from = 0; from < chunk.length; ) {
      const bytes = LENGTH_BYTES + (chunk.length - from >= HEAD_BYTES ? chunk.readUInt16BE(from) : 0);
      if (bytes < HEAD_BYTES || from + bytes > chunk.length) return refused(out, 'bad-length', 'a packet is cut off');
      const records = from + HEAD_BYTES + chunk.readUInt16BE(from + 6);
      if (records > from + bytes) return refused(out, 'bad-length', 'an IMEI is longer than its packet');
      const said = chunk.toString('latin1', from + HEAD_BYTES, records);
      if (imei !== null && said !== imei) return refused(out, 'bad-content', 'a packet with another IMEI');
      if (imei === null) out.push(...login(session, chunk.subarray(from + 6, records), nowMs));
      imei = said;
      const answer = answerTo(chunk, from);
      for (const message of session.push(packetOverTcp(chunk.subarray(records, from + bytes)), nowMs))
        out.push(answered(message, answer));
      if (out.some(({ type }) => type === 'refuse')) return out;
      from += bytes;
    }
    return out;
  }

  /** Always 0: a packet is in one datagram. */
  dropUnfinished(): number {
    return 0;
  }
}

function refused(out: Inbound[], reason: 'bad-length' | 'bad-content', detail: string): Inbound[] {
  out.push({ type: 'refuse', reason, detail, bytes: null });
  return out;
}

/** Logs in without an answer, because the IMEI arrives together with its records. */
function login(session: Session, imei: Buffer, nowMs: number): Inbound[] {
  return session.push(imei, nowMs).map((message): Inbound => {
    if (message.type === 'identify') return { ...message, accept: null, reject: null };
    return message.type === 'refuse' ? { ...message, bytes: null } : message;
  });
}

function packetOverTcp(records: Buffer): Buffer {
  const packet = Buffer.alloc(ENVELOPE_BYTES + records.length);
  packet.writeUInt32BE(records.length, 4);
  records.copy(packet, 8);
  packet.writeUInt32BE(crc16Arc(packet, 8, 8 + records.length), 8 + records.length);
  return packet;
}

/** The answer without the number of records. */
function answerTo(chunk: Buffer, from: number): Buffer {
  const answer = Buffer.alloc(LENGTH_BYTES + ANSWER_LENGTH);
  answer.writeUInt16BE(ANSWER_LENGTH, 0);
  chunk.copy(answer, 2, from + 2, from + 4);
  answer[4] = WITHOUT_ANSWER;
  answer[5] = chunk[from + 5] as number;
  return answer;
}

/** Adds the number of records, the last byte of the answer over TCP. */
function answered(message: Inbound, answer: Buffer): Inbound {
  if (message.type === 'refuse') return { ...message, bytes: null };
  if (message.type !== 'positions' || message.ack === null) return message;
  const ack = Buffer.from(answer);
  ack[ack.length - 1] = message.ack[message.ack.length - 1] as number;
  return { ...message, ack };
}

/** A terminal that speaks Codec 8 over UDP. */
export const createTeltonikaDatagramSimulator: CreateSimulator = (terminalId) =>
  new TeltonikaDatagramSimulator(terminalId);

class TeltonikaDatagramSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket: number;
  readonly #overTcp: TerminalSimulator;
  readonly #imei: Buffer;
  #packetId = 0;
  /** Number of records of each packet without an answer, by packet id. */
  readonly #unanswered = new Map<number, number>();
  #received = NOTHING;

  constructor(terminalId: TerminalId) {
    this.#overTcp = createTeltonikaSimulator(terminalId);
    this.#imei = Buffer.from(terminalId, 'latin1');
    this.maxPositionsPerPacket = this.#overTcp.maxPositionsPerPacket;
  }

  /** No login: each packet holds the IMEI. */
  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const packet = this.#overTcp.encode(positions);
    this.#packetId = (this.#packetId + 1) & 0xff;
    this.#unanswered.set(this.#packetId, positions.length);
    const records = packet.subarray(8, packet.length - 4);
    return new ByteWriter()
      .clear()
      .u16be(HEAD_BYTES - LENGTH_BYTES + this.#imei.length + records.length)
      .u16be(this.#packetId)
      .u8(0)
      .u8(this.#packetId)
      .u16be(this.#imei.length)
      .append(this.#imei)
      .append(records)
      .toBuffer();
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const replies: SimulatorReply[] = [];
    let bytes = Buffer.concat([this.#received, chunk]);
    for (; bytes.length >= LENGTH_BYTES + ANSWER_LENGTH; bytes = bytes.subarray(LENGTH_BYTES + ANSWER_LENGTH)) {
      const id = bytes[5] as number;
      const count = this.#unanswered.get(id);
      this.#unanswered.delete(id);
      // The answer to a repeated packet.
      if (count === undefined) continue;
      const isTaken = bytes[6] === count && bytes.readUInt16BE(2) === id;
      replies.push(isTaken ? { type: 'ack' } : { type: 'refused', detail: `${bytes[6]} records taken of ${count}` });
    }
    this.#received = Buffer.from(bytes);
    return replies;
  }
}
