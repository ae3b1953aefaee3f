import type { SessionId, User, UserId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, PASSWORD, userFields } from '../fleet/fields.fixture.ts';
import { CHALLENGE_TTL_S, MAX_PASSKEYS_PER_USER, NotFoundError } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** What every adapter of the registry promises of the ways in besides passwords. */
export function signInConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`second factors on ${name}`, () => {
    const env = registryPerTest(newPlace);
    const factors = () => env.registry.secondFactors;
    let anna: User;
    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
    });

    test('a secret counts once it is confirmed, and is replaced until then', async () => {
      expect(await factors().propose(anna.id, 'OTHER')).toBe(true);
      expect(await factors().propose(anna.id, SECRET)).toBe(true);
      expect([await factors().get(anna.id), await factors().secret(anna.id)]).toEqual([null, null]);
      await expect(factors().confirm(anna, 'OTHER', 7, [])).rejects.toThrow(NotFoundError);
      expect(await factors().proposed(anna.id)).toBe(SECRET);
      await factors().confirm(anna, SECRET, 7, ['a', 'b']);
      expect(await factors().get(anna.id)).toEqual({
        confirmedAtMs: env.nowMs,
        passkeys: 0,
        recoveryCodes: 2,
      });
      expect([await factors().proposed(anna.id), await factors().secret(anna.id)]).toEqual([null, SECRET]);
      expect(await factors().propose(anna.id, 'OTHER')).toBe(false);
      await expect(factors().confirm(anna, SECRET, 8, [])).rejects.toThrow(NotFoundError);
    });

    test('a step, and each recovery code, is used once, also by two at the same time', async () => {
      await factors().propose(anna.id, SECRET);
      expect(await factors().use(anna.id, 8)).toBe(false);
      await factors().confirm(anna, SECRET, 7, ['abcd-efgh', 'b']);
      const twice = await Promise.all([factors().use(anna.id, 8), factors().use(anna.id, 8)]);
      expect(twice.sort()).toEqual([false, true]);
      expect([await factors().use(anna.id, 7), await factors().use(anna.id, 9)]).toEqual([false, true]);
      const codes = await Promise.all(
        ['ABCD EFGH', 'abcdefgh'].map((code) => factors().useRecoveryCode(anna.id, code)),
      );
      expect(codes.sort()).toEqual([false, true]);
      await factors().renewRecoveryCodes(anna, ['c']);
      expect([await factors().useRecoveryCode(anna.id, 'b'), await factors().useRecoveryCode(anna.id, 'c')]).toEqual([
        false,
        true,
      ]);
    });

    test('it is removed with its codes, and with its account', async () => {
      await expect(factors().remove(anna)).rejects.toThrow(NotFoundError);
      await factors().propose(anna.id, SECRET);
      await expect(factors().remove(anna)).rejects.toThrow(NotFoundError);
      await factors().propose(anna.id, SECRET);
      await factors().confirm(anna, SECRET, 7, ['a']);
      await factors().remove(anna);
      expect(await factors().useRecoveryCode(anna.id, 'a')).toBe(false);
      await factors().propose(anna.id, SECRET);
      await factors().confirm(anna, SECRET, 7, ['a']);
      await env.registry.users.delete(anna.id, null);
      expect(await factors().get(anna.id)).toBeNull();
    });
  });
  describe(`passkeys on ${name}`, () => {
    const env = registryPerTest(newPlace);
    const passkeys = () => env.registry.passkeys;
    let anna: User;
    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
    });
    const add = (nth: number, challenge = `c${nth}`, user = anna) =>
      passkeys().add(user, `Key ${nth}`, { credentialId: `id${nth}`, publicKey: 'AA', counter: 0 }, challenge, ['a']);
    const refused = (reason: string) => expect.objectContaining({ name: 'PasskeyRefusedError', reason });

    test('are few in each account, and each in one account', async () => {
      const { passkey, withCodes } = await add(0);
      expect(withCodes).toBe(true);
      expect(await passkeys().find('id0')).toEqual({ id: passkey.id, userId: anna.id, publicKey: 'AA' });
      const boris = await env.registry.users.create(userFields('boris'), PASSWORD);
      await expect(add(0, 'other', boris)).rejects.toEqual(refused('known'));
      await expect(add(1, 'c0')).rejects.toEqual(refused('challenge-used'));
      for (let nth = 1; nth < MAX_PASSKEYS_PER_USER; nth++) expect((await add(nth)).withCodes).toBe(false);
      await expect(add(99)).rejects.toEqual(refused('too-many'));
      expect(await passkeys().list(anna.id)).toHaveLength(MAX_PASSKEYS_PER_USER);
      expect(await env.registry.secondFactors.get(anna.id)).toEqual({
        confirmedAtMs: null,
        passkeys: MAX_PASSKEYS_PER_USER,
        recoveryCodes: 1,
      });
    });

    test('sign a challenge once, also for two at the same time, and count up', async () => {
      const { passkey } = await add(0);
      const use = (counter: number, challenge: string) =>
        passkeys()
          .use(passkey.id, counter, challenge)
          .then(
            () => 'used',
            (error) => error.reason,
          );
      expect((await Promise.all([use(1, 'x'), use(2, 'x')])).sort()).toEqual(['challenge-used', 'used']);
      expect(await use(4_294_967_295, 'y')).toBe('used');
      // A copy, which signs beside the device; what it signed is not used up by the refusal.
      expect([await use(4_294_967_295, 'z'), await use(0, 'z')]).toEqual(['copied', 'copied']);
      expect((await passkeys().list(anna.id))[0]?.lastUsedAtMs).toBe(env.nowMs);
      const silent = await add(1);
      await passkeys().use(silent.passkey.id, 0, 'silent 1');
      await passkeys().use(silent.passkey.id, 0, 'silent 2');
    });

    test('a challenge is forgotten once it would be refused for its age', async () => {
      const { passkey } = await add(0);
      await passkeys().use(passkey.id, 1, 'x');
      env.nowMs += CHALLENGE_TTL_S * 1000;
      await expect(passkeys().use(passkey.id, 2, 'x')).rejects.toEqual(refused('challenge-used'));
      env.nowMs += CHALLENGE_TTL_S * 1000;
      await passkeys().use(passkey.id, 2, 'x');
    });

    test('are removed with the recovery codes of the last one, and with their account', async () => {
      const boris = await env.registry.users.create(userFields('boris'), PASSWORD);
      const [first, second] = [(await add(0)).passkey, (await add(1)).passkey];
      const begin = () => env.registry.sessions.create(anna.id, 1000, '::1', '');
      const [kept, ended] = [await begin(), await begin()];
      await expect(passkeys().remove(boris, first.id, kept.id)).rejects.toThrow(NotFoundError);
      await passkeys().remove(anna, first.id, kept.id);
      expect([await env.registry.sessions.get(kept.id), await env.registry.sessions.get(ended.id)]).toEqual([
        expect.objectContaining({ id: kept.id }),
        null,
      ]);
      expect((await env.registry.secondFactors.get(anna.id))?.recoveryCodes).toBe(1);
      await passkeys().remove(anna, second.id, kept.id);
      expect(await env.registry.secondFactors.useRecoveryCode(anna.id, 'a')).toBe(false);
      await add(2);
      await env.registry.users.delete(anna.id, null);
      expect(await passkeys().find('id2')).toBeNull();
    });
  });

  describe(`links and ends of accounts on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: User;
    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
    });

    test('a link is leased, armed and used once, also by two at the same time', async () => {
      const { accountLinks } = env.registry;
      expect(await accountLinks.request(anna, 'reset', 'en')).toBe(false);
      await accountLinks.setEmail(anna, 'Anna@example.com');
      expect(await accountLinks.accountsOf('ANNA')).toEqual([anna.id]);
      expect(await accountLinks.accountsOf('anna@EXAMPLE.com')).toEqual([anna.id]);
      expect(await accountLinks.request(anna, 'reset', 'ru')).toBe(true);
      const [leased] = await accountLinks.lease(5, 1000);
      expect(leased).toMatchObject({ address: 'Anna@example.com', language: 'ru', attempts: 1, user: { id: anna.id } });
      expect(await accountLinks.lease(5, 1000)).toEqual([]);
      if (leased === undefined) throw new Error('nothing was leased');
      expect(await accountLinks.arm({ ...leased, lease: 'another' }, 'stolen', env.nowMs + 1)).toBe(false);
      expect(await accountLinks.arm(leased, 'token', env.nowMs + 1)).toBe(true);
      expect(await accountLinks.settle(leased, null)).toBe(true);
      const used = await Promise.all([
        accountLinks.setPassword('token', 'another password'),
        accountLinks.setPassword('token', 'another password'),
      ]);
      expect(used.filter((user) => user !== null)).toHaveLength(1);
      expect(await env.registry.users.authenticate('anna', 'another password')).not.toBeNull();
    });

    test('each change of how an account signs in has its user sent an e-mail, once, where there is an address', async () => {
      const { accountLinks, accountNotices, passkeys, secondFactors, users } = env.registry;
      await users.setPassword(anna.id, 'another password', null);
      expect(await accountNotices.lease(20, 1000)).toEqual([]);
      await accountLinks.setEmail(anna, 'anna@example.com');
      expect(await accountNotices.lease(20, 1000)).toEqual([]);
      const key = { credentialId: 'id1', publicKey: 'key', counter: 0 };
      const { passkey } = await passkeys.add(anna, 'Phone', key, 'challenge', ['a']);
      await passkeys.rename(anna, passkey.id, 'Laptop');
      await passkeys.remove(anna, passkey.id, ABSENT as SessionId);
      await secondFactors.propose(anna.id, SECRET);
      await secondFactors.confirm(anna, SECRET, 7, ['a']);
      await secondFactors.useRecoveryCode(anna.id, 'a');
      await secondFactors.removeAll(anna);
      await env.registry.externalIdentities.link('https://id.example.com', 'sub', anna);
      await env.registry.externalIdentities.unlink('https://id.example.com', anna);
      await users.setPassword(anna.id, 'a third password', null);
      await accountLinks.request(anna, 'reset', 'en');
      const [link] = await accountLinks.lease(1, 1000);
      if (link !== undefined) await accountLinks.arm(link, 'token', env.nowMs + 1);
      await accountLinks.setPassword('token', 'a fourth password');
      await accountLinks.setEmail(anna, 'thief@example.com');
      // What its user asked for and did not do is no change.
      await expect(passkeys.remove(anna, passkey.id, ABSENT as SessionId)).rejects.toThrow(NotFoundError);
      const leased = await accountNotices.lease(20, 1000);
      expect(leased.map(({ kind, detail }) => [kind, detail])).toEqual([
        ['passkey-added', 'Phone'],
        ['passkey-removed', 'Laptop'],
        ['second-factor-enabled', null],
        ['recovery-code-used', null],
        ['second-factor-removed', null],
        ['sign-in-linked', 'https://id.example.com'],
        ['sign-in-unlinked', 'https://id.example.com'],
        ['password-changed', null],
        ['password-changed', null],
        ['email-changed', null],
      ]);
      // The last one goes to where its user read until then.
      expect(new Set(leased.map(({ address }) => address))).toEqual(new Set(['anna@example.com']));
      expect(leased[0]).toMatchObject({ user: { id: anna.id }, createdAtMs: env.nowMs, attempts: 1 });
      expect(await accountNotices.lease(20, 1000)).toEqual([]);
      const [first, second, ...rest] = leased;
      if (first === undefined || second === undefined) throw new Error('nothing was leased');
      expect(await accountNotices.remove({ ...first, lease: 'another' })).toBe(false);
      for (const each of [first, ...rest]) expect(await accountNotices.remove(each)).toBe(true);
      expect(await accountNotices.retry(second, env.nowMs + 500)).toBe(true);
      env.nowMs += 499;
      expect(await accountNotices.lease(20, 1000)).toEqual([]);
      env.nowMs += 1;
      const [again] = await accountNotices.lease(20, 1000);
      expect(again).toMatchObject({ id: second.id, attempts: 2 });
      // A worker that died leaves its lease to lapse.
      env.nowMs += 1000;
      expect(await accountNotices.lease(20, 1000)).toMatchObject([{ id: second.id, attempts: 3 }]);
      await users.delete(anna.id, null);
      env.nowMs += 1000;
      expect(await accountNotices.lease(20, 1000)).toEqual([]);
    });

    test('an account has few notices waiting, and the first ones are kept', async () => {
      const { accountLinks, accountNotices } = env.registry;
      await accountLinks.setEmail(anna, 'anna@example.com');
      for (let nth = 1; nth <= 22; nth++) await accountLinks.setEmail(anna, `${nth}@example.com`);
      const leased = await accountNotices.lease(100, 1000);
      expect(leased).toHaveLength(20);
      expect(leased[0]?.address).toBe('anna@example.com');
    });

    test('an account is blocked once at its end, with the users of a dealer', async () => {
      const boss = await env.registry.users.create(userFields('boss', { role: 'dealer' }), PASSWORD);
      await env.registry.users.update(anna.id, null, { dealerId: boss.id });
      await env.registry.users.setExpiry(boss.id, env.nowMs + 1000);
      const isBlocked = async (id: UserId) => (await env.registry.users.get(id))?.blocked;
      expect(await env.registry.users.expire(10)).toEqual([]);
      env.nowMs += 1000;
      expect(await env.registry.users.expire(10)).toEqual([boss.id]);
      expect(await env.registry.users.expire(10)).toEqual([]);
      expect([await isBlocked(boss.id), await isBlocked(anna.id)]).toEqual([true, true]);
      await env.registry.users.setExpiry(boss.id, env.nowMs + 1000);
      expect([await isBlocked(boss.id), await isBlocked(anna.id)]).toEqual([false, false]);
      expect(await env.registry.users.expiryOf(boss.id)).toBe(env.nowMs + 1000);
      await env.registry.users.delete(boss.id, null);
      expect(await env.registry.users.expiryOf(boss.id)).toBeNull();
    });
  });
}
