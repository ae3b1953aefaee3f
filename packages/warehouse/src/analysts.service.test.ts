import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChdb } from './engines/chdb.ts';
import type { Engine } from './engines/engine.ts';
import { migrate } from './migrations.ts';

const DOCS = new URL('../../../docs/', import.meta.url);
let folder: string;
let engine: Engine;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-analysts-'));
  engine = await openChdb(folder);
  await migrate(engine);
});
afterAll(async () => {
  await engine?.close();
  rmSync(folder, { recursive: true, force: true });
});

const page = readFileSync(new URL('analysts.md', DOCS), 'utf8');

test('the page promises the views that there are, with the columns that they have', async () => {
  const rows = await engine.select({
    sql: `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND startsWith(table, 'analyst_')
      ORDER BY table, position`,
    parameters: {},
  });
  const views = new Map<string, string[]>();
  for (const [view, column] of rows) views.set(String(view), [...(views.get(String(view)) ?? []), String(column)]);
  const promised = [...page.matchAll(/^\| `(analyst_\w+)` \| [^|]+ \| (.*) \|$/gm)].map(([, view, columns = '']) => [
    view,
    [...columns.replaceAll(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, column]) => column),
  ]);
  expect(Object.fromEntries(promised)).toEqual(Object.fromEntries(views));
});

test('a view reports a trip once, as it stands', async () => {
  const row = (
    phase: string,
    precedence: number,
  ) => `INSERT INTO events (vehicle_id, began_at, id, kind, phase, started_at,
    ended_at, latitude_e7, longitude_e7, fix_time, distance_m, moving_ms, idling_ms, start_latitude_e7, start_longitude_e7, precedence)
    VALUES ('0190a1b2-c3d4-7000-8000-000000000001', 1000, '0190a1b2-c3d4-7000-8000-0000000000e1', 'trip', '${phase}',
    '2026-01-15 10:00:00', ${phase === 'begin' ? 'NULL' : "'2026-01-15 10:30:00'"}, 520000000, 130000000, 1000, 12345, 1500000, 2000,
    510000000, 120000000, ${precedence})`;
  await engine.execute(row('begin', 1));
  await engine.execute(row('end', 2));
  const sql = 'SELECT duration_seconds, distance_m, moving_seconds, start_latitude, end_longitude FROM analyst_trips';
  expect(await engine.select({ sql, parameters: {} })).toEqual([[1800, 12345, 1500, 51, 13]]);
});

test('a way without its jumps is what the page says it is', async () => {
  const fixes = [
    [0, 52, 13],
    [10, 52.001, 13],
    // Nobody gets there, nor away from there.
    [20, -33, 151],
    [30, 52.002, 13],
    // 400 km/h: somebody may.
    [40, 52.012, 13],
    [50, 52.022, 13],
    [60, 10, 13],
    [70, 52.023, 13],
  ] as const;
  const rows = fixes.map(
    ([second, latitude, longitude]) =>
      `('0190a1b2-c3d4-7000-8000-000000000001', toDateTime64('2026-01-15 10:00:00', 3, 'UTC') + ${second}, '', ${latitude * 1e7},
        ${longitude * 1e7}, 1, fix_time, 1)`,
  );
  await engine.execute(`INSERT INTO positions (vehicle_id, fix_time, rejection, latitude_e7, longitude_e7, valid, received_at, precedence)
    VALUES ${rows.join(', ').replaceAll('fix_time', "toDateTime64('2026-01-15 10:00:00', 3, 'UTC')")}`);
  const [, sql = ''] = /```sql\n-- A vehicle's way on a day, without its jumps.\n(.*?);\n```/s.exec(page) ?? [];
  const way = await engine.select({ sql, parameters: {} });
  expect(way.map(([, latitude, longitude]) => [latitude, longitude])).toEqual(
    fixes.filter(([second]) => second !== 20 && second !== 60).map(([, latitude, longitude]) => [latitude, longitude]),
  );
});

test('every question of the page is one that can be asked', async () => {
  const questions = [...page.matchAll(/```sql\n(.*?)```/gs)]
    .flatMap(([, sql = '']) => sql.replaceAll(/^--.*$/gm, '').split(';'))
    .map((sql) => sql.trim())
    .filter((sql) => sql.startsWith('SELECT'));
  expect(questions.length).toBeGreaterThan(1);
  for (const sql of questions) await engine.select({ sql, parameters: {} });
});

test('every panel of the dashboard asks what can be answered', async () => {
  const dashboard = JSON.parse(readFileSync(new URL('../deploy/grafana/fleet.json', DOCS), 'utf8'));
  const questions: string[] = dashboard.panels.flatMap((panel: { targets: { rawSql: string }[] }) =>
    panel.targets.map(({ rawSql }) => rawSql),
  );
  questions.push(
    ...dashboard.templating.list
      .map((variable: { query: string }) => variable.query)
      .filter((q: string) => / /.test(q)),
  );
  expect(questions.length).toBeGreaterThan(8);
  for (const question of questions) {
    // What Grafana's data source puts in their place.
    const sql = question
      .replaceAll(/\$__timeFilter\((\w+)\)/g, '$1 >= toDateTime(1768435200) AND $1 <= toDateTime(1769040000)')
      .replaceAll(/\$__timeInterval\((\w+)\)/g, 'toStartOfInterval(toDateTime($1), INTERVAL 60 second)')
      .replaceAll(/\$\{vehicle:singlequote\}/g, "'0190a1b2-c3d4-7000-8000-000000000001'");
    expect(sql).not.toContain('$');
    await engine.select({ sql, parameters: {} });
  }
});
