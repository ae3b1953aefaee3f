import { World } from '@outrider/api/fixture';
import {
  DEFAULT_QUOTAS,
  type ReportSchedule,
  type ReportScheduleId,
  type User,
  VEHICLE_DEFAULTS,
  type Vehicle,
} from '@outrider/domain';
import type { ReportSchedules } from '@outrider/registry';
import type { Part } from '@outrider/runtime';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { createReportScheduler } from './scheduler.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LIMITS = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
const DAILY = {
  name: 'Every morning',
  kind: 'mileage',
  format: 'csv',
  timeZone: 'Europe/Berlin',
  frequency: 'daily',
  hour: 6,
  covers: 'yesterday',
  emails: ['Dispatch@Example.com', 'dispatch@example.com'],
};

let world: World;
let operator: { user: User; jwt: string };
let anna: { user: User; jwt: string };
let van: Vehicle;
let schedulers: Part[];
let logged: unknown[];
let runs: MockInstance<ReportSchedules['runDue']>;

beforeEach(async () => {
  world = await World.open({ limits: LIMITS });
  operator = await world.member('boss', 'operator');
  const group = await world.registry.groups.create({ name: 'North', dealerId: null });
  anna = await world.member('anna', 'user', { groupIds: [group.id] });
  van = await world.registry.vehicles.create({
    name: 'Van',
    dealerId: null,
    groupIds: [group.id],
    ...VEHICLE_DEFAULTS,
  });
  runs = vi.spyOn(world.registry.reportSchedules, 'runDue');
  schedulers = [];
  logged = [];
});
afterEach(async () => {
  await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
  expect(logged).toEqual([]);
  await world.close();
});

const call = (
  method: string,
  path: string,
  who: { jwt: string },
  body?: object,
  headers: Record<string, string> = {},
) => world.call(method, `/api/v1/report-schedules${path}`, { jwt: who.jwt, headers, ...(body && { body }) });
async function added(who: { jwt: string }, more: object = {}): Promise<ReportScheduleId> {
  const answer = await call('POST', '', who, { ...DAILY, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}
/** As many as look at the clock at once. */
async function start(instances = 1): Promise<void> {
  const log = (...line: unknown[]) => {
    logged.push(line);
  };
  for (let nth = 0; nth < instances; nth++)
    schedulers.push(
      createReportScheduler({
        config: { pollMs: 1 },
        registry: world.registry,
        directory: world.directory,
        logger: { debug: log, info: log, warn: log, error: log, fatal: log },
      }),
    );
  await Promise.all(schedulers.map((scheduler) => scheduler.start()));
}
const jobs = async () => (await world.registry.jobs.list({ kind: 'report' }, { limit: 1000, after: null })).items;
const schedule = async (id: ReportScheduleId) => (await world.registry.reportSchedules.get(id)) as ReportSchedule;
/** All schedulers have looked at the clock since. */
const looks = () => {
  const before = runs.mock.settledResults.length;
  return vi.waitFor(
    () => expect(runs.mock.settledResults.length).toBeGreaterThan(before + 3 * schedulers.length),
    PATIENCE,
  );
};
async function finishJobs(): Promise<void> {
  for (;;) {
    const leased = await world.registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 1 });
    if (leased === null) return;
    await world.registry.reportFiles.fail(leased, 'It was a test.', 'failed');
  }
}

describe('a schedule', () => {
  test('is added, shown, changed and deleted', async () => {
    const answer = await call('POST', '', anna, { ...DAILY, vehicleId: van.id });
    expect(answer.body).toMatchObject({
      ownerId: anna.user.id,
      vehicleId: van.id,
      groupId: null,
      period: 'day',
      emails: ['Dispatch@example.com', 'dispatch@example.com'],
      active: true,
      inactiveReason: null,
      lastPeriod: null,
      nextAt: '2026-01-16T05:00:00.000Z',
    });
    const { id } = answer.body;
    expect(answer.headers.get('location')).toBe(`/api/v1/report-schedules/${id}`);
    const changed = await call('PATCH', `/${id}`, anna, { hour: 14, vehicleId: null }, { 'if-match': '"1"' });
    expect(changed.body).toMatchObject({ hour: 14, vehicleId: null, nextAt: '2026-01-15T13:00:00.000Z' });
    expect((await call('PATCH', `/${id}`, anna, { hour: 15 }, { 'if-match': '"1"' })).status).toBe(412);
    expect((await call('PATCH', `/${id}`, anna, { active: false })).body).toMatchObject({
      inactiveReason: 'switched-off',
      nextAt: null,
    });
    expect((await call('GET', '', anna)).body.items).toMatchObject([{ id }]);
    expect((await call('DELETE', `/${id}`, anna)).status).toBe(204);
    expect((await call('GET', `/${id}`, anna)).status).toBe(404);
    const trail = await world.call('GET', `/api/v1/audit?subject=${id}`, { jwt: operator.jwt });
    expect(trail.body.items.map(({ action }: { action: string }) => action)).toEqual([
      'deleted',
      'changed',
      'changed',
      'created',
    ]);
  });

  test('of several vehicles goes on with those that are left, and keeps its period', async () => {
    const other = await world.registry.vehicles.create({
      name: 'Truck',
      dealerId: null,
      groupIds: van.groupIds,
      ...VEHICLE_DEFAULTS,
    });
    const hidden = await world.registry.vehicles.create({
      name: 'Hidden',
      dealerId: null,
      groupIds: [],
      ...VEHICLE_DEFAULTS,
    });
    const refused = await call('POST', '', anna, { ...DAILY, vehicleIds: [van.id, hidden.id] });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/vehicleIds/1']);
    const id = await added(anna, { kind: 'idling', period: 'week', vehicleIds: [van.id, other.id] });
    expect((await call('PATCH', `/${id}`, anna, { hour: 7 })).body).toMatchObject({
      vehicleIds: [van.id, other.id],
      period: 'week',
    });
    await world.registry.vehicles.update(van.id, null, { groupIds: [] });
    const again = { jwt: await world.tokenOf(anna.user) };
    expect((await call('GET', `/${id}`, again)).body.vehicleIds).toEqual([other.id]);
    world.nowMs += DAY_MS;
    await start();
    await vi.waitFor(async () => expect(await jobs()).toHaveLength(1), PATIENCE);
    await world.registry.vehicles.update(other.id, null, { groupIds: [] });
    await finishJobs();
    world.nowMs += DAY_MS;
    await vi.waitFor(async () => expect(await schedule(id)).toMatchObject({ active: false }), PATIENCE);
    const token = { jwt: await world.tokenOf(anna.user) };
    expect((await call('GET', `/${id}/deliveries`, token)).body.items).toMatchObject([
      { address: 'dispatch@example.com', error: null },
      { address: 'Dispatch@example.com', error: null },
    ]);
  });

  test.each([
    [{ kind: 'trips', format: 'kml' }, '/format'],
    [{ kind: 'trips', period: 'day' }, '/period'],
    [{ emails: ['nobody'] }, '/emails/0'],
    [{ emails: Array.from({ length: 21 }, (_, nth) => `${nth}@example.com`) }, '/emails'],
    [{ hour: 24 }, '/hour'],
    [{ timeZone: undefined }, '/timeZone'],
  ])('with %j is refused', async (more, pointer) => {
    const { status, body } = await call('POST', '', anna, { ...DAILY, ...more });
    expect([status, body.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });

  test('is one of so many', async () => {
    for (let nth = 0; nth < DEFAULT_QUOTAS.account.reportSchedules; nth++) await added(anna, { name: `Nr. ${nth}` });
    expect((await call('POST', '', anna, DAILY)).status).toBe(409);
    await added(operator);
  });
});

describe('the reports of a schedule', () => {
  test('are made once for each period, however many look at the clock', async () => {
    const id = await added(anna, { vehicleId: van.id });
    await start(3);
    await looks();
    expect(await jobs()).toEqual([]);
    const made: unknown[] = [];
    for (let day = 16; day <= 18; day++) {
      world.nowMs = Date.UTC(2026, 0, day, 5);
      await vi.waitFor(async () => expect(await jobs()).toHaveLength(day - 15), PATIENCE);
      await looks();
      const [job] = await jobs();
      made.push([job?.parameters.fromMs, job?.parameters.toMs]);
      await finishJobs();
    }
    expect(await jobs()).toHaveLength(3);
    // Yesterday, by the clock of Berlin.
    const midnight = (day: number) => Date.UTC(2026, 0, day) - HOUR_MS;
    expect(made).toEqual([
      [midnight(15), midnight(16)],
      [midnight(16), midnight(17)],
      [midnight(17), midnight(18)],
    ]);
    expect((await jobs())[0]).toMatchObject({
      userId: anna.user.id,
      scheduleId: id,
      subjectId: van.id,
      parameters: { report: 'mileage', format: 'csv', timeZone: 'Europe/Berlin', period: 'day' },
    });
    expect(await schedule(id)).toMatchObject({ lastPeriod: '2026-01-18', nextPeriod: '2026-01-19' });
    const { body } = await world.call('GET', '/api/v1/jobs', { jwt: await world.tokenOf(anna.user) });
    expect(body.items).toMatchObject(Array(3).fill({ kind: 'report', scheduleId: id }));
  });

  test('are made for a period once, though the hour is changed after it', async () => {
    const id = await added(anna, { hour: 14 });
    await start();
    world.nowMs = Date.UTC(2026, 0, 15, 13);
    await vi.waitFor(async () => expect(await jobs()).toHaveLength(1), PATIENCE);
    await finishJobs();
    await call('PATCH', `/${id}`, anna, { hour: 16 });
    expect(await schedule(id)).toMatchObject({ nextPeriod: '2026-01-16' });
    for (const active of [false, true]) await call('PATCH', `/${id}`, anna, { active });
    world.nowMs = Date.UTC(2026, 0, 15, 20);
    await looks();
    expect(await jobs()).toHaveLength(1);
  });

  test('wait for the one before, and are made up for up to a week', async () => {
    await added(anna);
    world.nowMs += 30 * DAY_MS;
    await start();
    for (let nth = 1; nth <= 7; nth++) {
      await vi.waitFor(async () => expect(await jobs()).toHaveLength(nth), PATIENCE);
      await looks();
      expect(await jobs()).toHaveLength(nth);
      await finishJobs();
    }
    await looks();
    const days = (await jobs()).map(({ parameters }) => new Date(Number(parameters.toMs)).toISOString().slice(0, 10));
    // Each ends at midnight in Berlin, which is the day before by UTC.
    expect(days.toReversed()).toEqual(
      [7, 8, 9, 10, 11, 12, 13].map((day) => `2026-02-${String(day).padStart(2, '0')}`),
    );
  });

  test('of a month are made up for where there is nothing newer', async () => {
    await added(anna, { frequency: 'monthly', covers: 'last-month' });
    world.nowMs = Date.UTC(2026, 1, 20);
    await start();
    await vi.waitFor(async () => expect(await jobs()).toHaveLength(1), PATIENCE);
  });

  test('rest when their owner is blocked, until they are switched on again', async () => {
    const id = await added(anna);
    await world.registry.users.update(anna.user.id, null, { blocked: true });
    expect(await schedule(id)).toMatchObject({ active: false, inactiveReason: 'owner-blocked', nextAtMs: null });
    await world.registry.users.update(anna.user.id, null, { blocked: false });
    world.nowMs += 3 * DAY_MS;
    await start();
    await looks();
    expect(await jobs()).toEqual([]);
    const jwt = await world.tokenOf(anna.user);
    expect((await call('PATCH', `/${id}`, { jwt }, { active: true })).body).toMatchObject({
      inactiveReason: null,
      nextAt: '2026-01-19T05:00:00.000Z',
    });
  });

  test('go with their owner', async () => {
    const id = await added(anna);
    await world.registry.users.delete(anna.user.id, null);
    expect(await schedule(id)).toBeNull();
  });

  test('rest when there is nothing that their owner may see of what they name', async () => {
    const id = await added(anna, { vehicleId: van.id });
    await world.registry.vehicles.update(van.id, null, { groupIds: [] });
    world.nowMs += DAY_MS;
    await start();
    await vi.waitFor(
      async () => expect(await schedule(id)).toMatchObject({ active: false, inactiveReason: 'nothing-to-tell' }),
      PATIENCE,
    );
    expect(await jobs()).toEqual([]);
    expect((await call('GET', `/${id}`, { jwt: await world.tokenOf(anna.user) })).body.vehicleId).toBeNull();
  });
});
