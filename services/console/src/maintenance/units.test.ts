import { expect, test } from 'vitest';
import { metresOf, shownDistance } from './units.ts';

test('a distance that was entered is shown as it was entered', () => {
  expect(metresOf(120_350, 'metric')).toBe(120_350_000);
  expect(metresOf(100, 'imperial')).toBe(160_934);
  for (const units of ['metric', 'imperial'] as const)
    expect(shownDistance(metresOf(12_345, units), units)).toBeCloseTo(12_345, 2);
});
