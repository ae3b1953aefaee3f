import { crc8 } from '../crc8.ts';
import { crc16CcittFalse } from '../crc16.ts';

/** Packet types. */
export const PACKET = { response: 0, data: 1, signedData: 2 } as const;
export const SERVICE = { auth: 1, teledata: 2 } as const;
/** Result codes of the standard. */
export const RESULT = { ok: 0, unknownObject: 146, unknownId: 153 } as const;

/** The longest packet of the standard: a header of 16 bytes, 65,517 bytes of data, a checksum. */
export const MAX_FRAME_BYTES = 65_535;

const VERSION = 1;
const HEADER_BYTES = 11;
const ROUTED_HEADER_BYTES = 16;
/** Record flags: which optional fields are present. */
const RECORD = { object: 0x01, event: 0x02, time: 0x04 } as const;
/** The recipient's service is on the platform. */
const RECIPIENT_ON_PLATFORM = 0x40;

export interface Packet {
  type: number;
  id: number;
  /** Start of the data. */
  from: number;
  to: number;
  bytes: number;
}

export interface Fault {
  reason: 'bad-frame' | 'bad-length' | 'bad-checksum' | 'unsupported';
  detail: string;
}

/** @returns null where the packet is incomplete */
export function readPacket(bytes: Buffer, from: number): Packet | Fault | null {
  if (bytes[from] !== VERSION) return { reason: 'bad-frame', detail: 'a packet begins with version 1' };
  const available = bytes.length - from;
  if (available < HEADER_BYTES) return null;
  const headerBytes = bytes[from + 3] as number;
  if (headerBytes !== HEADER_BYTES && headerBytes !== ROUTED_HEADER_BYTES)
    return { reason: 'bad-frame', detail: `a header of ${headerBytes} bytes` };
  if (available < headerBytes) return null;
  if (bytes[from + headerBytes - 1] !== crc8(bytes, from, from + headerBytes - 1))
    return { reason: 'bad-checksum', detail: 'the checksum of a header is wrong' };
  if (bytes[from + 4] !== 0) return { reason: 'unsupported', detail: 'an encoded header' };
  const dataBytes = bytes.readUInt16LE(from + 5);
  const total = headerBytes + dataBytes + (dataBytes > 0 ? 2 : 0);
  if (total > MAX_FRAME_BYTES) return { reason: 'bad-length', detail: `a packet of ${total} bytes` };
  if (available < total) return null;
  const dataFrom = from + headerBytes;
  const dataTo = dataFrom + dataBytes;
  if (dataBytes > 0 && bytes.readUInt16LE(dataTo) !== crc16CcittFalse(bytes, dataFrom, dataTo))
    return { reason: 'bad-checksum', detail: 'the checksum of the data is wrong' };
  return {
    type: bytes[from + 9] as number,
    id: bytes.readUInt16LE(from + 7),
    from: dataFrom,
    to: dataTo,
    bytes: total,
  };
}

export function buildPacket(type: number, id: number, data: Uint8Array): Buffer {
  const packet = Buffer.alloc(HEADER_BYTES + data.length + 2);
  packet[0] = VERSION;
  packet[3] = HEADER_BYTES;
  packet.writeUInt16LE(data.length, 5);
  packet.writeUInt16LE(id & 0xffff, 7);
  packet[9] = type;
  packet[10] = crc8(packet, 0, 10);
  packet.set(data, HEADER_BYTES);
  const end = HEADER_BYTES + data.length;
  packet.writeUInt16LE(crc16CcittFalse(packet, HEADER_BYTES, end), end);
  return packet;
}

export interface EgtsRecord {
  number: number;
  service: number;
  /** The terminal that the record is about; null where the record does not name it. */
  objectId: number | null;
  /** Start of its subrecords. */
  from: number;
  to: number;
}

/** @returns the records of a packet, or what is wrong with them */
export function readRecords(bytes: Buffer, from: number, to: number): EgtsRecord[] | string {
  const records: EgtsRecord[] = [];
  for (let at = from; at < to; ) {
    if (to - at < 7) return 'a record is cut off';
    const length = bytes.readUInt16LE(at);
    const flags = bytes[at + 4] as number;
    const optionalBytes =
      (flags & RECORD.object ? 4 : 0) + (flags & RECORD.event ? 4 : 0) + (flags & RECORD.time ? 4 : 0);
    const dataFrom = at + 7 + optionalBytes;
    if (dataFrom + length > to) return 'a record is cut off';
    records.push({
      number: bytes.readUInt16LE(at + 2),
      service: bytes[dataFrom - 2] as number,
      objectId: flags & RECORD.object ? bytes.readUInt32LE(at + 5) : null,
      from: dataFrom,
      to: dataFrom + length,
    });
    at = dataFrom + length;
  }
  return records;
}

/** @param objectId of the terminal that the record is about, for connections that carry several terminals */
export function buildRecord(number: number, service: number, subrecords: Uint8Array, objectId?: number): Buffer {
  const objectBytes = objectId === undefined ? 0 : 4;
  const record = Buffer.alloc(7 + objectBytes + subrecords.length);
  record.writeUInt16LE(subrecords.length, 0);
  record.writeUInt16LE(number & 0xffff, 2);
  record[4] = RECIPIENT_ON_PLATFORM | (objectId === undefined ? 0 : RECORD.object);
  if (objectId !== undefined) record.writeUInt32LE(objectId, 5);
  record[5 + objectBytes] = service;
  record[6 + objectBytes] = service;
  record.set(subrecords, 7 + objectBytes);
  return record;
}

export function buildSubrecord(type: number, content: Uint8Array): Buffer {
  const subrecord = Buffer.alloc(3 + content.length);
  subrecord[0] = type;
  subrecord.writeUInt16LE(content.length, 1);
  subrecord.set(content, 3);
  return subrecord;
}

/** Numbers of the packets and records that one side sends: 16-bit counters. */
export class OwnNumbers {
  #packetId = 0;
  #recordNumber = 0;

  nextPacket(): number {
    this.#packetId = (this.#packetId + 1) & 0xffff;
    return this.#packetId;
  }

  nextRecord(): number {
    this.#recordNumber = (this.#recordNumber + 1) & 0xffff;
    return this.#recordNumber;
  }
}
