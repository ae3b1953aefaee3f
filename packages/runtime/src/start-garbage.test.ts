import { expect, test } from 'vitest';
import { isCollectionDue, type Quiet } from './start-garbage.ts';

const MIB = 1024 * 1024;
const quiet: Quiet = {
  busyShare: 0.005,
  grownBytes: 60 * MIB,
  elapsedMs: Number.POSITIVE_INFINITY,
  heapBytes: 130 * MIB,
};

test('a quiet thread collects what a busy time left behind', () => {
  expect(isCollectionDue(quiet)).toBe(true);
});

test.each([
  ['a busy thread', { busyShare: 0.03 }],
  ['a thread whose heap is hardly larger than after the last collection', { grownBytes: 2 * MIB }],
  ['a thread that has collected a minute ago', { elapsedMs: 60_000 }],
  ['a thread with a large fleet, which is what its heap holds', { heapBytes: 1000 * MIB }],
])('%s does not', (_, difference) => {
  expect(isCollectionDue({ ...quiet, ...difference })).toBe(false);
});
