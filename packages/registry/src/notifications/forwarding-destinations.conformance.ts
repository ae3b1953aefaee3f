import type { User } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, ALL, PASSWORD, userFields } from '../fleet/fields.fixture.ts';
import {
  type ForwardingFields,
  type ForwardingProgress,
  type LeasedDestination,
  MAX_DESTINATIONS_PER_USER,
  NotFoundError,
  StaleVersionError,
  TooManyError,
} from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const LEASE_MS = 30_000;
const FIELDS: ForwardingFields = {
  name: 'ERP',
  kind: 'http',
  settings: { url: 'https://erp.example.com/in' },
  endpoint: 'erp.example.com:443',
  filter: { vehicleIds: null, groupIds: null, positions: true, events: true, eventKinds: ['trip'] },
  active: true,
};
const PROGRESS: ForwardingProgress = {
  positionsCursor: 'p1',
  eventsCursor: 'e1',
  reachedAtMs: 5,
  positionsSent: 3,
  eventsSent: 2,
  refused: 1,
  lastRefusal: 'no number',
  gap: null,
  isSuccess: true,
};

/** What every adapter of the registry promises of forwarding destinations. */
export function forwardingConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`forwarding destinations on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let dealer: User;
    beforeEach(async () => {
      dealer = await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
    });
    const create = (more: Partial<ForwardingFields> = {}, secret: string | null = 'whsec_x') =>
      env.registry.forwardingDestinations.create(dealer.id, { ...FIELDS, ...more }, { secret, headers: {} });
    const leaseOne = async () => {
      const [leased] = await env.registry.forwardingDestinations.lease(10, LEASE_MS);
      if (leased === undefined) throw new Error('nothing is due');
      return leased;
    };

    test('a destination is kept whole, changed with a version, listed by the page, and deleted', async () => {
      const { forwardingDestinations } = env.registry;
      const made = await create();
      expect(made).toMatchObject({ ...FIELDS, version: 1, ownerId: dealer.id, hasSecret: true, positionsSent: 0 });
      expect(await forwardingDestinations.get(made.id)).toEqual(made);
      expect(await forwardingDestinations.secrets(made.id)).toEqual({ secret: 'whsec_x', headers: {} });
      const changed = await forwardingDestinations.update(made.id, 1, { ...FIELDS, name: 'WMS', active: false });
      expect(changed).toMatchObject({ name: 'WMS', active: false, version: 2, hasSecret: true });
      await expect(forwardingDestinations.update(made.id, 1, FIELDS)).rejects.toBeInstanceOf(StaleVersionError);
      await expect(forwardingDestinations.update(ABSENT, null, FIELDS)).rejects.toBeInstanceOf(NotFoundError);
      const other = await create({ name: 'Other' }, null);
      expect((await forwardingDestinations.list(dealer.id, ALL)).items).toEqual([changed, other]);
      expect((await forwardingDestinations.list(undefined, { limit: 1, after: made.id })).items).toEqual([other]);
      await expect(forwardingDestinations.delete(made.id, 1)).rejects.toBeInstanceOf(StaleVersionError);
      await forwardingDestinations.delete(made.id, 2);
      expect(await forwardingDestinations.get(made.id)).toBeNull();
      const { items } = await env.registry.audit.list({}, ALL);
      const noted = items.filter(({ subject }) => subject.kind === 'forwarding-destination');
      expect(noted.map(({ action }) => action).sort()).toEqual(['changed', 'created', 'created', 'deleted']);
      expect(JSON.stringify(noted)).not.toContain('/in');
    });

    test('an account has a bounded number of them, and takes them along when it is deleted', async () => {
      for (let nth = 0; nth < MAX_DESTINATIONS_PER_USER; nth++) await create();
      await expect(create()).rejects.toBeInstanceOf(TooManyError);
      await env.registry.users.delete(dealer.id, null);
      expect((await env.registry.forwardingDestinations.list(undefined, ALL)).items).toEqual([]);
    });

    test('one forwarder works at a destination; when it crashes, another goes on where it was', async () => {
      const { forwardingDestinations } = env.registry;
      const { id } = await create();
      await create({ active: false });
      const first = await leaseOne();
      expect(first).toMatchObject({ id, secrets: { secret: 'whsec_x' }, beginAtMs: env.nowMs, positionsCursor: null });
      expect(await forwardingDestinations.lease(10, LEASE_MS)).toEqual([]);
      expect(await forwardingDestinations.save(first, PROGRESS, LEASE_MS)).toBe(true);
      env.nowMs += LEASE_MS - 1;
      expect(await forwardingDestinations.save(first, PROGRESS, LEASE_MS)).toBe(true);
      env.nowMs += LEASE_MS - 1;
      expect(await forwardingDestinations.isCurrent(first)).toBe(true);
      expect(await forwardingDestinations.lease(10, LEASE_MS)).toEqual([]);
      env.nowMs += 1;
      const second = await leaseOne();
      expect(second).toMatchObject({ id, positionsCursor: 'p1', eventsCursor: 'e1', reachedAtMs: 5 });
      expect(second).toMatchObject({ positionsSent: 6, eventsSent: 4, refused: 2, lastRefusal: 'no number' });
      expect(await forwardingDestinations.save(first, PROGRESS, LEASE_MS)).toBe(false);
      expect(await forwardingDestinations.isCurrent(first)).toBe(false);
      await forwardingDestinations.settle(first, { error: 'late', nextAttemptAtMs: env.nowMs + 1000 });
      expect(await forwardingDestinations.get(id)).toMatchObject({ failures: 0, isLeased: true });
      await forwardingDestinations.releaseAll();
      expect(await leaseOne()).toMatchObject({ id });
    });

    test('a failure postpones it; success, and a change, forget that', async () => {
      const { forwardingDestinations } = env.registry;
      const { id } = await create();
      const fail = async (leased: LeasedDestination) =>
        forwardingDestinations.settle(leased, { error: 'down', nextAttemptAtMs: env.nowMs + 1000 });
      await fail(await leaseOne());
      expect(await forwardingDestinations.get(id)).toMatchObject({ failures: 1, lastError: 'down', isLeased: false });
      expect(await forwardingDestinations.counts()).toEqual({ failing: 1, working: 0, paused: 0 });
      expect(await forwardingDestinations.lease(10, LEASE_MS)).toEqual([]);
      env.nowMs += 1000;
      await forwardingDestinations.save(await leaseOne(), PROGRESS, LEASE_MS);
      expect(await forwardingDestinations.get(id)).toMatchObject({ failures: 0, lastError: null });
      env.nowMs += LEASE_MS;
      await fail(await leaseOne());
      await forwardingDestinations.update(id, null, FIELDS);
      expect(await leaseOne()).toMatchObject({ failures: 0, version: 2 });
    });

    test('what is chosen later begins at that time, and the rest goes on where it was', async () => {
      const { forwardingDestinations } = env.registry;
      const { id, filter } = await create({ filter: { ...FIELDS.filter, events: false } });
      const before = await leaseOne();
      await forwardingDestinations.save(before, { ...PROGRESS, eventsCursor: null }, LEASE_MS);
      await forwardingDestinations.settle(before, null);
      env.nowMs += 5000;
      await forwardingDestinations.update(id, null, { ...FIELDS, filter: { ...filter, events: true } });
      const after = await leaseOne();
      expect(after).toMatchObject({ positionsCursor: 'p1', eventsCursor: null, beginAtMs: env.nowMs });
      await forwardingDestinations.save(after, PROGRESS, LEASE_MS);
      await forwardingDestinations.settle(after, null);
      env.nowMs += 5000;
      await forwardingDestinations.update(id, null, { ...FIELDS, name: 'WMS' });
      expect(await leaseOne()).toMatchObject({ positionsCursor: 'p1', eventsCursor: 'e1' });
    });

    test('what was changed or paused is left: nothing more is saved, and it is due with what it became', async () => {
      const { forwardingDestinations } = env.registry;
      const { id } = await create();
      const old = await leaseOne();
      await forwardingDestinations.save(old, PROGRESS, LEASE_MS);
      const replayed = await forwardingDestinations.replay(id, 1000);
      expect(replayed).toMatchObject({ version: 2, reachedAtMs: 1000 });
      expect(await forwardingDestinations.isCurrent(old)).toBe(false);
      expect(await forwardingDestinations.save(old, PROGRESS, LEASE_MS)).toBe(false);
      await forwardingDestinations.settle(old, { error: 'late', nextAttemptAtMs: env.nowMs + 1000 });
      const next = await leaseOne();
      expect(next).toMatchObject({ version: 2, beginAtMs: 1000, positionsCursor: null, failures: 0 });
      const gap = { fromMs: 1000, toMs: 2000, noticedAtMs: 3000 };
      await forwardingDestinations.save(next, { ...PROGRESS, gap }, LEASE_MS);
      await forwardingDestinations.save(next, PROGRESS, LEASE_MS);
      expect(await forwardingDestinations.get(id)).toMatchObject({ gap, positionsSent: 9 });
      await forwardingDestinations.update(id, null, { ...FIELDS, active: false });
      expect(await forwardingDestinations.save(next, PROGRESS, LEASE_MS)).toBe(false);
      await forwardingDestinations.settle(next, null);
      expect(await forwardingDestinations.lease(10, LEASE_MS)).toEqual([]);
      expect(await forwardingDestinations.counts()).toEqual({ failing: 0, working: 0, paused: 1 });
    });
  });
}
