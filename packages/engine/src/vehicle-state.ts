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

/** A moment on the vehicle's way: a fix, or a point between two. */
export interface Moment {
  atMs: number;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
}

/**
 * One vehicle at one geofence, from the first fix inside to the end of the visit.
 *
 * - `entering`: inside, for less than the geofence's `minDwellSeconds`; it was not published.
 * - `inside`: the visit's begin was reported, or the stay is silent.
 * - `leaving`: outside, for less than `minDwellSeconds`; the visit goes on if the vehicle comes back in time.
 */
export interface Presence {
  fence: Fence;
  phase: 'entering' | 'inside' | 'leaving';
  /** True where the vehicle was found inside and not seen to enter: the begin is never reported. */
  silent: boolean;
  /** True while no fix was inside: the vehicle passed through between two. */
  inferred: boolean;
  /** Time of the fix (or, where silent, the moment) that the event's id is derived from. */
  beganAtMs: number;
  /** Time of the first fix that it was found by. */
  fromFixTimeMs: number;
  /** That id, once it was needed; not part of the checkpointed state. */
  id: EventId | null;
  entry: Moment;
  /** Where it left, while `leaving`. */
  exit: Moment | null;
}

/** A vehicle over one limit, from the first fix over it. */
export interface SpeedingRun {
  /** Null: the vehicle's own limit. */
  fence: Fence | null;
  limitKmh: number;
  definitionVersion: number;
  /** False while it has not lasted for the vehicle's `speedingMinSeconds`; it was not published. */
  reported: boolean;
  start: Moment;
  /** The event's id, once it was needed; not part of the checkpointed state. */
  id: EventId | null;
  peakKmh: number;
  /** Speed integrated over time since the start, up to the vehicle's last fix. */
  kmhMs: number;
  distanceM: number;
}

/** Fixes turned away as jumps that agree among themselves: the evidence that the last good fix was the wrong one. */
export interface Suspects {
  count: number;
  firstAtMs: number;
  lastAtMs: number;
  latitude: number;
  longitude: number;
}

/** On the way, since the first fix that moved. Totals are up to the newest fix, but without what it has stood since. */
export interface Drive {
  start: Moment;
  /** The event's id, once it was needed; not part of the checkpointed state. */
  id: EventId | null;
  distanceM: number;
  /** What of the distance lies before the start: from where it was last seen to stand. */
  leadM: number;
  movingMs: number;
  idlingMs: number;
  maxKmh: number;
  disagreement: Disagreement;
  /** Places showed that it moves, and not the terminal's speed. */
  isByPlace: boolean;
}

/** Standing still, since the first fix that did not move. */
export interface Rest {
  since: Moment;
  /** What the odometer counted meanwhile; part of the trip if it goes on. */
  distanceM: number;
  /** How long the ignition was on meanwhile. */
  idlingMs: number;
}

/** A stop that was reported. */
export interface Halt {
  kind: Stop['kind'];
  start: Moment;
  id: EventId | null;
  idlingMs: number;
  /**
   * Since when the ignition says otherwise, and what `idlingMs` was then: long enough, and it is a stop of the other
   * kind.
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

/** Something that the terminal's records say and that lasts. */
export interface Condition {
  what: Alarm | 'ignition';
  kind: 'ignition' | 'power-cut' | 'harsh-driving' | 'alarm';
  /** Of harsh driving: the highest that positions showed, in m/s²; null where they showed nothing. */
  peakMps2: number | null;
  /** True where nobody saw it begin: the begin is never reported. */
  silent: boolean;
  start: Moment;
  id: EventId | null;
}

/** A driver at the wheel, by the codes of the terminal's records. */
export interface Shift {
  code: string;
  start: Moment;
  id: EventId | null;
  /** The newest record that shows the shift: it has the code, or the vehicle is in use. */
  seen: Moment;
}

/** A shift that ended, as far as events of its time are to name its driver. */
export interface PastShift {
  code: string;
  startedAtMs: number;
  /** Events that begin no later than this may be in it. */
  untilMs: number;
}

/** All that the engine knows of one vehicle. */
export interface VehicleState {
  id: VehicleId;
  /** Offset of the last packet taken in; -1 before the first. */
  offset: number;
  /** The newest good fix, and when the gateway had it. */
  latest: Position | null;
  receivedAtMs: number;
  /** The last record, whether it moved the vehicle or not, and when the gateway had it; null before the first. */
  record: Position | null;
  recordReceivedAtMs: number;
  /** Of the newest packet; null before the first. */
  protocol: ProtocolName | null;
  /**
   * What the newest status is as of: grows with the times at which packets came, definitions changed, and silence was
   * noticed.
   */
  asOfMs: number;
  /** Speed at the newest good fix: the terminal's, or what the step to it implies. */
  speedKmh: number | null;
  suspects: Suspects | null;
  /** In the order of the geofences' ids, so that a restart changes no order of events. */
  presences: Presence[];
  /** The vehicle's own limit first, then in the order of the geofences' ids. */
  runs: SpeedingRun[];
  /** Null before the first fix, and where no profile says what moving is. */
  motion: Motion | null;
  /**
   * True where time ended its trip and no fix has moved it since. A fix from within the gap shows that the trip went
   * on, in data that came late: the history is to be recalculated from there.
   */
  tripCut: boolean;
  /** When the gateway had the newest packet, whatever was in it; 0 before the first. */
  receivedLastAtMs: number;
  /** True after the vehicle was reported offline. */
  offline: boolean;
  /** Time of the newest record that moved nothing and whose attributes counted; 0 before the first. */
  recordAtMs: number;
  /** Time of the newest fix that was too far ahead of its reception; 0 without one. */
  aheadMs: number;
  /** How many fixes in a row were too far ahead. */
  aheadFixes: number;
  /**
   * Marks of the records of the newest fix time, where there was more than the fix that moved the vehicle; see
   * `recordMark`.
   */
  beside: { atMs: number; marks: number[] } | null;
  /** As last received; null before the first. */
  ignition: boolean | null;
  /** Whether there was external power when last measured; null where it was never seen to be there. */
  supplied: boolean | null;
  /** In the order in which they began. */
  conditions: Condition[];
  /** What of events and geofences is beyond the caps; null before the first event. */
  surplus: Surplus | null;
  /** What is known of the fuel; null before the first record of a vehicle whose fuel is measured. */
  fuel: FuelState | null;
  /** Null where nobody is known to drive. */
  shift: Shift | null;
  /** The last shifts that ended, the newest first. */
  pastShifts: readonly PastShift[];
  /** Up to which of the events of the packet in hand the driver is named. Not part of the checkpointed state. */
  named: number;
  /** Null where the vehicle has no sensors. */
  sensors: SensorStates | null;

  // What follows comes from the definitions and is not part of the checkpointed state.

  /** Null while the vehicle has no definition: then no geofence is evaluated. */
  definition: Vehicle | null;
  /** How the fuel is measured; null where it is not. */
  gauge: FuelGauge | null;
  /** What of its driving is harsh; null where nobody asked. */
  harsh: HarshLimits | null;
  /** The `origin` of new events. */
  origin: FleetEvent['origin'];
  /** The geofences of those owners who may see the vehicle. */
  watchers: OwnerFences[];
  /** Where each of the watchers' indexes found the newest good fix; see `steady-state.ts`. */
  cachedCells: CachedCell[];
  /**
   * Up to this speed nothing begins or ends while the vehicle stays in its cached cells; negative where something may
   * begin or end at any speed.
   */
  steadyLimitKmh: number;
  /** Over this speed, and up to the next, no trip and no stop begins or ends, … */
  steadyOverKmh: number;
  steadyKmh: number;
  /** … after a step of at most this time, … */
  steadyGapMs: number;
  /** … before this time, … */
  steadyUntilMs: number;
  /** … near the place where it stands; null where it moves. */
  steadyPlace: Moment | null;
  /** The engine's epoch that this was found out in. */
  steadyEpoch: number;
  /** In the engine's list of changed vehicles already. */
  dirty: boolean;
  /** In the engine's list of vehicles with a new status already. */
  updated: boolean;
}

/** The state of a vehicle of which nothing was received yet. */
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
    // Rarely needed: behind what each fix touches.
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

/** Order of stays and runs: the vehicle's own limit first, then by geofence id. */
export function orderOf(a: Fence | null, b: Fence | null): number {
  const left: GeofenceId | '' = a?.definition.id ?? '';
  const right: GeofenceId | '' = b?.definition.id ?? '';
  return left < right ? -1 : left > right ? 1 : 0;
}
