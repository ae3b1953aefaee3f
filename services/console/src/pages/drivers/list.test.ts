import type { Driver } from '@outrider/client';
import { expect, test } from 'vitest';
import { codesIn, driverFilterOf, isFiltered, passesDriver } from './list.ts';

const anna: Driver = {
  id: 'anna',
  name: 'Anna Berg',
  codes: ['0100000F28F8E5'],
  phone: '+49 151 22',
  licenceNumber: 'B072',
  licenceExpiresOn: null,
  licence: 'expires-soon',
  dealerId: null,
  externalId: null,
  customAttributes: {},
  groupIds: ['north'],
};

test('a driver is found by name, phone, licence and code, however the code is written', () => {
  const found = (q: string) => passesDriver(anna, driverFilterOf(new URLSearchParams({ q })));
  expect(['anna', 'BERG', '151', 'b07', '01:00:00', '0f28', ''].map(found)).not.toContain(false);
  expect(['olga', '99', ':'].map(found)).toEqual([false, false, false]);
});

test('filters by group and licence come from the address, and what is no licence state is no filter', () => {
  const passes = (query: Record<string, string>) => passesDriver(anna, driverFilterOf(new URLSearchParams(query)));
  expect(passes({ group: 'north', licence: 'expires-soon' })).toBe(true);
  expect(passes({ group: 'south' })).toBe(false);
  expect(passes({ licence: 'expired' })).toBe(false);
  expect(passes({ licence: 'lost' })).toBe(true);
  expect(isFiltered(driverFilterOf(new URLSearchParams('licence=lost')))).toBe(false);
});

test('codes are parted by lines, commas and semicolons', () => {
  expect(codesIn(' A1\n\nB 2, C3;A1 ')).toEqual(['A1', 'B 2', 'C3']);
});
