import { type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { type Frame, isDocumented, MESSAGE, type NetworksFrame } from './frame.ts';
import {
  CELL_BYTES,
  LOCATION_BYTES,
  LONG_NETWORK,
  readCell,
  readLocation,
  readState,
  readStatus,
  readStatusWithVoltage,
  readTimeMs,
  readWideCell,
  STATUS_BYTES,
  statusBytesAt,
} from './message.ts';

const TIME_BYTES = 6;
/** Ignition, upload mode and re-upload; then the odometer, which not every terminal sends. */
const DRIVE_BYTES = { state: 3, odometer: 4 } as const;
/** Maximum number of bytes that makers append to the documented fields. */
const MAX_TAIL_BYTES = 64;
const MAX_TEXT_BYTES = 256;
/** The documents name 0x00 to 0x0e. */
const MAX_UPLOAD_MODE = 0x1f;

/** Kinds of an information transmission. */
const INFORMATION = { externalPower: 0x00, settings: 0x04, door: 0x05, sim: 0x0a, key: 0x1b } as const;

/** Messages that are answered by their own number. */
export const ANSWERED: ReadonlySet<number> = new Set([
  MESSAGE.gps,
  MESSAGE.location,
  MESSAGE.heartbeat,
  MESSAGE.alarm,
  MESSAGE.cellWithStatus,
  MESSAGE.locationWithStatus,
  MESSAGE.ownHeartbeat,
  MESSAGE.longHeartbeat,
  MESSAGE.alarmWithStatus,
  MESSAGE.fenceAlarm,
  MESSAGE.wideLocation,
  MESSAGE.wideFenceAlarm,
]);

/**
 * Reads a message. Locations, alarms and heartbeats must be complete. Makers use layouts of their own for the other
 * messages: those that cannot be read are ignored.
 *
 * @returns what is wrong where there is no position; null where the message holds nothing to store
 */
export function readPacket(bytes: Buffer, frame: Frame, nowMs: number): Position | string | null {
  switch (frame.number) {
    case MESSAGE.gps:
    case MESSAGE.gpsOfCall:
    case MESSAGE.gpsOfAddress:
    case MESSAGE.location:
    case MESSAGE.locationWithStatus:
    case MESSAGE.wideLocation:
      return readDrive(bytes, frame, nowMs);
    case MESSAGE.alarm:
    case MESSAGE.alarmWithStatus:
    case MESSAGE.fenceAlarm:
    case MESSAGE.wideFenceAlarm:
      return readAlarm(bytes, frame, nowMs);
    case MESSAGE.heartbeat:
      return readHeartbeat(bytes, frame, nowMs);
    case MESSAGE.ownHeartbeat:
    case MESSAGE.longHeartbeat:
      return readOwnHeartbeat(bytes, frame, nowMs);
    case MESSAGE.cell:
    case MESSAGE.cells:
    case MESSAGE.cellsUtc:
    case MESSAGE.cellsAndWifi:
    case MESSAGE.wideCells:
      return readCells(bytes, frame, nowMs);
    case MESSAGE.cellWithStatus:
      return readCellWithStatus(bytes, frame, nowMs);
    case MESSAGE.information:
      return readInformation(bytes, frame, nowMs);
    default:
      return isDocumented(frame.number) ? null : readDialect(bytes, frame, nowMs);
  }
}

/** A position that is not valid, for data sent without a place. */
function withoutPlace(timeMs: number): Position {
  const position = blankPosition(timeMs, 0, 0);
  position.valid = false;
  return position;
}

function readWholeLocation(bytes: Buffer, from: number, to: number, nowMs: number): Position | string {
  if (to - from < LOCATION_BYTES) return 'a location is cut off';
  const position = readLocation(bytes, from, nowMs);
  if (position === null) return 'the time of a location is not one';
  return isPlace(position) ? position : 'the place of a location is not one';
}

function readDrive(bytes: Buffer, { number, from, to }: Frame, nowMs: number): Position | string {
  const position = readWholeLocation(bytes, from, to, nowMs);
  if (typeof position === 'string') return position;
  let at = from + LOCATION_BYTES;
  if (number === MESSAGE.gps || number === MESSAGE.gpsOfCall || number === MESSAGE.gpsOfAddress) return position;
  if (number === MESSAGE.wideLocation) {
    const cellBytes = readWideCell(bytes, at, to, position);
    if (cellBytes === 0) return position;
    at += cellBytes;
  } else {
    if (to - at < CELL_BYTES) return position;
    at += readCell(bytes, at, position);
  }
  readDriveState(position, bytes, at, to);
  return position;
}

/**
 * Reads ignition, upload mode, re-upload and odometer. Where a maker sends more, less or other bytes, all of them are
 * kept raw: a wrong ignition or odometer is worse than none.
 */
function readDriveState(position: Position, bytes: Buffer, at: number, to: number): void {
  const { state, odometer } = DRIVE_BYTES;
  const length = to - at;
  const [ignition = 0, uploadMode = 0, reupload = 0] = bytes.subarray(at, Math.min(to, at + state));
  // One byte is the ignition alone. With one byte too many, the position of the extra byte is unknown.
  const isKnown = length === 1 || length === state || length === state + odometer || length > state + odometer + 1;
  if (!isKnown || ignition > 1 || uploadMode > MAX_UPLOAD_MODE || reupload > 1)
    return keepTail(position, bytes, at, to);
  position.ignition = ignition === 1;
  if (length >= state) keep(position, { uploadMode });
  if (length < state + odometer) return;
  position.odometerM = bytes.readUInt32BE(at + state);
  keepTail(position, bytes, at + state + odometer, to);
}

/** The upper half of the satellite byte holds the length of the place. */
const PLACE_BYTES = 12;
const DAY_MS = 86_400_000;
const FIRST_COUNTRY = 200;
const LAST_COUNTRY = 799;

/**
 * Reads a location that a maker sends under a number of its own. It begins like every location; the bytes after the
 * place are kept.
 *
 * @returns null for a message that is no location
 */
function readDialect(bytes: Buffer, { from, to }: Frame, nowMs: number): Position | null {
  if (to - from < LOCATION_BYTES || bytes[from] === 0) return null;
  const position = readLocation(bytes, from, nowMs);
  if (position === null || !isPlace(position)) return null;
  const isOfToday = Math.abs(nowMs - position.fixTimeMs) < DAY_MS;
  if ((bytes[from + 6] as number) >> 4 !== PLACE_BYTES && !isOfToday) return null;
  let at = from + LOCATION_BYTES;
  const country = to - at < CELL_BYTES ? 0 : bytes.readUInt16BE(at) & ~LONG_NETWORK;
  if (country >= FIRST_COUNTRY && country <= LAST_COUNTRY) at += readCell(bytes, at, position);
  keepTail(position, bytes, at, to);
  return position;
}

function isPlace({ latitude, longitude }: Position): boolean {
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
}

/** Cell length, which includes the length byte: with a network code of one or two bytes, and for 4G. */
const CELL_LENGTHS: ReadonlySet<number> = new Set([9, 10, 16, 17]);

function readAlarm(bytes: Buffer, { number, from, to }: Frame, nowMs: number): Position | string {
  const position = readWholeLocation(bytes, from, to, nowMs);
  if (typeof position === 'string') return position;
  let at = from + LOCATION_BYTES;
  // Alarms state the length of the cell, including the length byte; some makers omit that byte.
  const cellBytes = Math.max(1, bytes[at] ?? 0);
  const saysLength = CELL_LENGTHS.has(cellBytes) || statusBytesAt(bytes, at + cellBytes, to) > 0;
  const cellAt = saysLength ? at + 1 : at;
  at += saysLength ? cellBytes : CELL_BYTES;
  if (at > to) return 'the cell of an alarm is cut off';
  if (to - at < STATUS_BYTES) return 'the status of an alarm is cut off';
  const statusBytes = statusBytesAt(bytes, at, to) || (saysLength ? STATUS_BYTES : 0);
  if (statusBytes === 0) {
    // An alarm of an unknown kind.
    position.alarms = ['other'];
    keepTail(position, bytes, cellAt, to);
    return position;
  }
  if (number === MESSAGE.wideFenceAlarm) readWideCell(bytes, cellAt, at, position);
  else if (at - cellAt >= CELL_BYTES) readCell(bytes, cellAt, position);
  if (statusBytes === STATUS_BYTES) readStatus(bytes, at, position);
  else readStatusWithVoltage(bytes, at, position);
  keep(position, { eventCode: bytes[at + statusBytes - 2] as number });
  at += statusBytes;
  if (number === MESSAGE.fenceAlarm || number === MESSAGE.wideFenceAlarm) {
    const fence = bytes[at];
    // 255: the alarm does not concern a fence.
    if (at < to && fence !== 0xff) keep(position, { fence: (fence as number) + 1 });
    at += 1;
  }
  if (to - at === DRIVE_BYTES.odometer) position.odometerM = bytes.readUInt32BE(at);
  else keepTail(position, bytes, at, to);
  return position;
}

function readHeartbeat(bytes: Buffer, { from, to }: Frame, nowMs: number): Position | string {
  if (to - from < STATUS_BYTES - 1) return 'a heartbeat is cut off';
  const position = withoutPlace(nowMs);
  readStatus(bytes, from, position);
  // Its last bytes are no alarm: each alarm is sent as a message of its own.
  position.alarms = [];
  return position;
}

/** Reads only the state: the bytes after it differ between makers. */
function readOwnHeartbeat(bytes: Buffer, { from, to }: Frame, nowMs: number): Position | null {
  if (from >= to) return null;
  const position = withoutPlace(nowMs);
  readState(bytes[from] as number, position);
  keepTail(position, bytes, from + 1, to);
  return position;
}

function readCells(bytes: Buffer, { number, from, to }: Frame, nowMs: number): Position | null {
  if (to - from < TIME_BYTES + CELL_BYTES) return null;
  const timeMs = readTimeMs(bytes, from, nowMs);
  if (timeMs === null) return null;
  const position = withoutPlace(timeMs);
  if (number === MESSAGE.wideCells) readWideCell(bytes, from + TIME_BYTES, to, position);
  else readCell(bytes, from + TIME_BYTES, position);
  return position;
}

/** Reads the time and the first cell. */
export function readNetworks(bytes: Buffer, { timeAt, cellsAt }: NetworksFrame, nowMs: number): Position {
  const digits = Buffer.from(
    [...bytes.subarray(timeAt, timeAt + TIME_BYTES)].map((byte) => (byte >> 4) * 10 + (byte & 15)),
  );
  const position = withoutPlace(readTimeMs(digits, 0, nowMs) ?? nowMs);
  if (cellsAt === null) return position;
  const mcc = bytes.readUInt16BE(cellsAt);
  if (mcc > 0)
    keep(position, {
      mcc,
      mnc: bytes[cellsAt + 2] as number,
      lac: bytes.readUInt16BE(cellsAt + 3),
      cellId: bytes.readUInt16BE(cellsAt + 5),
    });
  return position;
}

function readCellWithStatus(bytes: Buffer, { from, to }: Frame, nowMs: number): Position | null {
  if (to - from < CELL_BYTES + STATUS_BYTES) return null;
  const position = withoutPlace(nowMs);
  const at = from + readCell(bytes, from, position);
  if (to - at < STATUS_BYTES) return null;
  readStatus(bytes, at, position);
  keep(position, { eventCode: bytes[at + 3] as number });
  return position;
}

/** Reads data that do not belong to a place: supply, door, SIM card, key. Everything else is kept raw. */
function readInformation(bytes: Buffer, { from, to }: Frame, nowMs: number): Position | null {
  if (from >= to) return null;
  const position = withoutPlace(nowMs);
  const kind = bytes[from] as number;
  const at = from + 1;
  const length = to - at;
  if (kind === INFORMATION.externalPower && length >= 2) keepSupply(position, bytes.readUInt16BE(at) / 100);
  else if (kind === INFORMATION.door && length >= 1) {
    const door = bytes[at] as number;
    keep(position, { door1: (door & 1) !== 0, input1: (door & 4) !== 0 });
  } else if (kind === INFORMATION.sim && length >= 26) {
    keep(position, {
      imsi: bytes.toString('hex', at + 8, at + 16).replace(/^0+/, ''),
      iccid: bytes.toString('hex', at + 16, at + 26),
    });
  } else if (kind === INFORMATION.key && length >= 1) {
    keep(position, { driverCode: bytes.toString('hex', at, Math.min(to, at + 8)).toUpperCase() });
  } else {
    const name = `information${kind.toString(16).padStart(2, '0')}`;
    const isText = kind === INFORMATION.settings && /^[\x20-\x7e]+$/.test(bytes.toString('latin1', at, to));
    const last = Math.min(to, at + (isText ? MAX_TEXT_BYTES : MAX_TAIL_BYTES));
    keep(position, { [name]: bytes.toString(isText ? 'latin1' : 'hex', at, last) });
  }
  return position;
}

function keepSupply(position: Position, volts: number): void {
  position.supplyV = volts;
  keep(position, { externalPowerV: volts });
}

function keepTail(position: Position, bytes: Buffer, from: number, to: number): void {
  if (to > from) keep(position, { tail: bytes.toString('hex', from, Math.min(to, from + MAX_TAIL_BYTES)) });
}

function keep(position: Position, attributes: Record<string, AttributeValue>): void {
  position.attributes = { ...position.attributes, ...attributes };
}
