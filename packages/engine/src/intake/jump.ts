import { MAX_SPEED_KMH, type Position } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import type { Suspects } from '../vehicle-state.ts';

const MAX_M_PER_MS = MAX_SPEED_KMH / 3600;
/** Upper bound of a degree of a great circle on any sphere used for the Earth. */
const DEGREE_M = 111_700;
/** The anchor is replaced after this many fixes that contradict it and agree with each other, over this time. */
export const REANCHOR_FIXES = 3;
export const REANCHOR_MS = 2 * 60_000;

/** Time and place of a fix, for detecting jumps. Degrees, Unix milliseconds. */
export type FixPlace = Pick<Position, 'fixTimeMs' | 'latitude' | 'longitude'>;

/** Whether going from one place to the other in `elapsedMs` (above 0) requires more than 500 km/h. */
export function impliesJump(
  fromLatitude: number,
  fromLongitude: number,
  toLatitude: number,
  toLongitude: number,
  elapsedMs: number,
): boolean {
  const rangeM = elapsedMs * MAX_M_PER_MS;
  // The path along the meridian and then along the equator is never shorter than the great circle, and needs no cosine:
  // this decides nearly every step.
  const acrossDeg = Math.abs(toLongitude - fromLongitude);
  const detourDeg = Math.abs(toLatitude - fromLatitude) + (acrossDeg > 180 ? 360 - acrossDeg : acrossDeg);
  if (detourDeg * DEGREE_M <= rangeM) return false;
  return distanceM(fromLongitude, fromLatitude, toLongitude, toLatitude) > rangeM;
}

/** Whether this distance in `elapsedMs` (above 0) requires more than 500 km/h. */
export function isTooFar(metres: number, elapsedMs: number): boolean {
  return metres > elapsedMs * MAX_M_PER_MS;
}

/**
 * Adds a fix that was rejected as a jump to the evidence against the anchor.
 *
 * A single wrong fix must not lock out its vehicle, whether it is a new fix or the anchor. The implied speed is taken
 * over the time since the anchor, so that a step that is a jump now is not one later. After a wrong first fix on
 * another continent that would take most of a day. So rejected fixes are remembered: when three in a row agree (none
 * is a jump from the one before) and span two minutes, the anchor was wrong.
 */
export function suspectsAfter(suspects: Suspects | null, fix: FixPlace): Suspects {
  const { fixTimeMs, latitude, longitude } = fix;
  if (suspects !== null) {
    const elapsedMs = fixTimeMs - suspects.lastAtMs;
    // Older than the last suspect, or at the same time.
    if (elapsedMs <= 0) return suspects;
    if (!impliesJump(suspects.latitude, suspects.longitude, latitude, longitude, elapsedMs))
      return { count: suspects.count + 1, firstAtMs: suspects.firstAtMs, lastAtMs: fixTimeMs, latitude, longitude };
  }
  return { count: 1, firstAtMs: fixTimeMs, lastAtMs: fixTimeMs, latitude, longitude };
}

/** Whether the evidence is sufficient to take the last suspect as the vehicle's place. */
export function outweighAnchor(suspects: Suspects): boolean {
  return suspects.count >= REANCHOR_FIXES && suspects.lastAtMs - suspects.firstAtMs >= REANCHOR_MS;
}

/** State of a {@link JumpJudge}, as plain data that can be stored and resumed from. */
export interface JumpState {
  /** The last fix that moved the vehicle; null before the first. */
  anchor: FixPlace | null;
  suspects: Suspects | null;
}

/**
 * Decides which of a vehicle's good fixes move it, in order and by the engine's rules, for code that reads archived
 * fixes. Callers leave out fixes that are invalid or rejected.
 */
export class JumpJudge {
  #anchor: FixPlace | null;
  #suspects: Suspects | null;

  /** @param state state of a judge to resume from */
  constructor({ anchor, suspects }: JumpState = { anchor: null, suspects: null }) {
    this.#anchor = anchor;
    this.#suspects = suspects;
  }

  /**
   * Processes the next fix.
   *
   * @returns `moves`: the vehicle is there now; `jump`: too far for the time; `old`: not newer than the last that
   *   moved
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

/** 500 km/h lead to any place on Earth within this time: no fix is a jump from an older place. */
export const ANYWHERE_MS = Math.ceil(20_100_000 / MAX_M_PER_MS);
