import type { MaintenanceSpan, SensorFields, ServiceFileId, User, VehicleId } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CountedOn, KeptState } from '../index.ts';
import { ConflictError, NotFoundError, QuotaExceededError, StaleVersionError, TooManyError } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ALL, PASSWORD, userFields, vehicleFields } from './fields.fixture.ts';

const NOTHING: MaintenanceSpan = { distanceM: null, engineMs: null, days: null, counter: null };

/** What every adapter of the registry promises of counters and maintenance. */
export function maintenanceConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`counters and maintenance on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let dealer: User;
    let van: VehicleId;
    beforeEach(async () => {
      dealer = await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
      van = (await env.registry.vehicles.create(vehicleFields('Van', { dealerId: dealer.id }))).id;
    });
    const counted = (revision: number, odometerM: number, more: Partial<CountedOn> = {}): CountedOn => ({
      vehicleId: van,
      revision,
      contactAtMs: 1,
      throughMs: env.nowMs,
      state: '{}',
      sums: { odometerM, engineMs: 60_000, custom: {} },
      first: { odometerM: 1000, engineMs: 0, custom: {} },
      days: [],
      fromMs: 0,
      isRecount: false,
      marks: [],
      ...more,
    });
    const shown = async () => (await env.registry.counters.of([van]))[0];
    const correct = (value: number, atMs: number) =>
      env.registry.counters.correct({
        ...{ vehicleId: van, counter: 'odometer', value, atMs },
        ...{ note: null, createdBy: dealer.id },
      });
    const plan = (more: object = {}) =>
      env.registry.maintenance.createPlan({
        ...{ name: 'Oil', description: null, dealerId: dealer.id, vehicleId: van, groupId: null, counterName: null },
        ...{ every: { ...NOTHING, days: 30 }, warning: NOTHING, ...more },
      });
    const service = (more: object = {}) =>
      env.registry.serviceRecords.add({
        ...{ vehicleId: van, planId: null, title: 'Brakes', atMs: env.nowMs, odometerM: null, engineMs: null },
        ...{ cost: { amountMinor: 18_450, currency: 'EUR' }, note: null, createdBy: dealer.id, ...more },
      });

    test('what was counted is stored where nothing changed since it was read', async () => {
      const { counters } = env.registry;
      expect(await counters.save([counted(0, 5000)])).toEqual([van]);
      expect(await counters.save([counted(0, 6000)])).toEqual([]);
      expect(await shown()).toMatchObject({ odometerM: 6000, engineMs: 60_000, settled: true });
      expect(await counters.save([counted(1, 7000, { days: [{ throughMs: 10, state: '{"day":1}' }] })])).toEqual([van]);
      expect([await counters.dayBefore(van, 11), await counters.dayBefore(van, 10)]).toEqual(['{"day":1}', null]);
      expect(await counters.days(van)).toEqual({ states: ['{"day":1}'], isCut: false });
      await counters.outdate(van, 5);
      expect(await counters.stale(10)).toEqual([van]);
      expect(await shown()).toMatchObject({ settled: false });
      expect(await counters.save([counted(2, 8000)])).toEqual([]);
      const [kept] = await counters.kept([van]);
      expect(kept).toMatchObject({ revision: 3, staleFromMs: 5, epoch: 1 });
      expect(await counters.save([counted(3, 8000, { isRecount: true })])).toEqual([van]);
      expect(await counters.days(van)).toEqual({ states: [], isCut: false });
      // What is newer than all that was counted changes nothing of it.
      await counters.outdate(van, env.nowMs);
      expect(await counters.stale(10)).toEqual([]);
    });

    test('a counter goes on from its newest correction, whose sum is filled in; it is taken back', async () => {
      const { counters } = env.registry;
      await counters.save([counted(0, 5000)]);
      const atMs = env.nowMs - 1000;
      const { id } = await correct(90_000, atMs);
      expect(await counters.marksOf([van])).toEqual(new Map([[van, [atMs]]]));
      const [kept] = await counters.kept([van]);
      const marks = [{ atMs, sums: { odometerM: 4000, engineMs: 0, custom: {} } }];
      await counters.save([counted(kept?.revision ?? 0, 5000, { marks })]);
      expect(await shown()).toMatchObject({ odometerM: 91_000 });
      expect(await counters.corrections(van)).toMatchObject([{ id, value: 90_000, sum: 4000, createdBy: dealer.id }]);
      await counters.removeCorrection(van, id);
      expect(await shown()).toMatchObject({ odometerM: 6000 });
      await expect(counters.removeCorrection(van, id)).rejects.toThrow(NotFoundError);
    });

    test('custom counters: bounded, of one name each, shown with what was counted and read, and erased with the vehicle', async () => {
      const { counters, customCounters, erasures, vehicles } = env.registry;
      const wish = { name: 'Crane', unit: 'h', source: 'manual', sensorId: null } as const;
      const made = await customCounters.create(van, wish);
      expect(made).toMatchObject({ version: 1, startsAtMs: env.nowMs, terms: [{ fromMs: env.nowMs, sensor: null }] });
      expect((await customCounters.of([van])).get(van)).toEqual([made]);
      await expect(customCounters.create(van, { ...wish, name: 'CRANE' })).rejects.toThrow(ConflictError);
      const kept = (await counters.kept([van]))[0];
      await counters.save([
        counted(kept?.revision ?? 0, 5000, {
          sums: { odometerM: 5000, engineMs: 0, custom: { [made.id]: 4 } },
          first: { odometerM: 0, engineMs: 0, custom: { [made.id]: 100 } },
        }),
      ]);
      const value = async () => (await shown())?.custom.map((each) => [each.name, each.value]);
      expect(await value()).toEqual([['Crane', 104]]);
      await counters.correct({
        ...{ vehicleId: van, counter: made.id, value: 50, atMs: env.nowMs, note: null, createdBy: dealer.id },
      });
      expect(await value()).toEqual([['Crane', 50]]);
      const epochs = (await counters.kept([van])).map(({ epoch }) => epoch);
      expect(epochs).toEqual([(kept?.epoch ?? 0) + 1]);

      await expect(customCounters.change(van, made.id, 7, { name: 'Lift' })).rejects.toThrow(StaleVersionError);
      const named = await plan({ counterName: 'crane', every: { ...NOTHING, counter: 10 } });
      expect(await customCounters.change(van, made.id, 1, { name: 'Lift' })).toMatchObject({
        version: 2,
        name: 'Lift',
      });
      expect(await env.registry.maintenance.plan(named.id)).toMatchObject({
        ...{ counterName: 'Lift', version: 2, changedAtMs: named.changedAtMs, every: { ...NOTHING, counter: 10 } },
      });
      for (let nth = 2; nth <= 10; nth++) await customCounters.create(van, { ...wish, name: `Counter ${nth}` });
      await expect(customCounters.create(van, { ...wish, name: 'One more' })).rejects.toThrow(TooManyError);
      await customCounters.remove(van, made.id, 2);
      expect(await counters.corrections(van)).toEqual([]);
      await expect(customCounters.remove(van, made.id, null)).rejects.toThrow(NotFoundError);
      await vehicles.delete(van, null);
      await erasures.removeRest({ vehicleIds: [van], userIds: [] });
      expect(await customCounters.of([van])).toEqual(new Map());
    });

    test('a counter goes by its sensor as it is from then on, and by none once it is deleted', async () => {
      const { counters, customCounters, vehicles } = env.registry;
      const sensor: SensorFields = {
        ...{ name: 'Pulses', kind: 'custom', unit: '', source: 'io1', calibration: [], outside: 'extrapolate' },
        ...{ validMin: null, validMax: null, onlyWithIgnition: false, smoothing: 1, thresholds: [] },
      };
      const { sensors } = await vehicles.update(van, null, { sensors: [sensor] });
      const sensorId = sensors[0]?.id ?? null;
      const startsAtMs = env.nowMs - 60_000;
      await counters.save([counted(0, 5000)]);
      await customCounters.create(van, { name: 'A', unit: '', source: 'sensor-total', sensorId, startsAtMs });
      // What was counted from there on is counted anew.
      expect(await counters.kept([van])).toMatchObject([{ staleFromMs: startsAtMs - 1 }]);
      const sources = async () =>
        (await customCounters.of([van])).get(van)?.[0]?.terms.map(({ fromMs, sensor: of }) => [fromMs, of?.source]);
      const first = [startsAtMs, 'io1'];
      expect(await sources()).toEqual([first]);
      const write = (more: object) => vehicles.update(van, null, { sensors: [{ ...sensor, id: sensorId, ...more }] });
      env.nowMs += 1000;
      await write({ name: 'Renamed', unit: 'kg' });
      expect(await sources()).toEqual([first]);
      env.nowMs += 1000;
      const revision = (await counters.kept([van]))[0]?.revision;
      await write({ source: 'io2' });
      expect(await sources()).toEqual([first, [env.nowMs, 'io2']]);
      expect((await counters.kept([van]))[0]?.revision).toBe((revision ?? 0) + 1);
      env.nowMs += 1000;
      await vehicles.writeAll([{ id: van, expectedVersion: null, patch: { sensors: [] } }], false);
      expect((await sources())?.at(-1)).toEqual([env.nowMs, undefined]);
      for (let nth = 0; nth < 20; nth++) {
        env.nowMs += 1000;
        await write({ source: `io${nth}` });
      }
      const all = await sources();
      expect([all?.length, all?.[0]?.[0], all?.at(-1)]).toEqual([12, startsAtMs, [env.nowMs, 'io19']]);
    });

    test('a plan is changed with its version; what it goes by has a time of its own', async () => {
      const { maintenance } = env.registry;
      const made = await plan();
      expect(await maintenance.plan(made.id)).toEqual(made);
      env.nowMs += 1000;
      const renamed = await maintenance.updatePlan(made.id, 1, { name: 'Oil and filter' });
      expect(renamed).toMatchObject({ version: 2, changedAtMs: made.changedAtMs });
      await expect(maintenance.updatePlan(made.id, 1, {})).rejects.toThrow(StaleVersionError);
      const every = { ...NOTHING, days: 60 };
      expect(await maintenance.updatePlan(made.id, 2, { every })).toMatchObject({ changedAtMs: env.nowMs });
      const record = await service({ planId: made.id });
      await maintenance.deletePlan(made.id, null);
      expect(await maintenance.plans()).toEqual([]);
      expect(await env.registry.serviceRecords.get(record.id)).toMatchObject({ planId: null, cost: record.cost });
    });

    test('a plan is counted from the newest service, and states wait until their events are sent', async () => {
      const { maintenance } = env.registry;
      const made = await plan();
      const base = async () => (await maintenance.basesOf(made, [van])).get(van);
      expect(await base()).toMatchObject({ key: made.id, sinceMs: made.startsAtMs, sums: { odometerM: 0 } });
      env.nowMs += 1000;
      const { id } = await service({ planId: made.id, odometerM: 120_000 });
      expect(await base()).toMatchObject({ key: id, sinceMs: env.nowMs, read: { odometerM: 120_000, engineMs: null } });
      const state = {
        ...{ planId: made.id, vehicleId: van, stage: 'due', share: 0, unsent: [{}], written: [], removed: [] },
        ...{ left: NOTHING, counterUnit: null, published: [{ id: 'a' }], sentIds: ['a', 'b'] },
      } as unknown as KeptState;
      await maintenance.saveStates([state]);
      expect(await maintenance.unsent(10)).toEqual([state]);
      const { sentIds, ...stored } = state;
      await maintenance.saveStates([{ ...stored, unsent: [] } as unknown as KeptState]);
      expect(await maintenance.unsent(10)).toEqual([]);
      // An earlier release stored no ids of what was sent.
      expect(await maintenance.states({ vehicleIds: [van] })).toMatchObject([{ sentIds: ['a'] }]);
      expect(await maintenance.plansWithStates()).toEqual([made.id]);
      await maintenance.saveStates([], [state]);
      expect(await maintenance.states({ vehicleIds: [van] })).toEqual([]);
    });

    test('services by page and by time, with what they were paid in', async () => {
      const first = await service();
      env.nowMs += 1000;
      const second = await service({ cost: { amountMinor: 100, currency: 'USD' }, atMs: env.nowMs });
      await service({ cost: { amountMinor: 100, currency: 'USD' }, atMs: env.nowMs });
      expect((await env.registry.serviceRecords.list([van], ALL)).items).toHaveLength(3);
      const page = await env.registry.serviceRecords.list([van], { limit: 1, after: null });
      expect(page.next).not.toBeNull();
      const before = await env.registry.serviceRecords.between([van], first.atMs, second.atMs);
      expect(before.map(({ id }) => id)).toEqual([first.id]);
      expect(await env.registry.serviceRecords.currencyOf([van], 0, env.nowMs + 1)).toBe('USD');
      expect(await env.registry.serviceRecords.currencyOf([van], 0, first.atMs)).toBeNull();
    });

    test('files are bounded, counted as stored bytes, and erased with the vehicle', async () => {
      const { quotas, erasures } = env.registry;
      const { id } = await service();
      const file = (nth: number, bytes = 10) => ({
        ...{ id: `0190a000-0000-4000-8000-0000000000${10 + nth}` as ServiceFileId, name: 'a.pdf', bytes },
        ...{ mediaType: 'application/pdf' as const, sha256: 'ab' },
      });
      for (let nth = 0; nth < 10; nth++) await env.registry.serviceRecords.addFile(id, file(nth), dealer.id);
      await expect(env.registry.serviceRecords.addFile(id, file(10), dealer.id)).rejects.toThrow(TooManyError);
      for (const scope of ['account', 'dealer'] as const)
        expect(await quotas.use(dealer.id, scope, 'storageBytes')).toMatchObject({ used: 100 });
      await env.registry.serviceRecords.removeFile(id, file(0).id);
      expect(await env.registry.serviceRecords.file(id, file(0).id)).toBeNull();
      await expect(env.registry.serviceRecords.addFile(id, file(0, 10 ** 13), dealer.id)).rejects.toThrow(
        QuotaExceededError,
      );
      expect([...(await env.registry.serviceRecords.knownFiles([file(0).id, file(1).id]))]).toEqual([file(1).id]);
      await env.registry.vehicles.delete(van, null);
      const files = await erasures.serviceFiles([van], 100);
      expect(files).toHaveLength(9);
      await erasures.forgetServiceFiles(files);
      await erasures.removeRest({ vehicleIds: [van], userIds: [] });
      expect(await env.registry.serviceRecords.get(id)).toBeNull();
    });
  });
}
