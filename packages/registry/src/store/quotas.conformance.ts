import { DEFAULT_QUOTAS, type QuotaLimits, type Shape, type User } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { geofenceFields, PASSWORD, ruleFields, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import { QuotaExceededError, type Registry } from '../index.ts';

/** A database of its own. */
export interface QuotaPlace {
  open(quotas: QuotaLimits): Promise<Registry>;
  /** Whether several processes may have it open. */
  isShared: boolean;
  remove(): Promise<void>;
}

const LIMITS: QuotaLimits = {
  account: { ...DEFAULT_QUOTAS.account, geofences: 5, geofenceVertices: 40, notificationRules: 2 },
  dealer: {
    ...DEFAULT_QUOTAS.dealer,
    geofences: 8,
    geofenceVertices: 60,
    notificationRules: 3,
    vehicles: 3,
    users: 3,
    vehicleGroups: 8,
  },
};

/** A triangle, which has four points as it is closed. */
const TRIANGLE: Shape = {
  type: 'polygon',
  rings: [
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [0, 0],
    ],
  ],
};

export function quotasConformance(name: string, newPlace: () => Promise<QuotaPlace>): void {
  describe(`quotas: ${name}`, () => {
    let place: QuotaPlace;
    let registry: Registry;
    let second: Registry;
    let dealer: User;
    let anna: User;
    let boris: User;

    beforeEach(async () => {
      place = await newPlace();
      registry = await place.open(LIMITS);
      second = place.isShared ? await place.open(LIMITS) : registry;
      dealer = await registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
      anna = await registry.users.create(userFields('anna', { dealerId: dealer.id }), PASSWORD);
      boris = await registry.users.create(userFields('boris', { dealerId: dealer.id }), PASSWORD);
    });

    afterEach(async () => {
      await registry.close();
      if (second !== registry) await second.close();
      await place.remove();
    });

    const draw = (by: Registry, owner: User, nth: number, shape?: Shape) =>
      by.geofences.create({ ...geofenceFields(`Nr. ${nth}`, owner.id), ...(shape && { shape }) });
    const importing = (by: Registry, owner: User, count: number, dryRun = false) => {
      const { ownerId: _, ...fields } = geofenceFields('', owner.id);
      const writes = Array.from({ length: count }, (_, nth) => ({
        id: null,
        fields: { ...fields, name: `Imported ${nth}` },
      }));
      return by.geofences.writeAll(owner.id, writes, dryRun);
    };
    const used = async (
      owner: User,
      scope: 'account' | 'dealer',
      kind: 'geofences' | 'geofenceVertices' | 'vehicles',
    ) => (await registry.quotas.use(owner.id, scope, kind)).used;

    test('one by one, the write beyond the limit is refused and names the quota', async () => {
      for (let nth = 0; nth < 5; nth++) await draw(registry, anna, nth);
      const refused = await draw(registry, anna, 5).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(QuotaExceededError);
      expect(refused).toMatchObject({ scope: 'account', kind: 'geofences', limit: 5, used: 5, requested: 1 });
      expect(await used(anna, 'account', 'geofences')).toBe(5);
      expect((await registry.outbox.pending(100)).filter(({ change }) => change.kind === 'geofence')).toHaveLength(5);
    });

    test('parallel requests of two instances do not exceed it together', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, nth) => draw(nth % 2 === 0 ? registry : second, anna, nth)),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
      expect(await used(anna, 'account', 'geofences')).toBe(5);
    });

    test('parallel imports of all accounts do not exceed the quota of their dealer together', async () => {
      const outcomes = await Promise.allSettled([
        importing(registry, anna, 5),
        importing(second, boris, 5),
        importing(registry, dealer, 5),
      ]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await used(dealer, 'dealer', 'geofences')).toBe(5);
      const failed = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
      expect(failed.reason).toMatchObject({ scope: 'dealer', kind: 'geofences', limit: 8, used: 5, requested: 5 });
    });

    test('an import and its dry run are refused as a whole', async () => {
      await expect(importing(registry, anna, 6)).rejects.toThrow(QuotaExceededError);
      await expect(importing(registry, anna, 6, true)).rejects.toThrow(QuotaExceededError);
      expect(await used(anna, 'account', 'geofences')).toBe(0);
      await importing(registry, anna, 5, true);
    });

    test('points count, however few geofences they are of', async () => {
      const ring = Array.from({ length: 36 }, (_, nth): [number, number] => [nth, nth % 2]);
      const first = await draw(registry, anna, 0, { type: 'polygon', rings: [[...ring, [0, 0]]] });
      await expect(draw(registry, anna, 1, TRIANGLE)).rejects.toMatchObject({ kind: 'geofenceVertices', used: 37 });
      // A circle has one.
      const circle = await draw(registry, anna, 2);
      await expect(registry.geofences.update(circle.id, null, { shape: TRIANGLE })).rejects.toMatchObject({
        kind: 'geofenceVertices',
        requested: 3,
      });
      await registry.geofences.update(first.id, null, { shape: TRIANGLE });
      await registry.geofences.update(circle.id, null, { shape: TRIANGLE });
      expect(await used(anna, 'account', 'geofenceVertices')).toBe(8);
    });

    test('an account that comes to a dealer counts with all that it owns', async () => {
      const other = await registry.users.create(userFields('other'), PASSWORD);
      await importing(registry, other, 4);
      await importing(registry, anna, 5);
      await expect(registry.users.update(other.id, null, { dealerId: dealer.id })).rejects.toMatchObject({
        scope: 'dealer',
        kind: 'geofences',
        used: 5,
        requested: 4,
      });
      expect((await registry.users.get(other.id))?.dealerId).toBeNull();
    });

    test('accounts and groups count for their dealer, and what goes makes place', async () => {
      const add = (login: string) => registry.users.create(userFields(login, { dealerId: dealer.id }), PASSWORD);
      await add('carl');
      await expect(add('dora')).rejects.toMatchObject({
        scope: 'dealer',
        kind: 'users',
        limit: 3,
        used: 3,
        requested: 1,
      });
      const dora = await registry.users.create(userFields('dora'), PASSWORD);
      const move = () => registry.users.update(dora.id, null, { dealerId: dealer.id });
      await expect(move()).rejects.toMatchObject({ kind: 'users' });
      await registry.users.delete(boris.id, null);
      await move();
      // Accounts came with groups of their own.
      const { used: before } = await registry.quotas.use(dealer.id, 'dealer', 'vehicleGroups');
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, nth) =>
          (nth % 2 === 0 ? registry : second).groups.create({ name: `Group ${nth}`, dealerId: dealer.id }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(8 - before);
      const uses = await registry.quotas.ofUser(dealer);
      expect(uses.filter(({ kind }) => kind === 'users' || kind === 'vehicleGroups')).toEqual([
        { scope: 'dealer', kind: 'users', used: 3, limit: 3, isSet: false },
        { scope: 'dealer', kind: 'vehicleGroups', used: 8, limit: 8, isSet: false },
      ]);
    });

    test('vehicles that are added, imported and moved count for their dealer', async () => {
      const add = (nth: number, dealerId: User['id'] | null) =>
        registry.vehicles.create({ ...vehicleFields(`Van ${nth}`), dealerId });
      await add(1, dealer.id);
      await add(2, dealer.id);
      const own = [await add(3, null), await add(4, null)];
      const fields = { ...vehicleFields('Imported'), dealerId: dealer.id };
      await expect(
        second.vehicles.writeAll(
          [
            { id: null, fields },
            { id: null, fields },
          ],
          false,
        ),
      ).rejects.toMatchObject({ scope: 'dealer', kind: 'vehicles', limit: 3, used: 2, requested: 2 });
      await registry.vehicles.update(own[0]?.id as never, null, { dealerId: dealer.id });
      await expect(registry.vehicles.update(own[1]?.id as never, null, { dealerId: dealer.id })).rejects.toMatchObject({
        kind: 'vehicles',
      });
      // One that leaves makes place.
      await registry.vehicles.update(own[0]?.id as never, null, { dealerId: null });
      await registry.vehicles.update(own[1]?.id as never, null, { dealerId: dealer.id });
      expect(await used(dealer, 'dealer', 'vehicles')).toBe(3);
    });

    test('notification rules count for their account and for its dealer', async () => {
      const rule = (owner: User, nth: number) =>
        registry.notificationRules.create(ruleFields(`Nr. ${nth}`, owner.id), null);
      await rule(anna, 1);
      await rule(anna, 2);
      await expect(rule(anna, 3)).rejects.toMatchObject({ scope: 'account', kind: 'notificationRules' });
      await rule(boris, 1);
      await expect(rule(boris, 2)).rejects.toMatchObject({ scope: 'dealer', kind: 'notificationRules', used: 3 });
    });

    test('a limit is set for an account, audited, and taken back; what exists beyond a lower one stays', async () => {
      await importing(registry, anna, 5);
      const setting = { scope: 'account', kind: 'geofences' } as const;
      const noCheck = async () => {};
      await registry.quotas.set(anna.id, [{ ...setting, limit: 2 }], noCheck);
      expect(await registry.quotas.use(anna.id, 'account', 'geofences')).toEqual({
        ...setting,
        used: 5,
        limit: 2,
        isSet: true,
      });
      const { items } = await registry.geofences.list({ ownerId: anna.id }, { limit: 10, after: null });
      await registry.geofences.update(items[0]?.id as never, null, { name: 'Renamed' });
      await expect(draw(second, anna, 9)).rejects.toMatchObject({ limit: 2, used: 5 });
      await registry.quotas.set(anna.id, [{ ...setting, limit: null }], noCheck);
      expect(await registry.quotas.use(anna.id, 'account', 'geofences')).toMatchObject({ limit: 5, isSet: false });
      const trail = await registry.audit.list({}, { limit: 10, after: null });
      expect(trail.items.filter(({ action }) => action === 'quotas-changed')).toMatchObject([
        { before: { 'account.geofences': 2 }, after: { 'account.geofences': 5 } },
        { before: { 'account.geofences': 5 }, after: { 'account.geofences': 2 } },
      ]);
      await registry.quotas.set(anna.id, [{ ...setting, limit: 3 }], noCheck);
      await registry.users.delete(anna.id, null);
    });

    test('a dealer has quotas of its account and of all its accounts', async () => {
      await importing(registry, anna, 3);
      const quotas = await registry.quotas.ofUser(dealer);
      expect(quotas).toContainEqual({ scope: 'account', kind: 'geofences', used: 0, limit: 5, isSet: false });
      expect(quotas).toContainEqual({ scope: 'dealer', kind: 'geofences', used: 3, limit: 8, isSet: false });
      expect(quotas).toContainEqual(expect.objectContaining({ scope: 'dealer', kind: 'storageBytes', used: 0 }));
      expect((await registry.quotas.ofUser(anna)).filter(({ scope }) => scope === 'dealer')).toEqual([]);
    });
  });
}
