import type { Geozone } from '@outrider/client';
import { expect, test } from 'vitest';
import { categoriesOf, matches, mayChange, mayDraw, NO_CATEGORY, whoseOf } from './whose.ts';

const geofence = (name: string, more: Partial<Geozone['properties']> = {}) =>
  ({
    id: name,
    properties: { name, ownerId: 'anna', category: null, sharedWithOrganisation: false, sharedGroupIds: [], ...more },
  }) as unknown as Geozone;
const anna = { id: 'anna', role: 'user', rights: ['edit-geofences'] } as const;
const ben = { id: 'ben', role: 'user', rights: ['edit-geofences'] } as const;
const dealer = { id: 'dealer', role: 'dealer', rights: [] } as const;
const operator = { id: 'op', role: 'operator', rights: [] } as const;

test('own ones are changed, shared ones by a dealer, all by an operator', () => {
  const plain = geofence('Home').properties;
  const shared = geofence('Depot', { sharedWithOrganisation: true }).properties;
  const given = geofence('Yard', { sharedGroupIds: ['g'] }).properties;
  expect([plain, shared, given].map((each) => whoseOf(each, anna))).toEqual(['own', 'own', 'own']);
  expect([plain, shared, given].map((each) => whoseOf(each, ben))).toEqual(['others', 'shared', 'shared']);
  expect([anna, ben, dealer, operator].map((viewer) => mayChange(plain, viewer))).toEqual([true, false, false, true]);
  expect([anna, ben, dealer, operator].map((viewer) => mayChange(shared, viewer))).toEqual([true, false, true, true]);
  const reader = { ...anna, rights: [] };
  expect([mayDraw(anna), mayDraw(reader), mayDraw(dealer)]).toEqual([true, false, true]);
  expect(mayChange(plain, reader)).toBe(false);
});

test('a list is narrowed by name, category and owner', () => {
  const all = [
    geofence('Depot 10', { category: 'Depot' }),
    geofence('Depot 9', { category: 'Depot', sharedWithOrganisation: true }),
    geofence('Home', { category: 'Ärzte' }),
    geofence('Nowhere'),
  ];
  expect(categoriesOf(all, 'de')).toEqual(['Ärzte', 'Depot']);
  const found = (filter: Partial<Parameters<typeof matches>[1]>, viewer = anna) =>
    all
      .filter((each) => matches(each, { search: '', category: null, whose: null, ...filter }, viewer as typeof anna))
      .map(({ id }) => id);
  expect(found({ search: 'depot' })).toEqual(['Depot 10', 'Depot 9']);
  expect(found({ category: 'Ärzte' })).toEqual(['Home']);
  expect(found({ category: NO_CATEGORY })).toEqual(['Nowhere']);
  expect(found({ whose: 'own' })).toHaveLength(4);
  expect(found({ whose: 'shared' }, ben as never)).toEqual(['Depot 9']);
});
