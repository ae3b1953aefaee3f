import { expect, test } from 'vitest';
import { fastest, percentile } from './measure.ts';

test('a percentile is the value of the nearest rank', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0, 0.2, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 1, 3, 5, 5]);
  expect(() => percentile([], 0.5)).toThrow(RangeError);
});

test('all are run in turn, three times at least', () => {
  const runs: string[] = [];
  const times = fastest({ a: () => runs.push('a'), b: () => runs.push('b') }, 0);
  expect(runs.join('')).toBe('ababab');
  expect(Number.isFinite(times.a + times.b)).toBe(true);
});
