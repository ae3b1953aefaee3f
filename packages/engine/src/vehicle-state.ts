import type { EventId, GeofenceId, Position, Vehicle, VehicleId } from '@outrider/domain';
import type { Spot } from '@outrider/geo';
import type { Fence, OwnerFences } from './fences.ts';

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
 * - `entering`: inside, for less than the geofence's `minDwellSeconds`; nobody was told.
 * - `inside`: the visit's begin was told, or the stay is silent.
 * - `leaving`: outside, for less than `minDwellSeconds`; the visit goes on if the vehicle comes back in time.
 */
export interface Stay {
  fence: Fence;
  phase: 'entering' | 'inside' | 'leaving';
  /** True where the vehicle was found inside and not seen to enter: the begin is never told. */
  silent: boolean;
  /** Time of the fix (or, where silent, the moment) that the event's id is derived from. */
  beganAtMs: number;
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
  /** False while it has not lasted for the vehicle's `speedingMinSeconds`; nobody was told. */
  told: boolean;
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

/** All that the engine knows of one vehicle. */
export interface VehicleState {
  id: VehicleId;
  /** Offset of the last packet taken in; -1 before the first. */
  offset: number;
  /** The newest good fix, and when the gateway had it. */
  latest: Position | null;
  receivedAtMs: number;
  /** Speed at the newest good fix: the terminal's, or what the step to it implies. */
  speedKmh: number | null;
  suspects: Suspects | null;
  /** In the order of the geofences' ids, so that a restart changes no order of events. */
  stays: Stay[];
  /** The vehicle's own limit first, then in the order of the geofences' ids. */
  runs: SpeedingRun[];

  // What follows comes from the definitions and is not part of the checkpointed state.

  /** Null where no profile is known (yet, or any more): then nobody watches. */
  definition: Vehicle | null;
  /** The geofences of those owners who may see the vehicle. */
  watchers: OwnerFences[];
  /** Where each of the watchers' indexes found the newest good fix; see `calm.ts`. */
  spots: Spot[];
  /** Up to this speed nothing begins or ends while the vehicle stays in those spots; below 0 where something may at any. */
  calmKmh: number;
  /** The engine's epoch that this was found out in. */
  calmEpoch: number;
  /** In the engine's list of changed vehicles already. */
  dirty: boolean;
  /** In the engine's list of moved vehicles already. */
  moved: boolean;
}

/** The state of a vehicle of which nothing was heard yet. */
export function freshState(id: VehicleId): VehicleState {
  return {
    id,
    offset: -1,
    latest: null,
    receivedAtMs: 0,
    speedKmh: null,
    suspects: null,
    stays: [],
    runs: [],
    definition: null,
    watchers: [],
    spots: [],
    calmKmh: -1,
    calmEpoch: -1,
    dirty: false,
    moved: false,
  };
}

/** Order of stays and runs: the vehicle's own limit first, then by geofence id. */
export function orderOf(a: Fence | null, b: Fence | null): number {
  const left: GeofenceId | '' = a?.definition.id ?? '';
  const right: GeofenceId | '' = b?.definition.id ?? '';
  return left < right ? -1 : left > right ? 1 : 0;
}
