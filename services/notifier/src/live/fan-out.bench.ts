import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  blankPosition,
  positionJson,
  type SessionId,
  SYSTEM_CLOCK,
  type UserId,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { sampleStatus, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { definitionsTopic, openSqliteLog } from '@outrider/log';
import { createLogger, Metrics } from '@outrider/runtime';
import { WebSocketServer } from 'ws';
import type { FanOutCounts, FanOutTask } from './fan-out.bench-worker.ts';
import { createNotifier } from './notifier.ts';

export interface FanOutCase {
  clients: number;
  vehicles: number;
  /** Positions of each vehicle. */
  rounds: number;
}

export interface FanOutRow extends FanOutCase {
  /** `bare`: the same JSON, encoded once for all clients and sent by plain `ws`. */
  by: 'position messages' | 'lists' | 'binary' | 'bare';
  /** Positions per second, summed over all clients. */
  perSecond: number;
  bytesPerPosition: number;
  snapshotBytes: number | null;
}

const OPERATOR = '0190a000-0000-7000-8000-000000000000' as UserId;
const T0 = Date.UTC(2026, 0, 15, 12);
const FORMATS = [
  { by: 'position messages', protocol: null, batch: false },
  { by: 'lists', protocol: null, batch: true },
  { by: 'binary', protocol: 'outrider.live.v1+binary', batch: false },
] as const;

const vehicleIdOf = (nth: number) => `0190a000-0000-7000-8001-${String(nth).padStart(12, '0')}` as VehicleId;

function statusOf(vehicle: number, round: number): VehicleStatus {
  const atMs = T0 + round * 10_000;
  const position = {
    ...blankPosition(atMs, 52 + vehicle / 1e5, 13 + round / 1e4),
    speedKmh: 48.5,
    courseDeg: 121,
    altitudeM: 34,
    satellites: 11,
    ignition: true,
    odometerM: 1_234_567,
    supplyV: 13.9,
    attributes: { io21: 4, io69: 1 },
  };
  const activity = {
    state: 'moving' as const,
    sinceMs: T0 - 60_000,
    ignition: true,
    alarms: [],
    geofenceIds: [],
    speeding: [],
  };
  return sampleStatus(vehicleIdOf(vehicle), position, atMs + 500, { activity });
}

/** From the hub to WebSockets in another thread, in each format, compared with bare sockets. */
export async function benchFanOut(one: FanOutCase): Promise<FanOutRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
  const log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  const hub = new MemoryHub();
  const operator = sampleUser({ id: OPERATOR, role: 'operator', version: 1 });
  const vehicles = Array.from({ length: one.vehicles }, (_, nth) =>
    sampleVehicle({ id: vehicleIdOf(nth), version: 1 }),
  );
  await log.append(
    definitionsTopic,
    [operator, ...vehicles].map((definition) => ({
      kind: definition.kind,
      id: definition.id,
      version: 1,
      changedAtMs: T0,
      definition,
    })),
  );
  const notifier = createNotifier({
    config: {
      maxConnections: 10 * one.clients,
      maxPerUser: 10 * one.clients,
      maxPerAddress: 10 * one.clients,
      maxUnsentBytes: 2_000_000_000,
    },
    log,
    hub,
    inbox: { after: async () => [], progressByUser: async () => new Map(), unread: async () => [] },
    verify: async () => ({
      userId: OPERATOR,
      sessionId: OPERATOR as string as SessionId,
      expiresAtMs: Date.now() + 3_600_000,
      keyId: 'key',
    }),
    cookieSession: async () => null,
    addressKey: () => null,
    geofenceOwners: async () => [],
    driverAssignments: async () => [],
    counters: async () => [],
    keyIsGood: () => true,
    liveSessions: async (ids) => new Set(ids),
    apiKeysAmong: async () => new Map(),
    noteApiKeyUse: async () => {},
    clientAddress: () => '127.0.0.1',
    logger: createLogger('silent', 'json'),
    metrics: new Metrics(),
    clock: SYSTEM_CLOCK,
  });
  await notifier.start();
  const server = createServer();
  server.on('upgrade', (request, socket, head) => notifier.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const rows: FanOutRow[] = [];
  let round = 0;
  try {
    for (const { by, protocol, batch } of FORMATS) {
      await hub.updateLatest(vehicles.map((_, nth) => statusOf(nth, round)));
      round++;
      const listening = await listen({ ...one, port, protocol, batch });
      const seconds = await secondsOf(async () => {
        for (let nth = 0; nth < one.rounds; nth++, round++) {
          await hub.updateLatest(vehicles.map((_, vehicle) => statusOf(vehicle, round)));
          await listening.taken();
        }
        await listening.done;
      });
      rows.push(await listening.row(by, seconds));
    }
    rows.push(await bare(one));
  } finally {
    await notifier.stop();
    server.close();
    await log.close();
    await rm(folder, { recursive: true, force: true });
  }
  return rows;
}

async function bare(one: FanOutCase): Promise<FanOutRow> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  server.on('connection', (socket) => socket.on('message', () => socket.send('{"type":"resumed"}')));
  const { port } = server.address() as AddressInfo;
  const listening = await listen({ ...one, port, protocol: null, batch: false });
  const seconds = await secondsOf(async () => {
    for (let round = 0; round < one.rounds; round++) {
      for (let vehicle = 0; vehicle < one.vehicles; vehicle++) {
        const { vehicleId, position } = statusOf(vehicle, round);
        if (position === null) continue;
        const text = JSON.stringify({ type: 'position', ...positionJson(vehicleId, position) });
        for (const socket of server.clients) socket.send(text);
      }
      await listening.taken();
    }
    await listening.done;
  });
  const row = await listening.row('bare', seconds);
  server.close();
  return row;
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return (performance.now() - beganMs) / 1000;
}

/** Starts the clients in a worker thread, which counts positions and bytes. */
async function listen(task: FanOutTask) {
  const worker = new Worker(new URL('./fan-out.bench-worker.ts', import.meta.url), { workerData: task });
  const ready = Promise.withResolvers<FanOutCounts>();
  const done = Promise.withResolvers<FanOutCounts>();
  let taken = Promise.withResolvers<void>();
  worker.on('message', (message: { ready?: FanOutCounts; done?: FanOutCounts; taken?: true }) => {
    if (message.ready) ready.resolve(message.ready);
    if (message.done) done.resolve(message.done);
    if (message.taken) taken.resolve();
  });
  worker.on('error', (error) => {
    ready.reject(error);
    done.reject(error);
  });
  const atStart = await ready.promise;
  return {
    done: done.promise.then(() => {}),
    /** Resolves when all clients have all positions of a round. None is conflated, so each counts. */
    async taken(): Promise<void> {
      await taken.promise;
      taken = Promise.withResolvers();
    },
    async row(by: FanOutRow['by'], seconds: number): Promise<FanOutRow> {
      const atEnd = await done.promise;
      await worker.terminate();
      const { clients, vehicles, rounds } = task;
      const positions = clients * vehicles * rounds;
      return {
        clients,
        vehicles,
        rounds,
        by,
        perSecond: Math.round(positions / seconds),
        bytesPerPosition: (atEnd.bytes - atStart.bytes) / positions,
        snapshotBytes: by === 'bare' ? null : atStart.bytes / clients,
      };
    },
  };
}
