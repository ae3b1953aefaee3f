import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { readTime, TIME_BYTES } from './bcd.ts';
import { readItems } from './items.ts';

/** Alarm, status, latitude, longitude, altitude, speed, course, time. */
export const LOCATION_BYTES = 4 + 4 + 4 + 4 + 2 + 2 + 2 + TIME_BYTES;

/** Bits of the status. The five doors are front, middle, back, driver's, and one that the maker defines. */
export const STATUS = {
  ignition: 1 << 0,
  fix: 1 << 1,
  south: 1 << 2,
  west: 1 << 3,
  fuelCut: 1 << 10,
  door1: 1 << 13,
} as const;
/** Bits of the status that map to fields of a position. */
export const NAMED_STATUS = STATUS.ignition | STATUS.fix | STATUS.south | STATUS.west;

/** Bits of the alarm field with a specific alarm; any other bit is `other`. */
export const ALARM_BITS: readonly (readonly [bit: number, alarm: Alarm])[] = [
  [0, 'sos'],
  [1, 'overspeed'],
  [7, 'low-battery'],
  [8, 'power-cut'],
  [28, 'towing'],
  [29, 'crash'],
  [30, 'crash'],
  [31, 'tamper'],
];
const NAMED_BITS = ALARM_BITS.reduce((bits, [bit]) => bits | (1 << bit), 0);

/**
 * Decodes one location (JT/T 808, message 0x0200) in `bytes` from `from` to `to`.
 *
 * @returns `too-short` where the fixed part is cut off; null where it has no time and therefore cannot be a position
 */
export function readLocation(bytes: Buffer, from: number, to: number): Position | null | 'too-short' {
  if (to - from < LOCATION_BYTES) return 'too-short';
  const status = bytes.readUInt32BE(from + 4);
  const fixTimeMs = readTime(bytes, from + LOCATION_BYTES - TIME_BYTES);
  if (fixTimeMs === null) return null;
  const latitude = bytes.readUInt32BE(from + 8) / 1e6;
  const longitude = bytes.readUInt32BE(from + 12) / 1e6;
  // Avoids negative zero.
  const position = blankPosition(
    fixTimeMs,
    status & STATUS.south && latitude !== 0 ? -latitude : latitude,
    status & STATUS.west && longitude !== 0 ? -longitude : longitude,
  );
  position.valid = (status & STATUS.fix) !== 0;
  position.speedKmh = bytes.readUInt16BE(from + 18) / 10;
  // Some terminals report north as 360.
  const courseDeg = bytes.readUInt16BE(from + 20);
  position.courseDeg = courseDeg <= 360 ? courseDeg % 360 : null;
  position.altitudeM = bytes.readInt16BE(from + 16);
  position.ignition = (status & STATUS.ignition) !== 0;
  const alarmBits = bytes.readUInt32BE(from);
  position.alarms = alarmsOf(alarmBits);

  // The whole field is kept: makers define bits that the standard leaves open, and a cleared bit is a value, too.
  const attributes: Record<string, AttributeValue> = {
    statusBits: status,
    fuelCut: (status & STATUS.fuelCut) !== 0,
    door1: (status & STATUS.door1) !== 0,
    door2: (status & (STATUS.door1 << 1)) !== 0,
    door3: (status & (STATUS.door1 << 2)) !== 0,
    door4: (status & (STATUS.door1 << 3)) !== 0,
    door5: (status & (STATUS.door1 << 4)) !== 0,
  };
  if (alarmBits !== 0) attributes.alarmBits = alarmBits;
  readItems(position, attributes, bytes, from + LOCATION_BYTES, to);
  position.attributes = attributes;
  return position;
}

function alarmsOf(bits: number): readonly Alarm[] {
  if (bits === 0) return NO_ALARMS;
  const alarms: Alarm[] = [];
  for (const [bit, alarm] of ALARM_BITS) if ((bits >>> bit) & 1 && !alarms.includes(alarm)) alarms.push(alarm);
  if ((bits & ~NAMED_BITS) !== 0) alarms.push('other');
  return alarms;
}
