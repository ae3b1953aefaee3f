import { createLogger } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PASSWORD, World } from '../api.fixture.ts';
import { createAccountExpiry } from './account-expiry.ts';

const DAY_MS = 86_400_000;

let world: World;
let operator: string;
beforeEach(async () => {
  world = await World.open();
  operator = (await world.member('admin', 'operator')).jwt;
});
afterEach(() => world.close());

const expireAt = (id: string, expiresAtMs: number | null) =>
  world.call('PUT', `/api/v1/users/${id}/expiry`, {
    jwt: operator,
    body: { expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString() },
  });
const expiryOf = async (id: string, jwt = operator) =>
  (await world.call('GET', `/api/v1/users/${id}/expiry`, { jwt })).body.expiresAt;
const statusOf = async (headers: { jwt?: string; headers?: Record<string, string> }) =>
  (await world.call('GET', '/api/v1/me', headers)).status;

describe('an account whose time is over', () => {
  test('is blocked by the service: tokens, keys and logins end, and its owner reads when', async () => {
    const { user, jwt } = await world.member('anna');
    const key = await world.registry.apiKeys.create(user.id, {
      name: 'ERP',
      scopes: ['read'],
      groupIds: null,
      expiresAtMs: null,
    });
    const endMs = world.nowMs + 1000;
    expect((await expireAt(user.id, endMs)).status).toBe(204);
    expect(await expiryOf(user.id, jwt)).toBe(new Date(endMs).toISOString());
    const bearer = { headers: { authorization: `Bearer ${key.text}` } };
    expect(await world.registry.users.expire(10)).toEqual([]);
    expect([await statusOf({ jwt }), await statusOf(bearer)]).toEqual([200, 200]);
    const clock = new VirtualClock();
    const part = createAccountExpiry({ registry: world.registry, logger: createLogger('silent', 'json'), clock });
    await part.start();
    world.nowMs = endMs;
    await vi.waitFor(() => expect(clock.timers).toBe(1), { timeout: 60_000 });
    await clock.advance(1000);
    await vi.waitFor(async () => expect(await statusOf({ jwt })).toBe(401), { timeout: 60_000 });
    await part.stop();
    expect(await statusOf(bearer)).toBe(401);
    // Who shows a token, a key or the password of the account reads why.
    for (const answer of [
      await world.call('GET', '/api/v1/me', { jwt }),
      await world.call('GET', '/api/v1/me', bearer),
      await world.call('POST', '/auth/refresh', { jwt }),
      await world.login('anna', PASSWORD),
    ])
      expect(answer).toMatchObject({ status: 401, body: { type: 'urn:outrider:problem:account-expired' } });
    expect((await world.login('anna', 'wrong')).body.type).toBe('urn:outrider:problem:wrong-credentials');
    expect(await world.registry.sessions.listOf(user.id)).toEqual([]);
    expect(await world.registry.users.expire(10)).toEqual([]);
    // Its keys work again with a later end.
    expect((await expireAt(user.id, world.nowMs + DAY_MS)).status).toBe(204);
    expect(await statusOf(bearer)).toBe(200);
    expect((await world.login('anna', PASSWORD)).status).toBe(200);
  });

  test('is let in by nothing but another end, and not if it was blocked besides', async () => {
    const { user } = await world.member('anna');
    await expireAt(user.id, world.nowMs);
    const unblocked = await world.call('POST', `/api/v1/users/${user.id}/unblock`, { jwt: operator });
    expect(unblocked.body.blocked).toBe(true);
    await world.call('POST', `/api/v1/users/${user.id}/block`, { jwt: operator });
    await expireAt(user.id, null);
    expect((await world.registry.users.get(user.id))?.blocked).toBe(true);
    await world.call('POST', `/api/v1/users/${user.id}/unblock`, { jwt: operator });
    expect((await world.registry.users.get(user.id))?.blocked).toBe(false);
    expect(await expiryOf(user.id)).toBeNull();
  });

  test('keeps its end through other changes', async () => {
    const { user } = await world.member('anna');
    await expireAt(user.id, world.nowMs);
    await world.call('PATCH', `/api/v1/users/${user.id}`, { jwt: operator, body: { name: 'Ann' } });
    expect((await world.registry.users.get(user.id))?.blocked).toBe(true);
  });

  test('and is a dealer takes its users along, also new ones', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const { user, jwt } = await world.member('anna', 'user', { dealerId: dealer.user.id });
    await expireAt(dealer.user.id, world.nowMs + 1000);
    world.nowMs += 1000;
    expect(await world.registry.users.expire(10)).toEqual([dealer.user.id]);
    expect([await statusOf({ jwt: dealer.jwt }), await statusOf({ jwt })]).toEqual([401, 401]);
    const { user: later } = await world.member('boris', 'user', { dealerId: dealer.user.id });
    expect(later.blocked).toBe(true);
    await expireAt(dealer.user.id, null);
    for (const { id } of [user, later]) expect((await world.registry.users.get(id))?.blocked).toBe(false);
  });

  test('can not be the caller’s own', async () => {
    const { items } = (await world.call('GET', '/api/v1/users', { jwt: operator })).body;
    expect((await expireAt(items[0].id, world.nowMs)).status).toBe(409);
  });
});
