import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import {
  blankPosition,
  type Definition,
  type DefinitionChange,
  Directory,
  type FleetEvent,
  type GeofenceId,
  type LateInterval,
  type Position,
  SYSTEM_CLOCK,
  type TelemetryPacket,
  type TerminalId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofence, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { lateTopic, openSqliteLog } from '@outrider/log';
import { openRegistry } from '@outrider/registry';
import { Metrics } from '@outrider/runtime';
import { openWarehouse, type Warehouse } from '@outrider/warehouse';
import { createRecalculator } from './recalculator.ts';

export interface RecalculationBenchOptions {
  vehicles: number;
  /** How long each vehicle was offline, in minutes. */
  outageMinutes: number;
  say(progress: string): void;
}

export interface RecalculationBenchResult {
  vehicles: number;
  outageMinutes: number;
  /** From the first late interval in the log to the end of the last recalculation. */
  seconds: number;
  vehiclesPerSecond: number;
  /** Processor time meanwhile on all threads of the process, including those of ClickHouse. */
  cpuSeconds: number;
  /** Positions that the recalculations went through. */
  positions: number;
  correctedEvents: number;
  /** Time of the engine alone for the same number of positions, in memory. */
  bareSeconds: number;
  bareVehiclesPerSecond: number;
  /** Share of the bare engine's vehicles per second. */
  share: number;
  maxRssMb: number;
  /** Longest time for which the main thread was blocked, in milliseconds. */
  longestPauseMs: number;
}

const FIX_SECONDS = 30;
const BEFORE_MINUTES = 180;
const AFTER_MINUTES = 5;
const GEOFENCES = 200;
const AT_ONCE = 500;
const DAY_MS = 86_400_000;

const idOf = (kind: string, n: number) => `0190a000-0000-7${kind}-8000-${n.toString(16).padStart(12, '0')}`;

/** A drive on a line of its own through the same geofences, with a stop of seven minutes in each hour. */
function driveOf(nth: number, startMs: number, minutes: number): Position[] {
  const phase = (nth * 7919) % 3600;
  const fixes = (minutes * 60) / FIX_SECONDS;
  let longitude = 10 + (nth % 100) * 0.01;
  const latitude = 50 + Math.floor(nth / 100) * 0.002;
  return Array.from({ length: fixes }, (_, fix) => {
    const stands = (phase + fix * FIX_SECONDS) % 3600 < 420;
    const speedKmh = stands ? 0 : 40 + ((nth + fix) % 30);
    longitude += (speedKmh / 3.6) * FIX_SECONDS * 1.4e-5;
    return {
      ...blankPosition(startMs + fix * FIX_SECONDS * 1000, latitude, longitude),
      speedKmh,
      courseDeg: 90,
      altitudeM: 120,
      satellites: 11,
      ignition: !stands,
      supplyV: 13.8,
      attributes: { io66: 13_800 + (fix % 50), io24: speedKmh, io239: stands ? 0 : 1 },
    };
  });
}

function changeTo(definition: Definition): DefinitionChange {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs: 0, definition };
}

/** The definitions of a fleet and the times of its outage. */
function fleetOf(count: number, outageMinutes: number) {
  const owner = sampleUser({ id: idOf('aaa', 1) as UserId, role: 'operator' });
  const geofences = Array.from({ length: GEOFENCES }, (_, nth) =>
    sampleGeofence({
      id: idOf('bbb', nth) as GeofenceId,
      ownerId: owner.id,
      name: `Place ${nth}`,
      shape: { type: 'circle', center: [10 + nth * 0.013, 50 + (nth % 20) * 0.01], radiusM: 2500 },
    }),
  );
  const vehicles = Array.from({ length: count }, (_, nth) =>
    sampleVehicle({ id: idOf('ccc', nth) as VehicleId, name: `Vehicle ${nth}`, speedLimitKmh: 60 }),
  );
  const changes = [owner, ...geofences, ...vehicles].map(changeTo);
  const minutes = BEFORE_MINUTES + outageMinutes + AFTER_MINUTES;
  const startMs = Math.floor((Date.now() - minutes * 60_000) / 1000) * 1000;
  const outageMs = startMs + BEFORE_MINUTES * 60_000;
  return { vehicles, changes, minutes, startMs, outageMs, backMs: outageMs + outageMinutes * 60_000 };
}

type Fleet = ReturnType<typeof fleetOf>;

/**
 * Archives the positions of the fleet and its live events.
 *
 * @returns the intervals that late data came for
 */
async function archive(fleet: Fleet, warehouse: Warehouse, say: (progress: string) => void): Promise<LateInterval[]> {
  const { vehicles, changes, startMs, minutes, outageMs, backMs } = fleet;
  const receivedAtMs = Date.now() - 10_000;
  const intervals: LateInterval[] = [];
  const live = new Engine();
  live.load(changes);
  let offset = 0;
  for (let from = 0; from < vehicles.length; from += AT_ONCE) {
    say(`${from.toLocaleString('en-US')} of ${vehicles.length.toLocaleString('en-US')} vehicles archived`);
    const packets: { offset: number; value: TelemetryPacket }[] = [];
    const events: FleetEvent[] = [];
    for (const [place, { id: vehicleId }] of vehicles.slice(from, from + AT_ONCE).entries()) {
      const nth = from + place;
      const drive = driveOf(nth, startMs, minutes);
      const send = (positions: Position[], atMs: number) => {
        const value = packetOf(vehicleId, nth, atMs, positions);
        packets.push({ offset, value });
        live.process(value, offset++, events);
      };
      const isLate = ({ fixTimeMs }: Position) => fixTimeMs >= outageMs && fixTimeMs < backMs;
      for (const position of drive) if (!isLate(position)) send([position], position.fixTimeMs + 500);
      const late = drive.filter(isLate);
      for (let at = 0; at < late.length; at += 10) send(late.slice(at, at + 10), receivedAtMs);
      intervals.push(...live.takeLate());
    }
    live.takeUpdated();
    await warehouse.insertPositions(packets);
    await warehouse.insertEvents(events.map((value, nth) => ({ offset: offset + nth, value })));
  }
  return intervals;
}

function packetOf(vehicleId: VehicleId, nth: number, receivedAtMs: number, positions: Position[]): TelemetryPacket {
  return { vehicleId, terminalId: String(nth) as TerminalId, protocol: 'teltonika', receivedAtMs, positions };
}

/** Seconds that the engine alone takes for the positions of one vehicle, in memory. */
function bareSecondsEach({ vehicles, changes, startMs, minutes }: Fleet): number {
  const bare = new Engine({ origin: 'recalculated' });
  bare.load(changes);
  const sample = vehicles.slice(0, 500);
  const drives = sample.map((_, nth) => driveOf(nth, startMs, minutes));
  const startedAtMs = performance.now();
  for (const [nth, { id }] of sample.entries()) bare.process(packetOf(id, nth, Date.now(), drives[nth] ?? []), nth, []);
  return (performance.now() - startedAtMs) / 1000 / sample.length;
}

/** Measures the memory of the process and the pauses of its main thread. */
function watchProcess() {
  let [maxRssBytes, longestPauseMs, lastMs] = [0, 0, performance.now()];
  const cpuBefore = process.cpuUsage();
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestPauseMs = Math.max(longestPauseMs, nowMs - lastMs - 10);
    lastMs = nowMs;
    maxRssBytes = Math.max(maxRssBytes, process.memoryUsage.rss());
  }, 10);
  const seconds = () => (performance.now() - startedAtMs) / 1000;
  return {
    seconds,
    end() {
      clearInterval(timer);
      const cpu = process.cpuUsage(cpuBefore);
      const cpuSeconds = (cpu.user + cpu.system) / 1e6;
      return { seconds: seconds(), cpuSeconds, maxRssMb: maxRssBytes / 1e6, longestPauseMs };
    },
  };
}

/**
 * Benchmark of vehicles that reconnect after an outage. Each has sent its newest positions first, and those recorded
 * during the outage afterwards. Their history and their live events are archived. The result is the time until all of
 * it is recalculated.
 */
export async function recalculationBench(options: RecalculationBenchOptions): Promise<RecalculationBenchResult> {
  const { vehicles: count, outageMinutes, say } = options;
  const folder = await mkdtemp(join(tmpdir(), 'outrider-recalculation-'));
  const log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  const registry = await openRegistry({ path: join(folder, 'registry.sqlite') });
  const warehouse = await openWarehouse({ path: join(folder, 'warehouse') });
  const metrics = new Metrics();
  try {
    const fleet = fleetOf(count, outageMinutes);
    const directory = new Directory();
    for (const change of fleet.changes) directory.apply(change);
    const intervals = await archive(fleet, warehouse, say);
    say('the engine alone');
    const bareSecondsOfOne = bareSecondsEach(fleet);

    say(`${count.toLocaleString('en-US')} vehicles come back`);
    const recalculator = createRecalculator({
      log,
      checkpoints: {
        load: async () => ({ offsets: { telemetry: 2 ** 40, events: 2 ** 40 }, identities: {}, entries: new Map() }),
      },
      jobs: registry.jobs,
      history: warehouse,
      directory,
      logger: { debug() {}, info() {}, warn: console.error, error: console.error, fatal: console.error },
      metrics,
      clock: SYSTEM_CLOCK,
      config: { againMs: DAY_MS },
    });
    const totalOf = async (name: string) => {
      const read = await metrics.getSingleMetric(name)?.get();
      return (read?.values ?? []).reduce((sum, { value }) => sum + value, 0);
    };
    const watch = watchProcess();
    for (let at = 0; at < intervals.length; at += 1000) await log.append(lateTopic, intervals.slice(at, at + 1000));
    await recalculator.start();
    for (let shown = 0; ; ) {
      const done = await totalOf('outrider_recalculations_total');
      if (done >= count) break;
      if (done - shown >= count / 10) {
        shown = done;
        say(`${done.toLocaleString('en-US')} recalculated after ${watch.seconds().toFixed(1)} s`);
      }
      await wait(20);
    }
    const measured = watch.end();
    await recalculator.stop();
    const positions = await totalOf('outrider_recalculated_positions_total');
    const correctedEvents = await totalOf('outrider_recalculated_events_total');
    const bareSeconds = bareSecondsOfOne * count * (positions / (count * ((fleet.minutes * 60) / FIX_SECONDS)));
    return {
      vehicles: count,
      outageMinutes,
      ...measured,
      vehiclesPerSecond: count / measured.seconds,
      positions,
      correctedEvents,
      bareSeconds,
      bareVehiclesPerSecond: count / bareSeconds,
      share: bareSeconds / measured.seconds,
    };
  } finally {
    await warehouse.close();
    await registry.close();
    await log.close();
    await rm(folder, { recursive: true, force: true });
  }
}
