import { expect, test } from 'vitest';
import { linePath } from './line-path.ts';

test('from 0 to the highest, the newest at the end', () => {
  expect(linePath([0, 5, 10], 100, 54)).toBe('M0.0 52.0L50.0 27.0L100.0 2.0');
});

test('it breaks where nothing is known, and a single value is seen', () => {
  expect(linePath([null, 10, null, 10, 10], 100, 54)).toBe('M25.0 2.0h1M75.0 2.0L100.0 2.0');
  expect(linePath([4], 100, 54)).toBe('M0.0 2.0h100');
  expect(linePath([null, null], 100, 54)).toBe('');
  expect(linePath([0, 0], 100, 54)).toBe('M0.0 52.0L100.0 52.0');
});
