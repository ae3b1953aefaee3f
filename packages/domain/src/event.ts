import type { EventId, GeofenceId, MaintenancePlanId, VehicleId } from './ids.ts';
import type { Alarm } from './position.ts';
import type { SensorId, SensorKind, ThresholdCondition } from './sensor.ts';
import type { TraceId } from './trace.ts';

/** What every event has. An event that lasts is published twice under one id: when it begins and when it ends. */
interface EventBase {
  id: EventId;
  /** `begin`: `endedAtMs` is null. `end`: the same event with its end and its totals. */
  phase: 'begin' | 'end';
  vehicleId: VehicleId;
  startedAtMs: number;
  endedAtMs: number | null;
  /** Place, in degrees, of this phase: where it began, or where it ended. */
  latitude: number;
  longitude: number;
  /** Where it began, in either phase. Missing in events recorded before this was kept; a trip always has it. */
  startLatitude?: number;
  startLongitude?: number;
  /** Speed at this phase. */
  speedKmh: number | null;

  // Why: the fixes and the definition that it came from.

  /** Unix milliseconds of the first fix that it came from. */
  fromFixTimeMs: number;
  /** Unix milliseconds of the last: the fix that made the engine say so. */
  fixTimeMs: number;
  /** Version of the definition that was in force: the geofence's where it is about one, else the vehicle's. */
  definitionVersion: number;
  /** `recalculated`: made anew from the history, and not while the data came in. */
  origin: 'live' | 'recalculated';
  /** True where no fix shows it and it was inferred from the way between two. */
  inferred: boolean;

  /**
   * Code of the driver by the terminal's records: of the shift in this phase, or of the last one that the event has a
   * part in. Missing where nobody is known to drive.
   */
  driverCode?: string;

  // What brought it about. Records of the log and live messages have it; the archive does not.

  /**
   * Unix milliseconds at which the gateway had the packet that made the engine say so; where no packet did (a
   * definition changed, nothing came), `fixTimeMs`. Missing in what was recorded before this was known, and where it
   * was recalculated.
   */
  receivedAtMs?: number;
  /** The trace of that packet. Missing where none did, and where it has none. */
  traceId?: TraceId;
}

/** The vehicle was inside a geofence: its `begin` is the entry, its `end` the exit. */
export interface GeofenceVisit extends EventBase {
  kind: 'geofence-visit';
  geofenceId: GeofenceId;
  /** Why the visit ended; null while it lasts. */
  endReason: 'left' | 'geofence-deleted' | 'geofence-changed' | 'no-longer-watched' | null;
}

/** The vehicle was over a limit. */
export interface Speeding extends EventBase {
  kind: 'speeding';
  /** Where the limit came from. */
  limitSource: 'vehicle' | 'geofence';
  /** Set when `limitSource` is `geofence`. */
  geofenceId: GeofenceId | null;
  limitKmh: number;
  peakKmh: number;
  /** Mean over time since the start. */
  meanKmh: number;
  distanceM: number;
  /** Why it ended; null while it lasts. */
  endReason: 'slowed' | 'left' | 'limit-removed' | 'geofence-deleted' | 'geofence-changed' | 'no-longer-watched' | null;
}

/** What is known of the tank over a time; each missing where the vehicle has no tank, or nothing was measured. */
interface TankLevels {
  /** Litres in the tank when it began, and when it ended. */
  fuelStartL?: number;
  fuelEndL?: number;
  /** Litres that the engine used meanwhile: by its own counter; without one, by the levels and what came and went. */
  fuelUsedL?: number;
}

/** The vehicle was on its way: from the first fix that moves to the first that does not. */
export interface Trip extends EventBase, TankLevels {
  kind: 'trip';
  startLatitude: number;
  startLongitude: number;
  /**
   * By the odometer where the terminal has one. With the step from the last fix where the vehicle stood to the first
   * where it moves, at which the trip starts.
   */
  distanceM: number;
  /** How long it moved; the rest of the trip it stood. */
  movingMs: number;
  /** How long it stood with the ignition on. */
  idlingMs: number;
  maxKmh: number;
  /** Distance since the start over the time since the start, standing included. */
  meanKmh: number;
  /** `gap`: it moved, and after that there was no data for too long. Null while it lasts. */
  endReason: 'stopped' | 'gap' | 'no-longer-watched' | null;
}

/** The vehicle stood between trips: `parking` with the ignition off (or not known), `idling` with it on. */
export interface Stop extends EventBase, TankLevels {
  kind: 'parking' | 'idling';
  /** How long the ignition was on meanwhile: it may be, for moments, while parking. */
  idlingMs: number;
  /**
   * `ignition`: it goes on as a stop of the other kind. `gap`: after it there was no data for too long. Null while it
   * lasts.
   */
  endReason: 'moved' | 'ignition' | 'gap' | 'no-longer-watched' | null;
}

/** The ignition was on. */
export interface Ignition extends EventBase {
  kind: 'ignition';
  endReason: 'switched-off' | 'no-longer-watched' | null;
}

/**
 * The terminal raised an alarm, from the first record that says so to the first that does not. Harsh driving is also
 * found by the engine, where the vehicle has limits for it.
 */
export interface AlarmRaised extends EventBase {
  kind: 'alarm';
  /** Never `power-cut`, which is an event of its own kind. */
  alarm: Alarm;
  endReason: 'cleared' | 'no-longer-watched' | null;
}

/** The terminal was without external power. */
export interface PowerCut extends EventBase {
  kind: 'power-cut';
  endReason: 'restored' | 'no-longer-watched' | null;
}

/**
 * No data came from the terminal: from the last packet before to the first after, by the times at which the gateway had
 * them. No fix makes that known, but time itself: `fixTimeMs` is the moment from which on it counts as offline, or is
 * online again; place and `fromFixTimeMs` are those of the last fix before.
 */
export interface Offline extends EventBase {
  kind: 'offline';
  endReason: 'online' | 'no-longer-watched' | null;
}

/**
 * The vehicle is near its next service, or beyond it. A worker finds it by counters and calendar, not the engine by a
 * fix: place and `fixTimeMs` are those of the moment, and of the last fix.
 */
export interface MaintenanceDue extends EventBase {
  kind: 'maintenance-due';
  planId: MaintenancePlanId;
  /** As the plan was called. */
  planName: string;
  /** `warning`: less is left than the plan's warning distance. `due`: nothing is left. */
  stage: 'warning' | 'due';
  /** What of the plan came first. */
  cause: 'distance' | 'engine-hours' | 'days' | 'counter';
  /** `corrected`: a counter was set, or late data moved it. Null while it lasts. */
  endReason: 'due' | 'serviced' | 'corrected' | 'plan-changed' | 'no-longer-watched' | null;
}

/**
 * A driver drove the vehicle, by the code that its terminal sent: from the first record with the code to the record
 * that says otherwise, or to the last that shows the shift where the vehicle then stood for too long.
 */
export interface DriverShift extends EventBase {
  kind: 'driver-shift';
  driverCode: string;
  /** `card-removed`: the terminal says that no card is there. `parked`: the vehicle stood. Null while it lasts. */
  endReason: 'card-removed' | 'other-driver' | 'parked' | 'no-longer-watched' | null;
}

/** The tank was filled, or fuel was taken out of it that the engine did not burn. */
export interface FuelChange extends EventBase {
  kind: 'refuelling' | 'fuel-drain';
  /** Litres that came or went, beside what the engine burnt meanwhile; while it lasts, up to now. */
  volumeL: number;
  /** Litres in the tank before, and after. */
  levelBeforeL: number;
  levelAfterL: number;
  /** True where the vehicle was on its way when it began, false where it stood. */
  whileMoving: boolean;
  /** `settled`: the level holds. Null while it lasts. */
  endReason: 'settled' | 'no-longer-watched' | null;
}

/** The value of a sensor was beyond one of its thresholds, from the first record that says so. */
export interface SensorThresholdExceeded extends EventBase {
  kind: 'sensor-threshold';
  sensorId: SensorId;
  /** As the sensor was called, … */
  sensorName: string;
  sensorKind: SensorKind;
  /** … and what it was in. */
  unit: string;
  /** The threshold of the sensor, … */
  thresholdId: string;
  condition: ThresholdCondition;
  /** … and its bounds. */
  min: number | null;
  max: number | null;
  /** At this phase. */
  value: number;
  /** The value farthest beyond the threshold; of `inside`, the first. */
  peakValue: number;
  /** `gap`: after it there was no value for too long. Null while it lasts. */
  endReason: 'returned' | 'gap' | 'sensor-changed' | 'no-longer-watched' | null;
}

/** A fact about one vehicle that the engine or a worker derived: the record of topic `events`. */
export type FleetEvent =
  | GeofenceVisit
  | Speeding
  | Trip
  | Stop
  | Ignition
  | AlarmRaised
  | PowerCut
  | Offline
  | MaintenanceDue
  | DriverShift
  | FuelChange
  | SensorThresholdExceeded;
export type EventKind = FleetEvent['kind'];

export type EndReason = NonNullable<FleetEvent['endReason']>;

/** What a recalculation of a vehicle's past made of an event. */
export interface EventCorrection {
  /** As it is now; of one that was removed, as it was known. */
  event: FleetEvent;
  /** True where it never happened. */
  removed: boolean;
}

/** Did it become known by a recalculation, and not while the data came in? */
export function isLate({ origin }: Pick<FleetEvent, 'origin'>): boolean {
  return origin === 'recalculated';
}

/** Every kind of event there is. */
export const EVENT_KINDS = [
  'geofence-visit',
  'speeding',
  'trip',
  'parking',
  'idling',
  'ignition',
  'alarm',
  'power-cut',
  'offline',
  'maintenance-due',
  'driver-shift',
  'refuelling',
  'fuel-drain',
  'sensor-threshold',
] as const satisfies readonly EventKind[];

/** Kinds that no rule of the engine makes: a worker does. */
export const WORKER_EVENT_KINDS: ReadonlySet<EventKind> = new Set(['maintenance-due']);

const REASONS: Record<EndReason, true> = {
  left: true,
  'geofence-deleted': true,
  'geofence-changed': true,
  'no-longer-watched': true,
  slowed: true,
  'limit-removed': true,
  stopped: true,
  gap: true,
  moved: true,
  ignition: true,
  'switched-off': true,
  cleared: true,
  restored: true,
  online: true,
  due: true,
  serviced: true,
  corrected: true,
  'plan-changed': true,
  'card-removed': true,
  'other-driver': true,
  parked: true,
  settled: true,
  returned: true,
  'sensor-changed': true,
};
/** Every reason for which an event ends. */
export const END_REASONS = Object.keys(REASONS) as EndReason[];
