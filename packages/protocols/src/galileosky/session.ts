import type { TerminalId } from '@outrider/domain';
import { crc16Modbus } from '../crc16.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { readCompressed } from './compressed.ts';
import { readPacket } from './records.ts';

/** Packets of the archive have about 1,000 bytes. */
export const MAX_FRAME_BYTES = 8192;

const HEAD = 0x01;
const COMPRESSED_HEAD = 0x08;
const ANSWER = 0x02;
/** Bit of the length field: the archive holds more packets. */
const ARCHIVE_BIT = 0x8000;

/**
 * Galileosky: binary packets of tags with a CRC. The first packet names the IMEI. Each packet is acknowledged with its
 * own checksum once its records are durable; without that, the terminal sends it again. Compressed packets have another
 * header and name the IMEI each time.
 */
export class GalileoskySession extends FramedSession {
  #terminalId: TerminalId | null = null;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const head = bytes[from] as number;
    if (head !== HEAD && head !== COMPRESSED_HEAD)
      return this.refuse(out, 'bad-frame', 'a packet begins with 01 or 08');
    if (bytes.length - from < 3) return 0;
    const length = bytes.readUInt16LE(from + 1) & ~ARCHIVE_BIT;
    const total = 3 + length + 2;
    if (length === 0 || total > MAX_FRAME_BYTES) return this.refuse(out, 'bad-length', `a packet of ${length} bytes`);
    if (bytes.length - from < total) return 0;
    const end = from + 3 + length;
    const checksum = crc16Modbus(bytes, from, end);
    if (bytes.readUInt16LE(end) !== checksum)
      return this.refuse(out, 'bad-checksum', 'the checksum of a packet is wrong');
    const read = head === HEAD ? readPacket : readCompressed;
    const packet = read(bytes, from + 3, end, nowMs);
    if ('reason' in packet) return this.refuse(out, packet.reason, packet.detail, null, this.#ids());

    const ack = Buffer.of(ANSWER, checksum & 0xff, checksum >> 8);
    const { imei, positions, texts, unread } = packet;
    const isFirst = this.#terminalId === null;
    if (isFirst) {
      if (imei === null) return this.refuse(out, 'not-identified', 'the first packet has no IMEI');
      this.#terminalId = imei;
      const accept = positions.length === 0 && texts.length === 0 ? ack : null;
      out.push({ type: 'identify', terminalId: imei, accept, reject: null });
      if (accept !== null) return total;
    } else if (imei !== null && imei !== this.#terminalId)
      return this.refuse(out, 'bad-content', 'a packet with another IMEI');
    if (unread !== null) out.push({ type: 'unread', detail: unread });
    for (const text of texts) out.push({ type: 'text', text });
    out.push({ type: 'positions', positions, ack });
    return total;
  }

  #ids(): readonly TerminalId[] {
    return this.#terminalId === null ? [] : [this.#terminalId];
  }
}

/** Builds a packet of tags. */
export function buildPacket(tags: Uint8Array, head = HEAD): Buffer {
  const packet = Buffer.alloc(3 + tags.length + 2);
  packet[0] = head;
  packet.writeUInt16LE(tags.length, 1);
  packet.set(tags, 3);
  packet.writeUInt16LE(crc16Modbus(packet, 0, packet.length - 2), packet.length - 2);
  return packet;
}
