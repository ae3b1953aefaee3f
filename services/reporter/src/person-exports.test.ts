import { World } from '@outrider/api/fixture';
import type { FleetEvent, JobId, User } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { type Files, FilesFullError } from '@outrider/files';
import { PLAIN_GEOCODER } from '@outrider/geocoder/testing';
import type { ReportArchive } from '@outrider/reports';
import { EMPTY_ARCHIVE, withoutTurns } from '@outrider/reports/empty-archive';
import type { Part } from '@outrider/runtime';
import { Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPersonExports } from './person-exports.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
let world: World;
let parts: Part[];
let archive: ReportArchive;
interface Member {
  user: User;
  jwt: string;
}
let operator: Member;
let dealer: Member;
let anna: Member;

beforeEach(async () => {
  world = await World.open();
  parts = [];
  archive = EMPTY_ARCHIVE;
  operator = await world.member('boss', 'operator');
  dealer = await world.member('dealer', 'dealer');
  anna = await world.member('anna', 'user', { dealerId: dealer.user.id });
});
afterEach(async () => {
  for (const part of parts) await part.stop();
  await world.close();
});

async function start(files: Files = world.reportFiles): Promise<void> {
  const part = createPersonExports({
    config: { retentionDays: 7, quotaBytes: 1e9, maxFileBytes: 1e9, pollMs: 5 },
    registry: world.registry,
    directory: world.directory,
    hub: world.hub,
    reportArchive: withoutTurns(archive),
    geocoder: PLAIN_GEOCODER,
    files,
    logger: { debug() {}, info() {}, warn() {}, error() {}, fatal() {} },
    metrics: new Metrics(),
    clock: clockAt(() => world.nowMs),
  });
  parts.push(part);
  await part.start();
}
const ask = async ({ jwt }: Member, path: string): Promise<JobId> => {
  const { status, body } = await world.call('POST', `/api/v1/${path}/export`, { jwt });
  expect(status, JSON.stringify(body)).toBe(202);
  return body.id;
};
const fetched = ({ jwt }: Member, id: JobId) => world.call('GET', `/api/v1/person-exports/${id}/file`, { jwt });
async function done({ jwt }: Member, id: JobId) {
  await vi.waitFor(async () => {
    const { body } = await world.call('GET', `/api/v1/jobs/${id}`, { jwt });
    expect(body).toMatchObject({ kind: 'person-export', state: 'done' });
  }, PATIENCE);
}

test('an account has what is held about it, and nobody else gets its file; the trail says who asked', async () => {
  const id = await ask(anna, `users/${anna.user.id}`);
  expect((await fetched(anna, id)).status).toBe(409);
  await start();
  await done(anna, id);
  const file = await fetched(anna, id);
  expect(file).toMatchObject({ status: 200, body: { format: 'outrider-personal-data', leftOut: [] } });
  const { data } = file.body;
  expect(data.profile).toMatchObject([{ login: 'anna', dealerId: dealer.user.id }]);
  expect(data.sessions).toHaveLength(1);
  expect(file.headers.get('content-disposition')).toContain(`user-${anna.user.id}-2026-01-15.json`);
  for (const other of [operator, dealer]) expect((await fetched(other, id)).status).toBe(404);
  const trail = (await world.registry.audit.list({ subjectId: anna.user.id }, { limit: 1, after: null })).items;
  expect(trail).toMatchObject([{ action: 'person-exported', user: { login: 'anna' } }]);
  // A report's path does not give it away either.
  expect((await world.call('GET', `/api/v1/report-jobs/${id}/file`, { jwt: anna.jwt })).status).toBe(404);
});

test('a dealer gets of its account what it may see, an operator all; of others nothing', async () => {
  await start();
  const own = await ask(dealer, `users/${anna.user.id}`);
  await done(dealer, own);
  const { leftOut, data } = (await fetched(dealer, own)).body;
  expect(leftOut).toContain('sessions');
  expect(Object.keys(data)).not.toEqual(expect.arrayContaining(['sessions']));
  expect(data.profile).toMatchObject([{ login: 'anna' }]);
  const all = await ask(operator, `users/${anna.user.id}`);
  await done(operator, all);
  expect((await fetched(operator, all)).body.data.sessions).toHaveLength(1);
  const stranger = await world.member('stranger', 'dealer');
  const { jwt } = stranger;
  expect((await world.call('POST', `/api/v1/users/${anna.user.id}/export`, { jwt })).status).toBe(404);
});

test('a file that was made is gone once the caller may not have it, or the person is deleted', async () => {
  await start();
  const id = await ask(dealer, `users/${anna.user.id}`);
  await done(dealer, id);
  await world.registry.users.update(anna.user.id, null, { dealerId: null });
  expect((await fetched(dealer, id)).status).toBe(410);
  expect(await world.registry.reportFiles.outdated(0, 10)).toEqual([]);
  await world.registry.users.delete(anna.user.id, null);
  expect(await world.registry.reportFiles.outdated(0, 10)).toHaveLength(1);
});

test('of a driver it has codes, assignments, shifts and trips', async () => {
  const van = await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van', dealerId: dealer.user.id }));
  const driver = await world.registry.drivers.create({
    ...{ name: 'Ben', dealerId: dealer.user.id, groupIds: [], codes: ['A1'], phone: null, licenceNumber: null },
    licenceExpiresOn: null,
  });
  const startedAtMs = world.nowMs + 1000;
  const event = (kind: string, more: object) =>
    ({
      ...{
        kind,
        id: crypto.randomUUID(),
        phase: 'end',
        vehicleId: van.id,
        startedAtMs,
        endedAtMs: startedAtMs + 60_000,
      },
      ...{ latitude: 50, longitude: 10, speedKmh: 0, fixTimeMs: startedAtMs, fromFixTimeMs: startedAtMs },
      ...{ definitionVersion: 1, origin: 'live', inferred: false, endReason: null, ...more },
    }) as unknown as FleetEvent;
  const shifts = [event('driver-shift', { driverCode: 'A1' }), event('driver-shift', { driverCode: 'B2' })];
  const trip = event('trip', { distanceM: 4200, movingMs: 60_000, idlingMs: 0, maxKmh: 50, driverCode: 'A1' });
  archive = {
    ...EMPTY_ARCHIVE,
    overlappingEvents: async ({ kinds }) => ({
      events: [...shifts, trip].filter(({ kind }) => kinds?.includes(kind as never) ?? true),
      next: null,
    }),
  };
  world.nowMs += 120_000;
  await start();
  const path = `drivers/${driver.id}`;
  expect((await world.call('POST', `/api/v1/${path}/export`, { jwt: anna.jwt })).status).toBe(404);
  const id = await ask(dealer, path);
  await done(dealer, id);
  const { data } = (await fetched(dealer, id)).body;
  expect(data).toMatchObject({
    profile: [{ name: 'Ben' }],
    codes: [{ code: 'A1', until: null }],
    shifts: [{ vehicleId: van.id, code: 'A1' }],
    trips: [{ vehicleId: van.id, driverName: 'Ben' }],
  });
  expect(Object.keys(data)).toEqual(expect.arrayContaining(['drivers', 'eco-driving', 'assignments', 'auditAbout']));
});

test('an export waits while the store is full, however often, and fails for good of another cause', async () => {
  const id = await ask(anna, `users/${anna.user.id}`);
  let refusals = 0;
  let cause: Error = new FilesFullError('full');
  const files: Files = Object.create(world.reportFiles, {
    put: {
      value: async (...put: Parameters<Files['put']>) => {
        refusals += 1;
        if (refusals > 8 && cause instanceof FilesFullError) return world.reportFiles.put(...put);
        throw cause;
      },
    },
  });
  /** Lets the time of each further attempt come. */
  let waited = 0;
  const ended = async (job: JobId) => {
    await vi.waitFor(async () => {
      const { state } = (await world.call('GET', `/api/v1/jobs/${job}`, { jwt: anna.jwt })).body;
      if (state === 'queued' && refusals > waited) {
        waited = refusals;
        world.nowMs += 10_000;
      }
      expect(['done', 'failed']).toContain(state);
    }, PATIENCE);
    return (await world.call('GET', `/api/v1/jobs/${job}`, { jwt: anna.jwt })).body;
  };
  await start(files);
  expect(await ended(id)).toMatchObject({ state: 'done' });
  expect(refusals).toBe(9);
  cause = new Error('of the test');
  const other = await ask(anna, `users/${anna.user.id}`);
  expect(await ended(other)).toMatchObject({ state: 'failed', error: expect.stringContaining('failed repeatedly') });
  expect(refusals).toBe(9 + 5);
});

test('an export that broke off is made by the next worker', async () => {
  const id = await ask(anna, `users/${anna.user.id}`);
  const leased = await world.registry.jobs.lease({ kinds: ['person-export'], leaseMs: 1000, atOnce: 1 });
  expect(leased?.job.id).toBe(id);
  await start();
  world.nowMs += 2000;
  await done(anna, id);
});
