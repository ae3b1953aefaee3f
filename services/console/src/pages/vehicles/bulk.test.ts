import type { Vehicle } from '@outrider/client';
import { expect, test } from 'vitest';
import { chunks, MOST_UNDO_STEPS, refusals, undoSteps } from './bulk.ts';

const vehicle = (id: string, speedLimitKmh: number | null, color: string | null = null) =>
  ({ id, speedLimitKmh, color }) as Vehicle;

test('a change is undone by one call for each former value', () => {
  const before = [vehicle('a', 80), vehicle('b', null), vehicle('c', 80)];
  expect(undoSteps(before, { speedLimitKmh: 60 })).toEqual([
    { ids: ['a', 'c'], patch: { speedLimitKmh: 80 } },
    { ids: ['b'], patch: { speedLimitKmh: null } },
  ]);
  expect(undoSteps(before, { color: '#000000' })).toEqual([{ ids: ['a', 'b', 'c'], patch: { color: null } }]);
});

test('too many different values are not undone', () => {
  const before = Array.from({ length: MOST_UNDO_STEPS + 1 }, (_, n) => vehicle(`v${n}`, n + 1));
  expect(undoSteps(before, { speedLimitKmh: 60 })).toBeNull();
  expect(undoSteps(before.slice(1), { speedLimitKmh: 60 })).toHaveLength(MOST_UNDO_STEPS);
});

test('a long choice is parted into calls', () => {
  expect(chunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunks([])).toEqual([]);
});

test('errors find their vehicles by the place of the id', () => {
  const errors = [
    { pointer: '/ids/1', detail: 'There is no such vehicle.' },
    { pointer: '/patch/speedLimitKmh', detail: 'Too big.' },
  ];
  expect([...refusals(errors, ['a', 'b'])]).toEqual([['b', 'There is no such vehicle.']]);
});
