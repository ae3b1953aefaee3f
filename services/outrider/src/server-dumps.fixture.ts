import { execFileSync } from 'node:child_process';
import type { TerminalId } from '@outrider/domain';
import { generateDrive, playDrive } from '@outrider/simulator';
import { postgresBinary } from '../../../load-tests/servers/postgres.ts';
import { callAt, type Instance } from './distributed.fixture.ts';
import { asDriven } from './end-to-end.fixture.ts';

/** The warehouse's own, in ClickHouse. */
const DATABASE = 'outrider';

/** What a release reports of its own dumps. */
export interface ServersFigures {
  vehicleId: string;
  from: string;
  to: string;
  positions: number;
  speeding: number;
  notifications: number;
}

/** The terminal of the vehicle in the dumps. */
export const TERMINAL = '356307042445001' as TerminalId;

/** Some minutes in the past, at speeds over the limit of the vehicle. */
export async function drive(gateway: Instance | undefined, endedAgoMs: number): Promise<void> {
  const positions = asDriven(generateDrive(300, 7));
  const laterMs = Date.now() - endedAgoMs - (positions.at(-1)?.fixTimeMs ?? 0);
  await playDrive({
    protocol: 'teltonika',
    terminalId: TERMINAL,
    host: '127.0.0.1',
    port: gateway?.ports.teltonika as number,
    positions: positions.map((position) => ({ ...position, fixTimeMs: position.fixTimeMs + laterMs })),
    positionsPerPacket: 10,
  });
}

export async function serversFigures(
  api: Instance,
  jwt: string,
  { vehicleId, from, to }: Pick<ServersFigures, 'vehicleId' | 'from' | 'to'>,
): Promise<ServersFigures> {
  const count = async (path: string) => (await callAt<{ items: unknown[] }>(api, jwt, 'GET', path)).items.length;
  const query = new URLSearchParams({ vehicleId, from, to, limit: '1000' });
  return {
    vehicleId,
    from,
    to,
    positions: await count(`/api/v1/reports/track?${query}`),
    speeding: await count(`/api/v1/reports/speeding?${query}`),
    notifications: await count('/api/v1/notifications?limit=1000'),
  };
}

/** All of a database, as statements for psql. */
export function dumpPostgres(url: string): string {
  const dump = execFileSync(postgresBinary('pg_dump'), ['--no-owner', '--inserts', url], { maxBuffer: 1 << 28 });
  return withoutRestrict(dump.toString());
}

/** Into an empty database. */
export function restorePostgres(url: string, dump: string): void {
  execFileSync(postgresBinary('psql'), ['-q', '-v', 'ON_ERROR_STOP=1', url], {
    input: withoutRestrict(dump),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
}

/** Newer pg_dumps write commands with a random key, which older psqls do not know. */
function withoutRestrict(dump: string): string {
  return dump.replace(/^\\(un)?restrict .*\n/gm, '');
}

/** Statements that make the tables again, with their rows; one a line. */
export async function dumpClickhouse(url: string): Promise<string> {
  const names = await clickhouse(
    url,
    `SELECT name, engine, create_table_query FROM system.tables WHERE database = '${DATABASE}'
     ORDER BY engine = 'View', name FORMAT JSONEachRow`,
  );
  const tables = linesOf(names).map(
    (line) => JSON.parse(line) as { name: string; engine: string; create_table_query: string },
  );
  if (tables.length === 0) throw new Error(`ClickHouse has no tables in database ${DATABASE}`);
  const statements: string[] = [];
  for (const { name, engine, create_table_query: create } of tables) {
    statements.push(create);
    if (engine === 'View') continue;
    const rows = linesOf(await clickhouse(url, `SELECT * FROM ${DATABASE}.${name} FORMAT JSONEachRow`)).toSorted();
    if (rows.length > 0) statements.push(`INSERT INTO ${DATABASE}.${name} FORMAT JSONEachRow ${rows.join(' ')}`);
  }
  return statements.join('\n');
}

/** In the place of what the database has. */
export async function restoreClickhouse(url: string, dump: string): Promise<void> {
  await clickhouse(url, `DROP DATABASE IF EXISTS ${DATABASE} SYNC`);
  await clickhouse(url, `CREATE DATABASE ${DATABASE}`);
  for (const statement of dump.split('\n')) await clickhouse(url, statement, DATABASE);
}

async function clickhouse(url: string, sql: string, database = 'default'): Promise<string> {
  const { origin, username, password } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`;
  const answer = await fetch(`${origin}/?database=${database}&output_format_json_quote_64bit_integers=1`, {
    method: 'POST',
    body: sql,
    headers: username === '' ? {} : { authorization },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${text}\n${sql.slice(0, 300)}`);
  return text;
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(Boolean);
}
