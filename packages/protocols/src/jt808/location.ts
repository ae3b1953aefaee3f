import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { readTime, TIME_BYTES } from './bcd.ts';

/** Alarm, status, latitude, longitude, altitude, speed, course, time. */
export const LOCATION_BYTES = 4 + 4 + 4 + 4 + 2 + 2 + 2 + TIME_BYTES;

export const STATUS = { ignition: 1 << 0, fix: 1 << 1, south: 1 << 2, west: 1 << 3 } as const;
/** Bits of the status that have a field of their own in a position. */
export const NAMED_STATUS = STATUS.ignition | STATUS.fix | STATUS.south | STATUS.west;

/** What may follow the fixed part of a location: an id, a length, a value. */
export const ITEM = {
  odometer: 0x01,
  fuel: 0x02,
  recorderSpeed: 0x03,
  videoAlarms: 0x14,
  vehicleSignals: 0x25,
  ioStatus: 0x2a,
  analog: 0x2b,
  signal: 0x30,
  satellites: 0x31,
} as const;

/** The length that the standard gives each of them. */
const ITEM_BYTES: Readonly<Record<number, number>> = {
  [ITEM.odometer]: 4,
  [ITEM.fuel]: 2,
  [ITEM.recorderSpeed]: 2,
  [ITEM.videoAlarms]: 4,
  [ITEM.vehicleSignals]: 4,
  [ITEM.ioStatus]: 2,
  [ITEM.analog]: 4,
  [ITEM.signal]: 1,
  [ITEM.satellites]: 1,
};

/** More attributes than any terminal has sensors for; further items of a location are skipped. */
const MAX_ATTRIBUTES = 96;

/** By id, the attribute that holds an item without a name: `item` and the id in two hexadecimal digits. */
const ITEM_NAMES = Array.from({ length: 256 }, (_, id) => `item${id.toString(16).padStart(2, '0')}`);

/** Bits of the alarm field that have a word here; any other bit is `other`. */
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
 * Decodes one location (JT/T 808, message 0x0200) that lies in `bytes` from `from` to `to`.
 *
 * @returns `too-short` where the fixed part is cut off; null where it has no time, and so can be no position
 */
export function readLocation(bytes: Buffer, from: number, to: number): Position | null | 'too-short' {
  if (to - from < LOCATION_BYTES) return 'too-short';
  const status = bytes.readUInt32BE(from + 4);
  const fixTimeMs = readTime(bytes, from + LOCATION_BYTES - TIME_BYTES);
  if (fixTimeMs === null) return null;
  const latitude = bytes.readUInt32BE(from + 8) / 1e6;
  const longitude = bytes.readUInt32BE(from + 12) / 1e6;
  // A fraction of zero degrees has no sign that anyone wants.
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

  // The whole field: makers give bits a meaning that the standard leaves open, and a bit that is not set is a value,
  // too.
  const attributes: Record<string, AttributeValue> = { statusBits: status };
  if (alarmBits !== 0) attributes.alarmBits = alarmBits;
  let unnamed = 0;
  for (let p = from + LOCATION_BYTES; p + 2 <= to; ) {
    const id = bytes[p] as number;
    const length = bytes[p + 1] as number;
    const value = p + 2;
    p = value + length;
    if (p > to) break;
    if (!readItem(position, attributes, id, bytes, value, length) && unnamed++ < MAX_ATTRIBUTES)
      attributes[ITEM_NAMES[id] as string] = rawValue(bytes, value, length);
  }
  position.attributes = attributes;
  return position;
}

/** An item as it stands: a number where it has the length of one, else its bytes in hexadecimal. */
function rawValue(bytes: Buffer, at: number, length: number): AttributeValue {
  if (length === 1 || length === 2 || length === 4) return bytes.readUIntBE(at, length);
  return bytes.toString('hex', at, at + length);
}

/** @returns false where the item has no name, or not the length that the standard gives it */
function readItem(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  bytes: Buffer,
  at: number,
  length: number,
): boolean {
  if (length !== ITEM_BYTES[id]) return false;
  switch (id) {
    case ITEM.odometer:
      position.odometerM = bytes.readUInt32BE(at) * 100;
      return true;
    case ITEM.fuel:
      position.fuelL = bytes.readUInt16BE(at) / 10;
      return true;
    case ITEM.recorderSpeed:
      attributes.recorderSpeedKmh = bytes.readUInt16BE(at) / 10;
      return true;
    case ITEM.signal:
      attributes.signal = bytes[at] as number;
      return true;
    case ITEM.satellites:
      position.satellites = bytes[at] as number;
      return true;
    case ITEM.videoAlarms:
      attributes.videoAlarmBits = bytes.readUInt32BE(at);
      return true;
    case ITEM.vehicleSignals:
      attributes.vehicleSignalBits = bytes.readUInt32BE(at);
      return true;
    case ITEM.ioStatus:
      attributes.ioStatusBits = bytes.readUInt16BE(at);
      return true;
    case ITEM.analog: {
      const both = bytes.readUInt32BE(at);
      attributes.adc1 = both & 0xffff;
      attributes.adc2 = both >>> 16;
      return true;
    }
    default:
      return false;
  }
}

function alarmsOf(bits: number): readonly Alarm[] {
  if (bits === 0) return NO_ALARMS;
  const alarms: Alarm[] = [];
  for (const [bit, alarm] of ALARM_BITS) if ((bits >>> bit) & 1 && !alarms.includes(alarm)) alarms.push(alarm);
  if ((bits & ~NAMED_BITS) !== 0) alarms.push('other');
  return alarms;
}
