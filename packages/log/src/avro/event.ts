import type { EventId, FleetEvent, GeofenceId, GeofenceVisit, Speeding, VehicleId } from '@outrider/domain';
import { toLong } from './numbers.ts';
import { checkHeader, HEADER_BYTES, nameOf, readSchema, symbolOf } from './schema-file.ts';

const schema = readSchema('event');

interface AvroEvent {
  id: string;
  phase: string;
  vehicleId: string;
  startedAt: number;
  endedAt: number | null;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
  fixTime: number;
  endReason: string | null;
}
interface AvroVisit extends AvroEvent {
  geofenceId: string;
  geofenceVersion: number;
}
interface AvroSpeeding extends AvroEvent {
  limitSource: string;
  geofenceId: string | null;
  definitionVersion: number;
  limitKmh: number;
  peakKmh: number;
  meanKmh: number;
  distanceM: number;
}
type AvroUnion = { 'outrider.GeofenceVisit': AvroVisit } | { 'outrider.Speeding': AvroSpeeding };

/** An event as bytes: a header and the record of `schemas/event.avsc`. Nothing is rounded but times, to milliseconds. */
export function encodeEvent(event: FleetEvent): Buffer {
  return Buffer.concat([schema.header, schema.type.toBuffer(toAvro(event))]);
}

/** @throws {Error} when the bytes are not what {@link encodeEvent} wrote */
export function decodeEvent(bytes: Buffer): FleetEvent {
  checkHeader(schema, bytes);
  return fromAvro(schema.type.fromBuffer(bytes.subarray(HEADER_BYTES)) as AvroUnion);
}

function toAvro(event: FleetEvent): AvroUnion {
  const base = {
    id: event.id,
    phase: symbolOf(event.phase),
    vehicleId: event.vehicleId,
    startedAt: toLong(event.startedAtMs),
    endedAt: event.endedAtMs === null ? null : toLong(event.endedAtMs),
    latitude: event.latitude,
    longitude: event.longitude,
    speedKmh: event.speedKmh,
    fixTime: toLong(event.fixTimeMs),
    endReason: event.endReason === null ? null : symbolOf(event.endReason),
  };
  switch (event.kind) {
    case 'geofence-visit':
      return {
        'outrider.GeofenceVisit': {
          ...base,
          geofenceId: event.geofenceId,
          geofenceVersion: event.geofenceVersion,
        },
      };
    case 'speeding':
      return {
        'outrider.Speeding': {
          ...base,
          limitSource: symbolOf(event.limitSource),
          geofenceId: event.geofenceId,
          definitionVersion: event.definitionVersion,
          limitKmh: event.limitKmh,
          peakKmh: event.peakKmh,
          meanKmh: event.meanKmh,
          distanceM: event.distanceM,
        },
      };
  }
}

function fromAvro(union: AvroUnion): FleetEvent {
  if ('outrider.GeofenceVisit' in union) {
    const visit = union['outrider.GeofenceVisit'];
    return {
      kind: 'geofence-visit',
      ...baseOf(visit),
      geofenceId: visit.geofenceId as GeofenceId,
      geofenceVersion: visit.geofenceVersion,
      endReason: visit.endReason === null ? null : (nameOf(visit.endReason) as GeofenceVisit['endReason']),
    };
  }
  const speeding = union['outrider.Speeding'];
  return {
    kind: 'speeding',
    ...baseOf(speeding),
    limitSource: nameOf(speeding.limitSource) as Speeding['limitSource'],
    geofenceId: speeding.geofenceId as GeofenceId | null,
    definitionVersion: speeding.definitionVersion,
    limitKmh: speeding.limitKmh,
    peakKmh: speeding.peakKmh,
    meanKmh: speeding.meanKmh,
    distanceM: speeding.distanceM,
    endReason: speeding.endReason === null ? null : (nameOf(speeding.endReason) as Speeding['endReason']),
  };
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
    fixTimeMs: avro.fixTime,
  };
}
