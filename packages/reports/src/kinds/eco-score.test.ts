import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DEFAULT_ECO_WEIGHTS,
  ECO_VIOLATIONS,
  type EcoAmounts,
  EcoMean,
  ecoPoints,
  ecoScore,
  readEcoWeights,
} from './eco-score.ts';

const amount = fc.double({ min: 0, max: 1e4, noNaN: true });
const amounts = fc
  .array(amount, { minLength: ECO_VIOLATIONS.length, maxLength: ECO_VIOLATIONS.length })
  .map((all) => Object.fromEntries(ECO_VIOLATIONS.map((name, nth) => [name, all[nth] ?? 0])) as EcoAmounts);
const weights = fc.oneof(
  fc.constant(readEcoWeights(DEFAULT_ECO_WEIGHTS)),
  amounts.map((all) => Object.fromEntries(ECO_VIOLATIONS.map((name) => [name, all[name] % 100])) as EcoAmounts),
);
const distance = fc.double({ min: 0, max: 1e7, noNaN: true });
const scoreOf = (of: EcoAmounts, by: EcoAmounts, distanceM: number) =>
  ecoScore(
    Object.values(ecoPoints(of, by)).reduce((a, b) => a + b, 0),
    distanceM,
  );

test('a score is from 0 to 100, and 100 without violations', () => {
  fc.assert(
    fc.property(amounts, weights, distance, (of, by, distanceM) => {
      const score = scoreOf(of, by, distanceM);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(100);
      expect(ecoScore(0, distanceM)).toBe(100);
    }),
    { numRuns: runs(1000) },
  );
});

test('more violations, and more points for them, never raise a score', () => {
  fc.assert(
    fc.property(
      ...([amounts, weights, distance, fc.constantFrom(...ECO_VIOLATIONS), amount] as const),
      (of, by, distanceM, violation, more) => {
        const score = scoreOf(of, by, distanceM);
        expect(scoreOf({ ...of, [violation]: of[violation] + more }, by, distanceM)).toBeLessThanOrEqual(score);
        expect(scoreOf(of, { ...by, [violation]: by[violation] + more }, distanceM)).toBeLessThanOrEqual(score);
      },
    ),
    { numRuns: runs(1000) },
  );
});

test('the mean lies between its scores, and a worse trip never raises it', () => {
  const trip = fc.tuple(fc.double({ min: 0, max: 100, noNaN: true }), fc.double({ min: 1, max: 1e6, noNaN: true }));
  const meanOf = (trips: readonly (readonly [number, number])[]) => {
    const mean = new EcoMean();
    for (const [score, distanceM] of trips) mean.add(score, distanceM);
    return mean.score ?? Number.NaN;
  };
  fc.assert(
    fc.property(fc.array(trip, { minLength: 1, maxLength: 20 }), (trips) => {
      const scores = trips.map(([score]) => score);
      const mean = meanOf(trips);
      expect(mean).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-9);
      expect(mean).toBeLessThanOrEqual(Math.max(...scores) + 1e-9);
      const [[score, distanceM], ...others] = trips as [[number, number], ...[number, number][]];
      expect(meanOf([[score / 2, distanceM], ...others])).toBeLessThanOrEqual(mean + 1e-9);
    }),
    { numRuns: runs(1000) },
  );
  expect(new EcoMean().score).toBeNull();
});

test('the formula, by hand', () => {
  const of = { speeding: 4, acceleration: 1, braking: 2, cornering: 0, idling: 10, 'over-revving': 3 };
  // 4×1 + 1×2 + 2×3 + 10×0.2 + 3×1 = 17 points on 50 km are 34 on 100 km.
  expect(scoreOf(of, readEcoWeights(DEFAULT_ECO_WEIGHTS), 50_000)).toBe(66);
  // A kilometre counts as five.
  expect(ecoScore(3, 1000)).toBe(40);
});

test('weights are read by name, and what is wrong is refused in words', () => {
  expect(readEcoWeights('braking=5,idling = 0')).toEqual({
    ...{ speeding: 1, acceleration: 2, braking: 5, cornering: 2, idling: 0, 'over-revving': 1 },
  });
  expect(() => readEcoWeights('')).toThrow('must be a name');
  expect(() => readEcoWeights('brake=5')).toThrow(
    'There is no violation brake. The violations are speeding, acceleration',
  );
  expect(() => readEcoWeights('braking=-5')).toThrow('“braking=-5” must be a name');
  expect(() => readEcoWeights('braking=5,braking=4')).toThrow('named twice');
  expect(() => readEcoWeights('braking=500')).toThrow('100 points at most');
});
