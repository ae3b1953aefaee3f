import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchClock } from './clock-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a clock that is set back is reported, each time; one that is set ahead, or a little back, is not', () => {
  let offsetMs = 0;
  const reported: number[] = [];
  const steadyMs = () => performance.now();
  const end = watchClock(8000, (byMs) => reported.push(byMs), { steadyMs, wallMs: () => steadyMs() + offsetMs });
  vi.advanceTimersByTime(60_000);
  offsetMs += 86_400_000;
  vi.advanceTimersByTime(2000);
  offsetMs -= 7000;
  vi.advanceTimersByTime(2000);
  expect(reported).toEqual([]);
  offsetMs -= 86_400_000;
  vi.advanceTimersByTime(10_000);
  offsetMs -= 9000;
  vi.advanceTimersByTime(2000);
  expect(reported).toEqual([86_400_000, 9000]);
  end();
  offsetMs -= 9000;
  vi.advanceTimersByTime(10_000);
  expect(reported.length).toBe(2);
});
