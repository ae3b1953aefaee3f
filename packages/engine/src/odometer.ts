import type { Position } from '@outrider/domain';
import { isTooFar } from './intake/jump.ts';

/**
 * Distance by the terminal's odometer, or by the fixes where the odometer is wrong: it stands still, counts in another
 * unit, or is always 0. Odometers in steps of a kilometre are right, but count part of each step late.
 */

/** Metres counted by odometer and fixes since they last agreed, and how much of it was added to the distance. */
export interface Disagreement {
  odometerM: number;
  fixesM: number;
  countedM: number;
}

/** An odometer disagrees with the fixes if it counts less than this share of the distance between them. */
const LEAST_SHARE = 0.5;
/** A disagreeing odometer is wrong if it lacks more than this. Jitter of a receiver in a traffic jam stays below. */
const MAX_LACKING_M = 500;

export function noDisagreement(): Disagreement {
  return { odometerM: 0, fixesM: 0, countedM: 0 };
}

/**
 * Metres that the odometer counted between two fixes; null without a reading, for a reading that is always 0, after a
 * reset, or for an impossible distance.
 */
export function odometerStepM(
  from: Pick<Position, 'odometerM'>,
  to: Pick<Position, 'odometerM'>,
  elapsedMs: number,
): number | null {
  if (from.odometerM === null || to.odometerM === null || to.odometerM === 0) return null;
  const metres = to.odometerM - from.odometerM;
  return metres >= 0 && !isTooFar(metres, elapsedMs) ? metres : null;
}

/**
 * Compares odometer and fixes over one more step, in metres each. Where the odometer is wrong, the fixes are counted,
 * also for the steps before. If it advances later, only what exceeds the counted distance is added.
 *
 * @param odometerM null without a reading: the fixes are counted, and the odometer neither agrees nor disagrees
 * @returns distance that the step adds
 */
export function countDistance(disagreement: Disagreement, odometerM: number | null, fixesM: number): number {
  if (odometerM === null) return fixesM;
  disagreement.odometerM += odometerM;
  disagreement.fixesM += fixesM;
  const { countedM } = disagreement;
  if (disagreement.odometerM >= disagreement.fixesM * LEAST_SHARE) {
    const addedM = Math.max(0, disagreement.odometerM - countedM);
    disagreement.odometerM = 0;
    disagreement.fixesM = 0;
    disagreement.countedM = 0;
    return addedM;
  }
  const isWrong = disagreement.fixesM - disagreement.odometerM > MAX_LACKING_M;
  const addedM = (isWrong ? disagreement.fixesM : disagreement.odometerM) - countedM;
  if (addedM <= 0) return 0;
  disagreement.countedM = countedM + addedM;
  return addedM;
}
