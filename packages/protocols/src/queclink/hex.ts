import { type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { setStates } from '../attributes.ts';
import { utcMs } from '../calendar.ts';
import { crc16CcittFalse } from '../crc16.ts';
import type { RefusalReason } from '../protocol.ts';
import { keepReport } from './message.ts';

/**
 * @Track in HEX, by chapter 4 of the maker's air interface documents (GV200, TRACGV200AN003; GV300CAN, V12.00): binary
 *   messages whose fields are selected by a mask. Each ends with a count, CRC-16 of all bytes after the four-byte
 *   header, CR and LF.
 */
export const HEX_KINDS: ReadonlySet<string> = new Set(
  // Messages from the buffer have B as their second byte.
  ['RSP', 'BSP', 'EVT', 'BVT', 'INF', 'BNF', 'HBD', 'CRD', 'BRD', 'CAN', 'DAT', 'ATI', 'ACK'],
);
export const KIND_BYTES = 4;
/** Count, checksum, CR and LF. */
const TRAILER_BYTES = 6;
export const LEAST_HEX_BYTES = 11;
const COUNT_BYTES = 2;
const CR = 0x0d;
const LF = 0x0a;

/** Bits of the mask of `+RSP` and `+EVT`. */
export const FIELD = {
  speed: 0,
  azimuth: 1,
  altitude: 2,
  cell: 3,
  sendTime: 4,
  count: 5,
  deviceName: 6,
  length: 7,
  deviceType: 8,
  protocolVersion: 9,
  firmwareVersion: 10,
  battery: 11,
  supply: 12,
  analog: 14,
  digital: 17,
  motion: 18,
  satellites: 19,
  tripMileage: 20,
  mileage: 21,
  tripHours: 22,
  hours: 23,
  rfid: 24,
  can: 25,
  expansion: 26,
} as const;
/** Bits of the mask of `+HBD` and `+ACK`. */
export const SHORT_FIELD = { length: 0, deviceType: 1, protocolVersion: 2, firmwareVersion: 3, deviceName: 4, uid: 7 };
const SHORT_COUNT = 6;
/** Bit of the mask of `+INF`: the device name replaces the IMEI. */
const INF_DEVICE_NAME = 1;

/** Names of place reports (`+RSP`) by number. */
export const PLACE_REPORTS: ReadonlyMap<number, string> = new Map([
  [1, 'GTTOW'],
  [3, 'GTLBC'],
  [4, 'GTEPS'],
  [5, 'GTDIS'],
  [6, 'GTIOB'],
  [7, 'GTFRI'],
  [8, 'GTGEO'],
  [9, 'GTSPD'],
  [10, 'GTSOS'],
  [11, 'GTRTL'],
  [12, 'GTDOG'],
  [15, 'GTHBM'],
  [16, 'GTIGL'],
  [17, 'GTIDA'],
  [18, 'GTERI'],
]);
/** Names of event reports (`+EVT`) by number. */
export const EVENT_REPORTS: ReadonlyMap<number, string> = new Map([
  [6, 'GTBPL'],
  [9, 'GTSTT'],
  [13, 'GTIGN'],
  [14, 'GTIGF'],
  [15, 'GTUPD'],
  [21, 'GTGSS'],
  [23, 'GTCRA'],
  [25, 'GTDOS'],
  [26, 'GTGES'],
  [31, 'GTGPJ'],
  [32, 'GTRMD'],
  [34, 'GTJDS'],
  [35, 'GTUPC'],
  [50, 'GTVGN'],
  [51, 'GTVGF'],
]);
/** Number of bytes specific to an event, before its place. */
export const EVENT_BYTES: ReadonlyMap<string, number> = new Map([
  ['GTBPL', 2],
  ['GTIGN', 4],
  ['GTIGF', 4],
  ['GTUPD', 3],
  ['GTGSS', 5],
  ['GTDOS', 2],
  ['GTGPJ', 2],
]);

/** Motion states, which also imply the ignition state. */
export const MOTION = { offAtRest: 0x11, onAtRest: 0x21, unknownAtRest: 0x41, towed: 0x16 } as const;
const IGNITION_OF: ReadonlyMap<number, boolean> = new Map([
  [MOTION.offAtRest, false],
  [0x12, false],
  [MOTION.towed, false],
  [0x1a, false],
  [MOTION.onAtRest, true],
  [0x22, true],
]);

const MOST_PLACES = 15;
const PLACE_COUNTS = Array.from({ length: MOST_PLACES }, (_, index) => index + 1);
/** Types of the GV200, whose mask describes the fields before the places differently. */
const GV200_TYPES: ReadonlySet<string> = new Set(['01', '04', '35']);
const MOST_CAN_BYTES = 99;
/** Lowest first byte of newer models' types, which have three bytes instead of one. */
const LONG_TYPE = 0x80;

interface Fault {
  reason: RefusalReason;
  detail: string;
}

export interface HexMessage {
  /** Null where the message does not hold it, or holds the device name instead. */
  imei: string | null;
  /** Device type and protocol version, as written in text messages. */
  version: string;
  /** Four hexadecimal digits; null where the mask omits it. */
  count: string | null;
  /** A text describes what is wrong. */
  positions: Position[] | string;
  /** Number of the command that it acknowledges. */
  serial: string | null;
}

/**
 * Finds the end of a message. Messages of some kinds state their length where the mask includes it; the others end
 * where the checksum is correct.
 *
 * @returns the offset after it; 0 where it is incomplete
 */
export function endOfHex(bytes: Buffer, from: number, maxBytes: number): number | Fault {
  const available = bytes.length - from;
  if (available < LEAST_HEX_BYTES) return 0;
  const length = lengthOf(bytes, from);
  if (length === null) return searchEnd(bytes, from, maxBytes);
  if (length < LEAST_HEX_BYTES || length > maxBytes)
    return { reason: 'bad-length', detail: `a message of ${length} bytes` };
  if (available < length) return 0;
  const end = from + length;
  if (bytes[end - 2] !== CR || bytes[end - 1] !== LF)
    return { reason: 'bad-frame', detail: 'a message does not end with CR and LF' };
  const isRight = crc16CcittFalse(bytes, from + KIND_BYTES, end - 4) === bytes.readUInt16BE(end - 4);
  return isRight ? end : { reason: 'bad-checksum', detail: 'the checksum of a message is wrong' };
}

function lengthOf(bytes: Buffer, from: number): number | null {
  switch (kindOf(bytes, from)) {
    case 'RSP':
    case 'EVT':
      return has(bytes.readUInt32BE(from + 5), FIELD.length) ? bytes.readUInt16BE(from + 9) : null;
    case 'HBD':
      return has(bytes[from + 4] as number, SHORT_FIELD.length) ? (bytes[from + 5] as number) : null;
    case 'ACK':
      return has(bytes[from + 5] as number, SHORT_FIELD.length) ? (bytes[from + 6] as number) : null;
    default:
      return null;
  }
}

function searchEnd(bytes: Buffer, from: number, maxBytes: number): number | Fault {
  let at = from + LEAST_HEX_BYTES - 1;
  const last = Math.min(bytes.length, from + maxBytes);
  for (;;) {
    at = bytes.indexOf(LF, at);
    if (at === -1 || at >= last) break;
    const end = at + 1;
    const isEnd =
      bytes[at - 1] === CR && crc16CcittFalse(bytes, from + KIND_BYTES, end - 4) === bytes.readUInt16BE(end - 4);
    if (isEnd) return end;
    at += 1;
  }
  if (bytes.length - from < maxBytes) return 0;
  return { reason: 'bad-checksum', detail: `no checksum is right within ${maxBytes} bytes` };
}

/** The kind of a message; kinds from the buffer are mapped to those of new messages. */
function kindOf(bytes: Buffer, from: number): string {
  const kind = bytes.toString('latin1', from + 1, from + KIND_BYTES);
  if (kind === 'BSP') return 'RSP';
  if (kind === 'BVT') return 'EVT';
  return kind === 'BNF' ? 'INF' : kind;
}

/** @param message complete, with a correct checksum */
export function readHex(message: Buffer): HexMessage {
  const countAt = message.length - TRAILER_BYTES;
  const count = message.toString('hex', countAt, countAt + COUNT_BYTES).toUpperCase();
  const known = { imei: null, version: '', count, positions: [], serial: null };
  switch (kindOf(message, 0)) {
    case 'RSP':
    case 'EVT':
      return readPlaceMessage(message, count);
    case 'HBD':
      return { ...known, ...readShort(message, KIND_BYTES, KIND_BYTES + 1) };
    case 'ACK':
      return { ...known, ...readShort(message, KIND_BYTES + 1, KIND_BYTES + 2) };
    case 'INF': {
      // Models with a single mask have the length after it; in the messages of other models, the IMEI's offset is
      // unknown.
      const mask = message.readUInt16BE(KIND_BYTES + 1);
      const hasLength = message.readUInt16BE(KIND_BYTES + 3) === message.length;
      return { ...known, imei: hasLength && !has(mask, INF_DEVICE_NAME) ? readImei(message, KIND_BYTES + 5) : null };
    }
    default:
      return known;
  }
}

/**
 * Reads a heartbeat, or the acknowledgement of a command, which has the command's identifier and number after the IMEI.
 */
function readShort(message: Buffer, maskAt: number, from: number): Partial<HexMessage> {
  const mask = message[maskAt] as number;
  const isAcknowledgement = maskAt > KIND_BYTES;
  let at = from + (has(mask, SHORT_FIELD.length) ? 1 : 0);
  const end = message.length - TRAILER_BYTES;
  const take = (bit: number, bytes: number): string => {
    if (!has(mask, bit) || at + bytes > end) return '';
    at += bytes;
    return message.toString('hex', at - bytes, at).toUpperCase();
  };
  const version = take(SHORT_FIELD.deviceType, (message[at] as number) === LONG_TYPE ? 3 : 1);
  const ofProtocol = take(SHORT_FIELD.protocolVersion, 2);
  take(SHORT_FIELD.firmwareVersion, 2);
  // Acknowledgements have the id whatever the mask says.
  const hasUid = (isAcknowledgement || has(mask, SHORT_FIELD.uid)) && at + UID_BYTES <= end;
  const imei = hasUid && !has(mask, SHORT_FIELD.deviceName) ? readImei(message, at) : null;
  at += UID_BYTES + 1;
  const serial = isAcknowledgement && at + 2 <= end ? message.toString('hex', at, at + 2).toUpperCase() : null;
  return {
    imei,
    version: version + ofProtocol,
    serial,
    ...(!has(mask, SHORT_COUNT) && { count: null }),
  };
}

const UID_BYTES = 8;

/** Each of the first seven bytes holds two digits, the last byte holds one. */
function readImei(message: Buffer, at: number): string | null {
  if (at + UID_BYTES > message.length - TRAILER_BYTES) return null;
  const parts = [...message.subarray(at, at + UID_BYTES)];
  const last = parts.pop() as number;
  if (last > 9 || parts.some((part) => part > 99)) return null;
  return parts.map((part) => String(part).padStart(2, '0')).join('') + last;
}

function readPlaceMessage(message: Buffer, count: string): HexMessage {
  const isEvent = kindOf(message, 0) === 'EVT';
  const number = message[KIND_BYTES] as number;
  const report = (isEvent ? EVENT_REPORTS : PLACE_REPORTS).get(number) ?? `${isEvent ? 'EVT' : 'RSP'}${number}`;
  const mask = message.readUInt32BE(KIND_BYTES + 1);
  const head = new Fields(message, KIND_BYTES + 5, mask);
  head.take(FIELD.length, 2);
  const typeBytes = message[head.at] === LONG_TYPE ? 3 : 1;
  const type = head.hex(FIELD.deviceType, typeBytes);
  const version = type + head.hex(FIELD.protocolVersion, 2);
  head.take(FIELD.firmwareVersion, 2);
  const hasName = has(mask, FIELD.deviceName);
  const imei = hasName ? null : readImei(message, head.at);
  head.skip(UID_BYTES);
  return {
    imei,
    version,
    count: has(mask, FIELD.count) ? count : null,
    positions: hasName
      ? 'the mask of the reports has the name of the device in place of its IMEI'
      : readPositions(message, head, report, isEvent, type),
    serial: null,
  };
}

function readPositions(
  message: Buffer,
  head: Fields,
  report: string,
  isEvent: boolean,
  type: string,
): Position[] | string {
  const { mask } = head;
  // Ignition events have both mileages, whatever the mask says.
  const isIgnition = isEvent && (report === 'GTIGN' || report === 'GTIGF');
  const tailMask = isIgnition ? mask | (1 << FIELD.tripMileage) | (1 << FIELD.mileage) : mask;
  const placeBytes = 1 + bytesOf(mask, PLACE_FIELDS) + 15 + (has(mask, FIELD.cell) ? 9 : 0);
  const end = message.length - 4 - bytesOf(tailMask, TAIL_FIELDS);
  // The tail may hold vehicle bus data of unknown length.
  const isGv200 = GV200_TYPES.has(type);
  const slack = has(mask, FIELD.can) && !isGv200 ? MOST_CAN_BYTES : 0;

  const numberAt = head.at + bytesOf(mask, HEAD_FIELDS) + (isEvent ? (EVENT_BYTES.get(report) ?? 0) : 1);
  const left = end - numberAt - 1 - (message[numberAt] ?? 0) * placeBytes;
  const isHeadKnown = !isGv200 && left >= 0 && left <= slack;
  // Fields before the places differ between models, and those after do not. Places are therefore located from the end.
  const fits = (number: number) => {
    const at = end - number * placeBytes - 1;
    return at > head.at && message[at] === number;
  };
  const fitting = slack > 0 ? [] : PLACE_COUNTS.filter(fits);
  const number = isHeadKnown ? (message[numberAt] ?? 0) : fitting.length === 1 ? (fitting[0] ?? 0) : 0;
  if (number === 0 || number > MOST_PLACES) return 'the fields of a report are not those of its mask';

  const positions: Position[] = [];
  const places = new Fields(message, isHeadKnown ? numberAt + 1 : end - number * placeBytes, mask);
  for (let place = 0; place < number; place += 1) {
    const position = readPlace(places);
    if (typeof position === 'string') return position;
    positions.push(position);
  }
  const newest = positions.at(-1) as Position;
  keepReport(newest, report);
  if (isHeadKnown) keepHead(newest, head);
  keepTail(newest, new Fields(message, places.at, tailMask));
  return positions;
}

/** Length in bytes of each field of a mask, in order. */
type Layout = readonly (readonly [bit: number, bytes: number])[];
const HEAD_FIELDS: Layout = [
  [FIELD.battery, 1],
  [FIELD.supply, 2],
  [FIELD.analog, 2],
  [FIELD.expansion, 2],
  [FIELD.digital, 2],
  [FIELD.motion, 1],
  [FIELD.satellites, 1],
];
const PLACE_FIELDS: Layout = [
  [FIELD.speed, 3],
  [FIELD.azimuth, 2],
  [FIELD.altitude, 2],
];
const TAIL_FIELDS: Layout = [
  [FIELD.tripMileage, 3],
  [FIELD.mileage, 5],
  [FIELD.tripHours, 3],
  [FIELD.hours, 6],
  [FIELD.rfid, 4],
  [FIELD.sendTime, 7],
  [FIELD.count, 2],
];

const has = (mask: number, bit: number) => (mask & (1 << bit)) !== 0;
const bytesOf = (mask: number, layout: Layout) =>
  layout.reduce((sum, [bit, bytes]) => sum + (has(mask, bit) ? bytes : 0), 0);

/** Reads the fields that a mask includes, one after the other. */
class Fields {
  readonly bytes: Buffer;
  readonly mask: number;
  at: number;

  constructor(bytes: Buffer, at: number, mask: number) {
    this.bytes = bytes;
    this.at = at;
    this.mask = mask;
  }

  skip(bytes: number): number {
    this.at += bytes;
    return this.at - bytes;
  }

  /** @returns offset of the field; null where it is omitted, or the message ends before it */
  take(bit: number, bytes: number): number | null {
    if (!has(this.mask, bit) || this.at + bytes > this.bytes.length) return null;
    return this.skip(bytes);
  }

  /** Reads an unsigned number of up to six bytes. */
  number(bit: number, bytes: number): number | null {
    const at = this.take(bit, bytes);
    return at === null ? null : this.bytes.readUIntBE(at, bytes);
  }

  hex(bit: number, bytes: number): string {
    const at = this.take(bit, bytes);
    return at === null ? '' : this.bytes.toString('hex', at, at + bytes).toUpperCase();
  }

  /** Reads a whole number, and a byte with the first decimal digit. */
  decimal(bit: number, bytes: number): number | null {
    const at = this.take(bit, bytes);
    if (at === null) return null;
    const tenths = this.bytes[at + bytes - 1] as number;
    return (this.bytes.readUIntBE(at, bytes - 1) * 10 + (tenths <= 9 ? tenths : 0)) / 10;
  }
}

function readPlace(fields: Fields): Position | string {
  const { bytes } = fields;
  const accuracy = bytes[fields.skip(1)] as number;
  const speedKmh = fields.decimal(FIELD.speed, 3);
  const azimuth = fields.number(FIELD.azimuth, 2);
  const altitudeAt = fields.take(FIELD.altitude, 2);
  const longitude = bytes.readInt32BE(fields.skip(4)) / 1e6;
  const latitude = bytes.readInt32BE(fields.skip(4)) / 1e6;
  const fixTimeMs = readTime(bytes, fields.skip(7));
  if (Number.isNaN(fixTimeMs)) return 'the time of a place is not one';
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return 'the place of a report is not one';
  const position = blankPosition(fixTimeMs, latitude + 0, longitude + 0);
  // 0: the place is the last known one.
  position.valid = accuracy !== 0;
  position.speedKmh = speedKmh;
  position.courseDeg = azimuth !== null && azimuth <= 360 ? azimuth % 360 : null;
  position.altitudeM = altitudeAt === null ? null : bytes.readInt16BE(altitudeAt);
  const attributes: Record<string, AttributeValue> = {};
  if (accuracy > 0) attributes.hdop = accuracy;
  const cellAt = fields.take(FIELD.cell, 9);
  if (cellAt !== null) {
    // Country and network are binary-coded decimals.
    const [mcc, mnc] = [cellAt, cellAt + 2].map((at) => Number(bytes.toString('hex', at, at + 2)));
    if (mcc && mnc !== undefined && !Number.isNaN(mnc))
      Object.assign(attributes, {
        mcc,
        mnc,
        lac: bytes.readUInt16BE(cellAt + 4),
        cellId: bytes.readUInt16BE(cellAt + 6),
      });
  }
  if (Object.keys(attributes).length > 0) position.attributes = attributes;
  return position;
}

function readTime(bytes: Buffer, at: number): number {
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = bytes.subarray(at + 2, at + 7);
  return utcMs(bytes.readUInt16BE(at), month, day, hour, minute, second);
}

function keepHead(position: Position, head: Fields): void {
  const attributes: Record<string, AttributeValue> = {};
  const battery = head.number(FIELD.battery, 1);
  if (battery !== null && battery <= 100) attributes.batteryPercent = battery;
  const supply = head.number(FIELD.supply, 2);
  position.supplyV = supply === null ? null : supply / 1000;
  const analog = head.number(FIELD.analog, 2);
  if (analog !== null) attributes.analog1V = analog / 1000;
  // Inputs and outputs of an expansion unit precede those of the terminal.
  head.take(FIELD.expansion, 1);
  const inputs = head.number(FIELD.digital, 1);
  head.take(FIELD.expansion, 1);
  const outputs = head.number(FIELD.digital, 1);
  // The lowest input is the ignition.
  if (inputs !== null) setStates(attributes, 'input', inputs >> 1);
  if (outputs !== null) setStates(attributes, 'output', outputs);
  const motion = head.number(FIELD.motion, 1);
  if (motion !== null) {
    attributes.motionStatus = motion;
    position.ignition ??= IGNITION_OF.get(motion) ?? null;
    if (motion === MOTION.towed && !position.alarms.includes('towing'))
      position.alarms = [...position.alarms, 'towing'];
  }
  const satellites = head.number(FIELD.satellites, 1);
  if (satellites !== null) position.satellites = satellites & 0x0f;
  position.attributes = { ...position.attributes, ...attributes };
}

function keepTail(position: Position, tail: Fields): void {
  tail.take(FIELD.tripMileage, 3);
  const kilometres = tail.decimal(FIELD.mileage, 5);
  if (kilometres !== null) position.odometerM = Math.round(kilometres * 1000);
  tail.take(FIELD.tripHours, 3);
  const hoursAt = tail.take(FIELD.hours, 6);
  if (hoursAt === null) return;
  const { bytes } = tail;
  const [hours, minutes, seconds] = [bytes.readUInt32BE(hoursAt), bytes[hoursAt + 4] ?? 0, bytes[hoursAt + 5] ?? 0];
  const engineHours = Math.round((hours + minutes / 60 + seconds / 3600) * 100) / 100;
  position.attributes = { ...position.attributes, engineHours };
}
