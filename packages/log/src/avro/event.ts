import type {
  AlarmRaised,
  DriverShift,
  EventId,
  FleetEvent,
  FuelChange,
  GeofenceId,
  GeofenceVisit,
  Ignition,
  MaintenanceDue,
  MaintenancePlanId,
  Offline,
  PowerCut,
  SensorId,
  SensorKind,
  SensorThresholdExceeded,
  Speeding,
  Stop,
  TraceId,
  Trip,
  VehicleId,
} from '@outrider/domain';
import { ALARMS, THRESHOLD_CONDITIONS } from '@outrider/domain';
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
  writeByte,
  writeDouble,
  writeHex,
  writeInt,
  writeLong,
  writeNullable,
  writeString,
} from './writing.ts';

/*
 * `schemas/event.avsc` written out by hand, as the telemetry's schema is: each event is written once and read by many.
 * The test beside it holds it against a codec that is driven by the schema.
 */

/**
 * The version without maintenance, drivers and sensors, the one without alarm `terminal-conflict`, the one without
 * `startLatitude` and `startLongitude` (but of trips), and the one without `receivedAt` and `traceId` either.
 */
const EARLIER = ['31c9d8d5f19eae1e', '568bb775b43c6340', '1eeaa7ece2133285', 'e54cf8bfaf1909d1'];
const WITHOUT_DRIVER = 1;
/** All of them are without what is known of tanks. */
const WITHOUT_FUEL = 1;
const WITHOUT_START = 3;
const WITHOUT_CAUSE = 4;
const schema = readSchema('event', EARLIER);

// The enums, each in the order of its symbols.
const PHASES: readonly FleetEvent['phase'][] = ['begin', 'end'];
const ORIGINS: readonly FleetEvent['origin'][] = ['live', 'recalculated'];
const LIMIT_SOURCES: readonly Speeding['limitSource'][] = ['vehicle', 'geofence'];
const STOPS: readonly Stop['kind'][] = ['parking', 'idling'];
type Reasons<Event extends FleetEvent> = readonly NonNullable<Event['endReason']>[];
const VISIT_ENDS: Reasons<GeofenceVisit> = ['left', 'geofence-deleted', 'geofence-changed', 'no-longer-watched'];
const SPEEDING_ENDS: Reasons<Speeding> = [
  'slowed',
  'left',
  'limit-removed',
  'geofence-deleted',
  'geofence-changed',
  'no-longer-watched',
];
const TRIP_ENDS: Reasons<Trip> = ['stopped', 'gap', 'no-longer-watched'];
const STOP_ENDS: Reasons<Stop> = ['moved', 'ignition', 'gap', 'no-longer-watched'];
const IGNITION_ENDS: Reasons<Ignition> = ['switched-off', 'no-longer-watched'];
const ALARM_ENDS: Reasons<AlarmRaised> = ['cleared', 'no-longer-watched'];
const POWER_CUT_ENDS: Reasons<PowerCut> = ['restored', 'no-longer-watched'];
const OFFLINE_ENDS: Reasons<Offline> = ['online', 'no-longer-watched'];
const MAINTENANCE_STAGES: readonly MaintenanceDue['stage'][] = ['warning', 'due'];
const MAINTENANCE_CAUSES: readonly MaintenanceDue['cause'][] = ['distance', 'engine-hours', 'days', 'counter'];
const MAINTENANCE_ENDS: Reasons<MaintenanceDue> = ['due', 'serviced', 'corrected', 'plan-changed', 'no-longer-watched'];
const SHIFT_ENDS: Reasons<DriverShift> = ['card-removed', 'other-driver', 'parked', 'no-longer-watched'];
const FUEL_CHANGES: readonly FuelChange['kind'][] = ['refuelling', 'fuel-drain'];
const FUEL_CHANGE_ENDS: Reasons<FuelChange> = ['settled', 'no-longer-watched'];
const THRESHOLD_ENDS: Reasons<SensorThresholdExceeded> = ['returned', 'gap', 'sensor-changed', 'no-longer-watched'];

/** The records of the schema's union, in its order. */
const VISIT = 0;
const SPEEDING = 1;
const TRIP = 2;
const STOP = 3;
const IGNITION = 4;
const ALARM = 5;
const POWER_CUT = 6;
const OFFLINE = 7;
const MAINTENANCE = 8;
const DRIVER_SHIFT = 9;
const FUEL_CHANGE = 10;
const THRESHOLD = 11;

const TRACE_BYTES = 16;

// --- Writing ---------------------------------------------------------------------------------------------------------

/**
 * An event as bytes: a header and the record of `schemas/event.avsc`. Nothing is rounded but times, to milliseconds.
 *
 * @returns a view of memory that it shares with other records: to be copied or sent, not to be written to or kept for
 *   long
 * @throws {Error} when it says something by a name that the schema does not know
 */
export function encodeEvent(event: FleetEvent): Buffer {
  beginRecord(schema.header);
  switch (event.kind) {
    case 'geofence-visit':
      writeBase(VISIT, event);
      writeString(event.geofenceId);
      writeReason(VISIT_ENDS, event.endReason);
      break;
    case 'speeding':
      writeBase(SPEEDING, event);
      writeSymbol(LIMIT_SOURCES, event.limitSource);
      writeNullable(event.geofenceId, writeString);
      writeDouble(event.limitKmh);
      writeDouble(event.peakKmh);
      writeDouble(event.meanKmh);
      writeDouble(event.distanceM);
      writeReason(SPEEDING_ENDS, event.endReason);
      break;
    case 'trip':
      writeBase(TRIP, event);
      writeDouble(event.startLatitude);
      writeDouble(event.startLongitude);
      writeDouble(event.distanceM);
      writeDouble(event.movingMs);
      writeDouble(event.idlingMs);
      writeDouble(event.maxKmh);
      writeDouble(event.meanKmh);
      writeReason(TRIP_ENDS, event.endReason);
      break;
    case 'parking':
    case 'idling':
      writeBase(STOP, event);
      writeSymbol(STOPS, event.kind);
      writeDouble(event.idlingMs);
      writeReason(STOP_ENDS, event.endReason);
      break;
    case 'ignition':
      writeBase(IGNITION, event);
      writeReason(IGNITION_ENDS, event.endReason);
      break;
    case 'alarm':
      writeBase(ALARM, event);
      writeSymbol(ALARMS, event.alarm);
      writeReason(ALARM_ENDS, event.endReason);
      break;
    case 'power-cut':
      writeBase(POWER_CUT, event);
      writeReason(POWER_CUT_ENDS, event.endReason);
      break;
    case 'offline':
      writeBase(OFFLINE, event);
      writeReason(OFFLINE_ENDS, event.endReason);
      break;
    case 'maintenance-due':
      writeBase(MAINTENANCE, event);
      writeString(event.planId);
      writeString(event.planName);
      writeSymbol(MAINTENANCE_STAGES, event.stage);
      writeSymbol(MAINTENANCE_CAUSES, event.cause);
      writeReason(MAINTENANCE_ENDS, event.endReason);
      break;
    case 'driver-shift':
      writeBase(DRIVER_SHIFT, event);
      writeReason(SHIFT_ENDS, event.endReason);
      break;
    case 'refuelling':
    case 'fuel-drain':
      writeBase(FUEL_CHANGE, event);
      writeSymbol(FUEL_CHANGES, event.kind);
      writeDouble(event.volumeL);
      writeDouble(event.levelBeforeL);
      writeDouble(event.levelAfterL);
      writeByte(event.whileMoving ? 1 : 0);
      writeReason(FUEL_CHANGE_ENDS, event.endReason);
      break;
    case 'sensor-threshold':
      writeThreshold(event);
      break;
  }
  writeNullable(event.receivedAtMs ?? null, writeLong);
  writeNullable(event.traceId ?? null, writeTrace);
  if (event.kind !== 'trip') {
    writeNullable(event.startLatitude ?? null, writeDouble);
    writeNullable(event.startLongitude ?? null, writeDouble);
  }
  writeNullable(event.driverCode ?? null, writeString);
  if (event.kind === 'trip' || event.kind === 'parking' || event.kind === 'idling') {
    writeNullable(event.fuelStartL ?? null, writeDouble);
    writeNullable(event.fuelEndL ?? null, writeDouble);
    writeNullable(event.fuelUsedL ?? null, writeDouble);
  }
  return endRecord();
}

function writeThreshold(event: SensorThresholdExceeded): void {
  writeBase(THRESHOLD, event);
  writeString(event.sensorId);
  writeString(event.sensorName);
  writeString(event.sensorKind);
  writeString(event.unit);
  writeString(event.thresholdId);
  writeSymbol(THRESHOLD_CONDITIONS, event.condition);
  writeNullable(event.min, writeDouble);
  writeNullable(event.max, writeDouble);
  writeDouble(event.value);
  writeDouble(event.peakValue);
  writeReason(THRESHOLD_ENDS, event.endReason);
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
}

function writeSymbol<Name extends string>(names: readonly Name[], name: Name): void {
  const number = names.indexOf(name);
  if (number < 0) throw new Error(`an event can't be written: ${JSON.stringify(name)} is none of ${names.join(', ')}`);
  writeInt(number);
}

function writeReason<Name extends string>(reasons: readonly Name[], reason: Name | null): void {
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
  const version = versionsBefore(schema, bytes);
  readFrom(bytes);
  const event = readFacts();
  if (version < WITHOUT_CAUSE) {
    if (readNullable()) event.receivedAtMs = readLong();
    if (readNullable()) event.traceId = readHex(TRACE_BYTES) as TraceId;
  }
  if (version < WITHOUT_START && event.kind !== 'trip') {
    if (readNullable()) event.startLatitude = readDouble();
    if (readNullable()) event.startLongitude = readDouble();
  }
  if (version < WITHOUT_DRIVER) {
    if (readNullable()) event.driverCode = readString();
    else if (event.kind === 'driver-shift') malformed('driverCode');
  }
  if (version < WITHOUT_FUEL && (event.kind === 'trip' || event.kind === 'parking' || event.kind === 'idling')) {
    if (readNullable()) event.fuelStartL = readDouble();
    if (readNullable()) event.fuelEndL = readDouble();
    if (readNullable()) event.fuelUsedL = readDouble();
  }
  readEnd();
  return event;
}

/** What is written last is read last: the fields are named in the order of the schema. */
function readFacts(): FleetEvent {
  switch (readInt()) {
    case VISIT:
      return {
        ...readBase(),
        kind: 'geofence-visit',
        geofenceId: readString() as GeofenceId,
        endReason: readReason(VISIT_ENDS),
      };
    case SPEEDING:
      return {
        ...readBase(),
        kind: 'speeding',
        limitSource: readSymbol(LIMIT_SOURCES),
        geofenceId: readNullable() ? (readString() as GeofenceId) : null,
        limitKmh: readDouble(),
        peakKmh: readDouble(),
        meanKmh: readDouble(),
        distanceM: readDouble(),
        endReason: readReason(SPEEDING_ENDS),
      };
    case TRIP:
      return {
        ...readBase(),
        kind: 'trip',
        startLatitude: readDouble(),
        startLongitude: readDouble(),
        distanceM: readDouble(),
        movingMs: readDouble(),
        idlingMs: readDouble(),
        maxKmh: readDouble(),
        meanKmh: readDouble(),
        endReason: readReason(TRIP_ENDS),
      };
    case STOP:
      return { ...readBase(), kind: readSymbol(STOPS), idlingMs: readDouble(), endReason: readReason(STOP_ENDS) };
    case IGNITION:
      return { ...readBase(), kind: 'ignition', endReason: readReason(IGNITION_ENDS) };
    case ALARM:
      return { ...readBase(), kind: 'alarm', alarm: readSymbol(ALARMS), endReason: readReason(ALARM_ENDS) };
    case POWER_CUT:
      return { ...readBase(), kind: 'power-cut', endReason: readReason(POWER_CUT_ENDS) };
    case OFFLINE:
      return { ...readBase(), kind: 'offline', endReason: readReason(OFFLINE_ENDS) };
    case MAINTENANCE:
      return {
        ...readBase(),
        kind: 'maintenance-due',
        planId: readString() as MaintenancePlanId,
        planName: readString(),
        stage: readSymbol(MAINTENANCE_STAGES),
        cause: readSymbol(MAINTENANCE_CAUSES),
        endReason: readReason(MAINTENANCE_ENDS),
      };
    case DRIVER_SHIFT:
      return { ...readBase(), kind: 'driver-shift', driverCode: '', endReason: readReason(SHIFT_ENDS) };
    case FUEL_CHANGE:
      return {
        ...readBase(),
        kind: readSymbol(FUEL_CHANGES),
        volumeL: readDouble(),
        levelBeforeL: readDouble(),
        levelAfterL: readDouble(),
        whileMoving: readBoolean(),
        endReason: readReason(FUEL_CHANGE_ENDS),
      };
    case THRESHOLD:
      return {
        ...readBase(),
        kind: 'sensor-threshold',
        sensorId: readString() as SensorId,
        sensorName: readString(),
        sensorKind: readString() as SensorKind,
        unit: readString(),
        thresholdId: readString(),
        condition: readSymbol(THRESHOLD_CONDITIONS),
        min: readNullable() ? readDouble() : null,
        max: readNullable() ? readDouble() : null,
        value: readDouble(),
        peakValue: readDouble(),
        endReason: readReason(THRESHOLD_ENDS),
      };
    default:
      return malformed('kind');
  }
}

function readBase() {
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

function readReason<Name extends string>(reasons: readonly Name[]): Name | null {
  return readNullable() ? readSymbol(reasons) : null;
}
