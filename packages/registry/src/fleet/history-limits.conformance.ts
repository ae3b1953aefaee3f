import type { EventId, FleetEvent, Role, UserId, VehicleId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { ERASE_HISTORY, type LeasedJob, RETENTION, TooManyJobsError } from '../index.ts';
import { type Place, registryPerTest, START_MS } from '../test-registry.fixture.ts';
import { ALL, PASSWORD, ruleFields, userFields, vehicleFields } from './fields.fixture.ts';

const DAY_MS = 86_400_000;
const TODAY_MS = Math.floor(START_MS / DAY_MS) * DAY_MS;

/** What every adapter of the registry promises of limits of histories. */
export function historyLimitsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`limits of histories on ${name}`, () => {
    const env = registryPerTest(newPlace);

    const addVehicle = async (vehicle: string) => (await env.registry.vehicles.create(vehicleFields(vehicle))).id;
    const addUser = async (login: string) => (await env.registry.users.create(userFields(login), PASSWORD)).id;
    const request = (vehicleId: VehicleId, beforeMs: number, userId: UserId) =>
      env.registry.historyLimits.request({ vehicleId, beforeMs }, userId, {
        action: 'history-erased',
        subject: { kind: 'vehicle', id: vehicleId, name: 'Van' },
        after: { before: beforeMs },
        dealerIds: [],
        ownerIds: [],
      });

    async function notify(owner: UserId, vehicleId: VehicleId, startedAtMs: number, offset: number): Promise<void> {
      const rule = await env.registry.notificationRules.create(ruleFields(`Rule ${offset}`, owner), null);
      const id = `00000000-0000-8000-8000-00000000000${offset}` as EventId;
      const event = { id, vehicleId, phase: 'begin', startedAtMs } as FleetEvent;
      const draft = { offset, rule, event, vehicleName: 'Van', geofenceName: null };
      await env.registry.notifications.record({ consumer: 'test', partition: 0, next: offset + 1, drafts: [draft] });
    }

    test('a request raises the limit with its job and a line in the trail; a limit never falls', async () => {
      const [anna, van] = [await addUser('anna'), await addVehicle('Van')];
      const job = await request(van, 5000, anna);
      expect(job).toMatchObject({ kind: ERASE_HISTORY, userId: anna, subjectId: van, parameters: { beforeMs: 5000 } });
      await request(van, 4000, anna);
      expect(await env.registry.historyLimits.of([van])).toEqual([{ vehicleId: van, beforeMs: 5000 }]);
      expect(await env.registry.historyLimits.latestAfter([van], 4999)).toBe(5000);
      expect(await env.registry.historyLimits.latestAfter([van], 5000)).toBeNull();
      const trail = (await env.registry.audit.list({ subjectId: van }, ALL)).items;
      expect(trail.map(({ action }) => action)).toEqual(['history-erased', 'history-erased', 'created']);
      for (let open = 2; open < 20; open++) await request(van, 4000, anna);
      await expect(request(van, 9000, anna)).rejects.toThrow(TooManyJobsError);
      expect(await env.registry.historyLimits.of([van])).toEqual([{ vehicleId: van, beforeMs: 5000 }]);
    });

    test('groups limit their vehicles in whole days: of several the shortest counts, and what was erased stays so', async () => {
      const { groups, historyLimits } = env.registry;
      const [short, long, none] = [
        await groups.create({ name: 'Short', dealerId: null, retentionDays: 10 }),
        await groups.create({ name: 'Long', dealerId: null, retentionDays: 400 }),
        await groups.create({ name: 'None', dealerId: null }),
      ];
      expect(await groups.get(short.id)).toMatchObject({ retentionDays: 10 });
      const [one, two, free] = [await addVehicle('One'), await addVehicle('Two'), await addVehicle('Free')];
      await groups.changeVehicles(short.id, { add: [one], remove: [] });
      await groups.changeVehicles(long.id, { add: [one, two], remove: [] });
      await groups.changeVehicles(none.id, { add: [two, free], remove: [] });
      await historyLimits.raiseByRetention();
      expect(await historyLimits.page('', 10)).toEqual([
        { vehicleId: one, beforeMs: TODAY_MS - 10 * DAY_MS },
        { vehicleId: two, beforeMs: TODAY_MS - 400 * DAY_MS },
      ]);
      expect(await historyLimits.page(one, 10)).toHaveLength(1);
      await groups.update(short.id, null, { retentionDays: null });
      env.nowMs += DAY_MS;
      await historyLimits.raiseByRetention();
      const ofThem = new Map(
        (await historyLimits.of([one, two, free])).map(({ vehicleId, beforeMs }) => [vehicleId, beforeMs]),
      );
      expect(ofThem).toEqual(
        new Map([
          [one, TODAY_MS - 10 * DAY_MS],
          [two, TODAY_MS - 399 * DAY_MS],
        ]),
      );
    });

    test('an owner limits its whole fleet: with groups the shortest counts, and other fleets are not touched', async () => {
      const { historyLimits, groups, users, vehicles } = env.registry;
      const account = (login: string, role: Role, dealerId: UserId | null = null) =>
        users.create(userFields(login, { role, dealerId }), PASSWORD);
      const [dealer, other] = [await account('dealer', 'dealer'), await account('other', 'dealer')];
      const [operator, anna] = [await account('boss', 'operator'), await account('anna', 'user', dealer.id)];
      const of = async (name: string, dealerId: UserId | null) =>
        (await vehicles.create(vehicleFields(name, { dealerId }))).id;
      const [plain, grouped] = [await of('Plain', dealer.id), await of('Grouped', dealer.id)];
      const [others, own] = [await of('Other', other.id), await of('Own', null)];
      const short = await groups.create({ name: 'Short', dealerId: dealer.id, retentionDays: 10 });
      const long = await groups.create({ name: 'Long', dealerId: dealer.id, retentionDays: 900 });
      await groups.setVehicle(short.id, grouped, true);
      await groups.setVehicle(long.id, plain, true);
      await historyLimits.setFleetRetention(dealer, 30);
      const kept = await Promise.all([dealer, anna, other, operator].map((user) => historyLimits.fleetRetention(user)));
      expect(kept).toEqual([30, 30, null, null]);
      const daysKept = async () => {
        const found = new Map<string, number>();
        for (const { vehicleId, beforeMs } of await historyLimits.page('', 10))
          found.set(vehicleId, (TODAY_MS - beforeMs) / DAY_MS);
        return [plain, grouped, others, own].map((id) => found.get(id));
      };
      await historyLimits.raiseByRetention();
      expect(await daysKept()).toEqual([30, 10, undefined, undefined]);
      await historyLimits.setFleetRetention(operator, 60);
      await historyLimits.setFleetRetention(dealer, 5);
      await historyLimits.raiseByRetention();
      expect(await daysKept()).toEqual([5, 5, undefined, 60]);
      const trail = async () => (await env.registry.audit.list({ subjectId: dealer.id }, ALL)).items;
      const [line] = await trail();
      const [before, after] = [{ fleetRetentionDays: 30 }, { fleetRetentionDays: 5 }];
      expect(line).toMatchObject({ action: 'changed', before, after });
      // The same again is no change.
      await historyLimits.setFleetRetention(dealer, 5);
      expect((await trail())[0]?.id).toBe(line?.id);
      // The vehicles of a deleted dealer are the operator's, and are kept as its others from then on; groups hold on.
      await users.delete(dealer.id, null);
      env.nowMs += 70 * DAY_MS;
      await historyLimits.raiseByRetention();
      expect(await daysKept()).toEqual([-10, -60, undefined, -10]);
    });

    test('no job is planned where nothing limits a history', async () => {
      const { historyLimits, groups, users } = env.registry;
      const van = await addVehicle('Van');
      const group = await groups.create({ name: 'Pool', dealerId: null, retentionDays: 10 });
      const dealer = await users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
      await historyLimits.setFleetRetention(dealer, 10);
      // Neither has a vehicle.
      expect(await historyLimits.planRetention()).toBe(false);
      expect((await env.registry.jobs.list({ kind: RETENTION }, ALL)).items).toEqual([]);
      await groups.setVehicle(group.id, van, true);
      expect(await historyLimits.planRetention()).toBe(true);
    });

    test.each(['a fleet', 'an erasure that was asked for'])('the job is planned for %s', async (what) => {
      const { historyLimits, users } = env.registry;
      const van = await addVehicle('Van');
      expect(await historyLimits.planRetention()).toBe(false);
      if (what === 'a fleet') {
        const operator = await users.create(userFields('boss', { role: 'operator' }), PASSWORD);
        await historyLimits.setFleetRetention(operator, 10);
      } else await request(van, 5000, await addUser('anna'));
      expect(await historyLimits.planRetention()).toBe(true);
      expect(await historyLimits.planRetention()).toBe(false);
    });

    test('the job of a day is planned once, and not while another one runs', async () => {
      const { historyLimits, jobs } = env.registry;
      await request(await addVehicle('Van'), 5000, await addUser('anna'));
      expect([await historyLimits.planRetention(), await historyLimits.planRetention()]).toEqual([true, false]);
      const take = () => jobs.lease({ kinds: [RETENTION], leaseMs: 60_000, atOnce: 1 });
      const leased = (await take()) as LeasedJob;
      env.nowMs += DAY_MS;
      expect(await historyLimits.planRetention()).toBe(false);
      expect(await jobs.settle(leased, { state: 'done', result: {} })).toBe(true);
      expect(await historyLimits.planRetention()).toBe(true);
    });

    test('notifications before a limit go from all inboxes, those of one vehicle by their events as well', async () => {
      const [anna, van, other] = [await addUser('anna'), await addVehicle('Van'), await addVehicle('Other')];
      await notify(anna, van, env.nowMs - 5000, 1);
      await notify(anna, van, env.nowMs + 5000, 2);
      await notify(anna, other, env.nowMs - 5000, 3);
      const { historyLimits } = env.registry;
      const limit = { vehicleId: van, beforeMs: env.nowMs };
      expect(await historyLimits.counts(limit)).toEqual({ videos: 0, notifications: 1 });
      const ofOther = { vehicleId: other, beforeMs: env.nowMs };
      expect(await historyLimits.removeNotifications([limit, ofOther], 10)).toBe(0);
      expect(await historyLimits.removeNotifications([limit], 10)).toBe(1);
      expect(await historyLimits.counts(limit)).toEqual({ videos: 0, notifications: 0 });
      const later = { ...ofOther, beforeMs: env.nowMs + 1 };
      expect(await historyLimits.removeNotifications([limit, later], 10)).toBe(1);
      const { items } = await env.registry.inboxes.list(anna, {}, { limit: 10, after: null });
      expect(items.map(({ event }) => event.vehicleId)).toEqual([van]);
    });

    test('a file of a report goes that may hold what was before the limit, and was made before it was asked for', async () => {
      const [anna, van] = [await addUser('anna'), await addVehicle('Van')];
      const fileOf = async (fromMs: number | null) => {
        const note = { action: 'report-requested', after: null, dealerIds: [], ownerIds: [] } as const;
        const fields = { kind: 'report', userId: anna, subjectId: null, parameters: { fromMs }, dueAtMs: 0 };
        await env.registry.jobs.create(fields, { ...note, subject: { kind: 'user', id: anna, name: 'anna' } });
        const leased = await env.registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 9 });
        if (leased === null) throw new Error('there is no job to be had');
        const id = `report-${leased.lease}.csv`;
        const about = {
          name: 'r.csv',
          mediaType: 'text/csv',
          bytes: 1,
          sha256: 'ab',
          vehicleIds: [van],
          geofenceIds: [],
        };
        await env.registry.reportFiles.finish(leased, { rows: 0 }, { id, ...about });
        return id;
      };
      const old = await fileOf(1000);
      await fileOf(9000);
      await fileOf(null);
      const found = await env.registry.historyLimits.reportFiles({ vehicleId: van, beforeMs: 5000 }, env.nowMs + 1, 10);
      expect(found.map(({ id }) => id)).toEqual([old]);
      expect(await env.registry.historyLimits.reportFiles({ vehicleId: van, beforeMs: 5000 }, env.nowMs, 10)).toEqual(
        [],
      );
    });

    test('counters are not counted again from before the limit', async () => {
      const van = await addVehicle('Van');
      const { counters, historyLimits } = env.registry;
      const sums = { odometerM: 5000, engineMs: 0, custom: {} };
      const counted = {
        ...{ vehicleId: van, revision: 0, contactAtMs: 1, throughMs: 300, state: '"now"', sums, first: sums },
        ...{ fromMs: 0, isRecount: false, marks: [] },
      };
      const days = [100, 200].map((throughMs) => ({ throughMs, state: `"${throughMs}"` }));
      await counters.save([{ ...counted, days }]);
      await counters.outdate(van, 120);
      const anna = await addUser('anna');
      await request(van, 150, anna);
      const limits = await historyLimits.of([van]);
      expect(await historyLimits.beingCounted(limits)).toEqual(new Set([van]));
      expect(await historyLimits.beingCounted([{ vehicleId: van, beforeMs: 100 }])).toEqual(new Set());
      await historyLimits.cutCounters(limits);
      expect([await counters.dayBefore(van, 120), await counters.dayBefore(van, 250)]).toEqual(['"200"', '"200"']);
      expect(await counters.days(van)).toEqual({ states: ['"200"'], isCut: true });
      await historyLimits.cutCounters([{ vehicleId: van, beforeMs: 250 }]);
      expect(await counters.dayBefore(van, 120)).toBe('"now"');
      await env.registry.vehicles.delete(van, null, 0);
      await env.registry.erasures.removeRest({ vehicleIds: [van], userIds: [] });
      expect(await historyLimits.of([van])).toEqual([]);
    });
  });
}
