import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { expectNone } from './complaints.fixture.ts';
import { Cluster, callAt, givenServers, type Instance, logInAt } from './distributed.fixture.ts';
import { HISTORY, RELEASES } from './fingerprints.fixture.ts';
import {
  drive,
  dumpClickhouse,
  dumpPostgres,
  restoreClickhouse,
  restorePostgres,
  type ServersFigures,
  serversFigures,
} from './server-dumps.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 500 };
const SERVICES = ['gateway', 'rules', 'archiver', 'notifier', 'reporter', 'recalculator'] as const;
const servers = givenServers();

describe.skipIf(servers === null)('on servers', () => {
  let cluster: Cluster | null = null;
  afterEach(() => cluster?.close());

  test.each(RELEASES)(
    'an upgrade from %s, and the way back that upgrade.md promises',
    {
      timeout: 300_000,
    },
    async (release) => {
      if (servers === null) return;
      const read = (name: string) => readFileSync(new URL(`${release}/${name}`, HISTORY));
      const { secretsKey, ...stored } = JSON.parse(read('servers.json').toString()) as ServersFigures & {
        secretsKey: string;
      };
      const dumps = {
        postgres: gunzipSync(read('postgres.sql.gz')).toString(),
        clickhouse: gunzipSync(read('clickhouse.sql.gz')).toString(),
      };
      cluster = await Cluster.open(servers, null, async (environment) => ({
        ...environment,
        SECRETS_KEY: secretsKey,
        // What was written years ago must stay.
        NOTIFICATION_RETENTION_DAYS: '3650',
      }));
      const { REDIS_URL = '', DATABASE_URL = '', CLICKHOUSE_URL = '' } = cluster.settings;
      const restore = async () => {
        await emptyDatabase(DATABASE_URL);
        restorePostgres(DATABASE_URL, dumps.postgres);
        await restoreClickhouse(CLICKHOUSE_URL, dumps.clickhouse);
        return tables();
      };
      const tables = async () => ({
        postgres: dumpPostgres(DATABASE_URL),
        clickhouse: await dumpClickhouse(CLICKHOUSE_URL),
      });

      const before = await restore();
      await started(cluster, {}, async (api, jwt, gateway) => {
        expect(await serversFigures(api, jwt, stored)).toEqual(stored);
        await driveAgain(api, jwt, gateway, stored);
        await callAt(api, jwt, 'PATCH', `/api/v1/vehicles/${stored.vehicleId}`, { name: 'Renamed' });
      });
      const upgraded = await tables();
      expect(upgraded.postgres).not.toBe(before.postgres);

      // Back: the backups, topics under a new prefix, an empty Redis, as upgrade.md says.
      expect(await restore()).toEqual(before);
      await emptyRedis(REDIS_URL);
      await started(cluster, { KAFKA_PREFIX: `${cluster.kafkaPrefix}restored.` }, async (api, jwt, gateway) => {
        expect(await serversFigures(api, jwt, stored)).toEqual(stored);
        const vehicle = await callAt<{ name: string }>(api, jwt, 'GET', `/api/v1/vehicles/${stored.vehicleId}`);
        expect(vehicle.name).toBe('Van');
        await driveAgain(api, jwt, gateway, stored);
      });
      // Dumps hold no topics: readers with a place in the registry report that, as upgrade.md says.
      const isNewTopics = (line: string) => line.includes('"kind":"replaced"');
      expect(cluster.complaints().some(isNewTopics)).toBe(true);
      expectNone(cluster.complaints().filter((line) => !isNewTopics(line)));
    },
  );
});

/** Starts the services of this release, the API first, and stops them in order after the work. */
async function started(
  cluster: Cluster,
  environment: Record<string, string>,
  work: (api: Instance, jwt: string, gateway: Instance | undefined) => Promise<void>,
): Promise<void> {
  const api = await cluster.start('api', environment);
  const others = await Promise.all(SERVICES.map((service) => cluster.start(service, environment)));
  await work(api, await logInAt(api), others[0]);
  for (const instance of [...others, api])
    expect([instance.service, await instance.terminate()]).toEqual([instance.service, 0]);
}

/** The terminal goes on: positions, events and notifications come to those that were there. */
async function driveAgain(
  api: Instance,
  jwt: string,
  gateway: Instance | undefined,
  { vehicleId, notifications }: ServersFigures,
): Promise<void> {
  const time = (inMs: number) => new Date(Date.now() + inMs).toISOString();
  const range = { from: time(-3_000_000), to: time(600_000) };
  expect((await serversFigures(api, jwt, { vehicleId, ...range })).positions).toBe(0);
  await drive(gateway, 600_000);
  await vi.waitFor(async () => {
    const now = await serversFigures(api, jwt, { vehicleId, ...range });
    expect(now.positions).toBeGreaterThan(200);
    expect(now.speeding).toBeGreaterThan(0);
    expect(now.notifications).toBeGreaterThan(notifications);
  }, PATIENCE);
}

async function emptyDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('drop schema public cascade');
  await client.query('create schema public');
  await client.end();
}

async function emptyRedis(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushdb();
  redis.disconnect();
}
