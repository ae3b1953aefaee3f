import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, World } from './api.fixture.ts';

const ELSEWHERE = '198.51.100.7';

let world: World;
beforeEach(async () => {
  world = await World.open({ trustedProxies: ['10.0.0.1'] });
});
afterEach(() => world.close());

describe('failed logins', () => {
  test('the 10th of a minute is answered, the 11th blocks all calls of the address', async () => {
    const { jwt } = await world.member('anna');
    for (let n = 1; n <= 10; n += 1) expect((await world.login('anna', 'wrong')).status).toBe(401);
    // Even the right password: whoever guesses must not learn that they guessed right.
    const eleventh = await world.login('anna', PASSWORD);
    expect(eleventh.status).toBe(429);
    expect(eleventh.headers.get('retry-after')).toBe('60');
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(429);
    expect((await world.call('GET', '/openapi.json')).status).toBe(429);
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
    expect((await world.call('GET', '/')).status).toBe(429);
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(429);
    expect((await world.call('GET', '/', { from: ELSEWHERE })).status).toBe(200);
  });

  test('bad tokens, paths that do not exist and bad bodies count as well', async () => {
    for (let n = 1; n <= 20; n += 1) {
      await world.call('GET', '/api/v1/me', { jwt: 'a.b.c' });
      await world.call('GET', '/nothing');
      await world.call('POST', '/auth/login?jwt=1', { body: 'not json' });
    }
    expect((await world.call('GET', '/')).status).toBe(429);
  });

  test('IPv6 counts per /64', async () => {
    for (let n = 1; n <= 60; n += 1)
      expect((await world.call('GET', '/', { from: `2001:db8:1:2::${n.toString(16)}` })).status).toBe(200);
    expect((await world.call('GET', '/', { from: '2001:db8:1:2:ffff::1' })).status).toBe(429);
    expect((await world.call('GET', '/', { from: '2001:db8:1:3::1' })).status).toBe(200);
  });

  test('a client can not hide behind X-Forwarded-For, a proxy’s client is told apart by it', async () => {
    const forwarded = (n: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${n}` } });
    for (let n = 1; n <= 60; n += 1) expect((await world.call('GET', '/', forwarded(n))).status).toBe(200);
    expect((await world.call('GET', '/', forwarded(61))).status).toBe(429);
    for (let n = 1; n <= 70; n += 1)
      expect((await world.call('GET', '/', { ...forwarded(n), from: '10.0.0.1' })).status).toBe(200);
  });
});

test('health and metrics stand outside', async () => {
  for (let n = 1; n <= 61; n += 1) await world.call('GET', '/');
  expect((await world.call('GET', '/')).status).toBe(429);
  for (let n = 1; n <= 100; n += 1) expect((await world.call('GET', '/health/live')).status).toBe(200);
  expect((await world.call('GET', '/metrics')).status).toBe(200);
});

test('two instances count as one', async () => {
  const second = await World.open({}, { hub: world.hub });
  for (let n = 1; n <= 30; n += 1) {
    await world.call('GET', '/');
    await second.call('GET', '/');
  }
  expect((await second.call('GET', '/')).status).toBe(429);
  expect((await world.call('GET', '/')).status).toBe(429);
  await second.close();
});
