import type { Position, TerminalId } from '@outrider/domain';
import { crc8 } from '../crc8.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { FIELDS_OF_FLEX_2, type Layout, layoutOf } from './fields.ts';
import { buildFlex, buildNtcb, readNtcb } from './frame.ts';
import { readRecord } from './record.ts';

export const MAX_FRAME_BYTES = 65_536;

const NTCB_MARK = 0x40; // @
const FLEX_MARK = 0x7e; // ~
/** A byte that keeps the connection alive. It is not answered. */
export const PING = 0x7f;

export const FLEX = { protocol: 0xb0, version1: 10, version2: 20 } as const;

/** Bytes before the records of each type of packet, including the mark and the type, and after them. */
const CHECKSUM_BYTES = 1;
const HEAD_BYTES = { A: 3, T: 6, C: 2, E: 3, X: 6 } as const;

/**
 * Navtelecom: in NTCB frames, the terminal identifies itself and names the fields of its records. FLEX packets with
 * only these fields follow. The terminal deletes its records once a packet is answered. A terminal that requests FLEX
 * 3.0 is offered 2.0, all of whose fields are known here.
 */
export class NavtelecomSession extends FramedSession {
  #terminalId: TerminalId | null = null;
  #layout: Layout | null = null;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    switch (bytes[from]) {
      case PING:
        return this.takePing(this.#terminalId !== null, out);
      case NTCB_MARK:
        return this.#takeNtcb(bytes, from, out);
      case FLEX_MARK:
        return this.#takeFlex(bytes, from, out);
      default:
        return this.refuse(out, 'bad-frame', `a frame begins with 0x${bytes[from]?.toString(16)}`);
    }
  }

  #takeNtcb(bytes: Buffer, from: number, out: Inbound[]): number {
    const frame = readNtcb(bytes, from, MAX_FRAME_BYTES);
    if (frame === null) return 0;
    if ('reason' in frame) return this.refuse(out, frame.reason, frame.detail);
    const { sender, body } = frame;
    const text = body.toString('latin1', 0, Math.min(body.length, 64));
    if (text.startsWith('*>S:')) {
      const imei = text.slice(4);
      if (!/^\d{15}$/.test(imei)) return this.refuse(out, 'bad-content', 'an IMEI has 15 digits');
      const accept = buildNtcb(sender, Buffer.from('*<S'));
      if (this.#terminalId === null)
        out.push({ type: 'identify', terminalId: imei as TerminalId, accept, reject: null });
      else if (this.#terminalId === imei) out.push({ type: 'positions', positions: [], ack: accept });
      else return this.refuse(out, 'bad-content', 'a second identity');
      this.#terminalId = imei as TerminalId;
      return frame.bytes;
    }
    if (this.#terminalId === null) return this.refuse(out, 'not-identified', 'data before the terminal said who it is');
    if (text.startsWith('*>FLEX')) return this.#negotiate(sender, body, out) ? frame.bytes : 0;
    // Telemetry of terminals older than FLEX.
    if (/^\*>[AT]/.test(text)) return this.refuse(out, 'unsupported', 'telemetry without FLEX');
    out.push({ type: 'text', text: body.toString('latin1') });
    return frame.bytes;
  }

  /** @returns whether the session continues */
  #negotiate(sender: number, body: Buffer, out: Inbound[]): boolean {
    const [protocol, version = 0, structure = 0, bits = 0] = body.subarray(6);
    const mask = body.subarray(10);
    if (protocol !== FLEX.protocol || mask.length < Math.ceil(bits / 8)) {
      this.refuse(out, 'bad-content', 'fields of FLEX that are cut off');
      return false;
    }
    const layout = layoutOf(mask.subarray(0, Math.ceil(bits / 8)));
    if (layout !== null && layout.recordBytes === 0) {
      this.refuse(out, 'bad-content', 'records without fields');
      return false;
    }
    const isSpoken = version <= FLEX.version2 && structure <= FLEX.version2 && bits <= FIELDS_OF_FLEX_2;
    this.#layout = isSpoken ? layout : null;
    // The terminal negotiates again with the fields of the version offered.
    const answer = [Math.min(version, FLEX.version2), Math.min(structure, FLEX.version2)];
    const ack = buildNtcb(sender, Buffer.concat([Buffer.from('*<FLEX'), Buffer.of(FLEX.protocol, ...answer)]));
    out.push({ type: 'positions', positions: [], ack });
    return true;
  }

  #takeFlex(bytes: Buffer, from: number, out: Inbound[]): number {
    if (bytes.length - from < 3) return 0;
    const type = String.fromCharCode(bytes[from + 1] as number);
    if (this.#terminalId === null) return this.refuse(out, 'not-identified', 'data before the terminal said who it is');
    if (type === 'E' || type === 'X') return this.#takeAdditional(type, bytes, from, out);
    if (type !== 'A' && type !== 'T' && type !== 'C') return this.refuse(out, 'bad-frame', `a packet of type ${type}`);
    if (this.#layout === null) return this.refuse(out, 'bad-content', 'a packet before its fields were agreed upon');
    const count = type === 'A' ? (bytes[from + 2] as number) : 1;
    const recordsFrom = from + HEAD_BYTES[type];
    const end = recordsFrom + count * this.#layout.recordBytes;
    if (end + CHECKSUM_BYTES - from > MAX_FRAME_BYTES)
      return this.refuse(out, 'bad-length', `a packet of ${end + CHECKSUM_BYTES - from} bytes`);
    if (bytes.length < end + CHECKSUM_BYTES) return 0;
    if (bytes[end] !== crc8(bytes, from, end))
      return this.refuse(out, 'bad-checksum', 'the checksum of a packet is wrong');
    const positions: Position[] = [];
    for (let at = recordsFrom; at < end; at += this.#layout.recordBytes) {
      const position = readRecord(this.#layout, bytes, at);
      if (position !== null) positions.push(position);
    }
    // The number of the packet, or that of the record, is between the type and the records.
    out.push({ type: 'positions', positions, ack: buildFlex(type, bytes.subarray(from + 2, recordsFrom)) });
    return end + CHECKSUM_BYTES - from;
  }

  /**
   * Additional packets: each record states its length. Their content is not read; they are confirmed like the others.
   */
  #takeAdditional(type: 'E' | 'X', bytes: Buffer, from: number, out: Inbound[]): number {
    let at = from + HEAD_BYTES[type];
    const count = type === 'E' ? (bytes[from + 2] as number) : 1;
    for (let record = 0; record < count; record += 1) {
      if (bytes.length < at + 2) return 0;
      at += 2 + bytes.readUInt16LE(at);
      if (at + CHECKSUM_BYTES - from > MAX_FRAME_BYTES)
        return this.refuse(out, 'bad-length', `an additional packet of ${at - from} bytes`);
    }
    if (bytes.length < at + CHECKSUM_BYTES) return 0;
    if (bytes[at] !== crc8(bytes, from, at))
      return this.refuse(out, 'unsupported', `an additional packet ~${type} of another form`);
    const ack = buildFlex(type, bytes.subarray(from + 2, from + HEAD_BYTES[type]));
    this.leaveOut(out, `an additional packet ~${type}`, ack);
    return at + CHECKSUM_BYTES - from;
  }
}
