import type {
  Alarm,
  AlarmRaised,
  EventId,
  FleetEvent,
  GeofenceId,
  GeofenceVisit,
  Ignition,
  Offline,
  PowerCut,
  Speeding,
  Stop,
  TraceId,
  Trip,
  VehicleId,
} from '@outrider/domain';
import { toLong } from './numbers.ts';
import { checkHeader, HEADER_BYTES, nameOf, readSchema, symbolOf } from './schema-file.ts';

/** The version without `receivedAt` and `traceId`. */
const EARLIER = ['e54cf8bfaf1909d1'];
const schema = readSchema('event', EARLIER);
/** What such a record lacks at its end: a null for each. */
const NOT_KNOWN = Buffer.alloc(2);

interface AvroEvent {
  id: string;
  phase: string;
  vehicleId: string;
  startedAt: number;
  endedAt: number | null;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
  fromFixTime: number;
  fixTime: number;
  definitionVersion: number;
  origin: string;
  inferred: boolean;
  endReason: string | null;
  receivedAt: number | null;
  traceId: Buffer | null;
}
interface AvroVisit extends AvroEvent {
  geofenceId: string;
}
interface AvroSpeeding extends AvroEvent {
  limitSource: string;
  geofenceId: string | null;
  limitKmh: number;
  peakKmh: number;
  meanKmh: number;
  distanceM: number;
}
interface AvroTrip extends AvroEvent {
  startLatitude: number;
  startLongitude: number;
  distanceM: number;
  movingMs: number;
  idlingMs: number;
  maxKmh: number;
  meanKmh: number;
}
interface AvroStop extends AvroEvent {
  kind: string;
  idlingMs: number;
}
interface AvroAlarm extends AvroEvent {
  alarm: string;
}
type AvroUnion =
  | { 'outrider.GeofenceVisit': AvroVisit }
  | { 'outrider.Speeding': AvroSpeeding }
  | { 'outrider.Trip': AvroTrip }
  | { 'outrider.Stop': AvroStop }
  | { 'outrider.Ignition': AvroEvent }
  | { 'outrider.AlarmRaised': AvroAlarm }
  | { 'outrider.PowerCut': AvroEvent }
  | { 'outrider.Offline': AvroEvent };

/** Memory that events are written into, one behind the other; a new one where the next does not fit. */
const SLAB_BYTES = 64 * 1024;
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let begin = 0;

/**
 * An event as bytes: a header and the record of `schemas/event.avsc`. Nothing is rounded but times, to milliseconds.
 *
 * @returns a view of memory that it shares with other records: to be copied or sent, not to be written to or kept for long
 */
export function encodeEvent(event: FleetEvent): Buffer {
  const avro = toAvro(event);
  if (begin + HEADER_BYTES > slab.length) renew(SLAB_BYTES);
  // Where there is no room, it says by how many bytes: as a negative number.
  let end = schema.type.encode(avro, slab, begin + HEADER_BYTES);
  if (end < 0) {
    renew(Math.max(SLAB_BYTES, slab.length - begin - end));
    end = schema.type.encode(avro, slab, HEADER_BYTES);
  }
  slab.set(schema.header, begin);
  const bytes = slab.subarray(begin, end);
  begin = end;
  return bytes;
}

function renew(bytes: number): void {
  slab = Buffer.allocUnsafeSlow(bytes);
  begin = 0;
}

/** @throws {Error} when the bytes are not what {@link encodeEvent}, or an earlier version of it, wrote */
export function decodeEvent(bytes: Buffer): FleetEvent {
  const isWhole = checkHeader(schema, bytes);
  const record = isWhole ? bytes : Buffer.concat([bytes, NOT_KNOWN]);
  const { value, offset } = schema.type.decode(record, HEADER_BYTES);
  if (offset !== record.length)
    throw new Error(`${record.length - offset} bytes are too many, or too few, for an event`);
  return fromAvro(value as AvroUnion);
}

function toAvro(event: FleetEvent): AvroUnion {
  const base: AvroEvent = {
    id: event.id,
    phase: symbolOf(event.phase),
    vehicleId: event.vehicleId,
    startedAt: toLong(event.startedAtMs),
    endedAt: event.endedAtMs === null ? null : toLong(event.endedAtMs),
    latitude: event.latitude,
    longitude: event.longitude,
    speedKmh: event.speedKmh,
    fromFixTime: toLong(event.fromFixTimeMs),
    fixTime: toLong(event.fixTimeMs),
    definitionVersion: event.definitionVersion,
    origin: symbolOf(event.origin),
    inferred: event.inferred,
    endReason: event.endReason === null ? null : symbolOf(event.endReason),
    receivedAt: event.receivedAtMs === undefined ? null : toLong(event.receivedAtMs),
    traceId: event.traceId === undefined ? null : Buffer.from(event.traceId, 'hex'),
  };
  switch (event.kind) {
    case 'geofence-visit':
      return { 'outrider.GeofenceVisit': { ...base, geofenceId: event.geofenceId } };
    case 'speeding': {
      const { geofenceId, limitKmh, peakKmh, meanKmh, distanceM } = event;
      const limitSource = symbolOf(event.limitSource);
      return { 'outrider.Speeding': { ...base, limitSource, geofenceId, limitKmh, peakKmh, meanKmh, distanceM } };
    }
    case 'trip': {
      const { startLatitude, startLongitude, distanceM, movingMs, idlingMs, maxKmh, meanKmh } = event;
      const totals = { distanceM, movingMs, idlingMs, maxKmh, meanKmh };
      return { 'outrider.Trip': { ...base, startLatitude, startLongitude, ...totals } };
    }
    case 'parking':
    case 'idling':
      return { 'outrider.Stop': { ...base, kind: symbolOf(event.kind), idlingMs: event.idlingMs } };
    case 'ignition':
      return { 'outrider.Ignition': base };
    case 'alarm':
      return { 'outrider.AlarmRaised': { ...base, alarm: symbolOf(event.alarm) } };
    case 'power-cut':
      return { 'outrider.PowerCut': base };
    case 'offline':
      return { 'outrider.Offline': base };
  }
}

function fromAvro(union: AvroUnion): FleetEvent {
  if ('outrider.GeofenceVisit' in union) {
    const visit = union['outrider.GeofenceVisit'];
    return {
      kind: 'geofence-visit',
      ...baseOf(visit),
      geofenceId: visit.geofenceId as GeofenceId,
      endReason: reasonOf<GeofenceVisit>(visit),
    };
  }
  if ('outrider.Speeding' in union) {
    const speeding = union['outrider.Speeding'];
    return {
      kind: 'speeding',
      ...baseOf(speeding),
      limitSource: nameOf(speeding.limitSource) as Speeding['limitSource'],
      geofenceId: speeding.geofenceId as GeofenceId | null,
      limitKmh: speeding.limitKmh,
      peakKmh: speeding.peakKmh,
      meanKmh: speeding.meanKmh,
      distanceM: speeding.distanceM,
      endReason: reasonOf<Speeding>(speeding),
    };
  }
  if ('outrider.Trip' in union) {
    const trip = union['outrider.Trip'];
    return {
      kind: 'trip',
      ...baseOf(trip),
      startLatitude: trip.startLatitude,
      startLongitude: trip.startLongitude,
      distanceM: trip.distanceM,
      movingMs: trip.movingMs,
      idlingMs: trip.idlingMs,
      maxKmh: trip.maxKmh,
      meanKmh: trip.meanKmh,
      endReason: reasonOf<Trip>(trip),
    };
  }
  if ('outrider.Stop' in union) {
    const stop = union['outrider.Stop'];
    return {
      kind: nameOf(stop.kind) as Stop['kind'],
      ...baseOf(stop),
      idlingMs: stop.idlingMs,
      endReason: reasonOf<Stop>(stop),
    };
  }
  if ('outrider.Ignition' in union) {
    const ignition = union['outrider.Ignition'];
    return { kind: 'ignition', ...baseOf(ignition), endReason: reasonOf<Ignition>(ignition) };
  }
  if ('outrider.AlarmRaised' in union) {
    const raised = union['outrider.AlarmRaised'];
    const alarm = nameOf(raised.alarm) as Alarm;
    return { kind: 'alarm', ...baseOf(raised), alarm, endReason: reasonOf<AlarmRaised>(raised) };
  }
  if ('outrider.PowerCut' in union) {
    const cut = union['outrider.PowerCut'];
    return { kind: 'power-cut', ...baseOf(cut), endReason: reasonOf<PowerCut>(cut) };
  }
  const offline = union['outrider.Offline'];
  return { kind: 'offline', ...baseOf(offline), endReason: reasonOf<Offline>(offline) };
}

function baseOf(avro: AvroEvent) {
  return {
    id: avro.id as EventId,
    phase: nameOf(avro.phase) as FleetEvent['phase'],
    vehicleId: avro.vehicleId as VehicleId,
    startedAtMs: avro.startedAt,
    endedAtMs: avro.endedAt,
    latitude: avro.latitude,
    longitude: avro.longitude,
    speedKmh: avro.speedKmh,
    fromFixTimeMs: avro.fromFixTime,
    fixTimeMs: avro.fixTime,
    definitionVersion: avro.definitionVersion,
    origin: nameOf(avro.origin) as FleetEvent['origin'],
    inferred: avro.inferred,
    ...(avro.receivedAt === null ? {} : { receivedAtMs: avro.receivedAt }),
    ...(avro.traceId === null ? {} : { traceId: avro.traceId.toString('hex') as TraceId }),
  };
}

function reasonOf<Event extends FleetEvent>({ endReason }: AvroEvent): Event['endReason'] {
  return endReason === null ? null : (nameOf(endReason) as Event['endReason']);
}
