import { type Alarm, type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { setStates, signalPercentOfCsq } from '../attributes.ts';
import { courseOf } from '../degrees.ts';

/** First bytes of every block. */
export const BLOCK = 0x0bbb;
/** Types of values. */
export const VALUE = { text: 1, binary: 2, int: 3, double: 4, long: 5 } as const;
/** Flag bits of a packet. */
export const FLAG = { place: 0x01, inputs: 0x02, outputs: 0x04, alarm: 0x10, driver: 0x20 } as const;
/** Names of blocks that are read as more than an attribute. */
export const NAME = {
  place: 'posinfo',
  supply: 'pwr_ext',
  battery: 'pwr_int',
  inputs: 'avl_inputs',
  outputs: 'avl_outputs',
  driver: 'avl_driver',
  ignition: 'ign',
  gsm: 'gsm',
  odometer: 'odometer_m',
  fuel: 'fuel_l',
} as const;
/** Longitude, latitude, altitude, speed, course, satellites. */
export const PLACE_BYTES = 29;

/** Type, size, visibility, type of the value, and at least the end of a name. */
const LEAST_BLOCK_BYTES = 9;
const MAX_ATTRIBUTES = 96;
const MAX_NAME_LENGTH = 64;
const MAX_TEXT_LENGTH = 255;
const MAX_ID_LENGTH = 64;
const SOS: readonly Alarm[] = Object.freeze(['sos'] satisfies Alarm[]);

/** Content of one packet. */
export interface Packet {
  terminalId: string;
  position: Position;
}

/**
 * Reads a packet, without its size. A packet without a place becomes a position that is not valid at 0/0, so that its
 * values are not lost.
 *
 * @param isWhole false where the packet was cut off at the limit of a frame: its last block is skipped
 * @returns the packet, or what is wrong with it
 */
export function readPacket(bytes: Buffer, from: number, to: number, isWhole: boolean): Packet | string {
  const idEnd = bytes.indexOf(0, from);
  if (idEnd < 0 || idEnd + 9 > to) return 'a packet without the end of its id';
  if (idEnd === from || idEnd - from > MAX_ID_LENGTH) return `an id of ${idEnd - from} bytes`;
  const terminalId = bytes.toString('utf8', from, idEnd);
  const position = blankPosition(bytes.readUInt32BE(idEnd + 1) * 1000, 0, 0);
  position.valid = false;
  if (bytes.readUInt32BE(idEnd + 5) & FLAG.alarm) position.alarms = SOS;

  const attributes: Record<string, AttributeValue> = {};
  let held = 0;
  for (let at = idEnd + 9; at < to; ) {
    const wrong = blockFault(bytes, at, to);
    if (wrong !== null) {
      if (isWhole) return wrong;
      break;
    }
    const end = at + 6 + bytes.readUInt32BE(at + 2);
    const nameEnd = bytes.indexOf(0, at + 8);
    if (nameEnd < 0 || nameEnd >= end) return 'a block without the end of its name';
    const name = bytes.toString('utf8', at + 8, nameEnd);
    const value = readValue(bytes, bytes[at + 7] as number, nameEnd + 1, end);
    if (value === undefined) return `the value of block ${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))} is cut off`;
    at = end;
    if (name === NAME.place && Buffer.isBuffer(value)) {
      const placeFault = readPlace(position, value);
      if (placeFault !== null) return placeFault;
      continue;
    }
    // Protects the object's prototype from external names. Binary values such as photos are not attributes.
    if (value === null || Buffer.isBuffer(value) || name === '__proto__' || name === '') continue;
    if (held >= MAX_ATTRIBUTES || name.length > MAX_NAME_LENGTH) continue;
    held += 1;
    attributes[name] = value;
    readKnown(position, attributes, name, value);
  }
  if (held > 0) position.attributes = attributes;
  return { terminalId, position };
}

/** @returns what is wrong with the head of a block, or null */
function blockFault(bytes: Buffer, at: number, to: number): string | null {
  if (to - at < LEAST_BLOCK_BYTES) return 'a block is cut off';
  if (bytes.readUInt16BE(at) !== BLOCK) return 'a block begins with 0BBB';
  const size = bytes.readUInt32BE(at + 2);
  return size < LEAST_BLOCK_BYTES - 6 || at + 6 + size > to ? 'a block is cut off' : null;
}

/** @returns null for NaN, an infinity and unknown types; undefined where the value is too short */
function readValue(bytes: Buffer, type: number, from: number, to: number): AttributeValue | Buffer | null | undefined {
  const length = to - from;
  switch (type) {
    case VALUE.text: {
      const end = bytes.indexOf(0, from);
      const textEnd = end < 0 || end > to ? to : end;
      return bytes.toString('utf8', from, textEnd).slice(0, MAX_TEXT_LENGTH).toWellFormed();
    }
    case VALUE.binary:
      return bytes.subarray(from, to);
    case VALUE.int:
      return length < 4 ? undefined : bytes.readInt32BE(from);
    case VALUE.double: {
      if (length < 8) return undefined;
      const value = bytes.readDoubleLE(from);
      return Number.isFinite(value) ? value + 0 : null;
    }
    case VALUE.long: {
      if (length < 8) return undefined;
      const value = bytes.readBigInt64BE(from);
      // A value beyond the range of a number is kept as its digits.
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    }
    default:
      return null;
  }
}

/** @returns what is wrong, or null */
function readPlace(position: Position, value: Buffer): string | null {
  if (value.length < PLACE_BYTES) return 'a place is cut off';
  const longitude = value.readDoubleLE(0);
  const latitude = value.readDoubleLE(8);
  const altitudeM = value.readDoubleLE(16);
  // NaN fails every comparison.
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return `a place at ${latitude}, ${longitude}`;
  position.latitude = latitude + 0;
  position.longitude = longitude + 0;
  position.valid = true;
  position.altitudeM = Number.isFinite(altitudeM) ? Math.round(altitudeM) + 0 : null;
  position.speedKmh = Math.max(0, value.readInt16BE(24));
  position.courseDeg = courseOf(value.readInt16BE(26));
  position.satellites = value[28] as number;
  return null;
}

/** Maps the values that every platform names alike to fields and common names. */
function readKnown(
  position: Position,
  attributes: Record<string, AttributeValue>,
  name: string,
  value: AttributeValue,
): void {
  if (name === NAME.driver && typeof value === 'string') {
    if (value !== '') attributes.driverCode = value;
    return;
  }
  if (typeof value !== 'number') return;
  switch (name) {
    case NAME.supply:
      position.supplyV = value;
      break;
    case NAME.battery:
      attributes.batteryV = value;
      break;
    case NAME.inputs:
      setStates(attributes, 'input', value);
      break;
    case NAME.outputs:
      setStates(attributes, 'output', value);
      break;
    case NAME.ignition:
      if (value === 0 || value === 1) position.ignition = value === 1;
      break;
    case NAME.odometer:
      position.odometerM = Math.round(value);
      break;
    case NAME.fuel:
      position.fuelL = value;
      break;
    case NAME.gsm: {
      const percent = signalPercentOfCsq(value);
      if (percent !== null) attributes.gsmSignalPercent = percent;
      break;
    }
  }
}
