import type { IncomingMessage } from 'node:http';
import { arrivalOfUpgrade, cookieSession, trustedProxies } from '@outrider/auth';
import type { User } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CallOptions, PASSWORD, World } from './api.fixture.ts';

const PROXY = '10.0.0.1';
const SAME = { 'sec-fetch-site': 'same-origin' };
let world: World;
let anna: User;
beforeEach(async () => {
  world = await World.open({ trustedProxies: [PROXY] });
  anna = await world.addUser('anna', 'user', { apiAccess: false });
});
afterEach(() => world.close());

const credentials = { login: 'anna', password: PASSWORD };
const login = (options: CallOptions = {}) => world.call('POST', '/auth/login', { body: credentials, ...options });
/** What a browser would send back of a `Set-Cookie`. */
const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')?.split(';', 1)[0] ?? '';
const withCookie = (cookie: string, more: Record<string, string> = SAME) => ({ headers: { cookie, ...more } });

describe('login without jwt=1', () => {
  test('begins a session in a cookie, with nothing in the body, and needs no right to use the API', async () => {
    const answer = await login();
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^outrider=[\w.-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    const me = await world.call('GET', '/api/v1/me', withCookie(cookieOf(answer), {}));
    expect(me).toMatchObject({ status: 200, body: { login: 'anna', apiAccess: false } });
    expect((await world.call('POST', '/auth/login?jwt=1', { body: credentials })).status).toBe(403);
  });

  test('gives a cookie bound to the host over TLS, by the headers of trusted proxies alone', async () => {
    const secure = await login({ from: PROXY, headers: { 'x-forwarded-proto': 'https' } });
    expect(secure.headers.get('set-cookie')).toMatch(/^__Host-outrider=.*; Path=\/; .*; Secure$/);
    const claimed = await login({ from: '192.0.2.9', headers: { 'x-forwarded-proto': 'https' } });
    expect(claimed.headers.get('set-cookie')).toMatch(/^outrider=/);
    // The same name must come back by the same way.
    const cookie = cookieOf(secure);
    const overTls = { from: PROXY, headers: { cookie, 'x-forwarded-proto': 'https' } };
    expect((await world.call('GET', '/api/v1/me', overTls)).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie))).status).toBe(401);
  });

  test('refuses wrong passwords and blocked accounts like any login, and counts them', async () => {
    for (let n = 1; n <= 10; n += 1)
      expect((await login({ body: { login: 'anna', password: 'wrong' } })).status).toBe(401);
    expect((await login()).status).toBe(429);
    await world.registry.users.update(anna.id, null, { blocked: true });
    const blocked = await login({ from: '198.51.100.1' });
    expect(blocked.status).toBe(401);
    expect(blocked.headers.get('set-cookie')).toBeNull();
  });

  test('is not taken from a page of another site', async () => {
    const elsewhere: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.test' }];
    for (const headers of elsewhere)
      expect(await login({ headers })).toMatchObject({
        status: 403,
        body: { type: 'urn:outrider:problem:cross-origin' },
      });
  });
});

describe('a call with the cookie', () => {
  test('that changes something must come from a page of this service', async () => {
    const cookie = cookieOf(await login());
    const rename = (headers: Record<string, string>) =>
      world.call('PATCH', '/api/v1/me', { body: { name: 'Anna B' }, headers: { cookie, ...headers } });
    const refused: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      { host: 'outrider.test', origin: 'https://outrider.test' },
      { host: 'outrider.test', origin: 'http://outrider.test:81' },
      { host: 'outrider.test', origin: 'null' },
    ];
    for (const headers of refused)
      expect(await rename(headers)).toMatchObject({ status: 403, body: { type: 'urn:outrider:problem:cross-origin' } });
    expect((await rename({ host: 'outrider.test', origin: 'http://outrider.test' })).status).toBe(200);
    expect((await rename(SAME)).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).body.name).toBe('Anna B');
  });

  test('goes by the header alone where there is one', async () => {
    const cookie = cookieOf(await login());
    const { jwt } = await world.member('ben');
    expect((await world.call('GET', '/api/v1/me', { jwt, headers: { cookie } })).body.login).toBe('ben');
    expect((await world.call('GET', '/api/v1/me', { jwt: 'a.b.c', headers: { cookie } })).status).toBe(401);
    // With a JWT, no browser is asked for anything.
    expect((await world.call('PATCH', '/api/v1/me', { jwt, body: { name: 'Ben' } })).status).toBe(200);
  });

  test('is refused with a JWT in the cookie, and a JWT call with the cookie’s token', async () => {
    const { jwt } = await world.member('ben');
    expect((await world.call('GET', '/api/v1/me', withCookie(`outrider=${jwt}`))).status).toBe(401);
    const token = cookieOf(await login()).split('=')[1] ?? '';
    expect((await world.call('GET', '/api/v1/me', { jwt: token })).status).toBe(401);
    expect((await world.call('POST', '/auth/refresh', { jwt: token })).status).toBe(401);
    expect((await world.call('POST', '/auth/refresh', withCookie(`outrider=${token}`))).status).toBe(401);
  });

  test('counts as one of its user’s', async () => {
    const cookie = cookieOf(await login());
    for (let n = 1; n <= 180; n += 1)
      expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).status).toBe(429);
  });

  test('works until the session is 30 days old', async () => {
    const cookie = cookieOf(await login());
    world.nowMs += 30 * 86_400_000 - 1;
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).status).toBe(200);
    world.nowMs += 1;
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).status).toBe(401);
  });

  test('is noted as a use of the session, from where it came, once in a while', async () => {
    const cookie = cookieOf(await login());
    const startedAtMs = world.nowMs;
    const use = async (from: string) => {
      await world.call('GET', '/api/v1/me', { ...withCookie(cookie, {}), from });
      return (await world.registry.sessions.listOf(anna.id))[0];
    };
    expect(await use('198.51.100.1')).toMatchObject({ address: '198.51.100.1', lastUsedAtMs: startedAtMs });
    world.nowMs += 299_999;
    expect(await use('198.51.100.2')).toMatchObject({ address: '198.51.100.1', lastUsedAtMs: startedAtMs });
    world.nowMs += 1;
    expect(await use('198.51.100.2')).toMatchObject({ address: '198.51.100.2', lastUsedAtMs: world.nowMs });
  });
});

describe('the session ends', () => {
  test('with the logout, which takes the cookie away', async () => {
    const cookie = cookieOf(await login());
    const other = cookieOf(await login());
    const out = await world.call('POST', '/auth/logout', withCookie(cookie));
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toBe('outrider=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).status).toBe(401);
    expect((await world.call('GET', '/api/v1/me', withCookie(other, {}))).status).toBe(200);
  });

  test('with the account’s block, at once', async () => {
    const operator = await world.member('boss', 'operator');
    const cookie = cookieOf(await login());
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).status).toBe(200);
    await world.call('POST', `/api/v1/users/${anna.id}/block`, { jwt: operator.jwt });
    expect(await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).toMatchObject({
      status: 401,
      body: { type: 'urn:outrider:problem:account-blocked' },
    });
    await world.call('POST', `/api/v1/users/${anna.id}/unblock`, { jwt: operator.jwt });
    expect((await world.call('GET', '/api/v1/me', withCookie(cookie, {}))).body.type).toBe(
      'urn:outrider:problem:not-authorized',
    );
  });
});

test('a WebSocket is let in by the cookie only from a page of this service', async () => {
  const cookie = cookieOf(await login());
  const ask = (headers: Record<string, string>) =>
    cookieSession(
      arrivalOfUpgrade(
        { socket: {}, headers: { host: 'outrider.test', ...headers } } as IncomingMessage,
        trustedProxies([]),
      ),
      world.tokens,
    );
  const own = { origin: 'http://outrider.test' };
  expect(await ask({ cookie, ...own })).toMatchObject({ userId: anna.id, expiresAtMs: world.nowMs + 30 * 86_400_000 });
  expect(await ask({ cookie, ...SAME })).toMatchObject({ userId: anna.id });
  expect(await ask({ ...own })).toBeNull();
  expect(await ask({ cookie })).toBeNull();
  expect(await ask({ cookie, origin: 'http://evil.test' })).toBeNull();
  expect(await ask({ cookie, ...own, 'sec-fetch-site': 'cross-site' })).toBeNull();
  await world.call('POST', '/auth/logout', withCookie(cookie));
  expect(await ask({ cookie, ...own })).toEqual({ error: 'ended', userId: anna.id });
});
