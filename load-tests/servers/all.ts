import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startClickhouse } from './clickhouse.ts';
import { ensureCommands, isInPath } from './install.ts';
import { startKafka } from './kafka.ts';
import { MARIADB } from './mariadb.ts';
import { MOSQUITTO } from './mosquitto.ts';
import { postgresBinary, startPostgres } from './postgres.ts';
import { HAPROXY } from './proxies.ts';
import { startRedis } from './redis.ts';
import { startS3 } from './s3.ts';
import type { Server } from './server.ts';

export interface AllServers {
  redis: Server;
  postgres: Server;
  kafka: Server;
  clickhouse: Server;
  s3: Server;
  /** Environment variables with the addresses, for the services and the tests. */
  environment: Record<string, string>;
  /** Ends all of them, and removes what they wrote. */
  stop(): Promise<void>;
}

/**
 * Redis, PostgreSQL, Kafka, ClickHouse and S3, installed where they are missing, on free ports and in a new folder.
 *
 * @throws {Error} when one can't be installed or does not start
 */
export async function startAllServers(say: (line: string) => void): Promise<AllServers> {
  const commands = ['redis-server', 'initdb', 'java', 'mvn', 'mosquitto', 'mariadbd', 'haproxy', 'caddy'];
  const known: Record<string, string> = { mosquitto: MOSQUITTO, mariadbd: MARIADB, haproxy: HAPROXY };
  await ensureCommands(
    commands,
    say,
    (command) => isInPath(command) || existsSync(known[command] ?? postgresBinary(command)),
  );
  const folder = mkdtempSync(join(tmpdir(), 'outrider-servers-'));
  // PostgreSQL runs as another user where this runs as root.
  chmodSync(folder, 0o755);
  const running: Server[] = [];
  const stop = async () => {
    for (const server of running.toReversed()) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const started = async (starting: Promise<Server>) => {
    const server = await starting;
    running.push(server);
    return server;
  };
  try {
    const redis = await started(startRedis(join(folder, 'redis')));
    const postgres = await started(startPostgres(join(folder, 'postgres')));
    const kafka = await started(startKafka(join(folder, 'kafka')));
    const clickhouse = await started(startClickhouse(join(folder, 'clickhouse')));
    const s3 = await started(startS3(join(folder, 's3')));
    const environment: Record<string, string> = Object.assign({}, ...running.map((server) => server.environment));
    return { redis, postgres, kafka, clickhouse, s3, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
