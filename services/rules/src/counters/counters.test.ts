import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  COUNTERS_CHANNEL,
  type CountersNews,
  Directory,
  type FleetEvent,
  type MaintenanceDue,
  type MaintenanceSpan,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { type CounterRecord, type CounterState, countOn, freshCounters } from '@outrider/engine';
import { MemoryHub } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { Metrics } from '@outrider/runtime';
import { runs } from '@outrider/testing';
import { clockAt } from '@outrider/testing/clock';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CountedHistory, countVehicles } from './counting.ts';
import { createCounterKeeper } from './keeper.ts';

const T0 = Date.UTC(2026, 2, 1, 20);
const DAY_MS = 86_400_000;
const OPERATOR = '00000000-0000-7000-8000-0000000000aa' as UserId;
const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

let folder: string;
let registry: Registry;
let nowMs = T0;
let made = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counters-'));
  registry = await openTestRegistry({ path: join(folder, 'registry.sqlite'), now: () => nowMs });
});
afterAll(async () => {
  await registry.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  nowMs = T0;
});
const newVehicle = (): Promise<Vehicle> => registry.vehicles.create(sampleVehicleFields({ name: `Van ${++made}` }));

/** The archive in memory: records of one fix time in the order in which they came. */
class Archive implements CountedHistory {
  readonly #replaced = new Map<string, FleetEvent | null>();
  readonly #records = new Map<VehicleId, CounterRecord[]>();
  readonly pageRecords: number;
  constructor(pageRecords = 1500) {
    this.pageRecords = pageRecords;
  }
  put(vehicleId: VehicleId, record: CounterRecord): void {
    const records = [...(this.#records.get(vehicleId) ?? []), record];
    this.#records.set(
      vehicleId,
      records.toSorted((a, b) => a.fixTimeMs - b.fixTimeMs),
    );
  }
  async replaceEvents({ written, removed }: { written: readonly FleetEvent[]; removed: readonly FleetEvent[] }) {
    for (const { id } of removed) this.#replaced.set(id, null);
    for (const event of written) this.#replaced.set(event.id, event);
  }
  /** What the archive shows of events that were published. */
  eventsOf(vehicleId: VehicleId, published: readonly FleetEvent[]): FleetEvent[] {
    const events = new Map<string, FleetEvent | null>();
    for (const event of published)
      if (event.vehicleId === vehicleId && (event.phase === 'end' || events.get(event.id)?.phase !== 'end'))
        events.set(event.id, event);
    for (const [id, event] of this.#replaced)
      if (event === null || event.vehicleId === vehicleId) events.set(id, event);
    return [...events.values()].filter((event) => event !== null).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  }
  async countedTracks(questions: readonly { vehicleId: VehicleId; afterMs: number }[]) {
    return questions.map(({ vehicleId, afterMs }) => {
      const all = (this.#records.get(vehicleId) ?? []).filter(({ fixTimeMs }) => fixTimeMs > afterMs);
      const lastMs = all[this.pageRecords - 1]?.fixTimeMs ?? Number.POSITIVE_INFINITY;
      const positions = all.filter(({ fixTimeMs }) => fixTimeMs <= lastMs);
      return { positions, hasMore: positions.length < all.length };
    });
  }
}

const recordAt = (second: number, fields: Partial<CounterRecord> = {}): CounterRecord => ({
  ...blankPosition(T0 + second * 1000, 50 + second / 100_000, 10),
  receivedAtMs: T0 + second * 1000 + 500,
  valid: true,
  rejection: null,
  speedKmh: 40,
  ignition: true,
  odometerM: null,
  terminalId: '1',
  attributes: null,
  ...fields,
});
const record = fc
  .record({
    second: fc.integer({ min: 0, max: 300_000 }),
    latitude: fc.integer({ min: 500_000, max: 500_900 }).map((whole) => whole / 10_000),
    valid: fc.constantFrom(true, true, true, false),
    speedKmh: fc.constantFrom(null, 0, 40),
    ignition: fc.constantFrom(null, true, false),
    odometerM: fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: null }),
  })
  .map(({ second, ...fields }) => recordAt(second, fields));
const arrival = fc.record({
  record,
  counts: fc.boolean(),
  correction: fc.option(
    fc.record({
      counter: fc.constantFrom('odometer' as const, 'engine-hours' as const),
      second: fc.integer({ min: 0, max: 300_000 }),
      value: fc.integer({ min: 0, max: 1_000_000 }),
    }),
    { nil: null, freq: 3 },
  ),
});

test('late and shuffled records, and corrections of any time, end with what records in order and the newest correction say', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(arrival, { selector: (each) => each.record.fixTimeMs, minLength: 1, maxLength: 25 }),
      fc.constantFrom(1, 3, 1500),
      async (arrivals, pageRecords) => {
        const { id } = await newVehicle();
        const archive = new Archive(pageRecords);
        let newestMs = 0;
        let contactMs = 0;
        const count = async () => {
          let open = [{ vehicleId: id, lastContactAtMs: contactMs }];
          for (let round = 0; open.length > 0; round++) {
            expect(round).toBeLessThan(100);
            const unfinished = new Set(
              await countVehicles(archive, registry.counters, registry.customCounters, open, () => {}),
            );
            open = open.filter(({ vehicleId }) => unfinished.has(vehicleId));
          }
        };
        for (const { record, counts, correction } of arrivals) {
          archive.put(id, record);
          contactMs++;
          // As the recalculator does, which gets late data from the rules.
          if (record.fixTimeMs < newestMs) await registry.counters.outdate(id, record.fixTimeMs);
          newestMs = Math.max(newestMs, record.fixTimeMs);
          if (counts) await count();
          if (correction === null) continue;
          const { counter, value, second } = correction;
          const fields = { vehicleId: id, counter, value, atMs: T0 + second * 1000, note: null, createdBy: OPERATOR };
          await registry.counters.correct(fields);
        }
        await count();
        const inOrder = arrivals.map((each) => each.record).toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
        const sumsThrough = (ms: number) =>
          countOn(
            freshCounters(),
            inOrder.filter(({ fixTimeMs }) => fixTimeMs <= ms),
            [],
          ).sums;
        const all = sumsThrough(Number.POSITIVE_INFINITY);
        const { first } = countOn(freshCounters(), inOrder, []);
        const wanted = { odometerM: all.odometerM + first.odometerM, engineMs: all.engineMs + first.engineMs };
        for (const { correction } of arrivals.toSorted(
          (a, b) => (a.correction?.second ?? 0) - (b.correction?.second ?? 0),
        )) {
          if (correction === null) continue;
          const name = correction.counter === 'odometer' ? 'odometerM' : 'engineMs';
          wanted[name] = all[name] + (correction.value - sumsThrough(T0 + correction.second * 1000)[name]);
        }
        const [shown] = await registry.counters.of([id]);
        expect(shown).toMatchObject({ ...wanted, atMs: inOrder.at(-1)?.fixTimeMs, settled: true });
      },
    ),
    { numRuns: runs(150) },
  );
});

test('custom counters of late and shuffled records, and of sensors that changed, are what records in order say', async () => {
  const sensorFields = (source: string) => ({
    ...{ name: 'S', kind: 'digital' as const, unit: '', source, calibration: [], outside: 'extrapolate' as const },
    ...{ validMin: null, validMax: null, onlyWithIgnition: false, smoothing: 1, thresholds: [] },
  });
  const sent = fc.record({
    second: fc.integer({ min: 0, max: 300_000 }),
    a: fc.constantFrom(null, 0, 1, 5),
    b: fc.constantFrom(null, 0, 3),
    counts: fc.boolean(),
    // What people do next: at a time of the clock, which goes from record to record.
    change: fc.constantFrom(null, null, null, 'a' as const, 'b' as const, 'none' as const, 'hours' as const),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(sent, { selector: ({ second }) => second, minLength: 1, maxLength: 20 }),
      fc.constantFrom(1, 3, 1500),
      async (arrivals, pageRecords) => {
        nowMs = T0;
        const { id } = await newVehicle();
        const { vehicles, customCounters, counters } = registry;
        const { sensors } = await vehicles.update(id, null, { sensors: [sensorFields('a')] });
        const sensorId = sensors[0]?.id ?? null;
        const made = await customCounters.create(id, { name: 'C', unit: '', source: 'sensor-total', sensorId });
        const archive = new Archive(pageRecords);
        let newestMs = 0;
        let contactMs = 0;
        const count = async () => {
          let open = [{ vehicleId: id, lastContactAtMs: contactMs }];
          for (let round = 0; open.length > 0; round++) {
            expect(round).toBeLessThan(100);
            const unfinished = new Set(await countVehicles(archive, counters, customCounters, open, () => {}));
            open = open.filter(({ vehicleId }) => unfinished.has(vehicleId));
          }
        };
        const records: CounterRecord[] = [];
        for (const { second, a, b, counts, change } of arrivals) {
          const record = recordAt(second, { attributes: { ...(a !== null && { a }), ...(b !== null && { b }) } });
          records.push(record);
          archive.put(id, record);
          contactMs++;
          if (record.fixTimeMs < newestMs) await counters.outdate(id, record.fixTimeMs);
          newestMs = Math.max(newestMs, record.fixTimeMs);
          if (counts) await count();
          nowMs += 20_000_000;
          if (change === 'hours') await customCounters.change(id, made.id, null, { source: 'sensor-hours', sensorId });
          else if (change !== null)
            await vehicles.update(id, null, {
              sensors: change === 'none' ? [] : [{ ...sensorFields(change), id: sensorId }],
            });
        }
        await count();
        const inOrder = records.toSorted((x, y) => x.fixTimeMs - y.fixTimeMs);
        const [defined] = (await customCounters.of([id])).get(id) ?? [];
        const { sums, first } = countOn(freshCounters(), inOrder, [], defined ? [defined] : []);
        const [shown] = await counters.of([id]);
        expect(shown?.settled).toBe(true);
        expect(shown?.custom[0]?.value).toBe((sums.custom[made.id] ?? 0) + (first.custom[made.id] ?? 0));
      },
    ),
    { numRuns: runs(150) },
  );
});

test('counters go on right over erased history, whatever comes late, and count nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(record, { selector: ({ fixTimeMs }) => fixTimeMs, minLength: 2, maxLength: 25 }),
      fc.integer({ min: 0, max: 300_000 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 300_000 }), { maxLength: 5 }),
      async (records, cutSecond, lateSeconds) => {
        const { id } = await newVehicle();
        const { counters, customCounters, historyLimits } = registry;
        const count = async (archive: CountedHistory, lastContactAtMs: number) => {
          await countVehicles(archive, counters, customCounters, [{ vehicleId: id, lastContactAtMs }], () => {});
        };
        const whole = new Archive();
        for (const each of records) whole.put(id, each);
        await count(whole, 1);
        const [before] = await counters.of([id]);
        // What is left of it, once the rest was erased.
        const cutMs = T0 + cutSecond * 1000;
        await historyLimits.request({ vehicleId: id, beforeMs: cutMs }, OPERATOR, {
          ...{ action: 'history-erased', subject: { kind: 'vehicle', id, name: '' }, after: null },
          ...{ dealerIds: [], ownerIds: [] },
        });
        await registry.jobs.cancel((await registry.jobs.list({}, { limit: 1, after: null })).items[0]?.id as never);
        await historyLimits.cutCounters([{ vehicleId: id, beforeMs: cutMs }]);
        const [kept] = await counters.kept([id]);
        const state = JSON.parse(kept?.state ?? '') as CounterState;
        const newest = records
          .filter(({ fixTimeMs }) => fixTimeMs > state.throughMs)
          .toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
        const settled = countOn(state, newest, [], [], true);
        // As an erasure does, where these records go as well.
        if (kept !== undefined && state.throughMs < cutMs)
          await counters.save([
            {
              ...kept,
              ...settled,
              state: JSON.stringify(settled.settled),
              fromMs: 0,
              isRecount: false,
              days: [],
              marks: [],
            },
          ]);
        const rest = new Archive();
        for (const each of records) if (each.fixTimeMs >= cutMs) rest.put(id, each);
        for (const [nth, second] of lateSeconds.entries()) {
          await counters.outdate(id, T0 + second * 1000);
          await count(rest, 2 + nth);
        }
        const [after] = await counters.of([id]);
        expect(after?.odometerM).toBeCloseTo(before?.odometerM ?? 0, 6);
        expect(after?.engineMs).toBeCloseTo(before?.engineMs ?? 0, 6);
      },
    ),
    { numRuns: runs(150) },
  );
});

describe('maintenance', () => {
  const nothing: MaintenanceSpan = { distanceM: null, engineMs: null, days: null, counter: null };
  const directory = new Directory();
  const archive = new Archive();
  let sent: FleetEvent[] = [];
  let appendFails = false;
  /** So many steps are done, and then the process dies; null: it lives. */
  let stepsLeft: number | null = null;
  /** Does a step, where the process lives; dies before or after it. */
  async function step<T>(work: () => Promise<T>): Promise<T> {
    if (stepsLeft === 0) throw new Error('the process dies');
    const done = await work();
    if (stepsLeft !== null && --stepsLeft === 0) throw new Error('the process dies');
    return done;
  }
  const hub = new MemoryHub();
  const keeper = (config: { unreadMs?: number } = {}) =>
    createCounterKeeper({
      config,
      log: {
        append: (_topic: unknown, events: unknown) =>
          step(async () => {
            sent.push(...(events as FleetEvent[]));
            if (appendFails) throw new Error('the process dies');
          }),
        endOffsets: async () => [],
        locate: async () => ({ discontinuity: null }),
      } as never,
      checkpoints: { load: async () => null },
      hub,
      registry: {
        counters: registry.counters,
        customCounters: registry.customCounters,
        maintenance: new Proxy(registry.maintenance, {
          get(target, name) {
            const value = Reflect.get(target, name);
            if (typeof value !== 'function') return value;
            const call = value.bind(target);
            return name === 'saveStates' ? (...args: unknown[]) => step(() => call(...args)) : call;
          },
        }),
      },
      history: archive,
      directory,
      logger: silent,
      metrics: new Metrics(),
      clock: clockAt(() => nowMs),
    });
  async function drive(vehicle: Vehicle, second: number, odometerM: number): Promise<void> {
    nowMs = Math.max(nowMs, T0 + second * 1000);
    archive.put(vehicle.id, recordAt(second, { odometerM }));
    const position = blankPosition(T0 + second * 1000, 50 + second / 100_000, 10);
    await hub.updateLatest([sampleStatus(vehicle.id, position, nowMs)]);
  }
  async function driveLate(vehicle: Vehicle, second: number, odometerM: number): Promise<void> {
    await registry.counters.outdate(vehicle.id, T0 + second * 1000);
    nowMs += 1000;
    await drive(vehicle, second, odometerM);
  }
  const stagesOf = (events: readonly FleetEvent[]) =>
    events.map((event) => {
      const { phase, stage, cause, endReason } = event as MaintenanceDue;
      return [phase, stage, cause, endReason].filter((part) => part !== null).join(' ');
    });
  async function look(): Promise<string[]> {
    sent = [];
    const one = keeper();
    expect(await one.work()).toBe(true);
    await one.stop();
    return stagesOf(sent);
  }
  async function begin(every: Partial<MaintenanceSpan>, warning: Partial<MaintenanceSpan>) {
    const vehicle = await newVehicle();
    directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
    await drive(vehicle, 0, 100_000_000);
    const plan = await registry.maintenance.createPlan({
      name: 'Oil',
      description: null,
      vehicleId: vehicle.id,
      groupId: null,
      counterName: null,
      dealerId: null,
      every: { ...nothing, ...every },
      warning: { ...nothing, ...warning },
    });
    expect(await look()).toEqual([]);
    return { vehicle, plan };
  }
  const service = (vehicle: Vehicle, planId: MaintenanceDue['planId'], odometerM: number | null = null) =>
    registry.serviceRecords.add({
      vehicleId: vehicle.id,
      planId,
      title: 'Oil',
      atMs: nowMs,
      odometerM,
      engineMs: null,
      cost: { amountMinor: 12_050, currency: 'EUR' },
      note: null,
      createdBy: OPERATOR,
    });

  test('by distance it warns once, is due once, and a service restarts it', async () => {
    const { vehicle, plan } = await begin({ distanceM: 10_000 }, { distanceM: 2000 });
    await drive(vehicle, 600, 100_007_000);
    expect(await look()).toEqual([]);
    await drive(vehicle, 700, 100_008_500);
    expect(await look()).toEqual(['begin warning distance']);
    expect(await look()).toEqual([]);
    await drive(vehicle, 900, 100_010_000);
    expect(await look()).toEqual(['end warning distance due', 'begin due distance']);
    await drive(vehicle, 1000, 100_011_000);
    expect(await look()).toEqual([]);
    const [state] = await registry.maintenance.states({ planId: plan.id });
    expect(state).toMatchObject({ stage: 'due', left: { distanceM: -1000 } });
    nowMs += 1000;
    await service(vehicle, plan.id);
    expect(await look()).toEqual(['end due distance serviced']);
    await drive(vehicle, 1700, 100_019_500);
    expect(await look()).toEqual(['begin warning distance']);
    await registry.maintenance.deletePlan(plan.id, null);
    expect(await look()).toEqual(['end warning distance plan-changed']);
    await look();
    expect(await registry.maintenance.states({ planId: plan.id })).toEqual([]);
  });

  test('vehicles that were counted on are announced, and no others', async () => {
    const announced: string[] = [];
    const leave = await hub.subscribe(COUNTERS_CHANNEL, (text) => {
      announced.push(...(JSON.parse(text) as CountersNews).vehicleIds);
    });
    const { vehicle } = await begin({ distanceM: 10_000 }, {});
    await vi.waitFor(() => expect(announced).toContain(vehicle.id));
    await look();
    announced.length = 0;
    const other = await newVehicle();
    directory.apply({ kind: 'vehicle', id: other.id, version: 1, changedAtMs: 0, definition: other });
    await drive(other, 5, 700_000);
    await look();
    await vi.waitFor(() => expect(announced).toEqual([other.id]));
    await leave();
  });

  test('while nobody reads counters, vehicles are counted seldom, and by the next look once somebody does', async () => {
    const vehicle = await newVehicle();
    directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
    const one = keeper({ unreadMs: 300_000 });
    const countedThrough = async () => {
      expect(await one.work()).toBe(true);
      return ((await registry.counters.of([vehicle.id]))[0]?.atMs ?? 0) - T0;
    };
    await drive(vehicle, 10, 1000);
    expect(await countedThrough()).toBe(10_000);
    await drive(vehicle, 300, 3000);
    expect(await countedThrough()).toBe(10_000);
    await drive(vehicle, 310, 4000);
    expect(await countedThrough()).toBe(310_000);
    await drive(vehicle, 320, 5000);
    expect(await countedThrough()).toBe(310_000);
    one.read();
    expect(await countedThrough()).toBe(320_000);
    await drive(vehicle, 330, 6000);
    expect(await countedThrough()).toBe(330_000);
    await one.stop();
  });

  test('by a custom counter of each vehicle of a group that has one of that name, and by the rest where there is none', async () => {
    const { id: groupId } = await registry.groups.create({ name: `Group ${++made}`, dealerId: null });
    const put = async (vehicle: Vehicle) => {
      directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
      return vehicle;
    };
    const member = () => registry.vehicles.create(sampleVehicleFields({ name: `Van ${++made}`, groupIds: [groupId] }));
    const sensor = {
      ...{ name: 'Lifts', kind: 'custom' as const, unit: 'lifts', source: 'lifts', calibration: [] },
      ...{ outside: 'extrapolate' as const, validMin: null, validMax: null, onlyWithIgnition: false, smoothing: 1 },
      thresholds: [],
    };
    const counted = await member();
    const { sensors } = await put(await registry.vehicles.update(counted.id, null, { sensors: [sensor] }));
    const fields = { name: 'Lifts', unit: 'lifts', source: 'sensor-total' as const, sensorId: sensors[0]?.id ?? null };
    await registry.customCounters.create(counted.id, fields);
    const other = await put(await member());
    const lift = async (second: number, lifts: number) => {
      await drive(counted, second, 0);
      archive.put(counted.id, recordAt(second + 1, { attributes: { lifts } }));
      await drive(counted, second + 2, 0);
    };
    const common = { description: null, vehicleId: null, groupId, dealerId: null, counterName: 'lifts' };
    const every = { ...nothing, counter: 100 };
    const plan = await registry.maintenance.createPlan({
      ...{ ...common, name: 'Cable', every, warning: { ...nothing, counter: 20 } },
    });
    const both = await registry.maintenance.createPlan({
      ...{ ...common, name: 'Both', every: { ...every, days: 10 }, warning: nothing },
    });
    await lift(100, 5000);
    expect(await look()).toEqual([]);
    await lift(200, 5085);
    expect(await look()).toEqual(['begin warning counter']);
    await lift(300, 5100);
    expect((await look()).toSorted()).toEqual(['begin due counter', 'begin due counter', 'end warning counter due']);
    expect(sent.map(({ startedAtMs }) => startedAtMs)).toContain(T0 + 301_000);
    const states = await registry.maintenance.states({ planId: plan.id });
    expect(states.map(({ vehicleId, left, counterUnit }) => [vehicleId, left.counter, counterUnit])).toEqual([
      [counted.id, 0, 'lifts'],
    ]);
    const all = await registry.maintenance.states({ planId: both.id });
    expect(all.map(({ vehicleId, cause, left }) => [vehicleId, cause, left.counter]).toSorted()).toEqual(
      [
        [counted.id, 'counter', 0],
        [other.id, 'days', null],
      ].toSorted(),
    );
    // Without the counter nothing is left of the first plan, and the days of the other.
    const [own] = (await registry.customCounters.of([counted.id])).get(counted.id) ?? [];
    if (own) await registry.customCounters.remove(counted.id, own.id, null);
    expect((await look()).toSorted()).toEqual(['end due counter corrected', 'end due counter plan-changed']);
    for (const { id } of [plan, both]) await registry.maintenance.deletePlan(id, null);
    await look();
    await look();
  });

  test('by a counter that people read it begins with the reading, and a reading that is taken back takes it back', async () => {
    const vehicle = await newVehicle();
    directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
    await drive(vehicle, 0, 0);
    const fields = { name: 'Cycles', unit: '', source: 'manual' as const, sensorId: null };
    const { id: counter } = await registry.customCounters.create(vehicle.id, fields);
    const read = async (value: number, second: number) => {
      nowMs = Math.max(nowMs, T0 + second * 1000);
      const reading = { vehicleId: vehicle.id, counter, value, atMs: T0 + second * 1000, note: null };
      return registry.counters.correct({ ...reading, createdBy: OPERATOR });
    };
    await read(1000, 10);
    const plan = await registry.maintenance.createPlan({
      ...{ name: 'Belt', description: null, vehicleId: vehicle.id, groupId: null, dealerId: null },
      ...{ counterName: 'Cycles', every: { ...nothing, counter: 50 }, warning: { ...nothing, counter: 10 } },
    });
    await drive(vehicle, 20, 0);
    expect(await look()).toEqual([]);
    await read(1045, 100);
    expect(await look()).toEqual(['begin warning counter']);
    expect(sent[0]?.startedAtMs).toBe(T0 + 100_000);
    // The counter was swapped: a lower reading takes nothing back.
    await read(3, 200);
    expect(await look()).toEqual([]);
    const last = await read(9, 300);
    expect(await look()).toEqual(['end warning counter due', 'begin due counter']);
    expect((await registry.counters.of([vehicle.id]))[0]?.custom).toMatchObject([{ value: 9 }]);
    await registry.counters.removeCorrection(vehicle.id, last.id);
    expect(await look()).toEqual(['end due counter corrected']);
    const [state] = await registry.maintenance.states({ planId: plan.id });
    expect(state).toMatchObject({ stage: 'warning', left: { counter: 5 } });
    await registry.maintenance.deletePlan(plan.id, null);
    await look();
    await look();
  });

  test('by days it needs no data, and begins at the very time', async () => {
    const { vehicle, plan } = await begin({ days: 10, distanceM: 1_000_000 }, { days: 2 });
    nowMs = T0 + 8.5 * DAY_MS;
    expect(await look()).toEqual(['begin warning days']);
    nowMs = T0 + 10.5 * DAY_MS;
    expect(await look()).toEqual(['end warning days due', 'begin due days']);
    expect(sent[1]?.startedAtMs).toBe(plan.startsAtMs + 10 * DAY_MS);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
    await service(vehicle, plan.id);
    expect(await look()).toEqual(['end due days serviced']);
  });

  test('a counter that is corrected takes it back, and it comes again as another event', async () => {
    const { vehicle, plan } = await begin({ distanceM: 10_000 }, {});
    await service(vehicle, plan.id, 100_000_000);
    expect(await look()).toEqual([]);
    const correct = (value: number) =>
      registry.counters.correct({
        vehicleId: vehicle.id,
        counter: 'odometer',
        atMs: nowMs,
        value,
        note: null,
        createdBy: OPERATOR,
      });
    await correct(100_020_000);
    expect(await look()).toEqual(['begin due distance']);
    const [first] = sent;
    nowMs += 1000;
    await correct(100_001_000);
    expect(await look()).toEqual(['end due distance corrected']);
    nowMs += 1000;
    await correct(100_030_000);
    expect(await look()).toEqual(['begin due distance']);
    expect(sent[0]?.id).not.toBe(first?.id);
  });

  test('killed between any two steps, it loses nothing and makes nothing twice', async () => {
    for (let steps = 1; steps <= 8; steps++) {
      nowMs = T0;
      const { vehicle, plan } = await begin({ distanceM: 10_000 }, { distanceM: 2000 });
      const published = new Map<string, FleetEvent>();
      let deaths = 0;
      for (const [second, odometerM] of [
        [700, 100_008_500],
        [900, 100_010_000],
      ] as const) {
        await drive(vehicle, second, odometerM);
        for (stepsLeft = steps; ; stepsLeft = null) {
          sent = [];
          const one = keeper();
          const isDead = await one.work().then(
            () => false,
            () => true,
          );
          await one.stop();
          if (isDead) deaths++;
          for (const event of sent) {
            const phase = `${event.id} ${event.phase}`;
            expect(published.get(phase) ?? event).toEqual(event);
            published.set(phase, event);
          }
          if (!isDead) break;
        }
        stepsLeft = null;
      }
      if (steps <= 3) expect(deaths).toBeGreaterThan(0);
      expect(stagesOf([...published.values()])).toEqual([
        'begin warning distance',
        'end warning distance due',
        'begin due distance',
      ]);
      await registry.maintenance.deletePlan(plan.id, null);
      await look();
      await look();
    }
  });

  test('what late and shuffled records bring about is what they bring about in order, and nobody hears twice of it', async () => {
    const spans = fc.record({
      distanceM: fc.constantFrom(null, 5000, 60_000),
      engineMs: fc.constantFrom(null, 3_600_000, 40_000_000),
      days: fc.constantFrom(null, 1, 3),
      counter: fc.constant(null),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ record, looks: fc.boolean() }), {
          selector: (each) => each.record.fixTimeMs,
          minLength: 2,
          maxLength: 12,
        }),
        spans.filter((every) => Object.values(every).some((each) => each !== null)),
        async (arrivals, every) => {
          nowMs = T0;
          const vehicle = await newVehicle();
          const warning: MaintenanceSpan = {
            distanceM: every.distanceM && every.distanceM / 4,
            engineMs: every.engineMs && every.engineMs / 4,
            days: every.days && every.days / 4,
            counter: null,
          };
          directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
          const fields = {
            name: 'Oil',
            description: null,
            vehicleId: vehicle.id,
            groupId: null,
            dealerId: null,
            counterName: null,
          };
          const plan = await registry.maintenance.createPlan({ ...fields, every, warning });
          try {
            const published: FleetEvent[] = [];
            const lookNow = async () => {
              await look();
              published.push(...sent.filter(({ vehicleId }) => vehicleId === vehicle.id));
            };
            let newestMs = 0;
            for (const { record: each, looks } of arrivals) {
              archive.put(vehicle.id, each);
              if (each.fixTimeMs < newestMs) await registry.counters.outdate(vehicle.id, each.fixTimeMs);
              newestMs = Math.max(newestMs, each.fixTimeMs);
              nowMs = Math.max(nowMs, newestMs) + 1000;
              await hub.updateLatest([sampleStatus(vehicle.id, blankPosition(newestMs, 50, 10), nowMs)]);
              if (looks) await lookNow();
            }
            nowMs = T0 + 5 * DAY_MS;
            await lookNow();
            await lookNow();

            const inOrder = arrivals.map((each) => each.record).toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
            const firstMs = (less: MaintenanceSpan) => {
              const moments: [number, string][] = [];
              for (const [cause, name, sum] of [
                ['distance', 'distanceM', 'odometerM'],
                ['engine-hours', 'engineMs', 'engineMs'],
              ] as const) {
                const nth = inOrder.findIndex(
                  (_, to) =>
                    countOn(freshCounters(), inOrder.slice(0, to + 1), []).sums[sum] >=
                    (every[name] ?? Number.POSITIVE_INFINITY) - (less[name] ?? 0) - 0.001,
                );
                if (nth >= 0) moments.push([inOrder[nth]?.fixTimeMs ?? 0, cause]);
              }
              if (every.days !== null) moments.push([T0 + (every.days - (less.days ?? 0)) * DAY_MS, 'days']);
              return moments.toSorted(([a], [b]) => a - b)[0];
            };
            const warned = firstMs(warning);
            const due = firstMs(nothing);
            const wanted: string[] = [];
            if (warned && warned[0] < (due?.[0] ?? Number.POSITIVE_INFINITY))
              wanted.push(`warning ${warned[1]} ${warned[0]} ${due?.[0] ?? null}`);
            if (due) wanted.push(`due ${due[1]} ${due[0]} null`);
            const found = archive.eventsOf(vehicle.id, published).map((event) => {
              const { stage, cause, startedAtMs, endedAtMs } = event as MaintenanceDue;
              return `${stage} ${cause} ${startedAtMs} ${endedAtMs}`;
            });
            expect(found).toEqual(wanted);
            // A stage that late data ended may begin again: each time once.
            const begins = published.filter(({ phase }) => phase === 'begin').map(({ id }) => id);
            expect(new Set(begins).size).toBe(begins.length);
          } finally {
            // Nothing is left of it for other runs and tests, where it failed as well.
            await registry.maintenance.deletePlan(plan.id, null);
            await look();
            await look();
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  test('a stage that late data took back, and brings again, is another event where it lasts', async () => {
    const { vehicle, plan } = await begin({ distanceM: 10_000 }, {});
    await drive(vehicle, 900, 100_010_000);
    expect(await look()).toEqual(['begin due distance']);
    const [first] = sent;
    // The reading of another terminal, and then one of the first terminal before it went on.
    await driveLate(vehicle, 500, 7000);
    expect(await look()).toEqual(['end due distance corrected']);
    await driveLate(vehicle, 501, 100_000_000);
    expect(await look()).toEqual(['begin due distance']);
    const [second] = sent;
    expect(second?.startedAtMs).toBe(first?.startedAtMs);
    expect(second?.id).not.toBe(first?.id);
    expect(await look()).toEqual([]);
    await registry.maintenance.deletePlan(plan.id, null);
    expect(await look()).toEqual(['end due distance plan-changed']);
    expect(sent[0]?.id).toBe(second?.id);
    await look();
  });

  test('a stage that late data took back, and brings again as one that ended, is not published again', async () => {
    const { vehicle, plan } = await begin({ distanceM: 10_000, days: 1 }, { days: 0.25 });
    await drive(vehicle, 130_000, 100_001_000);
    expect(await look()).toEqual(['begin warning days', 'end warning days due', 'begin due days']);
    const published = [...sent];
    const archived = () => archive.eventsOf(vehicle.id, published);
    const idsBefore = archived().map(({ id }) => id);
    await driveLate(vehicle, 900, 100_010_000);
    expect(await look()).toEqual([]);
    expect(stagesOf(archived())).toEqual(['begin due distance']);
    await driveLate(vehicle, 500, 7000);
    expect(await look()).toEqual([]);
    expect(stagesOf(archived())).toEqual(['end warning days due', 'begin due days']);
    expect(archived().map(({ id }) => id)).toEqual(idsBefore);
    await registry.maintenance.deletePlan(plan.id, null);
    await look();
    await look();
  });

  test('what was found when the process died is published with the same ids', async () => {
    const { vehicle } = await begin({ distanceM: 10_000 }, {});
    await drive(vehicle, 900, 100_012_000);
    sent = [];
    appendFails = true;
    const dying = keeper();
    await expect(dying.work()).rejects.toThrow('dies');
    appendFails = false;
    await dying.stop();
    const [before] = sent;
    expect(await look()).toEqual(['begin due distance']);
    expect(sent).toEqual([before]);
    expect(await look()).toEqual([]);
  });
});
