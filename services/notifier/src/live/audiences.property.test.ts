import { Directory, type GroupId, maySeeVehicle, type User, type UserId, type VehicleId } from '@outrider/domain';
import { sampleUserFields, sampleVehicle } from '@outrider/domain/samples';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Audiences, type Listener } from './audiences.ts';
import { wantsVehicle } from './messages.ts';

const GROUPS = ['g0', 'g1', 'g2', 'g3'] as GroupId[];
const USERS = ['u0', 'u1', 'u2', 'u3', 'u4'] as UserId[];
const VEHICLES = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'] as VehicleId[];

const someOf = <T>(list: readonly T[]) => fc.uniqueArray(fc.constantFrom(...list), { maxLength: 3 });
const listener = fc.nat({ max: 7 });
/** What can change who is in the audience of a vehicle. */
const step = fc.oneof(
  fc.record({ type: fc.constant('identify' as const), listener, userId: fc.constantFrom(...USERS) }),
  fc.record({
    type: fc.constant('subscribe' as const),
    listener,
    vehicles: fc.option(someOf(VEHICLES)),
    groups: fc.option(someOf(GROUPS)),
  }),
  fc.record({ type: fc.constant('unsubscribe' as const), listener }),
  fc.record({ type: fc.constant('close' as const), listener }),
  fc.record({
    type: fc.constant('user' as const),
    id: fc.constantFrom(...USERS),
    role: fc.constantFrom('operator' as const, 'dealer' as const, 'user' as const),
    groupIds: someOf(GROUPS),
    blocked: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  }),
  fc.record({ type: fc.constant('delete-user' as const), id: fc.constantFrom(...USERS) }),
  fc.record({
    type: fc.constant('vehicle' as const),
    id: fc.constantFrom(...VEHICLES),
    dealerId: fc.option(fc.constantFrom(...USERS)),
    groupIds: someOf(GROUPS),
  }),
  fc.record({ type: fc.constant('rename-vehicle' as const), id: fc.constantFrom(...VEHICLES) }),
  fc.record({ type: fc.constant('delete-vehicle' as const), id: fc.constantFrom(...VEHICLES) }),
  // Computes audiences between the changes, so that what is kept of them can be stale.
  fc.record({ type: fc.constant('look-up' as const), id: fc.constantFrom(...VEHICLES) }),
);

/** Everybody is defined and subscribed at first, so that most changes concern somebody. */
const everybody = fc.tuple(
  ...USERS.map((id) =>
    fc.tuple(fc.constant(id), fc.constantFrom('operator', 'dealer', 'user' as const), someOf(GROUPS)),
  ),
);
const fleet = fc.tuple(
  ...VEHICLES.map((id) => fc.tuple(fc.constant(id), fc.option(fc.constantFrom(...USERS)), someOf(GROUPS))),
);

interface TestListener extends Listener {
  userId: UserId | null;
  subscription: Listener['subscription'];
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Everybody = typeof everybody extends fc.Arbitrary<infer T> ? T : never;
type Fleet = typeof fleet extends fc.Arbitrary<infer T> ? T : never;

function beginning(users: Everybody, vehicles: Fleet): Step[] {
  return [
    ...users.map(([id, role, groupIds]) => ({ type: 'user' as const, id, role, groupIds, blocked: false })),
    ...vehicles.map(([id, dealerId, groupIds]) => ({ type: 'vehicle' as const, id, dealerId, groupIds })),
    ...USERS.flatMap((userId, nth) => [
      { type: 'identify' as const, listener: nth, userId },
      { type: 'subscribe' as const, listener: nth, vehicles: null, groups: null },
    ]),
  ];
}

test('the index of audiences equals the plain computation over all listeners, whatever changes', () => {
  let audiencesSeen = 0;
  fc.assert(
    fc.property(everybody, fleet, fc.array(step, { maxLength: 60 }), (users, vehicles, changes) => {
      const steps = [...beginning(users, vehicles), ...changes];
      const directory = new Directory();
      const audiences = new Audiences<TestListener>(directory);
      const listeners = new Map<number, TestListener>();
      let version = 0;
      const plain = (id: VehicleId) => {
        const vehicle = directory.vehicles.get(id);
        return [...listeners.values()].filter(({ userId, subscription }) => {
          const user = userId === null ? undefined : directory.users.get(userId);
          if (user === undefined || vehicle === undefined || subscription === null) return false;
          return wantsVehicle(subscription, vehicle) && maySeeVehicle(user, vehicle);
        });
      };
      const at = (nth: number) => {
        const found = listeners.get(nth) ?? { userId: null, subscription: null };
        listeners.set(nth, found);
        return found;
      };
      const change = (kind: 'user' | 'vehicle', id: string, definition: unknown) =>
        directory.apply({ kind, id, version: ++version, changedAtMs: 0, definition: definition as User | null });
      const changeVehicle = (id: VehicleId, definition: unknown) => {
        const before = plain(id);
        // As its last audience was computed: otherwise nothing of it can wait for anybody.
        audiences.of(id);
        change('vehicle', id, definition);
        const lost = audiences.vehicleChanged(id);
        const after = plain(id);
        expect(new Set(lost)).toEqual(new Set(before.filter((each) => !after.includes(each))));
      };
      const changeUser = (id: UserId, definition: unknown) => {
        change('user', id, definition);
        for (const each of listeners.values()) if (each.userId === id) audiences.update(each);
      };

      for (const each of steps) {
        switch (each.type) {
          case 'identify':
            at(each.listener).userId ??= each.userId;
            break;
          case 'subscribe': {
            const found = at(each.listener);
            const { vehicles, groups } = each;
            found.subscription = { vehicles: vehicles && new Set(vehicles), groups: groups && new Set(groups) };
            audiences.update(found);
            break;
          }
          case 'unsubscribe':
            at(each.listener).subscription = null;
            audiences.update(at(each.listener));
            break;
          case 'close':
            audiences.remove(at(each.listener));
            listeners.delete(each.listener);
            break;
          case 'user': {
            const { id, role, groupIds, blocked } = each;
            changeUser(id, { ...sampleUserFields({ login: id, role, groupIds }), kind: 'user', id, blocked });
            break;
          }
          case 'delete-user':
            changeUser(each.id, null);
            break;
          case 'vehicle': {
            const { id, dealerId, groupIds } = each;
            changeVehicle(id, sampleVehicle({ id, dealerId, groupIds }));
            break;
          }
          case 'rename-vehicle': {
            const vehicle = directory.vehicles.get(each.id);
            if (vehicle !== undefined) changeVehicle(each.id, { ...vehicle, name: `name ${version}` });
            break;
          }
          case 'delete-vehicle':
            changeVehicle(each.id, null);
            break;
          case 'look-up':
            expect(new Set(audiences.of(each.id))).toEqual(new Set(plain(each.id)));
        }
        // An identified client has no audience before it subscribes, so `identify` alone files nothing.
        if (each.type === 'identify' && at(each.listener).subscription !== null) audiences.update(at(each.listener));
      }
      for (const id of VEHICLES) {
        const audience = audiences.of(id);
        audiencesSeen += audience.length;
        expect(new Set(audience)).toEqual(new Set(plain(id)));
        expect(audience).toHaveLength(plain(id).length);
      }
    }),
    { numRuns: 500 },
  );
  // Equality would be vain if nobody was ever in an audience.
  expect(audiencesSeen).toBeGreaterThan(100);
});
