import { expect, test } from 'vitest';
import { ConnectionCounts } from './connection-counts.ts';

test('one key cannot take the places of others, and all together not more than the total', () => {
  const counts = new ConnectionCounts({ total: 4, perKey: 2 });
  expect([counts.admit('a'), counts.admit('a'), counts.admit('a')]).toEqual([null, null, 'key']);
  expect([counts.admit('b'), counts.admit(null), counts.admit('c')]).toEqual([null, null, 'total']);
  expect([counts.total, counts.of('a'), counts.of('c')]).toEqual([4, 2, 0]);
  counts.release(null);
  counts.release('a');
  expect([counts.admit('a'), counts.admit('c'), counts.total]).toEqual([null, null, 4]);
});

test('keys without connections are forgotten', () => {
  const counts = new ConnectionCounts({ total: 1, perKey: 1 });
  for (let nth = 0; nth < 1000; nth++) {
    expect(counts.admit(`${nth}`)).toBeNull();
    counts.release(`${nth}`);
  }
  expect(counts.total).toBe(0);
  expect(counts.of('999')).toBe(0);
});
