import { type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { crc8 } from '../crc8.ts';
import type { RefusalReason } from '../protocol.ts';

/**
 * Frames of records, used by newer terminals (GL601, GV500CNA: qdc.queclinksz.com, "Report", "Heartbeat" and the pages
 * of records and data). New frames begin with a plus, buffered ones with a minus. They end with a count, a CRC-8 and a
 * dollar sign.
 */
export const REPORT_MARK = 0x00;
export const HEARTBEAT_MARK = 0x10;
/** Bytes needed to determine the length of a frame. */
export const FRAME_HEAD_BYTES = 4;
const HEARTBEAT_BYTES = 24;
const IMEI_BYTES = 8;
/** Count, checksum, dollar sign. */
const TRAILER_BYTES = 4;
const DOLLAR = 0x24;
/** Bit of the byte after the length: the report spans several frames, and has two bytes that count them. */
const SEVERAL = 0x80;
/** Device type (2), protocol version (2), version of the custom firmware (1). */
const VERSION_BYTES = 5;
/** Time (4), count (2), record identifier and event code. */
const RECORD_HEAD_BYTES = 8;
const LEAST_REPORT_BYTES = 5 + IMEI_BYTES + VERSION_BYTES + 1 + TRAILER_BYTES;

/** Identifiers of data. */
export const DATA = { ignition: 27, mileage: 31, hours: 34, shortPlace: 81, place: 82 } as const;
export const RECORD = { place: 0x50 } as const;
/** State of the fix: bits 2 and 3 of the first byte of a place. */
export const FIX = { none: 1, fixed: 2 } as const;
/** Maximum length of data kept raw. */
const MOST_RAW_BYTES = 64;

interface Fault {
  reason: RefusalReason;
  detail: string;
}

export interface RecordFrame {
  imei: string;
  count: string;
  /** Empty for a heartbeat; a text describes what is wrong. */
  positions: Position[] | string;
}

/** @returns the offset after the frame; 0 where it is incomplete */
export function endOfFrame(bytes: Buffer, from: number, maxBytes: number): number | Fault {
  const available = bytes.length - from;
  if (available < FRAME_HEAD_BYTES) return 0;
  const isHeartbeat = bytes[from + 1] === HEARTBEAT_MARK;
  const length = isHeartbeat ? (bytes[from + 2] as number) : bytes.readUInt16BE(from + 2);
  const isPossible = isHeartbeat ? length === HEARTBEAT_BYTES : length >= LEAST_REPORT_BYTES && length <= maxBytes;
  if (!isPossible) return { reason: 'bad-length', detail: `a frame of ${length} bytes` };
  if (available < length) return 0;
  const end = from + length;
  if (bytes[end - 1] !== DOLLAR) return { reason: 'bad-frame', detail: 'a frame does not end with a dollar sign' };
  if (crc8(bytes, from, end - 2) !== bytes[end - 2])
    return { reason: 'bad-checksum', detail: 'the checksum of a frame is wrong' };
  return end;
}

/**
 * @param frame complete, with a correct checksum
 * @returns null where its IMEI is invalid
 */
export function readFrame(frame: Buffer): RecordFrame | null {
  const isHeartbeat = frame[1] === HEARTBEAT_MARK;
  const hasSeveral = !isHeartbeat && ((frame[4] as number) & SEVERAL) !== 0;
  const imeiAt = isHeartbeat ? 3 : 5 + (hasSeveral ? 2 : 0);
  const end = frame.length - TRAILER_BYTES;
  const digits = frame.toString('hex', imeiAt, imeiAt + IMEI_BYTES);
  if (!/^0\d{15}$/.test(digits)) return null;
  const count = frame.toString('hex', end, end + 2).toUpperCase();
  const reservedAt = imeiAt + IMEI_BYTES + VERSION_BYTES;
  const positions = isHeartbeat ? [] : readRecords(frame, reservedAt + 1 + (frame[reservedAt] ?? 0), end);
  return { imei: digits.slice(1), count, positions };
}

function readRecords(frame: Buffer, from: number, end: number): Position[] | string {
  const positions: Position[] = [];
  for (let at = from; at < end; ) {
    const length = readShort(frame, at);
    const recordEnd = at + length.value;
    if (recordEnd > end || length.value < length.bytes + RECORD_HEAD_BYTES) return 'a record is cut off';
    const position = readRecord(frame, at + length.bytes, recordEnd);
    if (typeof position === 'string') return position;
    positions.push(position);
    at = recordEnd;
  }
  return positions;
}

/** A number of one byte, or of two where the highest bit of the first is set. */
function readShort(frame: Buffer, at: number): { value: number; bytes: 1 | 2 } {
  const first = frame[at] as number;
  if (first < 0x80) return { value: first, bytes: 1 };
  return { value: ((first & 0x7f) << 8) | (frame[at + 1] ?? 0), bytes: 2 };
}

/** Reads a record. One without a place becomes a position that is not valid, at the time of the record. */
function readRecord(frame: Buffer, from: number, end: number): Position | string {
  const position = blankPosition(frame.readUInt32BE(from) * 1000, 0, 0);
  position.valid = false;
  const attributes: Record<string, AttributeValue> = {
    record: frame[from + 6] as number,
    eventCode: frame[from + 7] as number,
  };
  for (let at = from + RECORD_HEAD_BYTES; at < end; ) {
    const id = readShort(frame, at);
    const length = readShort(frame, at + id.bytes);
    const dataAt = at + id.bytes + length.bytes;
    at = dataAt + length.value;
    if (at > end) return 'the data of a record is cut off';
    // Empty data: the terminal does not know the value.
    if (length.value === 0) continue;
    const problem = readData(position, attributes, id.value, frame.subarray(dataAt, at));
    if (problem !== null) return problem;
  }
  position.attributes = attributes;
  return position;
}

/** @returns what is wrong */
function readData(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  data: Buffer,
): string | null {
  if (id === DATA.place && data.length === 22) return readPlace(position, attributes, data, true);
  if (id === DATA.shortPlace && data.length === 15) return readPlace(position, attributes, data, false);
  if (id === DATA.ignition && data.length === 1) {
    // 2: unknown.
    position.ignition = data[0] === 0 ? false : data[0] === 1 ? true : null;
  } else if (id === DATA.mileage && data.length === 4) position.odometerM = data.readUInt32BE(0);
  else if (id === DATA.hours && data.length === 4) attributes.engineHours = Math.round(data.readUInt32BE(0) / 36) / 100;
  else attributes[`data${id}`] = data.toString('hex', 0, MOST_RAW_BYTES);
  return null;
}

/** Reads fix, longitude, latitude, time, speed; the long form also has HDOP, azimuth, altitude and satellites. */
function readPlace(
  position: Position,
  attributes: Record<string, AttributeValue>,
  data: Buffer,
  isFull: boolean,
): string | null {
  const [longitude, latitude] = [data.readInt32BE(1) / 1e6, data.readInt32BE(5) / 1e6];
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return 'the place of a record is not one';
  // Without a fix, these values are those of the last fix.
  position.valid = (((data[0] as number) >> 2) & 3) === FIX.fixed;
  position.longitude = longitude + 0;
  position.latitude = latitude + 0;
  // 0 where the terminal never had a fix.
  const seconds = data.readUInt32BE(9);
  if (seconds > 0) position.fixTimeMs = seconds * 1000;
  position.speedKmh = data.readUInt16BE(13) / 10;
  if (!isFull) return null;
  const hdop = data[15] as number;
  if (hdop < 0xff) attributes.hdop = hdop / 10;
  const azimuth = data.readUInt16BE(16);
  position.courseDeg = azimuth <= 360 ? azimuth % 360 : null;
  position.altitudeM = Math.round(data.readIntBE(18, 3) / 10) + 0;
  position.satellites = data[21] as number;
  return null;
}
