import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IMPORT_PROTOCOL, type TelemetryPacket, type TerminalId } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import {
  deadLettersOf,
  definitionsTopic,
  eventsTopic,
  type Log,
  LogFullError,
  openSqliteCheckpoints,
  telemetryTopic,
} from '@outrider/log';
import { clockAt, VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  all,
  checkpoints,
  closeWorld,
  define,
  emptyHub,
  FENCE,
  fix,
  folder,
  geofence,
  hub,
  Life,
  log,
  openWorld,
  operator,
  packet,
  rulesIn,
  saved,
  shared,
  T0,
  until,
  vehicle,
  vehicleId,
  watchedClock,
  words,
} from './rules.fixture.ts';

beforeEach(() => openWorld());
afterEach(closeWorld);

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

  emptyHub();
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

test('a member that lost its partition lets go of it without failing; what both reported has one id', async () => {
  await define(operator, vehicle(1), geofence());
  const driven = Array.from({ length: 40 }, (_, n) => packet(1, fix(n * 60, n % 2 ? 0.1 : 0.09)));
  await log.append(telemetryTopic, driven.slice(0, 10));
  const lost = rulesIn(new Life(), { checkpointPackets: 1 }, { log: shared(log) });
  await lost.start();
  await until('the first events', async () => (await all(eventsTopic)).length === 9);

  const others = openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') });
  const winner = rulesIn(new Life(), { checkpointPackets: 1 }, { checkpoints: others });
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
