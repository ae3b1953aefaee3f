import type { LiveRecord, Vehicle } from '@outrider/client';
import { afterEach, expect, test, vi } from 'vitest';
import { fleet, forgetDefinitions, hasNoVehicles, loadDefinitions, takeRecord } from './store.ts';
import { LINES, linesResponse, vehicle } from './test-fleet.fixture.ts';

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
const listOf = (address: string, vehicles: readonly Vehicle[]) =>
  address === '/api/v1/vehicles' ? linesResponse(vehicles) : Response.json({ items: [], nextCursor: null });
const known = () => fleet.vehicles.map(({ id }) => id);
const latitudeOf = (id: string) => fleet.latitude[fleet.indexOf(id)];

test('vehicles appear as they come, where the live API said that they are before', async () => {
  const lines = new TransformStream<string, string>();
  const writer = lines.writable.getWriter();
  const send = (...vehicles: Vehicle[]) => writer.write(vehicles.map((each) => `${JSON.stringify(each)}\n`).join(''));
  vi.stubGlobal('fetch', async (address: string) =>
    address === '/api/v1/vehicles'
      ? new Response(lines.readable.pipeThrough(new TextEncoderStream()), LINES)
      : Response.json({ items: [], nextCursor: null }),
  );
  const loading = loadDefinitions();
  takeRecord(record('a', 1));
  takeRecord(record('b', 1));
  takeRecord(record('b', 3));
  await send(vehicle('a'));
  await vi.waitFor(() => expect(known()).toEqual(['a']));
  expect([latitudeOf('a'), fleet.stateOf(0)]).toEqual([1, 'moving']);
  await send(vehicle('b'), vehicle('c'));
  await writer.close();
  await loading;
  expect(known()).toEqual(['a', 'b', 'c']);
  expect(latitudeOf('b')).toBe(3);
  expect(fleet.hasPosition(fleet.indexOf('c'))).toBe(false);

  // Read again, as after a reconnect: what is gone is removed.
  vi.stubGlobal('fetch', async (address: string) => listOf(address, [vehicle('c')]));
  await loadDefinitions();
  expect(known()).toEqual(['c']);
});

test('that there are no vehicles is known once all are read', async () => {
  let items = [vehicle('a')];
  vi.stubGlobal('fetch', async (address: string) => listOf(address, items));
  expect(hasNoVehicles()).toBe(false);
  await loadDefinitions();
  expect(hasNoVehicles()).toBe(false);
  items = [];
  await loadDefinitions();
  expect(hasNoVehicles()).toBe(true);
});

test('a list that breaks off removes nothing', async () => {
  vi.stubGlobal('fetch', async (address: string) => listOf(address, [vehicle('a'), vehicle('b')]));
  await loadDefinitions();
  const broken = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(`${JSON.stringify(vehicle('b', { plate: 'NEW' }))}\n{"id"`));
    },
    pull(controller) {
      controller.error(new TypeError('network error'));
    },
  });
  vi.stubGlobal('fetch', async (address: string) =>
    address === '/api/v1/vehicles' ? new Response(broken, LINES) : listOf(address, []),
  );
  await loadDefinitions();
  expect(known()).toEqual(['a', 'b']);
  expect(fleet.vehicles[1]?.plate).toBe('NEW');
});
