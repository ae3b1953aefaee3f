import { expect, test } from 'vitest';
import { Fleet } from './fleet.ts';
import { countStates, type Filter, listed, type Sort } from './listing.ts';
import { setState, vehicle } from './test-fleet.fixture.ts';

const ALL: Filter = { search: '', groupId: null, state: null, only: null };
const fleet = new Fleet();
fleet.define([
  vehicle('1', { name: 'Van 10', plate: 'AB-123' }),
  vehicle('2', { name: 'Van 9', groupIds: ['north'] }),
  vehicle('3', { name: 'truck', terminalId: '356307', externalId: 'FLEET-3', groupIds: ['north'] }),
]);
setState(fleet, '1', 'offline', 5000);
setState(fleet, '2', 'parking', 9000);
setState(fleet, '3', 'moving', 7000);

const names = (filter: Partial<Filter> = {}, sort: Sort = 'name') =>
  listed(fleet, { ...ALL, ...filter }, sort, 'en').map((index) => fleet.vehicles[index]?.name);

test('by name as people count, by state what moves first, by contact the newest first', () => {
  expect(names()).toEqual(['truck', 'Van 9', 'Van 10']);
  expect(names({}, 'state')).toEqual(['truck', 'Van 9', 'Van 10']);
  expect(names({}, 'contact')).toEqual(['Van 9', 'truck', 'Van 10']);
});

test('finds by name, plate and terminal', () => {
  expect(names({ search: 'van' })).toEqual(['Van 9', 'Van 10']);
  expect(names({ search: 'b-12' })).toEqual(['Van 10']);
  expect(names({ search: '6307' })).toEqual(['truck']);
  expect(names({ search: 'fleet-3' })).toEqual(['truck']);
  expect(names({ search: 'nothing' })).toEqual([]);
});

test('finds by who drives', () => {
  fleet.setDriving('2', { driver: { id: 'd', name: 'Anna Berg' }, code: 'A1' });
  expect(names({ search: 'berg' })).toEqual(['Van 9']);
  fleet.setDriving('2', null);
  expect(names({ search: 'berg' })).toEqual([]);
});

test('filters by group, state and favourites together', () => {
  expect(names({ groupId: 'north' })).toEqual(['truck', 'Van 9']);
  expect(names({ groupId: 'north', state: 'parking' })).toEqual(['Van 9']);
  expect(names({ only: new Set(['1', '2']), search: '9' })).toEqual(['Van 9']);
});

test('counts by state what the rest of the filter lets through', () => {
  const counts = countStates(fleet, { ...ALL, groupId: 'north', state: 'offline' });
  expect(counts).toEqual({ moving: 1, parking: 1, idling: 0, offline: 0, unknown: 0 });
});

test('the order follows a vehicle that gets another name, and one that is gone', () => {
  const own = new Fleet();
  own.define([vehicle('1', { name: 'B' }), vehicle('2', { name: 'C' }), vehicle('3', { name: 'D' })]);
  const order = () => listed(own, ALL, 'name', 'en').map((index) => own.vehicles[index]?.name);
  expect(order()).toEqual(['B', 'C', 'D']);
  own.put(vehicle('3', { name: 'A' }));
  expect(order()).toEqual(['A', 'B', 'C']);
  own.remove('1');
  expect(order()).toEqual(['A', 'C']);
});
