import { expect, test } from 'vitest';
import { nextRow } from './arrow-keys.ts';
import { placed, rowsWith } from './virtual-list.tsx';

test('arrow keys, Page Up, Page Down, Home and End go through the rows of a list, and stop at its ends', () => {
  const to = (key: string, index = 10) => nextRow(key, { index, count: 100, pageRows: 8 });
  expect(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'].map((key) => to(key))).toEqual([
    11, 9, 18, 2, 0, 99,
  ]);
  expect([to('ArrowUp', 0), to('ArrowDown', 99), to('PageDown', 95)]).toEqual([0, 99, 99]);
  expect(to('Tab')).toBeNull();
});

test('the row with the focus stays in the document wherever the list is scrolled to', () => {
  expect(rowsWith(null, 5, 8, 20)).toEqual([5, 6, 7]);
  expect(rowsWith(6, 5, 8, 20)).toEqual([5, 6, 7]);
  expect(rowsWith(2, 5, 8, 20)).toEqual([2, 5, 6, 7]);
  expect(rowsWith(12, 5, 8, 20)).toEqual([5, 6, 7, 12]);
  expect(rowsWith(20, 5, 8, 20)).toEqual([5, 6, 7]);
});

test('rows of a list have their places in the unit of the text', () => {
  expect(placed(3, 10, 3.75)).toMatchObject({ style: { insetBlockStart: '11.25rem' }, 'aria-posinset': 4 });
});
