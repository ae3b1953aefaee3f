import { REPORT_KINDS } from '@outrider/reports';
import { afterEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let world: World;
afterEach(() => world?.close());

interface Kind {
  kind: string;
  hasTimeRange: boolean;
  parameters: Record<string, unknown>;
  columns: { name: string; unit: string | null; total: string | null }[];
  formats: string[];
}

test('every kind says its columns with units, its parameters and its formats', async () => {
  world = await World.open();
  const { body } = await world.call('GET', '/api/v1/reports', await world.member('anna'));
  const kinds = new Map((body.items as Kind[]).map((each) => [each.kind, each]));
  expect([...kinds.keys()]).toEqual(REPORT_KINDS.map(({ name }) => name));
  const unitsOf = (kind: string) =>
    Object.fromEntries(kinds.get(kind)?.columns.map(({ name, unit, total }) => [name, [unit, total]]) ?? []);
  expect(unitsOf('trips')).toMatchObject({
    vehicleName: [null, null],
    durationSeconds: ['s', 'sum'],
    startLatitude: ['deg', null],
    distanceM: ['m', 'sum'],
    maxKmh: ['km/h', 'max'],
    meanKmh: ['km/h', null],
  });
  expect(unitsOf('mileage').trips).toEqual([null, 'sum']);
  expect(unitsOf('utilisation')).toMatchObject({ hour: [null, null], share: ['ratio', null] });
  expect(unitsOf('current-state')).toMatchObject({ odometerM: ['m', null], supplyV: ['V', null], fuelL: ['l', null] });
  expect(kinds.get('trips')).toMatchObject({
    groupings: ['vehicle', 'driver', 'day'],
    charts: [{ shape: 'bars', measure: 'durationSeconds', by: 'day' }, { by: 'vehicle' }],
  });
  expect(kinds.get('utilisation')).toMatchObject({ charts: [{ measure: 'tripSeconds', by: 'hour' }] });
  expect(kinds.get('track')).toMatchObject({ groupings: [], charts: [] });
  expect(kinds.get('track')?.formats).toContain('gpx');
  expect(kinds.get('trips')?.formats).not.toContain('gpx');
  expect(kinds.get('current-state')?.hasTimeRange).toBe(false);
  expect(kinds.get('events')?.parameters.eventKinds).toMatchObject({ values: expect.arrayContaining(['speeding']) });
  expect(kinds.get('geozone-visits')?.parameters).toMatchObject({ geozoneId: true, shape: true, period: null });
});
