import {
  blankPosition,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  type User,
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
const PATIENCE = { timeout: 20_000, interval: 10 };
const PASSWORD = 'a long password';

/** Numbers stand for one of however many there are. */
const number = fc.nat({ max: 1000 });
const some = fc.array(number, { maxLength: 3 });
const blueprint = fc.record({
  groups: fc.array(number, { minLength: 2, maxLength: 4 }),
  users: fc.array(fc.record({ dealer: number, groups: some }), { minLength: 2, maxLength: 5 }),
  vehicles: fc.array(fc.record({ dealer: number, groups: some }), { minLength: 3, maxLength: 8 }),
  geofences: fc.array(fc.record({ owner: number, isDeleted: fc.boolean() }), { minLength: 4, maxLength: 10 }),
});

interface Subject {
  id: VehicleId;
  dealer: User | null;
  groups: readonly GroupId[];
}

/** By the words of the design, and on purpose not by the code that it judges. */
function sees(caller: User, vehicle: Subject): boolean {
  if (caller.role === 'operator') return true;
  if (caller.role === 'dealer') return vehicle.dealer?.id === caller.id;
  return vehicle.groups.some((group) => caller.groupIds.includes(group));
}
function knows(caller: User, owner: User): boolean {
  return (
    caller.role === 'operator' || owner.id === caller.id || (caller.role === 'dealer' && owner.dealerId === caller.id)
  );
}

test(`${PAIRS} pairs of a caller and a live message, in random organisations (RIGHTS_SEED=${SEED})`, {
  timeout: 600_000,
}, async () => {
  const tally = { pairs: 0, heard: 0 };
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
  // Isolation would be vain where nobody hears anything.
  expect(tally.heard).toBeGreaterThan(tally.pairs / 20);
});

type Blueprint = typeof blueprint extends fc.Arbitrary<infer T> ? T : never;

async function everyMessage(place: Place, plan: Blueprint, tally: { pairs: number; heard: number }): Promise<void> {
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
  for (const [nth, { dealer, groups: named }] of plan.users.entries()) {
    const groupIds = [...new Set(named.map((each) => pick(groups, each).id))];
    users.push(await add(`user-${nth}`, { role: 'user', dealerId: pick(dealers, dealer).id, groupIds }));
  }
  const callers = [operator, ...dealers, ...users];

  const vehicles: Subject[] = [];
  const addVehicle = async (dealer: User | null, groupIds: readonly GroupId[]): Promise<Subject> => {
    const fields = sampleVehicleFields({ name: `Vehicle ${vehicles.length}`, dealerId: dealer?.id ?? null, groupIds });
    const subject = { id: (await registry.vehicles.create(fields)).id, dealer, groups: groupIds };
    vehicles.push(subject);
    return subject;
  };
  for (const { dealer, groups: named } of plan.vehicles)
    await addVehicle(pick(dealers, dealer), [...new Set(named.map((each) => pick(groups, each).id))]);
  // What happens to it comes last, and each caller hears it: then the caller has heard all that it will hear.
  const last: Subject[] = [];
  for (const [nth, caller] of callers.entries()) {
    const { id } = await registry.groups.create({ name: `Last ${nth}`, dealerId: null });
    if (caller.role === 'user') {
      await registry.groups.setUser(id, caller.id, true);
      callers[nth] = { ...caller, groupIds: [...caller.groupIds, id] };
    }
    last.push(await addVehicle(caller.role === 'dealer' ? caller : null, [id]));
  }
  const geofences: { id: GeofenceId; owner: User }[] = [];
  for (const [nth, { owner: of, isDeleted }] of plan.geofences.entries()) {
    const owner = pick(callers, of);
    const { id } = await registry.geofences.create(sampleGeofenceFields({ name: `Zone ${nth}`, ownerId: owner.id }));
    // Its events stay those of who might see it.
    if (isDeleted) await registry.geofences.delete(id, null);
    geofences.push({ id, owner });
  }
  await place.relay();
  await place.startLive();

  const clients = await Promise.all(
    callers.map((caller) => place.connect(caller, { all: true, positions: true, states: true })),
  );
  const cursors = clients.map((client) => client.cursor());
  const events: { event: FleetEvent; vehicle: Subject; geofence: (typeof geofences)[number] | null }[] = [];
  for (const vehicle of vehicles.filter((each) => !last.includes(each)))
    for (const geofence of geofences)
      for (const phase of ['begin', 'end'] as const)
        events.push({ vehicle, geofence, event: visit(vehicle.id, geofence.id, events.length, phase) });
  const ends = last.map(
    (vehicle) => ({ ...visit(vehicle.id, pick(geofences, 0).id, 9999), ...SPEEDING }) as FleetEvent,
  );
  const statuses = vehicles.map(({ id }) => sampleStatus(id, blankPosition(NOON, 52.5, 13.4), NOON));
  await place.hub.updateLatest(statuses);
  await place.happen(...events.map(({ event }) => event), ...ends);

  const label = (id: unknown, phase: unknown) => `${id} ${phase}`;
  const expected = callers.map((caller) => ({
    events: events
      .filter(({ vehicle, geofence }) => sees(caller, vehicle) && (geofence === null || knows(caller, geofence.owner)))
      .map(({ event }) => label(event.id, event.phase)),
    vehicles: vehicles.filter((vehicle) => sees(caller, vehicle)).map(({ id }) => id),
  }));
  const isEnd = new Set(ends.map(({ id }) => id as string));
  for (const [nth, caller] of callers.entries()) {
    const client = clients[nth] as (typeof clients)[number];
    const { events: may, vehicles: visible } = expected[nth] as (typeof expected)[number];
    const heardOf = (who: typeof client) =>
      who
        .of('event')
        .filter(({ id }) => !isEnd.has(String(id)))
        .map(({ id, phase }) => label(id, phase));
    const heardLast = (who: typeof client) => who.of('event').some(({ id }) => id === ends[nth]?.id);
    await vi.waitFor(() => expect(heardLast(client)).toBe(true), PATIENCE);
    expect(heardOf(client), `live events of ${caller.login}`).toEqual(may);
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
      const again = await place.connect(caller, { ...wish, since: cursors[nth] });
      if (!('groups' in wish)) await vi.waitFor(() => expect(heardLast(again)).toBe(true), PATIENCE);
      const heard = new Set(heardOf(again));
      for (const each of heard) expect(may, `missed events of ${caller.login}`).toContain(each);
      if (!('groups' in wish)) expect([...heard].toSorted()).toEqual([...may].toSorted());
      again.socket.terminate();
      tally.pairs += events.length;
    }
    tally.pairs += events.length + 2 * vehicles.length;
    tally.heard += may.length + visible.length;
  }
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
