import { MAX_SPEED_KMH, type Position } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import type { Suspects } from '../vehicle-state.ts';

const MAX_M_PER_MS = MAX_SPEED_KMH / 3600;
/** More than a degree of a great circle is long on any sphere used for the Earth. */
const DEGREE_M = 111_700;
/** So many fixes that contradict the anchor and agree among themselves, over this time, replace it. */
export const REANCHOR_FIXES = 3;
export const REANCHOR_MS = 2 * 60_000;

/** Of a fix, what it takes to see a jump: when and where it was. Degrees, Unix milliseconds. */
export type FixPlace = Pick<Position, 'fixTimeMs' | 'latitude' | 'longitude'>;

/** True when going from one place to the other in `elapsedMs` (above 0) takes more than 500 km/h. */
export function impliesJump(
  fromLatitude: number,
  fromLongitude: number,
  toLatitude: number,
  toLongitude: number,
  elapsedMs: number,
): boolean {
  const rangeM = elapsedMs * MAX_M_PER_MS;
  // The way along the meridian and then along the equator is never shorter than the great circle, and needs no cosine:
  // it settles nearly every step.
  const acrossDeg = Math.abs(toLongitude - fromLongitude);
  const detourDeg = Math.abs(toLatitude - fromLatitude) + (acrossDeg > 180 ? 360 - acrossDeg : acrossDeg);
  if (detourDeg * DEGREE_M <= rangeM) return false;
  return distanceM(fromLongitude, fromLatitude, toLongitude, toLatitude) > rangeM;
}

/** True when so many metres in `elapsedMs` (above 0) take more than 500 km/h. */
export function isTooFar(metres: number, elapsedMs: number): boolean {
  return metres > elapsedMs * MAX_M_PER_MS;
}

/**
 * Takes a fix that was turned away as a jump into the evidence against the anchor.
 *
 * A single wrong fix must not lock its vehicle out, whichever one it is. Two things heal it. The implied speed is taken
 * over the time since the anchor, so a step that is a jump now is not one later; but a wrong first fix on another
 * continent would take most of a day. So the fixes turned away are kept in mind: when three in a row agree among
 * themselves (none is a jump from the one before) and span two minutes, it was the anchor that was wrong.
 */
export function suspectsAfter(suspects: Suspects | null, fix: FixPlace): Suspects {
  const { fixTimeMs, latitude, longitude } = fix;
  if (suspects !== null) {
    const elapsedMs = fixTimeMs - suspects.lastAtMs;
    // Older than the last, or the same again.
    if (elapsedMs <= 0) return suspects;
    if (!impliesJump(suspects.latitude, suspects.longitude, latitude, longitude, elapsedMs))
      return { count: suspects.count + 1, firstAtMs: suspects.firstAtMs, lastAtMs: fixTimeMs, latitude, longitude };
  }
  return { count: 1, firstAtMs: fixTimeMs, lastAtMs: fixTimeMs, latitude, longitude };
}

/** True when the evidence is enough to take the last suspect for the vehicle's place. */
export function outweighAnchor(suspects: Suspects): boolean {
  return suspects.count >= REANCHOR_FIXES && suspects.lastAtMs - suspects.firstAtMs >= REANCHOR_MS;
}

/** State of {@link JumpJudge} after a vehicle's fixes, as plain data that can be stored and resumed from. */
export interface JumpState {
  /** The last fix that moved the vehicle; null before the first. */
  anchor: FixPlace | null;
  suspects: Suspects | null;
}

/**
 * Decides which of a vehicle's good fixes move it, in order and as the engine does, for code that reads archived fixes.
 * Callers leave out fixes that are invalid or rejected.
 */
export class JumpJudge {
  #anchor: FixPlace | null;
  #suspects: Suspects | null;

  /** @param state to go on from: of a judge that saw the fixes before */
  constructor({ anchor, suspects }: JumpState = { anchor: null, suspects: null }) {
    this.#anchor = anchor;
    this.#suspects = suspects;
  }

  /**
   * Takes the next fix.
   *
   * @returns `moves`: the vehicle is there now; `jump`: nobody gets there in the time; `old`: not newer than the last
   *   that moved
   */
  judge(fix: FixPlace): 'moves' | 'jump' | 'old' {
    const anchor = this.#anchor;
    if (anchor !== null) {
      const elapsedMs = fix.fixTimeMs - anchor.fixTimeMs;
      if (elapsedMs <= 0) return 'old';
      if (impliesJump(anchor.latitude, anchor.longitude, fix.latitude, fix.longitude, elapsedMs)) {
        this.#suspects = suspectsAfter(this.#suspects, fix);
        if (!outweighAnchor(this.#suspects) || this.#suspects.lastAtMs !== fix.fixTimeMs) return 'jump';
      }
    }
    this.#suspects = null;
    this.#anchor = fix;
    return 'moves';
  }

  get state(): JumpState {
    const anchor = this.#anchor;
    return {
      anchor: anchor && { fixTimeMs: anchor.fixTimeMs, latitude: anchor.latitude, longitude: anchor.longitude },
      suspects: this.#suspects,
    };
  }
}

/** After this time 500 km/h lead anywhere: no fix is a jump from a place that is this old. */
export const ANYWHERE_MS = Math.ceil(20_100_000 / MAX_M_PER_MS);
