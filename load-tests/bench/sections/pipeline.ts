import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BareServerMessage } from '../road/bare-server.ts';
import { startChild } from '../road/child.ts';
import { createGeofences, createVehicles, openRest } from '../road/definitions.ts';
import { startGenerator } from '../road/generators.ts';
import type { InsertAloneMessage, InsertAloneTask } from '../road/insert-alone.ts';
import { type Service, startService } from '../road/service.ts';
import { defineSection, figure, type Table } from '../section.ts';

const CONNECTIONS = 200;
const WINDOW_PACKETS = 8;
const TERMINALS = { host: '127.0.0.1', connections: CONNECTIONS, windowPackets: WINDOW_PACKETS };
const GEOFENCES = 10_000;
const BATCH_POSITIONS = 100_000;
/** Of each connection, before anything is measured: by then most code is compiled. */
const WARM_POSITIONS = 500;
/** A change is in force within a second. */
const IN_FORCE_MS = 2000;
/** No progress for this long: something is stuck. */
const STUCK_MS = 60_000;

/** How many positions a packet has, and the processor seconds that a million of them may take. */
const SHAPES = [
  { perPacket: 1, goal: 7, goalWithGeofences: 8.5 },
  { perPacket: 10, goal: 2.2, goalWithGeofences: 4.2 },
] as const;

interface Load {
  perPacket: number;
  positionsPerConnection: number;
  endMs: number;
}

/** When the last position passed each stage. */
interface Reached {
  seconds: number;
  positionsPerSecond: number;
}

interface SceneMeasured {
  perPacket: number;
  geofences: number;
  positions: number;
  durable: Reached;
  processed: Reached;
  archived: Reached;
  all: Reached;
  events: number;
  cpuSecondsPerMillion: number | null;
  /** By thread; of those that took next to nothing, none. */
  threadSecondsPerMillion: Record<string, number>;
  generatorCpuSeconds: number;
}

interface BareMeasured {
  perPacket: number;
  parsing: Reached & { cpuSecondsPerMillion: number | null };
  inserting: Reached & { cpuSecondsPerMillion: number | null };
}

/** The whole pipeline at full load, beside what parsing alone and inserting alone cost. */
export const section = defineSection({
  about: 'positions from the terminals’ sockets until they are durable, through the rules and in ClickHouse',
  bare: 'a server that decodes the frames with the same codec and acknowledges them at once, and the same rows inserted into ClickHouse alone: the seconds of both, the throughput of the slower one',
  async run(say, quick) {
    const positionsPerConnection = quick ? 1500 : 10_000;
    const measured = await measureService(positionsPerConnection, say);
    const bare: BareMeasured[] = [];
    for (const { perPacket } of SHAPES) {
      say(`bare costs, ${perPacket} a packet`);
      const load: Load = { perPacket, positionsPerConnection, endMs: Date.now() };
      bare.push({ perPacket, parsing: await parsingAlone(load), inserting: await insertingAlone(load) });
    }
    return { result: { connections: CONNECTIONS, ...measured, bare }, tables: tablesOf(measured, bare) };
  },
  figures: ({ scenes, bare, residentPeakMb }) => [
    ...scenes.map((scene) => {
      const shape = SHAPES.find(({ perPacket }) => perPacket === scene.perPacket);
      const atMost = scene.geofences === 0 ? shape?.goal : shape?.goalWithGeofences;
      return figure(`full load, ${nameOf(scene)}`, 's/M', scene.cpuSecondsPerMillion, {
        bare: bareSeconds(bare, scene.perPacket),
        goal: atMost === undefined ? null : { atMost },
      });
    }),
    ...scenes.map((scene) =>
      figure(`throughput, ${nameOf(scene)}`, 'positions/s', scene.all.positionsPerSecond, {
        bare: bareRate(bare, scene.perPacket),
      }),
    ),
    figure('resident at most', 'MB', residentPeakMb),
  ],
});

function nameOf({ perPacket, geofences }: Pick<SceneMeasured, 'perPacket' | 'geofences'>): string {
  return `${perPacket} a packet, ${geofences === 0 ? 'no' : geofences.toLocaleString('en-US')} geofences`;
}

function bareSeconds(bare: readonly BareMeasured[], perPacket: number): number | null {
  const { parsing, inserting } = bare.find((each) => each.perPacket === perPacket) ?? {};
  if (parsing?.cpuSecondsPerMillion == null || inserting?.cpuSecondsPerMillion == null) return null;
  return parsing.cpuSecondsPerMillion + inserting.cpuSecondsPerMillion;
}

function bareRate(bare: readonly BareMeasured[], perPacket: number): number | null {
  const of = bare.find((each) => each.perPacket === perPacket);
  return of === undefined ? null : Math.min(of.parsing.positionsPerSecond, of.inserting.positionsPerSecond);
}

async function measureService(positionsPerConnection: number, say: (progress: string) => void) {
  say('starting the service');
  // Nobody reads the archive here, and it counts when the last rows are there.
  const service = await startService({ ARCHIVE_UNREAD_MS: '1000' });
  try {
    const rest = await openRest(service);
    say(`making ${CONNECTIONS} vehicles`);
    await createVehicles(rest, CONNECTIONS);
    // The drives of a load begin where those of the load before ended: later data would be recalculated.
    const last = SHAPES.length * 2 - 1;
    const nowMs = Date.now();
    const scenes: SceneMeasured[] = [];
    const endOf = (scene: number) => nowMs - (last - scene) * positionsPerConnection * 1000;
    say('warming up');
    await measureScene(service, { perPacket: 1, positionsPerConnection: WARM_POSITIONS, endMs: endOf(-1) }, 0, say);
    for (const geofences of [0, GEOFENCES]) {
      if (geofences > 0) {
        say(`making ${geofences.toLocaleString('en-US')} geofences`);
        await createGeofences(rest, geofences);
      }
      await new Promise((resolve) => setTimeout(resolve, IN_FORCE_MS));
      for (const { perPacket } of SHAPES) {
        const load: Load = { perPacket, positionsPerConnection, endMs: endOf(scenes.length) };
        scenes.push(await measureScene(service, load, geofences, say));
      }
    }
    rest.close();
    return { scenes, residentPeakMb: await service.peakResidentMb() };
  } finally {
    await service.stop();
  }
}

async function measureScene(
  service: Service,
  load: Load,
  geofences: number,
  say: (progress: string) => void,
): Promise<SceneMeasured> {
  const generator = await startGenerator({ ...TERMINALS, port: service.ports.teltonika, ...load });
  try {
    const { positions } = await generator.next('ready');
    const metricsBefore = await service.metrics();
    const cpuBefore = await service.cpuSeconds();
    const threadsBefore = await service.threadCpuSeconds();
    say(`${nameOf({ perPacket: load.perPacket, geofences })}: sending ${positions.toLocaleString('en-US')} positions`);
    generator.say('go');
    const begun = performance.now();
    const [done, reached] = await Promise.all([
      generator.next('done'),
      watchStages(service, progressOf(metricsBefore), positions, begun, say),
    ]);
    const cpuAfter = await service.cpuSeconds();
    const threadsAfter = await service.threadCpuSeconds();
    const metrics = await service.metrics();
    const at = (seconds: number): Reached => ({ seconds, positionsPerSecond: Math.round(positions / seconds) });
    const events = (of: ReadonlyMap<string, number>) => of.get('outrider_events_total') ?? 0;
    return {
      perPacket: load.perPacket,
      geofences,
      positions,
      durable: at(done.seconds),
      processed: at(reached.processed),
      archived: at(reached.archived),
      all: at(Math.max(done.seconds, reached.processed, reached.archived)),
      events: events(metrics) - events(metricsBefore),
      cpuSecondsPerMillion:
        cpuBefore === null || cpuAfter === null ? null : perMillion(cpuAfter - cpuBefore, positions),
      threadSecondsPerMillion: spentPerMillion(threadsBefore, threadsAfter, positions),
      generatorCpuSeconds: done.cpuSeconds,
    };
  } finally {
    await generator.stop();
  }
}

function perMillion(seconds: number, positions: number): number {
  return Math.round((seconds * 1e9) / positions) / 1000;
}

/** @returns processor seconds for a million positions by thread, those that spent the most first */
function spentPerMillion(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  positions: number,
): Record<string, number> {
  const spent = [...after].map(([thread, seconds]): [string, number] => [
    thread,
    perMillion(seconds - (before.get(thread) ?? 0), positions),
  ]);
  return Object.fromEntries(spent.filter(([, seconds]) => seconds >= 0.01).sort((a, b) => b[1] - a[1]));
}

/** How many positions passed the rules, and the archiver. */
function progressOf(metrics: ReadonlyMap<string, number>): { processed: number; archived: number } {
  const processed = metrics.get('outrider_rules_positions_total');
  if (processed === undefined) throw new Error('/metrics lacks the number of positions that passed the rules');
  // With labels: it does not exist before the first insert.
  return { processed, archived: metrics.get('outrider_archived_rows_total{topic="telemetry"}') ?? 0 };
}

/** @returns seconds since `begun` at which the rules, and the archiver, had all of them */
async function watchStages(
  service: Service,
  before: { processed: number; archived: number },
  positions: number,
  begun: number,
  say: (progress: string) => void,
) {
  const reached = { processed: 0, archived: 0 };
  let last = -1;
  let movedAt = performance.now();
  let saidAt = performance.now();
  for (;;) {
    const now = progressOf(await service.metrics());
    const processed = now.processed - before.processed;
    const archived = now.archived - before.archived;
    const seconds = (performance.now() - begun) / 1000;
    const state = `${processed.toLocaleString('en-US')} processed and ${archived.toLocaleString('en-US')} archived`;
    if (processed > positions || archived > positions) throw new Error(`${state} of ${positions} positions`);
    if (processed === positions) reached.processed ||= seconds;
    if (archived === positions) reached.archived ||= seconds;
    if (reached.processed > 0 && reached.archived > 0) return reached;
    if (processed + archived !== last) movedAt = performance.now();
    last = processed + archived;
    if (performance.now() - movedAt > STUCK_MS) throw new Error(`stuck: ${state} of ${positions} positions`);
    if (performance.now() - saidAt > 5000) {
      saidAt = performance.now();
      say(`${seconds.toFixed(0)} s: ${state}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function parsingAlone(load: Load): Promise<BareMeasured['parsing']> {
  const server = await startChild<null, BareServerMessage>('./bare-server.ts', null);
  try {
    const { port } = await server.next('listening');
    const generator = await startGenerator({ ...TERMINALS, port, ...load });
    try {
      const { positions } = await generator.next('ready');
      generator.say('go');
      const { seconds } = await generator.next('done');
      server.say('count');
      const counted = await server.next('counted');
      if (counted.positions !== positions)
        throw new Error(`${counted.positions} of ${positions} positions were parsed`);
      return rate(positions, seconds, counted.cpuSeconds);
    } finally {
      await generator.stop();
    }
  } finally {
    await server.stop();
  }
}

async function insertingAlone(load: Load): Promise<BareMeasured['inserting']> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
  const child = await startChild<InsertAloneTask, InsertAloneMessage>('./insert-alone.ts', {
    folder,
    vehicles: CONNECTIONS,
    positionsPerVehicle: load.positionsPerConnection,
    perPacket: load.perPacket,
    endMs: load.endMs,
    batchPositions: BATCH_POSITIONS,
  });
  try {
    const { positions, seconds, cpuSeconds } = await child.next('inserted');
    if (positions !== CONNECTIONS * load.positionsPerConnection)
      throw new Error(`${positions} positions were inserted`);
    return rate(positions, seconds, cpuSeconds);
  } finally {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function rate(positions: number, seconds: number, cpuSeconds: number): BareMeasured['inserting'] {
  return {
    seconds,
    positionsPerSecond: Math.round(positions / seconds),
    cpuSecondsPerMillion: perMillion(cpuSeconds, positions),
  };
}

function tablesOf(
  { scenes, residentPeakMb }: { scenes: readonly SceneMeasured[]; residentPeakMb: number | null },
  bare: readonly BareMeasured[],
): Table[] {
  const threads = new Set(scenes.flatMap(({ threadSecondsPerMillion }) => Object.keys(threadSecondsPerMillion)));
  return [
    {
      title: `Full load of ${CONNECTIONS} terminals: positions/s until they are …; ${residentPeakMb} MB resident at most`,
      columns: ['load', 'durable', 'through the rules', 'in ClickHouse', 'all of that', 'bare', 'events per 1,000'],
      rows: scenes.map((scene) => [
        nameOf(scene),
        scene.durable.positionsPerSecond,
        scene.processed.positionsPerSecond,
        scene.archived.positionsPerSecond,
        scene.all.positionsPerSecond,
        bareRate(bare, scene.perPacket),
        (scene.events / scene.positions) * 1000,
      ]),
    },
    {
      title: 'Processor seconds per million positions',
      columns: ['what', ...scenes.map(nameOf)],
      rows: [
        ['the service', ...scenes.map(({ cpuSecondsPerMillion }) => cpuSecondsPerMillion)],
        ...[...threads].map((thread) => [
          `thread ${thread}`,
          ...scenes.map(({ threadSecondsPerMillion }) => threadSecondsPerMillion[thread] ?? 0),
        ]),
        ['parsing and inserting alone', ...scenes.map(({ perPacket }) => bareSeconds(bare, perPacket))],
        ['the generator', ...scenes.map((scene) => perMillion(scene.generatorCpuSeconds, scene.positions))],
      ],
    },
  ];
}
