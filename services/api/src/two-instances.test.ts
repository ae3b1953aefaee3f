import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokens } from '@outrider/auth';
import { followRegistry, type Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, PASSWORD, World } from './api.fixture.ts';

const limits = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
const GEOZONE = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [13, 52] },
  properties: { name: 'Depot', shape: 'circle', radiusM: 100 },
};

/** Two instances that share the database and the signing keys: no log brings one what the other has changed. */
describe('two instances', () => {
  let folder: string;
  let ends: (() => unknown)[];
  let instances: readonly { world: World; registry: Registry }[];
  let jwt: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'two-instances-'));
    const keyed = await World.open();
    ends = [() => keyed.close()];
    const now = () => keyed.nowMs;
    const open = async () => {
      const registry = await openTestRegistry({ path: join(folder, 'registry.sqlite'), now });
      const sessionIsLive = async (id: string) => (await registry.sessions.get(id as never)) !== null;
      const tokens = new Tokens({
        keys: keyed.keys,
        ttlSeconds: 3600,
        refreshExpiredSeconds: 86_400,
        now,
        sessionIsLive,
      });
      const { directory, refresh, stop } = await followRegistry(registry, ({ kind, id }) => {
        if (kind === 'user') tokens.revokeUser(id as never);
      });
      const world = await World.open({ limits }, { registry, directory, refresh, tokens });
      ends.push(
        () => registry.close(),
        stop,
        () => world.close(),
      );
      return { world, registry };
    };
    instances = [await open(), await open()];
    await instances[0]?.registry.users.create(
      { login: 'boss', name: 'Boss', role: 'operator', dealerId: null, blocked: false, apiAccess: true, groupIds: [] },
      PASSWORD,
    );
    jwt = (await at(1).login('boss', PASSWORD)).body.jwt;
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
    await rm(folder, { recursive: true, force: true });
  });

  /** The instance whose turn it is. */
  const at = (turn: number): World => instances[turn % 2]?.world as World;
  const expectStatus = async (wanted: number, answer: Promise<Answer>) => {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).toBe(wanted);
    return body;
  };

  test('a read that begins after a write was answered sees it, whichever instance has it', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const [one, other] = [at(turn), at(turn + 1)];
      const geozone = await expectStatus(
        201,
        one.call('POST', '/api/v1/geozones', {
          jwt,
          body: { ...GEOZONE, properties: { ...GEOZONE.properties, name: `Depot ${turn}` } },
        }),
      );
      const path = `/api/v1/geozones/${geozone.id}`;
      await expectStatus(200, other.call('GET', path, { jwt }));
      const visits = `/api/v1/reports/geozone-visits?geozoneId=${geozone.id}&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`;
      await expectStatus(200, other.call('GET', visits, { jwt }));
      const rule = { name: `Rule ${turn}`, eventKinds: ['geofence-visit'], geofenceIds: [geozone.id] };
      await expectStatus(201, other.call('POST', '/api/v1/notification-rules', { jwt, body: rule }));
      await expectStatus(204, other.call('DELETE', path, { jwt }));
      await expectStatus(404, one.call('GET', path, { jwt }));
    }
  });

  test('an account works at the other instance at once, with its groups, and no longer when it is blocked', async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const [one, other] = [at(turn), at(turn + 1)];
      const login = `anna${turn}`;
      const group = await expectStatus(201, one.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: login } }));
      const body = { name: login, terminalId: `${turn}`, groupIds: [group.id] };
      const vehicle = await expectStatus(201, one.call('POST', '/api/v1/vehicles', { jwt, body }));
      const fields = { login, name: login, password: PASSWORD, apiAccess: true, groupIds: [group.id] };
      const anna = await expectStatus(201, one.call('POST', '/api/v1/users', { jwt, body: fields }));
      const own = { jwt: (await expectStatus(200, other.login(login, PASSWORD))).jwt };
      await expectStatus(200, other.call('GET', `/api/v1/vehicles/${vehicle.id}/state`, own));
      await expectStatus(204, one.call('DELETE', `/api/v1/vehicle-groups/${group.id}`, { jwt }));
      await expectStatus(404, other.call('GET', `/api/v1/vehicles/${vehicle.id}/state`, own));
      await expectStatus(200, one.call('POST', `/api/v1/users/${anna.id}/block`, { jwt }));
      await expectStatus(401, other.call('GET', '/api/v1/me', own));
    }
  });
});
