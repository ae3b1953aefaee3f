import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { postgresBinary } from '../../../load-tests/servers/postgres.ts';
import { Cluster, callAt, givenServers, type Instance, logInAt } from './distributed.fixture.ts';
import { HISTORY, RELEASES } from './fingerprints.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 500 };
const SERVICES = ['gateway', 'rules', 'archiver', 'notifier', 'recalculator'] as const;
const servers = givenServers();

interface Stored {
  vehicleId: string;
  from: string;
  to: string;
  positions: number;
  speeding: number;
  notifications: number;
  secretsKey: string;
}

describe.skipIf(servers === null)('an upgrade on servers, from the dumps of a release', () => {
  let cluster: Cluster | null = null;
  afterEach(() => cluster?.close());

  test.each(RELEASES)(
    '%s: the services start on its tables and report what it reported',
    {
      timeout: 240_000,
    },
    async (release) => {
      if (servers === null) return;
      const read = (name: string) => readFileSync(new URL(`${release}/${name}`, HISTORY));
      const stored = JSON.parse(read('servers.json').toString()) as Stored;
      const own = await Cluster.open(servers, null, async (environment) => {
        const { DATABASE_URL = '', CLICKHOUSE_URL = '' } = environment;
        execFileSync(postgresBinary('psql'), ['-q', '-v', 'ON_ERROR_STOP=1', DATABASE_URL], {
          input: gunzipSync(read('postgres.sql.gz')),
          stdio: ['pipe', 'ignore', 'inherit'],
        });
        await restoreClickhouse(CLICKHOUSE_URL, gunzipSync(read('clickhouse.sql.gz')).toString());
        return { ...environment, SECRETS_KEY: stored.secretsKey };
      });
      cluster = own;
      const api = await own.start('api');
      const others = await Promise.all(SERVICES.map((service) => own.start(service)));
      await vi.waitFor(async () => expect(await figures(api, stored)).toEqual(stored), PATIENCE);
      for (const instance of [...others, api])
        expect([instance.service, await instance.terminate()]).toEqual([instance.service, 0]);
      expect(own.complaints()).toEqual([]);
    },
  );
});

/** What `load-tests/golden/servers.ts` asked the release. */
async function figures(api: Instance, { vehicleId, from, to, secretsKey }: Stored): Promise<Stored> {
  const jwt = await logInAt(api);
  const count = async (path: string) => (await callAt<{ items: unknown[] }>(api, jwt, 'GET', path)).items.length;
  const query = new URLSearchParams({ vehicleId, from, to, limit: '1000' });
  return {
    vehicleId,
    from,
    to,
    positions: await count(`/api/v1/reports/track?${query}`),
    speeding: await count(`/api/v1/reports/speeding?${query}`),
    notifications: await count('/api/v1/notifications?limit=1000'),
    secretsKey,
  };
}

/** Runs the statements of a dump, one a line. */
async function restoreClickhouse(address: string, dump: string): Promise<void> {
  const { origin, pathname, username, password } = new URL(address);
  const database = pathname.slice(1) || 'default';
  const authorization = `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`;
  const run = async (sql: string, where: string) => {
    const answer = await fetch(`${origin}/${where}`, {
      method: 'POST',
      body: sql,
      ...(username !== '' && { headers: { authorization } }),
    });
    if (!answer.ok) throw new Error(`${await answer.text()}\n${sql.slice(0, 300)}`);
  };
  await run(`CREATE DATABASE IF NOT EXISTS ${database}`, '');
  for (const statement of dump.split('\n')) await run(statement, `?database=${database}`);
}
