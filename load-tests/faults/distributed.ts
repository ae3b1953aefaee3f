import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '@outrider/simulator';
import { Cluster, type ServiceName } from '../../services/outrider/src/distributed.fixture.ts';
import type { RestartedService } from '../../services/outrider/src/restarted-service.fixture.ts';
import { startClickhouse } from '../servers/clickhouse.ts';
import { type KafkaEntrance, startKafka } from '../servers/kafka.ts';
import { startPostgres } from '../servers/postgres.ts';
import { startRedis } from '../servers/redis.ts';
import type { Server } from '../servers/server.ts';
import { type Clock, createClock } from './clock.ts';
import { openProxy, type TcpProxy } from './proxy.ts';

export type ServerName = 'kafka' | 'redis' | 'postgres' | 'clickhouse';

/** Which servers each service meets the others at. */
export const SERVICES: Readonly<Record<ServiceName, readonly ServerName[]>> = {
  api: ['kafka', 'redis', 'postgres', 'clickhouse'],
  gateway: ['kafka', 'redis'],
  rules: ['kafka', 'redis'],
  archiver: ['kafka', 'redis', 'clickhouse'],
  notifier: ['kafka', 'redis', 'postgres'],
  recalculator: ['kafka', 'redis', 'postgres', 'clickhouse'],
  video: ['kafka', 'redis', 'postgres'],
  reporter: ['kafka', 'redis', 'postgres', 'clickhouse'],
  forwarder: ['kafka', 'postgres'],
};
/** Those that data of this test goes through: their clocks jump, and their ways to the servers are bad. */
export const ON_THE_ROAD: readonly ServiceName[] = ['api', 'gateway', 'rules', 'archiver', 'notifier'];
/** The service, and its part, that report an unavailable server as not ready. */
export const REPORTED_BY: Readonly<Record<ServerName, { service: ServiceName; part: string }>> = {
  kafka: { service: 'gateway', part: 'log' },
  redis: { service: 'rules', part: 'hub' },
  postgres: { service: 'notifier', part: 'registry' },
  clickhouse: { service: 'archiver', part: 'warehouse' },
};
export const TERMINALS = 'terminals→gateway';
export const CLIENTS = 'clients→notifier';
export const LINKS: readonly string[] = [
  TERMINALS,
  CLIENTS,
  ...ON_THE_ROAD.flatMap((service) => SERVICES[service].map((server) => linkOf(service, server))),
];

/** All services on real servers, with proxies between them. */
export interface Distributed {
  servers: Readonly<Record<ServerName, Server>>;
  services: ReadonlyMap<ServiceName, RestartedService>;
  proxies: ReadonlyMap<string, TcpProxy>;
  /** By service; none where clocks can't be set. */
  clocks: ReadonlyMap<ServiceName, Clock>;
  /** Without a proxy before it. */
  apiPort: number;
  /** Behind proxies. */
  terminalsPort: number;
  clientsPort: number;
  /** Parts that the service reports as not ready; the service itself if it does not answer. */
  unready(service: ServiceName): Promise<string[]>;
  close(): Promise<void>;
}

function linkOf(service: string, server: string): string {
  return `${service}→${server}`;
}

/** @param faketime the library by which clocks are set; null leaves them alone */
export async function openDistributed(random: Random, faketime: string | null): Promise<Distributed> {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-faults-'));
  // PostgreSQL runs as another user where this runs as root.
  chmodSync(folder, 0o755);
  const ends: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    return await open(random, faketime, folder, ends, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  random: Random,
  faketime: string | null,
  folder: string,
  ends: (() => Promise<unknown> | unknown)[],
  close: () => Promise<void>,
): Promise<Distributed> {
  const port = () => reservePort(random);
  const proxies = new Map<string, TcpProxy>();
  const between = async (name: string, target: number) => {
    const proxy = await openProxy(target, await port());
    proxies.set(name, proxy);
    ends.push(() => proxy.close());
    return proxy.port;
  };

  // The broker advertises the address that its clients use: each service has its own, with a proxy before it.
  const entrances = new Map<ServiceName, KafkaEntrance>();
  for (const service of ON_THE_ROAD) {
    const entrance = await port();
    entrances.set(service, { port: entrance, advertisedPort: await between(linkOf(service, 'kafka'), entrance) });
  }
  const [redis, postgres, kafka, clickhouse] = await Promise.all([
    startRedis(join(folder, 'redis'), await port()),
    startPostgres(join(folder, 'postgres'), await port()),
    startKafka(join(folder, 'kafka'), await port(), [...entrances.values()]),
    startClickhouse(join(folder, 'clickhouse'), await port()),
  ]);
  const servers = { redis, postgres, kafka, clickhouse };
  for (const server of Object.values(servers)) ends.push(() => server.stop());

  const cluster = await Cluster.open(
    {
      kafkaBrokers: kafka.environment.KAFKA_BROKERS ?? '',
      redisUrl: redis.environment.REDIS_URL ?? '',
      databaseUrl: postgres.environment.DATABASE_URL ?? '',
    },
    clickhouse.environment.CLICKHOUSE_URL,
  );
  ends.push(() => cluster.close());
  const { redisUrl, databaseUrl, clickhouseUrl } = cluster.addresses;

  const serverPorts = { redis: redis.port, postgres: postgres.port, clickhouse: clickhouse.port };
  const behindProxies = async (service: ServiceName): Promise<Record<string, string>> => {
    if (!ON_THE_ROAD.includes(service)) return {};
    const to = async (server: keyof typeof serverPorts, url: string) => {
      if (!SERVICES[service].includes(server)) return url;
      const moved = new URL(url);
      moved.port = String(await between(linkOf(service, server), serverPorts[server]));
      return moved.href;
    };
    return {
      KAFKA_BROKERS: `127.0.0.1:${entrances.get(service)?.advertisedPort}`,
      REDIS_URL: await to('redis', redisUrl),
      DATABASE_URL: await to('postgres', databaseUrl),
      CLICKHOUSE_URL: await to('clickhouse', clickhouseUrl),
    };
  };

  const clocks = new Map<ServiceName, Clock>();
  const services = new Map<ServiceName, RestartedService>();
  const healthPorts = new Map<ServiceName, number>();
  const ports = { api: await port(), teltonika: await port(), live: await port() };
  const listens: Partial<Record<ServiceName, Record<string, string>>> = {
    // Refused clients retry at once, again and again. This test is not about limits.
    api: { PORT: String(ports.api), LIMIT_UNAUTHORIZED_PER_MINUTE: '100000' },
    notifier: { PORT: String(ports.live) },
    gateway: { TELTONIKA_PORT: String(ports.teltonika) },
  };
  const start = async (service: ServiceName) => {
    const healthPort = await port();
    // The API answers for itself on its own port.
    healthPorts.set(service, service === 'api' ? ports.api : healthPort);
    const clock =
      faketime !== null && ON_THE_ROAD.includes(service)
        ? createClock(faketime, join(folder, `clock-${service}`))
        : null;
    if (clock) clocks.set(service, clock);
    const environment = {
      HEALTH_PORT: String(healthPort),
      ...listens[service],
      ...(await behindProxies(service)),
      ...clock?.environment,
    };
    const kept = cluster.keep(service, environment);
    services.set(service, kept);
    await kept.ready();
  };
  // It makes the tables and the first account.
  await start('api');
  await Promise.all((Object.keys(SERVICES) as ServiceName[]).filter((service) => service !== 'api').map(start));

  return {
    servers,
    services,
    proxies,
    clocks,
    apiPort: ports.api,
    terminalsPort: await between(TERMINALS, ports.teltonika),
    clientsPort: await between(CLIENTS, ports.live),
    unready: (service) => unreadyParts(healthPorts.get(service) ?? 0),
    close,
  };
}

/** Parts that the service at this port reports as not ready; `it` where nothing answers. */
export async function unreadyParts(port: number): Promise<string[]> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(4000) });
    const { parts } = (await answer.json()) as { parts: Record<string, { status: string }> };
    return Object.entries(parts)
      .filter(([, { status }]) => status !== 'ok')
      .map(([part]) => part);
  } catch {
    return ['it'];
  }
}

const given = new Set<number>();

/**
 * A free port below those that the system gives to outgoing connections: while nobody listens there, nobody who tries
 * to reach it gets it.
 */
export async function reservePort(random: Random): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(random.next() * 18_000);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true));
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1');
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
