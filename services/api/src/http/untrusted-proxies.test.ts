import { createMetricsAccess, Metrics } from '@outrider/runtime';
import { afterEach, expect, test } from 'vitest';
import { World } from '../api.fixture.ts';

const WARNING = /TRUSTED_PROXIES does not name/;
let world: World;
afterEach(() => world.close());

async function open(trustedProxies: readonly string[] = []) {
  const metrics = new Metrics();
  world = await World.open({ trustedProxies }, { metrics, metricsAccess: createMetricsAccess(async () => '', null) });
  const count = async () =>
    Number(/outrider_untrusted_proxy_requests_total (\d+)/.exec(await metrics.metrics())?.[1] ?? '0');
  const logged = () => world.logged.filter(([, line]) => WARNING.test(String(line)));
  return { count, logged };
}

test('a proxy of the own network that is not trusted is logged once, shown by readiness and counted', async () => {
  for (const from of ['127.0.0.1', '10.1.2.3', '::ffff:192.168.0.2', 'fd00::1']) {
    const { count, logged } = await open();
    expect(world.api.warnings()).toEqual([]);
    for (let nth = 0; nth < 3; nth++)
      await world.call('GET', '/api/v1/me', { from, headers: { 'x-forwarded-for': `203.0.113.${nth}` } });
    expect(world.api.warnings()).toEqual([expect.stringMatching(WARNING)]);
    expect(logged()).toEqual([[{ proxy: from }, expect.stringMatching(WARNING)]]);
    expect(await count()).toBe(3);
    world.nowMs += 3_600_001;
    expect(world.api.warnings()).toEqual([]);
    if (from !== 'fd00::1') await world.close();
  }
});

test('a proxy elsewhere is found by the accounts behind it; a header that a client made up proves nothing', async () => {
  const { logged } = await open();
  const accounts = [await world.member('anna'), await world.member('boris')];
  const call = (jwt: string | null, from = '198.51.100.1') =>
    world.call('GET', '/api/v1/me', {
      from,
      headers: { forwarded: 'for=203.0.113.5' },
      ...(jwt === null ? {} : { jwt }),
    });
  for (let nth = 0; nth < 5; nth++) await call(null);
  for (let nth = 0; nth < 5; nth++) await call(accounts[0]?.jwt ?? null);
  await call(accounts[1]?.jwt ?? null, '198.51.100.2');
  expect(logged()).toEqual([]);
  await call(accounts[1]?.jwt ?? null);
  expect(logged()).toEqual([[{ proxy: '198.51.100.1' }, expect.anything()]]);
});

test('a trusted proxy, and a call without a proxy, are nothing to warn of', async () => {
  const { count, logged } = await open(['10.0.0.0/8']);
  await world.call('GET', '/api/v1/me', { from: '10.1.2.3', headers: { 'x-forwarded-for': '203.0.113.1' } });
  await world.call('GET', '/api/v1/me', { from: '127.0.0.1' });
  expect([await count(), logged(), world.api.warnings()]).toEqual([0, [], []]);
});
