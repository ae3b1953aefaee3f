import { expect, test } from 'vitest';
import { medianed, seriesOf, sumOf, valueAt } from './series.ts';

const AT = Date.parse('2026-01-15T12:00:00Z');
const row = (minute: number, mean: number | null, sensorId = 'a') => ({
  startedAt: new Date(AT + minute * 60_000).toISOString(),
  sensorId,
  mean,
});
const minutesOf = (seconds: readonly number[]) => seconds.map((second) => (second * 1000 - AT) / 60_000);

test('values stand in the middle of their intervals, and a silence breaks the line', () => {
  const series = seriesOf([row(0, 1), row(10, 2), row(20, null), row(90, 3), row(0, 7, 'b')], 30 * 60_000);
  const { seconds, values, stepMs } = series.get('a') ?? { seconds: [], values: [], stepMs: 0 };
  expect(stepMs).toBe(600_000);
  expect(values).toEqual([1, 2, null, 3]);
  expect(minutesOf(seconds).map(Math.round)).toEqual([5, 15, 15, 95]);
  expect(series.get('b')?.values).toEqual([7]);
});

test('the level of two tanks is their sum where both are known', () => {
  const series = seriesOf([row(0, 1), row(1, 2), row(2, 3), row(0, 10, 'b'), row(2, 30, 'b')], 3_600_000);
  const { seconds, values } = sumOf([...series.values()]);
  expect(values).toEqual([11, 33]);
  expect(minutesOf(seconds)).toEqual([0.5, 2.5]);
  expect(sumOf([]).values).toEqual([]);
});

test('the value of a time is the last one before it, and none in a gap', () => {
  const series = { seconds: [10, 20, 20.001, 40], values: [1, 2, null, 4], stepMs: 1000 };
  expect([5, 10, 19, 20, 30, 40, 99].map((second) => valueAt(series, second * 1000))).toEqual([
    null,
    1,
    1,
    2,
    null,
    4,
    4,
  ]);
});

test('a wrong value among others does not show', () => {
  const series = { seconds: [1, 2, 3, 4, 5], values: [10, 11, 90, 12, null], stepMs: 0 };
  expect(medianed(series).values).toEqual([11, 12, 12, 12, null]);
});
