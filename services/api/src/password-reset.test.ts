import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';

const HOUR_MS = 3_600_000;
const LEASE_MS = 1000;
const NEW_PASSWORD = 'new and unknown';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const ask = (account: string) => world.call('POST', '/auth/password-reset', { body: { account, language: 'de' } });
const complete = (token: string, password = NEW_PASSWORD) =>
  world.call('POST', '/auth/password-reset/complete', { body: { token, password } });
const waiting = () => world.registry.accountLinks.lease(10, LEASE_MS);

/** What the notifier does when it sends a mail. */
async function send(token: string): Promise<void> {
  const [leased] = await waiting();
  if (leased === undefined) throw new Error('no mail waits');
  await world.registry.accountLinks.arm(leased, token, world.nowMs + HOUR_MS);
  await world.registry.accountLinks.settle(leased, null);
}

async function withEmail(login: string, address = `${login}@example.com`) {
  const member = await world.member(login);
  await world.registry.accountLinks.setEmail(member.user, address);
  return member;
}

describe('a forgotten password', () => {
  test('is replaced by a link, once, and ends all sessions', async () => {
    const { jwt } = await withEmail('anna');
    expect((await ask('Anna@Example.com')).status).toBe(204);
    expect(await waiting()).toMatchObject([{ purpose: 'reset', address: 'anna@example.com', language: 'de' }]);
    world.nowMs += LEASE_MS;
    await send('the token');
    expect(await complete('the token', 'password')).toMatchObject({ body: { errors: [{ pointer: '/password' }] } });
    expect((await complete('the token')).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
    expect((await world.login('anna', PASSWORD)).status).toBe(401);
    expect((await world.login('anna', NEW_PASSWORD)).status).toBe(200);
    expect(await complete('the token')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/token' }] } });
  });

  test('takes as long, and answers the same, for accounts that do not exist, have no address or are blocked', async () => {
    const { user } = await withEmail('anna');
    await world.member('boris');
    await world.registry.users.update(user.id, null, { blocked: true });
    for (const account of ['anna', 'boris', 'nobody', 'nobody@example.com', '\u0000'])
      expect(await ask(account)).toMatchObject({ status: 204, body: '' });
    expect(world.waited).toEqual(Array(5).fill(500));
    expect(await waiting()).toEqual([]);
  });

  test('goes by a link that works for an hour, and until another one is sent', async () => {
    const { user } = await withEmail('anna');
    await ask('anna');
    await send('first');
    await ask('anna');
    expect((await world.registry.accountLinks.accountOf('first'))?.user.id).toBe(user.id);
    await send('second');
    expect((await complete('first')).status).toBe(400);
    world.nowMs += HOUR_MS;
    expect((await complete('second')).status).toBe(400);
    expect((await world.login('anna', PASSWORD)).status).toBe(200);
  });

  test('goes by no link that was sent before the address changed, the account was blocked or was deleted', async () => {
    const { user } = await withEmail('anna');
    const sendOne = async (token: string) => {
      await ask('anna');
      await send(token);
    };
    await sendOne('1');
    await world.registry.accountLinks.setEmail(user, 'other@example.com');
    expect((await complete('1')).status).toBe(400);
    await sendOne('2');
    await world.registry.users.update(user.id, null, { blocked: true });
    expect((await complete('2')).status).toBe(400);
    await world.registry.users.update(user.id, null, { blocked: false });
    await sendOne('3');
    await world.registry.users.delete(user.id, null);
    expect((await complete('3')).status).toBe(400);
  });

  test('leaves the second factor as it is', async () => {
    const { user } = await withEmail('anna');
    await world.registry.secondFactors.propose(user.id, 'GEZDGNBV');
    await world.registry.secondFactors.confirm(user, 'GEZDGNBV', 1, []);
    await ask('anna');
    await send('the token');
    expect((await complete('the token')).status).toBe(204);
    expect((await world.login('anna', NEW_PASSWORD)).body.type).toBe('urn:outrider:problem:second-factor-needed');
  });
});

describe('the address of an account', () => {
  test('is set by its user with the password, and by who keeps the account without', async () => {
    const { user, jwt } = await world.member('anna');
    const path = `/api/v1/users/${user.id}/email`;
    const put = (body: object, by = jwt) => world.call('PUT', path, { jwt: by, body });
    expect((await put({ email: 'anna@example.com' })).status).toBe(400);
    expect((await put({ email: 'anna@example.com', currentPassword: 'wrong' })).status).toBe(400);
    expect((await put({ email: 'no address', currentPassword: PASSWORD })).body.errors[0].pointer).toBe('/email');
    expect((await put({ email: 'anna@example.com', currentPassword: PASSWORD })).status).toBe(204);
    expect((await world.call('GET', path, { jwt })).body).toEqual({ email: 'anna@example.com' });
    const operator = await world.member('admin', 'operator');
    expect((await put({ email: null }, operator.jwt)).status).toBe(204);
    expect((await world.call('GET', path, { jwt })).body).toEqual({ email: null });
    const stranger = await world.member('boris');
    expect((await world.call('GET', path, { jwt: stranger.jwt })).status).toBe(404);
  });
});

describe('an invitation', () => {
  test('lets a new account without a password choose one', async () => {
    const { jwt } = await world.member('admin', 'operator');
    const add = (body: object) =>
      world.call('POST', '/api/v1/users', { jwt, body: { login: 'anna', name: 'Anna', apiAccess: true, ...body } });
    expect((await add({})).body.errors[0].pointer).toBe('/password');
    const admin = await world.registry.users.byLogin('admin');
    if (admin === null) throw new Error('no operator');
    const { text } = await world.registry.apiKeys.create(admin.id, {
      name: 'ERP',
      scopes: ['write'],
      groupIds: null,
      expiresAtMs: null,
    });
    const byKey = {
      headers: { authorization: `Bearer ${text}` },
      body: { login: 'anna', name: 'Anna', email: 'a@b.co' },
    };
    expect((await world.call('POST', '/api/v1/users', byKey)).status).toBe(403);
    expect(await world.registry.users.byLogin('anna')).toBeNull();
    const { body: user } = await add({ email: 'anna@example.com' });
    expect(await waiting()).toMatchObject([{ purpose: 'invitation', address: 'anna@example.com' }]);
    world.nowMs += LEASE_MS;
    await send('welcome');
    expect((await complete('welcome')).status).toBe(204);
    expect((await world.login('anna', NEW_PASSWORD)).status).toBe(200);
    expect((await world.call('POST', `/api/v1/users/${user.id}/invitation`, { jwt })).status).toBe(204);
    await world.call('PUT', `/api/v1/users/${user.id}/email`, { jwt, body: { email: null } });
    expect((await world.call('POST', `/api/v1/users/${user.id}/invitation`, { jwt })).status).toBe(409);
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    const actions = items.map(({ action }) => action);
    for (const action of ['invited', 'password-reset', 'email-changed']) expect(actions).toContain(action);
    expect(JSON.stringify(items)).not.toContain('welcome');
  });
});
