import { type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { signalPercentOfCsq } from '../attributes.ts';

/** Commands of a terminal. Record commands exist in two forms: the extended one has two-byte ids and events. */
export const COMMAND = {
  records: 1,
  /** Identifies the terminal, before it sends anything else. */
  identification: 15,
  heartbeat: 16,
  textAnswer: 7,
  faultCodes: 9,
  recordsExtended: 68,
} as const;

/** The server's answer to records. */
export const ANSWER_RECORDS = 100;
export const ANSWER_IDENTIFICATION = 115;
export const ANSWER_FAULT_CODES = 109;
export const ANSWER_HEARTBEAT = 116;
/** A text command, with the syntax of an SMS. */
export const TEXT = 108;

/** Ids of the maker's list that the codec interprets; all others are kept as `io<id>`. */
export const IO = {
  ignition: 5,
  gsmSignal: 27,
  supplyMv: 29,
  batteryMv: 30,
  odometerM: 65,
  /** In steps of 5 m. */
  canOdometer: 163,
  /** In steps of 0.125 revolutions per minute. */
  canRpm: 197,
  /** In steps of 0.4 %. */
  canFuelLevel: 207,
  canIgnition: 409,
} as const;
const INPUTS = new Map([2, 3, 4, 5].map((id, index) => [id, `input${index + 1}`]));
const ANALOG = new Map([22, 23].map((id, index) => [id, `analog${index + 1}V`]));
/** In steps of 0.1 °C, signed. */
const TEMPERATURES = new Map([78, 79, 80].map((id, index) => [id, `temperature${index + 1}C`]));

const SECONDS_TO_IO = 23;

/** @returns the positions, or what is wrong with the records */
export function readRecords(bytes: Buffer, from: number, to: number, isExtended: boolean): Position[] | string {
  if (to - from < 2) return 'a packet of records is cut off';
  const count = bytes[from + 1] as number;
  const positions: Position[] = [];
  let at = from + 2;
  for (let index = 0; index < count; index += 1) {
    const record = readRecord(bytes, at, to, isExtended);
    if (record === null) return `record ${index + 1} of ${count} is cut off`;
    positions.push(record.position);
    at = record.to;
  }
  return at === to ? positions : 'bytes are left after the last record';
}

function readRecord(
  bytes: Buffer,
  from: number,
  to: number,
  isExtended: boolean,
): { position: Position; to: number } | null {
  const shift = isExtended ? 1 : 0;
  const idBytes = isExtended ? 2 : 1;
  if (to - from < SECONDS_TO_IO + shift + idBytes) return null;
  let at = from + 6 + shift;
  const position = blankPosition(
    bytes.readUInt32BE(from) * 1000,
    bytes.readInt32BE(at + 4) / 1e7,
    bytes.readInt32BE(at) / 1e7,
  );
  position.altitudeM = Math.round(bytes.readInt16BE(at + 8) / 10) + 0;
  position.courseDeg = Math.round(bytes.readUInt16BE(at + 10) / 100) % 360;
  position.satellites = bytes[at + 12] as number;
  position.speedKmh = bytes.readUInt16BE(at + 13);
  // A terminal without a fix sends its last place with no satellites.
  position.valid = position.satellites > 0;
  const attributes: Record<string, AttributeValue> = {
    hdop: (bytes[at + 15] as number) / 10,
    eventCode: bytes.readUIntBE(at + 16, idBytes),
  };
  at += 16 + idBytes;
  for (const width of [1, 2, 4, 8] as const) {
    if (at >= to) return null;
    const end = at + 1 + (bytes[at] as number) * (idBytes + width);
    if (end > to) return null;
    for (at += 1; at < end; at += idBytes + width)
      readElement(position, attributes, bytes.readUIntBE(at, idBytes), bytes, at + idBytes, width);
  }
  position.attributes = attributes;
  return { position, to: at };
}

function readElement(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  bytes: Buffer,
  at: number,
  width: 1 | 2 | 4 | 8,
): void {
  const raw = width === 8 ? bytes.toString('hex', at, at + 8) : bytes.readUIntBE(at, width);
  attributes[`io${id}`] = raw;
  if (typeof raw === 'string') return;
  const input = INPUTS.get(id);
  if (input !== undefined) attributes[input] = raw !== 0;
  const analog = ANALOG.get(id);
  if (analog !== undefined) attributes[analog] = raw / 1000;
  const temperature = TEMPERATURES.get(id);
  if (temperature !== undefined && width > 1) attributes[temperature] = bytes.readIntBE(at, width) / 10;
  switch (id) {
    // The first of these is the fourth input, to which the maker's terminals have the ignition wired.
    case IO.ignition:
    case IO.canIgnition:
      position.ignition = raw !== 0;
      break;
    case IO.gsmSignal: {
      const percent = signalPercentOfCsq(raw);
      if (percent !== null) attributes.gsmSignalPercent = percent;
      break;
    }
    case IO.supplyMv:
      position.supplyV = raw / 1000;
      break;
    case IO.batteryMv:
      attributes.batteryV = raw / 1000;
      break;
    case IO.odometerM:
      position.odometerM = raw;
      break;
    case IO.canOdometer:
      attributes.canOdometerM = raw * 5;
      break;
    case IO.canRpm:
      attributes.rpm = raw * 0.125;
      break;
    case IO.canFuelLevel:
      attributes.fuel1Percent = Math.round(raw * 4) / 10;
      break;
  }
}
