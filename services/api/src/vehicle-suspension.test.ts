import { blankPosition, type GroupId, type TerminalId, type UserId, type VehicleId } from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const REASON = 'Invoice 1204 is unpaid.';

let world: World;
let operator: string;
let dealer: { user: { id: UserId }; jwt: string };
let anna: string;
let group: GroupId;
let van: VehicleId;
beforeEach(async () => {
  world = await World.open();
  operator = (await world.member('admin', 'operator')).jwt;
  dealer = await world.member('garage', 'dealer');
  const dealerId = dealer.user.id;
  group = (await world.registry.groups.create({ name: 'Vans', dealerId })).id;
  const services = ['commands', 'maintenance', 'video'] as const;
  anna = (await world.member('anna', 'user', { dealerId, groupIds: [group], services })).jwt;
  const terminalId = '356307042441013' as TerminalId;
  van = (await world.registry.vehicles.create(sampleVehicleFields({ dealerId, terminalId, groupIds: [group] }))).id;
  await world.hub.updateLatest([sampleStatus(van, blankPosition(world.nowMs, 59.9, 30.5), world.nowMs)]);
});
afterEach(() => world.close());

const suspend = (jwt: string, more: object = {}) =>
  world.call('POST', `/api/v1/vehicles/${van}/suspend`, { jwt, body: { reason: REASON }, ...more });
const resume = (jwt: string) => world.call('POST', `/api/v1/vehicles/${van}/resume`, { jwt });
const RANGE = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';

describe('a suspended vehicle', () => {
  test('shows its profile with the reason, and its data to operators alone, until it is resumed', async () => {
    const { status, body } = await suspend(dealer.jwt);
    expect(status).toBe(200);
    const suspension = { reason: REASON, by: 'dealer', since: new Date(world.nowMs).toISOString() };
    expect(body.suspension).toEqual(suspension);
    const data = [
      `/api/v1/vehicles/${van}/state`,
      `/api/v1/vehicles/terminal:356307042441013/state`,
      `/api/v1/vehicles/${van}/rejected-positions`,
      `/api/v1/vehicles/${van}/commands`,
      `/api/v1/vehicles/${van}/counters`,
      `/api/v1/vehicles/${van}/service-records`,
      `/api/v1/reports/trips?${RANGE}&vehicleId=${van}`,
      `/api/v1/reports/track?${RANGE}&vehicleId=${van}`,
      `/api/v1/reports/positions-at?at=2026-01-15T12:00:00Z&vehicleId=${van}`,
    ];
    for (const jwt of [anna, dealer.jwt]) {
      expect((await world.call('GET', `/api/v1/vehicles/${van}`, { jwt })).body.suspension).toEqual(suspension);
      for (const path of data) {
        const refused = await world.call('GET', path, { jwt });
        expect([refused.status, refused.body.type], path).toEqual([403, 'urn:outrider:problem:vehicle-suspended']);
        expect(refused.body.detail).toContain(REASON);
      }
      const report = await world.call('GET', '/api/v1/reports/current-state', { jwt });
      expect(report.body.items).toEqual([]);
      // A filter does not reveal what it does either.
      const moving = await world.call('GET', '/api/v1/vehicles?state=unknown', { jwt });
      expect(moving.body.items).toHaveLength(1);
    }
    for (const path of data) expect((await world.call('GET', path, { jwt: operator })).status, path).toBe(200);
    expect((await resume(dealer.jwt)).body.suspension).toBeNull();
    for (const path of data) expect((await world.call('GET', path, { jwt: anna })).status, path).toBe(200);
  });

  test('is found by a filter, and noted in the audit trail', async () => {
    await suspend(dealer.jwt);
    const found = async (suspended: boolean) =>
      (await world.call('GET', `/api/v1/vehicles?suspended=${suspended}`, { jwt: anna })).body.items.length;
    expect([await found(true), await found(false)]).toEqual([1, 0]);
    await resume(dealer.jwt);
    expect([await found(true), await found(false)]).toEqual([0, 1]);
    const trail = await world.call('GET', `/api/v1/audit?subject=${van}&limit=2`, { jwt: dealer.jwt });
    expect(trail.body.items.map(({ action }: { action: string }) => action)).toEqual(['resumed', 'suspended']);
    expect(trail.body.items[1].after.suspension.reason).toBe(REASON);
  });

  test('that an operator suspended is resumed, moved to another terminal and deleted by operators alone', async () => {
    await suspend(operator);
    const refused = [
      await resume(dealer.jwt),
      await suspend(dealer.jwt),
      await world.call('PATCH', `/api/v1/vehicles/${van}`, { jwt: dealer.jwt, body: { terminalId: null } }),
      await world.call('POST', '/api/v1/vehicles/import', {
        jwt: dealer.jwt,
        body: `id,terminalId\r\n${van},\r\n`,
        headers: { 'content-type': 'text/csv' },
      }),
      await world.call('DELETE', `/api/v1/vehicles/${van}`, { jwt: dealer.jwt }),
    ];
    expect(refused.map(({ status, body }) => [status, body.type])).toEqual(
      refused.map(() => [403, 'urn:outrider:problem:vehicle-suspended']),
    );
    const renamed = await world.call('PATCH', `/api/v1/vehicles/${van}`, { jwt: dealer.jwt, body: { name: 'Van' } });
    expect(renamed.body).toMatchObject({ name: 'Van', suspension: { by: 'operator' } });
    expect((await resume(operator)).status).toBe(200);
  });

  test('keeps the time of its suspension when the reason changes, and its version where nothing does', async () => {
    const first = await suspend(dealer.jwt);
    world.nowMs += 60_000;
    const { headers } = await suspend(dealer.jwt);
    expect(headers.get('etag')).toBe(first.headers.get('etag'));
    const other = await suspend(dealer.jwt, { body: { reason: 'Stolen.' } });
    expect(other.body.suspension).toMatchObject({ reason: 'Stolen.', since: first.body.suspension.since });
    expect((await suspend(dealer.jwt, { body: { reason: '' } })).body.errors[0].pointer).toBe('/reason');
  });

  test('is not shown by links, and is by its number to clients of Traccar, as disabled', async () => {
    const expiresAt = new Date(world.nowMs + 3_600_000).toISOString();
    const made = await world.call('POST', '/api/v1/share-links', { jwt: anna, body: { vehicleIds: [van], expiresAt } });
    const traccar = async (path: string) => {
      const headers = { authorization: `Basic ${Buffer.from('anna:correct horse battery staple').toString('base64')}` };
      const request = new Request(`http://outrider.test/api/${path}`, { headers });
      const incoming = { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never };
      return (await world.api.fetch(request, incoming)).json();
    };
    expect(await traccar('positions')).toHaveLength(1);
    await suspend(dealer.jwt);
    expect((await world.call('GET', `${made.body.path}/data`)).status).toBe(404);
    expect(await traccar('devices')).toMatchObject([{ uniqueId: '356307042441013', disabled: true, positionId: 0 }]);
    expect(await traccar('positions')).toEqual([]);
  });
});
