import { blankPosition, type Position, type User, type VehicleId } from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const HOUR_MS = 3_600_000;

function positionAt(fixTimeMs: number, latitude: number): Position {
  return { ...blankPosition(fixTimeMs, latitude, 30.5), speedKmh: 48, courseDeg: 90 };
}

let world: World;
let anna: { user: User; jwt: string };
let groupId: string;
let van: VehicleId;
beforeEach(async () => {
  world = await World.open();
  const group = await world.registry.groups.create({ name: 'Vans', dealerId: null });
  groupId = group.id;
  anna = await world.member('anna', 'user', { groupIds: [group.id] });
  van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van 7', groupIds: [group.id] }))).id;
});
afterEach(() => world.close());

const inHours = (hours: number) => new Date(world.nowMs + hours * HOUR_MS).toISOString();
async function drive(latitude: number): Promise<void> {
  const position = positionAt(world.nowMs, latitude);
  const status = sampleStatus(van, position, world.nowMs);
  const activity = {
    ...{ state: 'moving' as const, sinceMs: world.nowMs, ignition: true },
    ...{ alarms: [], geofenceIds: [], speeding: [] },
  };
  await world.hub.updateLatest([{ ...status, activity }]);
}
const share = (more: object = {}, jwt = anna.jwt) =>
  world.call('POST', '/api/v1/share-links', { jwt, body: { vehicleIds: [van], expiresAt: inHours(1), ...more } });
async function shared(more: object = {}): Promise<string> {
  const { status, body } = await share(more);
  expect(status).toBe(201);
  return `${body.path}/data`;
}
const view = (path: string, headers: Record<string, string> = {}) => world.call('GET', path, { headers });

describe('a share link', () => {
  test('shows name, state, speed and last fix to anyone, and nothing else', async () => {
    await drive(59.9);
    const path = await shared({ name: 'Delivery' });
    const { status, body, headers } = await view(path);
    expect(status).toBe(200);
    expect(body).toEqual({
      name: 'Delivery',
      expiresAt: inHours(1),
      track: null,
      vehicles: [
        {
          name: 'Van 7',
          state: 'moving',
          position: {
            fixTime: new Date(world.nowMs).toISOString(),
            latitude: 59.9,
            longitude: 30.5,
            speedKmh: 48,
            courseDeg: 90,
          },
          points: null,
        },
      ],
    });
    expect(headers.get('x-robots-tag')).toBe('noindex');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('is answered 304 until the vehicle moves', async () => {
    await drive(59.9);
    const path = await shared();
    const etag = (await view(path)).headers.get('etag') ?? '';
    expect((await view(path, { 'if-none-match': etag })).status).toBe(304);
    world.nowMs += 1000;
    await drive(59.91);
    const next = await view(path, { 'if-none-match': etag });
    expect(next.status).toBe(200);
    expect(next.body.vehicles[0].position.latitude).toBe(59.91);
  });

  test('of a vehicle without data says that nothing is known', async () => {
    expect((await view(await shared())).body.vehicles).toEqual([
      { name: 'Van 7', state: 'unknown', position: null, points: null },
    ]);
  });

  test('ends when it is revoked, when it expires, and a wrong token looks the same', async () => {
    const { body } = await share();
    const revoked = `${body.path}/data`;
    const expiring = await shared();
    expect((await world.call('DELETE', `/api/v1/share-links/${body.id}`, { jwt: anna.jwt })).status).toBe(204);
    const ended = await view(revoked);
    expect(ended.status).toBe(404);
    expect((await view(expiring)).status).toBe(200);
    world.nowMs += HOUR_MS;
    expect((await view(expiring)).body).toEqual(ended.body);
    expect((await view('/s/AAAAAAAAAAAAAAAAAAAAAA/data')).body).toEqual(ended.body);
    expect((await view('/s/short/data')).status).toBe(400);
  });

  test('ends when its maker loses the vehicle, and when the account is blocked', async () => {
    const path = await shared();
    await world.registry.users.update(anna.user.id, null, { groupIds: [] });
    expect((await view(path)).status).toBe(404);
    await world.registry.users.update(anna.user.id, null, { groupIds: [groupId as never] });
    expect((await view(path)).status).toBe(200);
    await world.registry.users.update(anna.user.id, null, { blocked: true });
    expect((await view(path)).status).toBe(404);
    await world.registry.users.update(anna.user.id, null, { blocked: false });
    expect((await view(path)).status).toBe(404);
  });

  test('of several vehicles shows those that are left', async () => {
    const other = await world.registry.vehicles.create(
      sampleVehicleFields({ name: 'Van 8', groupIds: [groupId as never] }),
    );
    const path = await shared({ vehicleIds: [other.id, van] });
    const names = async () => (await view(path)).body.vehicles.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['Van 8', 'Van 7']);
    await world.registry.groups.setVehicle(groupId as never, other.id, false);
    expect(await names()).toEqual(['Van 7']);
    await world.registry.vehicles.delete(van, null);
    expect((await view(path)).status).toBe(404);
  });

  test('is limited per address, beside the limits of the API', async () => {
    await world.close();
    world = await World.open({ share: { maxDays: 30, viewsPerMinute: 3 } });
    anna = await world.member('anna', 'operator');
    van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van 7' }))).id;
    const path = await shared();
    const statuses: number[] = [];
    for (let nth = 0; nth < 4; nth += 1) statuses.push((await view(path)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await view(path)).headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await world.call('GET', path, { from: '192.0.2.77' })).status).toBe(200);
    expect((await world.call('GET', '/api/v1/me', { jwt: anna.jwt })).status).toBe(200);
    world.nowMs += 60_000;
    expect((await view(path)).status).toBe(200);
  });

  test('of a track shows its points, read once for all who look', async () => {
    await world.close();
    const asked: unknown[] = [];
    world = await World.open(
      {},
      {
        reportArchive: {
          ...(await import('@outrider/reports/empty-archive')).EMPTY_ARCHIVE,
          positions: async (question) => {
            asked.push(question);
            const positions = [0, 60_000].map((laterMs, nth) => ({
              ...positionAt(world.nowMs - HOUR_MS + laterMs, 59.9 + nth / 100),
              vehicleId: van,
            }));
            return { positions, next: null } as never;
          },
        },
      },
    );
    anna = await world.member('anna', 'operator');
    van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van 7' }))).id;
    const track = { from: inHours(-2), to: inHours(-0.5) };
    const path = await shared({ track });
    const { body } = await view(path);
    expect(body.track).toEqual(track);
    expect(body.vehicles).toMatchObject([{ name: 'Van 7', state: null, position: null }]);
    expect(body.vehicles[0].points.map(([longitude, latitude]: number[]) => [longitude, latitude])).toEqual([
      [30.5, 59.9],
      [30.5, 59.91],
    ]);
    await view(path);
    expect(asked).toHaveLength(1);
    world.nowMs += 60_000;
    await view(path);
    expect(asked).toHaveLength(2);
  });
});

describe('share links of an account', () => {
  test('are listed without their tokens, and revoked by their maker and those who keep the account', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const ben = await world.member('ben', 'user', { dealerId: dealer.user.id, groupIds: [groupId as never] });
    const { body: link } = await share({ name: 'Delivery' }, ben.jwt);
    const { path, ...listed } = link;
    const list = async (jwt: string, query = '') =>
      (await world.call('GET', `/api/v1/share-links${query}`, { jwt })).body.items;
    expect(await list(ben.jwt)).toEqual([listed]);
    expect(await list(anna.jwt)).toEqual([]);
    // The dealer does not see the vehicle.
    expect(await list(dealer.jwt)).toEqual([{ ...listed, vehicleIds: [] }]);
    expect(await list(dealer.jwt, '?own=true')).toEqual([]);
    const at = `/api/v1/share-links/${link.id}`;
    expect((await world.call('GET', at, { jwt: ben.jwt })).body).toEqual(listed);
    expect((await world.call('DELETE', at, { jwt: anna.jwt })).status).toBe(404);
    expect((await world.call('DELETE', at, { jwt: dealer.jwt })).status).toBe(204);
    expect((await view(`${path}/data`)).status).toBe(404);
  });

  test('are refused where they would last too long, or show what the caller does not see', async () => {
    const foreign = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Foreign' }));
    const wrong: [object, string][] = [
      [{ vehicleIds: [foreign.id] }, '/vehicleIds/0'],
      [{ vehicleIds: [] }, '/vehicleIds'],
      [{ vehicleIds: [van, van] }, '/vehicleIds'],
      [{ expiresAt: inHours(0) }, '/expiresAt'],
      [{ expiresAt: inHours(24 * 30 + 1) }, '/expiresAt'],
      [{ track: { from: inHours(-1), to: inHours(-1) } }, '/track/to'],
      [{ track: { from: inHours(-24 * 32), to: inHours(-1) } }, '/track/to'],
    ];
    for (const [more, pointer] of wrong) {
      const { status, body } = await share(more);
      expect(status, pointer).toBe(400);
      expect(body.errors[0].pointer).toBe(pointer);
    }
    expect((await share({ expiresAt: inHours(24 * 30) })).status).toBe(201);
  });

  test('are counted against a quota', async () => {
    const settings = [{ scope: 'account', kind: 'shareLinks', limit: 1 } as const];
    await world.registry.quotas.set(anna.user.id, settings, async () => {});
    await shared();
    const { status, body } = await share();
    expect(status).toBe(409);
    expect(body.type).toContain('quota-exceeded');
  });
});
