import { ABSENT, World } from '@outrider/api/fixture';
import {
  blankPosition,
  type GroupId,
  type JobId,
  type Position,
  REPORT_JOB_CHANNEL,
  type ReportJobNews,
  type TerminalId,
  type User,
  VEHICLE_DEFAULTS,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { PLAIN_GEOCODER } from '@outrider/geocoder/testing';
import type { ReportArchive } from '@outrider/reports';
import { EMPTY_ARCHIVE, withoutTurns } from '@outrider/reports/empty-archive';
import { Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { BusyError } from '@outrider/warehouse';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createReportRunner, type ReportRunner, type ReportRunnerConfig } from './runner.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const DAY = { from: '2026-01-14T00:00:00Z', to: '2026-01-15T00:00:00Z' };
const LIMITS = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
/** Positions of each vehicle, a page at a time. */
const PER_VEHICLE = 3;

let world: World;
let operator: { user: User; jwt: string };
let dealer: { user: User; jwt: string };
let anna: { user: User; jwt: string };
let north: string;
let vans: Vehicle[];
let runners: ReportRunner[];
let news: ReportJobNews[];
/** What the archive does before each page. */
let before: (page: number) => Promise<void> | void;
let pages: number;

/** It has {@link PER_VEHICLE} positions of each vehicle, and returns one vehicle at a time. */
const archive: ReportArchive = {
  ...EMPTY_ARCHIVE,
  async positions({ vehicleIds, fromMs, after, signal }) {
    pages += 1;
    await before(pages);
    signal?.throwIfAborted();
    const nth = after === null || after === undefined ? 0 : vehicleIds.indexOf(after.vehicleId) + 1;
    const vehicleId = vehicleIds[nth];
    if (vehicleId === undefined) return { positions: [], next: null };
    const positions = Array.from({ length: PER_VEHICLE }, (_, hour) => ({
      ...(blankPosition(fromMs + hour * 3_600_000, 60, 30) as Position),
      vehicleId,
      receivedAtMs: fromMs,
      terminalId: '' as TerminalId,
      protocol: 'osmand' as const,
      rejection: null,
    }));
    const last = { vehicleId, fixTimeMs: fromMs, rejection: null };
    return { positions, next: nth + 1 < vehicleIds.length ? last : null };
  },
};

beforeEach(async () => {
  world = await World.open({ limits: LIMITS });
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
  const group = await world.registry.groups.create({ name: 'North', dealerId: dealer.user.id });
  north = group.id;
  anna = await world.member('anna', 'user', { dealerId: dealer.user.id, groupIds: [group.id] });
  vans = [];
  for (const name of ['Van 1', 'Van 2', 'Van 3'])
    vans.push(
      await world.registry.vehicles.create({
        ...VEHICLE_DEFAULTS,
        name,
        dealerId: dealer.user.id,
        groupIds: name === 'Van 3' ? [] : [group.id],
      }),
    );
  runners = [];
  news = [];
  before = () => {};
  pages = 0;
  await world.hub.subscribe(REPORT_JOB_CHANNEL, (text) => {
    news.push(JSON.parse(text) as ReportJobNews);
  });
});
afterEach(async () => {
  for (const runner of runners) await runner.stop();
  await world.close();
});

async function start(config: Partial<ReportRunnerConfig> = {}): Promise<ReportRunner> {
  const runner = createReportRunner({
    config: {
      retentionDays: 7,
      quotaBytes: 1e9,
      maxFileBytes: 1e9,
      pollMs: 5,
      leaseMs: 400,
      retryMs: 1,
      ...config,
    },
    registry: world.registry,
    directory: world.directory,
    hub: world.hub,
    reportArchive: withoutTurns(archive),
    geocoder: PLAIN_GEOCODER,
    files: world.reportFiles,
    logger: { debug() {}, info() {}, warn() {}, error() {}, fatal() {} },
    metrics: new Metrics(),
    clock: clockAt(() => world.nowMs),
  });
  runners.push(runner);
  await runner.start();
  return runner;
}

const ask = (who: { jwt: string }, body: object = {}) =>
  world.call('POST', '/api/v1/report-jobs', { jwt: who.jwt, body: { kind: 'track', format: 'csv', ...DAY, ...body } });
async function asked(who: { jwt: string }, body: object = {}): Promise<JobId> {
  const answer = await ask(who, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
}
const jobOf = async (id: JobId, who = operator) =>
  (await world.call('GET', `/api/v1/jobs/${id}`, { jwt: who.jwt })).body;
const fileOf = (id: JobId, who: { jwt: string }, headers: Record<string, string> = {}) =>
  world.call('GET', `/api/v1/report-jobs/${id}/file`, { jwt: who.jwt, headers });
const untilState = (id: JobId, state: string) =>
  vi.waitFor(async () => {
    const job = await jobOf(id);
    expect(job).toMatchObject({ state });
    return job;
  }, PATIENCE);
const vehiclesIn = (csv: string) => [
  ...new Set(
    csv
      .trim()
      .split('\r\n')
      .slice(1)
      .map((row) => row.split(',')[0]),
  ),
];
const storedFiles = async () => {
  const ids: string[] = [];
  for await (const { id } of world.reportFiles.list()) ids.push(id);
  return ids;
};

describe('a report as a job', () => {
  test('is requested, made, published, and fetched whole and in part', async () => {
    const answer = await ask(anna, { groupId: north, timeZone: 'Europe/Berlin' });
    expect(answer.status).toBe(202);
    const { id } = answer.body;
    expect(answer.headers.get('location')).toBe(`/api/v1/jobs/${id}`);
    expect(answer.body).toMatchObject({
      kind: 'report',
      report: 'track',
      format: 'csv',
      subjectId: north,
      scheduleId: null,
      userId: anna.user.id,
      from: '2026-01-14T00:00:00.000Z',
      to: '2026-01-15T00:00:00.000Z',
      timeZone: 'Europe/Berlin',
      state: 'queued',
      rows: 0,
      result: null,
    });
    const early = await fileOf(id, anna);
    expect([early.status, early.body.errors]).toEqual([409, [{ parameter: 'id', detail: 'queued' }]]);

    await start();
    const job = await untilState(id, 'done');
    expect(job).toMatchObject({ percent: 100, rows: 2 * PER_VEHICLE });
    const file = await fileOf(id, anna);
    expect(file.status).toBe(200);
    expect(vehiclesIn(file.body)).toEqual([vans[0]?.id, vans[1]?.id]);
    expect(job.result).toEqual({
      rows: 2 * PER_VEHICLE,
      bytes: file.body.length,
      name: 'track-2026-01-14-2026-01-14.csv',
      mediaType: 'text/csv',
      summary: [],
      url: `/api/v1/report-jobs/${id}/file`,
      expiresAt: '2026-01-22T12:00:00.000Z',
    });
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-length': String(file.body.length),
      'content-disposition': 'attachment; filename="track-2026-01-14-2026-01-14.csv"',
      'accept-ranges': 'bytes',
    });
    const part = await fileOf(id, anna, { range: 'bytes=5-9' });
    expect([part.status, part.body]).toEqual([206, file.body.slice(5, 10)]);
    const known = await fileOf(id, anna, { 'if-none-match': file.headers.get('etag') ?? '' });
    expect(known.status).toBe(304);
    await vi.waitFor(
      () =>
        expect(news).toEqual([
          {
            userId: anna.user.id,
            jobId: id,
            report: 'track',
            format: 'csv',
            state: 'done',
            rows: 2 * PER_VEHICLE,
            bytes: file.body.length,
            error: null,
            finishedAtMs: world.nowMs,
          },
        ]),
      PATIENCE,
    );
  });

  test('is its user’s and the operator’s, and nobody else’s', async () => {
    const id = await asked(anna);
    await start();
    await untilState(id, 'done');
    expect((await fileOf(id, dealer)).status).toBe(404);
    expect((await fileOf(ABSENT as JobId, anna)).status).toBe(404);
    expect((await fileOf(id, operator)).status).toBe(200);
    expect((await world.call('GET', '/api/v1/jobs?kind=report', { jwt: dealer.jwt })).body.items).toEqual([]);
    expect((await world.call('GET', '/api/v1/jobs?kind=report', { jwt: anna.jwt })).body.items).toMatchObject([{ id }]);
    const trail = await world.call('GET', `/api/v1/audit?subject=${anna.user.id}`, { jwt: dealer.jwt });
    expect(trail.body.items[0]).toMatchObject({
      action: 'report-requested',
      user: { login: 'anna' },
      after: { report: 'track', format: 'csv', from: '2026-01-14T00:00:00.000Z', timeZone: 'UTC' },
    });
  });

  test('has what its user may see when it is made, not when it was asked for', async () => {
    const id = await asked(anna);
    await world.registry.vehicles.update(vans[0]?.id as VehicleId, null, { groupIds: [] });
    await start();
    await untilState(id, 'done');
    expect(vehiclesIn((await fileOf(id, anna)).body)).toEqual([vans[1]?.id]);
  });

  test('is about those of several vehicles that its user may see', async () => {
    const id = await asked(anna, { vehicleIds: vans.slice(0, 2).map((van) => van.id) });
    await world.registry.vehicles.update(vans[0]?.id as VehicleId, null, { groupIds: [] });
    await start();
    await untilState(id, 'done');
    expect(vehiclesIn((await fileOf(id, anna)).body)).toEqual([vans[1]?.id]);
    expect((await ask(anna, { vehicleIds: [vans[1]?.id, vans[0]?.id] })).body.errors[0].pointer).toBe('/vehicleIds/1');
  });

  test('is made anew where a right is lost meanwhile', async () => {
    const id = await asked(anna);
    before = async (page) => {
      if (page === 2) await world.registry.vehicles.update(vans[0]?.id as VehicleId, null, { groupIds: [] });
    };
    await start();
    await untilState(id, 'done');
    expect(vehiclesIn((await fileOf(id, anna)).body)).toEqual([vans[1]?.id]);
    expect(await storedFiles()).toHaveLength(1);
  });

  test('is not fetched by who may not see all of it any more', async () => {
    const id = await asked(anna);
    await start();
    await untilState(id, 'done');
    await world.registry.vehicles.update(vans[0]?.id as VehicleId, null, { groupIds: [] });
    expect((await fileOf(id, anna)).status).toBe(410);
    expect((await fileOf(id, operator)).status).toBe(200);
    // What is gone altogether is nobody's secret.
    await world.registry.vehicles.delete(vans[0]?.id as VehicleId, null);
    expect((await fileOf(id, anna)).status).toBe(200);
  });

  test('is not made for who was blocked, nor about what they may not see any more', async () => {
    const blocked = await asked(anna);
    await world.registry.users.update(anna.user.id, null, { blocked: true });
    const other = await asked(dealer, { vehicleId: vans[0]?.id });
    await world.registry.vehicles.update(vans[0]?.id as VehicleId, null, { dealerId: null, groupIds: [] });
    await start();
    expect(await untilState(blocked, 'failed')).toMatchObject({ error: 'The account was blocked or deleted.' });
    expect(await untilState(other, 'failed')).toMatchObject({ error: expect.stringContaining('vehicleId') });
    expect(await storedFiles()).toEqual([]);
    await vi.waitFor(() => expect(news.map(({ state }) => state)).toEqual(['failed', 'failed']), PATIENCE);
  });

  test('is called off while it is made, and leaves nothing', async () => {
    const id = await asked(operator);
    const held = Promise.withResolvers<void>();
    before = (page) => (page === 2 ? held.promise : undefined);
    await start();
    await vi.waitFor(
      async () => expect(await jobOf(id)).toMatchObject({ state: 'running', rows: PER_VEHICLE }),
      PATIENCE,
    );
    expect((await jobOf(id)).percent).toBeGreaterThan(0);
    const renewed = vi.spyOn(world.registry.jobs, 'renew');
    await world.call('POST', `/api/v1/jobs/${id}/cancel`, { jwt: operator.jwt });
    await vi.waitFor(() => expect(renewed.mock.settledResults.map(({ value }) => value)).toContain('cancel'), PATIENCE);
    held.resolve();
    await untilState(id, 'cancelled');
    expect(await storedFiles()).toEqual([]);
    expect((await fileOf(id, operator)).body.errors).toEqual([{ parameter: 'id', detail: 'cancelled' }]);
  });

  test('goes on in another process when the service stops, and when its process dies', async () => {
    const id = await asked(operator);
    // It dies over it: the lease is never renewed.
    expect(await world.registry.jobs.lease({ kinds: ['report'], leaseMs: 1, atOnce: 1 })).not.toBeNull();
    world.nowMs += 2;
    const held = Promise.withResolvers<void>();
    before = (page) => (page === 2 ? held.promise : undefined);
    const first = await start();
    await vi.waitFor(() => expect(pages).toBe(2), PATIENCE);
    const stopped = first.stop();
    held.resolve();
    await stopped;
    expect(await jobOf(id)).toMatchObject({ state: 'queued' });
    expect(await storedFiles()).toEqual([]);
    await start();
    expect(await untilState(id, 'done')).toMatchObject({ rows: 3 * PER_VEHICLE });
    expect(await storedFiles()).toHaveLength(1);
  });

  test('that crashes every process is given up, and reported as failed', async () => {
    const id = await asked(operator);
    for (let nth = 0; nth < 5; nth++) {
      const options = { kinds: ['report'], leaseMs: 1, atOnce: 1, maxAttempts: 6 };
      expect(await world.registry.jobs.lease(options)).not.toBeNull();
      world.nowMs += 2;
    }
    await start();
    expect(await untilState(id, 'failed')).toMatchObject({ error: 'It was interrupted 5 times.' });
    await vi.waitFor(() => expect(news).toMatchObject([{ jobId: id, state: 'failed' }]), PATIENCE);
  });

  test('is tried again after a failure, and waits where the archive is busy', async () => {
    const id = await asked(operator);
    before = (page) => {
      if (page <= 8) throw new BusyError('busy');
      if (page <= 11) throw new Error('of the test');
    };
    await start();
    await vi.waitFor(async () => {
      world.nowMs += 10;
      expect(await jobOf(id)).toMatchObject({ state: 'done' });
    }, PATIENCE);
    expect(pages).toBe(14);
  });

  test('that would be too large fails, and says so', async () => {
    const id = await asked(operator);
    await start({ maxFileBytes: 100 });
    expect(await untilState(id, 'failed')).toMatchObject({ error: expect.stringContaining('request fewer vehicles') });
    expect(await storedFiles()).toEqual([]);
  });

  test.each(['ndjson', 'xlsx', 'geojson', 'gpx', 'kml'])('comes as %s', async (format) => {
    const id = await asked(operator, { format });
    await start();
    await untilState(id, 'done');
    expect((await fileOf(id, operator)).status).toBe(200);
  });

  test('about now has no time range', async () => {
    const about = { kind: 'current-state', from: undefined, to: undefined };
    const id = await asked(operator, about);
    await start();
    expect(await untilState(id, 'done')).toMatchObject({ from: null, to: null, rows: 3 });
  });

  test('users take turns', async () => {
    const first: JobId[] = [];
    for (let nth = 0; nth < 3; nth++) first.push(await asked(operator));
    const hers = await asked(anna);
    const order: string[] = [];
    for (let nth = 0; nth < 4; nth++) {
      world.nowMs += 1;
      const leased = await world.registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 9 });
      order.push(leased?.job.id ?? '');
    }
    expect(order).toEqual([first[0], hers, first[1], first[2]]);
  });
});

describe('what a report’s job is asked for with', () => {
  test.each([
    [{ from: undefined }, '/from'],
    [{ to: '2026-01-14T00:00:00Z' }, '/to'],
    [{ to: '2036-01-14T00:00:00Z' }, '/to'],
    [{ kind: 'current-state' }, '/from'],
    [{ kind: 'trips', format: 'gpx' }, '/format'],
    [{ format: 'json' }, '/format'],
    [{ period: 'day' }, '/period'],
    [{ kind: 'mileage', maxPoints: 100 }, '/maxPoints'],
    [{ kind: 'trips', eventKinds: ['trip'] }, '/eventKinds'],
    [{ geozoneId: ABSENT }, '/geozoneId'],
    [{ kind: 'geozone-visits', geozoneId: ABSENT }, '/geozoneId'],
    [{ vehicleId: ABSENT }, '/vehicleId'],
    [{ groupId: ABSENT }, '/groupId'],
    [{ vehicleId: ABSENT, groupId: ABSENT }, '/groupId'],
    [{ timeZone: 'Mars/Olympus' }, '/timeZone'],
  ])('%j is refused', async (body, pointer) => {
    const answer = await ask(anna, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
  });

  test('a vehicle that the caller does not see looks as if there was none', async () => {
    const [hidden, absent] = [await ask(anna, { vehicleId: vans[2]?.id }), await ask(anna, { vehicleId: ABSENT })];
    expect([hidden.status, hidden.body]).toEqual([absent.status, absent.body]);
  });
});

test('a report that a key for some groups asked for holds no more than these, and alone is the key’s to fetch', async () => {
  const fields = { name: 'ERP', scopes: ['read', 'write'] as const, groupIds: [north as GroupId], expiresAtMs: null };
  const { text } = await world.registry.apiKeys.create(dealer.user.id, fields);
  const [limited, whole] = [await asked({ jwt: text }), await asked(dealer)];
  await start();
  for (const id of [limited, whole]) await untilState(id, 'done');
  const file = await fileOf(limited, { jwt: text });
  expect(file.status).toBe(200);
  expect(file.body).toContain('Van 2');
  expect(file.body).not.toContain('Van 3');
  expect((await fileOf(whole, dealer)).body).toContain('Van 3');
  expect((await fileOf(whole, { jwt: text })).status).toBe(410);
});

describe('files of reports', () => {
  test('go when their time is over, and with their user', async () => {
    const [old, hers] = [await asked(operator), await asked(anna)];
    const first = await start();
    await untilState(old, 'done');
    await untilState(hers, 'done');
    await first.stop();
    await world.registry.users.delete(anna.user.id, null);
    const second = await start();
    await vi.waitFor(async () => expect(await storedFiles()).toHaveLength(1), PATIENCE);
    await second.stop();
    world.nowMs += 7 * 86_400_000 + 1;
    const jwt = await world.tokenOf(operator.user);
    expect((await fileOf(old, { jwt })).status).toBe(200);
    await start();
    await vi.waitFor(async () => expect(await storedFiles()).toEqual([]), PATIENCE);
    expect((await fileOf(old, { jwt })).status).toBe(410);
  });

  test('are deleted to free space, those of the user with the most first', async () => {
    const ids: JobId[] = [];
    for (const who of [operator, anna, operator]) ids.push(await asked(who));
    const first = await start();
    for (const id of ids) await untilState(id, 'done');
    await first.stop();
    const sizes = await Promise.all(ids.map(async (id) => (await jobOf(id)).result.bytes as number));
    await start({ quotaBytes: (sizes[1] ?? 0) + (sizes[2] ?? 0) });
    await vi.waitFor(async () => expect(await storedFiles()).toHaveLength(2), PATIENCE);
    expect((await fileOf(ids[1] as JobId, anna)).status).toBe(200);
    const statuses = [await fileOf(ids[0] as JobId, operator), await fileOf(ids[2] as JobId, operator)];
    expect(statuses.map(({ status }) => status).toSorted()).toEqual([200, 410]);
  });

  test('that belong to no job are swept away after a while, and those of others never', async () => {
    const id = await asked(operator);
    const first = await start();
    await untilState(id, 'done');
    await first.stop();
    for (const name of [`report-${ABSENT}-${ABSENT}.csv`, `${ABSENT}.mp4`])
      await world.reportFiles.put(name, ReadableStream.from([Buffer.from('left behind')]));
    const swept = vi.spyOn(world.reportFiles, 'list');
    const second = await start();
    await vi.waitFor(() => expect(swept).toHaveBeenCalled(), PATIENCE);
    await second.stop();
    expect(await storedFiles()).toHaveLength(3);
    world.nowMs = Date.now() + 3_700_000;
    await start({ retentionDays: 3650 });
    await vi.waitFor(async () => expect(await storedFiles()).toHaveLength(2), PATIENCE);
    expect(await storedFiles()).toContain(`${ABSENT}.mp4`);
  });
});
