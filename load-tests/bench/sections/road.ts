import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BareServerMessage } from '../road/bare-server.ts';
import { startChild } from '../road/child.ts';
import { createGeofences, createVehicles, openRest } from '../road/definitions.ts';
import { startGenerator } from '../road/generators.ts';
import type { InsertAloneMessage, InsertAloneTask } from '../road/insert-alone.ts';
import { type Service, startService } from '../road/service.ts';
import type { Section } from '../section.ts';

const CONNECTIONS = 200;
const PER_PACKET = 10;
const WINDOW_PACKETS = 8;
const TERMINALS = { host: '127.0.0.1', connections: CONNECTIONS, perPacket: PER_PACKET, windowPackets: WINDOW_PACKETS };
const GEOFENCES = 10_000;
const BATCH_POSITIONS = 100_000;
/** No progress for this long: something is stuck. */
const STUCK_MS = 60_000;

interface Load {
  positionsPerConnection: number;
  endMs: number;
}

/** The whole road, beside what parsing alone and inserting alone cost. */
export const section: Section = {
  about: 'positions a second from the terminals’ sockets until they are durable, through the rules and in ClickHouse',
  async run(say, quick) {
    const load: Load = { positionsPerConnection: quick ? 1000 : 10_000, endMs: Date.now() };
    const geofences = quick ? GEOFENCES / 10 : GEOFENCES;
    const road = await wholeRoad(load, geofences, say);
    say('parsing alone');
    const parsing = await parsingAlone(load);
    say('inserting alone');
    const inserting = await insertingAlone(load);

    const slower = Math.min(parsing.positionsPerSecond, inserting.positionsPerSecond);
    const ratio = (positionsPerSecond: number): number => Math.round((positionsPerSecond / slower) * 1000) / 1000;
    const result = {
      connections: CONNECTIONS,
      positionsPerPacket: PER_PACKET,
      windowPackets: WINDOW_PACKETS,
      geofences,
      ...road,
      parsingAlone: parsing,
      insertingAlone: inserting,
      ofSlowerBareCost: ratio(road.all.positionsPerSecond),
    };
    return {
      result,
      tables: [
        {
          title: `${road.positions.toLocaleString('en-US')} positions, ${PER_PACKET} a packet, ${CONNECTIONS} terminals, ${geofences.toLocaleString('en-US')} geofences`,
          columns: ['until', 'seconds', 'positions/s', 'of the slower bare cost'],
          rows: [
            ['durable and acknowledged', road.durable],
            ['through the rules', road.processed],
            ['in ClickHouse', road.archived],
            ['all of that', road.all],
          ].map(([until, at]) => {
            const { seconds, positionsPerSecond } = at as Reached;
            return [until as string, seconds, positionsPerSecond, ratio(positionsPerSecond)];
          }),
        },
        {
          title: 'Bare costs, in the same run',
          columns: ['what', 'seconds', 'positions/s'],
          rows: [
            [
              'parsing alone: the same generator, frames read and acknowledged',
              parsing.seconds,
              parsing.positionsPerSecond,
            ],
            ['inserting alone: the same rows', inserting.seconds, inserting.positionsPerSecond],
          ],
        },
        {
          title: 'Processor seconds per million positions',
          columns: ['what', 'seconds'],
          rows: [
            ...Object.entries(road.cpuSecondsPerMillion).map(([thread, seconds]) => [`thread ${thread}`, seconds]),
            ['the service', perMillion(road.serviceCpuSeconds, road.positions)],
            ['parsing alone', perMillion(parsing.cpuSeconds, road.positions)],
            ['inserting alone', perMillion(inserting.cpuSeconds, road.positions)],
          ],
        },
        {
          title: 'Beside',
          columns: ['what', 'value'],
          rows: [
            ['positions that moved a vehicle', road.moves],
            ['events', road.events],
            ['events per 1,000 positions', (road.events / road.positions) * 1000],
            ['processor seconds of the service', road.serviceCpuSeconds],
            ['processor seconds of the generator', road.generatorCpuSeconds],
            ['resident memory before, MB', road.residentBeforeMb],
            ['resident memory at most, MB', road.residentPeakMb],
            ['seconds to make the definitions by REST', road.definitionsSeconds],
          ],
        },
      ],
    };
  },
};

function perMillion(seconds: number | null, positions: number): number | null {
  return seconds === null ? null : Math.round((seconds * 1e9) / positions) / 1000;
}

/** @returns processor seconds for a million positions by thread, those that spent the most first */
function spentPerMillion(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  positions: number,
): Record<string, number> {
  const spent = [...after].map(([thread, seconds]): [string, number] => [
    thread,
    perMillion(seconds - (before.get(thread) ?? 0), positions) ?? 0,
  ]);
  return Object.fromEntries(spent.filter(([, seconds]) => seconds >= 0.01).sort((a, b) => b[1] - a[1]));
}

/** When the last position passed each stage. */
interface Reached {
  seconds: number;
  positionsPerSecond: number;
}

async function wholeRoad(load: Load, geofences: number, say: (progress: string) => void) {
  say('starting the service');
  const service = await startService();
  try {
    const definitionsSeconds = await timed(async () => {
      const rest = await openRest(service);
      say(`making ${CONNECTIONS} vehicles`);
      await createVehicles(rest, CONNECTIONS);
      say(`making ${geofences.toLocaleString('en-US')} geofences`);
      await createGeofences(rest, geofences);
      rest.close();
    });
    say('recording the drives, connecting');
    const generator = await startGenerator({ ...TERMINALS, port: service.ports.teltonika, ...load });
    try {
      const { positions } = await generator.next('ready');
      // A change is in force within a second.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const residentBeforeMb = await service.residentMb();
      const cpuBefore = await service.cpuSeconds();
      const threadsBefore = await service.threadCpuSeconds();
      say(`sending ${positions.toLocaleString('en-US')} positions`);
      generator.say('go');
      const begun = performance.now();
      const [done, reached] = await Promise.all([generator.next('done'), watchRoad(service, positions, begun, say)]);
      const cpuAfter = await service.cpuSeconds();
      const threadsAfter = await service.threadCpuSeconds();
      const metrics = await service.metrics();
      const at = (seconds: number): Reached => ({ seconds, positionsPerSecond: Math.round(positions / seconds) });
      return {
        positions,
        durable: at(done.seconds),
        processed: at(reached.processed),
        archived: at(reached.archived),
        all: at(Math.max(done.seconds, reached.processed, reached.archived)),
        /** Good fixes, newer than the vehicle's newest: all of them should be. */
        moves: metrics.get('outrider_rules_moves_total') ?? 0,
        events: metrics.get('outrider_events_total') ?? 0,
        serviceCpuSeconds: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
        generatorCpuSeconds: done.cpuSeconds,
        /** By thread; of those that took next to nothing, none. */
        cpuSecondsPerMillion: spentPerMillion(threadsBefore, threadsAfter, positions),
        residentBeforeMb,
        residentPeakMb: await service.peakResidentMb(),
        definitionsSeconds,
      };
    } finally {
      await generator.stop();
    }
  } finally {
    await service.stop();
  }
}

/** @returns seconds since `begun` at which the rules, and the archiver, had all of them */
async function watchRoad(service: Service, positions: number, begun: number, say: (progress: string) => void) {
  const reached = { processed: 0, archived: 0 };
  let before = -1;
  let movedAt = performance.now();
  let saidAt = performance.now();
  for (;;) {
    const metrics = await service.metrics();
    const seconds = (performance.now() - begun) / 1000;
    const processed = metrics.get('outrider_rules_positions_total');
    if (processed === undefined) throw new Error('/metrics does not tell how many positions went through the rules');
    // With labels: it is not there before the first insert.
    const archived = metrics.get('outrider_archived_rows_total{topic="telemetry"}') ?? 0;
    if (processed > positions || archived > positions)
      throw new Error(`${processed} processed and ${archived} archived of ${positions} positions`);
    if (processed === positions) reached.processed ||= seconds;
    if (archived === positions) reached.archived ||= seconds;
    if (reached.processed > 0 && reached.archived > 0) return reached;
    if (processed + archived !== before) movedAt = performance.now();
    before = processed + archived;
    if (performance.now() - movedAt > STUCK_MS)
      throw new Error(`stuck: ${processed} processed and ${archived} archived of ${positions} positions`);
    if (performance.now() - saidAt > 5000) {
      saidAt = performance.now();
      say(
        `${seconds.toFixed(0)} s: ${processed.toLocaleString('en-US')} through the rules, ${archived.toLocaleString('en-US')} archived`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function parsingAlone(load: Load): Promise<Reached & { cpuSeconds: number }> {
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
      return { seconds, positionsPerSecond: Math.round(positions / seconds), cpuSeconds: counted.cpuSeconds };
    } finally {
      await generator.stop();
    }
  } finally {
    await server.stop();
  }
}

async function insertingAlone({ positionsPerConnection, endMs }: Load): Promise<Reached & { cpuSeconds: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
  const child = await startChild<InsertAloneTask, InsertAloneMessage>('./insert-alone.ts', {
    folder,
    vehicles: CONNECTIONS,
    positionsPerVehicle: positionsPerConnection,
    perPacket: PER_PACKET,
    endMs,
    batchPositions: BATCH_POSITIONS,
  });
  try {
    const { positions, seconds, cpuSeconds } = await child.next('inserted');
    if (positions !== CONNECTIONS * positionsPerConnection) throw new Error(`${positions} positions were inserted`);
    return { seconds, positionsPerSecond: Math.round(positions / seconds), cpuSeconds };
  } finally {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
