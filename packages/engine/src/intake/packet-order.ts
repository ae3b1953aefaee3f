import type { Position } from '@outrider/domain';

/**
 * A packet's positions in the order of their fix times; those of one time keep the order in which they stand. Many
 * terminals send the newest record of a packet first: taken as they stand, all but that one would be older than the
 * newest, and late.
 *
 * @returns the same array where it is in order already, as nearly all are: then it costs one comparison a position
 */
export function inFixTimeOrder(positions: readonly Position[]): readonly Position[] {
  for (let i = 1; i < positions.length; i++)
    if ((positions[i] as Position).fixTimeMs < (positions[i - 1] as Position).fixTimeMs)
      return positions.toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
  return positions;
}
