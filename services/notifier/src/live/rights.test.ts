import type { FleetEvent, User } from '@outrider/domain';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Place, visit } from '../test-notifier.fixture.ts';

const PATIENCE = { timeout: 20_000, interval: 10 };

let place: Place;

beforeEach(async () => {
  place = await new Place().open();
});
afterEach(() => place.close());

/** Two accounts that see the same vehicle; the geofence is that of one of them. */
async function neighbours() {
  const group = await place.registry.groups.create({ name: 'Vans', dealerId: null });
  const owner = await place.addUser('owner', [group.id]);
  const neighbour = await place.addUser('neighbour', [group.id]);
  const vehicle = await place.addVehicle('Van', [group.id]);
  const secret = await place.addGeofence('Secret customer', owner.id);
  const own = await place.addGeofence('Depot', neighbour.id);
  await place.relay();
  return { owner, neighbour, vehicle, secret, own };
}

const geofencesOf = (messages: readonly Record<string, unknown>[]) => messages.map(({ geofenceId }) => geofenceId);

test('visits of a geofence reach those who may see the geofence, live and from a cursor', async () => {
  const { owner, neighbour, vehicle, secret, own } = await neighbours();
  await place.startLive();
  const clients = [await place.connect(owner), await place.connect(neighbour)] as const;
  const since = clients[0].of('resumed')[0]?.cursor;
  const both: FleetEvent[] = [visit(vehicle.id, secret, 0), visit(vehicle.id, own, 1)];
  await place.happen(...both);
  const expected = async (received: (user: User) => Promise<unknown[]>) => {
    expect(await received(owner)).toEqual([secret]);
    expect(await received(neighbour)).toEqual([own]);
  };
  await expected(async (user) => geofencesOf(await clients[user === owner ? 0 : 1].receives('event')));
  const returned = async (user: User) => geofencesOf((await place.connect(user, { all: true, since })).of('event'));
  await expected(returned);

  // The same from the log, by a notifier that knows nothing of what was sent.
  await place.startLive();
  await expected(returned);
});

test('visits of a deleted geofence reach its former owner alone, also after a restart', async () => {
  const { owner, neighbour, vehicle, secret, own } = await neighbours();
  await place.startLive();
  const mine = await place.connect(owner);
  const theirs = await place.connect(neighbour);
  const since = mine.of('resumed')[0]?.cursor;
  await place.registry.geofences.delete(secret, null);
  await place.relay();
  await place.happen(visit(vehicle.id, secret, 0), visit(vehicle.id, own, 1));
  expect(geofencesOf(await mine.receives('event'))).toEqual([secret]);
  expect(geofencesOf(await theirs.receives('event'))).toEqual([own]);

  await place.startLive();
  const again = async (user: User) => geofencesOf((await place.connect(user, { all: true, since })).of('event'));
  expect(await again(owner)).toEqual([secret]);
  expect(await again(neighbour)).toEqual([own]);
});

test('clients are sent on from their cursor when the owner of a deleted geofence cannot be read', async () => {
  const { owner, vehicle, secret } = await neighbours();
  await place.registry.geofences.delete(secret, null);
  await place.relay();
  let fails = true;
  await place.startLive({
    geofenceOwners: async (ids) => {
      if (fails) throw new Error('the registry does not answer');
      return place.registry.geofences.ownersOf(ids);
    },
  });
  const client = await place.connect(owner);
  const since = client.of('resumed')[0]?.cursor;
  await place.happen(visit(vehicle.id, secret, 0));
  await vi.waitFor(() => expect(client.socket.readyState).toBe(client.socket.CLOSED), PATIENCE);
  expect(client.of('event')).toEqual([]);
  fails = false;
  expect(geofencesOf((await place.connect(owner, { all: true, since })).of('event'))).toEqual([secret]);
});

test('withdrawing the right to use the API ends sockets of tokens at once, and lets no other in', async () => {
  const user = await place.addUser('program');
  await place.relay();
  await place.startLive({
    cookieSession: async ({ headers }) =>
      headers.cookie === undefined
        ? null
        : { userId: user.id, sessionId: user.id as never, expiresAtMs: Date.now() + 3_600_000, keyId: 'key' },
  });
  const byToken = await place.connect(user);
  const byCookie = await place.connect(user, { all: true }, { cookie: 'yes' });
  let code = 0;
  byToken.socket.on('close', (number) => {
    code = number;
  });
  await place.registry.users.update(user.id, null, { apiAccess: false });
  await place.relay();
  await vi.waitFor(() => expect(code).toBe(4403), PATIENCE);
  expect(byCookie.socket.readyState).toBe(byCookie.socket.OPEN);
  await expect(place.connect(user)).rejects.toThrow('403');
});
