import {
  EVENT_DESCRIPTIONS,
  EVENT_FORMATS,
  type EventBase,
  type EventDescription,
  type EventField,
  type EventId,
  type FleetEvent,
  type TraceId,
  type VehicleId,
} from '@outrider/domain';
import {
  malformed,
  readBoolean,
  readDouble,
  readEnd,
  readFrom,
  readHex,
  readInt,
  readLong,
  readNullable,
  readString,
} from './reading.ts';
import { readSchema, versionsBefore } from './schema-file.ts';
import {
  beginRecord,
  endRecord,
  RESERVED_BYTES,
  reserve,
  writeByte,
  writeDouble,
  writeHex,
  writeInt,
  writeLong,
  writeNullable,
  writeString,
} from './writing.ts';

/*
 * Events as records of `schemas/event.avsc`, by their descriptions: what all of them have is written out here, and the
 * fields of each kind follow from its description. The test beside it holds both against a codec that is driven by the
 * schema.
 */

const schema = readSchema('event', EVENT_FORMATS.toReversed());
/** Version of the schema file: the first was 1. */
const CURRENT = EVENT_FORMATS.length + 1;

// The versions that added fields to the end of all records.
const SINCE_CAUSE = 2;
const SINCE_START = 3;
const SINCE_DRIVER = 5;

const PHASES: readonly FleetEvent['phase'][] = ['begin', 'end'];
const ORIGINS: readonly FleetEvent['origin'][] = ['live', 'recalculated'];
const TRACE_BYTES = 16;

/** Values of an event by the names of its fields. */
type Fields = Record<string, unknown>;

interface FieldCodec {
  name: string;
  /** Version of the schema that added it to the end of the record; 0: it is in front of the reason to end. */
  since: number;
  isOptional: boolean;
  write(value: unknown): void;
  read(): unknown;
}

interface RecordCodec {
  /** Place in the schema's union. */
  branch: number;
  /** Which of its kinds it is, is written only where there are several. */
  kinds: readonly string[];
  fields: readonly FieldCodec[];
  endReasons: readonly string[];
  /** Fields that were added to its end. */
  added: readonly FieldCodec[];
  /** It has where it began among its own fields. */
  hasStart: boolean;
  hasDriver: boolean;
}

const RECORDS: readonly RecordCodec[] = EVENT_DESCRIPTIONS.map(recordCodec);
const RECORD_OF = new Map(RECORDS.flatMap((record) => record.kinds.map((kind) => [kind, record])));

function recordCodec(description: EventDescription, branch: number): RecordCodec {
  const { kinds, fields, endReasons, requires = [] } = description;
  const codecs = Object.entries(fields).map(([name, field]) => fieldCodec(name, field));
  return {
    branch,
    kinds: Object.keys(kinds),
    fields: codecs.filter(({ since }) => since === 0),
    endReasons,
    added: codecs.filter(({ since }) => since > 0),
    hasStart: 'startLatitude' in fields,
    hasDriver: requires.includes('driverCode'),
  };
}

function fieldCodec(name: string, field: EventField): FieldCodec {
  const { since = 0, isOptional } = field;
  const { write, read } = valueCodec(field);
  if (!isOptional && !field.isNullable) return { name, since, isOptional, write, read };
  return {
    name,
    since,
    isOptional,
    write: (value) => writeNullable(value ?? null, write),
    read: () => (readNullable() ? read() : null),
  };
}

function valueCodec({ type, values = [] }: EventField): Pick<FieldCodec, 'write' | 'read'> {
  switch (type) {
    case 'id':
    case 'text':
    case 'word':
      return { write: writeString, read: readString };
    case 'choice':
      return { write: (name: string) => writeSymbol(values, name), read: () => readSymbol(values) };
    case 'number':
    case 'durationMs':
    case 'degrees':
      return { write: writeDouble, read: readDouble };
    case 'flag':
      return { write: (value: boolean) => writeByte(value ? 1 : 0), read: readBoolean };
  }
}

// --- Writing ---------------------------------------------------------------------------------------------------------

/**
 * An event as bytes: a header and the record of `schemas/event.avsc`. Nothing is rounded but times, to milliseconds.
 *
 * @returns a view of memory that it shares with other records: to be copied or sent, not to be written to or kept for
 *   long
 * @throws {Error} when it says something by a name that the schema does not know
 */
export function encodeEvent(event: FleetEvent): Buffer {
  const record = RECORD_OF.get(event.kind);
  if (record === undefined) throw unknownName(event.kind, [...RECORD_OF.keys()]);
  const values = event as unknown as Fields;
  beginRecord(schema.header);
  writeBase(record.branch, event);
  if (record.kinds.length > 1) writeSymbol(record.kinds, event.kind);
  for (const { name, write } of record.fields) write(values[name]);
  reserve(RESERVED_BYTES);
  writeReason(record.endReasons, event.endReason);
  writeNullable(event.receivedAtMs ?? null, writeLong);
  writeNullable(event.traceId ?? null, writeTrace);
  if (!record.hasStart) {
    writeNullable(event.startLatitude ?? null, writeDouble);
    writeNullable(event.startLongitude ?? null, writeDouble);
  }
  writeNullable(event.driverCode ?? null, writeString);
  for (const { name, write } of record.added) write(values[name]);
  return endRecord();
}

function writeTrace(traceId: string): void {
  writeHex(traceId, TRACE_BYTES);
}

/** The fields that every event begins with. Leaves `RESERVED_BYTES` for the next ones. */
function writeBase(branch: number, event: FleetEvent): void {
  writeInt(branch);
  writeString(event.id);
  writeSymbol(PHASES, event.phase);
  writeString(event.vehicleId);
  writeLong(event.startedAtMs);
  writeNullable(event.endedAtMs, writeLong);
  writeDouble(event.latitude);
  writeDouble(event.longitude);
  writeNullable(event.speedKmh, writeDouble);
  writeLong(event.fromFixTimeMs);
  writeLong(event.fixTimeMs);
  writeLong(event.definitionVersion);
  writeSymbol(ORIGINS, event.origin);
  writeByte(event.inferred ? 1 : 0);
  reserve(RESERVED_BYTES);
}

function writeSymbol(names: readonly string[], name: string): void {
  const number = names.indexOf(name);
  if (number < 0) throw unknownName(name, names);
  writeInt(number);
}

function unknownName(name: string, names: readonly string[]): Error {
  return new Error(`an event can't be written: ${JSON.stringify(name)} is none of ${names.join(', ')}`);
}

function writeReason(reasons: readonly string[], reason: string | null): void {
  if (reason === null) {
    writeByte(0);
    return;
  }
  writeByte(2);
  writeSymbol(reasons, reason);
}

// --- Reading ---------------------------------------------------------------------------------------------------------

/** @throws {Error} when the bytes are not what {@link encodeEvent}, or an earlier version of it, wrote */
export function decodeEvent(bytes: Buffer): FleetEvent {
  const version = CURRENT - versionsBefore(schema, bytes);
  readFrom(bytes);
  const record = RECORDS[readInt()] ?? malformed('kind');
  const event = readBase() as EventBase & Fields;
  event.kind = record.kinds.length > 1 ? readSymbol(record.kinds) : record.kinds[0];
  for (const field of record.fields) readField(field, event);
  event.endReason = readNullable() ? readSymbol(record.endReasons) : null;
  if (version >= SINCE_CAUSE) {
    if (readNullable()) event.receivedAtMs = readLong();
    if (readNullable()) event.traceId = readHex(TRACE_BYTES) as TraceId;
  }
  if (version >= SINCE_START && !record.hasStart) {
    if (readNullable()) event.startLatitude = readDouble();
    if (readNullable()) event.startLongitude = readDouble();
  }
  if (version >= SINCE_DRIVER) {
    if (readNullable()) event.driverCode = readString();
    else if (record.hasDriver) malformed('driverCode');
  }
  for (const field of record.added) if (version >= field.since) readField(field, event);
  readEnd();
  return event as unknown as FleetEvent;
}

function readField({ name, isOptional, read }: FieldCodec, event: Fields): void {
  const value = read();
  if (!isOptional || value !== null) event[name] = value;
}

function readBase(): EventBase {
  return {
    id: readString() as EventId,
    phase: readSymbol(PHASES),
    vehicleId: readString() as VehicleId,
    startedAtMs: readLong(),
    endedAtMs: readNullable() ? readLong() : null,
    latitude: readDouble(),
    longitude: readDouble(),
    speedKmh: readNullable() ? readDouble() : null,
    fromFixTimeMs: readLong(),
    fixTimeMs: readLong(),
    definitionVersion: readLong(),
    origin: readSymbol(ORIGINS),
    inferred: readBoolean(),
  };
}

function readSymbol<Name extends string>(names: readonly Name[]): Name {
  return names[readInt()] ?? malformed('symbol');
}
