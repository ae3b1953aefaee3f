import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newSecretsKey } from '@outrider/backing';
import { startS3 } from '@outrider/files/s3-server';
import { openKafkaLog } from '@outrider/log';
import { protocols } from '@outrider/protocols';
import { startClickhouseServer } from '@outrider/warehouse/clickhouse-server';
import { Redis } from 'ioredis';
import pg from 'pg';
import { complaintsOf } from './complaints.fixture.ts';
import { contentOf, type LogContent } from './log-reader.fixture.ts';
import { RestartedService } from './restarted-service.fixture.ts';
import { OPERATOR_PASSWORD } from './service.fixture.ts';

const SERVICES = join(import.meta.dirname, '../..');
/** By service, where its process begins. */
export const MAIN: Record<ServiceName, string> = {
  gateway: join(SERVICES, 'gateway/src/main.ts'),
  rules: join(SERVICES, 'rules/src/main.ts'),
  recalculator: join(SERVICES, 'rules/src/recalculation/main.ts'),
  archiver: join(SERVICES, 'archiver/src/main.ts'),
  notifier: join(SERVICES, 'notifier/src/main.ts'),
  video: join(SERVICES, 'video/src/main.ts'),
  api: join(SERVICES, 'api/src/main.ts'),
  reporter: join(SERVICES, 'reporter/src/main.ts'),
  forwarder: join(SERVICES, 'forwarder/src/main.ts'),
};

export type ServiceName =
  | 'gateway'
  | 'rules'
  | 'recalculator'
  | 'archiver'
  | 'notifier'
  | 'video'
  | 'api'
  | 'reporter'
  | 'forwarder';

/** The process of a service, from its first moment on. */
export interface Spawned {
  service: ServiceName;
  /** What listens where, once all does; null when it ended before. */
  ready: Promise<Record<string, number> | null>;
  /** Its standard error. */
  stderrText(): string;
  /** Of that, the lines that are JSON objects. */
  said(): Record<string, unknown>[];
  /** Resolves when it has ended, however it did. */
  ended: Promise<unknown>;
  /** `kill -9`: nothing is written down. */
  kill(): Promise<void>;
  /** As an orchestrator does. @returns the exit code */
  terminate(): Promise<number | null>;
}

/** A service that works, in a process of its own. */
export interface Instance extends Spawned {
  /** By what listens there; `health` always does. */
  ports: Record<string, number>;
}

/** Servers that others use as well. */
export interface Servers {
  kafkaBrokers: string;
  redisUrl: string;
  databaseUrl: string;
}

/** Where the tests' servers are; null where they are not given. */
export function givenServers(environment: NodeJS.ProcessEnv = process.env): Servers | null {
  const { KAFKA_BROKERS: kafkaBrokers, REDIS_URL: redisUrl, DATABASE_URL: databaseUrl } = environment;
  return kafkaBrokers && redisUrl && databaseUrl ? { kafkaBrokers, redisUrl, databaseUrl } : null;
}

/**
 * The services as processes on servers: topics, database and keys of their own, so that nothing of another test is
 * seen.
 */
export class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'outrider-cluster-'));
  /** What all but the video service have as their folder. */
  readonly sharedFolder = join(this.folder, 'shared');
  readonly #instances: Spawned[] = [];
  /** Those that are starting as well. */
  readonly #children = new Set<ChildProcess>();
  readonly #kept: RestartedService[] = [];
  readonly #environment: Record<string, string>;
  readonly #ends: (() => Promise<unknown>)[];

  private constructor(environment: Record<string, string>, ends: (() => Promise<unknown>)[]) {
    this.#environment = environment;
    this.#ends = ends;
  }

  /**
   * @param clickhouseUrl a running ClickHouse; by default one is started here
   * @param transform changes the addresses of the servers, such as to proxies
   */
  static async open(
    { kafkaBrokers, redisUrl, databaseUrl }: Servers,
    clickhouseUrl: string | null = null,
    transform: (environment: Record<string, string>) => Promise<Record<string, string>> = async (same) => same,
  ): Promise<Cluster> {
    const name = `outrider_${randomUUID().replaceAll('-', '')}`;
    await command(databaseUrl, `create database ${name}`);
    const ownDatabase = new URL(databaseUrl);
    ownDatabase.pathname = `/${name}`;
    const ownRedis = new URL(redisUrl);
    // Files of tests run side by side: each worker has a database of its own, behind those of the adapters' tests.
    ownRedis.pathname = `/${8 + Number(process.env.VITEST_POOL_ID ?? 1)}`;
    const redis = new Redis(ownRedis.href);
    // It may be stopped meanwhile, and comes back.
    redis.on('error', () => {});
    await redis.flushdb();
    const ends: (() => Promise<unknown>)[] = [];
    const cluster = new Cluster(
      {
        KAFKA_BROKERS: kafkaBrokers,
        KAFKA_PREFIX: `${name}.`,
        REDIS_URL: ownRedis.href,
        DATABASE_URL: ownDatabase.href,
        SECRETS_KEY: newSecretsKey(),
      },
      ends,
    );
    if (clickhouseUrl === null) {
      const clickhouse = await startClickhouseServer(join(cluster.folder, 'clickhouse'));
      clickhouseUrl = clickhouse.url;
      ends.push(() => clickhouse.stop());
    }
    cluster.#environment.CLICKHOUSE_URL = clickhouseUrl;
    if (process.env.S3_URL) cluster.#environment.S3_URL = `${process.env.S3_URL}/${name}`;
    else {
      const s3 = await startS3();
      cluster.#environment.S3_URL = s3.url;
      ends.push(() => s3.close());
    }
    Object.assign(cluster.#environment, await transform({ ...cluster.#environment }));
    ends.push(
      async () => {
        await redis.flushdb();
        redis.disconnect();
      },
      async () => {
        await command(databaseUrl, `drop database ${name} with (force)`);
      },
    );
    return cluster;
  }

  /** What its services are given as environment variables. */
  get settings(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  /** Where its services find the servers. */
  get addresses(): Servers & { clickhouseUrl: string } {
    const { KAFKA_BROKERS = '', REDIS_URL = '', DATABASE_URL = '', CLICKHOUSE_URL = '' } = this.#environment;
    return {
      kafkaBrokers: KAFKA_BROKERS,
      redisUrl: REDIS_URL,
      databaseUrl: DATABASE_URL,
      clickhouseUrl: CLICKHOUSE_URL,
    };
  }

  /** What is put in front of the names of topics. */
  get kafkaPrefix(): string {
    return this.#environment.KAFKA_PREFIX ?? '';
  }

  /** Resolves when the service is ready. @throws {Error} with its output when it ends before */
  async start(service: ServiceName, environment: Record<string, string> = {}): Promise<Instance> {
    const spawned = this.spawn(service, environment);
    const ports = await spawned.ready;
    if (ports === null) throw new Error(`${service} did not start:\n${spawned.stderrText()}`);
    return { ...spawned, ports };
  }

  /** Begins to start a service, and does not wait for it. */
  spawn(service: ServiceName, environment: Record<string, string> = {}): Spawned {
    const child = spawn(process.execPath, [MAIN[service]], {
      env: {
        PATH: process.env.PATH,
        ...this.#environment,
        DATA_DIR: service === 'video' ? join(this.folder, `video-${this.#instances.length}`) : this.sharedFolder,
        HOST: '127.0.0.1',
        PORT: '0',
        HEALTH_PORT: '0',
        ...Object.fromEntries(protocols.map(({ settingPrefix }) => [`${settingPrefix}_PORT`, '0'])),
        TERMINAL_SECRET: 'the secret of a test',
        VIDEO_MEDIA_PORT: '0',
        VIDEO_MEDIA_HOST: '127.0.0.1',
        ADMIN_PASSWORD: OPERATOR_PASSWORD,
        LIMIT_AUTHORIZED_PER_MINUTE: '100000',
        ARCHIVE_MS: '200',
        CHECKPOINT_MS: '300',
        LOG_FORMAT: 'json',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderrText = '';
    child.stderr.on('data', (chunk) => {
      stderrText += chunk;
    });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    this.#children.add(child);
    void exited.then(() => this.#children.delete(child));
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      return (await exited)[0];
    };
    const spawned: Spawned = {
      service,
      ready: readyPorts(child),
      ended: exited,
      stderrText: () => stderrText,
      said: () =>
        stderrText
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line)),
      kill: async () => void (await end('SIGKILL')),
      terminate: () => end('SIGTERM'),
    };
    this.#instances.push(spawned);
    return spawned;
  }

  /**
   * Begins to start a service and, as an orchestrator does, starts it again whenever it ends, until the cluster is
   * closed.
   *
   * @param environment with the ports that it is to have each time
   */
  keep(service: ServiceName, environment: Record<string, string>): RestartedService {
    const kept = new RestartedService(service, () => this.spawn(service, environment));
    this.#kept.push(kept);
    return kept;
  }

  /** What its log holds. */
  async readLog(): Promise<LogContent> {
    const { KAFKA_BROKERS = '', KAFKA_PREFIX = '' } = this.#environment;
    return contentOf(await openKafkaLog({ brokers: KAFKA_BROKERS.split(','), prefix: KAFKA_PREFIX }));
  }

  /** Output of all its processes. */
  get said(): string {
    return this.#instances
      .flatMap(({ service, said }) => said().map((line) => `${service} ${JSON.stringify(line)}`))
      .join('\n');
  }

  /**
   * Lines of all its processes at level `error` and above; without those about Redis where that had no answer in time:
   * a machine that is busy enough keeps it from one, and it is waited for.
   */
  complaints(): string[] {
    return complaintsOf(this.said).filter((line) => !/"message":"Command timed out"/.test(line));
  }

  async close(): Promise<void> {
    for (const kept of this.#kept) kept.rest();
    await Promise.all(
      [...this.#children].map((child) => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        return gone;
      }),
    );
    for (const end of this.#ends) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function command(databaseUrl: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(text);
  await client.end();
}

async function readyPorts(child: ChildProcess): Promise<Record<string, number> | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('{')) continue;
    return (JSON.parse(line) as { ports: Record<string, number> }).ports;
  }
  return null;
}

/** Logs the operator in at one instance of the API. */
export async function logInAt({ ports }: Instance): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${ports.http}/auth/login?jwt=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ login: 'admin', password: OPERATOR_PASSWORD }),
  });
  const { jwt } = (await answer.json()) as { jwt?: string };
  if (jwt === undefined) throw new Error(`the operator was not let in: ${answer.status}`);
  return jwt;
}

/** One call of the REST API; throws on any answer that is not 2xx. */
export async function callAt<T>(
  { ports }: Instance,
  jwt: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${ports.http}${path}`, {
    method,
    headers: { Authorization: `JWT ${jwt}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
}

/** What an instance has of a metric, over all labels. */
export async function counted({ ports }: Instance, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.health}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'gm'))].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
