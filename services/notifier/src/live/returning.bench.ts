import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  type Definition,
  type DefinitionChange,
  deriveEventId,
  type FleetEvent,
  type GroupId,
  type SessionId,
  SYSTEM_CLOCK,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { definitionsTopic, eventsTopic, type Log } from '@outrider/log';
import { openRegistry } from '@outrider/registry';
import { createLogger, Metrics } from '@outrider/runtime';
import { WebSocketServer } from 'ws';
import { EVENTS, eventFrame } from './event-messages.ts';
import { createNotifier } from './notifier.ts';
import type { Returned, ReturningTask } from './returning.bench-worker.ts';

/** Clients that all reconnect at the same moment. Clients of one fleet see the vehicles of that fleet only. */
export interface ReturningCase {
  clients: number;
  fleets: number;
  vehiclesPerFleet: number;
  /** Events that each client missed. */
  events: number;
}

export interface ReturningRow extends ReturningCase {
  /** Source of the missed events. `bare`: the same prepared messages, sent by plain `ws` to as many WebSockets. */
  from: 'memory' | 'log' | 'bare';
  /** Time from the first connection until a client has caught up. */
  p50Ms: number;
  p99Ms: number;
  /** Ratio of `p99Ms` to that of the bare sockets. */
  ratio: number;
  /** CPU time of the serving thread. Other load on the machine does not increase it. */
  cpuMs: number;
}

interface Returning {
  timesMs: number[];
  cpuMs: number;
}

interface Fleet {
  users: User[];
  vehicles: Vehicle[];
}

const T0 = Date.UTC(2026, 0, 15, 12);
const logger = createLogger('silent', 'json');

/** @param openLog opens a new, empty log */
export async function benchReturning(
  one: ReturningCase,
  openLog: (folder: string) => Promise<Log>,
): Promise<ReturningRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
  const log = await openLog(folder);
  const registry = await openRegistry({ path: join(folder, 'registry.sqlite') });
  try {
    const fleets = Array.from({ length: one.fleets }, () => fleetOf(one));
    await log.append(
      definitionsTopic,
      fleets.flatMap(({ users, vehicles }) => [...users, ...vehicles].map(defined)),
    );
    const since = [...(await log.endOffsets(eventsTopic))].map((place) => place.join(':')).join(',');
    const start = async () => {
      const notifier = createNotifier({
        config: {
          maxConnections: one.clients,
          maxPerUser: one.clients,
          maxPerAddress: one.clients,
          maxUnsentBytes: 256_000_000,
        },
        log,
        hub: new MemoryHub(),
        inbox: registry.inboxes,
        verify: async (token) => ({
          userId: token as UserId,
          sessionId: token as string as SessionId,
          expiresAtMs: Date.now() + 3_600_000,
          keyId: 'key',
        }),
        cookieSession: async () => null,
        addressKey: () => null,
        geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
        driverAssignments: async () => [],
        counters: async () => [],
        keyIsGood: () => true,
        liveSessions: async (ids) => new Set(ids),
        apiKeysAmong: async () => new Map(),
        noteApiKeyUse: async () => {},
        clientAddress: () => '127.0.0.1',
        logger,
        metrics: new Metrics(),
        clock: SYSTEM_CLOCK,
      });
      await notifier.start();
      return notifier;
    };
    const tokens = fleets.flatMap(({ users }) => users.map(({ id }) => id));
    const subscribe = { type: 'subscribe', all: true, since };

    let notifier = await start();
    const server = createServer();
    server.on('upgrade', (request, socket, head) => notifier.upgrade(request, socket, head));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const events = fleets.flatMap(({ vehicles }) =>
      Array.from({ length: one.events }, (_, nth) => ignitionOn(vehicles[nth % vehicles.length] as Vehicle, nth)),
    );
    await log.append(eventsTopic, events);
    // Waits until the notifier has read the events too: nothing outside it shows when.
    await wait(2000);
    const memory = await fastest(() => returning({ port, tokens, subscribe }, one.events));
    const older = await fastest(async () => {
      await notifier.stop();
      notifier = await start();
      return returning({ port, tokens, subscribe }, one.events);
    });
    await notifier.stop();
    server.close();

    const bare = await fastest(() => bareReturning(tokens, events.slice(0, one.events)));
    const row = (from: ReturningRow['from'], { timesMs, cpuMs }: Returning): ReturningRow => {
      const [p50Ms, p99Ms] = [at(timesMs, 0.5), at(timesMs, 0.99)];
      return { ...one, from, p50Ms, p99Ms, ratio: p99Ms / at(bare.timesMs, 0.99), cpuMs };
    };
    return [row('memory', memory), row('log', older), row('bare', bare)];
  } finally {
    await registry.close();
    await log.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The faster of two runs: the first one also warms the code up. */
async function fastest(run: () => Promise<Returning>): Promise<Returning> {
  const [first, second] = [await run(), await run()];
  return at(first.timesMs, 0.99) < at(second.timesMs, 0.99) ? first : second;
}

function at(timesMs: readonly number[], share: number): number {
  return timesMs.toSorted((a, b) => a - b)[Math.ceil(share * timesMs.length) - 1] ?? Number.NaN;
}

/** Runs the clients in a worker thread. */
async function returning(task: ReturningTask, events: number): Promise<Returning> {
  const before = process.threadCpuUsage();
  const worker = new Worker(new URL('./returning.bench-worker.ts', import.meta.url), { workerData: task });
  try {
    const [returned] = (await once(worker, 'message')) as [Returned];
    if (returned.events !== events * task.tokens.length)
      throw new Error(`${returned.events} events of ${events * task.tokens.length}`);
    const { user, system } = process.threadCpuUsage(before);
    return { timesMs: returned.timesMs, cpuMs: (user + system) / 1000 };
  } finally {
    await worker.terminate();
  }
}

async function bareReturning(tokens: readonly string[], events: readonly FleetEvent[]): Promise<Returning> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const texts = events.map((event, nth) => {
    const frame = eventFrame(EVENTS.messageOf(nth, event), '0:1000000;n:0');
    return frame.toString('utf8', frame.indexOf('{'));
  });
  const resumed = JSON.stringify({ type: 'resumed' });
  server.on('connection', (socket) =>
    socket.on('message', () => {
      for (const text of texts) socket.send(text);
      socket.send(resumed);
    }),
  );
  try {
    const { port } = server.address() as AddressInfo;
    return await returning({ port, tokens, subscribe: { type: 'subscribe' } }, events.length);
  } finally {
    server.close();
  }
}

function fleetOf({ clients, fleets, vehiclesPerFleet }: ReturningCase): Fleet {
  const groupIds = [randomUUID() as GroupId];
  return {
    users: Array.from({ length: clients / fleets }, (_, nth) =>
      sampleUser({ id: randomUUID() as UserId, login: `user-${nth}`, role: 'user', groupIds }),
    ),
    vehicles: Array.from({ length: vehiclesPerFleet }, (_, nth) =>
      sampleVehicle({ id: randomUUID() as VehicleId, name: `Van ${nth}`, groupIds }),
    ),
  };
}

function defined(definition: Definition): DefinitionChange {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs: T0, definition };
}

/** An event without a geofence: every client that may see the vehicle may see it. */
function ignitionOn({ id: vehicleId }: Vehicle, nth: number): FleetEvent {
  const atMs = T0 + nth * 1000;
  return {
    id: deriveEventId('ignition', vehicleId, '', atMs),
    kind: 'ignition',
    phase: 'begin',
    vehicleId,
    startedAtMs: atMs,
    endedAtMs: null,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fromFixTimeMs: atMs,
    fixTimeMs: atMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  };
}
