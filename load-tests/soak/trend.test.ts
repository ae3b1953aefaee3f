import { expect, test } from 'vitest';
import { isFlat, type Sample, trendOf } from './trend.ts';

const samples = (value: (at: number) => number): Sample[] =>
  Array.from({ length: 601 }, (_, at) => ({ at, value: value(at) }));

test('a rise is reported per minute, whatever fluctuates on top of it', () => {
  const sawtooth = (at: number) => (at % 17) * 20;
  const trend = trendOf(
    samples((at) => 500 + at / 6 + sawtooth(at)),
    200,
    20,
  );
  expect(trend?.perMinute).toBeCloseTo(10, 0);
  expect(trend?.rise).toBeGreaterThan(50);
  expect(trend && isFlat(trend, 0.05, 20)).toBe(false);
});

test('growth during the start that then stays is flat', () => {
  const trend = trendOf(
    samples((at) => Math.min(at, 150) * 4 + (at % 17) * 20),
    200,
    20,
  );
  expect(Math.abs(trend?.perMinute ?? 99)).toBeLessThan(2);
  expect(trend && isFlat(trend, 0.05, 20)).toBe(true);
});

test('without two windows there is no trend', () => {
  expect(trendOf([], 0, 10)).toBeNull();
  expect(trendOf([{ at: 5, value: 1 }], 0, 10)).toBeNull();
});
