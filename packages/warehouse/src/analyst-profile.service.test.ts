import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startClickhouseServer } from './engines/clickhouse-server.fixture.ts';
import { openServer } from './engines/server.ts';
import { migrate } from './migrations.ts';

const page = readFileSync(new URL('../../../docs/analysts.md', import.meta.url), 'utf8');
const [, sql = ''] = /CREATE SETTINGS PROFILE OR REPLACE analyst SETTINGS\n(.*?);/s.exec(page) ?? [];
/**
 * Settings of the profile as the page has them: the server of the tests has no accounts but those of its configuration.
 */
const SETTINGS = [...sql.matchAll(/(\w+) = ('\w+'|\d+)( CONST)?/g)].map(([, name = '', value = '', constant]) => ({
  name,
  value: value.replaceAll("'", ''),
  isConstant: constant !== undefined,
}));
const folder = mkdtempSync(join(tmpdir(), 'outrider-analyst-'));
let server: Awaited<ReturnType<typeof startClickhouseServer>>;

/** What the server answers to a query: null where it is refused, with the reason. */
async function ask(sql: string, login = 'analyst:choose one', settings = ''): Promise<{ refused: string | null }> {
  const answer = await fetch(`${new URL(server.url).origin}/?database=outrider${settings}`, {
    method: 'POST',
    body: sql,
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
  });
  const text = await answer.text();
  return { refused: answer.ok ? null : text };
}

beforeAll(async () => {
  const values = SETTINGS.map(({ name, value }) => `<${name}>${value}</${name}>`).join('');
  const constraints = SETTINGS.flatMap(({ name, isConstant }) =>
    isConstant ? `<${name}><const/></${name}>` : [],
  ).join('');
  const tables = [...page.matchAll(/^GRANT SELECT ON (\S+) TO analyst;$/gm)].map(([, table]) => table);
  server = await startClickhouseServer(folder, {
    profiles: `<analyst>${values}<constraints>${constraints}</constraints></analyst>`,
    users: `<analyst><password>choose one</password><networks><ip>127.0.0.1</ip></networks><profile>analyst</profile><quota>default</quota>
      <grants>${tables.map((table) => `<query>GRANT SELECT ON ${table}</query>`).join('')}</grants></analyst>`,
  });
  const engine = await openServer({ url: server.url, database: 'outrider' });
  await migrate(engine);
  await engine.close();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const LIMITS = {
  readonly: '0',
  max_execution_time: '0',
  timeout_overflow_mode: "'break'",
  max_memory_usage: '0',
  max_memory_usage_for_user: '0',
  max_temporary_data_on_disk_size_for_user: '0',
  max_threads: '64',
  max_concurrent_queries_for_user: '0',
  priority: '1',
};

test('the page keeps every limit of the profile from being raised', () => {
  expect(SETTINGS.filter(({ isConstant }) => isConstant).map(({ name }) => name)).toEqual(Object.keys(LIMITS));
});

test('an analyst reads, with settings of a tool, and can not raise a limit of their own in any way', async () => {
  expect(await ask('SELECT count() FROM outrider.analyst_trips')).toEqual({ refused: null });
  expect(await ask('SELECT 1', undefined, '&output_format_json_quote_64bit_integers=1')).toEqual({ refused: null });
  for (const [name, value] of Object.entries(LIMITS)) {
    const plain = value.replaceAll("'", '');
    expect((await ask(`SELECT 1 SETTINGS ${name} = ${value}`)).refused, name).toMatch(
      /SETTING_CONSTRAINT_VIOLATION|READONLY/,
    );
    expect((await ask('SELECT 1', undefined, `&${name}=${plain}`)).refused, name).toMatch(
      /SETTING_CONSTRAINT_VIOLATION|READONLY/,
    );
    expect((await ask(`SET ${name} = ${value}`)).refused, name).toMatch(/SETTING_CONSTRAINT_VIOLATION|READONLY/);
  }
});

test('an analyst changes nothing, and has no way around the profile', async () => {
  for (const sql of [
    'DROP TABLE outrider.positions',
    'ALTER SETTINGS PROFILE analyst SETTINGS max_threads = 64',
    "ALTER USER analyst SETTINGS PROFILE 'default'",
    'CREATE TABLE outrider.copy ENGINE = Memory AS SELECT 1',
    "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')",
    "SELECT * FROM file('/etc/passwd', LineAsString)",
  ])
    expect((await ask(sql)).refused, sql).toMatch(/ACCESS_DENIED|READONLY|Not enough privileges/);
});
