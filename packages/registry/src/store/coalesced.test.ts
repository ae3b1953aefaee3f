import { expect, test } from 'vitest';
import { coalesced } from './coalesced.ts';

test('a caller gets a run that began after its call, and shares it with those that called meanwhile', async () => {
  let begun = 0;
  const ends: (() => void)[] = [];
  const run = coalesced(() => {
    begun += 1;
    return new Promise((resolve) => ends.push(resolve));
  });
  const first = run();
  const others = Array.from({ length: 100 }, () => run());
  expect(begun).toBe(1);
  ends[0]?.();
  await first;
  await new Promise(setImmediate);
  expect(begun).toBe(2);
  let isDone = false;
  void others[0]?.then(() => {
    isDone = true;
  });
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  ends[1]?.();
  await Promise.all(others);
  expect(begun).toBe(2);
});

test('a run that fails fails for those that share it, and for nobody after them', async () => {
  let fails = true;
  const run = coalesced(async () => {
    await new Promise(setImmediate);
    if (fails) throw new Error('no answer');
  });
  const first = run();
  const second = run();
  await expect(first).rejects.toThrow('no answer');
  fails = false;
  await second;
  await run();
});
