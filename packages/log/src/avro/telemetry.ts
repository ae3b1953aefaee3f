import type {
  Alarm,
  AttributeValue,
  Position,
  ProtocolName,
  TelemetryPacket,
  TerminalId,
  VehicleId,
} from '@outrider/domain';
import { ALARMS, NO_ALARMS, PacketTrace } from '@outrider/domain';
import { MAX_LONG } from './numbers.ts';
import {
  malformed,
  readBlock,
  readBoolean,
  readByte,
  readDouble,
  readEnd,
  readFrom,
  readIfNext,
  readInt,
  readLong,
  readName,
  readNullable,
  readString,
  readWord,
} from './reading.ts';
import { readSchema, versionsBefore } from './schema-file.ts';
import {
  beginRecord,
  endRecord,
  reserve,
  writeByte,
  writeDouble,
  writeInt,
  writeLong,
  writeScaled,
  writeString,
  writeWord,
} from './writing.ts';

/*
 * The hot path of the log: a hand-written codec of `schemas/telemetry.avsc`, several times as fast as a codec that is
 * driven by the schema. The test beside it proves that both write and read the same bytes.
 */

/**
 * Earlier versions, newest first: protocol as an enum; without alarm `terminal-conflict`; without `traceId`; without
 * `JT808`.
 */
const EARLIER = ['403ed164a94ec6bb', 'cf951141d9b7c2b9', 'cc26c35c2ce3cb44', 'a8e67377e93ee0c7'];
const WITH_ENUM = 1;
export const WITHOUT_TRACE = 3;
const schema = readSchema('telemetry', EARLIER);

/** Protocols in the order of the enum in earlier versions. */
const ENUM_PROTOCOLS: readonly ProtocolName[] = ['omnicomm', 'teltonika', 'wialon-ips', 'osmand', 'jt808'];
const OTHER_ALARM = ALARMS.indexOf('other');

/** Upper bound for a position without its alarms and attributes: at most ten longs of ten bytes. */
const POSITION_BYTES = 128;

// --- Writing ---------------------------------------------------------------------------------------------------------

/**
 * Encodes a packet: a header and the record of `schemas/telemetry.avsc`. Every packet can be encoded. A number outside
 * the schema's range becomes the nearest one inside it. NaN becomes null, or in coordinates a value out of range. An
 * attribute that is not finite is omitted.
 *
 * @returns a view of memory shared with other records: it may be copied or sent, but not written to or kept for long
 */
export function encodeTelemetry(packet: TelemetryPacket): Buffer {
  const { positions } = packet;
  beginRecord(schema.header);
  writeString(packet.vehicleId);
  writeString(packet.terminalId);
  writeString(packet.protocol);
  reserve(POSITION_BYTES);
  writeLong(packet.receivedAtMs);
  if (positions.length > 0) {
    writeInt(positions.length);
    for (const position of positions) writePosition(position);
  }
  writeByte(0);
  writeTrace(packet.trace);
  return endRecord();
}

function writePosition(position: Position): void {
  reserve(POSITION_BYTES);
  writeLong(position.fixTimeMs);
  writeScaled(position.latitude, 1e7);
  writeScaled(position.longitude, 1e7);
  writeByte(position.valid ? 1 : 0);
  writeNullableInt(position.speedKmh, 10);
  writeCourse(position.courseDeg);
  writeNullableInt(position.altitudeM, 1);
  writeNullableInt(position.satellites, 1);
  const { ignition, odometerM } = position;
  if (ignition === null) writeByte(0);
  else {
    writeByte(2);
    writeByte(ignition ? 1 : 0);
  }
  if (odometerM === null || Number.isNaN(odometerM)) writeByte(0);
  else {
    writeByte(2);
    writeLong(odometerM);
  }
  writeNullableInt(position.supplyV, 1000);
  writeNullableInt(position.fuelL, 10);
  writeAlarms(position.alarms);
  if (position.attributes === null) writeByte(0);
  else {
    writeByte(2);
    writeAttributes(position.attributes);
  }
}

function writeTrace(trace: PacketTrace | null | undefined): void {
  reserve(POSITION_BYTES);
  if (trace == null) {
    writeByte(0);
    return;
  }
  writeByte(2);
  writeWord(trace.a);
  writeWord(trace.b);
  writeWord(trace.c);
  writeWord(trace.d);
}

function writeNullableInt(value: number | null, scale: number): void {
  if (value === null || Number.isNaN(value)) {
    writeByte(0);
    return;
  }
  writeByte(2);
  writeScaled(value, scale);
}

/** 359.5 degrees and more are rounded to 0 (north). */
function writeCourse(courseDeg: number | null): void {
  writeNullableInt(courseDeg !== null && courseDeg >= 359.5 && courseDeg <= 360 ? 0 : courseDeg, 1);
}

function writeAlarms(alarms: readonly Alarm[]): void {
  if (alarms.length > 0) {
    reserve(POSITION_BYTES + 2 * alarms.length);
    writeInt(alarms.length);
    for (const alarm of alarms) {
      const number = ALARMS.indexOf(alarm);
      writeInt(number < 0 ? OTHER_ALARM : number);
    }
  }
  writeByte(0);
}

function writeAttributes(attributes: Readonly<Record<string, AttributeValue>>): void {
  const names = Object.keys(attributes);
  let count = 0;
  for (const name of names) if (isWritable(attributes[name])) count++;
  reserve(POSITION_BYTES);
  if (count > 0) {
    writeInt(count);
    for (const name of names) {
      const value = attributes[name];
      if (value === undefined || !isWritable(value)) continue;
      writeString(name);
      writeAttribute(value);
    }
  }
  writeByte(0);
}

function isWritable(value: AttributeValue | undefined): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' || typeof value === 'boolean';
}

/** Leaves `POSITION_BYTES` for the rest of the position. */
function writeAttribute(value: AttributeValue): void {
  if (typeof value === 'string') {
    reserve(POSITION_BYTES);
    writeByte(6);
    writeString(value);
    return;
  }
  reserve(2 * POSITION_BYTES);
  if (typeof value === 'boolean') {
    writeByte(0);
    writeByte(value ? 1 : 0);
  } else if (Number.isInteger(value) && Math.abs(value) <= MAX_LONG) {
    writeByte(2);
    writeLong(value);
  } else {
    writeByte(4);
    writeDouble(value);
  }
}

// --- Reading ---------------------------------------------------------------------------------------------------------

/**
 * Decodes a packet that {@link encodeTelemetry}, or any Avro encoder with the same schema, wrote.
 *
 * @throws {Error} when the bytes are not such a record
 */
export function decodeTelemetry(bytes: Buffer): TelemetryPacket {
  const versions = versionsBeforeCurrent(bytes);
  readFrom(bytes);
  const packet: TelemetryPacket = {
    vehicleId: readString() as VehicleId,
    terminalId: readString() as TerminalId,
    protocol: readProtocol(versions),
    receivedAtMs: readLong(),
    positions: [],
    trace: null,
  };
  for (let left = readBlock(); left > 0; left = readBlock()) {
    for (; left > 0; left--) packet.positions.push(readPosition());
  }
  if (versions < WITHOUT_TRACE && readNullable()) packet.trace = readTrace();
  readEnd();
  return packet;
}

/**
 * Number of schema versions by which a record is older than the current one.
 *
 * @throws {Error} when no known version wrote it
 */
export function versionsBeforeCurrent(bytes: Buffer): number {
  return versionsBefore(schema, bytes);
}

/** @param versions number of schema versions by which the record is older */
export function readProtocol(versions: number): ProtocolName {
  if (versions >= WITH_ENUM) return ENUM_PROTOCOLS[readInt()] ?? malformed('protocol');
  // Most packets have the protocol of the one before.
  if (!readIfNext(lastProtocol)) lastProtocol = readName();
  return lastProtocol;
}

let lastProtocol: ProtocolName = '';

/** Built in the order of `blankPosition`, so that positions from here and from the decoders share one hidden class. */
function readPosition(): Position {
  return {
    fixTimeMs: readLong(),
    latitude: readInt() / 1e7,
    longitude: readInt() / 1e7,
    valid: readBoolean(),
    speedKmh: readNullable() ? readInt() / 10 : null,
    courseDeg: readNullable() ? readInt() : null,
    altitudeM: readNullable() ? readInt() : null,
    satellites: readNullable() ? readInt() : null,
    ignition: readNullable() ? readBoolean() : null,
    odometerM: readNullable() ? readLong() : null,
    supplyV: readNullable() ? readInt() / 1000 : null,
    fuelL: readNullable() ? readInt() / 10 : null,
    alarms: readAlarms(),
    attributes: readNullable() ? readAttributes() : null,
  };
}

function readAlarms(): readonly Alarm[] {
  let left = readBlock();
  if (left === 0) return NO_ALARMS;
  const alarms: Alarm[] = [];
  for (; left > 0; left = readBlock()) {
    for (; left > 0; left--) alarms.push(ALARMS[readInt()] ?? malformed('alarm'));
  }
  return alarms;
}

export function readAttributes(): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (let left = readBlock(); left > 0; left = readBlock()) {
    for (; left > 0; left--) {
      const name = readName();
      const value = readAttribute();
      // Terminals choose the names. Plain assignment of this one would set the object's prototype.
      if (name === '__proto__')
        Object.defineProperty(attributes, name, { value, enumerable: true, writable: true, configurable: true });
      else attributes[name] = value;
    }
  }
  return attributes;
}

function readAttribute(): AttributeValue {
  switch (readByte()) {
    case 0:
      return readBoolean();
    case 2:
      return readLong();
    case 4:
      return readDouble();
    case 6:
      return readString();
    default:
      return malformed('attribute');
  }
}

export function readTrace(): PacketTrace {
  return new PacketTrace(readWord(), readWord(), readWord(), readWord());
}
