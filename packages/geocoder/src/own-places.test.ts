import type { Geofence, Shape } from '@outrider/domain';
import { expect, test } from 'vitest';
import { OwnPlaces } from './own-places.ts';

function geofence(name: string, shape: Shape): Geofence {
  return { name, shape } as Geofence;
}
const city = geofence('City', { type: 'circle', center: [27.56, 53.9], radiusM: 10_000 });
const depot = geofence('Depot', { type: 'circle', center: [27.5, 53.9], radiusM: 200 });
const island = geofence('Island', {
  type: 'polygon',
  rings: [
    [
      [179.9, -17],
      [-179.9, -17],
      [-179.9, -16],
      [179.9, -16],
      [179.9, -17],
    ],
  ],
});

test('the smallest geofence around a place', () => {
  const places = new OwnPlaces([city, depot, island]);
  const nameAt = (latitude: number, longitude: number) => places.around({ latitude, longitude })?.name ?? null;
  expect(nameAt(53.9, 27.5)).toBe('Depot');
  expect(nameAt(53.9, 27.51)).toBe('City');
  expect(nameAt(54.1, 27.5)).toBeNull();
});

test('across the date line, from either side', () => {
  const places = new OwnPlaces([island]);
  for (const longitude of [179.95, -179.95, 180, -180])
    expect(places.around({ latitude: -16.5, longitude })).toBe(island);
  expect(places.around({ latitude: -16.5, longitude: 0 })).toBeNull();
});
