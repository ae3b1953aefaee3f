import { expect, test } from 'vitest';
import { differencesOf, valueText } from './differences.ts';

test('fields that differ, also those that came or went', () => {
  expect(differencesOf({ name: 'A', groupIds: ['1'], plate: 'X' }, { name: 'B', groupIds: ['1'], vin: 'V' })).toEqual([
    { name: 'name', before: 'A', after: 'B' },
    { name: 'plate', before: 'X', after: undefined },
    { name: 'vin', before: undefined, after: 'V' },
  ]);
  expect(differencesOf(null, { login: 'anna' })).toEqual([{ name: 'login', before: undefined, after: 'anna' }]);
  expect(differencesOf(null, null)).toEqual([]);
});

test('values as they are read', () => {
  expect([undefined, null, '', 'Van', 0, false, ['a']].map(valueText)).toEqual([
    '–',
    '–',
    '–',
    'Van',
    '0',
    'false',
    '["a"]',
  ]);
  expect(valueText('x'.repeat(1000))).toHaveLength(301);
});
