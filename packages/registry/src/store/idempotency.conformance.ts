import type { User } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ALL, PASSWORD, userFields } from '../fleet/fields.fixture.ts';
import { AlreadyClaimedError, type Claim, ConflictError, MAX_KEYS_PER_USER } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const DAY_MS = 86_400_000;

/** What every adapter of the registry promises of keys of requests that make something. */
export function idempotencyConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`idempotency keys on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let boss: User;

    beforeEach(async () => {
      boss = await env.registry.users.create(userFields('boss', { role: 'operator' }), PASSWORD);
    });
    const request = (key: string, content = 'POST /x', holdsSecret = false) => ({
      userId: boss.id,
      key,
      content,
      holdsSecret,
    });
    const answer = (body: string) => ({ status: 201, headers: { etag: '"1"' }, body });
    const under = (claim: Claim) => env.registry.as({ user: boss, sessionId: null, address: null }, claim);
    /** Makes a group under a key, as the call that has it does. */
    async function make(key: string, body: string): Promise<void> {
      const claim = await env.registry.idempotency.claim(request(key));
      await under(claim).groups.create({ name: `group of ${key}`, dealerId: null });
      await env.registry.idempotency.answered(claim, answer(body));
    }

    test('a key is taken with the first change, and answered for a day', async () => {
      const claim = await env.registry.idempotency.claim(request('k'));
      expect(await env.registry.idempotency.find(request('k'))).toBe('new');
      await under(claim).groups.create({ name: 'A', dealerId: null });
      expect(claim.taken).toBe(true);
      expect(await env.registry.idempotency.find(request('k'))).toBe('unanswered');
      await env.registry.idempotency.answered(claim, answer('made'));
      expect(await env.registry.idempotency.find(request('k'))).toEqual(answer('made'));
      expect(await env.registry.idempotency.find(request('k', 'POST /y'))).toBe('other');
      env.nowMs += DAY_MS - 1;
      expect(await env.registry.idempotency.find(request('k'))).toEqual(answer('made'));
      env.nowMs += 1;
      expect(await env.registry.idempotency.find(request('k'))).toBe('new');
      await under(await env.registry.idempotency.claim(request('k'))).groups.create({ name: 'B', dealerId: null });
    });

    test('what failed takes no key', async () => {
      await env.registry.groups.create({ name: 'A', dealerId: null });
      const claim = await env.registry.idempotency.claim(request('k'));
      await expect(under(claim).groups.create({ name: 'A', dealerId: null })).rejects.toBeInstanceOf(ConflictError);
      expect(claim.taken).toBe(false);
      expect(await env.registry.idempotency.find(request('k'))).toBe('new');
    });

    test('of many who make it at once one does, and the others make nothing', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, async (_, n) =>
          under(await env.registry.idempotency.claim(request('k'))).groups.create({ name: `G${n}`, dealerId: null }),
        ),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(AlreadyClaimedError);
      expect((await env.registry.groups.list({}, ALL)).items).toHaveLength(1);
    });

    test('of a request with a secret nothing is kept that it could be guessed from quickly', async () => {
      const claim = await env.registry.idempotency.claim(request('k', 'the password', true));
      await under(claim).groups.create({ name: 'A', dealerId: null });
      await env.registry.idempotency.answered(claim, answer('made'));
      expect(claim.fingerprint).toMatch(/^\$argon2id\$/);
      expect(await env.registry.idempotency.find(request('k', 'the password', true))).toEqual(answer('made'));
      expect(await env.registry.idempotency.find(request('k', 'the passwort', true))).toBe('other');
    });

    test('the oldest are pushed out by too many', { timeout: 120_000 }, async () => {
      for (let n = 0; n <= MAX_KEYS_PER_USER; n += 1) {
        env.nowMs += 1;
        await make(`k${n}`, 'made');
      }
      expect(await env.registry.idempotency.find(request('k0'))).toBe('new');
      expect(await env.registry.idempotency.find(request('k1'))).toEqual(answer('made'));
    });

    test('the oldest are pushed out by answers that are too large together', async () => {
      const half = 'x'.repeat(9 * 1024 * 1024);
      for (const key of ['a', 'b']) {
        env.nowMs += 1;
        await make(key, half);
      }
      expect(await env.registry.idempotency.find(request('a'))).toBe('new');
      expect(await env.registry.idempotency.find(request('b'))).toEqual(answer(half));
    });

    test('keys go with their account, and a day after they came', async () => {
      const other = await env.registry.users.create(userFields('other', { role: 'operator' }), PASSWORD);
      const claim = await env.registry.idempotency.claim({ ...request('k'), userId: other.id });
      await under(claim).groups.create({ name: 'A', dealerId: null });
      await env.registry.users.delete(other.id, null);
      await make('a', 'made');
      env.nowMs += DAY_MS - 1;
      expect(await env.registry.idempotency.clean(10)).toBe(0);
      env.nowMs += 1;
      expect(await env.registry.idempotency.clean(10)).toBe(1);
      expect(await env.registry.idempotency.clean(10)).toBe(0);
    });
  });
}
