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
import { MAX_LONG, toInt, toLong } from './numbers.ts';
import { checkHeader, HEADER_BYTES, readSchema } from './schema-file.ts';

/*
 * The hot path of the log: `schemas/telemetry.avsc` written out by hand, several times as fast as a codec that is driven
 * by the schema. The test beside it proves that both write and read the same bytes.
 */

/** The versions without `traceId`, and before that without protocol `JT808`. */
const EARLIER = ['cc26c35c2ce3cb44', 'a8e67377e93ee0c7'];
const schema = readSchema('telemetry', EARLIER);

/** In the order of the schema's enums. */
const PROTOCOLS: readonly ProtocolName[] = ['omnicomm', 'teltonika', 'wialon-ips', 'osmand', 'jt808'];
const OTHER_ALARM = ALARMS.indexOf('other');

/** More than a position takes without its alarms and attributes: ten longs of ten bytes at most. */
const POSITION_BYTES = 128;
const TWO_28 = 2 ** 28;

// --- Writing ---------------------------------------------------------------------------------------------------------

/** Records are written one behind the other into a slab, and handed out as views of it. */
const SLAB_BYTES = 256 * 1024;
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
/** Where the record in hand begins, and where its next byte goes. */
let begin = 0;
let at = 0;

/**
 * A packet as bytes: a header and the record of `schemas/telemetry.avsc`. Whatever a terminal sent can be written: a
 * number beyond what the schema holds becomes the nearest that it does, one that is none becomes null (a place: a value
 * out of range), an attribute that is no finite number is left out.
 *
 * @returns a view of memory that it shares with other records: to be copied or sent, not to be written to or kept for long
 */
export function encodeTelemetry(packet: TelemetryPacket): Buffer {
  begin = at;
  const { positions } = packet;
  reserve(HEADER_BYTES + POSITION_BYTES);
  slab.set(schema.header, at);
  at += HEADER_BYTES;
  writeString(packet.vehicleId);
  writeString(packet.terminalId);
  reserve(POSITION_BYTES);
  writeInt(Math.max(0, PROTOCOLS.indexOf(packet.protocol)));
  writeLong(packet.receivedAtMs);
  if (positions.length > 0) {
    writeInt(positions.length);
    for (const position of positions) writePosition(position);
  }
  slab[at++] = 0;
  writeTrace(packet.trace);
  return slab.subarray(begin, at);
}

/** Makes room for `bytes` more: in a new slab, where the record in hand is moved to, when this one is full. */
function reserve(bytes: number): void {
  if (at + bytes <= slab.length) return;
  const written = at - begin;
  const next = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * (written + bytes)));
  slab.copy(next, 0, begin, at);
  slab = next;
  begin = 0;
  at = written;
}

function writePosition(position: Position): void {
  reserve(POSITION_BYTES);
  writeLong(position.fixTimeMs);
  writeInt(toInt(position.latitude * 1e7));
  writeInt(toInt(position.longitude * 1e7));
  slab[at++] = position.valid ? 1 : 0;
  writeNullableInt(position.speedKmh, 10);
  writeCourse(position.courseDeg);
  writeNullableInt(position.altitudeM, 1);
  writeNullableInt(position.satellites, 1);
  const { ignition, odometerM } = position;
  if (ignition === null) slab[at++] = 0;
  else {
    slab[at++] = 2;
    slab[at++] = ignition ? 1 : 0;
  }
  if (odometerM === null || Number.isNaN(odometerM)) slab[at++] = 0;
  else {
    slab[at++] = 2;
    writeLong(odometerM);
  }
  writeNullableInt(position.supplyV, 1000);
  writeNullableInt(position.fuelL, 10);
  writeAlarms(position.alarms);
  if (position.attributes === null) slab[at++] = 0;
  else {
    slab[at++] = 2;
    writeAttributes(position.attributes);
  }
}

function writeTrace(trace: PacketTrace | null | undefined): void {
  reserve(POSITION_BYTES);
  if (trace == null) {
    slab[at++] = 0;
    return;
  }
  slab[at++] = 2;
  writeWord(trace.a);
  writeWord(trace.b);
  writeWord(trace.c);
  writeWord(trace.d);
}

function writeWord(word: number): void {
  slab[at++] = word >>> 24;
  slab[at++] = word >>> 16;
  slab[at++] = word >>> 8;
  slab[at++] = word;
}

function writeNullableInt(value: number | null, scale: number): void {
  if (value === null || Number.isNaN(value)) {
    slab[at++] = 0;
    return;
  }
  slab[at++] = 2;
  writeInt(toInt(value * scale));
}

/** 359.5 degrees and more round to north. */
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
  slab[at++] = 0;
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
  slab[at++] = 0;
}

function isWritable(value: AttributeValue | undefined): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' || typeof value === 'boolean';
}

/** Leaves room for a position's rest. */
function writeAttribute(value: AttributeValue): void {
  if (typeof value === 'string') {
    reserve(POSITION_BYTES);
    slab[at++] = 6;
    writeString(value);
    return;
  }
  reserve(2 * POSITION_BYTES);
  if (typeof value === 'boolean') {
    slab[at++] = 0;
    slab[at++] = value ? 1 : 0;
  } else if (Number.isInteger(value) && Math.abs(value) <= MAX_LONG) {
    slab[at++] = 2;
    writeLong(value);
  } else {
    slab[at++] = 4;
    at = slab.writeDoubleLE(value, at);
  }
}

/** Leaves room for a position's rest. */
function writeString(text: string): void {
  const { length } = text;
  reserve(2 * POSITION_BYTES + 3 * length);
  if (length < 64) {
    // Nearly every string here is short ASCII: one byte for its length, one for each character.
    const start = at;
    slab[at++] = length << 1;
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      slab[at++] = code;
    }
    if (i === length) return;
    at = start;
  }
  writeInt(Buffer.byteLength(text));
  at += slab.write(text, at);
}

/** @param value an int of 32 bits */
function writeInt(value: number): void {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  while (rest > 127) {
    slab[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  slab[at++] = rest;
}

function writeLong(value: number): void {
  const whole = toLong(value);
  const zigzag = whole >= 0 ? whole * 2 : -whole * 2 - 1;
  if (zigzag < TWO_28) {
    writeUnsigned(zigzag);
    return;
  }
  const high = Math.floor(zigzag / TWO_28);
  const low = zigzag - high * TWO_28;
  slab[at++] = (low & 127) | 128;
  slab[at++] = ((low >>> 7) & 127) | 128;
  slab[at++] = ((low >>> 14) & 127) | 128;
  slab[at++] = (low >>> 21) | 128;
  writeUnsigned(high);
}

function writeUnsigned(value: number): void {
  let rest = value;
  while (rest > 127) {
    slab[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  slab[at++] = rest;
}

// --- Reading ---------------------------------------------------------------------------------------------------------

let source: Buffer = slab;
let cursor = 0;

/**
 * The packet that {@link encodeTelemetry}, or any Avro encoder with the same schema, wrote.
 *
 * @throws {Error} when the bytes are not such a record
 */
export function decodeTelemetry(bytes: Buffer): TelemetryPacket {
  const hasTrace = checkHeader(schema, bytes);
  source = bytes;
  cursor = HEADER_BYTES;
  const packet: TelemetryPacket = {
    vehicleId: readString() as VehicleId,
    terminalId: readString() as TerminalId,
    protocol: PROTOCOLS[readInt()] ?? malformed('protocol'),
    receivedAtMs: readLong(),
    positions: [],
    trace: null,
  };
  for (let left = readBlock(); left > 0; left = readBlock()) {
    for (; left > 0; left--) packet.positions.push(readPosition());
  }
  if (hasTrace && readNullable()) packet.trace = readTrace();
  if (cursor !== bytes.length) malformed('end');
  return packet;
}

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

function readAttributes(): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (let left = readBlock(); left > 0; left = readBlock()) {
    for (; left > 0; left--) {
      const name = readName();
      const value = readAttribute();
      // Names are the terminal's: this one would be taken for the object's prototype.
      if (name === '__proto__')
        Object.defineProperty(attributes, name, { value, enumerable: true, writable: true, configurable: true });
      else attributes[name] = value;
    }
  }
  return attributes;
}

/** Names come again and again: one string for each, which V8 knows as a property's name already. */
const NAMES = 1024;
const MAX_NAME_LENGTH = 24;
const names: string[] = new Array(NAMES).fill('');

function readName(): string {
  const begin = cursor;
  const length = readInt();
  const start = cursor;
  const end = start + length;
  if (length < 0 || length > MAX_NAME_LENGTH || end > source.length) {
    cursor = begin;
    return readString();
  }
  let hash = length;
  let bits = 0;
  for (let i = start; i < end; i++) {
    const byte = source[i] ?? 0;
    bits |= byte;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const slot = (hash ^ (hash >>> 15)) & (NAMES - 1);
  const known = names[slot] ?? '';
  cursor = end;
  // Bytes are characters in ASCII alone.
  if (known.length === length && bits < 128) {
    let i = 0;
    while (i < length && known.charCodeAt(i) === source[start + i]) i++;
    if (i === length) return known;
  }
  const name = source.toString('utf8', start, end);
  names[slot] = name;
  return name;
}

function readAttribute(): AttributeValue {
  switch (readByte()) {
    case 0:
      return readBoolean();
    case 2:
      return readLong();
    case 4: {
      cursor += 8;
      if (cursor > source.length) malformed('double');
      return source.readDoubleLE(cursor - 8);
    }
    case 6:
      return readString();
    default:
      return malformed('attribute');
  }
}

/** How many items the next block of an array or map holds; 0 ends it. No item takes less than a byte. */
function readBlock(): number {
  let count = readInt();
  if (count < 0) {
    // A negative count is followed by the block's length in bytes.
    count = -count;
    readLong();
  }
  if (count > source.length - cursor) malformed('count');
  return count;
}

function readTrace(): PacketTrace {
  if (cursor + 16 > source.length) malformed('end');
  return new PacketTrace(readWord(), readWord(), readWord(), readWord());
}

/** The four bytes must be there. */
function readWord(): number {
  const at = cursor;
  cursor += 4;
  return (
    ((source[at] ?? 0) << 24) | ((source[at + 1] ?? 0) << 16) | ((source[at + 2] ?? 0) << 8) | (source[at + 3] ?? 0)
  );
}

function readNullable(): boolean {
  const branch = readByte();
  if (branch > 2 || branch === 1) malformed('branch');
  return branch === 2;
}

function readBoolean(): boolean {
  const byte = readByte();
  if (byte > 1) malformed('boolean');
  return byte === 1;
}

function readString(): string {
  const length = readInt();
  const start = cursor;
  cursor += length;
  if (length < 0 || cursor > source.length) malformed('string');
  return source.toString('utf8', start, cursor);
}

function readByte(): number {
  return source[cursor++] ?? malformed('end');
}

function readInt(): number {
  let byte = readByte();
  let zigzag = byte & 127;
  for (let shift = 7; byte > 127; shift += 7) {
    if (shift > 28) malformed('int');
    byte = readByte();
    zigzag |= (byte & 127) << shift;
  }
  return (zigzag >>> 1) ^ -(zigzag & 1);
}

function readLong(): number {
  let byte = readByte();
  let low = byte & 127;
  for (let shift = 7; byte > 127 && shift < 28; shift += 7) {
    byte = readByte();
    low |= (byte & 127) << shift;
  }
  if (byte < 128) return (low >>> 1) ^ -(low & 1);
  // The other bits, beyond what a bitwise operation holds; exact up to MAX_LONG.
  let high = 0;
  for (let place = 1; byte > 127; place *= 128) {
    if (place > TWO_28 * 128) malformed('long');
    byte = readByte();
    high += (byte & 127) * place;
  }
  const half = high * (TWO_28 / 2) + (low >>> 1);
  return low & 1 ? -half - 1 : half;
}

function malformed(what: string): never {
  throw new Error(`not a telemetry record: ${what} at byte ${cursor}`);
}
