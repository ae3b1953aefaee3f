import { describe, expect, test } from 'vitest';
import { type MailAddress, TooManyAddressesError } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NOBODY = () => false;

/** What every adapter of the registry promises of e-mail addresses. */
export function mailAddressesConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`e-mail addresses on ${name}`, () => {
    const env = registryPerTest(newPlace);

    const request = async (
      tenant: string,
      address: string,
      again = false,
      isTrusted = NOBODY,
    ): Promise<MailAddress> => {
      const [found] = (
        await env.registry.mailAddresses.request(tenant, [address], isTrusted, again ? { language: null } : null)
      ).values();
      if (!found) throw new Error('it was just named');
      return found;
    };
    const lease = (limit = 10) => env.registry.mailAddresses.leaseConfirmations(limit, 60_000);
    const sent = { isSent: true, isCounted: false, retryAtMs: null };

    test('a new address is pending, and its holder is asked once, by one instance', async () => {
      const address = await request('a', 'Dispatch@example.com');
      expect(address).toMatchObject({ state: 'pending', generation: 1, askedAtMs: null });
      // Any further request for it finds the same address, in upper or lower case.
      expect(await request('a', 'dispatch@example.com')).toMatchObject({ id: address.id });
      const leased = (await Promise.all([lease(), lease()])).flat();
      expect(leased.map((each) => each.address.address)).toEqual(['Dispatch@example.com']);
      for (const each of leased) await env.registry.mailAddresses.settleConfirmation(each, sent);
      env.nowMs += DAY_MS;
      await request('a', 'dispatch@example.com');
      expect(await lease()).toEqual([]);
      // Its owner names it again.
      await request('a', 'dispatch@example.com', true);
      expect(await lease()).toHaveLength(1);
    });

    test('a worker that died leaves the question to another one', async () => {
      await request('a', 'dispatch@example.com');
      expect(await lease()).toMatchObject([{ attempts: 1 }]);
      expect(await lease()).toEqual([]);
      env.nowMs += 60_000;
      expect(await lease()).toMatchObject([{ attempts: 2 }]);
    });

    test('tenants with many addresses to be asked keep no other tenant waiting', async () => {
      for (let nth = 0; nth < 20; nth += 1) await request('loud', `${nth}@example.com`);
      await request('quiet', 'dispatch@example.com');
      await lease(1);
      expect((await lease(1)).map(({ address }) => address.tenant)).toEqual(['quiet']);
    });

    test('what its holder says holds for the tenant, until the holder says something else', async () => {
      const address = await request('a', 'dispatch@example.com');
      expect(await env.registry.mailAddresses.change(address, 'confirmed')).toBe(true);
      // A link is good for one generation.
      expect(await env.registry.mailAddresses.change(address, 'confirmed')).toBe(false);
      expect(await lease()).toEqual([]);
      const confirmed = await request('a', 'dispatch@example.com');
      expect(confirmed.state).toBe('confirmed');
      expect((await request('b', 'dispatch@example.com')).state).toBe('pending');
      await env.registry.mailAddresses.change(confirmed, 'unsubscribed');
      env.nowMs += DAY_MS;
      expect((await request('a', 'dispatch@example.com', true, () => true)).state).toBe('unsubscribed');
      expect((await lease()).map(({ address: { tenant } }) => tenant)).toEqual(['b']);
    });

    test('the operator vouches for some', async () => {
      expect((await request('a', 'dispatch@example.com', false, () => true)).state).toBe('confirmed');
      expect(await lease()).toEqual([]);
      await request('a', 'later@example.com');
      expect((await request('a', 'later@example.com', false, () => true)).state).toBe('confirmed');
    });

    test('a limit holds for all instances together, and the surplus is counted', async () => {
      const address = await request('a', 'dispatch@example.com');
      const limits = { address: { perHour: 5, perDay: 8 }, owner: { perHour: 100, perDay: 100 } };
      const take = () => env.registry.mailCounts.take(address, limits);
      const results = await Promise.all(Array.from({ length: 20 }, take));
      expect(results.filter((reached) => reached === null)).toHaveLength(5);
      expect(results.find((reached) => reached !== null)).toBe('5 e-mails an hour to the address');
      const status = async () =>
        (await env.registry.mailAddresses.statuses('a', [address.address])).get(address.address);
      expect(await status()).toEqual({ state: 'pending', suppressed: 15 });
      env.nowMs += HOUR_MS;
      expect([await take(), await take(), await take()]).toEqual([null, null, null]);
      // What was refused by the hour did not count for the day.
      expect(await take()).toBe('8 e-mails a day to the address');
      env.nowMs += DAY_MS;
      expect(await take()).toBeNull();
      expect(await status()).toEqual({ state: 'pending', suppressed: 0 });
    });

    test('a tenant has a limit over all its addresses', async () => {
      const limits = { address: { perHour: 100, perDay: 100 }, owner: { perHour: 3, perDay: 100 } };
      const results: (string | null)[] = [];
      for (let nth = 0; nth < 5; nth += 1)
        results.push(await env.registry.mailCounts.take(await request('a', `${nth}@example.com`), limits));
      expect(results.filter((reached) => reached === null)).toHaveLength(3);
      expect(await env.registry.mailCounts.take(await request('b', '0@example.com'), limits)).toBeNull();
    });

    test('an address is asked few times, however many tenants name it', async () => {
      const perOwner = { perHour: 100, perDay: 100 };
      const ask = async (tenant: string) =>
        env.registry.mailCounts.takeFew(
          'confirmations',
          await request(tenant, 'victim@example.com'),
          { perDay: 3, perMonth: 6 },
          perOwner,
        );
      const asked: (string | null)[] = [];
      for (let day = 0; day < 5; day += 1) {
        for (let nth = 0; nth < 10; nth += 1) asked.push(await ask(`tenant ${nth}`));
        env.nowMs += DAY_MS;
        await env.registry.mailAddresses.clean();
      }
      expect(asked.filter((reached) => reached === null)).toHaveLength(6);
    });

    test('too many that wait are refused, and forgotten when nobody confirms them', async () => {
      const many = Array.from({ length: 1000 }, (_, nth) => `${nth}@example.com`);
      await env.registry.mailAddresses.request('a', many, NOBODY);
      await expect(request('a', 'one-more@example.com')).rejects.toBeInstanceOf(TooManyAddressesError);
      // Those that it has already are no more.
      expect((await request('a', '5@example.com')).state).toBe('pending');
      env.nowMs += 31 * DAY_MS;
      await env.registry.mailAddresses.clean();
      expect(await env.registry.mailAddresses.statuses('a', many)).toEqual(new Map());
    });
  });
}
