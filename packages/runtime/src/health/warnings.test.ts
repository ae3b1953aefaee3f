import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { logWarnings } from './warnings.ts';

let before: ReturnType<typeof process.listeners<'warning'>>;
beforeEach(() => {
  before = process.listeners('warning');
});
afterEach(() => {
  process.removeAllListeners('warning');
  for (const listener of before) process.on('warning', listener);
});

test('warnings are logged, except those of timers in the past', async () => {
  const logged: unknown[][] = [];
  const log = (...line: unknown[]) => void logged.push(line);
  logWarnings({ debug: log, info: log, warn: log, error: log, fatal: log });
  const warned = once(process, 'warning');
  process.emitWarning('-5 is a negative number', 'TimeoutNegativeWarning');
  process.emitWarning('mind the gap');
  await warned;
  await new Promise((resolve) => setImmediate(resolve));
  expect(logged).toMatchObject([[{ err: { message: 'mind the gap' } }, 'warning of Node.js or a library']]);
});
