import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

describe('login', () => {
  test('gives a token that lets in, and says when it expires', async () => {
    const anna = await world.addUser('anna');
    const { status, body } = await world.login('anna', PASSWORD);
    expect(status).toBe(200);
    expect(body).toEqual({
      jwt: expect.any(String),
      expiresAt: new Date(world.nowMs + 3_600_000).toISOString(),
      refresh: expect.any(String),
    });
    const payload = JSON.parse(Buffer.from(body.jwt.split('.')[1], 'base64url').toString());
    expect(payload.exp).toBe(world.nowMs / 1000 + 3600);
    expect((await world.call('GET', '/api/v1/me', { jwt: body.jwt })).body).toMatchObject({
      id: anna.id,
      login: 'anna',
    });
  });

  test('says the same of a wrong login and a wrong password, also of a blocked account', async () => {
    await world.addUser('anna');
    await world.addUser('ben', 'user', { blocked: true });
    const [wrongLogin, wrongPassword, ofBlocked] = [
      await world.login('nobody', PASSWORD),
      await world.login('anna', 'another password'),
      await world.login('ben', 'another password'),
    ];
    expect(wrongLogin.status).toBe(401);
    expect(wrongPassword.body).toEqual(wrongLogin.body);
    expect(ofBlocked.body).toEqual(wrongLogin.body);
    expect(wrongPassword.headers.get('www-authenticate')).toBe(wrongLogin.headers.get('www-authenticate'));
  });

  test('says that an account is blocked, and only to who knows the password', async () => {
    await world.addUser('ben', 'user', { blocked: true });
    const right = await world.login('ben', PASSWORD);
    expect(right).toMatchObject({ status: 401, body: { type: 'urn:outrider:problem:account-blocked' } });
    expect((await world.login('ben', 'wrong')).body.type).toBe('urn:outrider:problem:wrong-credentials');
    const { items } = await world.registry.audit.list({}, { limit: 10, after: null });
    expect(items.filter(({ action }) => action === 'login-failed')).toHaveLength(2);
  });

  test('is forbidden without the right to use the API, and only to who knows the password', async () => {
    await world.addUser('anna', 'user', { apiAccess: false });
    expect((await world.login('anna', PASSWORD)).status).toBe(403);
    expect((await world.login('anna', 'another password')).status).toBe(401);
  });

  test('needs jwt=1 or nothing, and a body that is right', async () => {
    const bad = async (path: string, body: unknown) => (await world.call('POST', path, { body })).body.errors;
    const good = { login: 'anna', password: PASSWORD };
    expect(await bad('/auth/login?jwt=0', good)).toMatchObject([{ parameter: 'jwt' }]);
    expect(await bad('/auth/login?jwt=1', { login: 'anna' })).toMatchObject([{ pointer: '/password' }]);
    expect(await bad('/auth/login?jwt=1', { ...good, admin: true })).toMatchObject([{ pointer: '/admin' }]);
    expect(await bad('/auth/login?jwt=1', [])).toMatchObject([{ pointer: '' }]);
  });
});

describe('login by a form', () => {
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const asForm = (fields: string, path = '/auth/login?jwt=1', headers = {}) =>
    world.call('POST', path, { body: fields, headers: { ...FORM, ...headers } });
  const good = new URLSearchParams({ login: 'анна & co', password: PASSWORD }).toString();

  test('is as good as one by JSON', async () => {
    const anna = await world.addUser('анна & co');
    const { status, body } = await asForm(good);
    expect(status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', { jwt: body.jwt })).body).toMatchObject({ id: anna.id });
    const said = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    expect((await asForm(good, undefined, said)).status).toBe(200);
    expect((await asForm(good.replace('correct', 'wrong'))).status).toBe(401);
  });

  test('names what is wrong with it', async () => {
    const refused = async (fields: string) => (await asForm(fields)).body.errors;
    expect(await refused('login=anna')).toMatchObject([{ pointer: '/password' }]);
    expect(await refused(`${good}&colour=red`)).toMatchObject([{ pointer: '/colour' }]);
    expect(await refused(`${good}&login=ben`)).toMatchObject([
      { pointer: '/login', detail: 'It is given more than once.' },
    ]);
    expect(await refused('')).toMatchObject([{ pointer: '/login' }, { pointer: '/password' }]);
    expect(await refused(`${good}&__proto__=1`)).toMatchObject([{ pointer: '/__proto__' }]);
  });

  test('begins a session of the console from its own pages alone: other pages can send forms as well', async () => {
    await world.addUser('анна & co');
    expect((await asForm(good, '/auth/login')).status).toBe(403);
    expect((await asForm(good, '/auth/login', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await asForm(good, '/auth/login', { 'sec-fetch-site': 'same-origin' })).status).toBe(204);
  });
});

test('the service that a login names stands in the list of sessions, in place of the program', async () => {
  const { user, jwt } = await world.member('anna');
  const named = { login: 'anna', password: PASSWORD, service: 'Dispatch, north' };
  const headers = { 'user-agent': 'curl/8.5.0' };
  expect((await world.call('POST', '/auth/login?jwt=1', { body: named, headers })).status).toBe(200);
  await world.login('anna', PASSWORD, { headers });
  const { items } = (await world.call('GET', `/api/v1/users/${user.id}/sessions`, { jwt })).body;
  const programs = items.map(({ userAgent }: { userAgent: string }) => userAgent);
  expect(programs.toSorted()).toEqual(['Dispatch, north', 'curl/8.5.0', 'test']);
  const empty = await world.call('POST', '/auth/login?jwt=1', { body: { ...named, service: '' } });
  expect(empty.body.errors).toMatchObject([{ pointer: '/service' }]);
});

describe('a call that needs a token', () => {
  test('is refused without one, with a header that says how to send one', async () => {
    const { status, headers } = await world.call('GET', '/api/v1/me');
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toMatch(/^JWT realm="outrider"/);
  });

  test('is refused with the word Bearer, with nonsense, and with a token of another place', async () => {
    const { jwt } = await world.member('anna');
    expect((await world.call('GET', '/api/v1/me', { headers: { authorization: `Bearer ${jwt}` } })).status).toBe(401);
    expect((await world.call('GET', '/api/v1/me', { jwt: 'nonsense' })).status).toBe(401);
    const elsewhere = await World.open();
    const foreign = await elsewhere.member('anna');
    await elsewhere.close();
    expect((await world.call('GET', '/api/v1/me', { jwt: foreign.jwt })).status).toBe(401);
  });

  test('is refused when the token has expired', async () => {
    const { jwt } = await world.member('anna');
    world.nowMs += 3_599_999;
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    world.nowMs += 1;
    const { status, headers } = await world.call('GET', '/api/v1/me', { jwt });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('error="expired"');
  });

  test('is forbidden from the moment that the right to use the API is taken', async () => {
    const { user, jwt } = await world.member('anna');
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    await world.registry.users.update(user.id, null, { apiAccess: false });
    const { status, body } = await world.call('GET', '/api/v1/me', { jwt });
    expect(status).toBe(403);
    expect(body.type).toBe('urn:outrider:problem:no-api-access');
  });

  test('is refused from the moment that the account is blocked or deleted', async () => {
    const operator = await world.member('boss', 'operator');
    for (const end of [
      (id: string) => world.call('POST', `/api/v1/users/${id}/block`, { jwt: operator.jwt }),
      (id: string) => world.call('DELETE', `/api/v1/users/${id}`, { jwt: operator.jwt }),
    ]) {
      const { user, jwt } = await world.member(`anna${Math.random()}`);
      expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
      await end(user.id);
      expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
      expect((await world.call('POST', '/auth/refresh', { jwt })).status).toBe(401);
    }
  });

  test('stays refused to a token from before the block, when the account is let in again', async () => {
    const operator = await world.member('boss', 'operator');
    const { user, jwt } = await world.member('anna');
    await world.call('GET', '/api/v1/me', { jwt });
    await world.call('POST', `/api/v1/users/${user.id}/block`, { jwt: operator.jwt });
    await world.call('POST', `/api/v1/users/${user.id}/unblock`, { jwt: operator.jwt });
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
    const again = await world.login('anna', PASSWORD);
    expect((await world.call('GET', '/api/v1/me', { jwt: again.body.jwt })).status).toBe(200);
  });
});

describe('refresh', () => {
  test('takes the token for refreshing, which is good for nothing else, until the session ends', async () => {
    await world.addUser('anna');
    const { refresh } = (await world.login('anna', PASSWORD)).body;
    expect((await world.call('GET', '/api/v1/me', { jwt: refresh })).status).toBe(401);
    world.nowMs += 29 * 86_400_000;
    const again = await world.call('POST', '/auth/refresh', { headers: { 'authorization-refresh': `JWT ${refresh}` } });
    expect(again.status).toBe(200);
    expect(again.body.refresh).toBeTypeOf('string');
    const { jwt } = again.body;
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    expect((await world.call('POST', '/auth/refresh', { jwt: again.body.refresh })).status).toBe(200);
    expect((await world.call('POST', '/auth/logout', { jwt })).status).toBe(204);
    for (const token of [refresh, again.body.refresh])
      expect((await world.call('POST', '/auth/refresh', { jwt: token })).status).toBe(401);
  });

  test('takes a token without the word JWT, which no other call does', async () => {
    const { jwt } = await world.member('anna');
    for (const name of ['authorization-refresh', 'authorization'])
      expect((await world.call('POST', '/auth/refresh', { headers: { [name]: jwt } })).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', { headers: { authorization: jwt } })).status).toBe(401);
    for (const wrong of [`Bearer ${jwt}`, 'JWT', '', `JWT ${jwt} x`])
      expect((await world.call('POST', '/auth/refresh', { headers: { 'authorization-refresh': wrong } })).status).toBe(
        401,
      );
  });

  test('takes jwt=1 as the login does, and no other parameter', async () => {
    const { jwt } = await world.member('anna');
    expect((await world.call('POST', '/auth/refresh?jwt=1', { jwt })).status).toBe(200);
    expect((await world.call('POST', '/auth/refresh?jwt=0', { jwt })).body.errors).toMatchObject([
      { parameter: 'jwt' },
    ]);
  });

  test('takes the token from the login again and again, expired or not, under either header', async () => {
    await world.addUser('anna');
    const first = (await world.login('anna', PASSWORD)).body.jwt;
    for (let hour = 0; hour < 3; hour += 1) {
      const { status, body } = await world.call('POST', '/auth/refresh', {
        headers: { 'authorization-refresh': `JWT ${first}` },
      });
      expect(status).toBe(200);
      expect((await world.call('GET', '/api/v1/me', { jwt: body.jwt })).status).toBe(200);
      world.nowMs += 8 * 3_600_000;
    }
    const { status, body } = await world.call('POST', '/auth/refresh', { jwt: first });
    expect(status).toBe(200);
    expect(body.expiresAt).toBe(new Date(world.nowMs + 3_600_000).toISOString());
    // For anything else an expired token is an expired token.
    expect((await world.call('GET', '/api/v1/me', { jwt: first })).status).toBe(401);
  });

  test('works until the session is 30 days old, with a JWT until a day after it has expired', async () => {
    await world.addUser('anna');
    const { jwt, refresh } = (await world.login('anna', PASSWORD)).body;
    const refreshed = async (token: string) => (await world.call('POST', '/auth/refresh', { jwt: token })).status;
    world.nowMs += 25 * 3_600_000 - 1;
    expect(await refreshed(jwt)).toBe(200);
    world.nowMs += 1;
    expect(await refreshed(jwt)).toBe(401);
    world.nowMs += 29 * 86_400_000 - 3_600_000 - 1;
    expect(await refreshed(refresh)).toBe(200);
    world.nowMs += 1;
    expect(await refreshed(refresh)).toBe(401);
  });

  test('with a token that was replaced ends the session, a minute after its successor was used', async () => {
    await world.addUser('anna');
    const { jwt } = (await world.login('anna', PASSWORD)).body;
    const refresh = (token: string) => world.call('POST', '/auth/refresh', { jwt: token });
    const me = async (token: string) => (await world.call('GET', '/api/v1/me', { jwt: token })).status;
    const first = (await refresh(jwt)).body.jwt;
    expect(await me(first)).toBe(200);
    // Nobody has used its successors yet: the answers may have been lost.
    const lost = (await refresh(first)).body.jwt;
    world.nowMs += 120_000;
    const second = (await refresh(first)).body.jwt;
    expect(await me(second)).toBe(200);
    // As calls that ran side by side do.
    world.nowMs += 60_000;
    expect((await refresh(first)).status).toBe(200);
    expect((await refresh(lost)).status).toBe(200);
    // The specification's client refreshes with that of the login alone.
    expect((await refresh(jwt)).status).toBe(200);
    world.nowMs += 1;
    expect((await refresh(first)).status).toBe(401);
    for (const token of [jwt, second]) expect((await refresh(token)).status).toBe(401);
    expect(await me(second)).toBe(401);
    const { items } = await world.registry.audit.list({}, { limit: 100, after: null });
    expect(items.filter(({ action }) => action === 'token-reused')).toHaveLength(1);
  });

  test('is refused without a token, with a bad one, and without the right to use the API', async () => {
    expect((await world.call('POST', '/auth/refresh')).status).toBe(401);
    expect((await world.call('POST', '/auth/refresh', { jwt: 'a.b.c' })).status).toBe(401);
    const { user, jwt } = await world.member('anna');
    await world.registry.users.update(user.id, null, { apiAccess: false });
    expect((await world.call('POST', '/auth/refresh', { jwt })).status).toBe(403);
  });
});

describe('sessions', () => {
  test('logout ends one, for calls and for refreshing, and leaves the others', async () => {
    const { user, jwt } = await world.member('anna');
    const other = await world.tokenOf(user);
    expect((await world.call('POST', '/auth/logout', { jwt })).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
    expect((await world.call('POST', '/auth/refresh', { jwt })).status).toBe(401);
    expect((await world.call('GET', '/api/v1/me', { jwt: other })).status).toBe(200);
  });

  test('are listed to their user with address and last use, and can be ended one by one', async () => {
    const anna = await world.addUser('anna');
    const first = (await world.login('anna', PASSWORD, { headers: { 'user-agent': 'one' } })).body.jwt;
    world.nowMs += 1000;
    const second = (await world.login('anna', PASSWORD, { from: '198.51.100.2' })).body.jwt;
    const path = `/api/v1/users/${anna.id}/sessions`;
    const { items } = (await world.call('GET', path, { jwt: second })).body;
    expect(items).toMatchObject([
      { address: '198.51.100.2', current: true, lastUsedAt: new Date(world.nowMs).toISOString() },
      { address: '192.0.2.1', current: false, userAgent: 'one' },
    ]);
    expect((await world.call('DELETE', `${path}/${items[1].id}`, { jwt: second })).status).toBe(204);
    expect((await world.call('GET', path, { jwt: first })).status).toBe(401);
    expect((await world.call('DELETE', `${path}/${items[1].id}`, { jwt: second })).status).toBe(404);
  });

  test('all others of the account end at once', async () => {
    const { user, jwt } = await world.member('anna');
    const ben = await world.member('ben');
    const other = await world.tokenOf(user);
    const path = `/api/v1/users/${user.id}/sessions`;
    expect((await world.call('DELETE', path, { jwt: ben.jwt })).status).toBe(404);
    expect((await world.call('GET', '/api/v1/me', { jwt: other })).status).toBe(200);
    expect((await world.call('DELETE', path, { jwt })).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', { jwt: other })).status).toBe(401);
    expect((await world.call('GET', path, { jwt })).body.items).toMatchObject([{ current: true }]);
  });

  test('of others are nobody’s business', async () => {
    const anna = await world.member('anna');
    const ben = await world.member('ben');
    expect((await world.call('GET', `/api/v1/users/${ben.user.id}/sessions`, { jwt: anna.jwt })).status).toBe(404);
    const [session] = await world.registry.sessions.listOf(ben.user.id);
    for (const owner of [anna.user.id, ben.user.id])
      expect(
        (await world.call('DELETE', `/api/v1/users/${owner}/sessions/${session?.id}`, { jwt: anna.jwt })).status,
      ).toBe(404);
    expect((await world.call('GET', '/api/v1/me', { jwt: ben.jwt })).status).toBe(200);
  });

  test('end with a new password, but for the one that changed it', async () => {
    const { user, jwt } = await world.member('anna');
    const other = await world.tokenOf(user);
    await world.call('GET', '/api/v1/me', { jwt: other });
    const change = (currentPassword: string) =>
      world.call('PUT', '/api/v1/me/password', { jwt, body: { currentPassword, password: 'an entirely new one' } });
    expect((await change('a wrong one')).body.errors).toMatchObject([{ pointer: '/currentPassword' }]);
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', { jwt: other })).status).toBe(401);
    expect((await world.login('anna', PASSWORD)).status).toBe(401);
    expect((await world.login('anna', 'an entirely new one')).status).toBe(200);
  });
});

test('the keys are shown, without their private part', async () => {
  const { body } = await world.call('GET', '/.well-known/jwks.json');
  expect(body.keys).toHaveLength(1);
  expect(JSON.stringify(body)).not.toContain('"d"');
});
