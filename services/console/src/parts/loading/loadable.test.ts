import { effect } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Loadable } from './loadable.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Fails as often as it is said to, then gives `code`. */
function failing(failures: number) {
  const load = vi.fn(async () => {
    if (load.mock.calls.length <= failures) throw new Error('not there');
    return 'code';
  });
  return load;
}

test('what cannot be loaded is asked for again after pauses that double, and its error stays meanwhile', async () => {
  const load = failing(1000);
  const onFailure = vi.fn();
  const loadable = new Loadable(load, onFailure);
  const seen: unknown[] = [];
  const stop = effect(() => {
    seen.push(loadable.state.value);
  });
  const callsAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return load.mock.calls.length;
  };
  expect(await callsAfter(0)).toBe(1);
  expect([await callsAfter(999), await callsAfter(1)]).toEqual([1, 2]);
  expect([await callsAfter(1999), await callsAfter(1)]).toEqual([2, 3]);
  // 4, 8, 16 and 32 s later, then once a minute.
  expect([await callsAfter(60_000), await callsAfter(600_000)]).toEqual([7, 17]);
  expect(onFailure).toHaveBeenCalledTimes(17);
  expect(seen[0]).toBeNull();
  expect(seen.slice(1).every((state) => state instanceof Error)).toBe(true);
  stop();
  expect(await callsAfter(600_000)).toBe(17);
});

test('looking again and again asks no sooner, and what is there is loaded once', async () => {
  const load = failing(2);
  const loadable = new Loadable(load);
  for (let looks = 0; looks < 100; looks += 1) {
    effect(() => void loadable.state.value)();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(load).toHaveBeenCalledTimes(1);
  effect(() => void loadable.state.value);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(load).toHaveBeenCalledTimes(3);
  expect(loadable.state.value).toBe('code');
});

test('begun before somebody looks, it is loaded once', async () => {
  const load = failing(0);
  const loadable = new Loadable(load);
  loadable.begin();
  loadable.begin();
  effect(() => void loadable.state.value);
  await vi.advanceTimersByTimeAsync(0);
  expect(load).toHaveBeenCalledTimes(1);
  expect(loadable.state.value).toBe('code');
});
