import { DEFAULT_QUOTAS, type User, type VehicleId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { NotFoundError, QuotaExceededError, type ShareLinkFields } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ABSENT, ALL, PASSWORD, userFields, vehicleFields } from './fields.fixture.ts';

const HOUR_MS = 3_600_000;

/** What every adapter of the registry promises of share links. */
export function shareLinksConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`share links on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: User;
    let van: VehicleId;
    let truck: VehicleId;
    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
      van = (await env.registry.vehicles.create(vehicleFields('Van'))).id;
      truck = (await env.registry.vehicles.create(vehicleFields('Truck'))).id;
    });
    const share = (more: Partial<ShareLinkFields> = {}) =>
      env.registry.shareLinks.create({
        ownerId: anna.id,
        name: 'Delivery',
        vehicleIds: [truck, van],
        track: null,
        expiresAtMs: env.nowMs + HOUR_MS,
        ...more,
      });
    const audited = async () =>
      (await env.registry.audit.list({}, ALL)).items
        .filter(({ subject }) => subject.kind === 'share-link')
        .map(({ action, subject }) => [action, subject.id]);

    test('a link is kept whole, and found by its token, which differs each time', async () => {
      const track = { fromMs: env.nowMs - HOUR_MS, toMs: env.nowMs };
      const { link, token } = await share({ track });
      expect(link).toMatchObject({ name: 'Delivery', vehicleIds: [truck, van], track, createdAtMs: env.nowMs });
      expect(token).toMatch(/^[\w-]{22}$/);
      expect(await env.registry.shareLinks.byToken(token)).toEqual(link);
      expect(await env.registry.shareLinks.get(link.id)).toEqual(link);
      expect(await env.registry.shareLinks.byToken(token.slice(1))).toBeNull();
      const other = await share({ name: null });
      expect(other.token).not.toBe(token);
      expect(await env.registry.shareLinks.byToken(other.token)).toMatchObject({ name: null, track: null });
    });

    test('the lists are those of an account, of a dealer with its users, or all, a page at a time', async () => {
      const dealer = await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
      const ben = await env.registry.users.create(userFields('ben', { dealerId: dealer.id }), PASSWORD);
      const links = [(await share()).link, (await share({ ownerId: ben.id })).link];
      links.push((await share({ ownerId: dealer.id })).link);
      const { shareLinks } = env.registry;
      expect((await shareLinks.list({}, ALL)).items).toEqual(links);
      expect((await shareLinks.list({ ownerId: anna.id }, ALL)).items).toEqual(links.slice(0, 1));
      expect((await shareLinks.list({ ofDealer: dealer.id }, ALL)).items).toEqual(links.slice(1));
      const first = await shareLinks.list({}, { limit: 2, after: null });
      expect(first.items).toEqual(links.slice(0, 2));
      expect((await shareLinks.list({}, { limit: 2, after: first.next })).items).toEqual(links.slice(2));
    });

    test('a revoked link is gone, and the trail says who made and who ended it', async () => {
      const { link, token } = await share();
      await env.registry.shareLinks.delete(link.id);
      expect(await env.registry.shareLinks.byToken(token)).toBeNull();
      await expect(env.registry.shareLinks.delete(link.id)).rejects.toBeInstanceOf(NotFoundError);
      await expect(env.registry.shareLinks.delete(ABSENT as never)).rejects.toBeInstanceOf(NotFoundError);
      expect(await audited()).toEqual([
        ['deleted', link.id],
        ['created', link.id],
      ]);
      expect(JSON.stringify(await env.registry.audit.list({}, ALL))).not.toContain(token);
    });

    test('an expired link shows nothing, and is forgotten', async () => {
      const { link, token } = await share();
      const later = await share({ expiresAtMs: env.nowMs + 2 * HOUR_MS });
      env.nowMs += HOUR_MS;
      const { shareLinks } = env.registry;
      expect(await shareLinks.byToken(token)).toBeNull();
      expect(await shareLinks.get(link.id)).toBeNull();
      expect((await shareLinks.list({}, ALL)).items).toEqual([later.link]);
      expect(await shareLinks.clean(10)).toBe(1);
      expect(await shareLinks.clean(10)).toBe(0);
      expect(await shareLinks.byToken(later.token)).toEqual(later.link);
    });

    test('the links of an account that is blocked or deleted end', async () => {
      const ben = await env.registry.users.create(userFields('ben'), PASSWORD);
      const [ofAnna, ofBen] = [await share(), await share({ ownerId: ben.id })];
      await env.registry.users.update(anna.id, null, { blocked: true });
      expect(await env.registry.shareLinks.byToken(ofAnna.token)).toBeNull();
      await env.registry.users.update(anna.id, null, { blocked: false });
      expect(await env.registry.shareLinks.byToken(ofAnna.token)).toBeNull();
      expect(await env.registry.shareLinks.byToken(ofBen.token)).toEqual(ofBen.link);
      await env.registry.users.delete(ben.id, null);
      expect(await env.registry.shareLinks.byToken(ofBen.token)).toBeNull();
    });

    test('a deleted vehicle leaves all links; one without another vehicle ends', async () => {
      const [both, one] = [await share(), await share({ vehicleIds: [van] })];
      await env.registry.vehicles.delete(van, null);
      expect(await env.registry.shareLinks.byToken(one.token)).toBeNull();
      expect(await env.registry.shareLinks.byToken(both.token)).toEqual({ ...both.link, vehicleIds: [truck] });
      await env.registry.vehicles.delete(truck, null);
      expect(await env.registry.shareLinks.byToken(both.token)).toBeNull();
    });

    test('an account has a bounded number of links; expired and revoked ones do not count', async () => {
      const limit = 2;
      const settings = [{ scope: 'account', kind: 'shareLinks', limit } as const];
      await env.registry.quotas.set(anna.id, settings, async () => {});
      const { link } = await share();
      await share();
      await expect(share()).rejects.toBeInstanceOf(QuotaExceededError);
      await env.registry.shareLinks.delete(link.id);
      await share();
      await expect(share()).rejects.toBeInstanceOf(QuotaExceededError);
      env.nowMs += HOUR_MS;
      await share();
      expect(await env.registry.quotas.use(anna.id, 'account', 'shareLinks')).toMatchObject({ used: 1, limit });
      expect(DEFAULT_QUOTAS.account.shareLinks).toBeGreaterThan(0);
    });
  });
}
