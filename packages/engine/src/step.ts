import { MAX_SPEED_KMH, type Position } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import type { Fence } from './geofences/fences.ts';
import type { Moment } from './vehicle-state.ts';

/**
 * Over a longer gap nobody knows the way between two fixes: a crossing is placed at the fix (semantics, "Geofences").
 */
const MAX_GAP_MS = 5 * 60_000;

/**
 * The step from a vehicle's last good fix to the next. One object is used for all steps, so that a step costs nothing;
 * nothing may keep a reference to it.
 */
export class Step {
  /** Null where there is no way to the fix: it is the vehicle's first, or the one before turned out to be wrong. */
  from: Position | null = null;
  /** The last good fix, even where there is no way from it; null before the first. */
  last: Position | null = null;
  /** Speed at the last good fix. */
  fromSpeedKmh: number | null = null;
  to: Position;
  /** Since the last good fix, credible or not; 0 at the first. */
  elapsedMs = 0;
  #distanceM = -1;

  constructor(to: Position) {
    this.to = to;
  }

  /**
   * Makes this the step from the last good fix to the next.
   *
   * @param isWay false where the last one turned out to be wrong
   */
  set(last: Position | null, isWay: boolean, fromSpeedKmh: number | null, to: Position, elapsedMs: number): void {
    this.from = isWay ? last : null;
    this.last = last;
    this.fromSpeedKmh = fromSpeedKmh;
    this.to = to;
    this.elapsedMs = elapsedMs;
    this.#distanceM = -1;
  }

  /**
   * Length in metres of the great circle between the two fixes; 0 where there is no way. Computed once, when asked for.
   */
  distanceM(): number {
    if (this.#distanceM < 0) {
      const { from, to } = this;
      this.#distanceM = from === null ? 0 : distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
    }
    return this.#distanceM;
  }

  /**
   * Speed at the fix: the terminal's; where it gives none, distance over time since the last; where there is no way
   * from the last, its speed; null at a first fix without one.
   */
  speedKmh(): number | null {
    const reported = this.to.speedKmh;
    if (isSpeed(reported)) return reported;
    return this.from === null ? this.fromSpeedKmh : this.impliedKmh();
  }

  /** Distance over time since the last fix; 0 where there is no way. */
  impliedKmh(): number {
    return (this.distanceM() * 3600) / this.elapsedMs;
  }
}

/** False where the terminal gives no speed, or one that no vehicle drives. */
export function isSpeed(speedKmh: number | null): speedKmh is number {
  return speedKmh !== null && speedKmh >= 0 && speedKmh <= MAX_SPEED_KMH;
}

/** A vehicle that came less than this, in degrees of latitude or longitude, … */
const SAME_PLACE_DEG = 3e-5;
/** … where its speed would have taken it this far, stands: its terminal repeats a speed of before. */
const MISSING_M = 20;

/** True where a fix repeats the speed of the one before it at the same place. */
export function repeatsSpeed(from: Position, to: Position, elapsedMs: number): boolean {
  const { speedKmh } = to;
  return (
    speedKmh !== null &&
    speedKmh === from.speedKmh &&
    Math.abs(to.latitude - from.latitude) < SAME_PLACE_DEG &&
    Math.abs(to.longitude - from.longitude) < SAME_PLACE_DEG &&
    speedKmh * elapsedMs > MISSING_M * 3600
  );
}

/** The moment of a fix itself. */
export function atFix(fix: Position, speedKmh: number | null): Moment {
  return { atMs: fix.fixTimeMs, latitude: fix.latitude, longitude: fix.longitude, speedKmh };
}

/** Where and when a step crossed a boundary. */
export interface Crossing {
  moment: Moment;
  /** How much of the step lay before the crossing: 0 to 1. */
  fraction: number;
  /** Time of the first of the fixes that it was found by: the one before, where it lies between two. */
  fromFixTimeMs: number;
}

/**
 * Where the segment between the two fixes meets the boundary of a geofence, with the time interpolated along it to
 * whole milliseconds. At the fix itself where the gap is over 5 minutes, where there is no way to the fix, or where the
 * segment does not lead from one side of it to the other (the geofence came to the vehicle, not the vehicle to it).
 * Where it is met several times, the first counts. The speed is that of the fix.
 */
export function crossingOf(fence: Fence, step: Step): Crossing {
  const { from, to } = step;
  const fraction = from === null || step.elapsedMs > MAX_GAP_MS ? null : fence.crossing(from, to);
  if (from === null || fraction === null)
    return { moment: atFix(to, step.speedKmh()), fraction: 1, fromFixTimeMs: to.fixTimeMs };
  return { moment: atFraction(from, step, fraction), fraction, fromFixTimeMs: from.fixTimeMs };
}

/**
 * Entry and exit of a geofence that the step passes through without a fix inside, both placed as a crossing is; null
 * where it doesn't, or nobody knows the way.
 */
export function passageOf(fence: Fence, step: Step): { entry: Moment; exit: Moment; fromFixTimeMs: number } | null {
  const { from } = step;
  if (from === null || step.elapsedMs > MAX_GAP_MS) return null;
  const passage = fence.passage(from, step.to);
  if (passage === null) return null;
  const { entry, exit } = passage;
  const fromFixTimeMs = from.fixTimeMs;
  return { entry: atFraction(from, step, entry), exit: atFraction(from, step, exit), fromFixTimeMs };
}

/** True where the way from the last fix is known well enough to say what it passed through. */
export function isWayKnown(step: Step): boolean {
  return step.from !== null && step.elapsedMs <= MAX_GAP_MS;
}

function atFraction(from: Position, step: Step, fraction: number): Moment {
  const { to } = step;
  return {
    atMs: Math.round(from.fixTimeMs + step.elapsedMs * fraction),
    latitude: from.latitude + (to.latitude - from.latitude) * fraction,
    longitude: alongLongitude(from.longitude, to.longitude, fraction),
    speedKmh: step.speedKmh(),
  };
}

/** A longitude on the way from one to another, the shorter way round, from -180 to 180. */
function alongLongitude(from: number, to: number, fraction: number): number {
  let across = to - from;
  if (across > 180) across -= 360;
  else if (across < -180) across += 360;
  const longitude = from + across * fraction;
  return longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
}
