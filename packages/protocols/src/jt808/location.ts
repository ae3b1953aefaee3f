import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { readTime, TIME_BYTES } from './bcd.ts';

/** Alarm, status, latitude, longitude, altitude, speed, course, time. */
export const LOCATION_BYTES = 4 + 4 + 4 + 4 + 2 + 2 + 2 + TIME_BYTES;

export const STATUS = { ignition: 1 << 0, fix: 1 << 1, south: 1 << 2, west: 1 << 3 } as const;

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
  // Some terminals tell north as 360.
  const courseDeg = bytes.readUInt16BE(from + 20);
  position.courseDeg = courseDeg <= 360 ? courseDeg % 360 : null;
  position.altitudeM = bytes.readInt16BE(from + 16);
  position.ignition = (status & STATUS.ignition) !== 0;
  const alarmBits = bytes.readUInt32BE(from);
  position.alarms = alarmsOf(alarmBits);

  const attributes: Record<string, AttributeValue> = {};
  if (alarmBits !== 0) attributes.alarmBits = alarmBits;
  for (let p = from + LOCATION_BYTES; p + 2 <= to; ) {
    const id = bytes[p] as number;
    const length = bytes[p + 1] as number;
    const value = p + 2;
    p = value + length;
    if (p > to) break;
    readItem(position, attributes, id, bytes, value, length);
  }
  for (const _ in attributes) {
    position.attributes = attributes;
    break;
  }
  return position;
}

function readItem(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  bytes: Buffer,
  at: number,
  length: number,
): void {
  switch (id) {
    case ITEM.odometer:
      if (length === 4) position.odometerM = bytes.readUInt32BE(at) * 100;
      return;
    case ITEM.fuel:
      if (length === 2) position.fuelL = bytes.readUInt16BE(at) / 10;
      return;
    case ITEM.recorderSpeed:
      if (length === 2) attributes.recorderSpeedKmh = bytes.readUInt16BE(at) / 10;
      return;
    case ITEM.signal:
      if (length === 1) attributes.signal = bytes[at] as number;
      return;
    case ITEM.satellites:
      if (length === 1) position.satellites = bytes[at] as number;
      return;
    case ITEM.videoAlarms:
      if (length === 4) attributes.videoAlarmBits = bytes.readUInt32BE(at);
      return;
    case ITEM.vehicleSignals:
      if (length === 4) attributes.vehicleSignalBits = bytes.readUInt32BE(at);
      return;
    case ITEM.ioStatus:
      if (length === 2) attributes.ioStatusBits = bytes.readUInt16BE(at);
      return;
    case ITEM.analog:
      if (length === 4) {
        const both = bytes.readUInt32BE(at);
        attributes.adc1 = both & 0xffff;
        attributes.adc2 = both >>> 16;
      }
      return;
  }
}

function alarmsOf(bits: number): readonly Alarm[] {
  if (bits === 0) return NO_ALARMS;
  const alarms: Alarm[] = [];
  for (const [bit, alarm] of ALARM_BITS) if ((bits >>> bit) & 1 && !alarms.includes(alarm)) alarms.push(alarm);
  if ((bits & ~NAMED_BITS) !== 0) alarms.push('other');
  return alarms;
}
