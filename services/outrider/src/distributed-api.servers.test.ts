import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cluster, callAt, givenServers, type Instance, logInAt } from './distributed.fixture.ts';
import { OPERATOR_PASSWORD } from './service.fixture.ts';

const servers = givenServers();
const TURNS = 50;

describe.skipIf(servers === null)('two instances of the API on servers', () => {
  let cluster: Cluster;
  let instances: readonly Instance[];
  beforeAll(async () => {
    if (servers === null) return;
    cluster = await Cluster.open(servers);
    instances = [await cluster.start('api'), await cluster.start('api')];
  }, 120_000);
  afterAll(() => cluster?.close(), 60_000);
  const at = (turn: number) => instances[turn % 2] as Instance;

  test('a read that begins after a write was answered sees it, whichever instance has it', {
    timeout: 240_000,
  }, async () => {
    const jwt = await logInAt(at(0));
    const range = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
    const readsMs: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const [one, other] = [at(turn), at(turn + 1)];
      const { id } = await callAt<{ id: string }>(one, jwt, 'POST', '/api/v1/geozones', {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [13, 52] },
        properties: { name: `Depot ${turn}`, shape: 'circle', radiusM: 100 },
      });
      const beginsMs = performance.now();
      await callAt(other, jwt, 'GET', `/api/v1/geozones/${id}`);
      readsMs.push(performance.now() - beginsMs);
      await callAt(other, jwt, 'GET', `/api/v1/reports/geozone-visits?geozoneId=${id}&${range}`);
      await callAt(other, jwt, 'POST', '/api/v1/notification-rules', {
        name: `Rule ${turn}`,
        eventKinds: ['geofence-visit'],
        geofenceIds: [id],
      });
      await callAt(other, jwt, 'DELETE', `/api/v1/geozones/${id}`);
      await expect(callAt(one, jwt, 'GET', `/api/v1/geozones/${id}`)).rejects.toThrow('404');
    }
    console.info(
      `a read after a write, at the other instance: ${readsMs.toSorted((a, b) => a - b)[TURNS / 2]?.toFixed(1)} ms`,
    );
  });

  test('an account logs in at the other instance at once, and no longer when it is blocked', {
    timeout: 60_000,
  }, async () => {
    const jwt = await logInAt(at(0));
    for (let turn = 0; turn < 6; turn += 1) {
      const [one, other] = [at(turn), at(turn + 1)];
      const login = `anna-${turn}`;
      const body = { login, name: login, password: OPERATOR_PASSWORD, apiAccess: true };
      const { id } = await callAt<{ id: string }>(one, jwt, 'POST', '/api/v1/users', body);
      const answer = await fetch(`http://127.0.0.1:${other.ports.http}/auth/login?jwt=1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ login, password: OPERATOR_PASSWORD }),
      });
      expect(answer.status).toBe(200);
      const own = ((await answer.json()) as { jwt: string }).jwt;
      await callAt(other, own, 'GET', '/api/v1/me');
      await callAt(one, jwt, 'POST', `/api/v1/users/${id}/block`);
      await expect(callAt(other, own, 'GET', '/api/v1/me')).rejects.toThrow('401');
    }
  });
});
