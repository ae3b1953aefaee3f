import { blankPosition, type GroupId, type User, type VehicleId } from '@outrider/domain';
import { sampleStatus, sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import type { ApiKeyFields } from '@outrider/registry';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { NOON, Place, visit } from '../test-notifier.fixture.ts';

const PASSWORD = 'a long password';
const PATIENCE = { timeout: 60_000, interval: 10 };

let place: Place;
let anna: User;
let north: GroupId;
let south: GroupId;
let van: VehicleId;
let truck: VehicleId;

beforeEach(async () => {
  place = await new Place().open();
  const { registry } = place;
  north = (await registry.groups.create({ name: 'North', dealerId: null })).id;
  south = (await registry.groups.create({ name: 'South', dealerId: null })).id;
  anna = await registry.users.create(sampleUserFields({ login: 'anna', groupIds: [north, south] }), PASSWORD);
  van = (await registry.vehicles.create(sampleVehicleFields({ name: 'Van', groupIds: [north] }))).id;
  truck = (await registry.vehicles.create(sampleVehicleFields({ name: 'Truck', groupIds: [south] }))).id;
  await place.relay();
  await place.startLive();
});
afterEach(() => place.close());

async function make(more: Partial<ApiKeyFields> = {}) {
  const fields: ApiKeyFields = { name: 'ERP', scopes: ['read'], groupIds: null, expiresAtMs: null, ...more };
  const { key, text } = await place.registry.apiKeys.create(anna.id, fields);
  return { key, text, headers: { Authorization: `Bearer ${text}` } };
}

const vehiclesOf = (client: { of(type: string): Record<string, unknown>[] }) =>
  new Set(client.of('event').map(({ vehicleId }) => vehicleId));

/** What a connection that is not let in is answered, or closed with. */
async function refusalOf(headers: Record<string, string>, first: object | null = null): Promise<number> {
  const socket = new WebSocket(place.liveUrl, { headers });
  const { promise, resolve } = Promise.withResolvers<number>();
  socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0));
  socket.on('close', (code) => resolve(code));
  socket.on('error', () => {});
  if (first !== null) socket.on('open', () => socket.send(JSON.stringify(first)));
  const code = await promise;
  socket.terminate();
  return code;
}

test('a key that is limited to groups is sent what is of their vehicles, beside one that is not', async () => {
  const limited = await place.connect(
    anna,
    { all: true, positions: true },
    (await make({ groupIds: [north] })).headers,
  );
  const whole = await place.connect(anna, { all: true, positions: true }, (await make()).headers);
  await place.hub.updateLatest([truck, van].map((id) => sampleStatus(id, blankPosition(NOON, 52.5, 13.4), NOON)));
  const speeding = { kind: 'speeding', geofenceId: null, limitKmh: 30, peakKmh: 40, meanKmh: 40, distanceM: 0 };
  const events = [truck, van].map((id, nth) => ({
    ...visit(id, 'none' as never, nth),
    ...speeding,
    limitSource: 'vehicle',
  }));
  await place.happen(...(events as never[]));
  await vi.waitFor(() => expect(vehiclesOf(whole)).toEqual(new Set([truck, van])), PATIENCE);
  // The van's is the later one.
  await vi.waitFor(() => expect(vehiclesOf(limited)).toEqual(new Set([van])), PATIENCE);
  await whole.receives('position', 2);
  expect(new Set(limited.of('position').map(({ vehicleId }) => vehicleId))).toEqual(new Set([van]));
});

test('the first message takes a key as it takes a token', async () => {
  const { text } = await make();
  const socket = new WebSocket(place.liveUrl);
  const answer = new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))));
  socket.once('open', () => socket.send(JSON.stringify({ type: 'authorize', jwt: text })));
  expect(await answer).toEqual({ type: 'authorized' });
  socket.terminate();
});

test('without the scope "read" nobody listens; an unknown key is nobody', async () => {
  const { headers, text } = await make({ scopes: ['write', 'video'] });
  expect(await refusalOf(headers)).toBe(403);
  expect(await refusalOf({}, { type: 'authorize', jwt: text })).toBe(4403);
  expect(await refusalOf({ Authorization: `Bearer ${text.slice(0, -43)}${'A'.repeat(43)}x` })).toBe(401);
});

test('who loses the right to use the API loses the connections of keys', async () => {
  const client = await place.connect(anna, { all: true }, (await make()).headers);
  const closed = new Promise((resolve) => client.socket.once('close', resolve));
  await place.registry.users.update(anna.id, null, { apiAccess: false });
  await place.relay();
  expect(await closed).toBe(4403);
});

test('a key that is revoked or changed ends its connections, and no others', async () => {
  const kept = await place.connect(anna, { all: true }, (await make()).headers);
  const [revoked, changed] = [await make(), await make()];
  const closings: Promise<unknown>[] = [];
  for (const { headers } of [revoked, changed]) {
    const { socket } = await place.connect(anna, { all: true }, headers);
    closings.push(new Promise((resolve) => socket.once('close', resolve)));
  }
  await place.registry.apiKeys.delete(revoked.key.id, null);
  await place.registry.apiKeys.update(changed.key.id, null, { groupIds: [north] });
  expect(await Promise.all(closings)).toEqual([4401, 4412]);
  expect(kept.socket.readyState).toBe(WebSocket.OPEN);
});

test('the use of a key is noted', async () => {
  const { key, headers } = await make();
  await place.connect(anna, { all: true }, headers);
  await vi.waitFor(
    async () => expect((await place.registry.apiKeys.get(key.id))?.lastUsedAddress).toBe('127.0.0.1'),
    PATIENCE,
  );
});
