import type { User, UserId, VehicleId } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { MAX_OPEN_JOBS_PER_USER } from '@outrider/registry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
let operator: { user: User; jwt: string };
let dealer: { user: User; jwt: string };
let anna: { user: User; jwt: string };
let van: VehicleId;
let zone: string;

const WEEK = 'from=2026-01-08T00:00:00Z&to=2026-01-15T00:00:00Z';
const post = (path: string, jwt: string, headers: Record<string, string> = {}) =>
  world.call('POST', `/api/v1/${path}`, { jwt, headers });
const get = (path: string, jwt: string) => world.call('GET', `/api/v1/${path}`, { jwt });
const parameterOf = (body: { errors: { parameter: string }[] }) => body.errors.map(({ parameter }) => parameter);

beforeEach(async () => {
  world = await World.open();
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
  const group = await world.registry.groups.create({ name: 'North', dealerId: dealer.user.id });
  anna = await world.member('anna', 'user', { dealerId: dealer.user.id, groupIds: [group.id] });
  const vehicle = await world.registry.vehicles.create(
    sampleVehicleFields({
      name: 'Van',
      terminalId: '356307042441013' as never,
      dealerId: dealer.user.id,
      groupIds: [group.id],
    }),
  );
  van = vehicle.id;
  zone = await draw(anna.user.id);
});
afterEach(() => world.close());

async function draw(ownerId: UserId): Promise<string> {
  const shape = { type: 'circle', center: [30, 60], radiusM: 100 } as const;
  const terms = {
    ...{ groupIds: null, speedLimitKmh: null, minDwellSeconds: 0, color: null, description: null },
    ...{ category: null, sharedWithOrganisation: false, sharedGroupIds: [] },
  };
  return (await world.registry.geofences.create({ name: 'Depot', ownerId, shape, ...terms })).id;
}

describe('a recalculation', () => {
  test('is begun, and found again where the answer says', async () => {
    const { status, headers, body } = await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt);
    expect(status).toBe(202);
    expect(body).toEqual({
      id: body.id,
      kind: 'recalculate-geozone',
      subjectId: zone,
      userId: anna.user.id,
      from: '2026-01-08T00:00:00.000Z',
      to: '2026-01-15T00:00:00.000Z',
      state: 'queued',
      percent: 0,
      positions: 0,
      result: null,
      error: null,
      createdAt: '2026-01-15T12:00:00.000Z',
      startedAt: null,
      finishedAt: null,
    });
    const location = headers.get('location') ?? '';
    expect(location).toBe(`/api/v1/jobs/${body.id}`);
    expect((await world.call('GET', location, { jwt: anna.jwt })).body).toEqual(body);
    // The worker is given the last millisecond of the range, not the one after it.
    expect((await world.registry.jobs.get(body.id))?.parameters).toEqual({
      fromMs: Date.UTC(2026, 0, 8),
      toMs: Date.UTC(2026, 0, 15) - 1,
      receivedAtMs: null,
    });
  });

  test('shows its progress and its result', async () => {
    const { body } = await post(`vehicles/terminal:356307042441013/recalculate?${WEEK}`, dealer.jwt);
    expect(body).toMatchObject({ kind: 'recalculate-vehicle', subjectId: van });
    const leased = await world.registry.jobs.lease({ kinds: ['recalculate-vehicle'], leaseMs: 1000, atOnce: 1 });
    if (leased === null) throw new Error('it was begun');
    await world.registry.jobs.renew(leased, 1000, { percent: 33.333, positions: 512 }, null);
    expect((await get(`jobs/${body.id}`, dealer.jwt)).body).toMatchObject({
      state: 'running',
      percent: 33.3,
      positions: 512,
      startedAt: '2026-01-15T12:00:00.000Z',
    });
    const result = { vehicles: 1, added: 2, changed: 3, removed: 4 };
    await world.registry.jobs.settle(leased, { state: 'done', result: { ...result, positions: 600 } });
    expect((await get(`jobs/${body.id}`, dealer.jwt)).body).toMatchObject({ state: 'done', percent: 100, result });
  });

  test('is for those who may change what it is about', async () => {
    expect((await post(`vehicles/${van}/recalculate?${WEEK}`, anna.jwt)).status).toBe(403);
    expect((await post(`geozones/${zone}/recalculate?${WEEK}`, dealer.jwt)).status).toBe(403);
    expect((await post(`geozones/${ABSENT}/recalculate?${WEEK}`, anna.jwt)).status).toBe(404);
    const other = await world.member('other', 'dealer');
    expect((await post(`vehicles/${van}/recalculate?${WEEK}`, other.jwt)).status).toBe(404);
    expect((await post(`geozones/${zone}/recalculate?${WEEK}`, other.jwt)).status).toBe(404);
    for (const path of [`vehicles/${van}`, `geozones/${zone}`])
      expect((await post(`${path}/recalculate?${WEEK}`, operator.jwt)).status).toBe(202);
  });

  test('needs a time range that is neither empty nor too long', async () => {
    const ask = async (query: string) => {
      const { status, body } = await post(`vehicles/${van}/recalculate?${query}`, dealer.jwt);
      expect(status).toBe(400);
      return parameterOf(body);
    };
    expect(await ask('from=2026-01-08T00:00:00Z&to=2026-01-08T00:00:00Z')).toEqual(['to']);
    expect(await ask('from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00.001Z')).toEqual(['to']);
    expect(await ask('from=yesterday&to=2026-02-01T00:00:00Z')).toEqual(['from']);
    expect(await ask('from=2026-01-01T00:00:00Z')).toEqual(['to']);
    const longest = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z';
    expect((await post(`vehicles/${van}/recalculate?${longest}`, dealer.jwt)).status).toBe(202);
  });

  test('that is asked for again with its key is the same', async () => {
    const again = () => post(`vehicles/${van}/recalculate?${WEEK}`, dealer.jwt, { 'idempotency-key': 'once' });
    const [first, second] = [await again(), await again()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect((await get('jobs', dealer.jwt)).body.items).toHaveLength(1);
  });

  test('is noted in the audit trail', async () => {
    await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt);
    const { body } = await get(`audit?subject=${zone}`, dealer.jwt);
    expect(body.items[0]).toMatchObject({
      action: 'recalculated',
      user: { login: 'anna' },
      subject: { kind: 'geofence', id: zone, name: 'Depot' },
      after: { from: '2026-01-08T00:00:00.000Z', to: '2026-01-15T00:00:00.000Z' },
    });
  });

  test('waits for others of its user where there are too many', async () => {
    for (let nth = 0; nth < MAX_OPEN_JOBS_PER_USER; nth++)
      expect((await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt)).status).toBe(202);
    const { status, body } = await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt);
    expect([status, body.detail]).toEqual([409, expect.stringContaining(String(MAX_OPEN_JOBS_PER_USER))]);
    const { id } = (await get('jobs?limit=1', anna.jwt)).body.items[0];
    await post(`jobs/${id}/cancel`, anna.jwt);
    expect((await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt)).status).toBe(202);
  });
});

describe('jobs', () => {
  test('are their user’s own, and all the operator’s', async () => {
    const { body: hers } = await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt);
    const parameters = { fromMs: 0, toMs: 1, receivedAtMs: 0 };
    await world.registry.jobs.add({ kind: 'late-data', subjectId: van, parameters, dueAtMs: 0 }, (first) => first);
    for (const jwt of [dealer.jwt]) {
      expect((await get(`jobs/${hers.id}`, jwt)).status).toBe(404);
      expect((await post(`jobs/${hers.id}/cancel`, jwt)).status).toBe(404);
      expect((await get('jobs', jwt)).body.items).toEqual([]);
    }
    expect((await get('jobs', anna.jwt)).body.items).toEqual([hers]);
    const { items } = (await get('jobs', operator.jwt)).body;
    expect(items).toMatchObject([{ kind: 'late-data', userId: null, subjectId: van }, { id: hers.id }]);
    expect((await get('jobs?kind=late-data', operator.jwt)).body.items).toHaveLength(1);
    expect((await get('jobs?state=done', operator.jwt)).body.items).toEqual([]);
  });

  test('are listed page by page, the newest first', async () => {
    const ids: string[] = [];
    for (let nth = 0; nth < 3; nth++)
      ids.unshift((await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt)).body.id);
    const first = (await get('jobs?limit=2', anna.jwt)).body;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    const second = (await get(`jobs?limit=2&cursor=${first.nextCursor}`, anna.jwt)).body;
    expect(second).toMatchObject({ items: [{ id: ids[2] }], nextCursor: null });
  });

  test('can be called off, and what is over stays as it is', async () => {
    const { id } = (await post(`geozones/${zone}/recalculate?${WEEK}`, anna.jwt)).body;
    expect((await post(`jobs/${id}/cancel`, anna.jwt)).body).toMatchObject({
      state: 'cancelled',
      finishedAt: '2026-01-15T12:00:00.000Z',
    });
    world.nowMs += 1000;
    expect((await post(`jobs/${id}/cancel`, anna.jwt)).body).toMatchObject({ finishedAt: '2026-01-15T12:00:00.000Z' });
  });

  test('say nothing of what their user may not see any more', async () => {
    const { id } = (await post(`vehicles/${van}/recalculate?${WEEK}`, dealer.jwt)).body;
    await world.registry.vehicles.update(van, null, { dealerId: null, groupIds: [] });
    expect((await get(`jobs/${id}`, dealer.jwt)).body).toMatchObject({ id, subjectId: null });
    expect((await get(`jobs/${id}`, operator.jwt)).body).toMatchObject({ id, subjectId: van });
  });
});
