import { rightToGeofence, rightToGroup, rightToUser, rightToVehicle } from '@outrider/access';
import type { User } from '@outrider/domain';
import { sampleGeofenceFields, sampleVehicleFields } from '@outrider/domain/samples';
import { expect, test } from 'vitest';
import { World } from './api.fixture.ts';

/** Numbers that look random and are the same in every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('in a random organisation, everyone’s lists and single reads show exactly what the rights allow', async () => {
  const world = await World.open({
    limits: {
      failedLoginsPerMinute: 1e6,
      authorizedPerMinute: 1e6,
      unauthorizedPerMinute: 1e6,
      blockSeconds: 1,
    },
  });
  const pick = sequence(20_260_115);
  const { registry } = world;
  const users: User[] = [await world.addUser('boss', 'operator')];
  for (let n = 0; n < 3; n += 1) users.push(await world.addUser(`dealer${n}`, 'dealer'));
  const dealers = [null, ...users.slice(1).map((user) => user.id)];
  const someDealer = () => dealers[pick(dealers.length)] ?? null;
  for (let n = 0; n < 8; n += 1) users.push(await world.addUser(`user${n}`, 'user', { dealerId: someDealer() }));
  for (let n = 0; n < 6; n += 1) await registry.groups.create({ name: `group ${n}`, dealerId: someDealer() });
  const groups = (await registry.groups.list({}, { limit: 1000, after: null })).items;
  const some = <T>(list: readonly T[]) => list.filter(() => pick(4) === 0);
  for (let n = 0; n < 20; n += 1)
    await registry.vehicles.create(
      sampleVehicleFields({
        name: `vehicle ${n}`,
        dealerId: someDealer(),
        groupIds: some(groups).map((group) => group.id),
      }),
    );
  for (const user of users) {
    for (const group of some(groups)) await registry.groups.setUser(group.id, user.id, true);
    await registry.geofences.create(
      sampleGeofenceFields({
        name: 'Home',
        ownerId: user.id,
        groupIds: some(groups).map((group) => group.id),
      }),
    );
  }

  const { directory } = world;
  let pairs = 0;
  for (const { id } of users) {
    const caller = directory.users.get(id) as User;
    const jwt = await world.tokenOf(caller);
    const visible = {
      users: [...directory.users.values()].filter((it) => rightToUser(caller, it) !== 'none'),
      vehicles: [...directory.vehicles.values()].filter((it) => rightToVehicle(caller, it) !== 'none'),
      'vehicle-groups': [...directory.groups.values()].filter((it) => rightToGroup(caller, it) !== 'none'),
      geozones: [...directory.geofences.values()].filter(
        (it) => rightToGeofence(caller, it, directory.ownerOf(it)) !== 'none',
      ),
    };
    const all = {
      users: directory.users,
      vehicles: directory.vehicles,
      'vehicle-groups': directory.groups,
      geozones: directory.geofences,
    };
    const seenGroups = new Set<string>(visible['vehicle-groups'].map((group) => group.id));
    for (const [name, things] of Object.entries(visible)) {
      const { body } = await world.call('GET', `/api/v1/${name}?limit=1000`, { jwt });
      expect(body.items.map((item: { id: string }) => item.id)).toEqual(things.map((thing) => thing.id).toSorted());
      const shown: string[] = body.items.flatMap(
        (item: { groupIds?: string[]; properties?: { groupIds: string[] } }) =>
          item.groupIds ?? item.properties?.groupIds ?? [],
      );
      expect(shown.filter((group) => !seenGroups.has(group))).toEqual([]);
      const allowed = new Set<string>(things.map((thing) => thing.id));
      for (const thing of all[name as keyof typeof all].keys()) {
        const { status } = await world.call('GET', `/api/v1/${name}/${thing}`, { jwt });
        expect(status).toBe(allowed.has(thing) ? 200 : 404);
        pairs += 1;
      }
    }
  }
  // 12 callers; 12 users, 20 vehicles, 14 groups (8 of them the users' own), 12 geozones.
  expect(pairs).toBe(12 * (12 + 20 + 14 + 12));
  await world.close();
});
