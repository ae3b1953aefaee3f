import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crossSign } from './cross-sign.ts';

const SCALE = 2 ** 60;

/** Multiples of 2^-40: exact both as a double and as a whole number of 2^-60. */
const coordinate = fc.integer({ min: -(2 ** 47), max: 2 ** 47 }).map((n) => n * 2 ** -40);

function exactSign(u1: number, v1: number, u2: number, v2: number): number {
  const [a, b, c, d] = [u1, v1, u2, v2].map((n) => BigInt(n * SCALE)) as [bigint, bigint, bigint, bigint];
  const difference = c * b - a * d;
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

test('has the exact sign', () => {
  fc.assert(
    fc.property(coordinate, coordinate, coordinate, coordinate, (u1, v1, u2, v2) => {
      expect(Math.sign(crossSign(u1, v1, u2, v2))).toBe(exactSign(u1, v1, u2, v2));
    }),
  );
});

test('has the exact sign where the products round to the same number', () => {
  const nudge = fc.integer({ min: -3, max: 3 }).map((n) => n * 2 ** -40);
  let ties = 0;
  fc.assert(
    fc.property(coordinate, coordinate, nudge, nudge, (u, v, du, dv) => {
      const [u2, v2] = [u + du, v + dv];
      if (u2 * v === u * v2) ties++;
      expect(Math.sign(crossSign(u, v, u2, v2))).toBe(exactSign(u, v, u2, v2));
    }),
    { numRuns: runs(2000), examples: [[64.5, 64.5, 2 ** -40, 2 ** -40]] },
  );
  expect(ties).toBeGreaterThan(0);
});
