import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { TerminalId } from '@outrider/domain';
import { generateDrive, playDrive } from '@outrider/simulator';
import { Cluster, callAt, logInAt } from '../../services/outrider/src/distributed.fixture.ts';
import { asDriven } from '../../services/outrider/src/end-to-end.fixture.ts';
import { startAllServers } from '../servers/all.ts';
import { postgresBinary } from '../servers/postgres.ts';

const TERMINAL = '356307042445001' as TerminalId;
const FIXES = 300;

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
    const [gateway] = await Promise.all(
      (['gateway', 'rules', 'archiver', 'notifier'] as const).map((service) => cluster.start(service)),
    );
    const jwt = await logInAt(api);
    const call = <T>(method: string, path: string, body?: unknown) => callAt<T>(api, jwt, method, path, body);
    const vehicle = { name: 'Van', terminalId: TERMINAL, speedLimitKmh: 30 };
    const { id } = await call<{ id: string }>('POST', '/api/v1/vehicles', vehicle);
    await call('POST', '/api/v1/notification-rules', {
      name: 'Fast',
      eventKinds: ['speeding'],
      webhook: { url: 'https://example.com/hook' },
    });
    await wait(3000);
    await playDrive({
      protocol: 'teltonika',
      terminalId: TERMINAL,
      host: '127.0.0.1',
      port: gateway?.ports.teltonika as number,
      positions: asDriven(generateDrive(FIXES, 7)),
      positionsPerPacket: 10,
    });
    const range = {
      from: new Date(Date.now() - 86_400_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const count = async (report: string) => {
      const query = new URLSearchParams({ vehicleId: id, ...range, limit: '1000' });
      return (await call<{ items: unknown[] }>('GET', `/api/v1/reports/${report}?${query}`)).items.length;
    };
    const figures = async () => ({
      vehicleId: id,
      ...range,
      positions: await count('track'),
      speeding: await count('speeding'),
      notifications: (await call<{ items: unknown[] }>('GET', '/api/v1/notifications?limit=1000')).items.length,
    });
    let [before, now] = ['', JSON.stringify(await figures())];
    for (; before !== now || !(await count('speeding')); now = JSON.stringify(await figures())) {
      before = now;
      await wait(3000);
    }
    mkdirSync(folder, { recursive: true });
    const {
      DATABASE_URL: ownDatabase = '',
      CLICKHOUSE_URL: clickhouse = '',
      SECRETS_KEY: secretsKey,
    } = cluster.settings;
    const dump = execFileSync(postgresBinary('pg_dump'), ['--no-owner', '--inserts', ownDatabase], {
      maxBuffer: 1 << 28,
    });
    writeFileSync(`${folder}/postgres.sql.gz`, gzipSync(dump, { level: 9 }));
    writeFileSync(`${folder}/clickhouse.sql.gz`, gzipSync(await clickhouseDump(clickhouse), { level: 9 }));
    writeFileSync(`${folder}/servers.json`, `${JSON.stringify({ ...(await figures()), secretsKey }, null, 2)}\n`);
  } finally {
    await cluster.close();
    await servers.stop();
  }
}

/** Statements that make the tables again, with their rows; one a line. */
async function clickhouseDump(url: string): Promise<string> {
  const ask = async (sql: string) => {
    const { origin, pathname, username, password } = new URL(url);
    const database = pathname.slice(1) || 'default';
    const answer = await fetch(`${origin}/?database=${database}&output_format_json_quote_64bit_integers=1`, {
      method: 'POST',
      body: sql,
      ...(username !== '' && {
        headers: {
          authorization: `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`,
        },
      }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text;
  };
  const tables = (
    await ask(
      `SELECT name, engine, create_table_query FROM system.tables WHERE database = currentDatabase() FORMAT JSONEachRow`,
    )
  )
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { name: string; engine: string; create_table_query: string })
    .toSorted((a, b) => Number(a.engine === 'View') - Number(b.engine === 'View'));
  const lines: string[] = [];
  for (const { name, engine, create_table_query: create } of tables) {
    lines.push(create);
    if (engine === 'View') continue;
    const rows = await ask(`SELECT * FROM ${name} FORMAT JSONEachRow`);
    if (rows !== '') lines.push(`INSERT INTO ${name} FORMAT JSONEachRow ${rows.replaceAll('\n', ' ')}`);
  }
  return lines.join('\n');
}
