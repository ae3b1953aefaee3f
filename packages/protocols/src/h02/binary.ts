import type { Position } from '@outrider/domain';
import { utcMsOfText } from '../calendar.ts';
import { degreesOfNmea, kmhOfKnots } from '../degrees.ts';
import { placeOf, readStatus } from './message.ts';

/**
 * `$` begins a place in binary form, as in the ICAR GPS Protocol: 45 bytes, of which some models omit the last 13
 * (satellites, mileage, cell, number of the record).
 */
export const BINARY_MARK = 0x24;
/** Mark, number (5), time (3), date (3), latitude (4), battery (1), longitude and flags (5), speed and course (3), … */
export const BINARY_BYTES = 32;
/** … state (4), alarms (2) and the mobile signal (1). Some models send more. */
export const MAX_TAIL_BYTES = 16;
/** Battery percent by the code of its level. */
const BATTERY_PERCENT: Readonly<Record<string, number>> = { '06': 100, '05': 80, '04': 60, '03': 20, '02': 10 };
export const NUMBER_BYTES = 5;

/** Bits of the half byte after the longitude. */
export const FLAG = { valid: 2, north: 4, east: 8 } as const;

/** Reads the terminal's number, which may be incomplete. Null where it is not decimal digits. */
export function readNumber(bytes: Buffer, from: number): string | null {
  const digits = bytes.toString('hex', from + 1, Math.min(bytes.length, from + 1 + NUMBER_BYTES));
  return /^\d*$/.test(digits) ? digits : null;
}

/** @returns what is wrong, where there is no position */
export function readBinary(bytes: Buffer, from: number): Position | string {
  const digits = bytes.toString('hex', from + 1 + NUMBER_BYTES, from + BINARY_BYTES);
  const text = (at: number, length: number) => digits.slice(at, at + length);
  const flags = Number.parseInt(text(31, 1), 16);
  const fixTimeMs = utcMsOfText(text(6, 6), text(0, 6), 'DDMMYY');
  if (Number.isNaN(fixTimeMs)) return 'the time of a place is not one';
  const position = placeOf(
    fixTimeMs,
    (flags & FLAG.valid) !== 0,
    degreesOfNmea(`${text(12, 4)}.${text(16, 4)}`, (flags & FLAG.north) === 0 ? 'S' : 'N'),
    degreesOfNmea(`${text(22, 5)}.${text(27, 4)}`, (flags & FLAG.east) === 0 ? 'W' : 'E'),
  );
  if (typeof position === 'string') return position;
  position.speedKmh = kmhOfKnots(text(32, 3));
  const course = Number(text(35, 3));
  position.courseDeg = course <= 360 ? course % 360 : null;
  readStatus(position, text(38, 8));
  const batteryPercent = BATTERY_PERCENT[text(20, 2)];
  if (batteryPercent !== undefined) position.attributes = { ...position.attributes, batteryPercent };
  return position;
}
