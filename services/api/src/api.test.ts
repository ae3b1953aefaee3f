import { HubAwayError } from '@outrider/hub';
import { RegistryAwayError } from '@outrider/registry';
import { createMetricsAccess, Metrics } from '@outrider/runtime';
import { WarehouseAwayError } from '@outrider/warehouse';
import { afterEach, describe, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
afterEach(() => world.close());

describe('at the edge', () => {
  test('unknown paths are not found, and a wrong method is answered with the right ones', async () => {
    world = await World.open();
    const nothing = await world.call('GET', '/api/v2/vehicles');
    expect(nothing.status).toBe(404);
    expect(nothing.headers.get('content-type')).toBe('application/problem+json');
    const wrong = await world.call('PUT', '/api/v1/vehicles');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, POST, PATCH');
  });

  test('an unexpected failure is logged, and not shown to the client', async () => {
    const failing = {
      track: async () => Promise.reject(new Error('secret of the archive')),
      fixesBefore: async () => [],
    };
    world = await World.open({}, { trackReport: failing });
    const { jwt } = await world.member('boss', 'operator');
    const van = await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Van' } });
    const { status, body } = await world.call(
      'GET',
      `/api/v1/reports/track?vehicleId=${van.body.id}&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`,
      { jwt },
    );
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(world.logged).toHaveLength(1);
    expect(world.logged[0]).toMatchObject([{ err: { message: 'secret of the archive' } }, 'a request failed']);
  });

  test.each([new HubAwayError('no answer'), new RegistryAwayError('no answer'), new WarehouseAwayError('no answer')])(
    'a server behind it that does not answer is no fault of the service’s: $name',
    async (away) => {
      world = await World.open(
        {},
        { trackReport: { track: async () => Promise.reject(away), fixesBefore: async () => [] } },
      );
      const { jwt } = await world.member('boss', 'operator');
      const van = await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Van' } });
      const { status, body, headers } = await world.call(
        'GET',
        `/api/v1/reports/track?vehicleId=${van.body.id}&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`,
        { jwt },
      );
      expect({ status, type: body.type }).toMatchObject({ status: 503, type: expect.stringContaining('unavailable') });
      expect(headers.get('retry-after')).toBe('5');
      expect(world.logged).toMatchObject([[{ err: { message: 'no answer' } }, 'a request was not served']]);
    },
  );

  test('answers are not to be cached, nor taken for what they are not', async () => {
    world = await World.open();
    for (const path of ['/api/v1', '/api/v1/me', '/nothing', '/health/live']) {
      const { headers } = await world.call('GET', path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('a browser finds a page, and a program the description of the API', async () => {
    world = await World.open();
    const page = await world.call('GET', '/');
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.body).toContain('href="/openapi.json"');
    expect((await world.call('GET', '/openapi.json')).body.openapi).toBe('3.1.1');
  });

  test('a call is counted and timed under its route, never under its ids', async () => {
    const metrics = new Metrics();
    const metricsAccess = createMetricsAccess(() => metrics.metrics(), null);
    world = await World.open({}, { metrics, metricsAccess });
    await world.call('GET', `/api/v1/vehicles/${ABSENT}`);
    await world.call('GET', '/made/up');
    const { body, headers } = await world.call('GET', '/metrics', { from: '127.0.0.1' });
    expect(headers.get('content-type')).toContain('text/plain');
    expect(body).toContain('outrider_http_requests_total{route="/api/v1/vehicles/{id}",status="401"} 1');
    expect(body).toContain('outrider_http_requests_total{route="other",status="404"} 1');
    expect(body).toContain('outrider_http_request_seconds_count{group="Vehicles"} 1');
    expect(body).not.toContain(ABSENT);
  });
});

describe('health', () => {
  test('is ready when every part is', async () => {
    world = await World.open({}, { checks: { registry: async () => {}, log: async () => {} } });
    expect((await world.call('GET', '/health/live')).body).toEqual({ status: 'ok' });
    expect(await world.call('GET', '/health/ready')).toMatchObject({
      status: 200,
      body: { status: 'ok', parts: { registry: { status: 'ok' }, log: { status: 'ok' } } },
    });
  });

  test('names the part that is not, and keeps why to the logger', async () => {
    const checks = { registry: async () => {}, log: () => Promise.reject(new Error('disk full at /secret')) };
    world = await World.open({}, { checks });
    const { status, body } = await world.call('GET', '/health/ready');
    expect(status).toBe(503);
    expect(body).toEqual({ status: 'failed', parts: { registry: { status: 'ok' }, log: { status: 'failed' } } });
    expect(world.logged).toMatchObject([[{ part: 'log', err: { message: 'disk full at /secret' } }, 'not ready']]);
    expect((await world.call('GET', '/health/live')).status).toBe(200);
  });
});
