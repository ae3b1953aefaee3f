import {
  blankPosition,
  COUNTERS_CHANNEL,
  DRIVER_ASSIGNMENT_CHANNEL,
  type FleetEvent,
  NOTIFICATIONS_READ_CHANNEL,
  type User,
  type Vehicle,
} from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NOON, Place, visit } from '../test-notifier.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

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

const BINARY = ['outrider.live.v1+binary'];
const changesOf = (messages: readonly Record<string, unknown>[]) =>
  messages.flatMap(({ changes }) => changes as { kind: string; id: string; change: string }[]);

test('a user that loses a group learns which vehicles are gone, and gets their state when it is given back', async () => {
  const vans = await place.registry.groups.create({ name: 'Vans', dealerId: null });
  const lorries = await place.registry.groups.create({ name: 'Lorries', dealerId: null });
  const user = await place.addUser('dispatcher', [vans.id, lorries.id]);
  const van = await place.addVehicle('Van', [vans.id]);
  const lorry = await place.addVehicle('Lorry', [lorries.id]);
  const both = await place.addVehicle('Both', [vans.id, lorries.id]);
  await place.relay();
  const at = (vehicle: Vehicle, nth: number) =>
    sampleStatus(vehicle.id, blankPosition(NOON + nth, 52.5, 13.4), NOON + nth);
  await place.hub.updateLatest([van, lorry, both].map((vehicle) => at(vehicle, 0)));
  await place.startLive();
  const wishes = { all: true, positions: true, states: true, definitions: true };
  const client = await place.connect(user, wishes, undefined, BINARY);
  const introduced = () => client.binary.flatMap(({ type, records }) => (type === 1 ? records : []));
  expect(
    introduced()
      .map(({ vehicleId }) => vehicleId)
      .toSorted(),
  ).toEqual([van.id, lorry.id, both.id].toSorted());

  await place.registry.groups.setUser(lorries.id, user.id, false);
  await place.relay();
  await vi.waitFor(
    () =>
      expect(changesOf(client.of('definition'))).toEqual(
        expect.arrayContaining([
          { kind: 'vehicle', id: lorry.id, change: 'removed', version: null },
          { kind: 'group', id: lorries.id, change: 'removed', version: null },
          { kind: 'user', id: user.id, change: 'changed', version: expect.any(Number) },
        ]),
      ),
    PATIENCE,
  );
  expect(changesOf(client.of('definition')).filter(({ id }) => id === van.id || id === both.id)).toEqual([]);
  await place.hub.updateLatest([at(lorry, 1000), at(van, 1000)]);
  const moved = () => client.binary.flatMap(({ type, records }) => (type === 2 ? records : []));
  await vi.waitFor(() => expect(moved()).toHaveLength(1), PATIENCE);
  const numberOf = (vehicle: Vehicle) => introduced().find(({ vehicleId }) => vehicleId === vehicle.id)?.number;
  expect(moved()[0]?.number).toBe(numberOf(van));

  await place.registry.groups.setUser(lorries.id, user.id, true);
  await place.relay();
  await vi.waitFor(
    () => expect(changesOf(client.of('definition')).at(-1)).toEqual(expect.objectContaining({ change: 'added' })),
    PATIENCE,
  );
  // Without a new record of the terminal: what is known is sent at once.
  await vi.waitFor(() => expect(moved().map(({ number }) => number)).toContain(numberOf(lorry)), PATIENCE);
  expect(moved().find(({ number }) => number === numberOf(lorry))?.fixTimeMs).toBe(NOON + 1000);
});

test('a vehicle that is new to a connection comes with its UUID, then by its number', async () => {
  const vans = await place.registry.groups.create({ name: 'Vans', dealerId: null });
  const user = await place.addUser('dispatcher', [vans.id]);
  await place.relay();
  await place.startLive();
  const client = await place.connect(user, { all: true, positions: true, states: true }, undefined, BINARY);
  const van = await place.addVehicle('Van', [vans.id]);
  await place.relay();
  const move = (nth: number) =>
    place.hub.updateLatest([sampleStatus(van.id, blankPosition(NOON + nth, 52.5, 13.4), NOON + nth)]);
  const types = () => client.binary.filter(({ isSnapshot }) => !isSnapshot).map(({ type }) => type);
  let moves = 0;
  await vi.waitFor(async () => {
    // Sent again until the connection knows the vehicle, which may already bring positions by number.
    await move(1000 * moves++);
    expect(types().at(0)).toBe(1);
  }, PATIENCE);
  await move(1000 * moves);
  await vi.waitFor(() => expect(types()).toContain(2), PATIENCE);
  expect(types().filter((type) => type === 1)).toHaveLength(1);
  const [first, second] = client.binary.filter(({ isSnapshot }) => !isSnapshot);
  expect(first?.records).toMatchObject([{ vehicleId: van.id, number: second?.records[0]?.number }]);
});

test('the number of unread notifications counts what the account may see now', async () => {
  const { owner, vehicle, secret } = await neighbours();
  await place.addRule(owner.id, { geofenceIds: [secret] });
  await place.addRule(owner.id, { name: 'Own', vehicleIds: [vehicle.id], eventKinds: ['geofence-visit'] });
  await place.relay();
  await place.startNotifications();
  await place.startLive();
  const client = await place.connect(owner, { all: true, unread: true });
  const counts = () => client.of('unread').map(({ count }) => count);
  const last = (count: number) => vi.waitFor(() => expect(counts().at(-1)).toBe(count), PATIENCE);
  await last(0);
  await place.happen(visit(vehicle.id, secret, 0));
  await last(2);
  const [first] = await place.registry.inboxes.after(owner.id, 0, 1);
  if (first === undefined) throw new Error('no notification');
  await place.registry.inboxes.markRead(owner.id, first.id);
  // As the API announces it.
  await place.hub.publish(NOTIFICATIONS_READ_CHANNEL, JSON.stringify({ userId: owner.id }));
  await last(1);
  await place.registry.users.update(owner.id, null, { groupIds: [] });
  await place.relay();
  await last(0);
});

/** Two drivers, one of them in the group of the neighbour. */
async function driven() {
  const { owner, neighbour, vehicle } = await neighbours();
  const [groupId] = neighbour.groupIds;
  const boss = await place.registry.users.create(
    { ...owner, login: 'boss', role: 'operator', groupIds: [] },
    'a long password',
  );
  const blank = { phone: null, licenceNumber: null, licenceExpiresOn: null, dealerId: null };
  const ivan = await place.registry.drivers.create({
    ...blank,
    name: 'Ivan',
    codes: ['A1'],
    groupIds: [groupId as never],
  });
  const olga = await place.registry.drivers.create({ ...blank, name: 'Olga', codes: ['B2'], groupIds: [] });
  await place.relay();
  const say = (driverCode: string, atMs: number) => {
    const activity = { state: 'moving', sinceMs: NOON, ignition: true, alarms: [], geofenceIds: [], speeding: [] };
    const status = sampleStatus(vehicle.id, blankPosition(atMs, 52, 13), atMs, {
      activity: { ...activity, driverCode } as never,
    });
    return place.hub.updateLatest([status]);
  };
  return { boss, neighbour, vehicle, ivan, olga, say };
}

test('who drives is in the state, by code and by hand, for those who may see the driver', async () => {
  const { boss, neighbour, vehicle, ivan, olga, say } = await driven();
  await place.startLive();
  await say('A1', NOON);
  const wish = { all: true, states: true, events: false };
  const clients = [await place.connect(boss, wish), await place.connect(neighbour, wish)] as const;
  const shown = (nth: 0 | 1) => {
    const states = clients[nth].received.flatMap((message) =>
      message.type === 'snapshot'
        ? (message.states as Record<string, unknown>[])
        : message.type === 'vehicle-state'
          ? [message]
          : [],
    );
    const { driver, driverCode } = states.at(-1) ?? {};
    return [(driver as { name: string } | null)?.name ?? null, driverCode];
  };
  const see = (both: unknown) => vi.waitFor(() => expect([shown(0), shown(1)]).toEqual(both), PATIENCE);
  await see([
    ['Ivan', 'A1'],
    ['Ivan', 'A1'],
  ]);
  await say('B2', NOON + 1000);
  await see([
    ['Olga', 'B2'],
    [null, 'B2'],
  ]);
  const nowMs = Date.now();
  const { id } = await place.registry.driverAssignments.create({
    vehicleId: vehicle.id,
    driverId: ivan.id,
    fromMs: nowMs - 1000,
    toMs: null,
  });
  await place.hub.publish(DRIVER_ASSIGNMENT_CHANNEL, JSON.stringify({ vehicleId: vehicle.id }));
  await see([
    ['Ivan', 'B2'],
    ['Ivan', 'B2'],
  ]);
  await place.registry.drivers.update(ivan.id, null, { name: 'Ivan Petrov', groupIds: [] });
  await place.relay();
  await see([
    ['Ivan Petrov', 'B2'],
    [null, 'B2'],
  ]);
  await place.registry.driverAssignments.delete(id);
  await place.registry.drivers.delete(olga.id, null);
  await place.hub.publish(DRIVER_ASSIGNMENT_CHANNEL, JSON.stringify({ vehicleId: vehicle.id }));
  await place.relay();
  await see([
    [null, 'B2'],
    [null, 'B2'],
  ]);
});

test('clients of the binary subprotocol are sent drivers as messages of their own', async () => {
  const { boss, neighbour, say } = await driven();
  await place.startLive();
  await say('A1', NOON);
  const binary = ['outrider.live.v1+binary'];
  const wish = { all: true, states: true, events: false };
  const clients = [
    await place.connect(boss, wish, undefined, binary),
    await place.connect(neighbour, wish, undefined, binary),
    await place.connect(boss, { ...wish, states: false }, undefined, binary),
  ] as const;
  await say('B2', NOON + 1000);
  const namesOf = (nth: 0 | 1 | 2) =>
    clients[nth]
      .of('vehicle-drivers')
      .flatMap(({ drivers }) => drivers as { driver: { name: string } | null }[])
      .map(({ driver }) => driver?.name ?? null);
  await vi.waitFor(
    () =>
      expect([namesOf(0), namesOf(1)]).toEqual([
        ['Ivan', 'Olga'],
        ['Ivan', null],
      ]),
    PATIENCE,
  );
  expect(namesOf(2)).toEqual([]);
});

test('clients of the binary subprotocol are sent how long the service had each position, where they ask for it', async () => {
  const { owner, vehicle } = await neighbours();
  await place.relay();
  await place.startLive();
  const arrives = (agoMs: number, latitude: number) => {
    const atMs = Date.now() - agoMs;
    return place.hub.updateLatest([sampleStatus(vehicle.id, blankPosition(atMs, latitude, 13), atMs)]);
  };
  await arrives(90_000, 52);
  const binary = ['outrider.live.v1+binary'];
  const wish = { all: true, positions: true, events: false };
  const asking = await place.connect(owner, { ...wish, delays: true }, undefined, binary);
  const other = await place.connect(owner, wish, undefined, binary);
  await arrives(3000, 53);
  const positions = (client: typeof asking) => client.binary.filter(({ type }) => type === 2);
  await vi.waitFor(
    () => expect([positions(asking), positions(other)].map(({ length }) => length)).toEqual([1, 1]),
    PATIENCE,
  );
  const [delayMs = 0] = positions(asking)[0]?.delaysMs ?? [];
  expect(delayMs).toBeGreaterThanOrEqual(3000);
  expect(delayMs).toBeLessThan(65_535);
  expect(positions(other)[0]?.delaysMs).toBeNull();
  // What is in the snapshot came long ago.
  expect(asking.binary[0]).toMatchObject({ type: 1, isSnapshot: true, delaysMs: null });
});

test('clients of the binary subprotocol are sent what is in a tank where it is another whole percent', async () => {
  const { owner, vehicle } = await neighbours();
  const stranger = await place.addUser('stranger', []);
  await place.relay();
  await place.startLive();
  const say = (levelL: number | null, atMs: number, change?: 'refuelling') =>
    place.hub.updateLatest([
      sampleStatus(vehicle.id, blankPosition(atMs, 52, 13), atMs, {
        ...(levelL !== null && { tank: { levelL, capacityL: 400, atMs, ...(change && { change }) } }),
      }),
    ]);
  await say(200, NOON);
  const binary = ['outrider.live.v1+binary'];
  const wish = { all: true, states: true, events: false };
  const clients = [
    await place.connect(owner, wish, undefined, binary),
    await place.connect(owner, { ...wish, states: false }, undefined, binary),
    await place.connect(stranger, wish, undefined, binary),
    await place.connect(owner, wish),
  ] as const;
  // The first is what was sent with the snapshot already; the second makes no other percent.
  for (const [nth, levelL] of [200, 199, 190, 190].entries())
    await say(levelL, NOON + 1000 * (nth + 1), nth === 3 ? 'refuelling' : undefined);
  await say(null, NOON + 5000);
  const tanks = (nth: 0 | 1 | 2 | 3) =>
    clients[nth].of('vehicle-tanks').flatMap((message) => message.tanks as Record<string, unknown>[]);
  const shown = { vehicleId: vehicle.id };
  await vi.waitFor(() => expect(tanks(0).at(-1)).toEqual({ ...shown, tank: null }), PATIENCE);
  const levels = tanks(0).map(({ tank }) => (tank as { levelL: number } | null)?.levelL ?? null);
  // What comes at once may be left out for what is newer.
  expect(levels[0]).toBe(200);
  expect(levels.length).toBeLessThan(6);
  expect(levels).not.toContain(199);
  expect(tanks(0)[0]).toEqual({
    ...shown,
    tank: { levelL: 200, percent: 50, at: new Date(NOON).toISOString(), change: null },
  });
  expect([tanks(1), tanks(2), tanks(3)]).toEqual([[], [], []]);
});

test('counters reach those who see the vehicle and asked for them, as they are when they are read', async () => {
  const { owner, vehicle } = await neighbours();
  const stranger = await place.addUser('stranger', []);
  const unwatched = await place.addVehicle('Unwatched', vehicle.groupIds);
  await place.relay();
  const reads: string[][] = [];
  let isBroken = true;
  await place.startLive({
    counters: async (vehicleIds) => {
      reads.push([...vehicleIds]);
      if (!isBroken) return place.registry.counters.of(vehicleIds);
      isBroken = false;
      throw new Error('the registry is away for a moment');
    },
  });
  const wish = { vehicles: [vehicle.id], counters: true, events: false };
  const clients = [
    await place.connect(owner, wish),
    await place.connect(owner, { ...wish, states: true }, undefined, ['outrider.live.v1+binary']),
    await place.connect(owner, { ...wish, counters: false }),
    await place.connect(stranger, wish),
  ] as const;
  const correct = (value: number) =>
    place.registry.counters.correct({
      vehicleId: vehicle.id,
      counter: 'odometer',
      atMs: NOON,
      value,
      note: null,
      createdBy: owner.id,
    });
  const announce = () =>
    place.hub.publish(COUNTERS_CHANNEL, JSON.stringify({ vehicleIds: [unwatched.id, vehicle.id, owner.id] }));
  await correct(1000);
  await announce();
  await correct(120_350_000.4);
  await announce();
  const shown = { vehicleId: vehicle.id, at: null, odometerM: 120_350_000, engineHours: 0, custom: [], settled: true };
  for (const nth of [0, 1] as const)
    await vi.waitFor(() => expect(clients[nth].of('vehicle-counters').at(-1)?.counters).toEqual([shown]), PATIENCE);
  expect([clients[2].of('vehicle-counters'), clients[3].of('vehicle-counters')]).toEqual([[], []]);
  // Read for those who listen alone, and again after it failed.
  expect(reads.length).toBeGreaterThan(1);
  expect(new Set(reads.flat())).toEqual(new Set([vehicle.id]));
});
