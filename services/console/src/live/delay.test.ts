import { describe, expect, test } from 'vitest';
import { LiveDelay, RecentDelays } from './delay.ts';

describe('recent delays', () => {
  test('are summed up by what 99 of 100 do not exceed', () => {
    const delays = new RecentDelays();
    for (let ms = 1; ms <= 200; ms += 1) delays.add(ms, 1000);
    expect(delays.percentile(0.99, 1000)).toEqual({ ms: 198, count: 200 });
    expect(delays.percentile(0.5, 1000)).toEqual({ ms: 100, count: 200 });
    expect(delays.percentile(1, 1000)).toEqual({ ms: 200, count: 200 });
  });

  test('are rounded up, and beyond the longest they count as that', () => {
    const delays = new RecentDelays();
    delays.add(0.2, 0);
    expect(delays.percentile(1, 0)?.ms).toBe(1);
    delays.add(86_400_000, 0);
    expect(delays.percentile(1, 0)?.ms).toBe(5000);
    // Clocks of two machines differ.
    delays.add(-40, 0);
    expect(delays.percentile(0.3, 0)?.ms).toBe(0);
  });

  test('are those of the last minute: older ones are gone, also after a long pause', () => {
    const delays = new RecentDelays();
    expect(delays.percentile(0.99, 0)).toBeNull();
    delays.add(800, 0);
    for (const nowMs of [10_000, 30_000, 60_000]) delays.add(20, nowMs);
    expect(delays.percentile(1, 69_999)).toEqual({ ms: 800, count: 4 });
    expect(delays.percentile(1, 70_000)).toEqual({ ms: 20, count: 3 });
    delays.add(30, 10_000_000);
    expect(delays.percentile(1, 10_000_000)).toEqual({ ms: 30, count: 1 });
    expect(delays.percentile(1, 20_000_000)).toBeNull();
  });
});

describe('the delay from packet to picture', () => {
  const watched = () => {
    const delay = new LiveDelay();
    delay.isDrawn = () => true;
    delay.begin();
    delay.measured(6);
    return delay;
  };
  const p99 = (delays: RecentDelays, nowMs: number) => delays.percentile(0.99, nowMs)?.ms;

  test('is what the service took, half of the round trip, and what the page took', () => {
    const delay = watched();
    delay.arrived([12, 40], 1000);
    delay.arrived([9], 1010);
    delay.drawn(1016);
    expect(delay.total.percentile(1, 1016)).toEqual({ ms: 40 + 3 + 16, count: 3 });
    expect(delay.total.percentile(0.3, 1016)?.ms).toBe(9 + 3 + 6);
    expect([p99(delay.stages.service, 1016), p99(delay.stages.network, 1016), p99(delay.stages.page, 1016)]).toEqual([
      40, 3, 16,
    ]);
  });

  test('counts each position with the first picture that has it', () => {
    const delay = watched();
    delay.arrived([10], 1000);
    delay.drawn(1008);
    delay.drawn(1100);
    expect(delay.total.percentile(1, 1100)).toEqual({ ms: 21, count: 1 });
  });

  test('counts nothing while the map is not drawn, such as of a hidden tab, nor what waited meanwhile', () => {
    const delay = watched();
    let isDrawn = true;
    delay.isDrawn = () => isDrawn;
    delay.arrived([10], 1000);
    isDrawn = false;
    delay.arrived([10], 2000);
    isDrawn = true;
    delay.drawn(9000);
    expect(delay.total.percentile(1, 9000)).toBeNull();
    delay.arrived([10], 9000);
    delay.drawn(9004);
    expect(delay.total.percentile(1, 9004)).toEqual({ ms: 17, count: 1 });
  });

  test('is not known before the way to the service is, and anew with each connection', () => {
    const delay = watched();
    delay.begin();
    delay.arrived([10], 1000);
    delay.drawn(1008);
    expect(delay.total.percentile(1, 1008)).toBeNull();
    delay.measured(20);
    delay.drawn(1010);
    expect(delay.total.percentile(1, 1010)).toEqual({ ms: 30, count: 1 });
  });
});
