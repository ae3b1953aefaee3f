import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import {
  blankPosition,
  type Clock,
  type Definition,
  type DefinitionChange,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  geofenceOf,
  IMPORT_PROTOCOL,
  noteCause,
  PacketTrace,
  type Position,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofence, sampleStatus, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { MemoryHub } from '@outrider/hub';
import {
  CheckpointFencedError,
  type Checkpoints,
  deadLettersOf,
  definitionsTopic,
  eventsTopic,
  type Log,
  LogFullError,
  openSqliteCheckpoints,
  openSqliteLog,
  type Topic,
  telemetryTopic,
} from '@outrider/log';
import { Metrics } from '@outrider/runtime';
import { runs } from '@outrider/testing';
import { clockAt, VirtualClock } from '@outrider/testing/clock';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRules, type RulesConfig } from './rules.ts';

const T0 = Date.UTC(2026, 2, 1, 8);
const OPERATOR = '00000000-0000-7000-8000-0000000000aa' as UserId;
const operator: User = sampleUser({ id: OPERATOR });
const vehicleId = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}` as VehicleId;
const vehicle = (n: number, fields: Partial<Vehicle> = {}): Vehicle =>
  sampleVehicle({
    id: vehicleId(n),
    name: `Van ${n}`,
    speedLimitKmh: 60,
    // These tests are about visits and speeding: nothing is fast enough to be a trip, or slow for long enough to be a
    // stop.
    movingSpeedKmh: 10_000,
    tripStopMinutes: 1_000_000,
    ...fields,
  });
const FENCE = '00000000-0000-7000-8000-0000000000f1' as GeofenceId;
/** From 0.096 to 0.104 E along the parallel of 0.1 N, about. */
const geofence = (fields: Partial<Geofence> = {}): Geofence =>
  sampleGeofence({
    id: FENCE,
    name: 'Depot',
    ownerId: OPERATOR,
    shape: { type: 'circle', center: [0.1, 0.1], radiusM: 445 },
    ...fields,
  });
const changeTo = (definition: Definition, changedAtMs = T0): DefinitionChange => {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs, definition };
};
const fix = (seconds: number, longitude: number, speedKmh: number | null = 30): Position => ({
  ...blankPosition(T0 + seconds * 1000, 0.1, longitude),
  speedKmh,
});
const packet = (n: number, ...positions: Position[]): TelemetryPacket => ({
  vehicleId: vehicleId(n),
  terminalId: String(n) as TerminalId,
  protocol: 'osmand',
  receivedAtMs: Math.max(...positions.map(({ fixTimeMs }) => fixTimeMs)),
  positions,
  trace: new PacketTrace(1, 2, n, positions.length),
});

class Killed extends Error {}

/** What the service does to the world, up to the moment when it is killed: nothing it does after that has an effect. */
class Life {
  isOver = false;
  #actsLeft: number;

  constructor(acts = Number.POSITIVE_INFINITY) {
    this.#actsLeft = acts;
  }

  kill(): void {
    this.#actsLeft = 0;
    this.isOver = true;
  }

  /** Lets `act` happen; after the last one that may, the service does not live to see the result. */
  async act<T>(act: () => Promise<T>): Promise<T> {
    if (this.#actsLeft <= 0) throw new Killed();
    this.#actsLeft -= 1;
    const result = await act();
    if (this.#actsLeft > 0) return result;
    this.isOver = true;
    throw new Killed();
  }

  log(log: Log): Log {
    return {
      append: (topic, records) => this.act(() => log.append(topic, records)),
      consume: (topic, options) => log.consume(topic, options),
      endOffsets: (topic) => log.endOffsets(topic),
      read: (topic, partition, from, to) => log.read(topic, partition, from, to),
      close: () => log.close(),
      ...queriesOf(log),
    };
  }

  checkpoints(checkpoints: Checkpoints): Checkpoints {
    return {
      load: (consumer, partition) => checkpoints.load(consumer, partition),
      claim: (consumer, partition) => checkpoints.claim(consumer, partition),
      save: (consumer, partition, change) => this.act(() => checkpoints.save(consumer, partition, change)),
      close: () => checkpoints.close(),
    };
  }
}

let folder: string;
let log: Log;
let checkpoints: Checkpoints;
let hub: MemoryHub;

async function openWorld(partitions = 1): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'outrider-rules-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite'), partitions });
  checkpoints = openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') });
  hub = new MemoryHub();
}

async function closeWorld(): Promise<void> {
  await log.close();
  await checkpoints.close();
  await rm(folder, { recursive: true });
}

beforeEach(() => openWorld());
afterEach(closeWorld);

/** What a log says about itself. */
function queriesOf(log: Log) {
  return {
    resume: log.resume.bind(log),
    locate: log.locate.bind(log),
    release: log.release.bind(log),
    bounds: log.bounds.bind(log),
    readers: log.readers.bind(log),
    behind: log.behind.bind(log),
    offsetsAt: log.offsetsAt.bind(log),
    writtenAtMs: log.writtenAtMs.bind(log),
    get discontinuities() {
      return log.discontinuities;
    },
    get holdUp() {
      return log.holdUp;
    },
    get replication() {
      return log.replication;
    },
    get pendingBytes() {
      return log.pendingBytes;
    },
  };
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** As a log does that members share: who was fenced gets no more of the partition. */
function shared(log: Log): Log {
  return {
    append: (topic, records) => log.append(topic, records),
    endOffsets: (topic) => log.endOffsets(topic),
    read: (topic, partition, from, to) => log.read(topic, partition, from, to),
    close: () => log.close(),
    ...queriesOf(log),
    consume(topic, options) {
      const lost = new Set<number>();
      return log.consume(topic, {
        ...options,
        async onBatch(batch) {
          if (lost.has(batch.partition)) return;
          await options.onBatch(batch).catch((error) => {
            if (!(error instanceof CheckpointFencedError)) throw error;
            lost.add(batch.partition);
          });
        },
      });
    },
  };
}

function rulesIn(life: Life, config: Partial<RulesConfig> = {}, overrides: { log?: Log; clock?: Clock } = {}) {
  const rules = createRules({
    config: { checkpointMs: 1000, checkpointPackets: 1_000_000, silenceCheckMs: 3_600_000, ...config },
    log: life.log(overrides.log ?? log),
    checkpoints: life.checkpoints(checkpoints),
    hub,
    logger: SILENT,
    metrics: new Metrics(),
    clock: overrides.clock ?? clockAt(() => 0),
  });
  return rules;
}

const saved = (partition = 0) => checkpoints.load('rules', partition);

async function all<T>(topic: Topic<T>): Promise<T[]> {
  const values: T[] = [];
  for (const [partition, end] of await log.endOffsets(topic))
    for await (const { records } of log.read(topic, partition, 'earliest', end))
      values.push(...records.map(({ value }) => value));
  return values;
}

/** A clock that knows how often it was looked at: what looks for silence has looked, and found none. */
function watchedClock(startMs: number) {
  let looks = 0;
  const clock = {
    atMs: startMs,
    now() {
      looks += 1;
      return clock.atMs;
    },
    async lookedAt(times: number): Promise<void> {
      const before = looks;
      await until('the clock is looked at', () => looks >= before + times);
    },
  };
  return clock;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (await holds()) return;
    await wait(5);
  }
  throw new Error(`never came true: ${what}`);
}

const words = (events: readonly FleetEvent[]) =>
  events.map(({ kind, phase, endReason }) => [kind, phase, endReason ?? ''].join(' ').trim());

async function define(...definitions: Definition[]): Promise<void> {
  await log.append(
    definitionsTopic,
    definitions.map((definition) => changeTo(definition)),
  );
}

test('packets become events, and the hub knows the newest positions', async () => {
  await define(operator, vehicle(1), geofence());
  const rules = rulesIn(new Life());
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09), fix(60, 0.1)), packet(1, fix(120, 0.11, 70))]);
  await until('three events', async () => (await all(eventsTopic)).length === 3);
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit begin', 'geofence-visit end left', 'speeding begin']);
  await until('the hub knows', async () => (await hub.latest([vehicleId(1)]))[0]?.position?.fixTimeMs === T0 + 120_000);
  await rules.stop();
});

test('imported history moves nothing, and begins nothing', async () => {
  await define(operator, vehicle(1), geofence());
  const rules = rulesIn(new Life());
  await rules.start();
  const imported: TelemetryPacket = { ...packet(1, fix(300, 0.1), fix(360, 0.2, 90)), protocol: IMPORT_PROTOCOL };
  await log.append(telemetryTopic, [imported, packet(1, fix(0, 0.09), fix(60, 0.1))]);
  await until('an event', async () => (await all(eventsTopic)).length > 0);
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit begin']);
  await until('the hub knows', async () => (await hub.latest([vehicleId(1)])).length === 1);
  // What was live is no late data of what was imported.
  expect(await hub.latest([vehicleId(1)])).toMatchObject([
    { position: { fixTimeMs: T0 + 60_000 }, lastContactAtMs: T0 + 60_000, protocol: 'osmand' },
  ]);
  await rules.stop();
});

test('a terminal in a garage without sky is known to the hub as soon as it talks', async () => {
  await define(operator, vehicle(1));
  const rules = rulesIn(new Life());
  await rules.start();
  const blind = { ...fix(10, 0), latitude: 0, valid: false, speedKmh: null, ignition: true, supplyV: 12.4 };
  await log.append(telemetryTopic, [packet(1, blind)]);
  await until('the hub knows', async () => (await hub.latest([vehicleId(1)])).length === 1);
  expect(await hub.latest([vehicleId(1)])).toMatchObject([
    {
      position: null,
      record: { supplyV: 12.4 },
      lastContactAtMs: T0 + 10_000,
      protocol: 'osmand',
      activity: { state: 'unknown', ignition: true },
    },
  ]);
  await log.append(telemetryTopic, [packet(1, fix(20, 0.09)), packet(1, { ...blind, fixTimeMs: T0 + 30_000 })]);
  await until('it is placed', async () => (await hub.latest([vehicleId(1)]))[0]?.lastContactAtMs === T0 + 30_000);
  expect(await hub.latest([vehicleId(1)])).toMatchObject([
    { position: { fixTimeMs: T0 + 20_000 }, receivedAtMs: T0 + 20_000, record: { fixTimeMs: T0 + 30_000 } },
  ]);
  await rules.stop();
});

test('a deleted vehicle leaves the hub, and what its terminal sent until then does not bring it back', async () => {
  await define(operator, vehicle(1), vehicle(2));
  const rules = rulesIn(new Life());
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), packet(2, fix(0, 0.09))]);
  await until('both are known', async () => (await hub.latest([vehicleId(1), vehicleId(2)])).length === 2);
  await log.append(definitionsTopic, [
    { kind: 'vehicle', id: vehicleId(1), version: 2, changedAtMs: T0 + 10_000, definition: null },
  ]);
  await until('it is gone', async () => (await hub.latest([vehicleId(1)])).length === 0);
  // One that only the hub knows, from an earlier run.
  await hub.updateLatest([sampleStatus(vehicleId(3), fix(0, 0.09))]);
  await log.append(definitionsTopic, [
    { kind: 'vehicle', id: vehicleId(3), version: 2, changedAtMs: T0 + 10_000, definition: null },
  ]);
  await until('the other is gone, too', async () => (await hub.latest([vehicleId(3)])).length === 0);
  await log.append(telemetryTopic, [packet(1, fix(20, 0.09)), packet(2, fix(20, 0.09))]);
  const newest = async () => (await hub.latest([vehicleId(2)]))[0]?.record.fixTimeMs;
  await until('the other one goes on', async () => (await newest()) === T0 + 20_000);
  expect(await hub.latest([vehicleId(1)])).toEqual([]);
  await rules.stop();
});

test('a vehicle that falls silent is offline in the hub when the event is there', async () => {
  await define(operator, vehicle(1));
  let nowMs = T0;
  const rules = rulesIn(new Life(), { silenceCheckMs: 5 }, { clock: clockAt(() => nowMs) });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09))]);
  const state = async () => (await hub.latest([vehicleId(1)]))[0]?.activity?.state;
  await until('it is known', async () => (await state()) !== undefined);
  nowMs = T0 + 620_000;
  await until('it is offline', async () => (await state()) === 'offline');
  expect(await all(eventsTopic)).toMatchObject([{ kind: 'offline', phase: 'begin' }]);
  await rules.stop();
});

test('a slow hub delays nothing, and then gets the newest position', async () => {
  await define(operator, vehicle(1), geofence());
  const reported: number[][] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const memory = hub;
  const update = memory.updateLatest.bind(memory);
  memory.updateLatest = async (entries) => {
    reported.push(entries.map(({ record }) => (record.fixTimeMs - T0) / 1000));
    await released;
    await update(entries);
  };
  const rules = rulesIn(new Life(), { batchPackets: 1 });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), packet(1, fix(60, 0.1)), packet(1, fix(120, 0.11))]);
  await until('both events', async () => (await all(eventsTopic)).length === 2);
  expect(reported).toEqual([[0]]);
  release();
  await until('the hub knows', async () => (await hub.latest([vehicleId(1)]))[0]?.position?.fixTimeMs === T0 + 120_000);
  expect(reported).toEqual([[0], [120]]);
  await rules.stop();
});

test('nobody sees a vehicle where it came before its events are durable', async () => {
  await define(operator, vehicle(1), geofence());
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = 0;
  const slow: Log = {
    ...shared(log),
    async append(topic, records) {
      if (topic.name === eventsTopic.name) {
        held++;
        await released;
      }
      await log.append(topic, records);
    },
  };
  const rules = rulesIn(new Life(), { batchPackets: 1 }, { log: slow });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), packet(1, fix(60, 0.1))]);
  const seen = async () => (await hub.latest([vehicleId(1)])).map(({ record }) => (record.fixTimeMs - T0) / 1000);
  await until('an event is on its way', () => held === 1);
  await until('where it came from is seen', async () => (await seen()).includes(0));
  await nextTurn();
  expect(await seen()).not.toContain(60);
  release();
  await until('it is seen', async () => (await seen()).includes(60));
  expect(words(await all(eventsTopic))).toContain('geofence-visit begin');
  await rules.stop();
});

test('a hub that fails stops the rules', async () => {
  await define(operator, vehicle(1));
  hub.updateLatest = () => Promise.reject(new Error('the hub is gone'));
  const rules = rulesIn(new Life());
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09))]);
  await expect(rules.failed).rejects.toThrow('the hub is gone');
  await rules.stop().catch(() => {});
});

test('a start without a checkpoint takes the definitions in silently, and what came before it', async () => {
  await define(operator, vehicle(1), geofence());
  await log.append(telemetryTopic, [packet(1, fix(0, 0.1)), packet(1, fix(60, 0.11))]);
  const rules = rulesIn(new Life());
  await rules.start();
  await until('the exit', async () => (await all(eventsTopic)).length === 1);
  await rules.stop();
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit end left']);
});

test('a checkpoint that this version can not read is discarded: the log is replayed, and nothing comes twice', async () => {
  await define(operator, vehicle(1), geofence());
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09), fix(60, 0.1))]);
  const first = rulesIn(new Life());
  await first.start();
  await until('the entry', async () => (await all(eventsTopic)).length === 1);
  await first.stop();
  const key = `vehicle-state:${vehicleId(1)}`;
  const state = (await saved())?.entries.get(key) as Buffer;
  await checkpoints.claim('rules', 0);
  const foreign = [
    [key, Buffer.from(state.toString().replace(/^\[\d+/, '[999'))],
    ['vehicle-state:gone', state],
  ] as const;
  await checkpoints.save('rules', 0, { offsets: {}, changed: foreign });

  const second = rulesIn(new Life());
  await second.start();
  await log.append(telemetryTopic, [packet(1, fix(120, 0.11))]);
  await until('the exit', async () => (await all(eventsTopic)).length === 2);
  await second.stop();
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit begin', 'geofence-visit end left']);
  expect((await saved())?.entries.has('vehicle-state:gone')).toBe(false);
});

test('a clean stop saves everything: the next start appends nothing, goes on, and fills a new hub', async () => {
  await define(operator, vehicle(1), geofence());
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09), fix(60, 0.1))]);
  const first = rulesIn(new Life());
  await first.start();
  await until('the entry', async () => (await all(eventsTopic)).length === 1);
  await first.stop();
  expect((await saved())?.offsets).toEqual({ telemetry: 1, 'events/0': 1, 'definitions/0': 3 });

  hub = new MemoryHub();
  const second = rulesIn(new Life());
  await second.start();
  expect(await hub.latest([vehicleId(1)])).toMatchObject([{ position: { fixTimeMs: T0 + 60_000 } }]);
  await log.append(telemetryTopic, [packet(1, fix(120, 0.11))]);
  await until('the exit', async () => (await all(eventsTopic)).length === 2);
  await second.stop();
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit begin', 'geofence-visit end left']);
});

test('a definition that changes is in force for the packets after it, and a replay knows it', async () => {
  await define(operator, vehicle(1));
  const life = new Life();
  const rules = rulesIn(life, { checkpointMs: 60_000 });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09))]);
  await until('the first fix', async () => (await hub.latest([vehicleId(1)])).length === 1);
  await define(geofence());
  await until('the geofence is checkpointed', async () =>
    Boolean((await saved())?.entries.get('pending-definitions')?.includes(FENCE)),
  );
  await log.append(telemetryTopic, [packet(1, fix(60, 0.1))]);
  await until('the entry', async () => (await all(eventsTopic)).length === 1);
  life.kill();
  await rules.stop().catch(() => {});

  // While nobody was there, the geofence went away: the entry is replayed under it, then the visit ends.
  await log.append(definitionsTopic, [
    { kind: 'geofence', id: FENCE, version: 2, changedAtMs: T0 + 100_000, definition: null },
  ]);
  const again = rulesIn(new Life());
  await again.start();
  await until('the end', async () => (await all(eventsTopic)).length === 2);
  await again.stop();
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit begin', 'geofence-visit end geofence-deleted']);
  expect((await saved())?.entries.has('pending-definitions')).toBe(false);
});

test('a second crash during the replay: events published before the first crash are still not repeated', async () => {
  await define(operator, vehicle(1), geofence());
  const first = new Life();
  const rules = rulesIn(first, { checkpointMs: 60_000 });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), packet(1, fix(60, 0.1)), packet(1, fix(120, 0.11))]);
  await until('entry and exit', async () => (await all(eventsTopic)).length === 2);
  first.kill();
  await rules.stop().catch(() => {});

  // Dies with the checkpoint that knows of the first packet, and of none of the two events.
  const second = new Life(1);
  const replaying = rulesIn(second, { checkpointPackets: 1, batchPackets: 1 });
  await replaying.start();
  await until('it died', () => second.isOver);
  await replaying.stop().catch(() => {});
  expect((await saved())?.offsets).toMatchObject({ telemetry: 1, 'events/0': 0 });

  const third = rulesIn(new Life());
  await third.start();
  await log.append(telemetryTopic, [packet(1, fix(180, 0.1))]);
  await until('another entry', async () => (await all(eventsTopic)).length >= 3);
  await third.stop();
  expect(words(await all(eventsTopic))).toEqual([
    'geofence-visit begin',
    'geofence-visit end left',
    'geofence-visit begin',
  ]);
});

test('vehicles and geofences defined while the service was down are known for what was sent meanwhile', async () => {
  await define(operator);
  const first = rulesIn(new Life());
  await first.start();
  await first.stop();
  await define(vehicle(1), geofence());
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), packet(1, fix(60, 0.1))]);
  const second = rulesIn(new Life());
  await second.start();
  await until('the entry', async () => (await all(eventsTopic)).length === 1);
  await second.stop();
});

test('a full log holds the rules back, and nothing is lost', async () => {
  await define(operator, vehicle(1), geofence());
  let refusals = 3;
  const full: Log = {
    ...new Life().log(log),
    async append(topic, records) {
      if (topic.name === eventsTopic.name && refusals-- > 0) throw new LogFullError('full');
      return log.append(topic, records);
    },
  };
  const rules = rulesIn(new Life(), {}, { log: full });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09), fix(60, 0.1)), packet(1, fix(120, 0.11))]);
  await until('both events', async () => (await all(eventsTopic)).length === 2);
  expect(refusals).toBeLessThan(0);
  await rules.stop();
  expect(words(await all(eventsTopic))).toEqual(['geofence-visit begin', 'geofence-visit end left']);
});

test('a log that fails stops the rules, and no checkpoint knows of events that are not in it', async () => {
  await define(operator, vehicle(1), geofence());
  const broken: Log = {
    ...new Life().log(log),
    append: () => Promise.reject(new Error('disk gone')),
  };
  const clock = new VirtualClock(T0);
  const rules = rulesIn(new Life(), {}, { log: broken, clock });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09), fix(60, 0.1))]);
  let hasFailed = false;
  rules.failed.catch(() => {
    hasFailed = true;
  });
  await until('it has failed', async () => {
    await clock.advance(1000);
    return hasFailed;
  });
  await expect(rules.failed).rejects.toThrow('disk gone');
  await clock.advance(5000);
  await expect(rules.stop()).rejects.toThrow('disk gone');
  expect((await saved())?.offsets.telemetry).toBe(0);
});

/** Drives back and forth through the geofence, with a speed now over and now under the limit. */
const drive = fc
  .array(
    fc.record({ n: fc.integer({ min: 1, max: 3 }), place: fc.nat(2), speedKmh: fc.constantFrom(30, 59, 61, 90) }),
    {
      minLength: 5,
      maxLength: 40,
    },
  )
  .map((legs) =>
    legs.map(({ n, place, speedKmh }, i) => packet(n, fix(60 * i + n, [0.09, 0.1, 0.11][place] ?? 0.1, speedKmh))),
  );
const sizes = fc.record({ checkpointPackets: fc.constantFrom(1, 5, 1000), batchPackets: fc.constantFrom(1, 2, 1000) });
const deaths = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 });

/** Lives through `deaths`, each after so many appends and checkpoints, while `feed` goes on; then once to the end. */
async function liveThrough(deaths: readonly number[], config: Partial<RulesConfig>, feed: () => Promise<boolean>) {
  const clock = new VirtualClock(T0);
  const isTakenIn = async () => {
    await clock.advance(config.checkpointMs ?? 1000);
    const end = (await log.endOffsets(telemetryTopic)).get(0) ?? 0;
    const definitionsEnd = (await log.endOffsets(definitionsTopic)).get(0) ?? 0;
    const offsets = (await saved())?.offsets;
    return offsets?.telemetry === end && offsets['definitions/0'] === definitionsEnd;
  };
  for (const acts of deaths) {
    const life = new Life(acts);
    const rules = rulesIn(life, config, { clock });
    const started = rules.start().then(
      () => true,
      () => false,
    );
    if (await started) {
      await feed();
      // It may have nothing left to do that could kill it.
      await until('it died, or took in all', async () => life.isOver || (await isTakenIn()));
    }
    life.kill();
    await rules.stop().catch(() => {});
  }
  const rules = rulesIn(new Life(), config, { clock });
  await rules.start();
  while (await feed());
  await until('all was taken in', isTakenIn);
  await rules.stop();
}

test('each event is in the log once, wherever the service was killed', async () => {
  await fc.assert(
    fc.asyncProperty(drive, deaths, sizes, async (packets, deaths, sizes) => {
      await closeWorld();
      await openWorld();
      const definitions = [operator, vehicle(1), vehicle(2), vehicle(3), geofence({ speedLimitKmh: 50 })];
      await define(...definitions);
      const left = [...packets];
      await liveThrough(deaths, { ...sizes, checkpointMs: 20 }, async () => {
        const some = left.splice(0, 5);
        if (some.length > 0) await log.append(telemetryTopic, some);
        return left.length > 0;
      });

      const engine = new Engine();
      engine.load(definitions.map((definition) => changeTo(definition)));
      const expected: FleetEvent[] = [];
      for (const [offset, packet] of (await all(telemetryTopic)).entries()) {
        const before = expected.length;
        engine.process(packet, offset, expected);
        noteCause(expected, before, packet);
      }
      expect(await all(eventsTopic)).toEqual(expected);
    }),
    { numRuns: runs(100) },
  );
}, 120_000);

test('definitions that change while data flows leave no visit open, and report nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(drive, deaths, sizes, async (packets, deaths, sizes) => {
      await closeWorld();
      await openWorld();
      await define(operator, vehicle(1), vehicle(2), vehicle(3), geofence({ speedLimitKmh: 50 }));
      const left = [...packets];
      let version = 1;
      await liveThrough(deaths, { ...sizes, checkpointMs: 20 }, async () => {
        const some = left.splice(0, 5);
        if (some.length > 0) await log.append(telemetryTopic, some);
        version += 1;
        const there = version % 3 === 0;
        const definition = there ? geofence({ version, speedLimitKmh: 40 + version }) : null;
        const changedAtMs = T0 + 60_000 * (packets.length - left.length);
        await log.append(definitionsTopic, [{ kind: 'geofence', id: FENCE, version, changedAtMs, definition }]);
        return left.length > 0;
      });
      const rules = rulesIn(new Life());
      await log.append(definitionsTopic, [
        { kind: 'geofence', id: FENCE, version: version + 1, changedAtMs: T0 + 3_600_000, definition: null },
      ]);
      await rules.start();
      await rules.stop();

      const events = await all(eventsTopic);
      const ofFence = events.filter((event) => geofenceOf(event) === FENCE);
      const keys = events.map(({ id, phase }) => `${id} ${phase}`);
      expect(new Set(keys).size).toBe(keys.length);
      const ended = new Set(ofFence.filter(({ phase }) => phase === 'end').map(({ id }) => id));
      for (const { id, phase } of ofFence) if (phase === 'begin') expect(ended).toContain(id);
    }),
    { numRuns: runs(100) },
  );
}, 120_000);

test('a vehicle of which nothing comes goes offline, once, and is online again with its next packet', async () => {
  await define(operator, vehicle(1), vehicle(2));
  const clock = watchedClock(T0);
  const rules = rulesIn(new Life(), { silenceCheckMs: 10 }, { clock: clockAt(clock.now) });
  await rules.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), packet(2, fix(0, 0.09)), packet(2, fix(300, 0.09))]);
  await until('both are known', async () => (await hub.latest([vehicleId(1), vehicleId(2)])).length === 2);
  clock.atMs = T0 + 600_000;
  await clock.lookedAt(3);
  expect(await all(eventsTopic)).toEqual([]);
  // Packets of back then may still be on their way into the log.
  clock.atMs = T0 + 611_000;
  await until('offline', async () => (await all(eventsTopic)).length > 0);
  await clock.lookedAt(3);
  expect(await all(eventsTopic)).toMatchObject([
    { kind: 'offline', phase: 'begin', vehicleId: vehicleId(1), startedAtMs: T0, fixTimeMs: T0 + 600_000 },
  ]);
  await log.append(telemetryTopic, [packet(1, fix(700, 0.09))]);
  await until('online', async () => (await all(eventsTopic)).length > 1);
  await rules.stop();
  expect((await all(eventsTopic))[1]).toMatchObject({ phase: 'end', endedAtMs: T0 + 700_000, endReason: 'online' });
});

test('while packets wait to be taken in, nobody is said to be silent', async () => {
  await define(operator, vehicle(1), vehicle(2));
  const first = rulesIn(new Life(), {}, { clock: clockAt(() => T0) });
  await first.start();
  await log.append(telemetryTopic, [packet(1, fix(0, 0.09))]);
  await until('it is known', async () => (await hub.latest([vehicleId(1)])).length === 1);
  await first.stop();

  // An hour's packets are there when the rules come back; before each batch they look for silence.
  await log.append(
    telemetryTopic,
    Array.from({ length: 61 }, (_, minute) => packet(1, fix(60 * (minute + 1), 0.09))),
  );
  const clock = watchedClock(T0 + 3_700_000);
  const slow: Log = {
    ...new Life().log(log),
    consume: (topic, options) =>
      log.consume(topic, {
        ...options,
        async onBatch(batch) {
          await clock.lookedAt(1);
          await options.onBatch(batch);
        },
      }),
  };
  const config = { silenceCheckMs: 1, batchPackets: 1, checkpointMs: 5 };
  const second = rulesIn(new Life(), config, { log: slow, clock: clockAt(clock.now) });
  await second.start();
  await until('all are taken in', async () => (await saved())?.offsets.telemetry === 62);
  await clock.lookedAt(3);
  await second.stop();
  expect(await all(eventsTopic)).toEqual([]);
});

test('offline is reported once, wherever the service was killed: a look at the clock is part of what is replayed', async () => {
  for (let acts = 1; acts <= 12; acts++) {
    await closeWorld();
    await openWorld();
    await define(operator, vehicle(1), vehicle(2));
    const clock = watchedClock(T0);
    const config = { silenceCheckMs: 2, checkpointMs: 1_000_000 };
    const life = new Life(acts);
    const first = rulesIn(life, config, { clock: clockAt(clock.now) });
    const died = (events: number) =>
      until(
        `it died, or there are ${events} events`,
        async () => life.isOver || (await all(eventsTopic)).length >= events,
      );
    const started = first.start().then(
      () => true,
      () => false,
    );
    const feed = [packet(1, fix(0, 0.09)), packet(2, fix(10, 0.09))];
    await log.append(telemetryTopic, feed);
    if (await started) {
      // Both go offline, one after the other, and come back.
      for (const [nth, seconds] of [615, 625].entries()) {
        clock.atMs = T0 + seconds * 1000;
        await died(nth + 1);
      }
      await log.append(telemetryTopic, [packet(1, fix(626, 0.09)), packet(2, fix(626, 0.09))]);
      await died(4);
    } else {
      await log.append(telemetryTopic, [packet(1, fix(626, 0.09)), packet(2, fix(626, 0.09))]);
    }
    life.kill();
    await first.stop().catch(() => {});

    clock.atMs = T0 + 625_000;
    const second = rulesIn(new Life(), config, { clock: clockAt(clock.now) });
    await second.start();
    await until('all was taken in', async () => (await all(eventsTopic)).length >= 4);
    await clock.lookedAt(3);
    await second.stop();
    const reported = (await all(eventsTopic)).map(({ vehicleId, startedAtMs, phase }) =>
      [vehicleId.at(-1), (startedAtMs - T0) / 1000, phase].join(' '),
    );
    expect(reported.toSorted(), `after ${acts} acts`).toEqual(['1 0 begin', '1 0 end', '2 10 begin', '2 10 end']);
    expect(reported.indexOf('1 0 begin')).toBeLessThan(reported.indexOf('1 0 end'));
  }
});

test('a member that lost its partition lets go of it without failing; what both reported has one id', async () => {
  await define(operator, vehicle(1), geofence());
  const driven = Array.from({ length: 40 }, (_, n) => packet(1, fix(n * 60, n % 2 ? 0.1 : 0.09)));
  await log.append(telemetryTopic, driven.slice(0, 10));
  const lost = rulesIn(new Life(), { checkpointPackets: 1 }, { log: shared(log) });
  await lost.start();
  await until('the first events', async () => (await all(eventsTopic)).length === 9);

  const others = openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') });
  const winner = createRules({
    config: { checkpointMs: 1000, checkpointPackets: 1 },
    log,
    checkpoints: others,
    hub,
    logger: SILENT,
    metrics: new Metrics(),
    clock: clockAt(() => 0),
  });
  await winner.start();
  await log.append(telemetryTopic, driven.slice(10));
  await define(vehicle(1, { version: 2, name: 'Van 1 of another name' }));
  const keys = async () => new Set((await all(eventsTopic)).map(({ id, phase }) => `${id} ${phase}`));
  await until('all events', async () => (await keys()).size === 39);

  await lost.stop();
  await winner.stop();
  expect(await Promise.race([lost.failed, winner.failed, 'well'])).toBe('well');
  expect((await saved())?.offsets.telemetry).toBe((await log.endOffsets(telemetryTopic)).get(0));
  await others.close();
});

test('a packet that the engine can not process is put aside, and those after it make their events', async () => {
  await define(operator, vehicle(1), geofence());
  const process = Engine.prototype.process;
  const spy = vi.spyOn(Engine.prototype, 'process').mockImplementation(function (this: Engine, taken, offset, events) {
    if (taken.terminalId === 'poison') throw new Error('it made no sense');
    return process.call(this, taken, offset, events);
  });
  try {
    const poison = { ...packet(1, fix(30, 0.1)), terminalId: 'poison' as TerminalId };
    await log.append(telemetryTopic, [packet(1, fix(0, 0.09)), poison, packet(1, fix(60, 0.1))]);
    const rules = rulesIn(new Life());
    await rules.start();
    await until('the entry', async () => (await all(eventsTopic)).length === 1);
    await rules.stop();
    const letters = await deadLettersOf(log, 'telemetry');
    expect(letters).toMatchObject([{ partition: 0, offset: 1, reader: 'rules', reason: 'it made no sense' }]);
    expect(telemetryTopic.decode(letters[0]?.record ?? Buffer.alloc(0))).toMatchObject({ terminalId: 'poison' });
    expect((await saved())?.offsets.telemetry).toBe(3);
  } finally {
    spy.mockRestore();
  }
});

test('each partition has a checkpoint and an engine of its own', async () => {
  await closeWorld();
  await openWorld(3);
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  await define(operator, geofence(), ...numbers.map((n) => vehicle(n)));
  const life = new Life();
  const first = rulesIn(life, { checkpointMs: 60_000 });
  await first.start();
  await log.append(
    telemetryTopic,
    numbers.map((n) => packet(n, fix(0, 0.09), fix(60, 0.1))),
  );
  await until('all entries', async () => (await all(eventsTopic)).length === 8);
  life.kill();
  await first.stop().catch(() => {});

  const second = rulesIn(new Life());
  await second.start();
  await log.append(
    telemetryTopic,
    numbers.map((n) => packet(n, fix(120, 0.11))),
  );
  await until('all exits', async () => (await all(eventsTopic)).length >= 16);
  await second.stop();
  const events = await all(eventsTopic);
  expect(events.length).toBe(16);
  expect(new Set(events.map(({ id, phase }) => `${id} ${phase}`)).size).toBe(16);
  let packets = 0;
  for (const partition of [0, 1, 2]) packets += (await saved(partition))?.offsets.telemetry ?? 0;
  expect(packets).toBe(16);
});
