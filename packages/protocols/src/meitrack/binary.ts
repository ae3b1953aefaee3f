import { type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { setStates, signalPercentOfCsq } from '../attributes.ts';
import { courseOf } from '../degrees.ts';
import { ALARM_OF } from './events.ts';

/** Epoch of the maker's times, which are seconds from 2000-01-01 00:00 UTC. */
export const EPOCH_S = 946_684_800;
/** Maximum number of bytes kept after the known fields. */
const MAX_TAIL_BYTES = 64;

/** Version of the format (2), length of a record (2), records left (4). */
const CCC_HEAD_BYTES = 8;
/** Length of a record up to the states of inputs and outputs; what follows depends on the model. */
const CCC_RECORD_BYTES = 42;
/** Records left (4), records here (2). */
export const CCE_HEAD_BYTES = 6;

/** Parameter ids that the codec interprets, by the length of their values; all parameters are kept as `io<id>`. */
export const PARAMETER = {
  event: 0x01,
  validity: 0x05,
  satellites: 0x06,
  signal: 0x07,
  outputs: 0x14,
  inputs: 0x15,
  speed: 0x08,
  course: 0x09,
  hdop: 0x0a,
  altitude: 0x0b,
  battery: 0x19,
  supply: 0x1a,
  latitude: 0x02,
  longitude: 0x03,
  time: 0x04,
  mileage: 0x0c,
  runTime: 0x0d,
} as const;
const ANALOG = new Map([0x16, 0x17, 0x18].map((id, index) => [id, `analog${index + 1}V`]));
/** First byte of a two-byte id. */
const WIDE_ID = 0xfe;

/** Content of a packet, with its number of records: a record without a time or a place yields no position. */
interface Records {
  positions: Position[];
  records: number;
}

/**
 * Reads the records of a `CCC` packet, which all have the same fields.
 *
 * @returns the records, or what is wrong with them
 */
export function readCcc(bytes: Buffer, from: number, to: number): Records | string {
  if (to - from < CCC_HEAD_BYTES) return 'a packet CCC is cut off';
  const recordBytes = bytes.readUInt16LE(from + 2);
  const records = (to - from - CCC_HEAD_BYTES) / recordBytes;
  if (recordBytes < CCC_RECORD_BYTES || !Number.isInteger(records)) return `records of ${recordBytes} bytes`;
  const positions: Position[] = [];
  for (let at = from + CCC_HEAD_BYTES; at < to; at += recordBytes) {
    const position = readCccRecord(bytes, at, at + recordBytes);
    if (position !== null) positions.push(position);
  }
  return { positions, records };
}

function readCccRecord(bytes: Buffer, at: number, to: number): Position | null {
  const position = placed(bytes.readUInt32LE(at + 9), bytes.readInt32LE(at + 1), bytes.readInt32LE(at + 5));
  if (position === null) return null;
  position.valid = bytes[at + 13] === 1;
  position.satellites = bytes[at + 14] as number;
  position.speedKmh = bytes.readUInt16LE(at + 16);
  position.courseDeg = courseOf(bytes.readUInt16LE(at + 18));
  position.altitudeM = bytes.readInt16LE(at + 22);
  position.odometerM = bytes.readUInt32LE(at + 24);
  const attributes: Record<string, AttributeValue> = {};
  keepEvent(position, attributes, bytes[at] as number);
  keepSignal(attributes, bytes[at + 15] as number);
  attributes.hdop = bytes.readUInt16LE(at + 20) / 10;
  attributes.runTimeSeconds = bytes.readUInt32LE(at + 28);
  const [mcc, mnc, lac, cellId] = [32, 34, 36, 38].map((offset) => bytes.readUInt16LE(at + offset));
  if (mcc) Object.assign(attributes, { mcc, mnc, lac, cellId });
  setStates(attributes, 'input', bytes[at + 40] as number);
  setStates(attributes, 'output', bytes[at + 41] as number);
  if (to > at + CCC_RECORD_BYTES)
    attributes.tail = bytes.toString(
      'hex',
      at + CCC_RECORD_BYTES,
      Math.min(to, at + CCC_RECORD_BYTES + MAX_TAIL_BYTES),
    );
  position.attributes = attributes;
  return position;
}

/**
 * Reads the records of a `CCE` packet: each has parameters of 1, 2 and 4 bytes, and of variable length.
 *
 * @returns the records, or what is wrong with them
 */
export function readCce(bytes: Buffer, from: number, to: number): Records | string {
  if (to - from < CCE_HEAD_BYTES) return 'a packet CCE is cut off';
  const records = bytes.readUInt16LE(from + 4);
  const positions: Position[] = [];
  let at = from + CCE_HEAD_BYTES;
  for (let record = 1; record <= records; record += 1) {
    const end = at + 2 > to ? Number.POSITIVE_INFINITY : at + 2 + bytes.readUInt16LE(at);
    if (end > to) return `record ${record} of ${records} is cut off`;
    const position = readCceRecord(bytes, at + 4, end);
    if (position === 'cut-off') return `record ${record} of ${records} has parameters cut off`;
    if (position !== null) positions.push(position);
    at = end;
  }
  return { positions, records };
}

function readCceRecord(bytes: Buffer, from: number, to: number): Position | null | 'cut-off' {
  const values = new Map<number, number>();
  const attributes: Record<string, AttributeValue> = {};
  let at = from;
  for (const width of [1, 2, 4, 0] as const) {
    if (at >= to) return 'cut-off';
    const count = bytes[at] as number;
    at += 1;
    for (let index = 0; index < count; index += 1) {
      const idBytes = bytes[at] === WIDE_ID ? 2 : 1;
      const valueAt = at + idBytes + (width === 0 ? 1 : 0);
      if (valueAt > to) return 'cut-off';
      const id = bytes.readUIntBE(at, idBytes);
      const length = width === 0 ? (bytes[valueAt - 1] as number) : width;
      if (valueAt + length > to) return 'cut-off';
      if (width === 0) attributes[`io${id}`] = bytes.toString('hex', valueAt, valueAt + length);
      else values.set(id, bytes.readUIntLE(valueAt, width));
      at = valueAt + length;
    }
  }
  return positionOf(values, attributes);
}

function positionOf(values: ReadonlyMap<number, number>, attributes: Record<string, AttributeValue>): Position | null {
  const signed = (id: number) => (values.get(id) ?? 0) | 0;
  const time = values.get(PARAMETER.time);
  if (time === undefined) return null;
  const position = placed(time, signed(PARAMETER.latitude), signed(PARAMETER.longitude));
  if (position === null) return null;
  const hasPlace = values.has(PARAMETER.latitude) && values.has(PARAMETER.longitude);
  position.valid = hasPlace && values.get(PARAMETER.validity) !== 0;
  position.satellites = values.get(PARAMETER.satellites) ?? null;
  position.speedKmh = values.get(PARAMETER.speed) ?? null;
  position.courseDeg = courseOf(values.get(PARAMETER.course) ?? null);
  const altitude = values.get(PARAMETER.altitude);
  position.altitudeM = altitude === undefined ? null : (altitude << 16) >> 16;
  position.odometerM = values.get(PARAMETER.mileage) ?? null;
  for (const [id, value] of values) readParameter(position, attributes, id, value);
  position.attributes = attributes;
  return position;
}

const OF_POSITION: ReadonlySet<number> = new Set([
  PARAMETER.latitude,
  PARAMETER.longitude,
  PARAMETER.time,
  PARAMETER.validity,
  PARAMETER.satellites,
  PARAMETER.speed,
  PARAMETER.course,
  PARAMETER.altitude,
  PARAMETER.mileage,
]);

function readParameter(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  value: number,
): void {
  if (OF_POSITION.has(id)) return;
  const analog = ANALOG.get(id);
  if (analog !== undefined) attributes[analog] = value / 100;
  switch (id) {
    case PARAMETER.event:
      keepEvent(position, attributes, value);
      return;
    case PARAMETER.signal:
      keepSignal(attributes, value);
      return;
    case PARAMETER.hdop:
      attributes.hdop = value / 10;
      return;
    case PARAMETER.runTime:
      attributes.runTimeSeconds = value;
      return;
    case PARAMETER.outputs:
      setStates(attributes, 'output', value);
      return;
    case PARAMETER.inputs:
      setStates(attributes, 'input', value);
      return;
    case PARAMETER.battery:
      attributes.batteryV = value / 100;
      return;
    case PARAMETER.supply:
      position.supplyV = value / 100;
      return;
    default:
      attributes[`io${id}`] = value;
  }
}

/** @returns null where the place is invalid */
function placed(seconds: number, latitude: number, longitude: number): Position | null {
  if (Math.abs(latitude) > 90e6 || Math.abs(longitude) > 180e6) return null;
  return blankPosition((EPOCH_S + seconds) * 1000, latitude / 1e6, longitude / 1e6);
}

function keepEvent(position: Position, attributes: Record<string, AttributeValue>, code: number): void {
  attributes.eventCode = code;
  const alarm = ALARM_OF.get(code);
  position.alarms = alarm === undefined ? NO_ALARMS : [alarm];
}

function keepSignal(attributes: Record<string, AttributeValue>, csq: number): void {
  const percent = signalPercentOfCsq(csq);
  if (percent !== null) attributes.gsmSignalPercent = percent;
}
