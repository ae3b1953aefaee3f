import type { EventId, GeofenceId, VehicleId } from './ids.ts';

/** What every event has. An event that lasts is told twice under one id: when it begins and when it ends. */
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
  /** Speed at this phase. */
  speedKmh: number | null;
  /** Unix milliseconds of the fix that made the engine say so. */
  fixTimeMs: number;
}

/** The vehicle was inside a geofence: its `begin` is the entry, its `end` the exit. */
export interface GeofenceVisit extends EventBase {
  kind: 'geofence-visit';
  geofenceId: GeofenceId;
  /** Version of the geofence's definition that was in force. */
  geofenceVersion: number;
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
  /** Version of the vehicle's or the geofence's definition that set the limit. */
  definitionVersion: number;
  limitKmh: number;
  peakKmh: number;
  /** Mean over time since the start. */
  meanKmh: number;
  distanceM: number;
  /** Why it ended; null while it lasts. */
  endReason: 'slowed' | 'left' | 'limit-removed' | 'geofence-deleted' | 'geofence-changed' | 'no-longer-watched' | null;
}

/** A fact about one vehicle that the engine derived: the record of topic `events`. */
export type FleetEvent = GeofenceVisit | Speeding;
export type EventKind = FleetEvent['kind'];
