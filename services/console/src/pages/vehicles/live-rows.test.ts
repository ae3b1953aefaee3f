import { expect, test } from 'vitest';
import { Fleet } from '../../fleet/fleet.ts';
import { vehicle } from '../../fleet/test-fleet.fixture.ts';
import { LiveRows } from './live-rows.ts';

test('changed vehicles are shown as they are now, lost ones not at all, and new ones before they are known', () => {
  const fleet = new Fleet();
  const rows = new LiveRows();
  const [van, truck] = [vehicle('v1', { name: 'Van' }), vehicle('v2', { name: 'Truck' })];
  const names = () => rows.of([van, truck], fleet).map(({ name }) => name);
  expect(names()).toEqual(['Van', 'Truck']);
  fleet.define([van, truck]);
  fleet.put({ ...van, name: 'Old van' });
  expect(names()).toEqual(['Old van', 'Truck']);
  fleet.remove('v2');
  expect(names()).toEqual(['Old van']);
});
