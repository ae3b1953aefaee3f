import { expect, test } from 'vitest';
import { minimise } from './minimise.ts';

test('what is left is what it takes', async () => {
  const input = Buffer.concat([
    Buffer.alloc(700, 7),
    Buffer.from('one'),
    Buffer.alloc(300, 8),
    Buffer.from('two'),
    Buffer.alloc(99, 9),
  ]);
  const least = await minimise(input, (candidate) => candidate.includes('one') && candidate.includes('two'), 60_000);
  expect(least.toString()).toBe('onetwo');
});

test('without time, it is given back as it came', async () => {
  const input = Buffer.from('as it came');
  expect(await minimise(input, () => true, -1)).toEqual(input);
});
