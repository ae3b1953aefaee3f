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
 * Codec of events as records of `schemas/event.avsc`, derived from the event descriptions. The fields that all events
 * have are written out here; those of each kind follow from its description. The test beside it compares the codec with
 * one that is driven by the schema.
 */

const schema = readSchema('event', EVENT_FORMATS.toReversed());
/** Version of the schema file, counted from 1. */
const CURRENT = EVENT_FORMATS.length + 1;

// The versions that added fields to the end of all records.
const SINCE_CAUSE = 2;
const SINCE_START = 3;
const SINCE_DRIVER = 5;

const PHASES: readonly FleetEvent['phase'][] = ['begin', 'end'];
const ORIGINS: readonly FleetEvent['origin'][] = ['live', 'recalculated'];
const TRACE_BYTES = 16;

/** Values of an event by field name. */
type Fields = Record<string, unknown>;

interface FieldCodec {
  name: string;
  /** Version of the schema that added the field to the end of the record; 0: the field precedes the end reason. */
  since: number;
  isOptional: boolean;
  write(value: unknown): void;
  read(): unknown;
}

interface RecordCodec {
  /** Index of the record in the schema's union. */
  branch: number;
  /** The event kinds of the record. The kind is written only when there are several. */
  kinds: readonly string[];
  fields: readonly FieldCodec[];
  endReasons: readonly string[];
  /** Fields that later versions added to the end of the record. */
  added: readonly FieldCodec[];
  /** Whether the start position is among the record's own fields. */
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
 * Encodes an event: a header and the record of `schemas/event.avsc`. Only times are rounded, to milliseconds.
 *
 * @returns a view of memory shared with other records: it may be copied or sent, but not written to or kept for long
 * @throws {Error} when it uses a name that the schema does not have
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

/** Writes the fields that every event begins with. Leaves `RESERVED_BYTES` for the next ones. */
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

/** @throws {Error} when neither {@link encodeEvent} nor an earlier version of it wrote the bytes */
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
