import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { playDrive } from '@outrider/simulator';
import { openHttpFront } from '@outrider/warehouse/http-front';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import {
  Cluster,
  callAt,
  type Instance,
  logInAt,
  type ServiceName,
} from '../../services/outrider/src/distributed.fixture.ts';
import { heard, shapesOn, teltonikaDrive, track } from '../../services/outrider/src/distributed-drive.fixture.ts';
import { type PlainGeofence, plainHappenings } from '../../services/outrider/src/plain-rules.fixture.ts';
import { startKafka } from '../servers/kafka.ts';
import { startPostgres } from '../servers/postgres.ts';
import { startRedis } from '../servers/redis.ts';
import { freePort } from '../servers/server.ts';

/** How often each server is stopped, and for how long. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 1);
const OUTAGE_MS = 1000 * Number(process.env.FAULT_SECONDS ?? 8);
const VEHICLES = 3;
const FIXES = 700;
const SPEED_LIMIT_KMH = 30;
const PATIENCE = { timeout: 240_000, interval: 250 };

/** A server that can be away for a while. */
interface Away {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Events as a client hears them that comes back with its cursor whenever it loses the connection. */
class Follower {
  readonly #events: Record<string, unknown>[] = [];
  readonly #url: string;
  readonly #jwt: () => string;
  #cursor: string | null = null;
  #socket: WebSocket | null = null;
  #over = false;

  constructor(url: string, jwt: () => string) {
    this.#url = url;
    this.#jwt = jwt;
    this.#connect();
  }

  of(type: string): Record<string, unknown>[] {
    return type === 'event' ? this.#events : [];
  }

  close(): void {
    this.#over = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#over) return;
    const socket = new WebSocket(this.#url, { headers: { Authorization: `JWT ${this.#jwt()}` } });
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('open', () =>
      socket.send(
        JSON.stringify({
          type: 'subscribe',
          all: true,
          positions: false,
          ...(this.#cursor && { since: this.#cursor }),
        }),
      ),
    );
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as Record<string, unknown>;
      if (message.type === 'event') this.#events.push(message);
      if (typeof message.cursor === 'string') this.#cursor = message.cursor;
    });
    socket.on('close', () => setTimeout(() => this.#connect(), 300));
  }
}

/** A port that passes everything on, until it is closed: what a server looks like that can't be stopped in this process. */
async function door(target: number): Promise<Away & { port: number }> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let server: NetServer | null = null;
  const start = async () => {
    server = createServer((inbound) => {
      const outbound = connect(target, '127.0.0.1');
      for (const socket of [inbound, outbound]) {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          sockets.delete(socket);
          inbound.destroy();
          outbound.destroy();
        });
      }
      inbound.pipe(outbound).pipe(inbound);
    });
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
  };
  await start();
  return {
    port,
    start,
    async stop() {
      const closed = new Promise((resolve) => server?.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'outrider-faults-'));
// PostgreSQL runs as another user where this runs as root.
chmodSync(folder, 0o755);
const ends: (() => Promise<unknown> | unknown)[] = [];
const servers: Record<string, Away> = {};
const kept: Record<string, { restarts(): number; kill(): Promise<void> }> = {};
let cluster: Cluster;
let api: Instance;
let jwt: string;
let teltonikaPort: number;
let healthOf: Record<string, number>;
let follower: Follower;
const geofences: PlainGeofence[] = [];
const vehicles: { id: VehicleId; terminalId: TerminalId; positions: Position[]; driven: number }[] = [];

beforeAll(async () => {
  const redis = await startRedis(join(folder, 'redis'));
  ends.push(() => redis.stop());
  const postgres = await startPostgres(join(folder, 'postgres'));
  ends.push(() => postgres.stop());
  const kafka = await startKafka(join(folder, 'kafka'));
  ends.push(() => kafka.stop());
  const clickhouseFolder = join(folder, 'clickhouse');
  mkdirSync(clickhouseFolder);
  const front = await openHttpFront(clickhouseFolder);
  ends.push(() => front.close());
  const clickhouse = await door(Number(new URL(front.url).port));
  ends.push(() => clickhouse.stop());
  Object.assign(servers, { redis, postgres, kafka, clickhouse });

  cluster = await Cluster.open(
    {
      kafkaBrokers: kafka.environment.KAFKA_BROKERS ?? '',
      redisUrl: redis.environment.REDIS_URL ?? '',
      databaseUrl: postgres.environment.DATABASE_URL ?? '',
    },
    `http://127.0.0.1:${clickhouse.port}`,
  );
  ends.push(() => cluster.close());
  const port = async () => String(await freePort());
  const apiPorts = { PORT: await port(), HEALTH_PORT: await port() };
  const gatewayPorts = { TELTONIKA_PORT: await port(), HEALTH_PORT: await port() };
  const notifierPorts = { PORT: await port(), HEALTH_PORT: await port() };
  const rulesPorts = { HEALTH_PORT: await port() };
  const archiverPorts = { HEALTH_PORT: await port() };
  teltonikaPort = Number(gatewayPorts.TELTONIKA_PORT);
  kept.api = await cluster.keep('api', apiPorts);
  const others = { gateway: gatewayPorts, rules: rulesPorts, archiver: archiverPorts, notifier: notifierPorts };
  await Promise.all(
    Object.entries(others).map(async ([service, ports]) => {
      kept[service] = await cluster.keep(service as ServiceName, ports);
    }),
  );
  healthOf = {
    kafka: Number(gatewayPorts.HEALTH_PORT),
    redis: Number(rulesPorts.HEALTH_PORT),
    postgres: Number(notifierPorts.HEALTH_PORT),
    clickhouse: Number(archiverPorts.HEALTH_PORT),
  };
  api = { ports: { http: Number(apiPorts.PORT) } } as unknown as Instance;
  jwt = await logInAt(api);

  const drives = Array.from({ length: VEHICLES }, (_, n) => teltonikaDrive(700 + n, FIXES * 9 * ROUNDS));
  for (const shape of drives.flatMap((positions) => shapesOn(positions))) {
    const feature = featureFromShape(shape);
    const body = { ...feature, properties: { ...feature.properties, name: `Depot ${geofences.length}` } };
    geofences.push({ id: (await callAt<{ id: string }>(api, jwt, 'POST', '/api/v1/geozones', body)).id, shape });
  }
  for (const [n, positions] of drives.entries()) {
    const terminalId = `35630704244${2000 + n}` as TerminalId;
    const fields = { name: `Van ${n}`, terminalId, speedLimitKmh: SPEED_LIMIT_KMH };
    const { id } = await callAt<{ id: VehicleId }>(api, jwt, 'POST', '/api/v1/vehicles', fields);
    vehicles.push({ id, terminalId, positions, driven: 0 });
  }
  await wait(2000);
  follower = new Follower(`ws://127.0.0.1:${notifierPorts.PORT}/live`, () => jwt);
  ends.push(() => follower.close());
  await wait(1000);
}, 240_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** The next part of every drive, from the first packet to the last acknowledgement. */
function driveOn(): Promise<unknown> {
  return Promise.all(
    vehicles.map((vehicle) => {
      const { terminalId, positions, driven } = vehicle;
      vehicle.driven = Math.min(driven + FIXES, positions.length);
      return playDrive({
        protocol: 'teltonika',
        terminalId,
        host: '127.0.0.1',
        port: teltonikaPort,
        positions: positions.slice(driven, vehicle.driven),
        positionsPerPacket: 1,
      });
    }),
  );
}

async function failedParts(port: number): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(5000) });
  const { parts } = (await answer.json()) as { parts: Record<string, { status: string }> };
  return Object.entries(parts)
    .filter(([, { status }]) => status === 'failed')
    .map(([part]) => part);
}

/** All that was acknowledged, and exactly the events that the plain rules make of it. */
async function expectAllOfIt(): Promise<void> {
  for (const { id, positions, driven } of vehicles) {
    const sent = positions.slice(0, driven);
    const expected = plainHappenings(sent, geofences, SPEED_LIMIT_KMH).toSorted();
    await vi.waitFor(() => expect(heard(follower, id).length).toBeGreaterThanOrEqual(expected.length), PATIENCE);
    // What is told twice is told soon after.
    await wait(500);
    expect(heard(follower, id).toSorted()).toEqual(expected);
    const distinct = sent.map(({ fixTimeMs }) => new Date(fixTimeMs).toISOString());
    await vi.waitFor(async () => expect(await track(api, jwt, id)).toEqual(distinct), PATIENCE);
  }
}

/** The part that says so, in the service that is asked. */
const PART: Record<string, string> = { kafka: 'log', redis: 'hub', postgres: 'registry', clickhouse: 'warehouse' };
const inRounds = (names: readonly string[]) =>
  Array.from({ length: ROUNDS }, (_, round) => names.map((name) => [name, round + 1] as const)).flat();

test.each(inRounds(['gateway', 'rules', 'archiver', 'notifier', 'api']))(
  '%s is killed under load (round %i): nothing acknowledged is lost, nothing is told twice',
  { timeout: 600_000 },
  async (name, _round) => {
    const service = kept[name];
    if (!service) throw new Error(`no ${name} runs`);
    const before = service.restarts();
    let driving = true;
    const played = driveOn().finally(() => {
      driving = false;
    });
    await wait(700 * (0.5 + Math.random()));
    await service.kill();
    expect(driving).toBe(true);
    await played;
    await vi.waitFor(() => expect(service.restarts()).toBeGreaterThan(before), PATIENCE);
    await expectAllOfIt();
  },
);

test.each(inRounds(Object.keys(PART)))(
  '%s is away for a while under load (round %i): nothing acknowledged is lost, nothing is told twice, all catches up',
  { timeout: 600_000 },
  async (name, _round) => {
    const server = servers[name] as Away;
    let driving = true;
    const played = driveOn().finally(() => {
      driving = false;
    });
    await wait(700);
    expect(driving).toBe(true);
    await server.stop();
    const awayUntilMs = performance.now() + OUTAGE_MS;
    // A service that could not go on ends and is started again: then it does not answer at all.
    await vi.waitFor(
      async () => expect(await failedParts(healthOf[name] ?? 0).catch(() => [PART[name]])).toContain(PART[name]),
      PATIENCE,
    );
    await wait(Math.max(0, awayUntilMs - performance.now()));
    await server.start();
    await played;
    await expectAllOfIt();
    await vi.waitFor(async () => expect(await failedParts(healthOf[name] ?? 0)).toEqual([]), PATIENCE);
  },
);
