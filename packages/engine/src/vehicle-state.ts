import type {
  Alarm,
  EventId,
  FleetEvent,
  GeofenceId,
  Position,
  ProtocolName,
  Stop,
  Vehicle,
  VehicleId,
} from '@outrider/domain';
import type { CachedCell } from '@outrider/geo';
import type { FuelState } from './fuel/fuel-state.ts';
import type { FuelGauge } from './fuel/tank-watch.ts';
import type { Fence, OwnerFences } from './geofences/fences.ts';
import type { HarshLimits } from './harsh-driving.ts';
import type { Disagreement } from './odometer.ts';
import type { SensorStates } from './sensors/sensor-state.ts';
import type { Surplus } from './surplus.ts';

/** A moment in a vehicle's movement: a fix, or a point between two. */
export interface Moment {
  atMs: number;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
}

/**
 * Presence of one vehicle at one geofence, from the first fix inside to the end of the visit.
 *
 * - `entering`: inside, for less than the geofence's `minDwellSeconds`; not published yet.
 * - `inside`: the visit's begin was reported, or the presence is silent.
 * - `leaving`: outside, for less than `minDwellSeconds`; the visit continues if the vehicle returns in time.
 */
export interface Presence {
  fence: Fence;
  phase: 'entering' | 'inside' | 'leaving';
  /** True where the vehicle was found inside and its entry was not observed: the begin is never reported. */
  silent: boolean;
  /** True while no fix was inside: the vehicle passed through between two fixes. */
  inferred: boolean;
  /** Time of the fix (or, where silent, the moment) that the event's id is derived from. */
  beganAtMs: number;
  /** Time of the first of the fixes from which the event was detected. */
  fromFixTimeMs: number;
  /** Event id derived from `beganAtMs`, set on first use; not part of the checkpointed state. */
  id: EventId | null;
  entry: Moment;
  /** Where and when the vehicle left, while `leaving`. */
  exit: Moment | null;
}

/** A vehicle exceeding one limit, from the first fix above it. */
export interface SpeedingRun {
  /** Null: the vehicle's own limit. */
  fence: Fence | null;
  limitKmh: number;
  definitionVersion: number;
  /** False while it is shorter than the vehicle's `speedingMinSeconds` and not yet published. */
  reported: boolean;
  start: Moment;
  /** Event id, set on first use; not part of the checkpointed state. */
  id: EventId | null;
  peakKmh: number;
  /** Speed integrated over time since the start, up to the vehicle's last fix. */
  kmhMs: number;
  distanceM: number;
}

/** Fixes rejected as jumps that agree with each other: evidence that the last good fix was wrong. */
export interface Suspects {
  count: number;
  firstAtMs: number;
  lastAtMs: number;
  latitude: number;
  longitude: number;
}

/** Driving since the first moving fix. Totals are up to the newest fix, without the current standstill. */
export interface Drive {
  start: Moment;
  /** Event id, set on first use; not part of the checkpointed state. */
  id: EventId | null;
  distanceM: number;
  /** Part of the distance before the start: from the last fix where the vehicle stood. */
  leadM: number;
  movingMs: number;
  idlingMs: number;
  maxKmh: number;
  disagreement: Disagreement;
  /** True where the places show movement, not the terminal's speed. */
  isByPlace: boolean;
}

/** Standing since the first fix that was not moving. */
export interface Rest {
  since: Moment;
  /** Distance counted by the odometer meanwhile; part of the trip if that continues. */
  distanceM: number;
  /** How long the ignition was on meanwhile. */
  idlingMs: number;
}

/** A reported stop. */
export interface Halt {
  kind: Stop['kind'];
  start: Moment;
  id: EventId | null;
  idlingMs: number;
  /**
   * Since when the ignition contradicts the kind of the stop, with `idlingMs` at that time. After long enough it
   * becomes a stop of the other kind.
   */
  turn: { at: Moment; idlingMs: number } | null;
}

/**
 * - moving: `drive` alone;
 * - a pause: `drive` and `rest`, not for long enough yet to end the trip;
 * - standing, not for long enough yet to be a stop: `rest` alone;
 * - a stop: `halt` and `rest`.
 */
export interface Motion {
  drive: Drive | null;
  rest: Rest | null;
  halt: Halt | null;
}

/** A lasting condition that the terminal's records report. */
export interface Condition {
  what: Alarm | 'ignition';
  kind: 'ignition' | 'power-cut' | 'harsh-driving' | 'alarm';
  /** For harsh driving: highest acceleration by the positions, in m/s²; null where they show none. */
  peakMps2: number | null;
  /** True where the begin was not observed: it is never reported. */
  silent: boolean;
  start: Moment;
  id: EventId | null;
}

/** A driver's shift, by the codes of the terminal's records. */
export interface Shift {
  code: string;
  start: Moment;
  id: EventId | null;
  /** The newest record that shows the shift: it has the code, or the vehicle was in use. */
  seen: Moment;
}

/** An ended shift, kept to name the driver in events from its time. */
export interface PastShift {
  code: string;
  startedAtMs: number;
  /** Events that begin up to this time may belong to the shift. */
  untilMs: number;
}

/** The engine's state of one vehicle. */
export interface VehicleState {
  id: VehicleId;
  /** Offset of the last processed packet; -1 before the first. */
  offset: number;
  /** The newest good fix, and when the gateway received it. */
  latest: Position | null;
  receivedAtMs: number;
  /** The last record, whether it moved the vehicle or not, and when the gateway received it; null before the first. */
  record: Position | null;
  recordReceivedAtMs: number;
  /** Protocol of the newest packet; null before the first. */
  protocol: ProtocolName | null;
  /**
   * Time of the newest status. Grows with the times at which packets came, definitions changed, and silence was
   * detected.
   */
  asOfMs: number;
  /** Speed at the newest good fix: the terminal's, or the implied speed of the step to it. */
  speedKmh: number | null;
  suspects: Suspects | null;
  /** In the order of the geofences' ids, so that a restart does not change the order of events. */
  presences: Presence[];
  /** The vehicle's own limit first, then in the order of the geofences' ids. */
  runs: SpeedingRun[];
  /** Null before the first fix, and without a profile that defines when the vehicle moves. */
  motion: Motion | null;
  /**
   * True where elapsed time ended the trip and no fix has moved the vehicle since. A late fix from within the gap shows
   * that the trip continued: the history must be recalculated from there.
   */
  tripCut: boolean;
  /** When the gateway received the newest packet, whatever its content; 0 before the first. */
  receivedLastAtMs: number;
  /** True after the vehicle was reported offline. */
  offline: boolean;
  /** Time of the newest record that was evaluated but did not move the vehicle; 0 before the first. */
  recordAtMs: number;
  /** Time of the newest fix that was too far ahead of its reception; 0: none. */
  aheadMs: number;
  /** Number of consecutive fixes that were too far ahead. */
  aheadFixes: number;
  /**
   * Marks of the records of the newest fix time, where there were others than the fix that moved the vehicle; see
   * `recordMark`.
   */
  beside: { atMs: number; marks: number[] } | null;
  /** Last received value; null before the first. */
  ignition: boolean | null;
  /** Whether external power was present when last measured; null where it was never measured as present. */
  supplied: boolean | null;
  /** In the order in which they began. */
  conditions: Condition[];
  /** Events and geofences beyond the caps; null before the first event. */
  surplus: Surplus | null;
  /** State of the fuel detector; null before the first record of a vehicle whose fuel is measured. */
  fuel: FuelState | null;
  /** Null where the driver is unknown. */
  shift: Shift | null;
  /** The last ended shifts, newest first. */
  pastShifts: readonly PastShift[];
  /** Number of the current packet's events in which the driver is set. Not part of the checkpointed state. */
  named: number;
  /** Null where the vehicle has no sensors. */
  sensors: SensorStates | null;

  // The following fields come from the definitions and are not part of the checkpointed state.

  /** Null while the vehicle has no definition: no geofence is evaluated then. */
  definition: Vehicle | null;
  /** How the fuel is measured; null where it is not. */
  gauge: FuelGauge | null;
  /** Limits for harsh driving; null where none is set. */
  harsh: HarshLimits | null;
  /** The `origin` of new events. */
  origin: FleetEvent['origin'];
  /** The geofences of each owner who may see the vehicle. */
  watchers: OwnerFences[];
  /** For each watcher, the cell of its index that contains the newest good fix; see `steady-state.ts`. */
  cachedCells: CachedCell[];
  /**
   * Up to this speed nothing begins or ends while the vehicle stays in its cached cells; negative where something may
   * begin or end at any speed.
   */
  steadyLimitKmh: number;
  /** Between these two speeds no trip and no stop begins or ends, if the next three conditions hold. */
  steadyOverKmh: number;
  steadyKmh: number;
  /** The step takes at most this time. */
  steadyGapMs: number;
  /** The fix is before this time. */
  steadyUntilMs: number;
  /** The fix is near this place, where the vehicle stands; null where it moves. */
  steadyPlace: Moment | null;
  /** The engine's epoch in which these bounds were computed. */
  steadyEpoch: number;
  /** Whether the vehicle is in the list of changed vehicles already. */
  dirty: boolean;
  /** Whether the vehicle is in the list of vehicles with a new status already. */
  updated: boolean;
}

/** The state of a vehicle before its first packet. */
export function freshState(id: VehicleId, origin: FleetEvent['origin']): VehicleState {
  return {
    id,
    offset: -1,
    latest: null,
    receivedAtMs: 0,
    record: null,
    recordReceivedAtMs: 0,
    protocol: null,
    asOfMs: 0,
    speedKmh: null,
    suspects: null,
    presences: [],
    runs: [],
    motion: null,
    tripCut: false,
    receivedLastAtMs: 0,
    offline: false,
    recordAtMs: 0,
    aheadMs: 0,
    aheadFixes: 0,
    beside: null,
    ignition: null,
    supplied: null,
    conditions: [],
    definition: null,
    origin,
    watchers: [],
    cachedCells: [],
    steadyLimitKmh: -1,
    steadyOverKmh: -1,
    steadyKmh: -1,
    steadyGapMs: 0,
    steadyUntilMs: 0,
    steadyPlace: null,
    steadyEpoch: -1,
    dirty: false,
    updated: false,
    // Rarely needed fields are placed after those that each fix accesses.
    surplus: null,
    fuel: null,
    gauge: null,
    harsh: null,
    shift: null,
    pastShifts: [],
    named: 0,
    sensors: null,
  };
}

/** Order of presences and runs: the vehicle's own limit first, then by geofence id. */
export function orderOf(a: Fence | null, b: Fence | null): number {
  const left: GeofenceId | '' = a?.definition.id ?? '';
  const right: GeofenceId | '' = b?.definition.id ?? '';
  return left < right ? -1 : left > right ? 1 : 0;
}
