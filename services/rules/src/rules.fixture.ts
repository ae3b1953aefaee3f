import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  blankPosition,
  type Clock,
  type Definition,
  type DefinitionChange,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  PacketTrace,
  type Position,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofence, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import {
  CheckpointFencedError,
  type Checkpoints,
  definitionsTopic,
  type Log,
  openSqliteCheckpoints,
  openSqliteLog,
  type Topic,
} from '@outrider/log';
import { Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { createRules, type RulesConfig } from './rules.ts';

export const T0 = Date.UTC(2026, 2, 1, 8);
const OPERATOR = '00000000-0000-7000-8000-0000000000aa' as UserId;
export const operator: User = sampleUser({ id: OPERATOR });
export const vehicleId = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}` as VehicleId;
export const vehicle = (n: number, fields: Partial<Vehicle> = {}): Vehicle =>
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
export const FENCE = '00000000-0000-7000-8000-0000000000f1' as GeofenceId;
/** From 0.096 to 0.104 E along the parallel of 0.1 N, about. */
export const geofence = (fields: Partial<Geofence> = {}): Geofence =>
  sampleGeofence({
    id: FENCE,
    name: 'Depot',
    ownerId: OPERATOR,
    shape: { type: 'circle', center: [0.1, 0.1], radiusM: 445 },
    ...fields,
  });
export const changeTo = (definition: Definition, changedAtMs = T0): DefinitionChange => {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs, definition };
};
export const fix = (seconds: number, longitude: number, speedKmh: number | null = 30): Position => ({
  ...blankPosition(T0 + seconds * 1000, 0.1, longitude),
  speedKmh,
});
export const packet = (n: number, ...positions: Position[]): TelemetryPacket => ({
  vehicleId: vehicleId(n),
  terminalId: String(n) as TerminalId,
  protocol: 'osmand',
  receivedAtMs: Math.max(...positions.map(({ fixTimeMs }) => fixTimeMs)),
  positions,
  trace: new PacketTrace(1, 2, n, positions.length),
});

class Killed extends Error {}

/** What the service does to the world, up to the moment when it is killed: nothing it does after that has an effect. */
export class Life {
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

/* The stores that the rules of a test work with. */
export let folder: string;
export let log: Log;
export let checkpoints: Checkpoints;
export let hub: MemoryHub;

export async function openWorld(partitions = 1): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'outrider-rules-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite'), partitions });
  checkpoints = openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') });
  hub = new MemoryHub();
}

/** As after a restart of whatever keeps the newest positions. */
export function emptyHub(): void {
  hub = new MemoryHub();
}

export async function closeWorld(): Promise<void> {
  await log.close();
  await checkpoints.close();
  await rm(folder, { recursive: true });
}

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
export function shared(log: Log): Log {
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

/** The rules over the stores of the test, or others. */
export function rulesIn(
  life: Life,
  config: Partial<RulesConfig> = {},
  others: { log?: Log; checkpoints?: Checkpoints; clock?: Clock } = {},
) {
  return createRules({
    config: { checkpointMs: 1000, checkpointPackets: 1_000_000, silenceCheckMs: 3_600_000, ...config },
    log: life.log(others.log ?? log),
    checkpoints: life.checkpoints(others.checkpoints ?? checkpoints),
    hub,
    logger: SILENT,
    metrics: new Metrics(),
    clock: others.clock ?? clockAt(() => 0),
  });
}

export const saved = (partition = 0) => checkpoints.load('rules', partition);

export async function all<T>(topic: Topic<T>): Promise<T[]> {
  const values: T[] = [];
  for (const [partition, end] of await log.endOffsets(topic))
    for await (const { records } of log.read(topic, partition, 'earliest', end))
      values.push(...records.map(({ value }) => value));
  return values;
}

/** A clock that knows how often it was looked at: what looks for silence has looked, and found none. */
export function watchedClock(startMs: number) {
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

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (await holds()) return;
    await wait(5);
  }
  throw new Error(`never came true: ${what}`);
}

export const words = (events: readonly FleetEvent[]) =>
  events.map(({ kind, phase, endReason }) => [kind, phase, endReason ?? ''].join(' ').trim());

export async function define(...definitions: Definition[]): Promise<void> {
  await log.append(
    definitionsTopic,
    definitions.map((definition) => changeTo(definition)),
  );
}
