import { setSessionCookie } from '@outrider/auth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, World } from '../api.fixture.ts';

const APP = 'https://app.example.com';
const STRANGER = 'https://stranger.example.com';
const SENT_WITH_A_COOKIE = { 'sec-fetch-site': 'cross-site', origin: APP };

let world: World;
let jwt: string;
beforeAll(async () => {
  const limits = { failedLoginsPerMinute: 3, authorizedPerMinute: 1e6, unauthorizedPerMinute: 1e6, blockSeconds: 60 };
  world = await World.open({ corsOrigins: [APP], limits });
  jwt = (await world.member('anna')).jwt;
});
afterAll(() => world.close());

/** As browsers ask; past the document, which says nothing of CORS. */
async function ask(method: string, path: string, headers: Record<string, string>, of = world, body?: string) {
  const request = new Request(`http://outrider.test${path}`, { method, headers, ...(body && { body }) });
  return of.api.fetch(request, { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never });
}
const preflight = (origin: string, path = '/api/v1/vehicles', of = world) =>
  ask('OPTIONS', path, { origin, 'access-control-request-method': 'PATCH' }, of);
const namesIn = (header: string | null) => (header ?? '').toLowerCase().split(/, */);

describe('a page of a listed origin', () => {
  test('may send what calls need: methods, the token, versions, keys', async () => {
    const { status, headers } = await preflight(APP);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(APP);
    expect(namesIn(headers.get('access-control-allow-methods'))).toEqual(
      expect.arrayContaining(['get', 'post', 'put', 'patch', 'delete']),
    );
    expect(namesIn(headers.get('access-control-allow-headers'))).toEqual(
      expect.arrayContaining(['authorization', 'authorization-refresh', 'content-type', 'if-match', 'idempotency-key']),
    );
    expect(headers.get('access-control-max-age')).toBe('3600');
  });

  test('reads answers and refusals, with limits and versions', async () => {
    const authorization = `JWT ${jwt}`;
    for (const [path, wanted, more] of [
      ['/api/v1/me', 200, { authorization }],
      ['/api/v1/me', 401, {}],
      ['/api/v1/me?colour=red', 400, { authorization }],
      ['/api/v1/nowhere', 404, { authorization }],
      ['/service/ovms/api/tasks', 403, { authorization }],
      ['/.well-known/jwks.json', 200, {}],
      ['/openapi.json', 200, {}],
      ['/asyncapi.json', 200, {}],
    ] as const) {
      const { status, headers } = await ask('GET', path, { origin: APP, ...more });
      expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, wanted, APP]);
      expect(namesIn(headers.get('vary'))).toContain('origin');
      expect(namesIn(headers.get('access-control-expose-headers'))).toEqual(
        expect.arrayContaining(['ratelimit', 'ratelimit-policy', 'retry-after', 'etag', 'location']),
      );
    }
  });

  test('logs in for a token, and reads that it is blocked', async () => {
    const login = (password: string, query = '?jwt=1') =>
      ask(
        'POST',
        `/auth/login${query}`,
        { origin: APP, 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' },
        world,
        JSON.stringify({ login: 'anna', password }),
      );
    expect((await login(PASSWORD)).status).toBe(200);
    // The session of the console is for its own pages.
    const forCookie = await login(PASSWORD, '');
    expect([forCookie.status, forCookie.headers.get('set-cookie')]).toEqual([403, null]);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { status, headers } = await login('another password');
      statuses.push(status);
      expect(headers.get('access-control-allow-origin')).toBe(APP);
    }
    expect(statuses).toContain(429);
    world.nowMs += 120_000;
  });

  test('has nothing of the console’s cookie: no answer allows credentials, and it changes nothing', async () => {
    const user = await world.addUser('ben');
    const session = await world.registry.sessions.create(user.id, 86_400_000, '192.0.2.1', 'console');
    const token = await world.tokens.issueCookie(user.id, session.id, session.expiresAtMs);
    const [cookie = ''] = setSessionCookie(token, false, 60).split(';');
    const read = await ask('GET', '/api/v1/me', { ...SENT_WITH_A_COOKIE, cookie });
    const write = await ask('POST', '/auth/logout', { ...SENT_WITH_A_COOKIE, cookie });
    for (const { headers } of [read, write, await preflight(APP)])
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(write.status).toBe(403);
  });
});

test('other origins are allowed nothing, and caches keep the answers apart', async () => {
  for (const origin of [
    STRANGER,
    `${APP}:8443`,
    `${APP}.example.net`,
    'http://app.example.com',
    'null',
    APP.toUpperCase(),
  ]) {
    const { status, headers } = await preflight(origin);
    expect([origin, status, headers.get('access-control-allow-origin')]).toEqual([origin, 405, null]);
    const answer = await ask('GET', '/api/v1/me', { origin, authorization: `JWT ${jwt}` });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    expect(namesIn(answer.headers.get('vary'))).toContain('origin');
  }
  expect(namesIn((await ask('GET', '/api/v1/me', {})).headers.get('vary'))).toContain('origin');
});

test('pages and what is for operators stay out of it', async () => {
  for (const path of ['/', '/docs/', '/metrics', '/health/ready'])
    expect((await ask('GET', path, { origin: APP })).headers.get('access-control-allow-origin')).toBeNull();
});

test('without configured origins nothing is said of CORS', async () => {
  const plain = await World.open();
  const { status, headers } = await preflight(APP, '/api/v1/vehicles', plain);
  expect([status, headers.get('access-control-allow-origin')]).toEqual([405, null]);
  await plain.close();
});
