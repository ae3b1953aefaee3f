import {
  type DefinitionChange,
  Directory,
  type GeofenceId,
  type GroupId,
  type SessionId,
  type TerminalId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ABSENT,
  ALL,
  geofenceFields as geofence,
  ruleFields,
  userFields as user,
  vehicleFields as vehicle,
} from './fleet/fields.fixture.ts';
import {
  ConflictError,
  followRegistry,
  MAX_SESSIONS_PER_USER,
  NotFoundError,
  type Registry,
  StaleError,
  UnknownReferenceError,
  type WrittenChange,
} from './index.ts';
import { type Place, registryPerTest } from './test-registry.fixture.ts';

/** What every adapter of the registry promises. */
export function registryConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`registry on ${name}`, () => {
    const env = registryPerTest(newPlace);
    const operator = () => env.registry.users.create(user('boss', { role: 'operator' }), 'a long password');

    /** What waits in the outbox, which is then emptied. */
    async function drain(): Promise<DefinitionChange[]> {
      const pending = await env.registry.outbox.pending(10_000);
      await env.registry.outbox.delivered(pending.map((entry) => entry.seq));
      return pending.map((entry) => entry.change);
    }

    test('definitions that are written are those that were read, whatever was there before', async () => {
      const { registry } = env;
      const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
      const shared = await registry.groups.create({ name: 'Shared', dealerId: dealer.id, retentionDays: 30 });
      const owner = await registry.users.create(
        user('anna', { dealerId: dealer.id, groupIds: [shared.id], externalId: 'a-1' }),
        'a long password',
      );
      const terminalId = '356307042441013' as TerminalId;
      const van = await registry.vehicles.create(
        vehicle('Van', {
          terminalId,
          dealerId: dealer.id,
          groupIds: [shared.id],
          customAttributes: { depot: 'north' },
        }),
      );
      const old = await registry.vehicles.create(vehicle('Old', { dealerId: dealer.id }));
      await registry.vehicles.suspend(old.id, { reason: 'sold', by: 'dealer' });
      const driver = await registry.drivers.create({
        ...{ name: 'Olga', dealerId: dealer.id, groupIds: [shared.id], codes: ['77'] },
        ...{ phone: '+49 30 1', licenceNumber: null, licenceExpiresOn: '2027-05-31' },
      });
      const ring = [
        [30, 59],
        [31, 59],
        [31, 60],
        [30, 59],
      ] as const;
      const shapes = [
        { type: 'circle', center: [30, 60], radiusM: 100 },
        { type: 'polygon', rings: [ring] },
        { type: 'multipolygon', polygons: [[ring]] },
        {
          type: 'line',
          path: [
            [30, 59],
            [31, 60],
          ],
          widthM: 50,
        },
      ] as const;
      const zones = [];
      for (const shape of shapes)
        zones.push(
          await registry.geofences.create(
            geofence(`Zone ${shape.type}`, owner.id, { shape, groupIds: [shared.id], sharedGroupIds: [shared.id] }),
          ),
        );
      await registry.geofences.create(geofence('Watches all', owner.id));
      await registry.notificationRules.create(
        ruleFields('Visits', owner.id, {
          ...{ vehicleIds: [van.id], groupIds: [shared.id], geofenceIds: zones.map(({ id }) => id) },
          ...{ driverIds: [driver.id], driverGroupIds: [shared.id], insideGeofenceIds: [], active: false },
        }),
        null,
      );
      await registry.videoProfiles.create({
        ...{ vehicleId: van.id, name: 'Camera', protocol: 'jt1078', address: '13800138000' },
        ...{ channels: [{ number: 1, name: 'Road' }], quality: 'main', audio: false },
        ...{ maxFragmentSeconds: 60, maxParallelDownloads: 1, timeZone: 'UTC' },
      } as never);
      const changes = (await registry.snapshot()) as WrittenChange[];
      expect(new Set(changes.map(({ kind }) => kind)).size).toBe(7);

      // Names, terminals and codes have changed places since.
      await registry.users.update(dealer.id, null, { blocked: true });
      await registry.vehicles.update(van.id, null, { terminalId: null, groupIds: [] });
      await registry.vehicles.update(old.id, null, { terminalId });
      await registry.drivers.update(driver.id, null, { codes: ['78'] });
      await registry.geofences.update(zones[0]?.id as GeofenceId, null, { name: 'Other', sharedGroupIds: [] });
      await registry.geofences.update(zones[1]?.id as GeofenceId, null, { name: 'Zone circle' });
      await registry.writeDefinitions(changes);
      expect(await registry.snapshot()).toEqual(changes);

      const other = await newPlace();
      const blank = await other.open(() => env.nowMs);
      try {
        await blank.writeDefinitions(changes);
        expect(await blank.snapshot()).toEqual(changes);
        expect(await blank.users.authenticate('anna', 'a long password')).toBeNull();
        await blank.users.setPassword(owner.id, 'another long password', null);
        expect(await blank.users.authenticate('anna', 'another long password')).toMatchObject({ id: owner.id });
      } finally {
        await blank.close();
        await other.remove();
      }
    });

    describe('vehicles', () => {
      test('a vehicle is kept whole, with its groups sorted', async () => {
        const a = await env.registry.groups.create({ name: 'A', dealerId: null });
        const b = await env.registry.groups.create({ name: 'B', dealerId: null });
        const fields = vehicle('Truck 1', {
          plate: 'A 123 BC',
          terminalId: '356307042441013' as TerminalId,
          groupIds: [b.id, a.id, b.id],
          speedLimitKmh: 89.5,
          speedToleranceKmh: 2.5,
          speedingMinSeconds: 3,
          offlineAfterMinutes: 15,
          movingSpeedKmh: 2,
          movingDistanceM: 50,
          tripStopMinutes: 5,
          tripGapMinutes: 60,
        });
        const created = await env.registry.vehicles.create(fields);
        expect(created).toEqual({ ...fields, kind: 'vehicle', id: created.id, version: 1, groupIds: [a.id, b.id] });
        expect(await env.registry.vehicles.get(created.id)).toEqual(created);
      });

      test('an update changes what it names, and no more', async () => {
        const created = await env.registry.vehicles.create(vehicle('Truck 1', { plate: 'X' }));
        const updated = await env.registry.vehicles.update(created.id, 1, { name: 'Truck 2', speedLimitKmh: 60 });
        expect(updated).toEqual({ ...created, version: 2, name: 'Truck 2', speedLimitKmh: 60 });
        expect(await env.registry.vehicles.get(created.id)).toEqual(updated);
      });

      test('what is learnt of a terminal is a change, and no version that an edit could miss', async () => {
        const terminalId = '356307042441013' as TerminalId;
        const { terminalAccess, ...fields } = vehicle('Truck 1', { terminalId });
        const created = await env.registry.vehicles.create(fields);
        const contact = { vehicleId: created.id, terminalId, protocol: 'teltonika', registrationHash: null } as const;
        await env.registry.vehicles.learn([contact]);
        await env.registry.vehicles.learn([contact]);
        const learnt = await env.registry.vehicles.get(created.id);
        expect(learnt).toEqual({
          ...created,
          terminalAccess: { ...created.terminalAccess, protocol: 'teltonika', seen: true, revision: 1 },
        });
        const edited = await env.registry.vehicles.update(created.id, created.version, { name: 'Truck 2' });
        expect(edited).toEqual({ ...learnt, name: 'Truck 2', version: 2 });
        await env.registry.vehicles.delete(created.id, 2);
        const changes = (await drain()).filter(({ id }) => id === created.id);
        expect(changes.map(({ version, definition }) => [version, definition?.version ?? null])).toEqual([
          [1, 1],
          [2, 1],
          [3, 2],
          [4, null],
        ]);
        const directory = new Directory();
        for (const change of changes.slice(0, 3)) directory.apply(change);
        expect(directory.vehicles.get(created.id)).toEqual(edited);
      });

      test('a suspension is kept until it is taken back, and only by what suspends', async () => {
        const created = await env.registry.vehicles.create(vehicle('Truck 1'));
        const suspension = { reason: 'unpaid', by: 'dealer' } as const;
        const suspended = await env.registry.vehicles.suspend(created.id, suspension);
        expect(suspended).toMatchObject({ version: 2, suspension: { ...suspension, sinceMs: expect.any(Number) } });
        expect(await env.registry.vehicles.suspend(created.id, suspension)).toEqual(suspended);
        const renamed = await env.registry.vehicles.update(created.id, 2, { name: 'Truck 2' });
        expect(renamed).toEqual({ ...suspended, name: 'Truck 2', version: 3 });
        expect(await env.registry.vehicles.get(created.id)).toEqual(renamed);
        const listed = async (more: { inUse?: true } = {}) =>
          (await env.registry.vehicles.list(more, { limit: 10, after: null })).items.length;
        expect([await listed(), await listed({ inUse: true })]).toEqual([1, 0]);
        expect(await env.registry.vehicles.suspend(created.id, null)).toMatchObject({
          version: 4,
          suspension: null,
        });
        expect(await listed({ inUse: true })).toBe(1);
      });

      test('an update that changes nothing makes no version and no change', async () => {
        const created = await env.registry.vehicles.create(vehicle('Truck 1'));
        await drain();
        expect(await env.registry.vehicles.update(created.id, 1, { name: 'Truck 1', plate: null })).toEqual(created);
        expect(await drain()).toEqual([]);
      });

      test('an update from an older version is refused with what now stands there', async () => {
        const created = await env.registry.vehicles.create(vehicle('Truck 1'));
        const newer = await env.registry.vehicles.update(created.id, 1, { name: 'Truck 2' });
        const stale = await env.registry.vehicles.update(created.id, 1, { name: 'Truck 3' }).catch((error) => error);
        expect(stale).toBeInstanceOf(StaleError);
        expect((stale as StaleError).current).toEqual(newer);
        await expect(env.registry.vehicles.delete(created.id, 1)).rejects.toBeInstanceOf(StaleError);
        expect(await env.registry.vehicles.get(created.id)).toEqual(newer);
      });

      test('of many updates of one version at a time, one wins', async () => {
        const created = await env.registry.vehicles.create(vehicle('Truck 1'));
        const results = await Promise.allSettled(
          Array.from({ length: 8 }, (_, n) => env.registry.vehicles.update(created.id, 1, { name: `Truck ${n + 2}` })),
        );
        const won = results.filter((result) => result.status === 'fulfilled');
        expect(won).toHaveLength(1);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StaleError);
        expect(await env.registry.vehicles.get(created.id)).toEqual(won[0]?.value);
      });

      test('a terminal is fitted to one vehicle at a time', async () => {
        const terminalId = '100' as TerminalId;
        const first = await env.registry.vehicles.create(vehicle('One', { terminalId }));
        const second = await env.registry.vehicles.create(vehicle('Two'));
        const taken = { name: 'ConflictError', kind: 'vehicle', field: 'terminalId' };
        await expect(env.registry.vehicles.create(vehicle('Three', { terminalId }))).rejects.toMatchObject(taken);
        await expect(env.registry.vehicles.update(second.id, null, { terminalId })).rejects.toMatchObject(taken);
        await env.registry.vehicles.update(first.id, null, { terminalId: null });
        expect(await env.registry.vehicles.update(second.id, null, { terminalId })).toMatchObject({ terminalId });
        expect((await env.registry.vehicles.list({ terminalId }, ALL)).items.map((v) => v.id)).toEqual([second.id]);
      });

      test('of many vehicles made at once with one terminal, one is made', async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 6 }, (_, n) =>
            env.registry.vehicles.create(vehicle(`Truck ${n}`, { terminalId: '100' as TerminalId })),
          ),
        );
        expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ConflictError);
      });

      test('a group or a dealer that does not exist is refused, and nothing is kept', async () => {
        const boss = await operator();
        await drain();
        await expect(
          env.registry.vehicles.create(vehicle('One', { groupIds: [ABSENT as GroupId] })),
        ).rejects.toMatchObject({ name: 'UnknownReferenceError', field: 'groupIds', id: ABSENT });
        // An operator exists, but is no dealer.
        await expect(env.registry.vehicles.create(vehicle('One', { dealerId: boss.id }))).rejects.toMatchObject({
          name: 'UnknownReferenceError',
          field: 'dealerId',
        });
        expect((await env.registry.vehicles.list({}, ALL)).items).toEqual([]);
        expect(await drain()).toEqual([]);
      });

      test('a deletion is a change of its own version with nothing in its place', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const created = await env.registry.vehicles.create(vehicle('One', { groupIds: [group.id] }));
        await drain();
        env.nowMs += 1000;
        await env.registry.vehicles.delete(created.id, 1);
        expect(await drain()).toEqual([
          { kind: 'vehicle', id: created.id, version: 2, changedAtMs: env.nowMs, definition: null },
        ]);
        expect(await env.registry.vehicles.get(created.id)).toBeNull();
        await expect(env.registry.vehicles.delete(created.id, null)).rejects.toBeInstanceOf(NotFoundError);
        await expect(env.registry.vehicles.update(created.id, null, {})).rejects.toBeInstanceOf(NotFoundError);
      });

      test('a list is in the order of creation, page by page, each vehicle once', async () => {
        const made: VehicleId[] = [];
        for (let n = 0; n < 7; n += 1) made.push((await env.registry.vehicles.create(vehicle(`Truck ${n}`))).id);
        const seen: VehicleId[] = [];
        let after: string | null = null;
        const sizes: number[] = [];
        do {
          const page: Awaited<ReturnType<typeof env.registry.vehicles.list>> = await env.registry.vehicles.list(
            {},
            { limit: 3, after },
          );
          seen.push(...page.items.map((v) => v.id));
          sizes.push(page.items.length);
          after = page.next;
        } while (after !== null);
        expect(seen).toEqual(made.toSorted());
        expect(sizes).toEqual([3, 3, 1]);
      });

      test('a list can be narrowed to a dealer and to groups, and no groups means no vehicles', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const a = await env.registry.groups.create({ name: 'A', dealerId: null });
        const b = await env.registry.groups.create({ name: 'B', dealerId: null });
        const inBoth = await env.registry.vehicles.create(vehicle('both', { groupIds: [a.id, b.id] }));
        const inB = await env.registry.vehicles.create(vehicle('b', { groupIds: [b.id] }));
        const sold = await env.registry.vehicles.create(vehicle('sold', { dealerId: dealer.id }));
        const ids = async (filter: Parameters<Registry['vehicles']['list']>[0]) =>
          (await env.registry.vehicles.list(filter, ALL)).items.map((v) => v.id);
        expect(await ids({ anyOfGroups: [a.id, b.id] })).toEqual([inBoth.id, inB.id].toSorted());
        expect(await ids({ anyOfGroups: [a.id] })).toEqual([inBoth.id]);
        expect(await ids({ anyOfGroups: [] })).toEqual([]);
        expect(await ids({ dealerId: dealer.id })).toEqual([sold.id]);
      });
    });

    describe('groups', () => {
      test('a name is unique within a dealer, not among dealers', async () => {
        const one = await env.registry.users.create(user('one', { role: 'dealer' }), 'a long password');
        const two = await env.registry.users.create(user('two', { role: 'dealer' }), 'a long password');
        await env.registry.groups.create({ name: 'Trucks', dealerId: one.id });
        await env.registry.groups.create({ name: 'Trucks', dealerId: two.id });
        await env.registry.groups.create({ name: 'Trucks', dealerId: null });
        for (const dealerId of [one.id, null])
          await expect(env.registry.groups.create({ name: 'Trucks', dealerId })).rejects.toMatchObject({
            name: 'ConflictError',
            kind: 'group',
            field: 'name',
          });
        const other = await env.registry.groups.create({ name: 'Cars', dealerId: null });
        await expect(env.registry.groups.update(other.id, 1, { name: 'Trucks' })).rejects.toBeInstanceOf(ConflictError);
        expect((await env.registry.groups.list({ dealerId: one.id }, ALL)).items).toMatchObject([{ name: 'Trucks' }]);
        expect((await env.registry.groups.list({ ids: [] }, ALL)).items).toEqual([]);
        expect((await env.registry.groups.list({ ids: [other.id] }, ALL)).items).toEqual([other]);
      });

      test('putting a vehicle in and taking it out changes the vehicle, once each', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const truck = await env.registry.vehicles.create(vehicle('One'));
        await drain();
        await env.registry.groups.setVehicle(group.id, truck.id, true);
        await env.registry.groups.setVehicle(group.id, truck.id, true);
        expect(await drain()).toMatchObject([{ id: truck.id, version: 2, definition: { groupIds: [group.id] } }]);
        expect(await env.registry.groups.vehicleIds(group.id)).toEqual([truck.id]);
        await env.registry.groups.setVehicle(group.id, truck.id, false);
        await env.registry.groups.setVehicle(group.id, truck.id, false);
        expect(await drain()).toMatchObject([{ id: truck.id, version: 3, definition: { groupIds: [] } }]);
        expect(await env.registry.groups.vehicleIds(group.id)).toEqual([]);
      });

      test('giving and taking access changes the user, once each', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const boss = await operator();
        await drain();
        await env.registry.groups.setUser(group.id, boss.id, true);
        await env.registry.groups.setUser(group.id, boss.id, true);
        expect(await drain()).toMatchObject([{ id: boss.id, version: 2, definition: { groupIds: [group.id] } }]);
        expect(await env.registry.groups.userIds(group.id)).toEqual([boss.id]);
        await env.registry.groups.setUser(group.id, boss.id, false);
        expect(await drain()).toMatchObject([{ id: boss.id, version: 3, definition: { groupIds: [] } }]);
      });

      test('members and groups must exist', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const truck = await env.registry.vehicles.create(vehicle('One'));
        const absent = { name: 'NotFoundError' };
        await expect(env.registry.groups.setVehicle(ABSENT as GroupId, truck.id, true)).rejects.toMatchObject(absent);
        await expect(env.registry.groups.setVehicle(group.id, ABSENT as VehicleId, true)).rejects.toMatchObject(absent);
        await expect(env.registry.groups.setUser(group.id, ABSENT as UserId, true)).rejects.toMatchObject(absent);
      });

      test('deleting a group changes everything that names it', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const other = await env.registry.groups.create({ name: 'B', dealerId: null });
        const boss = await env.registry.users.create(
          user('boss', { role: 'operator', groupIds: [group.id] }),
          'a password',
        );
        const one = await env.registry.vehicles.create(vehicle('One', { groupIds: [group.id, other.id] }));
        const two = await env.registry.vehicles.create(vehicle('Two', { groupIds: [other.id] }));
        const only = await env.registry.geofences.create(geofence('Only', boss.id, { groupIds: [group.id] }));
        const all = await env.registry.geofences.create(geofence('All', boss.id));
        await drain();
        await env.registry.groups.delete(group.id, 1);
        const changes = await drain();
        expect(new Map(changes.map((change) => [change.id, change.definition]))).toEqual(
          new Map<string, unknown>([
            [group.id, null],
            [one.id, { ...one, version: 2, groupIds: [other.id] }],
            [boss.id, { ...boss, version: 2, groupIds: [] }],
            // Not null: that would make it watch every vehicle.
            [only.id, { ...only, version: 2, groupIds: [] }],
          ]),
        );
        expect(changes).toHaveLength(4);
        expect(await env.registry.geofences.get(only.id)).toMatchObject({ groupIds: [] });
        expect(await env.registry.geofences.get(all.id)).toEqual(all);
        expect(await env.registry.vehicles.get(two.id)).toEqual(two);
      });

      test('a group of more members than one statement takes can be deleted', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const members = Array.from({ length: 1100 }, (_, n) => vehicle(`Truck ${n}`, { groupIds: [group.id] }));
        await env.registry.vehicles.writeAll(
          members.map((fields) => ({ id: null, fields })),
          false,
        );
        await drain();
        await env.registry.groups.delete(group.id, null);
        expect(await drain()).toHaveLength(1101);
        expect((await env.registry.vehicles.list({}, { limit: 1, after: null })).items).toMatchObject([
          { groupIds: [] },
        ]);
      });
    });

    describe('users', () => {
      test('a new user comes with a group of their own', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const created = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        expect(created.groupIds).toHaveLength(1);
        const groupId = created.groupIds[0] as GroupId;
        expect(await env.registry.groups.get(groupId)).toMatchObject({ name: 'anna', dealerId: dealer.id });
        expect(await env.registry.users.get(created.id)).toEqual(created);
        expect(dealer.groupIds).toEqual([]);
      });

      test('where the name of the own group is taken, another is found', async () => {
        await env.registry.groups.create({ name: 'anna', dealerId: null });
        const created = await env.registry.users.create(user('anna'), 'a long password');
        expect(await env.registry.groups.get(created.groupIds[0] as GroupId)).toMatchObject({ name: 'anna (2)' });
      });

      test('a login is unique whatever its case', async () => {
        await env.registry.users.create(user('Anna'), 'a long password');
        await expect(env.registry.users.create(user('aNNA'), 'a long password')).rejects.toMatchObject({
          name: 'ConflictError',
          kind: 'user',
          field: 'login',
        });
        const ben = await env.registry.users.create(user('ben'), 'a long password');
        await expect(env.registry.users.update(ben.id, null, { login: 'ANNA' })).rejects.toBeInstanceOf(ConflictError);
        expect(await env.registry.users.byLogin('ANNA')).toMatchObject({ login: 'Anna' });
      });

      test('only the right password of an existing login is let in', async () => {
        const created = await env.registry.users.create(user('anna'), 'correct horse');
        expect(await env.registry.users.authenticate('Anna', 'correct horse')).toEqual(created);
        expect(await env.registry.users.authenticate('anna', 'correct horsE')).toBeNull();
        expect(await env.registry.users.authenticate('nobody', 'correct horse')).toBeNull();
        await env.registry.users.setPassword(created.id, 'battery staple', null);
        expect(await env.registry.users.authenticate('anna', 'correct horse')).toBeNull();
        expect(await env.registry.users.authenticate('anna', 'battery staple')).toEqual(created);
      });

      test('nothing that is read or published holds a password', async () => {
        const created = await env.registry.users.create(user('anna'), 'correct horse');
        const published = JSON.stringify([
          created,
          await env.registry.outbox.pending(100),
          await env.registry.snapshot(),
        ]);
        expect(published).not.toContain('argon2');
        expect(published).not.toContain('correct horse');
      });

      test('blocking ends the sessions, unblocking does not bring them back', async () => {
        const created = await env.registry.users.create(user('anna'), 'a long password');
        const session = await env.registry.sessions.create(created.id, 60_000, '192.0.2.1', 'curl');
        await env.registry.users.update(created.id, null, { name: 'Anna' });
        expect(await env.registry.sessions.get(session.id)).toEqual(session);
        await env.registry.users.update(created.id, null, { blocked: true });
        expect(await env.registry.sessions.get(session.id)).toBeNull();
        await env.registry.users.update(created.id, null, { blocked: false });
        expect(await env.registry.sessions.get(session.id)).toBeNull();
      });

      test('another password ends every session but the one that asked', async () => {
        const created = await env.registry.users.create(user('anna'), 'a long password');
        const other = await env.registry.users.create(user('ben'), 'a long password');
        const [asking, second] = [
          await env.registry.sessions.create(created.id, 60_000, '192.0.2.1', 'curl'),
          await env.registry.sessions.create(created.id, 60_000, '192.0.2.2', 'curl'),
        ];
        const unconcerned = await env.registry.sessions.create(other.id, 60_000, '192.0.2.3', 'curl');
        await env.registry.users.setPassword(created.id, 'another password', asking.id);
        expect(await env.registry.sessions.get(asking.id)).toEqual(asking);
        expect(await env.registry.sessions.get(second.id)).toBeNull();
        expect(await env.registry.sessions.get(unconcerned.id)).toEqual(unconcerned);
      });

      test('deleting a user deletes the geofences and keeps the vehicles', async () => {
        const created = await env.registry.users.create(user('anna'), 'a long password');
        const truck = await env.registry.vehicles.create(vehicle('One', { groupIds: created.groupIds }));
        const depot = await env.registry.geofences.create(
          geofence('Depot', created.id, { groupIds: created.groupIds }),
        );
        const session = await env.registry.sessions.create(created.id, 60_000, '192.0.2.1', 'curl');
        await drain();
        await env.registry.users.delete(created.id, 1);
        const changes = await drain();
        expect(changes.map(({ id, version, definition }) => ({ id, version, definition }))).toEqual([
          { id: depot.id, version: 2, definition: null },
          { id: created.id, version: 2, definition: null },
        ]);
        expect(await env.registry.vehicles.get(truck.id)).toEqual(truck);
        expect(await env.registry.sessions.get(session.id)).toBeNull();
        expect(await env.registry.users.authenticate('anna', 'a long password')).toBeNull();
      });

      test('what a deleted dealer had becomes the operator’s own', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const mine = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        await env.registry.groups.create({ name: 'anna', dealerId: null });
        const truck = await env.registry.vehicles.create(vehicle('One', { dealerId: dealer.id }));
        await drain();
        await env.registry.users.delete(dealer.id, null);
        const published = new Map((await drain()).map((change) => [change.id, change]));
        expect(published.get(truck.id)).toMatchObject({ version: 2, definition: { dealerId: null } });
        expect(published.get(mine.id)).toMatchObject({ version: 2, definition: { dealerId: null } });
        expect(published.get(mine.groupIds[0] as string)).toMatchObject({
          version: 2,
          definition: { dealerId: null, name: 'anna (2)' },
        });
        expect(published.get(dealer.id)).toMatchObject({ version: 2, definition: null });
        expect(published.size).toBe(4);
      });

      test('a list can be narrowed to a dealer with the dealer’s users', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const mine = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        await env.registry.users.create(user('ben'), 'a long password');
        const page = await env.registry.users.list({ ofDealer: dealer.id }, ALL);
        expect(page.items.map((u) => u.id)).toEqual([dealer.id, mine.id].toSorted());
        expect((await env.registry.users.list({ id: mine.id }, ALL)).items).toEqual([mine]);
      });
    });

    describe('geofences', () => {
      test('each shape is kept to the last digit', async () => {
        const boss = await operator();
        const ring = [
          [179.1234567, -10],
          [-179.7654321, -10.5],
          [180, -11],
          [179.1234567, -10],
        ] as const;
        for (const shape of [
          { type: 'polygon', rings: [ring] },
          { type: 'circle', center: [0.1, 0.2], radiusM: 0.30000000000000004 },
          { type: 'line', path: ring.slice(0, 2), widthM: 25 },
        ] as const) {
          const created = await env.registry.geofences.create(geofence(`A ${shape.type}`, boss.id, { shape }));
          expect(await env.registry.geofences.get(created.id)).toEqual({ ...created, shape });
        }
      });

      test('a name is unique per owner', async () => {
        const boss = await operator();
        const anna = await env.registry.users.create(user('anna'), 'a long password');
        await env.registry.geofences.create(geofence('Depot', boss.id));
        await env.registry.geofences.create(geofence('Depot', anna.id));
        await expect(env.registry.geofences.create(geofence('Depot', anna.id))).rejects.toMatchObject({
          name: 'ConflictError',
          kind: 'geofence',
          field: 'name',
        });
        await expect(env.registry.geofences.create(geofence('Depot', ABSENT as UserId))).rejects.toBeInstanceOf(
          UnknownReferenceError,
        );
      });

      test('it can watch everything, some groups, or everything again', async () => {
        const boss = await operator();
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const created = await env.registry.geofences.create(geofence('Depot', boss.id));
        expect(await env.registry.geofences.update(created.id, 1, { groupIds: [group.id] })).toMatchObject({
          version: 2,
          groupIds: [group.id],
        });
        expect(await env.registry.geofences.get(created.id)).toMatchObject({ version: 2, groupIds: [group.id] });
        await env.registry.geofences.update(created.id, 2, { groupIds: null });
        expect(await env.registry.geofences.get(created.id)).toEqual({ ...created, version: 3 });
        await env.registry.geofences.delete(created.id, 3);
        expect(await env.registry.geofences.get(created.id)).toBeNull();
      });

      test('a list can be narrowed to an owner, and to a dealer with the dealer’s users', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const ben = await env.registry.users.create(user('ben'), 'a long password');
        const made = new Map<UserId, GeofenceId>();
        for (const owner of [dealer, anna, ben])
          made.set(owner.id, (await env.registry.geofences.create(geofence('Depot', owner.id))).id);
        const ids = async (filter: Parameters<Registry['geofences']['list']>[0]) =>
          (await env.registry.geofences.list(filter, ALL)).items.map((g) => g.id);
        expect(await ids({ ownerId: ben.id })).toEqual([made.get(ben.id)]);
        expect(await ids({ ofDealer: dealer.id })).toEqual([made.get(dealer.id), made.get(anna.id)].toSorted());
      });
    });

    describe('geofences that are shared', () => {
      test('are listed for the organisation, and for those who were given a group', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const ben = await env.registry.users.create(user('ben'), 'a long password');
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const made = new Map<string, GeofenceId>();
        const draw = async (name: string, ownerId: UserId, more: Parameters<typeof geofence>[2] = {}) =>
          made.set(name, (await env.registry.geofences.create(geofence(name, ownerId, more))).id);
        await draw('private', dealer.id);
        await draw('of the dealer', dealer.id, { sharedWithOrganisation: true, category: 'Depot' });
        await draw('of anna', anna.id, { sharedWithOrganisation: true, sharedGroupIds: [group.id] });
        await draw('of ben', ben.id, { sharedWithOrganisation: true });
        await draw('for a group', ben.id, { sharedGroupIds: [group.id] });
        const names = async (ownerId: UserId, organisation: UserId | null, groupIds: GroupId[]) =>
          (await env.registry.geofences.list({ ownerId, sharedWith: { organisation, groupIds } }, ALL)).items.map(
            ({ name }) => name,
          );
        const nobody = ABSENT as UserId;
        expect(await names(nobody, dealer.id, [])).toEqual(['of the dealer', 'of anna']);
        expect(await names(nobody, dealer.id, [group.id])).toEqual(['of the dealer', 'of anna', 'for a group']);
        expect(await names(dealer.id, null, [])).toEqual(['private', 'of the dealer', 'of ben']);
        await expect(
          env.registry.geofences.create(geofence('X', ben.id, { sharedGroupIds: [ABSENT as GroupId] })),
        ).rejects.toBeInstanceOf(UnknownReferenceError);
        const snapshot = (await env.registry.snapshot()).find(({ id }) => id === made.get('of anna'));
        expect(snapshot?.definition).toMatchObject({ sharedWithOrganisation: true, sharedGroupIds: [group.id] });
        await env.registry.groups.delete(group.id, null);
        expect(await env.registry.geofences.get(made.get('for a group') as GeofenceId)).toMatchObject({
          version: 2,
          sharedGroupIds: [],
        });
      });

      test('stay with the organisation when their owner is deleted; others go', async () => {
        const boss = await operator();
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const ben = await env.registry.users.create(user('ben'), 'a long password');
        const shared = { sharedWithOrganisation: true };
        await env.registry.geofences.create(geofence('Depot', dealer.id));
        const depot = await env.registry.geofences.create(geofence('Depot', anna.id, shared));
        const home = await env.registry.geofences.create(geofence('Home', anna.id));
        const yard = await env.registry.geofences.create(geofence('Yard', ben.id, shared));
        await env.registry.users.delete(anna.id, null);
        expect(await env.registry.geofences.get(depot.id)).toEqual({
          ...depot,
          ownerId: dealer.id,
          name: 'Depot (2)',
          version: 2,
        });
        expect(await env.registry.geofences.get(home.id)).toBeNull();
        const by = { user: boss, sessionId: null, address: null };
        await env.registry.as(by).users.delete(ben.id, null);
        expect(await env.registry.geofences.get(yard.id)).toMatchObject({ ownerId: boss.id, name: 'Yard' });
        // An organisation ends with its dealer.
        await env.registry.users.delete(dealer.id, null);
        expect(await env.registry.geofences.get(depot.id)).toBeNull();
      });
    });

    describe('sessions', () => {
      test('a session lives until its time is over', async () => {
        const boss = await operator();
        const session = await env.registry.sessions.create(boss.id, 60_000, '192.0.2.1', 'curl');
        env.nowMs += 59_999;
        expect(await env.registry.sessions.get(session.id)).toEqual(session);
        expect(await env.registry.sessions.listOf(boss.id)).toEqual([session]);
        env.nowMs += 1;
        expect(await env.registry.sessions.get(session.id)).toBeNull();
        expect(await env.registry.sessions.listOf(boss.id)).toEqual([]);
      });

      test('a use is noted with its address, and the last used is listed first', async () => {
        const boss = await operator();
        const first = await env.registry.sessions.create(boss.id, 60_000, '192.0.2.1', 'curl');
        env.nowMs += 1000;
        const second = await env.registry.sessions.create(boss.id, 60_000, '192.0.2.2', 'curl');
        env.nowMs += 1000;
        await env.registry.sessions.touch(first.id, '2001:db8::1');
        expect(await env.registry.sessions.listOf(boss.id)).toEqual([
          { ...first, lastUsedAtMs: env.nowMs, address: '2001:db8::1' },
          second,
        ]);
      });

      test('those of all users are listed page by page, the last used first', async () => {
        const boss = await operator();
        const made = [];
        for (let n = 0; n < 5; n += 1) {
          // Two were used at the same time.
          if (n !== 2) env.nowMs += 1000;
          made.push(await env.registry.sessions.create(boss.id, 60_000, '192.0.2.1', `curl ${n}`));
        }
        const { sessions } = env.registry;
        const first = await sessions.list(2, null);
        const second = await sessions.list(2, first[1] ?? null);
        const third = await sessions.list(2, second[1] ?? null);
        expect([...first, ...second, ...third].map(({ userAgent }) => userAgent)).toEqual([
          'curl 4',
          'curl 3',
          'curl 2',
          'curl 1',
          'curl 0',
        ]);
        expect(await sessions.list(2, third[0] ?? null)).toEqual([]);
      });

      test('a session that was ended is over, and can not be ended twice', async () => {
        const boss = await operator();
        const session = await env.registry.sessions.create(boss.id, 60_000, '192.0.2.1', 'curl');
        await env.registry.sessions.end(session.id);
        expect(await env.registry.sessions.get(session.id)).toBeNull();
        await expect(env.registry.sessions.end(session.id)).rejects.toBeInstanceOf(NotFoundError);
        await expect(env.registry.sessions.end(ABSENT as SessionId)).rejects.toBeInstanceOf(NotFoundError);
      });

      test('a token that was replaced ends its session a minute after its successor was used', async () => {
        const boss = await operator();
        const { sessions } = env.registry;
        const { id } = await sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        expect(await sessions.refresh(id, 0, '192.0.2.1')).toBe(1);
        expect(await sessions.refresh(id, 1, '192.0.2.1')).toBe(2);
        env.nowMs += 120_000;
        // Nobody has used the second, so the first is as good.
        expect(await sessions.refresh(id, 1, '192.0.2.1')).toBe(3);
        await sessions.noteToken(id, 3);
        env.nowMs += 60_000;
        await sessions.noteToken(id, 2);
        await sessions.noteToken(id, 3);
        for (const [nth, given] of [1, 2, 3, 0, null].entries())
          expect(await sessions.refresh(id, given, '192.0.2.1')).toBe(4 + nth);
        env.nowMs += 1;
        for (const [nth, given] of [3, 0, null].entries())
          expect(await sessions.refresh(id, given, '192.0.2.1')).toBe(9 + nth);
        expect(await sessions.refresh(id, 2, '203.0.113.9')).toBe('reused');
        expect(await sessions.get(id)).toBeNull();
        expect(await sessions.refresh(id, 3, '192.0.2.1')).toBeNull();
        const [entry] = (await env.registry.audit.list({}, { limit: 1, after: null })).items;
        expect(entry).toMatchObject({ action: 'token-reused', after: { reusedFrom: '203.0.113.9' } });
      });

      test('a user has a bounded number of sessions: the longest unused makes room', async () => {
        const boss = await operator();
        const first = await env.registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        env.nowMs += 1;
        const second = await env.registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        for (let n = 2; n < MAX_SESSIONS_PER_USER; n += 1) {
          env.nowMs += 1;
          await env.registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        }
        env.nowMs += 1;
        await env.registry.sessions.touch(first.id, '192.0.2.1');
        await env.registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        expect(await env.registry.sessions.listOf(boss.id)).toHaveLength(MAX_SESSIONS_PER_USER);
        expect(await env.registry.sessions.get(first.id)).not.toBeNull();
        expect(await env.registry.sessions.get(second.id)).toBeNull();
      });
    });

    describe('changes', () => {
      test('each holds the whole definition, in the order of the commits', async () => {
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        env.nowMs += 5;
        const truck = await env.registry.vehicles.create(vehicle('One', { groupIds: [group.id] }));
        const pending = await env.registry.outbox.pending(10);
        expect(pending.map((entry) => entry.change)).toEqual([
          { kind: 'group', id: group.id, version: 1, changedAtMs: env.nowMs - 5, definition: group },
          { kind: 'vehicle', id: truck.id, version: 1, changedAtMs: env.nowMs, definition: truck },
        ]);
      });

      test('the outbox gives the oldest first and forgets what was delivered', async () => {
        for (const name of ['A', 'B', 'C']) await env.registry.groups.create({ name, dealerId: null });
        const two = await env.registry.outbox.pending(2);
        expect(two.map((entry) => entry.change.definition)).toMatchObject([{ name: 'A' }, { name: 'B' }]);
        expect(await env.registry.outbox.pending(2)).toEqual(two);
        await env.registry.outbox.delivered(two.map((entry) => entry.seq));
        const [third] = await env.registry.outbox.pending(2);
        expect(third?.change.definition).toMatchObject({ name: 'C' });
        await env.registry.outbox.delivered([third?.seq ?? 0]);
        await env.registry.groups.create({ name: 'D', dealerId: null });
        const [fourth] = await env.registry.outbox.pending(2);
        // A number that was freed is not given out again: an old `delivered` could else remove a new change.
        expect(fourth?.seq).toBeGreaterThan(third?.seq ?? Number.NaN);
      });

      test('listeners hear of a commit before the call that made it resolves, and not of what failed', async () => {
        const received: DefinitionChange[] = [];
        const stop = env.registry.onChange((changes) => received.push(...changes));
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        expect(received.map((change) => change.definition)).toEqual([group]);
        await expect(env.registry.groups.create({ name: 'A', dealerId: null })).rejects.toBeInstanceOf(ConflictError);
        expect(received).toHaveLength(1);
        stop();
        await env.registry.groups.create({ name: 'B', dealerId: null });
        expect(received).toHaveLength(1);
      });

      test('a view built from a snapshot and from every change agree', async () => {
        const followed = await followRegistry(env.registry);
        const boss = await operator();
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const truck = await env.registry.vehicles.create(
          vehicle('One', { groupIds: [group.id], terminalId: '7' as TerminalId }),
        );
        await env.registry.geofences.create(geofence('Depot', boss.id, { groupIds: [group.id] }));
        await env.registry.users.update(boss.id, null, { blocked: true });
        await env.registry.groups.delete(group.id, null);
        const fresh = await followRegistry(env.registry);
        for (const of of ['users', 'vehicles', 'groups', 'geofences'] as const)
          expect(followed.directory[of]).toEqual(fresh.directory[of]);
        expect(followed.directory.users.get(boss.id)?.blocked).toBe(true);
        expect(followed.directory.vehicleOfTerminal('7' as TerminalId)?.id).toBe(truck.id);
        followed.stop();
        await env.registry.vehicles.delete(truck.id, null);
        expect(followed.directory.vehicles.has(truck.id)).toBe(true);
        expect(fresh.directory.vehicles.has(truck.id)).toBe(false);
      });
    });

    describe('a dealer that is blocked', () => {
      const blockedOf = async (...users: readonly { id: UserId }[]) =>
        Promise.all(users.map(async ({ id }) => (await env.registry.users.get(id))?.blocked));

      test('has its users blocked with it, and back with it, save those that are blocked themselves', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const other = await env.registry.users.create(user('other', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const boris = await env.registry.users.create(user('boris', { dealerId: dealer.id }), 'a long password');
        const carla = await env.registry.users.create(user('carla', { dealerId: other.id }), 'a long password');
        const followed = await followRegistry(env.registry);
        const all = [anna, boris, carla] as const;
        await env.registry.users.update(boris.id, null, { blocked: true });
        const session = await env.registry.sessions.create(anna.id, 3_600_000, '192.0.2.1', 'test');

        await env.registry.users.update(dealer.id, null, { blocked: true });
        expect(await blockedOf(...all)).toEqual([true, true, false]);
        expect(followed.directory.users.get(anna.id)).toMatchObject({ blocked: true, version: anna.version + 1 });
        expect(await env.registry.sessions.get(session.id)).toBeNull();
        const late = await env.registry.users.create(user('late', { dealerId: dealer.id }), 'a long password');
        expect(late.blocked).toBe(true);

        // What is done to an account meanwhile counts when the dealer is back.
        expect((await env.registry.users.update(anna.id, null, { name: 'Anna' })).blocked).toBe(true);
        expect((await env.registry.users.update(anna.id, null, { blocked: false })).blocked).toBe(true);
        await env.registry.users.update(late.id, null, { blocked: true });
        await env.registry.users.update(boris.id, null, { blocked: false });
        await env.registry.users.update(dealer.id, null, { blocked: false });
        expect(await blockedOf(...all, late)).toEqual([false, false, false, true]);
        expect(followed.directory.users.get(anna.id)?.blocked).toBe(false);
        expect(followed.directory.users.get(late.id)?.blocked).toBe(true);
        followed.stop();
      });

      test('blocks users that come to it, and lets go of those that leave; deleted, it leaves them blocked', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna'), 'a long password');
        const boris = await env.registry.users.create(user('boris', { dealerId: dealer.id }), 'a long password');
        await env.registry.users.update(dealer.id, null, { blocked: true });
        expect((await env.registry.users.update(anna.id, null, { dealerId: dealer.id })).blocked).toBe(true);
        expect((await env.registry.users.update(anna.id, null, { dealerId: null })).blocked).toBe(false);
        await env.registry.users.delete(dealer.id, null);
        expect(await env.registry.users.get(boris.id)).toMatchObject({ dealerId: null, blocked: true });
        expect((await env.registry.users.update(boris.id, null, { blocked: false })).blocked).toBe(false);
      });
    });

    describe('where an account is logged in from', () => {
      test('is known by its login, the last 20 places, until the account is deleted', async () => {
        const anna = await env.registry.users.create(user('anna'), 'a long password');
        await env.registry.users.create(user('boris'), 'a long password');
        const { sessions } = env.registry;
        for (let nth = 1; nth <= 21; nth++) {
          env.nowMs += 1000;
          await sessions.noteSource(anna.id, `192.0.2.${nth}`);
        }
        expect(await sessions.knowsSource('anna', '192.0.2.1')).toBe(false);
        for (const source of ['192.0.2.2', '192.0.2.21']) expect(await sessions.knowsSource('ANNA', source)).toBe(true);
        for (const login of ['boris', 'nobody', 'an\u0000na'])
          expect(await sessions.knowsSource(login, '192.0.2.2')).toBe(false);
        await sessions.noteSource(anna.id, '192.0.2.2');
        await sessions.noteSource(anna.id, '192.0.2.22');
        expect(await sessions.knowsSource('anna', '192.0.2.2')).toBe(true);
        await env.registry.users.delete(anna.id, null);
        await env.registry.users.create(user('anna'), 'a long password');
        expect(await sessions.knowsSource('anna', '192.0.2.2')).toBe(false);
      });
    });

    describe('a geofence that was deleted', () => {
      test('keeps its last name, its owner and the owner’s dealer, as the owner is or last was', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const other = await env.registry.users.create(user('other', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const depot = await env.registry.geofences.create(geofence('Depot', anna.id));
        const yard = await env.registry.geofences.create(geofence('Yard', dealer.id));
        expect(await env.registry.geofences.deleted([depot.id])).toEqual([]);
        const owner = { id: anna.id, role: 'user', dealerId: dealer.id };
        const sharing = { sharedWithOrganisation: false, sharedGroupIds: [] };
        const ownerOf = { id: depot.id, ownerId: anna.id, owner, ...sharing };
        expect(await env.registry.geofences.ownersOf([depot.id, ABSENT as GeofenceId])).toEqual([ownerOf]);
        await env.registry.geofences.update(depot.id, null, { name: 'Main depot' });
        await env.registry.geofences.delete(depot.id, null);
        await env.registry.geofences.delete(yard.id, null);
        const gone = { ...ownerOf, name: 'Main depot' };
        expect(await env.registry.geofences.deleted([depot.id, ABSENT as GeofenceId])).toEqual([gone]);
        expect(await env.registry.geofences.ownersOf([depot.id])).toMatchObject([ownerOf]);
        const idsOf = async () =>
          Promise.all(
            [{ ownerId: anna.id }, { ofDealer: dealer.id }, { ofDealer: other.id }].map((filter) =>
              env.registry.geofences.deletedIds(filter),
            ),
          );
        expect(await idsOf()).toEqual([[depot.id], [depot.id, yard.id], []]);
        await env.registry.users.update(anna.id, null, { dealerId: other.id });
        expect(await idsOf()).toEqual([[depot.id], [yard.id], [depot.id]]);
        // What the account had is deleted with it, and stays its last dealer's to know.
        const home = await env.registry.geofences.create(geofence('Home', anna.id));
        await env.registry.users.delete(anna.id, null);
        expect(await env.registry.geofences.deleted([home.id])).toMatchObject([
          { name: 'Home', owner: { id: anna.id, role: 'user', dealerId: other.id } },
        ]);
      });

      test('stays known to whom it was shared with', async () => {
        const dealer = await env.registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await env.registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const group = await env.registry.groups.create({ name: 'A', dealerId: null });
        const sharing = { sharedWithOrganisation: true, sharedGroupIds: [group.id] };
        const depot = await env.registry.geofences.create(geofence('Depot', dealer.id, sharing));
        const own = await env.registry.geofences.create(geofence('Own', anna.id));
        const other = await env.registry.geofences.create(geofence('Other', dealer.id));
        for (const { id } of [depot, own, other]) await env.registry.geofences.delete(id, null);
        expect(await env.registry.geofences.ownersOf([depot.id])).toMatchObject([sharing]);
        const ids = (organisation: UserId | null, groupIds: GroupId[]) =>
          env.registry.geofences.deletedIds({ ownerId: anna.id, sharedWith: { organisation, groupIds } });
        expect(await ids(dealer.id, [])).toEqual([depot.id, own.id]);
        expect(await ids(null, [group.id])).toEqual([depot.id, own.id]);
        expect(await ids(null, [])).toEqual([own.id]);
      });
    });

    describe('another process on the same database', () => {
      let other: Registry;
      beforeEach(async () => {
        other = await env.open();
      });
      afterEach(() => other.close());

      test('reads what was written before its refresh began: made, changed and deleted', async () => {
        const news: string[] = [];
        const followed = await followRegistry(other, ({ kind, version }) => news.push(`${kind} ${version}`));
        const boss = await operator();
        const depot = await env.registry.geofences.create(geofence('Depot', boss.id));
        expect(followed.directory.geofences.get(depot.id)).toBeUndefined();
        await followed.refresh();
        expect(followed.directory.geofences.get(depot.id)).toEqual(depot);
        const renamed = await env.registry.geofences.update(depot.id, null, { name: 'Yard' });
        await followed.refresh();
        expect(followed.directory.geofences.get(depot.id)).toEqual(renamed);
        await env.registry.geofences.delete(depot.id, null);
        await followed.refresh();
        expect(followed.directory.geofences.has(depot.id)).toBe(false);
        expect(news).toEqual(['user 1', 'geofence 1', 'geofence 2', 'geofence 3']);
        // Its own changes are in force at once, and no news.
        const own = await other.groups.create({ name: 'Own', dealerId: null });
        expect(followed.directory.groups.get(own.id)).toEqual(own);
        await followed.refresh();
        expect(news).toHaveLength(4);
        followed.stop();
      });

      test('reads every write of many that come at once, each by a refresh that began after its answer', async () => {
        const followed = await followRegistry(other);
        await Promise.all(
          Array.from({ length: 40 }, async (_, n) => {
            const truck = await env.registry.vehicles.create(vehicle(`Truck ${n}`));
            await followed.refresh();
            expect(followed.directory.vehicles.get(truck.id)).toEqual(truck);
          }),
        );
        followed.stop();
      });

      test('reads everything anew where it missed more changes than are kept', { timeout: 120_000 }, async () => {
        const followed = await followRegistry(other);
        const gone = await env.registry.vehicles.create(vehicle('Gone'));
        const kept = await env.registry.vehicles.create(vehicle('Kept'));
        await followed.refresh();
        await env.registry.vehicles.delete(gone.id, null);
        const many = Array.from({ length: 10_500 }, (_, n) => ({ id: null, fields: vehicle(`Van ${n}`) }));
        await env.registry.vehicles.writeAll(many, false);
        expect(await env.registry.recentChanges.after(0)).toBe('too-many');
        await followed.refresh();
        expect(followed.directory.vehicles.size).toBe(10_501);
        expect(followed.directory.vehicles.has(gone.id)).toBe(false);
        expect(followed.directory.vehicles.get(kept.id)).toEqual(kept);
        followed.stop();
      });
    });

    test('everything is there after the database was closed and opened again', async () => {
      const boss = await operator();
      const truck = await env.registry.vehicles.create(vehicle('One'));
      const pending = await env.registry.outbox.pending(100);
      await env.reopen();
      expect(await env.registry.users.authenticate('boss', 'a long password')).toEqual(boss);
      expect(await env.registry.vehicles.get(truck.id)).toEqual(truck);
      expect(await env.registry.outbox.pending(100)).toEqual(pending);
      await env.registry.ping();
    });
  });
}
