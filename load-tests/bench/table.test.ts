import { expect, test } from 'vitest';
import { facts, renderTable, wrapped } from './table.ts';

test('a table lines up its columns, numbers to the right', () => {
  expect(
    renderTable({
      title: 'Codecs',
      columns: ['protocol', 'positions/s', 'ratio'],
      rows: [
        ['teltonika', 1_234_567.8, 0.5],
        ['osmand', 900, null],
      ],
    }),
  ).toBe(
    [
      'Codecs',
      '─────────────────────────────',
      'protocol   positions/s  ratio',
      '─────────────────────────────',
      'teltonika    1,234,568   0.50',
      'osmand             900      –',
    ].join('\n'),
  );
});

test('facts are listed under their paths', () => {
  expect(facts('t', { a: 1, b: { c: 'x', d: [2, null] }, e: true }).rows).toEqual([
    ['a', 1],
    ['b.c', 'x'],
    ['b.d.0', 2],
    ['b.d.1', null],
    ['e', 'yes'],
  ]);
});

test('a text is broken between words, and its further lines are indented', () => {
  expect(wrapped('- one two three', '  ', 9)).toBe('- one two\n  three');
  expect(wrapped('unbreakable', '', 4)).toBe('unbreakable');
});
