import { expect, test } from 'vitest';
import { createLogger } from '../logger.ts';
import { createMetricsAccess } from '../metrics-access.ts';
import { Metrics } from '../prometheus.ts';
import { openHealthServer, openMetricsServer } from './health-server.ts';

const logger = createLogger('silent', 'json');

test('it says whether the process lives, which part is not ready, and what was counted', async () => {
  let checks: Record<string, () => Promise<void>> = {
    log: async () => {},
    hub: () => Promise.reject(new Error('away')),
  };
  const server = await openHealthServer({
    host: '127.0.0.1',
    port: 0,
    checks: () => checks,
    metricsAccess: createMetricsAccess(async () => 'counted 1\n', null),
    logger,
    metrics: new Metrics(),
  });
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  expect(await get('/health/live')).toMatchObject({ status: 200 });
  const unready = await get('/health/ready');
  expect(unready.status).toBe(503);
  expect(JSON.parse(unready.text)).toEqual({
    status: 'failed',
    parts: { log: { status: 'ok' }, hub: { status: 'failed' } },
  });
  checks = { log: async () => {} };
  expect(await get('/health/ready?x=1')).toMatchObject({ status: 200 });
  expect(await get('/metrics')).toEqual({ status: 200, text: 'counted 1\n' });
  expect(await get('/else')).toMatchObject({ status: 404 });
  await server.close();
});

test('a port of its own serves metrics alone, without a token only where there is none', async () => {
  for (const [token, status] of [
    [null, 200],
    ['metrics-token', 401],
  ] as const) {
    const metricsAccess = createMetricsAccess(async () => 'counted 1\n', token);
    const server = await openMetricsServer({
      host: '127.0.0.1',
      port: 0,
      metricsAccess,
      logger,
      metrics: new Metrics(),
    });
    const statusOf = async (path: string, headers = {}) =>
      (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })).status;
    expect(await statusOf('/metrics')).toBe(status);
    expect(await statusOf('/metrics', { authorization: 'Bearer metrics-token' })).toBe(200);
    expect(await statusOf('/health/live')).toBe(404);
    await server.close();
  }
});
