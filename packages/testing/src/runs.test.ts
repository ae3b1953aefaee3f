import { afterEach, expect, test, vi } from 'vitest';
import { hasAllInputs, runs } from './runs.ts';

afterEach(() => vi.unstubAllEnvs());

test.each([
  [undefined, 2000, 200],
  [undefined, 100, 20],
  [undefined, 12, 12],
  ['1', 2000, 2000],
  ['2.5', 10, 25],
])('TEST_RUNS=%s of %i is %i', (factor, full, expected) => {
  vi.stubEnv('TEST_RUNS', factor);
  expect(runs(full)).toBe(expected);
});

test.each([
  [undefined, false],
  ['0.9', false],
  ['1', true],
  ['5', true],
])('TEST_RUNS=%s asks for all inputs: %s', (factor, expected) => {
  vi.stubEnv('TEST_RUNS', factor);
  expect(hasAllInputs()).toBe(expected);
});

test.each(['0', '-1', 'full'])('TEST_RUNS=%s is refused', (factor) => {
  vi.stubEnv('TEST_RUNS', factor);
  expect(() => runs(100)).toThrow('TEST_RUNS');
});
