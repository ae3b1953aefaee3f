import { MAX_SPEED_KMH, type Position } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import type { Fence } from './geofences/fences.ts';
import type { Moment } from './vehicle-state.ts';

/**
 * Over a longer gap the path between two fixes is unknown: a crossing is placed at the fix (semantics, "Geofences").
 */
const MAX_GAP_MS = 5 * 60_000;

/**
 * The step from a vehicle's last good fix to the next. One object is reused for all steps to avoid allocation; do not
 * keep references to it.
 */
export class Step {
  /** Null where there is no path to the fix: it is the vehicle's first, or the last one turned out to be wrong. */
  from: Position | null = null;
  /** The last good fix, even where there is no path from it; null before the first. */
  last: Position | null = null;
  /** Speed at the last good fix. */
  fromSpeedKmh: number | null = null;
  to: Position;
  /** Since the last good fix, even if that turned out to be wrong; 0 at the first. */
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

  /** Great-circle distance between the two fixes in metres; 0 where there is no path. Computed on first use. */
  distanceM(): number {
    if (this.#distanceM < 0) {
      const { from, to } = this;
      this.#distanceM = from === null ? 0 : distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
    }
    return this.#distanceM;
  }

  /**
   * Speed at the fix: the terminal's; without it, distance over time since the last fix; without a path from the last
   * fix, the speed there; null at a first fix without a speed.
   */
  speedKmh(): number | null {
    const reported = this.to.speedKmh;
    if (isSpeed(reported)) return reported;
    return this.from === null ? this.fromSpeedKmh : this.impliedKmh();
  }

  /** Distance over time since the last fix; 0 where there is no path. */
  impliedKmh(): number {
    return (this.distanceM() * 3600) / this.elapsedMs;
  }
}

/** False where the terminal sends no speed, or an impossible one. */
export function isSpeed(speedKmh: number | null): speedKmh is number {
  return speedKmh !== null && speedKmh >= 0 && speedKmh <= MAX_SPEED_KMH;
}

/** Two fixes closer than this, in degrees of latitude or longitude, are at the same place. */
const SAME_PLACE_DEG = 3e-5;
/** If a fix is at the same place though its speed implies this distance, the terminal repeats an outdated speed. */
const MISSING_M = 20;

/** Whether a fix repeats the speed of the previous one at the same place. */
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

/** The moment of a fix. */
export function atFix(fix: Position, speedKmh: number | null): Moment {
  return { atMs: fix.fixTimeMs, latitude: fix.latitude, longitude: fix.longitude, speedKmh };
}

/** Place and time at which a step crossed a boundary. */
export interface Crossing {
  moment: Moment;
  /** Fraction of the step before the crossing: 0 to 1. */
  fraction: number;
  /** Time of the first fix from which the crossing was detected: the previous one, where it lies between two. */
  fromFixTimeMs: number;
}

/**
 * Where the segment between the two fixes crosses the boundary of a geofence, with the time interpolated along it to
 * whole milliseconds. At the fix itself where the gap is over 5 minutes, where there is no path to the fix, or where
 * the segment does not lead from one side to the other (the geofence changed, not the vehicle's place). Of several
 * crossings the first counts. The speed is that of the fix.
 */
export function crossingOf(fence: Fence, step: Step): Crossing {
  const { from, to } = step;
  const fraction = from === null || step.elapsedMs > MAX_GAP_MS ? null : fence.crossing(from, to);
  if (from === null || fraction === null)
    return { moment: atFix(to, step.speedKmh()), fraction: 1, fromFixTimeMs: to.fixTimeMs };
  return { moment: atFraction(from, step, fraction), fraction, fromFixTimeMs: from.fixTimeMs };
}

/**
 * Entry and exit of a geofence that the step passes through without a fix inside, both placed like crossings; null
 * where it does not, or the path is unknown.
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

/** Whether the path from the last fix is known well enough to determine what it passed through. */
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

/** A longitude between two others, along the shorter direction, from -180 to 180. */
function alongLongitude(from: number, to: number, fraction: number): number {
  let across = to - from;
  if (across > 180) across -= 360;
  else if (across < -180) across += 360;
  const longitude = from + across * fraction;
  return longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
}
