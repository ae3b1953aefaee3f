import type { LiveRecord } from '@outrider/client';
import { afterEach, expect, test, vi } from 'vitest';
import { fleet, forgetDefinitions, hasNoVehicles, loadDefinitions, takeRecord } from './store.ts';
import { vehicle } from './test-fleet.fixture.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  forgetDefinitions();
});

const record = (vehicleId: string, latitude: number): LiveRecord => ({
  vehicleId,
  place: { latitude, longitude: 2, fixMs: 1000 * latitude, speedKmh: null, courseDeg: null } as never,
  state: 'moving',
  online: true,
  ignition: true,
  lastContactMs: 1000,
  hasAlarms: false,
});
const known = () => fleet.vehicles.map(({ id }) => id);
const latitudeOf = (id: string) => fleet.latitude[fleet.indexOf(id)];

test('vehicles appear page by page, where the live API said that they are before', async () => {
  const answers: ((body: unknown) => void)[] = [];
  vi.stubGlobal('fetch', async (address: string) =>
    address.startsWith('/api/v1/vehicles')
      ? Response.json(await new Promise((resolve) => answers.push(resolve)))
      : Response.json({ items: [], nextCursor: null }),
  );
  const loading = loadDefinitions();
  takeRecord(record('a', 1));
  takeRecord(record('b', 1));
  takeRecord(record('b', 3));
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  answers[0]?.({ items: [vehicle('a')], nextCursor: 'more' });
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  expect(known()).toEqual(['a']);
  expect([latitudeOf('a'), fleet.stateOf(0)]).toEqual([1, 'moving']);
  answers[1]?.({ items: [vehicle('b'), vehicle('c')], nextCursor: null });
  await loading;
  expect(known()).toEqual(['a', 'b', 'c']);
  expect(latitudeOf('b')).toBe(3);
  expect(fleet.hasPosition(fleet.indexOf('c'))).toBe(false);

  // Read again, as after a reconnect: what is gone is removed.
  vi.stubGlobal('fetch', async () => Response.json({ items: [vehicle('c')], nextCursor: null }));
  await loadDefinitions();
  expect(known()).toEqual(['c']);
});

test('that there are no vehicles is known once all are read', async () => {
  let items = [vehicle('a')];
  vi.stubGlobal('fetch', async (address: string) =>
    Response.json({ items: address.startsWith('/api/v1/vehicles') ? items : [], nextCursor: null }),
  );
  expect(hasNoVehicles()).toBe(false);
  await loadDefinitions();
  expect(hasNoVehicles()).toBe(false);
  items = [];
  await loadDefinitions();
  expect(hasNoVehicles()).toBe(true);
});
