import type { Manoeuvre, Position, Vehicle } from '@outrider/domain';

/** Limits above which driving is harsh, in m/s². Infinite: no limit. */
export interface HarshLimits {
  accelerationMps2: number;
  brakingMps2: number;
  corneringMps2: number;
}

/** Harsh driving that positions show. */
export interface Harsh {
  manoeuvre: Manoeuvre;
  /** Acceleration, in m/s². */
  mps2: number;
}
export const NOTHING_HARSH: readonly Harsh[] = [];

/** Over a longer time a manoeuvre is averaged out, and one bend may have been two. */
const MAX_INTERVAL_MS = 5000;
/** Speeds have a resolution of 0.1 km/h, courses of 1°: over a shorter time their difference is mostly rounding. */
const MIN_INTERVAL_MS = 500;
/** Below this speed a receiver's course is noise. */
const MIN_CORNERING_KMH = 15;
/** Beyond the grip of tyres: one of the two fixes is wrong. */
const MAX_CREDIBLE_MPS2 = 12;

/** Null where no limit is set. */
export function harshLimitsOf(vehicle: Vehicle | null): HarshLimits | null {
  if (vehicle === null) return null;
  const { harshAccelerationMps2, harshBrakingMps2, harshCorneringMps2 } = vehicle;
  if (harshAccelerationMps2 === null && harshBrakingMps2 === null && harshCorneringMps2 === null) return null;
  return {
    accelerationMps2: harshAccelerationMps2 ?? Number.POSITIVE_INFINITY,
    brakingMps2: harshBrakingMps2 ?? Number.POSITIVE_INFINITY,
    corneringMps2: harshCorneringMps2 ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * Harsh driving between two good fixes, by the terminal's speeds and courses. Longitudinal acceleration is the change
 * of speed over time; lateral acceleration is the speed times the change of course over time.
 */
export function harshBetween(limits: HarshLimits, from: Position, to: Position): readonly Harsh[] {
  const elapsedMs = to.fixTimeMs - from.fixTimeMs;
  if (elapsedMs < MIN_INTERVAL_MS || elapsedMs > MAX_INTERVAL_MS) return NOTHING_HARSH;
  if (from.speedKmh === null || to.speedKmh === null) return NOTHING_HARSH;
  const found: Harsh[] = [];
  const gainMps2 = ((to.speedKmh - from.speedKmh) / 3.6 / elapsedMs) * 1000;
  if (isBetween(gainMps2, limits.accelerationMps2)) found.push({ manoeuvre: 'acceleration', mps2: gainMps2 });
  if (isBetween(-gainMps2, limits.brakingMps2)) found.push({ manoeuvre: 'braking', mps2: -gainMps2 });
  if (from.courseDeg === null || to.courseDeg === null) return found;
  if (Math.min(from.speedKmh, to.speedKmh) < MIN_CORNERING_KMH) return found;
  const turned = Math.abs(to.courseDeg - from.courseDeg) % 360;
  const turnRad = (Math.min(turned, 360 - turned) * Math.PI) / 180;
  const meanMps = (from.speedKmh + to.speedKmh) / 2 / 3.6;
  const acrossMps2 = (meanMps * turnRad * 1000) / elapsedMs;
  if (isBetween(acrossMps2, limits.corneringMps2)) found.push({ manoeuvre: 'cornering', mps2: acrossMps2 });
  return found;
}

function isBetween(mps2: number, limitMps2: number): boolean {
  return mps2 > limitMps2 && mps2 <= MAX_CREDIBLE_MPS2;
}
