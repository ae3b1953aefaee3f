import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextAttemptAtMs } from './backoff.ts';

const DAY_MS = 86_400_000;

test('waits grow three times with each attempt, give or take three tenths, up to four hours', () => {
  const waits = Array.from({ length: 10 }, (_, nth) => nextAttemptAtMs(nth + 1, 0, 10 * DAY_MS, null, 0.5));
  expect(waits.slice(0, 4)).toEqual([5000, 15_000, 45_000, 135_000]);
  expect(waits.at(-1)).toBe(4 * 3_600_000);
  expect(nextAttemptAtMs(1, 0, DAY_MS, null, 0)).toBe(3500);
  expect(nextAttemptAtMs(1, 0, DAY_MS, null, 1)).toBe(6500);
});

test('however chance falls, a day of attempts ends, and none is after it or before the receiver asked for', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), fc.nat(7_200_000), (chance, asked) => {
      let nowMs = 0;
      let attempts = 1;
      for (const random of chance) {
        const next = nextAttemptAtMs(attempts, nowMs, DAY_MS, asked, random);
        if (next === null) break;
        expect(next).toBeGreaterThanOrEqual(nowMs + Math.max(asked, 3500));
        expect(next).toBeLessThanOrEqual(DAY_MS);
        nowMs = next;
        attempts += 1;
      }
      expect(attempts).toBeGreaterThan(5);
      expect(attempts).toBeLessThan(25);
    }),
  );
});
