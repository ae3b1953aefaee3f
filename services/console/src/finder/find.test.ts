import { expect, test } from 'vitest';
import { type Entry, find, folded, indexed } from './find.ts';

const entry = (group: string, label: string, ...hints: string[]): Entry => ({ id: label, group, label, hints });
const ENTRIES = indexed([
  entry('vehicles', 'Van 12', 'OTR-212', '356307042441013'),
  entry('vehicles', 'Van 2', 'OTR-202'),
  entry('vehicles', 'Van 1', 'OTR-201'),
  entry('vehicles', 'Caravan', 'M 12'),
  entry('geofences', 'Vantaa depot'),
  entry('drivers', 'Zoë Håkan'),
  entry('screens', 'Vehicles'),
]);
const labels = (asked: string, perGroup = 10) => find(ENTRIES, asked, perGroup).entries.map(({ label }) => label);

test('the label itself comes before its beginning, that before beginnings of words, and numbers are in order', () => {
  expect(labels('van')).toEqual(['Van 1', 'Van 2', 'Van 12', 'Caravan', 'Vantaa depot']);
  expect(labels('van 1')).toEqual(['Van 1', 'Van 12', 'Caravan']);
  expect(labels('12 van')).toEqual(['Van 12', 'Caravan']);
});

test('hints are searched, case and accents make no difference, and every word must be there', () => {
  expect(labels('otr-212')).toEqual(['Van 12']);
  expect(labels('ZOE hak')).toEqual(['Zoë Håkan']);
  expect(labels('2441013')).toEqual(['Van 12']);
  expect(labels('van depot')).toEqual(['Vantaa depot']);
  expect(labels('van truck')).toEqual([]);
  expect(labels('  ')).toEqual([]);
  expect(folded(' Größe ·  Ё ')).toBe('große е');
});

test('of many in a group the best are shown, and all are counted', () => {
  const many = indexed(Array.from({ length: 10_000 }, (_, nth) => entry('vehicles', `Truck ${nth}`)));
  const found = find([...many, ...ENTRIES], 'truck 99', 3);
  expect(found.entries.map(({ label }) => label)).toEqual(['Truck 99', 'Truck 990', 'Truck 991']);
  expect(found.counts.get('vehicles')).toBe(many.filter(({ text }) => text.includes('99')).length);
});
