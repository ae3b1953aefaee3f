import {
  type Alarm,
  type AttributeValue,
  blankPosition,
  NO_ALARMS,
  type Position,
  type TerminalId,
} from '@outrider/domain';
import { setStates } from '../attributes.ts';
import { courseOf } from '../degrees.ts';
import type { EgtsRecord } from './transport.ts';

export const SUBRECORD = {
  response: 0,
  identity: 1,
  /** Sent by a platform that forwards the data of its terminals. */
  dispatcher: 5,
  password: 7,
  result: 9,
  place: 16,
  precision: 17,
  inputs: 18,
  counters: 19,
  stateOrAcceleration: 20,
  state: 21,
  analogInput: 24,
  counter: 25,
  level: 27,
  passengers: 28,
} as const;

/** Times are seconds from 2010-01-01 UTC. */
export const EPOCH_MS = Date.UTC(2010, 0, 1);
const U32 = 0xffffffff;

/** Flag bits of a place. */
export const PLACE = { valid: 0x01, south: 0x20, west: 0x40, altitude: 0x80 } as const;
/** Flag bits of the two bytes whose lower 14 bits hold the speed. */
export const SPEED = { mask: 0x3fff, belowSea: 0x4000, courseHigh: 0x8000 } as const;
export const PLACE_BYTES = 21;

/** Codes for why a place was sent. These imply the ignition state or an alarm. */
export const SOURCE = { ignitionOn: 0, ignitionOff: 5, sos: 13 } as const;
/** Reason codes that are alarms. */
export const ALARM_OF_SOURCE: ReadonlyMap<number, Alarm> = new Map<number, Alarm>([
  [10, 'tamper'],
  [11, 'power-cut'],
  [12, 'low-battery'],
  [SOURCE.sos, 'sos'],
]);

/** The identity that a terminal reports. */
export interface Identity {
  number: number;
  imei: TerminalId | null;
}

/** @returns the identity, or what is wrong with it */
export function readIdentity(bytes: Buffer, from: number, to: number): Identity | string {
  if (to - from < 5) return 'an identity is cut off';
  const flags = bytes[from + 4] as number;
  const imeiAt = from + 5 + (flags & 0x01 ? 2 : 0);
  if ((flags & 0x02) === 0) return { number: bytes.readUInt32LE(from), imei: null };
  if (to - imeiAt < 15) return 'an identity is cut off';
  const imei = bytes.toString('latin1', imeiAt, imeiAt + 15);
  return { number: bytes.readUInt32LE(from), imei: /^\d{15}$/.test(imei) ? (imei as TerminalId) : null };
}

/** The password of a platform: the second of several zero-terminated texts. */
export function readPassword(bytes: Buffer, from: number, to: number): string | null {
  const [, password] = bytes.toString('latin1', from, to).split('\0');
  return password || null;
}

/** Calls `take` with each subrecord of a record. @returns what is wrong, or null */
export function eachSubrecord(
  bytes: Buffer,
  { from, to }: EgtsRecord,
  take: (type: number, from: number, to: number) => string | null,
): string | null {
  for (let at = from; at < to; ) {
    if (to - at < 3) return 'a subrecord is cut off';
    const length = bytes.readUInt16LE(at + 1);
    if (at + 3 + length > to) return 'a subrecord is cut off';
    const wrong = take(bytes[at] as number, at + 3, at + 3 + length);
    if (wrong !== null) return wrong;
    at += 3 + length;
  }
  return null;
}

/** Reads the places of a telemetry record; sensor subrecords belong to the place before them. */
export function readTelemetry(bytes: Buffer, record: EgtsRecord, positions: Position[]): string | null {
  let position: Position | null = null;
  return eachSubrecord(bytes, record, (type, from, to) => {
    if (type === SUBRECORD.place) {
      position = readPlace(bytes, from, to);
      if (position === null) return 'a place is cut off';
      positions.push(position);
    } else if (position !== null) readSensors(position, type, bytes, from, to);
    return null;
  });
}

function readPlace(bytes: Buffer, from: number, to: number): Position | null {
  if (to - from < PLACE_BYTES) return null;
  const flags = bytes[from + 12] as number;
  const latitude = (bytes.readUInt32LE(from + 4) / U32) * 90;
  const longitude = (bytes.readUInt32LE(from + 8) / U32) * 180;
  const position = blankPosition(
    EPOCH_MS + bytes.readUInt32LE(from) * 1000,
    flags & PLACE.south ? -latitude + 0 : latitude,
    flags & PLACE.west ? -longitude + 0 : longitude,
  );
  const speed = bytes.readUInt16LE(from + 13);
  position.valid = (flags & PLACE.valid) !== 0;
  position.speedKmh = (speed & SPEED.mask) / 10;
  position.courseDeg = courseOf((bytes[from + 15] as number) + (speed & SPEED.courseHigh ? 256 : 0));
  position.odometerM = bytes.readUIntLE(from + 16, 3) * 100;
  const source = bytes[from + 20] as number;
  if (source === SOURCE.ignitionOn) position.ignition = true;
  else if (source === SOURCE.ignitionOff) position.ignition = false;
  const alarm = ALARM_OF_SOURCE.get(source);
  position.alarms = alarm === undefined ? NO_ALARMS : [alarm];
  const attributes: Record<string, AttributeValue> = { eventCode: source };
  setStates(attributes, 'input', bytes[from + 19] as number);
  if (flags & PLACE.altitude && to - from >= PLACE_BYTES + 3) {
    const altitudeM = bytes.readUIntLE(from + PLACE_BYTES, 3);
    position.altitudeM = speed & SPEED.belowSea ? -altitudeM + 0 : altitudeM;
  }
  position.attributes = attributes;
  return position;
}

function readSensors(position: Position, type: number, bytes: Buffer, from: number, to: number): void {
  const attributes = position.attributes as Record<string, AttributeValue>;
  const length = to - from;
  switch (type) {
    case SUBRECORD.precision:
      readPrecision(position, attributes, bytes, from, to);
      return;
    case SUBRECORD.inputs:
      readInputs(attributes, bytes, from, to);
      return;
    case SUBRECORD.counters:
      readNumbered(attributes, 'counter', bytes, from + 1, to, bytes[from] ?? 0);
      return;
    case SUBRECORD.stateOrAcceleration:
    case SUBRECORD.state:
      // Accelerations have the same type but another length.
      if (length !== 5) return keepRaw(attributes, type, bytes, from, to);
      position.supplyV = (bytes[from + 1] as number) / 10;
      attributes.batteryV = (bytes[from + 3] as number) / 10;
      return;
    case SUBRECORD.analogInput:
    case SUBRECORD.counter:
      if (length < 4) return;
      attributes[`${type === SUBRECORD.counter ? 'counter' : 'adc'}${(bytes[from] as number) + 1}`] = bytes.readUIntLE(
        from + 1,
        3,
      );
      return;
    case SUBRECORD.level:
      readLevel(attributes, bytes, from, to);
      return;
    default:
      keepRaw(attributes, type, bytes, from, to);
  }
}

function readPrecision(
  position: Position,
  attributes: Record<string, AttributeValue>,
  bytes: Buffer,
  from: number,
  to: number,
): void {
  const flags = bytes[from] ?? 0;
  let at = from + 1;
  for (const [bit, name] of [
    [0x01, 'vdop'],
    [0x02, 'hdop'],
    [0x04, 'pdop'],
  ] as const) {
    if ((flags & bit) === 0 || at + 2 > to) continue;
    attributes[name] = bytes.readUInt16LE(at) / 100;
    at += 2;
  }
  if (flags & 0x08 && at < to) position.satellites = bytes[at] as number;
}

function readInputs(attributes: Record<string, AttributeValue>, bytes: Buffer, from: number, to: number): void {
  if (to - from < 3) return;
  const [digital = 0, outputs = 0, analog = 0] = bytes.subarray(from, from + 3);
  setStates(attributes, 'output', outputs);
  let at = from + 3;
  for (let octet = 0; octet < 8; octet += 1) {
    if ((digital & (1 << octet)) === 0 || at >= to) continue;
    setStates(attributes, 'input', bytes[at] as number, octet * 8 + 1);
    at += 1;
  }
  readNumbered(attributes, 'adc', bytes, at, to, analog);
}

/** Reads three-byte values, one for each bit that is set. */
function readNumbered(
  attributes: Record<string, AttributeValue>,
  name: string,
  bytes: Buffer,
  from: number,
  to: number,
  present: number,
): void {
  let at = from;
  for (let index = 0; index < 8; index += 1) {
    if ((present & (1 << index)) === 0 || at + 3 > to) continue;
    attributes[`${name}${index + 1}`] = bytes.readUIntLE(at, 3);
    at += 3;
  }
}

/** A level sensor: a raw value, percent, or tenths of a litre. */
function readLevel(attributes: Record<string, AttributeValue>, bytes: Buffer, from: number, to: number): void {
  if (to - from < 7) return;
  const flags = bytes[from] as number;
  const isFaulty = (flags & 0x40) !== 0;
  const isRawData = (flags & 0x08) !== 0;
  if (isFaulty || isRawData) return;
  const number = (flags & 0x07) + 1;
  const value = bytes.readUInt32LE(from + 3);
  const unit = (flags >> 4) & 0x03;
  if (unit === 0) attributes[`fuelLevel${number}`] = value;
  else if (unit === 1) attributes[`fuel${number}Percent`] = value;
  else attributes[`fuel${number}L`] = value / 10;
}

function keepRaw(
  attributes: Record<string, AttributeValue>,
  type: number,
  bytes: Buffer,
  from: number,
  to: number,
): void {
  attributes[`subrecord${type}`] = bytes.toString('hex', from, Math.min(to, from + 255));
}
