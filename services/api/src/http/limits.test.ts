import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ABSENT, type Answer, PASSWORD, World } from '../api.fixture.ts';
import { DESCRIBED } from '../routes.ts';

const ELSEWHERE = '198.51.100.7';
/** A call that needs no token. */
const KEYS = '/.well-known/jwks.json';

let world: World;
beforeEach(async () => {
  world = await World.open({ trustedProxies: ['10.0.0.1'] });
});
afterEach(() => world.close());

describe('failed logins', () => {
  test('the 10th of a minute is answered, the 11th blocks all calls of the address', async () => {
    const { jwt } = await world.member('anna');
    for (let n = 1; n <= 10; n += 1) expect((await world.login('anna', 'wrong')).status).toBe(401);
    // Even the right password: a guesser must not learn that a guess was right.
    const eleventh = await world.login('anna', PASSWORD);
    expect(eleventh.status).toBe(429);
    expect(eleventh.headers.get('retry-after')).toBe('60');
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(429);
    expect((await world.call('GET', KEYS)).status).toBe(429);
    expect((await world.call('GET', '/api/v1/me', { jwt, from: ELSEWHERE })).status).toBe(200);
    expect((await world.login('anna', PASSWORD, { from: ELSEWHERE })).status).toBe(200);
  });

  test('those that succeed do not count', async () => {
    await world.addUser('anna');
    for (let n = 1; n <= 9; n += 1) expect((await world.login('anna', 'wrong')).status).toBe(401);
    for (let n = 1; n <= 5; n += 1) expect((await world.login('anna', PASSWORD)).status).toBe(200);
    expect((await world.login('anna', 'wrong')).status).toBe(401);
    expect((await world.login('anna', 'wrong')).status).toBe(429);
  });

  test('are forgotten after a minute', async () => {
    await world.addUser('anna');
    for (let n = 1; n <= 10; n += 1) await world.login('anna', 'wrong');
    world.nowMs += 60_000;
    expect((await world.login('anna', PASSWORD)).status).toBe(200);
  });
});

test('logins that come all at once and are good block nobody', async () => {
  await world.addUser('anna');
  await world.login('anna', 'wrong');
  const answers = await Promise.all(Array.from({ length: 30 }, () => world.login('anna', PASSWORD)));
  const good = answers.filter(({ status }) => status === 200);
  const busy = answers.filter(({ status }) => status === 503);
  expect(good.length + busy.length).toBe(30);
  expect(good.length).toBeGreaterThanOrEqual(9);
  for (const { headers } of busy) expect(headers.get('retry-after')).toBe('1');
  expect((await world.login('anna', PASSWORD)).status).toBe(200);
});

describe('authorized calls', () => {
  test('the 180th of a minute is answered, the 181st blocks the user from everywhere', async () => {
    const { jwt, user } = await world.member('anna');
    const other = await world.member('ben');
    const second = await world.tokenOf(user);
    for (let n = 1; n <= 180; n += 1) {
      const { status, headers } = await world.call('GET', '/api/v1/me', { jwt });
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"authorized";q=180;w=60');
      expect(headers.get('ratelimit')).toBe(`"authorized";r=${180 - n};t=60`);
    }
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(429);
    expect((await world.call('GET', '/api/v1/me', { jwt: second, from: ELSEWHERE })).status).toBe(429);
    expect((await world.call('POST', '/auth/refresh', { jwt, from: ELSEWHERE })).status).toBe(429);
    expect((await world.login('anna', PASSWORD, { from: ELSEWHERE })).status).toBe(429);
    expect((await world.call('GET', '/api/v1/me', { jwt: other.jwt })).status).toBe(200);
  });

  test('the block ends when it said that it would', async () => {
    const { jwt } = await world.member('anna');
    for (let n = 1; n <= 181; n += 1) await world.call('GET', '/api/v1/me', { jwt });
    world.nowMs += 30_500;
    expect((await world.call('GET', '/api/v1/me', { jwt })).headers.get('retry-after')).toBe('30');
    world.nowMs += 29_500;
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
  });

  test('are counted within a minute, not for ever', async () => {
    const { jwt } = await world.member('anna');
    for (let n = 1; n <= 180; n += 1) await world.call('GET', '/api/v1/me', { jwt });
    world.nowMs += 60_000;
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
  });
});

describe('unauthorized calls', () => {
  test('the 60th of a minute is answered, the 61st blocks the address', async () => {
    const { jwt } = await world.member('anna');
    for (let n = 1; n <= 60; n += 1) {
      const { status, headers } = await world.call('GET', '/api/v1/me');
      expect(status).toBe(401);
      expect(headers.get('ratelimit')).toBe(`"unauthorized";r=${60 - n};t=60`);
    }
    expect((await world.call('GET', KEYS)).status).toBe(429);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(429);
    expect((await world.call('GET', KEYS, { from: ELSEWHERE })).status).toBe(200);
  });

  test('bad tokens, paths that do not exist and bad bodies count as well', async () => {
    for (let n = 1; n <= 20; n += 1) {
      await world.call('GET', '/api/v1/me', { jwt: 'a.b.c' });
      await world.call('GET', '/nothing');
      await world.call('POST', '/auth/login?jwt=1', { body: 'not json' });
    }
    expect((await world.call('GET', KEYS)).status).toBe(429);
  });

  test('IPv6 counts per /64', async () => {
    for (let n = 1; n <= 60; n += 1)
      expect((await world.call('GET', KEYS, { from: `2001:db8:1:2::${n.toString(16)}` })).status).toBe(200);
    expect((await world.call('GET', KEYS, { from: '2001:db8:1:2:ffff::1' })).status).toBe(429);
    expect((await world.call('GET', KEYS, { from: '2001:db8:1:3::1' })).status).toBe(200);
  });

  test('a client can not hide behind X-Forwarded-For, and the clients of a proxy are distinguished by it', async () => {
    const forwarded = (n: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${n}` } });
    for (let n = 1; n <= 60; n += 1) expect((await world.call('GET', KEYS, forwarded(n))).status).toBe(200);
    expect((await world.call('GET', KEYS, forwarded(61))).status).toBe(429);
    for (let n = 1; n <= 70; n += 1)
      expect((await world.call('GET', KEYS, { ...forwarded(n), from: '10.0.0.1' })).status).toBe(200);
  });
});

test('pages and documentation cost no calls: an office behind one address keeps its own', async () => {
  const { jwt } = await world.member('anna');
  const pages = ['/', '/docs/', '/docs/init.js', '/docs/swagger-ui.css', '/openapi.json', '/asyncapi.json', '/api/v1'];
  for (let n = 1; n <= 8; n += 1)
    for (const page of [...pages, '/favicon.ico']) {
      const { status, headers } = await world.call('GET', page);
      expect([status, headers.get('ratelimit')]).toEqual([page === '/favicon.ico' ? 204 : 200, null]);
    }
  expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
  expect((await world.call('GET', KEYS)).headers.get('ratelimit')).toBe('"unauthorized";r=59;t=60');
  for (let n = 1; n <= 60; n += 1) await world.call('GET', KEYS);
  expect((await world.call('GET', KEYS)).status).toBe(429);
  for (const page of pages) expect((await world.call('GET', page)).status).toBe(200);
});

test('health and metrics stand outside', async () => {
  for (let n = 1; n <= 61; n += 1) await world.call('GET', KEYS);
  expect((await world.call('GET', KEYS)).status).toBe(429);
  for (let n = 1; n <= 100; n += 1) expect((await world.call('GET', '/health/live')).status).toBe(200);
  for (const [from, status] of [
    ['127.0.0.1', 200],
    ['192.0.2.1', 401],
  ] as const)
    expect((await world.call('GET', '/metrics', { from })).status).toBe(status);
});

test('two instances count as one', async () => {
  const second = await World.open({}, { hub: world.hub });
  for (let n = 1; n <= 30; n += 1) {
    await world.call('GET', KEYS);
    await second.call('GET', KEYS);
  }
  expect((await second.call('GET', KEYS)).status).toBe(429);
  expect((await world.call('GET', KEYS)).status).toBe(429);
  await second.close();
});

const MINUTE_MS = 60_000;
const MINE = '192.0.2.1';
type Name = 'failed-logins' | 'authorized' | 'unauthorized';

/** The specification's table (section 8), and a call of each kind. */
const TABLE: Record<Name, { most: number; call: (jwt: string, from?: string) => Promise<Answer>; answered: number }> = {
  'failed-logins': { most: 10, call: (_, from = MINE) => world.login('anna', 'wrong', { from }), answered: 401 },
  authorized: { most: 180, call: (jwt, from = MINE) => world.call('GET', '/api/v1/me', { jwt, from }), answered: 200 },
  unauthorized: { most: 60, call: (_, from = MINE) => world.call('GET', '/api/v1/me', { from }), answered: 401 },
};
const NAMES = Object.keys(TABLE) as Name[];

describe.each(NAMES)('%s, at the boundary', (name) => {
  const { most, call, answered } = TABLE[name];
  let jwt: string;
  beforeEach(async () => {
    ({ jwt } = await world.member('anna'));
  });
  const times = async (n: number, from?: string) => {
    for (let nth = 1; nth <= n; nth += 1) expect((await call(jwt, from)).status, `call ${nth} of ${n}`).toBe(answered);
  };

  test('the last that is allowed is answered, the next is not', async () => {
    await times(most);
    const over = await call(jwt);
    expect(over.status).toBe(429);
    expect(over.headers.get('retry-after')).toBe('60');
    expect(over.body.type).toBe('urn:outrider:problem:too-many-requests');
  });

  test('the window ends a minute after its first call, not a millisecond earlier', async () => {
    await times(1);
    world.nowMs += MINUTE_MS - 1;
    await times(most - 1);
    expect((await call(jwt)).status).toBe(429);
  });

  test('and with its end, counting begins anew', async () => {
    await times(most);
    world.nowMs += MINUTE_MS;
    await times(most);
    expect((await call(jwt)).status).toBe(429);
  });

  test('the block lasts as long as it is configured to, and what is refused meanwhile does not make it longer', async () => {
    const other = await World.open({
      limits: { failedLoginsPerMinute: 10, authorizedPerMinute: 180, unauthorizedPerMinute: 60, blockSeconds: 300 },
    });
    await world.close();
    world = other;
    ({ jwt } = await world.member('anna'));
    await times(most);
    const over = await call(jwt);
    expect(over.headers.get('retry-after')).toBe('300');
    world.nowMs += 299_999;
    const last = await call(jwt);
    expect(last.status).toBe(429);
    expect(last.headers.get('retry-after')).toBe('1');
    world.nowMs += 1;
    await times(most);
    expect((await call(jwt)).status).toBe(429);
  });

  test('two instances on one hub count and block as one', async () => {
    const second = await World.open(
      {},
      { hub: world.hub, registry: world.registry, directory: world.directory, tokens: world.tokens },
    );
    const first = world;
    for (let n = 1; n <= most; n += 1) {
      world = n % 2 === 0 ? first : second;
      await times(1);
    }
    world = second;
    expect((await call(jwt)).status).toBe(429);
    world = first;
    expect((await call(jwt)).status).toBe(429);
    await second.close();
  });

  test('while it blocks, every call of the document is refused, login and refresh included', async () => {
    await times(most);
    await call(jwt);
    // A user is refused from every address, an address for every user.
    const from = name === 'authorized' ? ELSEWHERE : MINE;
    for (const { method, path, access } of DESCRIBED) {
      const at = path.replaceAll(/\{\w+\}/g, ABSENT);
      if (access === 'unlimited') {
        const expected = { '/metrics': 401, '/s/{token}/data': 400 }[path] ?? 200;
        expect((await world.call('GET', at, { from })).status, path).toBe(expected);
        continue;
      }
      const login = path === '/auth/login';
      // Without a token, a call is nobody's: of a user only those are refused that show whose they are.
      if (name === 'authorized' && access === 'open' && !/login|refresh/.test(path)) continue;
      const { status, headers } = await world.call(method.toUpperCase(), `${at}${login ? '?jwt=1' : ''}`, {
        from,
        ...(login ? { body: { login: 'anna', password: PASSWORD } } : { jwt }),
      });
      expect(status, `${method} ${path}`).toBe(429);
      expect(headers.get('retry-after'), `${method} ${path}`).toBe('60');
    }
    const { headers } = await world.call('POST', '/auth/refresh', {
      from,
      headers: { 'authorization-refresh': `JWT ${jwt}` },
    });
    expect(headers.get('retry-after')).toBe('60');
    // Nor do paths that are not served reveal anything meanwhile.
    for (const [method, at] of [
      ['GET', '/nothing'],
      ['GET', '/api/v1/vehicles/none'],
      ['DELETE', '/api/v1/vehicles/export'],
      ['OPTIONS', '/api/v1/vehicles'],
      ['HEAD', '/api/v1/me'],
    ] as const)
      expect((await world.call(method, at, { from, jwt })).status, `${method} ${at}`).toBe(429);
    // Neither does logging in to the console get around the limit, nor, where it is the user's, its cookie.
    const cookie = await cookieOf('anna');
    const isOfUser = name === 'authorized';
    const me = await world.call('GET', '/api/v1/me', { from, headers: { cookie } });
    expect(me.status).toBe(isOfUser ? 429 : 200);
    const console = { from, body: { login: 'anna', password: PASSWORD } };
    expect((await world.call('POST', '/auth/login', console)).status).toBe(429);
    // Anybody else goes on, elsewhere or, where it is the user who is blocked, at the same place.
    const ben = await world.member('ben');
    expect((await world.call('GET', '/api/v1/me', { jwt: ben.jwt, from: ELSEWHERE })).status).toBe(200);
  });

  if (name !== 'authorized')
    test('an IPv6 customer is a /64, and IPv4 is IPv4 in every spelling', async () => {
      for (let n = 1; n <= most; n += 1) await times(1, `2001:db8:0:7:${n.toString(16)}::1`);
      expect((await call(jwt, '2001:db8:0:7:ffff:ffff:ffff:ffff')).status).toBe(429);
      expect((await world.call('GET', KEYS, { from: '2001:0DB8::0007:0:0:0:9' })).status).toBe(429);
      expect((await call(jwt, '2001:db8:0:8::1')).status).toBe(answered);
      const spellings = ['198.51.100.77', '::ffff:198.51.100.77', '::FFFF:c633:644d', '0:0:0:0:0:ffff:198.51.100.77'];
      for (let n = 0; n < most; n += 1) await times(1, spellings[n % spellings.length]);
      expect((await call(jwt, '::ffff:198.51.100.77')).status).toBe(429);
      for (const from of spellings) expect((await world.call('GET', KEYS, { from })).status, from).toBe(429);
      expect((await call(jwt, '::ffff:198.51.100.78')).status).toBe(answered);
    });
});

/** The cookie of a session of the console, begun without a login. */
async function cookieOf(login: string): Promise<string> {
  const user = await world.registry.users.byLogin(login);
  if (!user) throw new Error(`${login} has no account`);
  const session = await world.registry.sessions.create(user.id, 1e9, MINE, 'browser');
  return `outrider=${await world.tokens.issueCookie(user.id, session.id, session.expiresAtMs)}`;
}

describe('while an address is blocked', () => {
  const SAME = { 'sec-fetch-site': 'same-origin' };
  /** A session of ben behind the address that anna's wrong passwords have blocked. */
  const colleague = async (limit: 'failed-logins' | 'unauthorized' = 'failed-logins') => {
    await world.addUser('anna');
    const ben = await world.addUser('ben', 'user', { apiAccess: false });
    const headers = { cookie: await cookieOf('ben'), ...SAME };
    const { most, call } = TABLE[limit];
    for (let nth = 0; nth <= most; nth++) await call('');
    expect((await world.call('GET', '/api/v1/me')).status).toBe(429);
    return { ben, headers };
  };
  const me = (headers: Record<string, string>) => world.call('GET', '/api/v1/me', { headers });

  test.each(['failed-logins', 'unauthorized'] as const)(
    'by %s, a session of the console goes on, and is counted by its user',
    async (limit) => {
      const { headers } = await colleague(limit);
      for (let nth = 1; nth <= 180; nth++) {
        const answer = await me(headers);
        expect([answer.status, answer.headers.get('ratelimit')]).toEqual([200, `"authorized";r=${180 - nth};t=60`]);
      }
      const rename = { body: { name: 'Ben B' }, headers };
      expect((await world.call('PATCH', '/api/v1/me', rename)).status).toBe(429);
      expect((await world.call('GET', '/api/v1/me', { headers, from: ELSEWHERE })).status).toBe(429);
    },
  );

  test('a cookie that was made up, or whose session ended, is refused, and asks for no session', async () => {
    const { ben, headers } = await colleague();
    const [session] = await world.registry.sessions.listOf(ben.id);
    if (session === undefined) throw new Error('ben has no session');
    await world.registry.sessions.end(session.id);
    world.tokens.revokeSession(session.id);
    const [head, payload] = headers.cookie.split('.');
    const madeUp = [`${head}.${payload}.${'A'.repeat(86)}`, 'outrider=a.b.c', 'outrider=x', `__Host-${headers.cookie}`];
    const asked = vi.spyOn(world.registry.sessions, 'get');
    for (let nth = 0; nth < 20; nth++)
      for (const cookie of [headers.cookie, ...madeUp]) expect((await me({ cookie })).status).toBe(429);
    // The ended one once.
    expect(asked.mock.calls.length).toBeLessThanOrEqual(1);
    asked.mockRestore();
  });

  test('a token beside the cookie counts as a token', async () => {
    const { headers } = await colleague();
    const { jwt } = await world.member('carl');
    expect((await world.call('GET', '/api/v1/me', { jwt, headers })).status).toBe(429);
    expect((await world.call('POST', '/auth/refresh', { headers })).status).toBe(429);
  });

  test('a session of the console tries no more passwords', async () => {
    const { headers } = await colleague();
    const login = { body: { login: 'anna', password: PASSWORD }, headers };
    expect((await world.call('POST', '/auth/login', login)).status).toBe(429);
    const own = { body: { currentPassword: PASSWORD, password: 'new and unknown' }, headers };
    expect((await world.call('PUT', '/api/v1/me/password', own)).status).toBe(429);
    expect((await me(headers)).status).toBe(200);
  });

  test('a blocked account is not let past it by its cookie', async () => {
    const { ben, headers } = await colleague();
    await world.registry.users.update(ben.id, null, { blocked: true });
    expect((await me(headers)).status).toBe(429);
  });
});

test('cookies that were made up count as calls of their address', async () => {
  await world.addUser('anna');
  const [head, payload] = (await cookieOf('anna')).split('.');
  const headers = { cookie: `${head}.${payload}.${'A'.repeat(86)}` };
  for (let nth = 1; nth <= 60; nth++) expect((await world.call('GET', '/api/v1/me', { headers })).status).toBe(401);
  expect((await world.call('GET', KEYS)).status).toBe(429);
});

describe('where one stands', () => {
  test('is reported in every counted answer, errors included, as the clock goes on', async () => {
    const { jwt } = await world.member('anna');
    const of = async (path: string, options: { jwt?: string } = {}) => {
      const { headers } = await world.call('GET', path, options);
      return [headers.get('ratelimit-policy'), headers.get('ratelimit')];
    };
    expect(await of('/api/v1/me', { jwt })).toEqual(['"authorized";q=180;w=60', '"authorized";r=179;t=60']);
    world.nowMs += 1;
    expect(await of('/api/v1/vehicles/none', { jwt })).toEqual(['"authorized";q=180;w=60', '"authorized";r=178;t=60']);
    world.nowMs += 29_999;
    expect(await of('/nothing', { jwt })).toEqual(['"authorized";q=180;w=60', '"authorized";r=177;t=30']);
    expect(await of('/api/v1/me')).toEqual(['"unauthorized";q=60;w=60', '"unauthorized";r=59;t=60']);
    world.nowMs += 29_999;
    expect(await of('/api/v1/me', { jwt })).toEqual(['"authorized";q=180;w=60', '"authorized";r=176;t=1']);
    world.nowMs += 1;
    expect(await of('/api/v1/me', { jwt })).toEqual(['"authorized";q=180;w=60', '"authorized";r=179;t=60']);
    // A call that is counted twice reports the limit that belongs to its caller.
    const login = await world.login('anna', 'wrong');
    expect(login.headers.get('ratelimit-policy')).toBe('"unauthorized";q=60;w=60');
    expect(login.headers.get('ratelimit')).toMatch(/^"unauthorized";r=5\d;t=\d+$/);
    for (const path of ['/health/live', '/metrics', '/docs/']) expect(await of(path)).toEqual([null, null]);
  });

  test('a user is one by every token and by the cookie, and a call is counted once', async () => {
    const { jwt, user } = await world.member('anna');
    const cookie = await cookieOf('anna');
    const second = await world.tokenOf(user);
    const left = [];
    for (const how of [{ jwt }, { jwt: second, from: ELSEWHERE }, { headers: { cookie } }])
      left.push((await world.call('GET', '/api/v1/me', how)).headers.get('ratelimit'));
    expect(left).toEqual([179, 178, 177].map((rest) => `"authorized";r=${rest};t=60`));
    expect((await world.call('GET', KEYS)).headers.get('ratelimit')).toBe('"unauthorized";r=59;t=60');
  });

  test('an account without the right to use the API, and a token that ended, count as what they are', async () => {
    const { jwt } = await world.member('anna', 'user', { apiAccess: false });
    expect((await world.call('GET', '/api/v1/me', { jwt })).headers.get('ratelimit')).toBe('"authorized";r=179;t=60');
    const { jwt: ended, user } = await world.member('ben');
    await world.registry.users.delete(user.id, null);
    expect((await world.call('GET', '/api/v1/me', { jwt: ended })).headers.get('ratelimit')).toMatch(
      /^"unauthorized";r=59/,
    );
  });
});

test('a wrong current password counts among the failed logins, a right one does not', async () => {
  const { jwt } = await world.member('anna');
  const change = (currentPassword: string) =>
    world.call('PUT', '/api/v1/me/password', { jwt, body: { currentPassword, password: PASSWORD } });
  for (let n = 1; n <= 3; n += 1) expect((await change(PASSWORD)).status).toBe(204);
  for (let n = 1; n <= 5; n += 1) expect((await change('wrong')).status).toBe(400);
  for (let n = 1; n <= 5; n += 1) expect((await world.login('anna', 'wrong')).status).toBe(401);
  expect((await change(PASSWORD)).status).toBe(429);
  expect((await world.login('anna', PASSWORD, { from: ELSEWHERE })).status).toBe(200);
});
