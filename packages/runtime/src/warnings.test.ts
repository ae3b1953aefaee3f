import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tellWarnings } from './warnings.ts';

let before: ReturnType<typeof process.listeners<'warning'>>;
beforeEach(() => {
  before = process.listeners('warning');
});
afterEach(() => {
  process.removeAllListeners('warning');
  for (const listener of before) process.on('warning', listener);
});

test('a warning is a line of the logger, and of a timer in the past there is none', async () => {
  const told: unknown[][] = [];
  const tell = (...line: unknown[]) => void told.push(line);
  tellWarnings({ debug: tell, info: tell, warn: tell, error: tell, fatal: tell });
  const warned = once(process, 'warning');
  process.emitWarning('-5 is a negative number', 'TimeoutNegativeWarning');
  process.emitWarning('mind the gap');
  await warned;
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toMatchObject([[{ err: { message: 'mind the gap' } }, 'warned']]);
});
