import type { Logger } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { refreshWithin } from './refresh-within.ts';

function recorded(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const line = (...args: unknown[]) => lines.push(String(args.at(-1)));
  return { logger: { warn: line, info: line } as unknown as Logger, lines };
}

test('a registry that does not answer keeps one caller waiting, and none after it until it answers again', async () => {
  const { logger, lines } = recorded();
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const clock = new VirtualClock();
  const refresh = refreshWithin(20, () => answered, logger, clock);
  const first = refresh();
  await clock.advance(19);
  expect(lines).toEqual([]);
  await clock.advance(1);
  await first;
  await Promise.all([refresh(), refresh()]);
  expect(lines).toEqual(['cannot refresh definitions; changes of other instances come later']);
  answer();
  await answered;
  await new Promise(setImmediate);
  expect(lines).toHaveLength(2);
  await refresh();
});

test('a registry that fails fails no call', async () => {
  const { logger, lines } = recorded();
  const refresh = refreshWithin(10_000, () => Promise.reject(new Error('gone')), logger);
  await refresh();
  await refresh();
  expect(lines).toHaveLength(1);
});
