import { setImmediate as nextTurn } from 'node:timers/promises';
import { blankPosition, Directory, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { Encoded, type Log, LogFullError, type Topic, telemetryTopic } from '@outrider/log';
import { createLogger } from '@outrider/runtime';
import { runs } from '@outrider/testing';
import { VirtualClock } from '@outrider/testing/clock';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Intake } from './intake.ts';
import { PacketTraces } from './packet-traces.ts';

const TERMINAL = '1' as TerminalId;
const logger = createLogger('silent', 'json');

/** A log that answers when and as the test says; where it refuses an append, it refuses those behind it, as logs do. */
class MoodyLog implements Pick<Log, 'append' | 'pendingBytes'> {
  readonly packets: TelemetryPacket[] = [];
  readonly pendingBytes = 0;
  #full = false;
  readonly #calls: { packets: TelemetryPacket[]; resolve(): void; reject(error: Error): void }[] = [];

  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    if (this.#full) return Promise.reject(new LogFullError('full'));
    const packets = Encoded.of(topic, records).values.map((value) => telemetryTopic.decode(value));
    return new Promise((resolve, reject) => {
      this.#calls.push({ packets, resolve, reject });
    });
  }

  answer(mood: 'takes' | 'refuses' | 'is full' | 'has room'): void {
    if (mood === 'is full' || mood === 'has room') this.#full = mood === 'is full';
    else if (mood === 'takes') {
      const call = this.#calls.shift();
      this.packets.push(...(call?.packets ?? []));
      call?.resolve();
    } else for (const { reject } of this.#calls.splice(0)) reject(new Error('not now'));
  }

  get taken(): number[] {
    return this.packets.map(({ receivedAtMs }) => receivedAtMs);
  }

  get isIdle(): boolean {
    return this.#calls.length === 0;
  }
}

function intakeOn(log: MoodyLog) {
  const directory = new Directory();
  const vehicle = sampleVehicle({ terminalId: TERMINAL });
  directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
  const clock = new VirtualClock();
  const intake = new Intake(log as unknown as Log, directory, logger, () => {}, undefined, undefined, clock);
  const traces = new PacketTraces(() => 7);
  const reported: number[] = [];
  const take = (nth: number) =>
    intake.take('osmand', TERMINAL, [blankPosition(nth, 0, 0)], nth, traces.next(), () => reported.push(nth));
  return { intake, take, reported, clock };
}

test('whatever the log refuses, packets stand in it in the order in which they came, and each is acknowledged once', async () => {
  const step = fc.constantFrom('packet', 'packet', 'takes', 'takes', 'refuses', 'is full', 'has room', 'pause');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const log = new MoodyLog();
      const { intake, take, reported, clock } = intakeOn(log);
      let packets = 0;
      for (const each of steps) {
        if (each === 'packet') expect(take(packets++)).toBe(true);
        else if (each !== 'pause') log.answer(each);
        await clock.advance(each === 'pause' ? 110 : 0);
      }
      log.answer('has room');
      while (reported.length < packets) {
        log.answer('takes');
        await clock.advance(log.isIdle ? 20 : 0);
      }
      const all = Array.from({ length: packets }, (_, nth) => nth);
      expect(log.taken).toEqual(all);
      expect(reported).toEqual(all);
      expect(intake.healthy).toBe(true);
      await intake.drain();
    }),
    { numRuns: runs(1000) },
  );
});

test('what the log refuses while the service stops is not acknowledged', async () => {
  const log = new MoodyLog();
  const { intake, take, reported } = intakeOn(log);
  take(1);
  await nextTurn();
  take(2);
  const drained = intake.drain();
  log.answer('takes');
  await nextTurn();
  log.answer('refuses');
  await drained;
  expect(reported).toEqual([1]);
});

test('a date before the rollover of the GPS week and a speed that no vehicle drives are corrected and counted', async () => {
  const log = new MoodyLog();
  const packets: TelemetryPacket[] = [];
  const corrected: string[] = [];
  const directory = new Directory();
  const vehicle = sampleVehicle({ terminalId: TERMINAL });
  directory.apply({ kind: 'vehicle', id: vehicle.id, version: 1, changedAtMs: 0, definition: vehicle });
  const intake = new Intake(
    log as unknown as Log,
    directory,
    logger,
    () => {},
    (packet) => packets.push(packet),
    (what) => corrected.push(what),
  );
  const nowMs = Date.UTC(2026, 10, 27);
  const old = blankPosition(nowMs - 7168 * 86_400_000 - 5000, 48.2, 16.3);
  const fast = { ...blankPosition(nowMs, 48.2, 16.3), speedKmh: 1202 };
  intake.take('osmand', TERMINAL, [old, fast], nowMs, new PacketTraces(() => 7).next(), () => {});
  expect(packets[0]?.positions).toMatchObject([{ fixTimeMs: nowMs - 5000 }, { fixTimeMs: nowMs, speedKmh: null }]);
  expect(corrected).toEqual(['week-rollover', 'impossible-speed']);
});

test('what a terminal recorded for another dealer goes to the vehicle of that dealer, however late it comes', async () => {
  const log = new MoodyLog();
  const directory = new Directory();
  const vehicle = (nth: number) => sampleVehicle({ id: `00000000-0000-7000-8000-00000000000${nth}` as VehicleId });
  const [first, second, third] = [vehicle(1), vehicle(2), vehicle(3)];
  const inPlaceOf = (id: VehicleId, untilMs: number) => ({ predecessor: { id, untilMs } });
  const moved = { ...second, ...inPlaceOf(first.id, 100) };
  const present = { ...third, terminalId: TERMINAL, ...inPlaceOf(second.id, 200) };
  for (const definition of [first, moved, present])
    directory.apply({ kind: 'vehicle', id: definition.id, version: 1, changedAtMs: 0, definition });
  const intake = new Intake(log as unknown as Log, directory, logger, () => {});
  const traces = new PacketTraces(() => 7);
  let durable = 0;
  const take = async (...fixTimesMs: number[]) => {
    const before = log.packets.length;
    const positions = fixTimesMs.map((ms) => blankPosition(ms, 0, 0));
    expect(intake.take('osmand', TERMINAL, positions, 500, traces.next(), () => durable++)).toBe(true);
    await nextTurn();
    log.answer('takes');
    return log.packets
      .slice(before)
      .map((packet) => [packet.vehicleId, packet.positions.map(({ fixTimeMs }) => fixTimeMs)]);
  };
  expect(await take(50, 99, 100, 199, 200, 300)).toEqual([
    [first.id, [50, 99]],
    [second.id, [100, 199]],
    [third.id, [200, 300]],
  ]);
  expect(await take(400)).toEqual([[third.id, [400]]]);
  // The terminal is there now, whatever it brings.
  expect(await take(50)).toEqual([
    [first.id, [50]],
    [third.id, []],
  ]);
  // Deleted with its history: nobody else gets it.
  directory.apply({ kind: 'vehicle', id: first.id, version: 2, changedAtMs: 1, definition: null });
  expect(await take(50, 150, 250)).toEqual([
    [second.id, [150]],
    [third.id, [250]],
  ]);
  await vi.waitFor(() => expect(durable).toBe(4));
  await intake.drain();
});
