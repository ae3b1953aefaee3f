import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { watchClock } from './clock-watch.ts';

test('a clock that is set back is reported, each time; one that is set ahead, or a little back, is not', async () => {
  const clock = new VirtualClock();
  const reported: number[] = [];
  const end = watchClock(8000, (byMs) => reported.push(byMs), clock);
  await clock.advance(60_000);
  clock.setForward(86_400_000);
  await clock.advance(2000);
  clock.setForward(-7000);
  await clock.advance(2000);
  expect(reported).toEqual([]);
  clock.setForward(-86_400_000);
  await clock.advance(10_000);
  clock.setForward(-9000);
  await clock.advance(2000);
  expect(reported).toEqual([86_400_000, 9000]);
  end();
  clock.setForward(-9000);
  await clock.advance(10_000);
  expect(reported.length).toBe(2);
});
