import {
  blankPosition,
  type CommandId,
  type CommandNews,
  type CommandOrder,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  type User,
  VEHICLE_COMMAND_CHANNEL,
  type VehicleActivity,
  type VehicleCommand,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleStatus, sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { NOON, Place, visit } from '../test-notifier.fixture.ts';

/** Pairs of a caller and a message that could be sent to it. */
const PAIRS = Number(process.env.LIVE_PAIRS ?? runs(5000));
const SEED = Number(process.env.RIGHTS_SEED ?? Date.now() % 1_000_000_000);
const PATIENCE = { timeout: 60_000, interval: 10 };
const PASSWORD = 'a long password';

/** Numbers stand for one of however many there are. */
const number = fc.nat({ max: 1000 });
const some = fc.array(number, { maxLength: 3 });
const blueprint = fc.record({
  groups: fc.array(number, { minLength: 2, maxLength: 4 }),
  users: fc.array(
    fc.record({
      dealer: number,
      groups: some,
      commands: fc.constantFrom('none' as const, 'some' as const, 'all' as const),
    }),
    {
      minLength: 2,
      maxLength: 5,
    },
  ),
  vehicles: fc.array(fc.record({ dealer: number, groups: some, isSuspended: fc.boolean() }), {
    minLength: 3,
    maxLength: 8,
  }),
  geofences: fc.array(
    fc.record({
      owner: number,
      isDeleted: fc.boolean(),
      isShared: fc.boolean(),
      groups: fc.oneof(fc.constant<number[]>([]), some),
    }),
    { minLength: 4, maxLength: 10 },
  ),
});

interface Subject {
  id: VehicleId;
  dealer: User | null;
  groups: readonly GroupId[];
  isSuspended?: boolean;
}

/** An account that calls with an API key for some groups: as if it were a user who was given these and no more. */
interface KeyCaller extends User {
  account: User;
  key: string;
}
const keyOf = (caller: User): string | null => (caller as Partial<KeyCaller>).key ?? null;
const accountOf = (caller: User): User | null => (caller as Partial<KeyCaller>).account ?? null;
const headersOf = (caller: User) => ({
  Authorization: keyOf(caller) === null ? `JWT ${caller.id}` : `Bearer ${keyOf(caller)}`,
});

/** By the words of the design, and on purpose not by the code that it judges. */
function lists(caller: User, vehicle: Subject): boolean {
  // A key never has more than its account.
  const account = accountOf(caller);
  if (account !== null && !lists(account, vehicle)) return false;
  if (caller.role === 'operator') return true;
  if (caller.role === 'dealer') return vehicle.dealer?.id === caller.id;
  return vehicle.groups.some((group) => caller.groupIds.includes(group));
}
/** What the terminal of a suspended vehicle says is for operators alone; its profile is there for all who had it. */
function sees(caller: User, vehicle: Subject): boolean {
  return (!vehicle.isSuspended || caller.role === 'operator') && lists(caller, vehicle);
}
function keeps(caller: User, user: User): boolean {
  return (
    caller.role === 'operator' || user.id === caller.id || (caller.role === 'dealer' && user.dealerId === caller.id)
  );
}
function knows(caller: User, zone: Zone): boolean {
  const { owner, isShared, groups } = zone;
  const account = accountOf(caller);
  if (account !== null && !knows(account, zone)) return false;
  const dealer = owner.role === 'dealer' ? owner.id : owner.dealerId;
  return (
    caller.role === 'operator' ||
    owner.id === caller.id ||
    (caller.role === 'dealer' && dealer === caller.id) ||
    (caller.role === 'user' && isShared && dealer === caller.dealerId) ||
    (caller.role === 'user' && groups.some((group) => caller.groupIds.includes(group)))
  );
}

function mayAsk(caller: User, type: CommandOrder['type']): boolean {
  if (caller.role !== 'user') return true;
  return caller.services.includes('commands') && (type !== 'text' || caller.services.includes('command-text'));
}

interface Zone {
  id: GeofenceId;
  owner: User;
  isDeleted: boolean;
  isShared: boolean;
  groups: readonly GroupId[];
}

test(`${PAIRS} pairs of a caller and a live message, in random organisations (RIGHTS_SEED=${SEED})`, {
  timeout: 600_000,
}, async () => {
  const tally = { pairs: 0, received: 0 };
  await fc.assert(
    fc.asyncProperty(blueprint, async (plan) => {
      if (tally.pairs >= PAIRS) return;
      const place = await new Place().open();
      try {
        await everyMessage(place, plan, tally);
      } finally {
        await place.close();
      }
    }),
    { numRuns: 10_000, seed: SEED, endOnFailure: true },
  );
  expect(tally.pairs).toBeGreaterThanOrEqual(PAIRS);
  // Isolation would be vain where nobody receives anything.
  expect(tally.received).toBeGreaterThan(tally.pairs / 20);
});

type Blueprint = typeof blueprint extends fc.Arbitrary<infer T> ? T : never;

async function everyMessage(place: Place, plan: Blueprint, tally: { pairs: number; received: number }): Promise<void> {
  const { registry } = place;
  const pick = <T>(list: readonly T[], nth: number) => list[nth % list.length] as T;
  const add = (login: string, more: Partial<User>) =>
    registry.users.create(sampleUserFields({ login, ...more }), PASSWORD);

  const operator = await add('operator', { role: 'operator' });
  const dealers = [await add('dealer-1', { role: 'dealer' }), await add('dealer-2', { role: 'dealer' })];
  const groups: { id: GroupId; dealer: User }[] = [];
  for (const [nth, dealer] of plan.groups.entries()) {
    const owner = pick(dealers, dealer);
    groups.push({ dealer: owner, id: (await registry.groups.create({ name: `Group ${nth}`, dealerId: owner.id })).id });
  }
  const users: User[] = [];
  for (const [nth, { dealer, groups: named, commands: granted }] of plan.users.entries()) {
    const groupIds = [...new Set(named.map((each) => pick(groups, each).id))];
    const dealerId = pick(dealers, dealer).id;
    users.push(await add(`user-${nth}`, { role: 'user', dealerId, groupIds, services: SERVICES[granted] }));
  }
  const accounts = [operator, ...dealers, ...users];
  const callers = [...accounts];

  const vehicles: Subject[] = [];
  const addVehicle = async (dealer: User | null, groupIds: readonly GroupId[]): Promise<Subject> => {
    const fields = sampleVehicleFields({ name: `Vehicle ${vehicles.length}`, dealerId: dealer?.id ?? null, groupIds });
    const subject = { id: (await registry.vehicles.create(fields)).id, dealer, groups: groupIds };
    vehicles.push(subject);
    return subject;
  };
  for (const { dealer, groups: named, isSuspended } of plan.vehicles) {
    const vehicle = await addVehicle(pick(dealers, dealer), [...new Set(named.map((each) => pick(groups, each).id))]);
    if (!isSuspended) continue;
    await registry.vehicles.suspend(vehicle.id, { reason: 'An invoice is unpaid.', by: 'dealer' });
    vehicle.isSuspended = true;
  }
  // Each caller's last group changes last: a caller that has received this change has received everything.
  const last: Subject[] = [];
  for (const [nth, caller] of accounts.entries()) {
    const { id } = await registry.groups.create({ name: `Last ${nth}`, dealerId: null });
    if (caller.role === 'user') {
      await registry.groups.setUser(id, caller.id, true);
      callers[nth] = { ...caller, groupIds: [...caller.groupIds, id] };
    }
    last.push(await addVehicle(caller.role === 'dealer' ? caller : null, [id]));
  }
  // One account of each role once more, with a key that allows its last vehicle's group and one that others have.
  for (const nth of [0, 1, accounts.length - 1]) {
    const account = callers[nth] as User;
    const groupIds = [pick(groups, nth).id, ...(last[nth]?.groups ?? [])];
    const fields = { name: 'Key', scopes: ['read', 'commands'] as const, groupIds, expiresAtMs: null };
    const { text } = await registry.apiKeys.create(account.id, fields);
    const isUser = account.role === 'user';
    const caller: KeyCaller = {
      ...account,
      role: 'user',
      dealerId: account.role === 'dealer' ? account.id : account.dealerId,
      groupIds: isUser ? groupIds.filter((id) => account.groupIds.includes(id)) : groupIds,
      services: isUser ? account.services : SERVICES.all,
      account,
      key: text,
    };
    callers.push(caller);
    last.push(last[nth] as Subject);
  }
  const geofences: Zone[] = [];
  for (const [nth, { owner: of, isDeleted, isShared, groups: named }] of plan.geofences.entries()) {
    const owner = pick(callers.slice(0, accounts.length), of);
    const sharedGroupIds = [...new Set(named.map((each) => pick(groups, each).id))];
    const sharing = { sharedWithOrganisation: isShared, sharedGroupIds };
    const fields = sampleGeofenceFields({ name: `Zone ${nth}`, ownerId: owner.id, ...sharing });
    const { id } = await registry.geofences.create(fields);
    // Its events stay those of who might see it.
    if (isDeleted) await registry.geofences.delete(id, null);
    geofences.push({ id, owner, isDeleted, isShared, groups: sharedGroupIds });
  }
  // Each vehicle is driven by somebody; every other driver has the groups of another vehicle.
  const drivers = new Map<unknown, Subject>();
  for (const [nth, { id: vehicleId, dealer, groups: own }] of vehicles.entries()) {
    const groupIds = nth % 2 === 0 ? own : pick(vehicles, nth + 1).groups;
    const blank = { phone: null, licenceNumber: null, licenceExpiresOn: null };
    const fields = { ...blank, name: `Driver ${nth}`, codes: [`C${nth}`], dealerId: dealer?.id ?? null, groupIds };
    const { id } = await registry.drivers.create(fields);
    drivers.set(vehicleId, { id: id as string as VehicleId, dealer, groups: groupIds });
  }
  await place.relay();
  await place.startLive();

  const clients = await Promise.all(
    callers.map((caller) => place.connect(caller, { all: true, positions: true, states: true }, headersOf(caller))),
  );
  const cursors = clients.map((client) => client.cursor());
  const wishes = { all: true, positions: true, states: true, definitions: true, unread: true };
  const consoles = await Promise.all(
    callers.map((caller) => place.connect(caller, wishes, headersOf(caller), ['outrider.live.v1+binary'])),
  );
  const lists = await Promise.all(
    callers.map((caller) =>
      place.connect(caller, { all: true, positions: true, states: true, batch: true }, headersOf(caller)),
    ),
  );
  const events: { event: FleetEvent; vehicle: Subject; geofence: (typeof geofences)[number] | null }[] = [];
  for (const vehicle of vehicles.filter((each) => !last.includes(each)))
    for (const geofence of geofences)
      for (const phase of ['begin', 'end'] as const)
        events.push({ vehicle, geofence, event: visit(vehicle.id, geofence.id, events.length, phase) });
  const ends = last.map(
    (vehicle) => ({ ...visit(vehicle.id, pick(geofences, 0).id, 9999), ...SPEEDING }) as FleetEvent,
  );
  // Each vehicle is in all geofences, and too fast in all of them.
  const activity: VehicleActivity = {
    state: 'moving',
    sinceMs: NOON,
    ignition: true,
    alarms: [],
    geofenceIds: geofences.map(({ id }) => id),
    speeding: [null, ...geofences.map(({ id }) => id)],
  };
  const statuses = vehicles.map(({ id }, nth) =>
    sampleStatus(id, blankPosition(NOON, 52.5, 13.4), NOON, {
      activity: { ...activity, driverCode: `C${nth}` },
      tank: { levelL: nth, capacityL: 400, atMs: NOON },
    }),
  );
  await place.hub.updateLatest(statuses);
  const asked = vehicles.flatMap(({ id }) => ORDERS.map((order, nth) => commandTo(id, order, nth, operator)));
  for (const command of asked)
    await place.hub.publish(VEHICLE_COMMAND_CHANNEL, JSON.stringify({ command } satisfies CommandNews));
  await place.happen(...events.map(({ event }) => event), ...ends);

  const label = (id: unknown, phase: unknown) => `${id} ${phase}`;
  const expected = callers.map((caller) => ({
    events: events
      .filter(({ vehicle, geofence }) => sees(caller, vehicle) && (geofence === null || knows(caller, geofence)))
      .map(({ event }) => label(event.id, event.phase)),
    vehicles: vehicles.filter((vehicle) => sees(caller, vehicle)).map(({ id }) => id),
    commands: vehicles
      .filter((vehicle) => sees(caller, vehicle))
      .flatMap(({ id }) => ORDERS.filter(({ type }) => mayAsk(caller, type)).map(({ type }) => label(id, type))),
  }));
  const isEnd = new Set(ends.map(({ id }) => id as string));
  for (const [nth, caller] of callers.entries()) {
    const client = clients[nth] as (typeof clients)[number];
    const { events: may, vehicles: visible, commands: mayCommand } = expected[nth] as (typeof expected)[number];
    const eventsOf = (who: typeof client) =>
      who
        .of('event')
        .filter(({ id }) => !isEnd.has(String(id)))
        .map(({ id, phase }) => label(id, phase));
    const hasLast = (who: typeof client) => who.of('event').some(({ id }) => id === ends[nth]?.id);
    await vi.waitFor(() => expect(hasLast(client)).toBe(true), PATIENCE);
    expect(eventsOf(client), `live events of ${caller.login}`).toEqual(may);
    // They were published before the last event.
    const commanded = client.of('command').map(({ command }) => command as Record<string, unknown>);
    expect(
      commanded.map(({ vehicleId, type }) => label(vehicleId, type)).toSorted(),
      `commands of ${caller.login}`,
    ).toEqual(mayCommand.toSorted());
    expect(JSON.stringify(commanded)).not.toContain(operator.id);
    tally.pairs += asked.length;
    tally.received += mayCommand.length;
    for (const type of ['position', 'vehicle-state']) {
      const seen = () => [...new Set(client.of(type).map(({ vehicleId }) => vehicleId))].toSorted();
      await vi.waitFor(() => expect(seen().length).toBeGreaterThanOrEqual(visible.length), PATIENCE);
      expect(seen(), `${type} of ${caller.login}`).toEqual(visible.toSorted());
    }
    // Once more with its cursor, which it could as well have made up; and asking for what it may not see, by its ids.
    for (const wish of [
      { all: true },
      { vehicles: vehicles.map(({ id }) => id) },
      { groups: groups.map(({ id }) => id) },
    ]) {
      const again = await place.connect(caller, { ...wish, since: cursors[nth] }, headersOf(caller));
      if (!('groups' in wish)) await vi.waitFor(() => expect(hasLast(again)).toBe(true), PATIENCE);
      const received = new Set(eventsOf(again));
      for (const each of received) expect(may, `missed events of ${caller.login}`).toContain(each);
      if (!('groups' in wish)) expect([...received].toSorted()).toEqual([...may].toSorted());
      again.socket.terminate();
      tally.pairs += events.length;
    }
    tally.pairs += events.length + 2 * vehicles.length;
    tally.received += may.length + visible.length;

    // Lists and binary messages name the same vehicles, and of the geofences those that the caller may know of.
    const known = geofences.filter((each) => !each.isDeleted && knows(caller, each)).map(({ id }) => id);
    const list = lists[nth] as typeof client;
    const console = consoles[nth] as typeof client;
    const listed = () => list.of('vehicle-states').flatMap(({ states }) => states as Record<string, unknown>[]);
    await vi.waitFor(() => expect(listed().length).toBeGreaterThanOrEqual(visible.length), PATIENCE);
    const places = list.of('positions').flatMap(({ positions }) => positions as Record<string, unknown>[]);
    expect(
      listed()
        .map(({ vehicleId }) => vehicleId)
        .toSorted(),
      `states of ${caller.login}`,
    ).toEqual(visible.toSorted());
    expect(places.map(({ vehicleId }) => vehicleId).toSorted(), `positions of ${caller.login}`).toEqual(
      visible.toSorted(),
    );
    for (const state of listed()) expect(state).toMatchObject({ geofenceIds: known, speedingIn: [null, ...known] });
    const driven = () => console.of('vehicle-drivers').flatMap((message) => message.drivers as (typeof message)[]);
    await vi.waitFor(() => expect(driven().length).toBeGreaterThanOrEqual(visible.length), PATIENCE);
    expect(new Set(driven().map(({ vehicleId }) => vehicleId)), `drivers of ${caller.login}`).toEqual(new Set(visible));
    const tanks = () => console.of('vehicle-tanks').flatMap((message) => message.tanks as (typeof message)[]);
    await vi.waitFor(() => expect(tanks().length).toBeGreaterThanOrEqual(visible.length), PATIENCE);
    expect(new Set(tanks().map(({ vehicleId }) => vehicleId)), `tanks of ${caller.login}`).toEqual(new Set(visible));
    for (const { vehicleId, driver } of [...listed(), ...driven()]) {
      const who = drivers.get(vehicleId) as Subject;
      expect((driver as { id: string } | null)?.id ?? null).toBe(sees(caller, who) ? who.id : null);
    }
    const moved = () => console.binary.flatMap(({ type, records }) => (type === 2 ? records : []));
    await vi.waitFor(() => expect(moved().length).toBeGreaterThanOrEqual(visible.length), PATIENCE);
    const introduced = console.binary.flatMap(({ type, records }) => (type === 1 ? records : []));
    const ids = new Map(introduced.map(({ number, vehicleId }) => [number, vehicleId]));
    expect([...ids.values()].toSorted(), `vehicles of ${caller.login}`).toEqual(visible.toSorted());
    expect(
      moved()
        .map(({ number }) => ids.get(number))
        .toSorted(),
    ).toEqual(visible.toSorted());
    for (const { type, records } of console.binary)
      for (const { within, speedingIn } of type === 3 ? records : [])
        expect({ within, speedingIn }).toEqual({ within: known, speedingIn: [null, ...known] });
    for (const id of console.binary.flatMap(({ geofenceIds }) => geofenceIds)) expect(known).toContain(id);
    tally.pairs += 2 * vehicles.length;
    tally.received += 2 * visible.length;
  }
  await everyChange(place, { callers, consoles, vehicles, geofences, groups, users }, tally);
}

type Client = Awaited<ReturnType<Place['connect']>>;

/**
 * Vehicles change their groups, geofences and groups are renamed or deleted: each caller learns of what concerns it.
 */
async function everyChange(
  place: Place,
  {
    callers,
    consoles,
    vehicles,
    geofences,
    groups,
    users,
  }: {
    callers: readonly User[];
    consoles: readonly Client[];
    vehicles: readonly Subject[];
    geofences: readonly Zone[];
    groups: readonly { id: GroupId; dealer: User }[];
    users: readonly User[];
  },
  tally: { pairs: number; received: number },
): Promise<void> {
  const { registry } = place;
  const expected = callers.map(() => new Map<string, string>());
  const expectChange = (id: string, could: (caller: User) => boolean, can: (caller: User) => boolean) => {
    for (const [nth, caller] of callers.entries()) {
      tally.pairs++;
      if (could(caller) && can(caller)) expected[nth]?.set(id, 'changed');
      else if (can(caller)) expected[nth]?.set(id, 'added');
      else if (could(caller)) expected[nth]?.set(id, 'removed');
      if (could(caller) || can(caller)) tally.received++;
    }
  };
  for (const [nth, vehicle] of vehicles.entries()) {
    const group = groups[nth % groups.length];
    if (group === undefined) continue;
    const after = { ...vehicle, groups: [group.id] };
    await registry.vehicles.update(vehicle.id, null, { name: `Renamed ${nth}`, groupIds: after.groups });
    expectChange(
      vehicle.id,
      (caller) => lists(caller, vehicle),
      (caller) => lists(caller, after),
    );
  }
  for (const [nth, geofence] of geofences.entries()) {
    const { id } = geofence;
    if ((await registry.geofences.get(id)) === null) continue;
    const isDeleted = nth % 3 === 0;
    const isShared = nth % 3 === 1 ? !geofence.isShared : geofence.isShared;
    const groupsAfter = nth % 3 === 1 ? [] : geofence.groups;
    if (isDeleted) await registry.geofences.delete(id, null);
    else {
      const sharing = { sharedWithOrganisation: isShared, sharedGroupIds: groupsAfter };
      await registry.geofences.update(id, null, { name: `Renamed zone ${nth}`, ...sharing });
    }
    expectChange(
      id,
      (caller) => knows(caller, geofence),
      (caller) => !isDeleted && knows(caller, { ...geofence, isShared, groups: groupsAfter }),
    );
  }
  for (const { id } of users) {
    const before = callers.find((caller) => caller.id === id);
    if (before === undefined) continue;
    await registry.users.update(id, null, { name: 'Renamed' });
    expectChange(
      id,
      (caller) => keeps(caller, before),
      (caller) => keeps(caller, before),
    );
  }
  await place.relay();
  // The last change, which every caller learns of.
  for (const [nth, caller] of callers.entries()) {
    if (accountOf(caller) === null) await registry.users.update(caller.id, null, { name: `Last ${nth}` });
    expected[nth]?.set(caller.id, 'changed');
  }
  await place.relay();
  for (const [nth, caller] of callers.entries()) {
    const console = consoles[nth] as Client;
    const changes = () => console.of('definition').flatMap(({ changes }) => changes as Record<string, unknown>[]);
    await vi.waitFor(() => expect(changes().some(({ id }) => id === caller.id)).toBe(true), PATIENCE);
    const learnt = new Map(changes().map(({ id, change }) => [id, change]));
    for (const other of callers)
      if (other.id !== caller.id && keeps(caller, other)) expected[nth]?.set(other.id, 'changed');
    await vi.waitFor(
      () => expect(new Map(changes().map(({ id, change }) => [id, change]))).toEqual(expected[nth]),
      PATIENCE,
    );
    expect(learnt.size).toBeGreaterThan(0);
    expect((await console.receives('unread'))[0]).toMatchObject({ count: 0 });
  }
}

const SERVICES: Readonly<Record<'none' | 'some' | 'all', User['services']>> = {
  none: [],
  some: ['commands'],
  all: ['commands', 'command-text'],
};
const ORDERS: readonly CommandOrder[] = [
  { type: 'position-request', parameters: {} },
  { type: 'engine-block', parameters: {} },
  { type: 'text', parameters: { text: 'getver' } },
];

function commandTo(vehicleId: VehicleId, order: CommandOrder, nth: number, { id: createdBy }: User): VehicleCommand {
  return {
    ...{
      id: `0190c000-0000-7000-8000-00000000000${nth}` as CommandId,
      vehicleId,
      order,
      state: 'acknowledged',
      createdBy,
    },
    ...{ reason: null, answer: null, maxSpeedKmh: null, ruleId: null, eventId: null, createdAtMs: NOON },
    ...{ changedAtMs: NOON, expiresAtMs: NOON, sentAtMs: NOON, finishedAtMs: NOON },
  };
}

/** What makes an event one of the vehicle alone. */
const SPEEDING = {
  kind: 'speeding',
  geofenceId: null,
  limitKmh: 30,
  peakKmh: 40,
  meanKmh: 40,
  distanceM: 0,
  limitSource: 'vehicle',
} as const;
