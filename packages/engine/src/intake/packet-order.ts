import type { Position } from '@outrider/domain';

/**
 * Sorts a packet's positions by fix time; positions of one time keep their order. Many terminals send the newest record
 * of a packet first: unsorted, all others would be older than the newest, and late.
 *
 * @returns the same array where it is sorted already, as nearly all are: that costs one comparison per position
 */
export function inFixTimeOrder(positions: readonly Position[]): readonly Position[] {
  for (let i = 1; i < positions.length; i++)
    if ((positions[i] as Position).fixTimeMs < (positions[i - 1] as Position).fixTimeMs)
      return positions.toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
  return positions;
}
