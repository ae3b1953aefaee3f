import type { EventId, GeofenceId, UserId, VehicleId } from './ids.ts';
import type { Alarm, Position, ProtocolName } from './position.ts';
import type { SensorId, SensorKind } from './resources/sensor.ts';

/**
 * What a vehicle does, by the rules for trips and stops. A trip continues over a short pause, the state does not: a
 * standing vehicle is `parking`, or `idling` with its ignition on. `offline`: no data came for the time set in the
 * vehicle's profile.
 */
export const VEHICLE_STATES = ['moving', 'parking', 'idling', 'offline', 'unknown'] as const;
export type VehicleState = (typeof VEHICLE_STATES)[number];

/** State of a vehicle by the rules, consistent with the events published up to now. */
export interface VehicleActivity {
  state: VehicleState;
  /** Unix milliseconds; null where the state is unknown. */
  sinceMs: number | null;
  /** Last reported value; null: never reported. */
  ignition: boolean | null;
  /** Active alarms. */
  alarms: readonly Alarm[];
  /** Geofences that contain the vehicle. */
  geofenceIds: readonly GeofenceId[];
  /** Exceeded speed limits, each by its geofence; null: the vehicle's own limit. */
  speeding: readonly (GeofenceId | null)[];
  /** Code of the driver of the current shift, from the terminal's records. Absent without a shift. */
  driverCode?: string;
}

/** A trip in progress, with the totals that its end would have if the vehicle stood from now on. */
export interface OpenTrip {
  id: EventId;
  /** Unix milliseconds. */
  startedAtMs: number;
  distanceM: number;
  movingMs: number;
  idlingMs: number;
  maxKmh: number;
}

/**
 * Geofences and events that did not count because a cap was exceeded: for one owner's geofences, or for the vehicle
 * itself. Covers the latest minute of fixes in which anything was left out.
 */
export interface StatusSurplus {
  /** Owner of the geofences; null: events of the vehicle itself. */
  ownerId: UserId | null;
  /** Unix milliseconds of the last fix at which something was left out. */
  atMs: number;
  /** Number of geofences around the vehicle at that fix that did not count. */
  geofences: number;
  /** Number of events left out in the minute of that fix. */
  events: number;
}

/** Latest value of a sensor. It may be older than the last record. */
export interface SensorReading {
  id: SensorId;
  name: string;
  kind: SensorKind;
  unit: string;
  value: number;
  /** Unix milliseconds of the record that gave the value. */
  atMs: number;
  /** Ids of the thresholds that are exceeded, according to the published events. */
  exceeded: readonly string[];
}

/** Fuel level by the rules: slosh, tilt and wrong values are filtered out. */
export interface TankLevel {
  levelL: number;
  /** From the vehicle's profile. */
  capacityL: number;
  /** Unix milliseconds of the last record that contributed. */
  atMs: number;
  /** A refuelling or drain in progress, according to the published events; absent: none. */
  change?: 'refuelling' | 'fuel-drain';
}

/**
 * Current status of a vehicle: its last record, its last position, and the state that the rules derived. Published
 * after the events that it is consistent with.
 */
export interface VehicleStatus {
  vehicleId: VehicleId;
  /** Unix milliseconds. Never less than in an earlier status of the vehicle. */
  asOfMs: number;
  /** The last fix that moved the vehicle; null before the first. */
  position: Position | null;
  /** When the gateway received it, in Unix milliseconds; null without a position. */
  receivedAtMs: number | null;
  /** The last record, with or without a usable fix. The same object as `position` where that is the last. */
  record: Position;
  /** Unix milliseconds at which the gateway received it. */
  recordReceivedAtMs: number;
  /** Unix milliseconds at which the gateway received the newest packet, whatever its content. */
  lastContactAtMs: number;
  /** Protocol of the newest packet; null where it was not recorded. */
  protocol: ProtocolName | null;
  /** Null in statuses of earlier versions. */
  activity: VehicleActivity | null;
  /** Absent where there is no trip, and in statuses of earlier versions. */
  trip?: OpenTrip;
  /** Absent where nothing was ever left out, and in statuses of earlier versions. */
  surplus?: readonly StatusSurplus[];
  /** Readings of the sensors that had a value; absent without any, and in statuses of earlier versions. */
  sensors?: readonly SensorReading[];
  /** Absent where the tank is not watched or its level is unknown, and in statuses of earlier versions. */
  tank?: TankLevel;
}
