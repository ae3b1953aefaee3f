import type { EventId, GeofenceId, UserId, VehicleId } from './ids.ts';
import type { Alarm, Position, ProtocolName } from './position.ts';
import type { SensorId, SensorKind } from './resources/sensor.ts';

/**
 * What a vehicle does, by the rules that make its trips and stops. A trip goes on over a short pause; the state does
 * not: a vehicle that stands is `parking`, or `idling` where its ignition is on. `offline`: no data came for the time
 * that the vehicle's profile sets.
 */
export const VEHICLE_STATES = ['moving', 'parking', 'idling', 'offline', 'unknown'] as const;
export type VehicleState = (typeof VEHICLE_STATES)[number];

/** What the rules know of a vehicle, as of the events that they published of it. */
export interface VehicleActivity {
  state: VehicleState;
  /** Unix milliseconds; null where the state is unknown. */
  sinceMs: number | null;
  /** As last reported; null where it never was. */
  ignition: boolean | null;
  /** Those that are raised. */
  alarms: readonly Alarm[];
  /** Geofences that it is in. */
  geofenceIds: readonly GeofenceId[];
  /** Limits that it exceeds, each by its geofence; null is the vehicle's own limit. */
  speeding: readonly (GeofenceId | null)[];
  /** Code of the driver whose shift it is, by the terminal's records. Absent where it is nobody's. */
  driverCode?: string;
}

/** A trip that goes on, with the totals that its end would have if the vehicle stood from now on. */
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
 * What did not count for a vehicle in the last minute of fixes in which anything did not, because it is beyond what one
 * owner's geofences, or the vehicle itself, may cause.
 */
export interface StatusSurplus {
  /** Whose geofences; null: events of the vehicle itself. */
  ownerId: UserId | null;
  /** Unix milliseconds of the last fix at which something was left out. */
  atMs: number;
  /** Geofences around the vehicle at that fix that did not count. */
  geofences: number;
  /** Events left out in the minute of that fix. */
  events: number;
}

/** The newest value of a sensor; the last record need not have one. */
export interface SensorReading {
  id: SensorId;
  name: string;
  kind: SensorKind;
  unit: string;
  value: number;
  /** Unix milliseconds of the record that it is of. */
  atMs: number;
  /** Ids of the thresholds that it is beyond, by the events that were published. */
  exceeded: readonly string[];
}

/** What is in the tank, as the rules see it: slosh, tilt and wrong values are smoothed out. */
export interface TankLevel {
  levelL: number;
  /** Of the vehicle's profile. */
  capacityL: number;
  /** Unix milliseconds of the last record that it is of. */
  atMs: number;
  /** A refuelling or a drain that goes on, by the events that were published; absent without. */
  change?: 'refuelling' | 'fuel-drain';
}

/**
 * A vehicle now: its last record, its last position, and what the rules make of them. Published after the events that
 * it agrees with.
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
  /** Unix milliseconds at which the gateway had it. */
  recordReceivedAtMs: number;
  /** Unix milliseconds at which the gateway had the newest packet, whatever was in it. */
  lastContactAtMs: number;
  /** Of the newest packet; null where it was not recorded. */
  protocol: ProtocolName | null;
  /** Null in what a version before this one wrote. */
  activity: VehicleActivity | null;
  /** Absent where it is on none, and in what an earlier version wrote. */
  trip?: OpenTrip;
  /** Absent where nothing was ever left out, and in what an earlier version wrote. */
  surplus?: readonly StatusSurplus[];
  /** Of the sensors that had a value; absent without any, and in what an earlier version wrote. */
  sensors?: readonly SensorReading[];
  /** Absent where the tank is not watched or its level not known, and in what an earlier version wrote. */
  tank?: TankLevel;
}
