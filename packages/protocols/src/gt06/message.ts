import { type Alarm, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { utcMs } from '../calendar.ts';

/** One degree is 60 minutes of 30,000 steps. */
export const STEPS_PER_DEGREE = 1_800_000;

/** Flag bits of the two bytes whose lower ten bits hold the course. Some terminals report the ignition there. */
export const COURSE = {
  mask: 0x3ff,
  north: 0x400,
  west: 0x800,
  fix: 0x1000,
  hasIgnition: 0x4000,
  ignition: 0x8000,
} as const;

/** Bits of a terminal's status byte. */
export const STATUS = { armed: 0x01, ignition: 0x02, charging: 0x04, cutOff: 0x80 } as const;

/** Alarm codes; the simulator sends the first of several codes with the same meaning. */
export const ALARM_CODES: readonly (readonly [code: number, alarm: Alarm])[] = [
  [0x01, 'sos'],
  [0x02, 'power-cut'],
  [0x03, 'tamper'],
  [0x06, 'overspeed'],
  [0x09, 'towing'],
  [0x0e, 'low-battery'],
  [0x0f, 'low-battery'],
  [0x11, 'jamming'],
  [0x13, 'tamper'],
  [0x15, 'low-battery'],
  [0x17, 'jamming'],
  [0x18, 'tamper'],
  [0x19, 'low-battery'],
  [0x29, 'harsh-acceleration'],
  [0x2a, 'harsh-cornering'],
  [0x2b, 'harsh-cornering'],
  [0x2c, 'crash'],
  [0x30, 'harsh-braking'],
  [0x32, 'power-cut'],
];
const ALARM_OF = new Map(ALARM_CODES);
/**
 * Codes that are not alarms: none, the terminal's own fence entered and left, an area without satellites entered and
 * left, power on, first fix, sleep, ignition on and off.
 */
const NO_ALARM_CODES = new Set([0x00, 0x04, 0x05, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xfe, 0xff]);

export const LOCATION_BYTES = 18;
/** Country, network, area and cell. */
export const CELL_BYTES = 8;

const MAX_VOLTAGE_LEVEL = 6;
const MAX_SIGNAL = 4;
const MAX_LANGUAGE = 2;
/** Voltage range of a battery of one or several cells, in hundredths of a volt. */
const MIN_BATTERY = 250;
const MAX_BATTERY = 6000;
/** Alarm by the value of bits 3 to 5 of the state. */
const ALARM_OF_STATE: readonly (Alarm | undefined)[] = [undefined, 'tamper', 'power-cut', 'low-battery', 'sos'];

/**
 * Reads the 18 bytes at the start of every location: time (UTC), satellites, place, speed, course.
 *
 * @param nowMs used as the time of a terminal whose clock is not set yet
 * @returns null where the time is invalid
 */
export function readLocation(bytes: Buffer, from: number, nowMs: number): Position | null {
  const fixTimeMs = readTimeMs(bytes, from, nowMs);
  if (fixTimeMs === null) return null;
  const course = bytes.readUInt16BE(from + 16);
  const latitude = bytes.readUInt32BE(from + 7) / STEPS_PER_DEGREE;
  const longitude = bytes.readUInt32BE(from + 11) / STEPS_PER_DEGREE;
  const position = blankPosition(
    fixTimeMs,
    (course & COURSE.north) === 0 ? -latitude + 0 : latitude,
    (course & COURSE.west) !== 0 ? -longitude + 0 : longitude,
  );
  position.valid = (course & COURSE.fix) !== 0;
  position.speedKmh = bytes[from + 15] as number;
  const courseDeg = course & COURSE.mask;
  position.courseDeg = courseDeg < 360 ? courseDeg : courseDeg === 360 ? 0 : null;
  position.satellites = (bytes[from + 6] as number) & 0x0f;
  if ((course & COURSE.hasIgnition) !== 0) position.ignition = (course & COURSE.ignition) !== 0;
  return position;
}

/** Flag bit of the country code: the network code has two bytes. */
export const LONG_NETWORK = 0x8000;

/**
 * Reads the cell that the terminal is connected to into attributes.
 *
 * @returns its length in bytes
 */
export function readCell(bytes: Buffer, from: number, position: Position): number {
  const country = bytes.readUInt16BE(from);
  const networkBytes = (country & LONG_NETWORK) === 0 ? 1 : 2;
  const mcc = country & ~LONG_NETWORK;
  const areaAt = from + 2 + networkBytes;
  if (mcc !== 0) {
    const mnc = bytes.readUIntBE(from + 2, networkBytes);
    const [lac, cellId] = [bytes.readUInt16BE(areaAt), bytes.readUIntBE(areaAt + 2, 3)];
    position.attributes = { ...position.attributes, mcc, mnc, lac, cellId };
  }
  return CELL_BYTES + networkBytes - 1;
}

const WIDE_AREA_BYTES = 4;
const WIDE_CELL_BYTES = 8;

/**
 * Reads a 4G cell: country, network in one or two bytes, area in four, cell in eight.
 *
 * @returns its length in bytes; 0 where it is cut off
 */
export function readWideCell(bytes: Buffer, from: number, to: number, position: Position): number {
  if (to - from < 2) return 0;
  const country = bytes.readUInt16BE(from);
  const networkBytes = (country & LONG_NETWORK) === 0 ? 1 : 2;
  const areaAt = from + 2 + networkBytes;
  const end = areaAt + WIDE_AREA_BYTES + WIDE_CELL_BYTES;
  if (end > to) return 0;
  const mcc = country & ~LONG_NETWORK;
  if (mcc !== 0) {
    // Cell numbers have at most 36 bits; the higher bits are zero.
    const cellId = Number(bytes.readBigUInt64BE(areaAt + WIDE_AREA_BYTES) & 0x1f_ffff_ffff_ffffn);
    const mnc = bytes.readUIntBE(from + 2, networkBytes);
    position.attributes = { ...position.attributes, mcc, mnc, lac: bytes.readUInt32BE(areaAt), cellId };
  }
  return end - from;
}

/** Bytes of a status: state, voltage level, signal, alarm, language. */
export const STATUS_BYTES = 5;

/** Reads a status of five bytes: state, voltage level, signal, alarm, language. */
export function readStatus(bytes: Buffer, from: number, position: Position): void {
  const voltageLevel = bytes[from + 1] as number;
  readState(bytes[from] as number, position);
  if (voltageLevel <= MAX_VOLTAGE_LEVEL)
    position.attributes = {
      ...position.attributes,
      batteryLevel: voltageLevel,
      batteryPercent: Math.round((voltageLevel * 100) / MAX_VOLTAGE_LEVEL),
    };
  readSignal(bytes[from + 2] as number, position);
  readAlarmCode(bytes, from, from + 3, position);
}

/** Reads the status of makers that send the battery voltage in two bytes, in hundredths of a volt. */
export function readStatusWithVoltage(bytes: Buffer, from: number, position: Position): void {
  readState(bytes[from] as number, position);
  position.attributes = { ...position.attributes, batteryV: bytes.readUInt16BE(from + 1) / 100 };
  readSignal(bytes[from + 3] as number, position);
  readAlarmCode(bytes, from, from + 4, position);
}

/**
 * Length of an alarm's status in bytes, deduced from the valid range of each byte; 0 where it is not a status. The last
 * byte is the language, 0 to 2.
 */
export function statusBytesAt(bytes: Buffer, from: number, to: number): number {
  const [, level = 0xff, signal = 0xff, , language = 0xff] = bytes.subarray(from, Math.min(to, from + STATUS_BYTES));
  if (level <= MAX_VOLTAGE_LEVEL && signal <= MAX_SIGNAL && language <= MAX_LANGUAGE) return STATUS_BYTES;
  if (to - from <= STATUS_BYTES) return 0;
  const voltage = bytes.readUInt16BE(from + 1);
  const isVoltage = voltage >= MIN_BATTERY && voltage <= MAX_BATTERY;
  return isVoltage && (bytes[from + 3] as number) <= MAX_SIGNAL && (bytes[from + 5] as number) <= MAX_LANGUAGE
    ? STATUS_BYTES + 1
    : 0;
}

function readSignal(gsmSignal: number, position: Position): void {
  position.attributes = {
    ...position.attributes,
    gsmSignal,
    ...(gsmSignal <= MAX_SIGNAL && { gsmSignalPercent: (gsmSignal * 100) / MAX_SIGNAL }),
  };
}

/** Reads the alarm code; where the code is 0, three bits of the state are used. */
function readAlarmCode(bytes: Buffer, stateAt: number, codeAt: number, position: Position): void {
  const code = bytes[codeAt] as number;
  const ofState = ALARM_OF_STATE[((bytes[stateAt] as number) >> 3) & 7];
  position.alarms = code === 0 && ofState !== undefined ? [ofState] : alarmsOf(code);
}

/** Reads the bits of the state, the first byte of a status. */
export function readState(status: number, position: Position): void {
  position.ignition = (status & STATUS.ignition) !== 0;
  position.attributes = {
    ...position.attributes,
    armed: (status & STATUS.armed) !== 0,
    charging: (status & STATUS.charging) !== 0,
    fuelCut: (status & STATUS.cutOff) !== 0,
  };
}

function alarmsOf(code: number): readonly Alarm[] {
  return NO_ALARM_CODES.has(code) ? NO_ALARMS : [ALARM_OF.get(code) ?? 'other'];
}

/** Reads year of the century, month, day, hour, minute, second; all are zero before the clock is set. */
export function readTimeMs(bytes: Buffer, from: number, nowMs: number): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = bytes.subarray(from, from + 6);
  if (year === 0 && month === 0 && day === 0) return nowMs;
  const timeMs = utcMs(2000 + year, month, day, hour, minute, second);
  return Number.isNaN(timeMs) ? null : timeMs;
}
