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
  userFields as user,
  vehicleFields as vehicle,
} from './fields.fixture.ts';
import {
  ConflictError,
  followRegistry,
  MAX_SESSIONS_PER_USER,
  NotFoundError,
  type Registry,
  StaleError,
  UnknownReferenceError,
} from './index.ts';

/** A registry on an empty database, and a way to open the same database again. */
export interface Place {
  open(now: () => number): Promise<Registry>;
  remove(): Promise<void>;
}

/** What every adapter of the registry promises. */
export function registryConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`registry on ${name}`, () => {
    let place: Place;
    let registry: Registry;
    let nowMs: number;
    const now = () => nowMs;
    const operator = () => registry.users.create(user('boss', { role: 'operator' }), 'a long password');

    beforeEach(async () => {
      nowMs = Date.UTC(2026, 0, 15, 12);
      place = await newPlace();
      registry = await place.open(now);
    });
    afterEach(async () => {
      await registry.close();
      await place.remove();
    });

    /** What waits in the outbox, which is then emptied. */
    async function drain(): Promise<DefinitionChange[]> {
      const pending = await registry.outbox.pending(10_000);
      await registry.outbox.delivered(pending.map((entry) => entry.seq));
      return pending.map((entry) => entry.change);
    }

    describe('vehicles', () => {
      test('a vehicle is kept whole, with its groups sorted', async () => {
        const a = await registry.groups.create({ name: 'A', dealerId: null });
        const b = await registry.groups.create({ name: 'B', dealerId: null });
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
        const created = await registry.vehicles.create(fields);
        expect(created).toEqual({ ...fields, kind: 'vehicle', id: created.id, version: 1, groupIds: [a.id, b.id] });
        expect(await registry.vehicles.get(created.id)).toEqual(created);
      });

      test('an update changes what it names, and no more', async () => {
        const created = await registry.vehicles.create(vehicle('Truck 1', { plate: 'X' }));
        const updated = await registry.vehicles.update(created.id, 1, { name: 'Truck 2', speedLimitKmh: 60 });
        expect(updated).toEqual({ ...created, version: 2, name: 'Truck 2', speedLimitKmh: 60 });
        expect(await registry.vehicles.get(created.id)).toEqual(updated);
      });

      test('what is learnt of a terminal is a change, and no version that an edit could miss', async () => {
        const terminalId = '356307042441013' as TerminalId;
        const { terminalAccess, ...fields } = vehicle('Truck 1', { terminalId });
        const created = await registry.vehicles.create(fields);
        const contact = { vehicleId: created.id, terminalId, protocol: 'teltonika', registrationHash: null } as const;
        await registry.vehicles.learn([contact]);
        await registry.vehicles.learn([contact]);
        const learnt = await registry.vehicles.get(created.id);
        expect(learnt).toEqual({
          ...created,
          terminalAccess: { ...created.terminalAccess, protocol: 'teltonika', seen: true, revision: 1 },
        });
        const edited = await registry.vehicles.update(created.id, created.version, { name: 'Truck 2' });
        expect(edited).toEqual({ ...learnt, name: 'Truck 2', version: 2 });
        await registry.vehicles.delete(created.id, 2);
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

      test('an update that changes nothing makes no version and no change', async () => {
        const created = await registry.vehicles.create(vehicle('Truck 1'));
        await drain();
        expect(await registry.vehicles.update(created.id, 1, { name: 'Truck 1', plate: null })).toEqual(created);
        expect(await drain()).toEqual([]);
      });

      test('an update from an older version is refused with what now stands there', async () => {
        const created = await registry.vehicles.create(vehicle('Truck 1'));
        const newer = await registry.vehicles.update(created.id, 1, { name: 'Truck 2' });
        const stale = await registry.vehicles.update(created.id, 1, { name: 'Truck 3' }).catch((error) => error);
        expect(stale).toBeInstanceOf(StaleError);
        expect((stale as StaleError).current).toEqual(newer);
        await expect(registry.vehicles.delete(created.id, 1)).rejects.toBeInstanceOf(StaleError);
        expect(await registry.vehicles.get(created.id)).toEqual(newer);
      });

      test('of many updates of one version at a time, one wins', async () => {
        const created = await registry.vehicles.create(vehicle('Truck 1'));
        const results = await Promise.allSettled(
          Array.from({ length: 8 }, (_, n) => registry.vehicles.update(created.id, 1, { name: `Truck ${n + 2}` })),
        );
        const won = results.filter((result) => result.status === 'fulfilled');
        expect(won).toHaveLength(1);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StaleError);
        expect(await registry.vehicles.get(created.id)).toEqual(won[0]?.value);
      });

      test('a terminal is fitted to one vehicle at a time', async () => {
        const terminalId = '100' as TerminalId;
        const first = await registry.vehicles.create(vehicle('One', { terminalId }));
        const second = await registry.vehicles.create(vehicle('Two'));
        const taken = { name: 'ConflictError', kind: 'vehicle', field: 'terminalId' };
        await expect(registry.vehicles.create(vehicle('Three', { terminalId }))).rejects.toMatchObject(taken);
        await expect(registry.vehicles.update(second.id, null, { terminalId })).rejects.toMatchObject(taken);
        await registry.vehicles.update(first.id, null, { terminalId: null });
        expect(await registry.vehicles.update(second.id, null, { terminalId })).toMatchObject({ terminalId });
        expect((await registry.vehicles.list({ terminalId }, ALL)).items.map((v) => v.id)).toEqual([second.id]);
      });

      test('of many vehicles made at once with one terminal, one is made', async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 6 }, (_, n) =>
            registry.vehicles.create(vehicle(`Truck ${n}`, { terminalId: '100' as TerminalId })),
          ),
        );
        expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ConflictError);
      });

      test('a group or a dealer that does not exist is refused, and nothing is kept', async () => {
        const boss = await operator();
        await drain();
        await expect(registry.vehicles.create(vehicle('One', { groupIds: [ABSENT as GroupId] }))).rejects.toMatchObject(
          { name: 'UnknownReferenceError', field: 'groupIds', id: ABSENT },
        );
        // An operator exists, but is no dealer.
        await expect(registry.vehicles.create(vehicle('One', { dealerId: boss.id }))).rejects.toMatchObject({
          name: 'UnknownReferenceError',
          field: 'dealerId',
        });
        expect((await registry.vehicles.list({}, ALL)).items).toEqual([]);
        expect(await drain()).toEqual([]);
      });

      test('a deletion is a change of its own version with nothing in its place', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const created = await registry.vehicles.create(vehicle('One', { groupIds: [group.id] }));
        await drain();
        nowMs += 1000;
        await registry.vehicles.delete(created.id, 1);
        expect(await drain()).toEqual([
          { kind: 'vehicle', id: created.id, version: 2, changedAtMs: nowMs, definition: null },
        ]);
        expect(await registry.vehicles.get(created.id)).toBeNull();
        await expect(registry.vehicles.delete(created.id, null)).rejects.toBeInstanceOf(NotFoundError);
        await expect(registry.vehicles.update(created.id, null, {})).rejects.toBeInstanceOf(NotFoundError);
      });

      test('a list is in the order of creation, page by page, each vehicle once', async () => {
        const made: VehicleId[] = [];
        for (let n = 0; n < 7; n += 1) made.push((await registry.vehicles.create(vehicle(`Truck ${n}`))).id);
        const seen: VehicleId[] = [];
        let after: string | null = null;
        const sizes: number[] = [];
        do {
          const page: Awaited<ReturnType<typeof registry.vehicles.list>> = await registry.vehicles.list(
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
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const a = await registry.groups.create({ name: 'A', dealerId: null });
        const b = await registry.groups.create({ name: 'B', dealerId: null });
        const inBoth = await registry.vehicles.create(vehicle('both', { groupIds: [a.id, b.id] }));
        const inB = await registry.vehicles.create(vehicle('b', { groupIds: [b.id] }));
        const sold = await registry.vehicles.create(vehicle('sold', { dealerId: dealer.id }));
        const ids = async (filter: Parameters<Registry['vehicles']['list']>[0]) =>
          (await registry.vehicles.list(filter, ALL)).items.map((v) => v.id);
        expect(await ids({ anyOfGroups: [a.id, b.id] })).toEqual([inBoth.id, inB.id].toSorted());
        expect(await ids({ anyOfGroups: [a.id] })).toEqual([inBoth.id]);
        expect(await ids({ anyOfGroups: [] })).toEqual([]);
        expect(await ids({ dealerId: dealer.id })).toEqual([sold.id]);
      });
    });

    describe('groups', () => {
      test('a name is unique within a dealer, not among dealers', async () => {
        const one = await registry.users.create(user('one', { role: 'dealer' }), 'a long password');
        const two = await registry.users.create(user('two', { role: 'dealer' }), 'a long password');
        await registry.groups.create({ name: 'Trucks', dealerId: one.id });
        await registry.groups.create({ name: 'Trucks', dealerId: two.id });
        await registry.groups.create({ name: 'Trucks', dealerId: null });
        for (const dealerId of [one.id, null])
          await expect(registry.groups.create({ name: 'Trucks', dealerId })).rejects.toMatchObject({
            name: 'ConflictError',
            kind: 'group',
            field: 'name',
          });
        const other = await registry.groups.create({ name: 'Cars', dealerId: null });
        await expect(registry.groups.update(other.id, 1, { name: 'Trucks' })).rejects.toBeInstanceOf(ConflictError);
        expect((await registry.groups.list({ dealerId: one.id }, ALL)).items).toMatchObject([{ name: 'Trucks' }]);
        expect((await registry.groups.list({ ids: [] }, ALL)).items).toEqual([]);
        expect((await registry.groups.list({ ids: [other.id] }, ALL)).items).toEqual([other]);
      });

      test('putting a vehicle in and taking it out changes the vehicle, once each', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const truck = await registry.vehicles.create(vehicle('One'));
        await drain();
        await registry.groups.setVehicle(group.id, truck.id, true);
        await registry.groups.setVehicle(group.id, truck.id, true);
        expect(await drain()).toMatchObject([{ id: truck.id, version: 2, definition: { groupIds: [group.id] } }]);
        expect(await registry.groups.vehicleIds(group.id)).toEqual([truck.id]);
        await registry.groups.setVehicle(group.id, truck.id, false);
        await registry.groups.setVehicle(group.id, truck.id, false);
        expect(await drain()).toMatchObject([{ id: truck.id, version: 3, definition: { groupIds: [] } }]);
        expect(await registry.groups.vehicleIds(group.id)).toEqual([]);
      });

      test('giving and taking access changes the user, once each', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const boss = await operator();
        await drain();
        await registry.groups.setUser(group.id, boss.id, true);
        await registry.groups.setUser(group.id, boss.id, true);
        expect(await drain()).toMatchObject([{ id: boss.id, version: 2, definition: { groupIds: [group.id] } }]);
        expect(await registry.groups.userIds(group.id)).toEqual([boss.id]);
        await registry.groups.setUser(group.id, boss.id, false);
        expect(await drain()).toMatchObject([{ id: boss.id, version: 3, definition: { groupIds: [] } }]);
      });

      test('members and groups must exist', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const truck = await registry.vehicles.create(vehicle('One'));
        const absent = { name: 'NotFoundError' };
        await expect(registry.groups.setVehicle(ABSENT as GroupId, truck.id, true)).rejects.toMatchObject(absent);
        await expect(registry.groups.setVehicle(group.id, ABSENT as VehicleId, true)).rejects.toMatchObject(absent);
        await expect(registry.groups.setUser(group.id, ABSENT as UserId, true)).rejects.toMatchObject(absent);
      });

      test('deleting a group changes everything that names it', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const other = await registry.groups.create({ name: 'B', dealerId: null });
        const boss = await registry.users.create(
          user('boss', { role: 'operator', groupIds: [group.id] }),
          'a password',
        );
        const one = await registry.vehicles.create(vehicle('One', { groupIds: [group.id, other.id] }));
        const two = await registry.vehicles.create(vehicle('Two', { groupIds: [other.id] }));
        const only = await registry.geofences.create(geofence('Only', boss.id, { groupIds: [group.id] }));
        const all = await registry.geofences.create(geofence('All', boss.id));
        await drain();
        await registry.groups.delete(group.id, 1);
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
        expect(await registry.geofences.get(only.id)).toMatchObject({ groupIds: [] });
        expect(await registry.geofences.get(all.id)).toEqual(all);
        expect(await registry.vehicles.get(two.id)).toEqual(two);
      });

      test('a group of more members than one statement takes can be deleted', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        for (let n = 0; n < 1100; n += 1)
          await registry.vehicles.create(vehicle(`Truck ${n}`, { groupIds: [group.id] }));
        await drain();
        await registry.groups.delete(group.id, null);
        expect(await drain()).toHaveLength(1101);
        expect((await registry.vehicles.list({}, { limit: 1, after: null })).items).toMatchObject([{ groupIds: [] }]);
      });
    });

    describe('users', () => {
      test('a new user comes with a group of their own', async () => {
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const created = await registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        expect(created.groupIds).toHaveLength(1);
        const groupId = created.groupIds[0] as GroupId;
        expect(await registry.groups.get(groupId)).toMatchObject({ name: 'anna', dealerId: dealer.id });
        expect(await registry.users.get(created.id)).toEqual(created);
        expect(dealer.groupIds).toEqual([]);
      });

      test('where the name of the own group is taken, another is found', async () => {
        await registry.groups.create({ name: 'anna', dealerId: null });
        const created = await registry.users.create(user('anna'), 'a long password');
        expect(await registry.groups.get(created.groupIds[0] as GroupId)).toMatchObject({ name: 'anna (2)' });
      });

      test('a login is unique whatever its case', async () => {
        await registry.users.create(user('Anna'), 'a long password');
        await expect(registry.users.create(user('aNNA'), 'a long password')).rejects.toMatchObject({
          name: 'ConflictError',
          kind: 'user',
          field: 'login',
        });
        const ben = await registry.users.create(user('ben'), 'a long password');
        await expect(registry.users.update(ben.id, null, { login: 'ANNA' })).rejects.toBeInstanceOf(ConflictError);
        expect(await registry.users.byLogin('ANNA')).toMatchObject({ login: 'Anna' });
      });

      test('only the right password of an existing login is let in', async () => {
        const created = await registry.users.create(user('anna'), 'correct horse');
        expect(await registry.users.authenticate('Anna', 'correct horse')).toEqual(created);
        expect(await registry.users.authenticate('anna', 'correct horsE')).toBeNull();
        expect(await registry.users.authenticate('nobody', 'correct horse')).toBeNull();
        await registry.users.setPassword(created.id, 'battery staple', null);
        expect(await registry.users.authenticate('anna', 'correct horse')).toBeNull();
        expect(await registry.users.authenticate('anna', 'battery staple')).toEqual(created);
      });

      test('nothing that is read or published holds a password', async () => {
        const created = await registry.users.create(user('anna'), 'correct horse');
        const published = JSON.stringify([created, await registry.outbox.pending(100), await registry.snapshot()]);
        expect(published).not.toContain('argon2');
        expect(published).not.toContain('correct horse');
      });

      test('blocking ends the sessions, unblocking does not bring them back', async () => {
        const created = await registry.users.create(user('anna'), 'a long password');
        const session = await registry.sessions.create(created.id, 60_000, '192.0.2.1', 'curl');
        await registry.users.update(created.id, null, { name: 'Anna' });
        expect(await registry.sessions.get(session.id)).toEqual(session);
        await registry.users.update(created.id, null, { blocked: true });
        expect(await registry.sessions.get(session.id)).toBeNull();
        await registry.users.update(created.id, null, { blocked: false });
        expect(await registry.sessions.get(session.id)).toBeNull();
      });

      test('another password ends every session but the one that asked', async () => {
        const created = await registry.users.create(user('anna'), 'a long password');
        const other = await registry.users.create(user('ben'), 'a long password');
        const [asking, second] = [
          await registry.sessions.create(created.id, 60_000, '192.0.2.1', 'curl'),
          await registry.sessions.create(created.id, 60_000, '192.0.2.2', 'curl'),
        ];
        const unconcerned = await registry.sessions.create(other.id, 60_000, '192.0.2.3', 'curl');
        await registry.users.setPassword(created.id, 'another password', asking.id);
        expect(await registry.sessions.get(asking.id)).toEqual(asking);
        expect(await registry.sessions.get(second.id)).toBeNull();
        expect(await registry.sessions.get(unconcerned.id)).toEqual(unconcerned);
      });

      test('deleting a user deletes the geofences and keeps the vehicles', async () => {
        const created = await registry.users.create(user('anna'), 'a long password');
        const truck = await registry.vehicles.create(vehicle('One', { groupIds: created.groupIds }));
        const depot = await registry.geofences.create(geofence('Depot', created.id, { groupIds: created.groupIds }));
        const session = await registry.sessions.create(created.id, 60_000, '192.0.2.1', 'curl');
        await drain();
        await registry.users.delete(created.id, 1);
        const changes = await drain();
        expect(changes.map(({ id, version, definition }) => ({ id, version, definition }))).toEqual([
          { id: depot.id, version: 2, definition: null },
          { id: created.id, version: 2, definition: null },
        ]);
        expect(await registry.vehicles.get(truck.id)).toEqual(truck);
        expect(await registry.sessions.get(session.id)).toBeNull();
        expect(await registry.users.authenticate('anna', 'a long password')).toBeNull();
      });

      test('what a deleted dealer had becomes the operator’s own', async () => {
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const mine = await registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        await registry.groups.create({ name: 'anna', dealerId: null });
        const truck = await registry.vehicles.create(vehicle('One', { dealerId: dealer.id }));
        await drain();
        await registry.users.delete(dealer.id, null);
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
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const mine = await registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        await registry.users.create(user('ben'), 'a long password');
        const page = await registry.users.list({ ofDealer: dealer.id }, ALL);
        expect(page.items.map((u) => u.id)).toEqual([dealer.id, mine.id].toSorted());
        expect((await registry.users.list({ id: mine.id }, ALL)).items).toEqual([mine]);
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
          const created = await registry.geofences.create(geofence(`A ${shape.type}`, boss.id, { shape }));
          expect(await registry.geofences.get(created.id)).toEqual({ ...created, shape });
        }
      });

      test('a name is unique per owner', async () => {
        const boss = await operator();
        const anna = await registry.users.create(user('anna'), 'a long password');
        await registry.geofences.create(geofence('Depot', boss.id));
        await registry.geofences.create(geofence('Depot', anna.id));
        await expect(registry.geofences.create(geofence('Depot', anna.id))).rejects.toMatchObject({
          name: 'ConflictError',
          kind: 'geofence',
          field: 'name',
        });
        await expect(registry.geofences.create(geofence('Depot', ABSENT as UserId))).rejects.toBeInstanceOf(
          UnknownReferenceError,
        );
      });

      test('it can watch everything, some groups, or everything again', async () => {
        const boss = await operator();
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const created = await registry.geofences.create(geofence('Depot', boss.id));
        expect(await registry.geofences.update(created.id, 1, { groupIds: [group.id] })).toMatchObject({
          version: 2,
          groupIds: [group.id],
        });
        expect(await registry.geofences.get(created.id)).toMatchObject({ version: 2, groupIds: [group.id] });
        await registry.geofences.update(created.id, 2, { groupIds: null });
        expect(await registry.geofences.get(created.id)).toEqual({ ...created, version: 3 });
        await registry.geofences.delete(created.id, 3);
        expect(await registry.geofences.get(created.id)).toBeNull();
      });

      test('a list can be narrowed to an owner, and to a dealer with the dealer’s users', async () => {
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const ben = await registry.users.create(user('ben'), 'a long password');
        const made = new Map<UserId, GeofenceId>();
        for (const owner of [dealer, anna, ben])
          made.set(owner.id, (await registry.geofences.create(geofence('Depot', owner.id))).id);
        const ids = async (filter: Parameters<Registry['geofences']['list']>[0]) =>
          (await registry.geofences.list(filter, ALL)).items.map((g) => g.id);
        expect(await ids({ ownerId: ben.id })).toEqual([made.get(ben.id)]);
        expect(await ids({ ofDealer: dealer.id })).toEqual([made.get(dealer.id), made.get(anna.id)].toSorted());
      });
    });

    describe('sessions', () => {
      test('a session lives until its time is over', async () => {
        const boss = await operator();
        const session = await registry.sessions.create(boss.id, 60_000, '192.0.2.1', 'curl');
        nowMs += 59_999;
        expect(await registry.sessions.get(session.id)).toEqual(session);
        expect(await registry.sessions.listOf(boss.id)).toEqual([session]);
        nowMs += 1;
        expect(await registry.sessions.get(session.id)).toBeNull();
        expect(await registry.sessions.listOf(boss.id)).toEqual([]);
      });

      test('a use is noted with its address, and the last used is listed first', async () => {
        const boss = await operator();
        const first = await registry.sessions.create(boss.id, 60_000, '192.0.2.1', 'curl');
        nowMs += 1000;
        const second = await registry.sessions.create(boss.id, 60_000, '192.0.2.2', 'curl');
        nowMs += 1000;
        await registry.sessions.touch(first.id, '2001:db8::1');
        expect(await registry.sessions.listOf(boss.id)).toEqual([
          { ...first, lastUsedAtMs: nowMs, address: '2001:db8::1' },
          second,
        ]);
      });

      test('a session that was ended is over, and can not be ended twice', async () => {
        const boss = await operator();
        const session = await registry.sessions.create(boss.id, 60_000, '192.0.2.1', 'curl');
        await registry.sessions.end(session.id);
        expect(await registry.sessions.get(session.id)).toBeNull();
        await expect(registry.sessions.end(session.id)).rejects.toBeInstanceOf(NotFoundError);
        await expect(registry.sessions.end(ABSENT as SessionId)).rejects.toBeInstanceOf(NotFoundError);
      });

      test('a user has a bounded number of sessions: the longest unused makes room', async () => {
        const boss = await operator();
        const first = await registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        nowMs += 1;
        const second = await registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        for (let n = 2; n < MAX_SESSIONS_PER_USER; n += 1) {
          nowMs += 1;
          await registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        }
        nowMs += 1;
        await registry.sessions.touch(first.id, '192.0.2.1');
        await registry.sessions.create(boss.id, 600_000, '192.0.2.1', 'curl');
        expect(await registry.sessions.listOf(boss.id)).toHaveLength(MAX_SESSIONS_PER_USER);
        expect(await registry.sessions.get(first.id)).not.toBeNull();
        expect(await registry.sessions.get(second.id)).toBeNull();
      });
    });

    describe('changes', () => {
      test('each holds the whole definition, in the order of the commits', async () => {
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        nowMs += 5;
        const truck = await registry.vehicles.create(vehicle('One', { groupIds: [group.id] }));
        const pending = await registry.outbox.pending(10);
        expect(pending.map((entry) => entry.change)).toEqual([
          { kind: 'group', id: group.id, version: 1, changedAtMs: nowMs - 5, definition: group },
          { kind: 'vehicle', id: truck.id, version: 1, changedAtMs: nowMs, definition: truck },
        ]);
      });

      test('the outbox gives the oldest first and forgets what was delivered', async () => {
        for (const name of ['A', 'B', 'C']) await registry.groups.create({ name, dealerId: null });
        const two = await registry.outbox.pending(2);
        expect(two.map((entry) => entry.change.definition)).toMatchObject([{ name: 'A' }, { name: 'B' }]);
        expect(await registry.outbox.pending(2)).toEqual(two);
        await registry.outbox.delivered(two.map((entry) => entry.seq));
        const [third] = await registry.outbox.pending(2);
        expect(third?.change.definition).toMatchObject({ name: 'C' });
        await registry.outbox.delivered([third?.seq ?? 0]);
        await registry.groups.create({ name: 'D', dealerId: null });
        const [fourth] = await registry.outbox.pending(2);
        // A number that was freed is not given out again: an old `delivered` could else remove a new change.
        expect(fourth?.seq).toBeGreaterThan(third?.seq ?? Number.NaN);
      });

      test('listeners hear of a commit before the call that made it resolves, and not of what failed', async () => {
        const received: DefinitionChange[] = [];
        const stop = registry.onChange((changes) => received.push(...changes));
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        expect(received.map((change) => change.definition)).toEqual([group]);
        await expect(registry.groups.create({ name: 'A', dealerId: null })).rejects.toBeInstanceOf(ConflictError);
        expect(received).toHaveLength(1);
        stop();
        await registry.groups.create({ name: 'B', dealerId: null });
        expect(received).toHaveLength(1);
      });

      test('a view built from a snapshot and from every change agree', async () => {
        const followed = await followRegistry(registry);
        const boss = await operator();
        const group = await registry.groups.create({ name: 'A', dealerId: null });
        const truck = await registry.vehicles.create(
          vehicle('One', { groupIds: [group.id], terminalId: '7' as TerminalId }),
        );
        await registry.geofences.create(geofence('Depot', boss.id, { groupIds: [group.id] }));
        await registry.users.update(boss.id, null, { blocked: true });
        await registry.groups.delete(group.id, null);
        const fresh = await followRegistry(registry);
        for (const of of ['users', 'vehicles', 'groups', 'geofences'] as const)
          expect(followed.directory[of]).toEqual(fresh.directory[of]);
        expect(followed.directory.users.get(boss.id)?.blocked).toBe(true);
        expect(followed.directory.vehicleOfTerminal('7' as TerminalId)?.id).toBe(truck.id);
        followed.stop();
        await registry.vehicles.delete(truck.id, null);
        expect(followed.directory.vehicles.has(truck.id)).toBe(true);
        expect(fresh.directory.vehicles.has(truck.id)).toBe(false);
      });
    });

    describe('a dealer that is blocked', () => {
      const blockedOf = async (...users: readonly { id: UserId }[]) =>
        Promise.all(users.map(async ({ id }) => (await registry.users.get(id))?.blocked));

      test('has its users blocked with it, and back with it, save those that are blocked themselves', async () => {
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const other = await registry.users.create(user('other', { role: 'dealer' }), 'a long password');
        const anna = await registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const boris = await registry.users.create(user('boris', { dealerId: dealer.id }), 'a long password');
        const carla = await registry.users.create(user('carla', { dealerId: other.id }), 'a long password');
        const followed = await followRegistry(registry);
        const all = [anna, boris, carla] as const;
        await registry.users.update(boris.id, null, { blocked: true });
        const session = await registry.sessions.create(anna.id, 3_600_000, '192.0.2.1', 'test');

        await registry.users.update(dealer.id, null, { blocked: true });
        expect(await blockedOf(...all)).toEqual([true, true, false]);
        expect(followed.directory.users.get(anna.id)).toMatchObject({ blocked: true, version: anna.version + 1 });
        expect(await registry.sessions.get(session.id)).toBeNull();
        const late = await registry.users.create(user('late', { dealerId: dealer.id }), 'a long password');
        expect(late.blocked).toBe(true);

        // What is done to an account meanwhile counts when the dealer is back.
        expect((await registry.users.update(anna.id, null, { name: 'Anna' })).blocked).toBe(true);
        expect((await registry.users.update(anna.id, null, { blocked: false })).blocked).toBe(true);
        await registry.users.update(late.id, null, { blocked: true });
        await registry.users.update(boris.id, null, { blocked: false });
        await registry.users.update(dealer.id, null, { blocked: false });
        expect(await blockedOf(...all, late)).toEqual([false, false, false, true]);
        expect(followed.directory.users.get(anna.id)?.blocked).toBe(false);
        expect(followed.directory.users.get(late.id)?.blocked).toBe(true);
        followed.stop();
      });

      test('blocks users that come to it, and lets go of those that leave; deleted, it leaves them blocked', async () => {
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const anna = await registry.users.create(user('anna'), 'a long password');
        const boris = await registry.users.create(user('boris', { dealerId: dealer.id }), 'a long password');
        await registry.users.update(dealer.id, null, { blocked: true });
        expect((await registry.users.update(anna.id, null, { dealerId: dealer.id })).blocked).toBe(true);
        expect((await registry.users.update(anna.id, null, { dealerId: null })).blocked).toBe(false);
        await registry.users.delete(dealer.id, null);
        expect(await registry.users.get(boris.id)).toMatchObject({ dealerId: null, blocked: true });
        expect((await registry.users.update(boris.id, null, { blocked: false })).blocked).toBe(false);
      });
    });

    describe('where an account is logged in from', () => {
      test('is known by its login, the last 20 places, until the account is deleted', async () => {
        const anna = await registry.users.create(user('anna'), 'a long password');
        await registry.users.create(user('boris'), 'a long password');
        const { sessions } = registry;
        for (let nth = 1; nth <= 21; nth++) {
          nowMs += 1000;
          await sessions.noteSource(anna.id, `192.0.2.${nth}`);
        }
        expect(await sessions.knowsSource('anna', '192.0.2.1')).toBe(false);
        for (const source of ['192.0.2.2', '192.0.2.21']) expect(await sessions.knowsSource('ANNA', source)).toBe(true);
        for (const login of ['boris', 'nobody', 'an\u0000na'])
          expect(await sessions.knowsSource(login, '192.0.2.2')).toBe(false);
        await sessions.noteSource(anna.id, '192.0.2.2');
        await sessions.noteSource(anna.id, '192.0.2.22');
        expect(await sessions.knowsSource('anna', '192.0.2.2')).toBe(true);
        await registry.users.delete(anna.id, null);
        await registry.users.create(user('anna'), 'a long password');
        expect(await sessions.knowsSource('anna', '192.0.2.2')).toBe(false);
      });
    });

    describe('a geofence that was deleted', () => {
      test('keeps its last name, its owner and the owner’s dealer, as the owner is or last was', async () => {
        const dealer = await registry.users.create(user('dealer', { role: 'dealer' }), 'a long password');
        const other = await registry.users.create(user('other', { role: 'dealer' }), 'a long password');
        const anna = await registry.users.create(user('anna', { dealerId: dealer.id }), 'a long password');
        const depot = await registry.geofences.create(geofence('Depot', anna.id));
        const yard = await registry.geofences.create(geofence('Yard', dealer.id));
        expect(await registry.geofences.deleted([depot.id])).toEqual([]);
        const ownerOf = { id: depot.id, ownerId: anna.id, dealerId: dealer.id };
        expect(await registry.geofences.ownersOf([depot.id, ABSENT as GeofenceId])).toEqual([ownerOf]);
        await registry.geofences.update(depot.id, null, { name: 'Main depot' });
        await registry.geofences.delete(depot.id, null);
        await registry.geofences.delete(yard.id, null);
        const gone = { id: depot.id, name: 'Main depot', ownerId: anna.id };
        expect(await registry.geofences.deleted([depot.id, ABSENT as GeofenceId])).toEqual([
          { ...gone, dealerId: dealer.id },
        ]);
        expect(await registry.geofences.ownersOf([depot.id])).toMatchObject([ownerOf]);
        const idsOf = async () =>
          Promise.all(
            [{ ownerId: anna.id }, { ofDealer: dealer.id }, { ofDealer: other.id }].map((filter) =>
              registry.geofences.deletedIds(filter),
            ),
          );
        expect(await idsOf()).toEqual([[depot.id], [depot.id, yard.id], []]);
        await registry.users.update(anna.id, null, { dealerId: other.id });
        expect(await idsOf()).toEqual([[depot.id], [yard.id], [depot.id]]);
        // What the account had is deleted with it, and stays its last dealer's to know.
        const home = await registry.geofences.create(geofence('Home', anna.id));
        await registry.users.delete(anna.id, null);
        expect(await registry.geofences.deleted([home.id])).toMatchObject([{ name: 'Home', dealerId: other.id }]);
      });
    });

    describe('another process on the same database', () => {
      let other: Registry;
      beforeEach(async () => {
        other = await place.open(now);
      });
      afterEach(() => other.close());

      test('reads what was written before its refresh began: made, changed and deleted', async () => {
        const news: string[] = [];
        const followed = await followRegistry(other, ({ kind, version }) => news.push(`${kind} ${version}`));
        const boss = await operator();
        const depot = await registry.geofences.create(geofence('Depot', boss.id));
        expect(followed.directory.geofences.get(depot.id)).toBeUndefined();
        await followed.refresh();
        expect(followed.directory.geofences.get(depot.id)).toEqual(depot);
        const renamed = await registry.geofences.update(depot.id, null, { name: 'Yard' });
        await followed.refresh();
        expect(followed.directory.geofences.get(depot.id)).toEqual(renamed);
        await registry.geofences.delete(depot.id, null);
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
            const truck = await registry.vehicles.create(vehicle(`Truck ${n}`));
            await followed.refresh();
            expect(followed.directory.vehicles.get(truck.id)).toEqual(truck);
          }),
        );
        followed.stop();
      });

      test('reads everything anew where it missed more changes than are kept', { timeout: 120_000 }, async () => {
        const followed = await followRegistry(other);
        const gone = await registry.vehicles.create(vehicle('Gone'));
        const kept = await registry.vehicles.create(vehicle('Kept'));
        await followed.refresh();
        await registry.vehicles.delete(gone.id, null);
        const many = Array.from({ length: 10_500 }, (_, n) => ({ id: null, fields: vehicle(`Van ${n}`) }));
        await registry.vehicles.writeAll(many, false);
        expect(await registry.recentChanges.after(0)).toBe('too-many');
        await followed.refresh();
        expect(followed.directory.vehicles.size).toBe(10_501);
        expect(followed.directory.vehicles.has(gone.id)).toBe(false);
        expect(followed.directory.vehicles.get(kept.id)).toEqual(kept);
        followed.stop();
      });
    });

    test('everything is there after the database was closed and opened again', async () => {
      const boss = await operator();
      const truck = await registry.vehicles.create(vehicle('One'));
      const pending = await registry.outbox.pending(100);
      await registry.close();
      registry = await place.open(now);
      expect(await registry.users.authenticate('boss', 'a long password')).toEqual(boss);
      expect(await registry.vehicles.get(truck.id)).toEqual(truck);
      expect(await registry.outbox.pending(100)).toEqual(pending);
      await registry.ping();
    });
  });
}
