import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Cluster, callAt, logInAt } from '../../services/outrider/src/distributed.fixture.ts';
import {
  drive,
  dumpClickhouse,
  dumpPostgres,
  type ServersFigures,
  serversFigures,
  TERMINAL,
} from '../../services/outrider/src/server-dumps.fixture.ts';
import { startAllServers } from '../servers/all.ts';

/** Runs the services on servers, lets a vehicle drive, and writes what PostgreSQL and ClickHouse hold then. */
export async function dumpServers(folder: string): Promise<void> {
  const servers = await startAllServers(console.log);
  const {
    KAFKA_BROKERS: kafkaBrokers = '',
    REDIS_URL: redisUrl = '',
    DATABASE_URL: databaseUrl = '',
  } = servers.environment;
  const cluster = await Cluster.open({ kafkaBrokers, redisUrl, databaseUrl });
  try {
    const api = await cluster.start('api');
    const others = await Promise.all(
      (['gateway', 'rules', 'archiver', 'notifier'] as const).map((service) => cluster.start(service)),
    );
    const jwt = await logInAt(api);
    const call = <T>(method: string, path: string, body?: unknown) => callAt<T>(api, jwt, method, path, body);
    const vehicle = { name: 'Van', terminalId: TERMINAL, speedLimitKmh: 30 };
    const { id } = await call<{ id: string }>('POST', '/api/v1/vehicles', vehicle);
    await call('POST', '/api/v1/notification-rules', {
      name: 'Fast',
      eventKinds: ['speeding'],
      webhook: { url: 'https://outrider.invalid/hook' },
    });
    await wait(3000);
    await drive(others[0], 3_600_000);
    const range = {
      from: new Date(Date.now() - 86_400_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const figures = () => serversFigures(api, jwt, { vehicleId: id, ...range });
    let [before, now] = [null as ServersFigures | null, await figures()];
    for (; !isDeepStrictEqual(before, now) || now.speeding === 0; now = await figures()) {
      before = now;
      await wait(3000);
    }
    for (const service of others) await service.terminate();
    now = await figures();
    mkdirSync(folder, { recursive: true });
    const { DATABASE_URL: database = '', CLICKHOUSE_URL: clickhouse = '', SECRETS_KEY: secretsKey } = cluster.settings;
    writeFileSync(`${folder}/postgres.sql.gz`, gzipSync(dumpPostgres(database), { level: 9 }));
    writeFileSync(`${folder}/clickhouse.sql.gz`, gzipSync(await dumpClickhouse(clickhouse), { level: 9 }));
    writeFileSync(`${folder}/servers.json`, `${JSON.stringify({ ...now, secretsKey }, null, 2)}\n`);
  } finally {
    await cluster.close();
    await servers.stop();
  }
}
