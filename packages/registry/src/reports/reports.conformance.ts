import { DEFAULT_QUOTAS, type ReportSchedule, Turns, type User, type VehicleId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { ConflictError, type LeasedJob, QuotaExceededError, type ReportScheduleFields, StaleError } from '../index.ts';
import { type Place, registryPerTest, START_MS } from '../test-registry.fixture.ts';

const DAY_MS = 86_400_000;
const ALL = { limit: 1000, after: null };
const VAN = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const FILE = { name: 'mileage.csv', mediaType: 'text/csv', sha256: 'ab'.repeat(32), geofenceIds: [] };

/** What every adapter of the registry promises of reports that are made as jobs and on schedules. */
export function reportsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`reports on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: User;
    let ben: User;

    beforeEach(async () => {
      const person = (login: string) =>
        env.registry.users.create(
          { login, name: login, role: 'user', dealerId: null, blocked: false, apiAccess: true, groupIds: [] },
          'long enough a password',
        );
      [anna, ben] = [await person('anna'), await person('ben')];
    });
    const asked = ({ id, login }: User) =>
      env.registry.jobs.create(
        { kind: 'report', userId: id, subjectId: null, parameters: {}, dueAtMs: 0 },
        {
          action: 'report-requested',
          subject: { kind: 'user', id, name: login },
          after: null,
          dealerIds: [],
          ownerIds: [],
        },
      );
    const take = async (leaseMs = 1000): Promise<LeasedJob> => {
      const leased = await env.registry.jobs.lease({ kinds: ['report'], leaseMs, atOnce: 9 });
      if (leased === null) throw new Error('there is no job to be had');
      return leased;
    };
    const finish = (leased: LeasedJob, bytes = 10) =>
      env.registry.reportFiles.finish(
        leased,
        { rows: 7 },
        { ...FILE, id: `report-${leased.lease}.csv`, bytes, vehicleIds: [VAN] },
      );
    const schedule = (more: Partial<ReportScheduleFields> = {}): Promise<ReportSchedule> =>
      env.registry.reportSchedules.create({
        ownerId: anna.id,
        name: 'Every morning',
        active: true,
        frequency: 'daily',
        hour: 6,
        covers: 'yesterday',
        timeZone: 'Europe/Berlin',
        report: { report: 'mileage', format: 'csv' },
        emails: ['a@example.com', 'b@example.com'],
        ...more,
      });
    const run = () =>
      env.registry.reportSchedules.runDue(() => ({ kind: 'report', subjectId: null, parameters: {} }), 10);

    test('it is known when there is work next', async () => {
      const { jobs, reportSchedules, reportDeliveries } = env.registry;
      const next = async () => [
        await jobs.nextDueMs(['report']),
        await reportSchedules.nextDueMs(),
        await reportDeliveries.nextDueMs(),
      ];
      expect(await next()).toEqual([null, null, null]);
      const { nextAtMs } = await schedule();
      expect(await next()).toEqual([null, nextAtMs, null]);
      env.nowMs = nextAtMs ?? 0;
      await run();
      const tomorrowMs = env.nowMs + DAY_MS;
      expect(await next()).toEqual([env.nowMs, tomorrowMs, null]);
      expect(await jobs.nextDueMs(['person-export'])).toBeNull();
      const leased = await take(5000);
      expect(await next()).toEqual([env.nowMs + 5000, tomorrowMs, null]);
      await finish(leased);
      expect(await next()).toEqual([null, tomorrowMs, env.nowMs]);
    });

    test('a file is noted with the end of its job, by who has it in hand alone', async () => {
      const { id } = await asked(anna);
      const late = await take(1);
      env.nowMs += 2;
      const leased = await take();
      expect(await finish(late)).toBe(false);
      expect(await env.registry.reportFiles.of(id)).toBeNull();
      expect(await finish(leased)).toBe(true);
      expect(await env.registry.jobs.get(id)).toMatchObject({
        state: 'done',
        progress: { percent: 100, positions: 7 },
      });
      expect(await env.registry.reportFiles.of(id)).toEqual({
        ...FILE,
        id: `report-${leased.lease}.csv`,
        jobId: id,
        userId: anna.id,
        bytes: 10,
        storedAtMs: env.nowMs,
        vehicleIds: [VAN],
      });
      expect([...(await env.registry.reportFiles.known([`report-${leased.lease}.csv`, 'another']))]).toHaveLength(1);
    });

    test('files that are old, and those of whoever is gone, are found; room is made by whoever has the most', async () => {
      for (const [who, bytes] of [
        [anna, 10],
        [anna, 11],
        [ben, 20],
      ] as const) {
        await asked(who);
        await finish(await take(), bytes);
        env.nowMs += 10;
      }
      expect(await env.registry.reportFiles.usage()).toBe(41);
      expect(await env.registry.reportFiles.oldestOfTheLargest()).toMatchObject({ userId: anna.id, bytes: 10 });
      expect(await env.registry.reportFiles.outdated(START_MS + 10, 10)).toMatchObject([{ bytes: 10 }]);
      await env.registry.users.delete(ben.id, null);
      const outdated = await env.registry.reportFiles.outdated(0, 10);
      expect(outdated).toMatchObject([{ bytes: 20 }]);
      for (const { id } of outdated) await env.registry.reportFiles.forget(id);
      expect(await env.registry.reportFiles.usage()).toBe(21);
    });

    test('users take turns', async () => {
      const jobs = [await asked(anna), await asked(anna), await asked(ben)];
      const order: string[] = [];
      for (let nth = 0; nth < 3; nth++) {
        env.nowMs += 1;
        order.push((await take()).job.id);
      }
      expect(order).toEqual([jobs[0]?.id, jobs[2]?.id, jobs[1]?.id]);
    });

    test('a schedule is kept, changed by version, and is one of its name', async () => {
      const made = await schedule();
      expect(made).toMatchObject({ version: 1, nextPeriod: '2026-01-16', nextAtMs: Date.UTC(2026, 0, 16, 5) });
      await env.reopen();
      expect(await env.registry.reportSchedules.get(made.id)).toEqual(made);
      const changed = await env.registry.reportSchedules.update(made.id, 1, { hour: 7 });
      expect(changed).toMatchObject({ version: 2, nextAtMs: Date.UTC(2026, 0, 16, 6) });
      expect(await env.registry.reportSchedules.update(made.id, 2, { hour: 7 })).toEqual(changed);
      await expect(env.registry.reportSchedules.update(made.id, 1, { hour: 8 })).rejects.toThrow(StaleError);
      await expect(schedule()).rejects.toThrow(ConflictError);
      await schedule({ ownerId: ben.id });
      expect((await env.registry.reportSchedules.list({ ownerId: anna.id }, ALL)).items).toEqual([changed]);
      const { items } = await env.registry.audit.list({ subjectId: made.id }, ALL);
      expect(items.map(({ action, before, after }) => [action, before?.hour, after?.hour])).toEqual([
        ['changed', 6, 7],
        ['created', undefined, 6],
      ]);
      await env.registry.reportSchedules.delete(made.id, 2);
      expect(await env.registry.reportSchedules.get(made.id)).toBeNull();
    });

    test('a user has so many of them', async () => {
      for (let nth = 0; nth < DEFAULT_QUOTAS.account.reportSchedules; nth++) await schedule({ name: `Nr. ${nth}` });
      await expect(schedule({ name: 'one more' })).rejects.toThrow(QuotaExceededError);
    });

    test('one that is due is made a job once, and the next waits until that is over', async () => {
      const { id } = await schedule();
      expect(await run()).toBe(0);
      env.nowMs += 3 * DAY_MS;
      expect(await run()).toBe(1);
      expect(await run()).toBe(0);
      const leased = await take();
      expect(leased.job).toMatchObject({ kind: 'report', userId: anna.id, scheduleId: id });
      expect(await env.registry.reportSchedules.get(id)).toMatchObject({ lastPeriod: '2026-01-16', version: 1 });
      await finish(leased);
      expect(await run()).toBe(1);
      expect(await env.registry.reportSchedules.get(id)).toMatchObject({ lastPeriod: '2026-01-17' });
    });

    test('its report waits for each address, leased to one at a time, and again when that one died', async () => {
      await schedule();
      env.nowMs += DAY_MS;
      await run();
      expect(await env.registry.reportDeliveries.lease(10, 1000, new Turns())).toEqual([]);
      await env.registry.reportFiles.fail(await take(), 'It was a test.', 'failed');
      const [first, second] = await env.registry.reportDeliveries.lease(10, 1000, new Turns());
      expect([first?.target, second?.target].toSorted()).toEqual(['a@example.com', 'b@example.com']);
      expect(await env.registry.reportDeliveries.lease(10, 1000, new Turns())).toEqual([]);
      if (!first || !second) throw new Error('there are two');
      expect(await env.registry.reportDeliveries.settle(first, { state: 'delivered' })).toBe(true);
      env.nowMs += 1000;
      const [again] = await env.registry.reportDeliveries.lease(10, 1000, new Turns());
      expect(again).toMatchObject({ id: second.id, attempts: 2 });
      expect(await env.registry.reportDeliveries.settle(second, { state: 'delivered' })).toBe(false);
      if (!again) throw new Error('it is due again');
      const later = { state: 'pending', error: 'busy', nextAttemptAtMs: env.nowMs + 500 } as const;
      expect(await env.registry.reportDeliveries.settle(again, later)).toBe(true);
      expect(Object.fromEntries(await env.registry.reportDeliveries.counts())).toEqual({ delivered: 1, pending: 1 });
      env.nowMs += 500;
      const [last] = await env.registry.reportDeliveries.lease(10, 1000, new Turns());
      if (!last) throw new Error('it is due again');
      await env.registry.reportDeliveries.settle(last, { state: 'failed', error: 'no such mailbox' });
      const { scheduleId } = last;
      const newest = await env.registry.reportDeliveries.ofSchedule(scheduleId, { limit: 1, after: null });
      const older = await env.registry.reportDeliveries.ofSchedule(scheduleId, { limit: 1, after: newest.next });
      expect(older.next).toBeNull();
      const listed = [...newest.items, ...older.items];
      expect(listed[0]?.id.localeCompare(listed[1]?.id ?? '')).toBe(1);
      expect(new Map(listed.map(({ target, state, error }) => [target, [state, error]]))).toEqual(
        new Map([
          [first.target, ['delivered', null]],
          [second.target, ['failed', 'no such mailbox']],
        ]),
      );
      expect(await env.registry.reportDeliveries.clean(env.nowMs, 10)).toBe(1);
      expect(await env.registry.reportDeliveries.clean(env.nowMs + 1, 10)).toBe(1);
    });

    test('they rest with their owner, and go with them', async () => {
      const { id } = await schedule();
      await env.registry.users.update(anna.id, null, { blocked: true });
      expect(await env.registry.reportSchedules.get(id)).toMatchObject({
        inactiveReason: 'owner-blocked',
        nextAtMs: null,
      });
      env.nowMs += 9 * DAY_MS;
      expect(await run()).toBe(0);
      await env.registry.users.delete(anna.id, null);
      expect(await env.registry.reportSchedules.get(id)).toBeNull();
    });
  });
}
