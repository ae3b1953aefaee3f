import { expect, test } from 'vitest';
import { engineSpeedRpm } from './engine-speed.ts';

test('an engine idles, is shifted up in time, and later by who is in a rush', () => {
  expect([0, 5].map((kmh) => engineSpeedRpm(kmh, false))).toEqual([800, 800]);
  for (let kmh = 0; kmh <= 125; kmh += 1) expect(engineSpeedRpm(kmh, false)).toBeLessThanOrEqual(2400);
  expect([20, 55, 125].map((kmh) => engineSpeedRpm(kmh, false))).toEqual([1333, 2292, 2315]);
  expect(engineSpeedRpm(55, true)).toBe(3667);
  for (let kmh = 0; kmh <= 125; kmh += 1) expect(engineSpeedRpm(kmh, true)).toBeLessThanOrEqual(3900);
});
