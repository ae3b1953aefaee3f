import { type FleetEvent, geofenceOf, noteCause } from '@outrider/domain';
import { Engine } from '@outrider/engine';
import { definitionsTopic, eventsTopic, telemetryTopic } from '@outrider/log';
import { runs } from '@outrider/testing';
import { clockAt, VirtualClock } from '@outrider/testing/clock';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  all,
  changeTo,
  closeWorld,
  define,
  FENCE,
  fix,
  geofence,
  Life,
  log,
  openWorld,
  operator,
  packet,
  rulesIn,
  saved,
  T0,
  until,
  vehicle,
  watchedClock,
} from './rules.fixture.ts';
import type { RulesConfig } from './rules.ts';

beforeEach(() => openWorld());
afterEach(closeWorld);

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
