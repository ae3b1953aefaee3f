import type { JobId, User, UserId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import {
  type JobFacts,
  type JobFields,
  MAX_OPEN_JOBS_PER_USER,
  NotFoundError,
  type Registry,
  type ServiceJobFields,
  TooManyJobsError,
} from '../index.ts';
import { type Place, registryPerTest, START_MS } from '../test-registry.fixture.ts';

const ALL = { limit: 1000, after: null };
const LEASE = { kinds: ['dig', 'fill'], leaseMs: 1000, atOnce: 1 };
const VAN = '0190a000-0000-7000-8000-000000000001';
const HALFWAY = { percent: 50, positions: 7 };
const joined = (waiting: JobFacts, added: JobFacts): JobFacts => ({ of: [waiting.of, added.of].flat() });

/** What every adapter of the registry promises of jobs. */
export function jobsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`jobs on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: User;

    const asked = (fields: Partial<JobFields> = {}, userId: UserId = anna.id) =>
      env.registry.jobs.create(
        { kind: 'dig', subjectId: VAN, parameters: { deep: 3 }, dueAtMs: 0, ...fields, userId },
        {
          action: 'recalculated',
          subject: { kind: 'vehicle', id: VAN, name: 'Van' },
          after: { deep: 3 },
          dealerIds: [],
          ownerIds: [],
        },
      );
    const take = async (more: Partial<typeof LEASE> = {}) => {
      const leased = await env.registry.jobs.lease({ ...LEASE, ...more });
      if (leased === null) throw new Error('there is no job to be had');
      return leased;
    };
    const stateOf = async (id: JobId) => (await env.registry.jobs.get(id))?.state;

    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
    });
    test('one that is asked for waits, is done, and tells what came out, whoever opens the registry', async () => {
      const { id } = await asked();
      expect(await env.registry.jobs.get(id)).toEqual({
        id,
        kind: 'dig',
        userId: anna.id,
        subjectId: VAN,
        scheduleId: null,
        parameters: { deep: 3 },
        state: 'queued',
        progress: { percent: 0, positions: 0 },
        result: null,
        error: null,
        createdAtMs: START_MS,
        startedAtMs: null,
        finishedAtMs: null,
      });
      env.nowMs += 10;
      const leased = await take();
      expect(leased).toMatchObject({ job: { id, state: 'running', startedAtMs: START_MS + 10 }, resume: null });
      expect(await env.registry.jobs.renew(leased, 1000, HALFWAY, null)).toBe('held');
      expect((await env.registry.jobs.get(id))?.progress).toEqual(HALFWAY);
      env.nowMs += 10;
      expect(await env.registry.jobs.settle(leased, { state: 'done', result: { holes: 1 } })).toBe(true);
      await env.reopen();
      expect(await env.registry.jobs.get(id)).toMatchObject({
        state: 'done',
        progress: { percent: 100, positions: 7 },
        result: { holes: 1 },
        finishedAtMs: START_MS + 20,
      });
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();
    });

    test('the trail tells who asked for what', async () => {
      await asked();
      const { items } = await env.registry.audit.list({ subjectId: VAN }, ALL);
      expect(items).toMatchObject([{ action: 'recalculated', before: null, after: { deep: 3 } }]);
    });

    test('no more are in hand at once than may be, and the one that waited longest comes first', async () => {
      const [first, second, third] = [
        await asked({ dueAtMs: 3 }),
        await asked({ dueAtMs: 1 }),
        await asked({ dueAtMs: 2 }),
      ];
      await asked({ kind: 'other' });
      await asked({ dueAtMs: START_MS + 1 });
      const leased = await take();
      expect(leased.job.id).toBe(second.id);
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();
      expect((await take({ atOnce: 2 })).job.id).toBe(third.id);
      await env.registry.jobs.settle(leased, { state: 'failed', error: 'rock' });
      expect(await env.registry.jobs.get(second.id)).toMatchObject({ state: 'failed', error: 'rock' });
      expect((await take({ atOnce: 2 })).job.id).toBe(first.id);
      expect(await env.registry.jobs.lease({ ...LEASE, atOnce: 9 })).toBeNull();
      env.nowMs += 1;
      expect(await env.registry.jobs.lease({ ...LEASE, atOnce: 9 })).not.toBeNull();
    });

    test('those of the service that are done together are taken, kept and let go of together', async () => {
      const subject = (nth: number) => `0190a000-0000-7000-8000-${String(nth).padStart(12, '0')}`;
      const own = (nth: number, dueAtMs = START_MS): ServiceJobFields => ({
        kind: 'fill',
        subjectId: subject(nth),
        parameters: { of: [nth] },
        dueAtMs,
      });
      const source = { consumer: 'hole', partition: 0 };
      // Two of one subject in a batch are one; a thousand subjects are no more than a few statements.
      await env.registry.jobs.gather(
        { ...source, next: 1201 },
        Array.from({ length: 1201 }, (_, nth) => ({ offset: nth, ...own(nth % 1200) })),
        joined,
      );
      await env.registry.jobs.add(own(5000, START_MS + 1), joined);
      const asked = await env.registry.jobs.create(
        { kind: 'fill', userId: anna.id, subjectId: subject(3), parameters: {}, dueAtMs: START_MS + 1_000_000 },
        {
          action: 'recalculated',
          subject: { kind: 'vehicle', id: VAN, name: '' },
          after: {},
          dealerIds: [],
          ownerIds: [],
        },
      );
      const together = { kind: 'fill', max: 700 };
      const first = await env.registry.jobs.leaseTogether(LEASE, together);
      expect(first).toHaveLength(700);
      expect(new Set(first.map(({ job }) => job.subjectId)).size).toBe(700);
      expect(new Set(first.map(({ job }) => job.state))).toEqual(new Set(['running']));
      expect(first[0]?.job.parameters).toEqual({ of: [0, 0] });
      expect(await env.registry.jobs.leaseTogether(LEASE, together)).toEqual([]);
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();
      env.nowMs += 900;
      expect(await env.registry.jobs.renewTogether(first, 1000)).toBe(true);
      env.nowMs += 900;
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();

      const settled = first.map((leased, nth) => ({
        leased,
        outcome:
          nth === 0
            ? ({ state: 'queued', resume: null, dueAtMs: env.nowMs } as const)
            : ({ state: 'done', result: { nth } } as const),
      }));
      // One that waits takes in what is added for its subject, and is due as soon as either is.
      await env.registry.jobs.settleTogether(settled, [own(5000, START_MS), own(6000)], joined);
      expect(await env.registry.jobs.get(first[1]?.job.id as JobId)).toMatchObject({
        state: 'done',
        result: { nth: 1 },
      });
      const second = await env.registry.jobs.leaseTogether(LEASE, { ...together, max: 10_000 });
      expect(second).toHaveLength(503);
      expect(second.find(({ job }) => job.subjectId === subject(5000))?.job.parameters).toEqual({ of: [5000, 5000] });
      expect(second.find(({ job }) => job.subjectId === subject(0))).toMatchObject({ resume: null, attempts: 1 });

      // A worker that did not renew in time has lost them.
      env.nowMs += 1001;
      await take();
      expect(await env.registry.jobs.renewTogether(second, 1000)).toBe(false);
      await env.registry.jobs.settleTogether(
        second.map((leased) => ({ leased, outcome: { state: 'failed', error: 'late' } })),
        [],
        joined,
      );
      const { items } = await env.registry.jobs.list({ state: 'failed' }, ALL);
      expect(items).toEqual([]);
      expect(await stateOf(asked.id)).toBe('queued');
    });

    test('tenants take turns, then the accounts of a tenant; of one tenant only so many are in hand', async () => {
      const newUser = (login: string, more = {}) => env.registry.users.create(userFields(login, more), PASSWORD);
      const dealer = await newUser('dealer', { role: 'dealer' });
      const staff = await newUser('staff', { dealerId: dealer.id });
      const names = new Map([
        [anna.id, 'anna'],
        [dealer.id, 'dealer'],
        [staff.id, 'staff'],
      ]);
      for (const userId of [dealer.id, dealer.id, dealer.id, staff.id, anna.id]) await asked({}, userId);
      const turn = async (more: Partial<typeof LEASE> & { perTenant?: number; withoutTenants?: Set<string> } = {}) => {
        const leased = await env.registry.jobs.lease({ ...LEASE, atOnce: 9, ...more });
        return leased === null ? null : { leased, name: names.get(leased.job.userId ?? dealer.id) };
      };
      const first = await turn();
      expect(first).toMatchObject({ name: 'dealer', leased: { tenant: dealer.id } });
      expect(await turn({ withoutTenants: new Set([anna.id, dealer.id]) })).toBeNull();
      expect((await turn())?.name).toBe('anna');
      expect(await turn({ perTenant: 1 })).toBeNull();
      expect((await turn({ perTenant: 2 }))?.name).toBe('staff');
      expect(await turn({ perTenant: 2 })).toBeNull();
      expect((await turn())?.name).toBe('dealer');
    });

    test('late data of one tenant delay those of another by a turn, and share what is done together', async () => {
      const dealers = [];
      for (const login of ['loud', 'quiet'])
        dealers.push(await env.registry.users.create(userFields(login, { role: 'dealer' }), PASSWORD));
      const [loud, quiet] = dealers;
      if (!loud || !quiet) throw new Error('two were made');
      const vehicleOf = async (dealerId: UserId, nth: number) =>
        (await env.registry.vehicles.create(vehicleFields(`${dealerId} ${nth}`, { dealerId }))).id;
      const late = async (dealerId: UserId, count: number) => {
        for (let nth = 0; nth < count; nth += 1) {
          const subjectId = await vehicleOf(dealerId, nth);
          await env.registry.jobs.add(
            { kind: 'fill', subjectId, parameters: { of: dealerId }, dueAtMs: START_MS },
            joined,
          );
        }
      };
      await late(loud.id, 12);
      await late(quiet.id, 3);
      const leased = await env.registry.jobs.leaseTogether(LEASE, { kind: 'fill', max: 6 });
      const of = (id: UserId) => leased.filter(({ job }) => job.parameters.of === id).length;
      expect(of(quiet.id)).toBeGreaterThanOrEqual(2);
      expect(of(loud.id) + of(quiet.id)).toBe(6);
    });

    test('one that gives its turn away goes on where it was, after the others', async () => {
      const [long, short] = [await asked(), await asked({ dueAtMs: START_MS })];
      env.nowMs += 5;
      const leased = await take();
      expect(leased.job.id).toBe(long.id);
      await env.registry.jobs.settle(leased, { state: 'queued', resume: { at: 4 }, dueAtMs: env.nowMs });
      const other = await take();
      expect(other.job.id).toBe(short.id);
      await env.registry.jobs.settle(other, { state: 'done', result: {} });
      expect(await take()).toMatchObject({ job: { id: long.id, startedAtMs: START_MS + 5 }, resume: { at: 4 } });
    });

    test('what a process that died had in hand is taken up by another, once, where it was', async () => {
      const { id } = await asked();
      const dead = await take();
      await env.registry.jobs.renew(dead, 1000, HALFWAY, { at: 3 });
      env.nowMs += 999;
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();
      env.nowMs += 1;
      const heir = await take();
      expect(heir).toMatchObject({ job: { id, progress: HALFWAY }, resume: { at: 3 } });
      // The dead one was only slow: it learns that the job is another's, and changes nothing.
      expect(await env.registry.jobs.renew(dead, 1000, { percent: 99, positions: 99 }, { at: 9 })).toBe('lost');
      expect(await env.registry.jobs.settle(dead, { state: 'done', result: {} })).toBe(false);
      expect(await env.registry.jobs.get(id)).toMatchObject({ state: 'running', progress: HALFWAY });
      expect(await env.registry.jobs.settle(heir, { state: 'done', result: {} })).toBe(true);
    });

    test('one that every process dies over is given up, one that gets further is not', async () => {
      const { id } = await asked();
      for (let died = 0; died < 8; died++) {
        const leased = await take();
        await env.registry.jobs.renew(leased, 1000, HALFWAY, { at: died });
        env.nowMs += 1000;
      }
      for (let died = 0; died < 4; died++) {
        await take();
        env.nowMs += 1000;
      }
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();
      expect(await env.registry.jobs.get(id)).toMatchObject({ state: 'failed', finishedAtMs: env.nowMs });
    });

    test('is called off at once while it waits, and when its holder asks while it runs', async () => {
      const waiting = await asked({ dueAtMs: START_MS + 1 });
      expect(await env.registry.jobs.cancel(waiting.id)).toMatchObject({ state: 'cancelled', finishedAtMs: START_MS });
      const { id } = await asked();
      const leased = await take();
      expect(await env.registry.jobs.cancel(id)).toMatchObject({ state: 'running' });
      expect(await env.registry.jobs.renew(leased, 1000, HALFWAY, null)).toBe('cancel');
      await env.registry.jobs.settle(leased, { state: 'cancelled' });
      expect(await stateOf(id)).toBe('cancelled');
      // Over is over.
      expect(await env.registry.jobs.cancel(id)).toMatchObject({ state: 'cancelled' });
      const done = await asked();
      const other = await take();
      await env.registry.jobs.settle(other, { state: 'done', result: {} });
      expect(await env.registry.jobs.cancel(done.id)).toMatchObject({ state: 'done' });
      await expect(env.registry.jobs.cancel('0190a000-0000-7000-8000-0000000000ff' as JobId)).rejects.toThrow(
        NotFoundError,
      );
    });

    test('one whose holder died is not taken up again where it was called off', async () => {
      const { id } = await asked();
      await take();
      await env.registry.jobs.cancel(id);
      env.nowMs += 1000;
      expect(await env.registry.jobs.lease(LEASE)).toBeNull();
      expect(await stateOf(id)).toBe('cancelled');
    });

    test('of one user only so many are open', async () => {
      for (let nth = 0; nth < MAX_OPEN_JOBS_PER_USER; nth++) await asked();
      await expect(asked()).rejects.toThrow(TooManyJobsError);
      await env.registry.jobs.settle(await take(), { state: 'done', result: {} });
      await asked();
    });

    test('lists are by user, kind and state, the newest first', async () => {
      const [a, b] = [await asked(), await asked({ kind: 'fill' })];
      await env.registry.jobs.add({ kind: 'dig', subjectId: VAN, parameters: {}, dueAtMs: START_MS + 9 }, joined);
      const ids = async (filter: Parameters<Registry['jobs']['list']>[0]) =>
        (await env.registry.jobs.list(filter, ALL)).items.map(({ id }) => id);
      expect(await ids({ userId: anna.id })).toEqual([b.id, a.id]);
      expect(await ids({ kind: 'fill' })).toEqual([b.id]);
      expect(await ids({})).toHaveLength(3);
      await take();
      expect(await ids({ state: 'running' })).toEqual([a.id]);
      const page = await env.registry.jobs.list({ userId: anna.id }, { limit: 1, after: null });
      expect(page).toMatchObject({ items: [{ id: b.id }], next: b.id });
      expect((await env.registry.jobs.list({ userId: anna.id }, { limit: 1, after: page.next })).items).toMatchObject([
        { id: a.id },
      ]);
    });

    test('the service’s own are put together while they wait, and taken from a log once', async () => {
      const from = (offset: number, subjectId = VAN) => ({
        offset,
        kind: 'dig',
        subjectId,
        parameters: { of: offset },
        dueAtMs: START_MS,
      });
      const consumer = { consumer: 'digger', partition: 2 };
      await env.registry.jobs.gather({ ...consumer, next: 3 }, [from(1), from(2), from(2, 'another')], joined);
      await env.registry.jobs.gather({ ...consumer, next: 3 }, [from(1), from(2)], joined);
      await env.registry.jobs.gather({ ...consumer, next: 5 }, [from(2), from(4)], joined);
      expect(await env.registry.jobs.places('digger')).toEqual(new Map([[2, { offset: 5, identity: null }]]));
      await env.registry.jobs.setPlace('digger', 2, 'log', null);
      expect(await env.registry.jobs.places('digger')).toEqual(new Map([[2, { offset: 5, identity: 'log' }]]));
      const { items } = await env.registry.jobs.list({}, ALL);
      expect(items.map(({ subjectId, parameters, userId }) => [subjectId, parameters.of, userId])).toEqual([
        ['another', 2, null],
        [VAN, [1, 2, 4], null],
      ]);
      // One that is in hand is done as it was asked for: what comes then is another.
      await take();
      await env.registry.jobs.gather({ ...consumer, next: 6 }, [from(5)], joined);
      expect((await env.registry.jobs.list({}, ALL)).items).toHaveLength(3);
      expect(await env.registry.jobs.places('digger')).toEqual(new Map([[2, { offset: 6, identity: 'log' }]]));
      // In another log offsets begin anew.
      await env.registry.jobs.setPlace('digger', 2, 'another log', 0);
      await env.registry.jobs.gather({ ...consumer, next: 1 }, [from(0, 'after')], joined);
      expect((await env.registry.jobs.list({}, ALL)).items).toHaveLength(4);
    });

    test('is forgotten some time after its end, and not before', async () => {
      const { id } = await asked();
      await asked({ dueAtMs: START_MS + 9 });
      await env.registry.jobs.settle(await take(), { state: 'done', result: {} });
      expect(await env.registry.jobs.clean(START_MS, 10)).toBe(0);
      expect(await env.registry.jobs.clean(START_MS + 1, 10)).toBe(1);
      expect(await env.registry.jobs.get(id)).toBeNull();
      expect((await env.registry.jobs.list({}, ALL)).items).toHaveLength(1);
    });
  });
}
