import { type AttributeValue, blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { setStates } from '../attributes.ts';
import { contentOf, STATUS, TAG } from './tags.ts';

/** Maximum number of bytes kept of the part of a packet that cannot be read. */
const MAX_UNREAD_BYTES = 256;

/** Content of a packet: records, and data about the terminal. */
export interface Packet {
  imei: TerminalId | null;
  positions: Position[];
  /** Answers to commands. */
  texts: string[];
  /** Why the rest of the packet could not be read; null where all of it was. */
  unread: string | null;
}

export interface Fault {
  reason: 'bad-content' | 'unsupported';
  detail: string;
}

/** A record whose tags are being read. */
export interface OpenRecord {
  position: Position;
  attributes: Record<string, AttributeValue>;
  hasTime: boolean;
}

/**
 * Reads the tags of a packet. Tag numbers ascend within a record: a tag that does not ascend begins the next record.
 */
export function readPacket(bytes: Buffer, from: number, to: number, nowMs: number): Packet | Fault {
  const packet: Packet = { imei: null, positions: [], texts: [], unread: null };
  let record = openRecord(nowMs);
  let lastTag = 0;
  for (let at = from; at < to; ) {
    const tag = bytes[at] as number;
    const content = contentOf(tag, bytes, at + 1, to);
    if (content === null) return { reason: 'bad-content', detail: `tag 0x${tag.toString(16)} is cut off` };
    if (content === undefined) {
      // The tag's length is unknown as well: the tags before it are read, and the bytes from it on are kept raw.
      packet.unread = `tag 0x${tag.toString(16)} is not known`;
      record.attributes.unreadTags = bytes.toString('hex', at, Math.min(to, at + MAX_UNREAD_BYTES));
      break;
    }
    if (tag <= lastTag) {
      close(record, packet);
      record = openRecord(nowMs);
    }
    lastTag = tag;
    if (tag === TAG.imei) {
      const imei = bytes.toString('latin1', content.from, content.to);
      if (!/^\d{15}$/.test(imei)) return { reason: 'bad-content', detail: 'an IMEI has 15 digits' };
      packet.imei = imei as TerminalId;
    } else if (tag === TAG.commandText) packet.texts.push(printable(bytes, content.from, content.to));
    else readTag(record, tag, bytes, content.from, content.to);
    at = content.to;
  }
  close(record, packet);
  return packet;
}

/** A record without a time and a place. */
export function openRecord(nowMs: number): OpenRecord {
  const position = blankPosition(nowMs, 0, 0);
  position.valid = false;
  return { position, attributes: {}, hasTime: false };
}

/** Adds a record that has a time. A record without a time describes the terminal, not a moment. */
function close(record: OpenRecord, packet: Packet): void {
  if (record.hasTime) packet.positions.push(positionOf(record));
}

/** The position of a record, with its attributes. */
export function positionOf({ position, attributes }: OpenRecord): Position {
  if (Object.keys(attributes).length > 0) position.attributes = attributes;
  return position;
}

/** Reads the content of a tag into a record. */
export function readTag(record: OpenRecord, tag: number, bytes: Buffer, from: number, to: number): void {
  const { position, attributes } = record;
  switch (tag) {
    case TAG.time:
      position.fixTimeMs = bytes.readUInt32LE(from) * 1000;
      record.hasTime = true;
      return;
    case TAG.milliseconds:
      // The time was read before, because tag numbers ascend.
      position.fixTimeMs += Math.min(999, bytes.readUInt16LE(from));
      return;
    case TAG.place:
      position.satellites = (bytes[from] as number) & 0x0f;
      // Upper half of the byte: 0 for a correct place determined by satellites.
      position.valid = (bytes[from] as number) >> 4 === 0;
      position.latitude = bytes.readInt32LE(from + 1) / 1e6;
      position.longitude = bytes.readInt32LE(from + 5) / 1e6;
      return;
    case TAG.speedAndCourse:
      position.speedKmh = bytes.readUInt16LE(from) / 10;
      position.courseDeg = Math.round(bytes.readUInt16LE(from + 2) / 10) % 360;
      return;
    case TAG.altitude:
      position.altitudeM = bytes.readInt16LE(from);
      return;
    case TAG.status: {
      const status = bytes.readUInt16LE(from);
      position.ignition = (status & STATUS.engineRuns) !== 0;
      if ((status & STATUS.alarm) !== 0) position.alarms = ['other'];
      attributes.statusBits = status;
      if ((status & STATUS.armed) !== 0) attributes.armed = true;
      return;
    }
    case TAG.supplyMv:
      position.supplyV = bytes.readUInt16LE(from) / 1000;
      return;
    case TAG.odometer:
      position.odometerM = bytes.readUInt32LE(from);
      return;
    default:
      readAttribute(attributes, tag, bytes, from, to);
  }
}

function readAttribute(
  attributes: Record<string, AttributeValue>,
  tag: number,
  bytes: Buffer,
  from: number,
  to: number,
): void {
  const isWithin = (first: number, count: number) => tag >= first && tag < first + count;
  if (tag === TAG.hdop) attributes.hdop = (bytes[from] as number) / 10;
  else if (tag === TAG.batteryMv) attributes.batteryV = bytes.readUInt16LE(from) / 1000;
  else if (tag === TAG.deviceTemperature) attributes.deviceTemperatureC = bytes.readInt8(from);
  else if (tag === TAG.inputs || tag === TAG.outputs) {
    setStates(attributes, tag === TAG.inputs ? 'input' : 'output', bytes.readUInt16LE(from));
  } else if (isWithin(TAG.firstAnalog, 8))
    attributes[`analog${tag - TAG.firstAnalog + 1}V`] = bytes.readUInt16LE(from) / 1000;
  else if (isWithin(TAG.firstFuel, 16)) {
    attributes[`fuelLevel${tag - TAG.firstFuel + 1}`] = bytes.readUInt16LE(from);
    if (to - from > 2) attributes[`fuelLevel${tag - TAG.firstFuel + 1}TemperatureC`] = bytes.readInt8(from + 2);
  } else if (isWithin(TAG.firstTemperature, 8))
    attributes[`temperature${tag - TAG.firstTemperature + 1}C`] = bytes.readInt8(from + 1);
  else if (tag === TAG.iButton) {
    // The four low bytes of the key; all zero where no key is connected.
    const key = bytes.readUInt32LE(from);
    if (key !== 0) attributes.driverCode = key.toString(16).toUpperCase().padStart(8, '0');
  } else if (tag === TAG.canFuelUsed) attributes.fuelUsedL = bytes.readUInt32LE(from) / 2;
  else if (tag === TAG.canEngine) {
    attributes.fuel1Percent = Math.round((bytes[from] as number) * 4) / 10;
    attributes.engineTemperatureC = (bytes[from + 1] as number) - 40;
    attributes.rpm = bytes.readUInt16LE(from + 2) * 0.125;
  } else if (tag === TAG.canOdometer) attributes.canOdometerM = bytes.readUInt32LE(from) * 5;
  else {
    const raw = to - from <= 4 ? bytes.readUIntLE(from, to - from || 1) : bytes.toString('hex', from, to);
    attributes[`tag${tag.toString(16).padStart(2, '0')}`] = raw;
  }
}

function printable(bytes: Buffer, from: number, to: number): string {
  return bytes
    .toString('latin1', from, to)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
}
