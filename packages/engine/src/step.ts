import type { Position } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import type { Fence } from './fences.ts';
import type { Moment } from './vehicle-state.ts';

/** Over a longer gap nobody knows the way between two fixes: a crossing is placed at the fix (semantics, "Geofences"). */
const MAX_GAP_MS = 5 * 60_000;

/**
 * The step from a vehicle's last good fix to the next. One object is used for all steps, so that a step costs nothing;
 * nothing may keep a reference to it.
 */
export class Step {
  /** Null where there is no way to the fix: it is the vehicle's first, or the one before turned out to be wrong. */
  from: Position | null = null;
  fromSpeedKmh: number | null = null;
  to: Position;
  /** Since the last good fix, credible or not; 0 at the first. */
  elapsedMs = 0;
  #distanceM = -1;

  constructor(to: Position) {
    this.to = to;
  }

  /** Makes this the step between two fixes. */
  set(from: Position | null, fromSpeedKmh: number | null, to: Position, elapsedMs: number): void {
    this.from = from;
    this.fromSpeedKmh = fromSpeedKmh;
    this.to = to;
    this.elapsedMs = elapsedMs;
    this.#distanceM = -1;
  }

  /** Length in metres of the great circle between the two fixes; 0 where there is no way. Computed once, when asked for. */
  distanceM(): number {
    if (this.#distanceM < 0) {
      const { from, to } = this;
      this.#distanceM = from === null ? 0 : distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
    }
    return this.#distanceM;
  }

  /**
   * Speed at the fix: the terminal's; where it gives none, distance over time since the last; where there is no way from
   * the last, its speed; null at a first fix without one.
   */
  speedKmh(): number | null {
    const told = this.to.speedKmh;
    if (told !== null && told >= 0 && told < Number.POSITIVE_INFINITY) return told;
    return this.from === null ? this.fromSpeedKmh : (this.distanceM() * 3600) / this.elapsedMs;
  }
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
}

/**
 * Where the segment between the two fixes meets the boundary of a geofence, with the time interpolated along it to whole
 * milliseconds. At the fix itself where the gap is over 5 minutes, where there is no way to the fix, or where the segment
 * does not lead from one side of it to the other (the geofence came to the vehicle, not the vehicle to it). Where it is met
 * several times, the first counts. The speed is that of the fix.
 */
export function crossingOf(fence: Fence, step: Step): Crossing {
  const { from, to } = step;
  const fraction = from === null || step.elapsedMs > MAX_GAP_MS ? null : fence.crossing(from, to);
  if (from === null || fraction === null) return { moment: atFix(to, step.speedKmh()), fraction: 1 };
  return {
    moment: {
      atMs: Math.round(from.fixTimeMs + step.elapsedMs * fraction),
      latitude: from.latitude + (to.latitude - from.latitude) * fraction,
      longitude: alongLongitude(from.longitude, to.longitude, fraction),
      speedKmh: step.speedKmh(),
    },
    fraction,
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
