import type { TerminalId } from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import { type Inbound, LET_IN_ALL, type LetIn, type SessionOptions } from '../protocol.ts';
import { readPacket } from './packet.ts';

/** Of a longer packet, only the blocks within this limit are read. Only photos make packets longer. */
export const MAX_FRAME_BYTES = 65_536;
/** A larger size is not that of a packet. */
const MAX_PACKET_BYTES = 16 * 1024 * 1024;
/** Minimum: an empty terminal id, time and flags. */
const LEAST_CONTENT_BYTES = 9;

export const ACKNOWLEDGEMENT = 0x11;

/**
 * Wialon Retranslator: a platform sends packets of many terminals, each with the id of its terminal, and waits for a
 * byte after each. It sends a packet again until it gets that byte, so packets of terminals that are refused are
 * confirmed as well.
 */
export class WialonRetranslatorSession extends FramedSession {
  readonly #letIn: LetIn;
  /** Bytes of a long packet that have not arrived yet. */
  #unread = 0;

  constructor({ letIn = LET_IN_ALL }: SessionOptions = {}) {
    super(MAX_FRAME_BYTES);
    this.#letIn = letIn;
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    if (this.#unread > 0) return this.#skip(bytes.length - from, out);
    if (bytes.length - from < 4) return 0;
    const total = 4 + bytes.readUInt32LE(from);
    if (total < 4 + LEAST_CONTENT_BYTES || total > MAX_PACKET_BYTES)
      return this.refuse(out, 'bad-length', `a packet of ${total - 4} bytes`);
    const length = Math.min(total, MAX_FRAME_BYTES);
    if (bytes.length - from < length) return 0;

    const isWhole = length === total;
    const packet = readPacket(bytes, from + 4, from + length, isWhole);
    if (typeof packet === 'string') return this.refuse(out, 'bad-content', packet);
    const entry = this.#letIn([packet.terminalId as TerminalId], null);
    if (entry.type === 'blocked') return this.refuse(out, 'address-blocked', entry.detail);
    // A long packet is confirmed at its end.
    const ack = isWhole ? Buffer.of(ACKNOWLEDGEMENT) : null;
    this.#unread = total - length;
    if (entry.type === 'taken')
      out.push({ type: 'positions', terminalId: entry.terminalId, positions: [packet.position], ack });
    else if (ack !== null) out.push({ type: 'reply', bytes: ack });
    return length;
  }

  #skip(available: number, out: Inbound[]): number {
    const skipped = Math.min(this.#unread, available);
    this.#unread -= skipped;
    if (this.#unread === 0) out.push({ type: 'reply', bytes: Buffer.of(ACKNOWLEDGEMENT) });
    return skipped;
  }
}
