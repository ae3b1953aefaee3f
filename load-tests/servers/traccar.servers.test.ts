import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runImport } from '../../services/outrider/src/import/import.ts';
import { openTraccarDatabase } from '../../services/outrider/src/import/traccar-database.ts';
import type { TraccarSource } from '../../services/outrider/src/import/traccar-source.ts';
import {
  archivedCount,
  OPERATOR_PASSWORD,
  type RunningService,
  startService,
} from '../../services/outrider/src/service.fixture.ts';
import { type H2Version, startH2 } from './h2.ts';
import { startMariadb } from './mariadb.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const folder = mkdtempSync(join(tmpdir(), 'outrider-traccar-'));
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
});

const KINDS = ['PostgreSQL', 'MariaDB', 'H2 1.4.200', 'H2 2.3.232'] as const;
type Kind = (typeof KINDS)[number];

/** A database of Traccar's tables, as far as they are read, with a fleet of two. */
async function filledDatabase(kind: Kind): Promise<string> {
  const statements = fleetIn(kind);
  if (kind === 'PostgreSQL' || kind === 'MariaDB') {
    const { url, execute } = await openDatabase(kind);
    for (const statement of statements) await execute(statement);
    return url;
  }
  const script = statements.map((statement) => `${statement};\n`).join('');
  const server = await startH2(join(folder, kind), kind.slice(3) as H2Version, script);
  ends.push(() => server.stop());
  return server.environment.DATABASE_URL ?? '';
}

interface Database {
  url: string;
  execute(text: string): Promise<unknown>;
}

async function openDatabase(kind: 'PostgreSQL' | 'MariaDB'): Promise<Database> {
  if (kind === 'MariaDB') {
    const server = await startMariadb(join(folder, 'mariadb'));
    ends.push(() => server.stop());
    const url = server.environment.MYSQL_URL ?? '';
    const connection = await createConnection({ uri: url, timezone: 'Z' });
    ends.push(() => connection.end());
    await connection.query("set session time_zone = '+00:00'");
    return { url, execute: (text) => connection.query(text) };
  }
  const url = new URL(process.env.DATABASE_URL ?? '');
  const name = `traccar_${process.pid}`;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`create database ${name}`);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  ends.push(async () => {
    await client.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return { url: url.href, execute: (text) => client.query(text) };
}

function fleetIn(kind: Kind): string[] {
  const [id, flag, double] =
    kind === 'MariaDB' ? ['int', 'bit(1)', 'double'] : ['integer', 'boolean', 'double precision'];
  const yes = kind === 'MariaDB' ? "b'1'" : 'true';
  const no = kind === 'MariaDB' ? "b'0'" : 'false';
  const tables = {
    tc_groups: `id ${id}, name varchar(128), groupid ${id}, attributes varchar(4000)`,
    tc_devices: `id ${id}, name varchar(128), uniqueid varchar(128), groupid ${id}, attributes varchar(4000)`,
    tc_users: `id ${id}, name varchar(128), email varchar(128), login varchar(128), administrator ${flag}, disabled ${flag}, hashedpassword varchar(128)`,
    tc_geofences: `id ${id}, name varchar(128), description varchar(128), area varchar(4096), attributes varchar(4000)`,
    tc_drivers: `id ${id}, name varchar(128), uniqueid varchar(128), attributes varchar(4000)`,
    tc_notifications: `id ${id}, type varchar(128), attributes varchar(4000), always ${flag}, calendarid ${id}`,
    tc_maintenances: `id ${id}, name varchar(128), type varchar(128), start ${double}, period ${double}, attributes varchar(4000)`,
    tc_attributes: `id ${id}, description varchar(4000), type varchar(128), attribute varchar(128), expression varchar(4000)`,
    tc_positions: `id ${id}, deviceid ${id}, fixtime timestamp(6) null, valid ${flag}, latitude ${double}, longitude ${double}, altitude ${double}, speed ${double}, course ${double}, attributes varchar(4000)`,
    ...Object.fromEntries(
      ['user_group', 'user_device'].map((name) => [`tc_${name}`, `userid ${id}, ${name.slice(5)}id ${id}`]),
    ),
    ...Object.fromEntries(
      ['device', 'group'].flatMap((of) =>
        ['notification', 'maintenance', 'attribute'].map((what) => [
          `tc_${of}_${what}`,
          `${of}id ${id}, ${what}id ${id}`,
        ]),
      ),
    ),
  };
  const rowsOfDefinitions = [
    `tc_groups values (10, 'Region', null, '{}'), (11, 'Town', 10, null)`,
    `tc_devices values (1, 'Van', '356307042441013', 11, '{"speedLimit": 48.6}'), (2, 'Trailer', '356307042441021', null, 'x')`,
    `tc_users values (20, 'Admin', 'admin@example.com', null, ${yes}, ${no}, 'hash'), (21, 'Anna', 'anna@example.com', '', ${no}, ${no}, 'hash')`,
    `tc_user_group values (21, 10)`,
    `tc_user_device values (21, 2)`,
    `tc_geofences values (30, 'Depot', null, 'CIRCLE (59.9386 30.3141, 300)', '{}')`,
    `tc_drivers values (40, 'Ben Cole', '0100000F28F9A1', '{}')`,
    `tc_notifications values (50, 'alarm', '{"alarms": "sos"}', ${yes}, null), (51, 'ignitionOn', null, ${no}, null)`,
    `tc_device_notification values (1, 51)`,
    `tc_maintenances values (60, 'Oil', 'totalDistance', 0, 15000000, '{}')`,
    `tc_group_maintenance values (10, 60)`,
    `tc_attributes values (70, 'Charging', 'boolean', 'charging', 'power ? power > 13.2 : null')`,
    `tc_group_attribute values (10, 70)`,
  ];
  // Times that repeat, on either side of a page's end.
  const rows = Array.from({ length: 10_500 }, (_, nth) => {
    const fix = new Date(Date.UTC(2026, 0, 1) + Math.floor(nth / 4) * 1000)
      .toISOString()
      .slice(0, -1)
      .replace('T', ' ');
    return `(${20_000 - nth}, 1, '${fix}', ${yes}, 59.9, ${30 + nth / 100_000}, 12, 10, 90, '{"sat": 9}')`;
  });
  const pages = Array.from({ length: Math.ceil(rows.length / 1000) }, (_, nth) =>
    rows.slice(nth * 1000, (nth + 1) * 1000),
  );
  return [
    ...Object.entries(tables).map(([name, columns]) => `create table ${name} (${columns})`),
    ...rowsOfDefinitions.map((row) => `insert into ${row}`),
    ...pages.map((page) => `insert into tc_positions values ${page.join(', ')}`),
  ];
}

async function positionsOf(source: TraccarSource, fromMs: number) {
  const pages = [];
  for await (const page of source.positions(1, fromMs)) pages.push(page);
  return pages;
}

describe.skipIf(process.env.DATABASE_URL === undefined).each(KINDS)('a Traccar in %s', (kind) => {
  let database: string;
  const open = (timeZone = 'UTC') => openTraccarDatabase({ database, user: undefined, password: undefined, timeZone });
  beforeAll(async () => {
    database = await filledDatabase(kind);
  }, 120_000);

  test('is read as its REST API would tell it, and never written', async () => {
    const source = await open();
    try {
      expect(source.name).not.toContain('@');
      expect(await source.list('devices')).toEqual([
        { id: 1, name: 'Van', uniqueId: '356307042441013', groupId: 11, attributes: { speedLimit: 48.6 } },
        { id: 2, name: 'Trailer', uniqueId: '356307042441021', groupId: null, attributes: {} },
      ]);
      const users = await source.list<Record<string, unknown>>('users');
      expect(users).toMatchObject([{ administrator: true }, { administrator: false, login: '' }]);
      expect(users.flatMap(Object.keys)).not.toContain('hashedpassword');
      expect(await source.grants(21)).toEqual({ groupIds: [10], deviceIds: [2] });
      expect(await source.links('notifications', { deviceIds: [], groupIds: [] })).toEqual(
        new Map([[51, { deviceIds: [1], groupIds: [] }]]),
      );
      const pages = await positionsOf(source, Date.UTC(2026, 0, 1));
      expect(pages.map(({ positions }) => positions.length)).toEqual([10_000, 500]);
      const longitudes = pages.flatMap(({ positions }) => positions.map(({ longitude }) => longitude));
      expect(new Set(longitudes).size).toBe(10_500);
      expect(pages[0]?.positions[0]).toMatchObject({ fixTime: '2026-01-01T00:00:00.000Z', valid: true, speed: 10 });
      expect(pages.at(-1)?.reachedMs).toBe(Date.UTC(2026, 0, 1) + 2_624_000);
      expect(
        (await positionsOf(source, Date.UTC(2026, 0, 1) + 2_624_000)).map(({ positions }) => positions.length),
      ).toEqual([4]);
    } finally {
      await source.close();
    }
  });

  test('in whose process the clock was another is read by that', async () => {
    const source = await open('Europe/Berlin');
    try {
      const [first] = await positionsOf(source, Date.UTC(2025, 11, 31));
      const hour = kind === 'MariaDB' ? '2026-01-01T00' : '2025-12-31T23';
      expect(first?.positions[0]?.fixTime.slice(0, 13)).toBe(hour);
      const lastMs = Date.UTC(2026, 0, 1) + 2_624_000 - (kind === 'MariaDB' ? 0 : 3_600_000);
      const [last] = await positionsOf(source, lastMs);
      expect(last).toMatchObject({ positions: { length: 4 }, reachedMs: lastMs });
    } finally {
      await source.close();
    }
  });

  test('without its tables, or not there, is named', async () => {
    const url = new URL(database);
    const access = { user: undefined, password: undefined, timeZone: 'UTC' };
    // H2's server serves the one that was opened.
    if (kind === 'PostgreSQL' || kind === 'MariaDB') {
      url.pathname = kind === 'PostgreSQL' ? '/postgres' : '/mysql';
      const source = await openTraccarDatabase({ database: url.href, ...access });
      await expect(source.list('devices')).rejects.toThrow(/tc_devices/);
      await source.close();
    }
    url.port = '1';
    await expect(openTraccarDatabase({ database: url.href, ...access })).rejects.toThrow(/was not reached/);
  });

  test('moves in whole, and goes on where it was', async () => {
    const service: RunningService = await startService(join(folder, `service-${kind}`));
    ends.push(() => service.kill());
    const printed: string[] = [];
    const progress = join(folder, `progress-${kind}.json`);
    const run = (...words: string[]) =>
      runImport(
        [
          'traccar',
          '--database',
          `jdbc:${database}?x=y`,
          '--history',
          '2026-01-01',
          '--progress',
          progress,
          ...words,
        ].concat(['--to', `http://127.0.0.1:${service.ports.http}`, '--login', 'admin']),
        { OUTRIDER_PASSWORD: OPERATOR_PASSWORD },
        (line) => printed.push(line),
      );
    expect(await run(), printed.join('\n')).toBe(0);
    const items = async <T>(path: string) => (await service.call<{ items: T[] }>('GET', path)).items;
    const [van] = await items<{ id: string; name: string; speedLimitKmh: number; sensors: { source: string }[] }>(
      '/api/v1/vehicles?q=Van',
    );
    expect(van).toMatchObject({ speedLimitKmh: 90, sensors: [{ name: 'Charging', source: 'supplyV > 13.2' }] });
    expect(await items('/api/v1/maintenance-plans')).toMatchObject([{ name: 'Oil', every: { distanceKm: 15_000 } }]);
    expect((await items<{ name: string }>('/api/v1/notification-rules')).map(({ name }) => name).sort()).toEqual([
      'Traccar: alarm sos',
      'Traccar: ignitionOn (51)',
    ]);
    // Four of each time of a terminal are one: the newest place of the same moment.
    await vi.waitFor(async () => expect(await archivedCount(service, van?.id ?? '')).toBeGreaterThan(2600), PATIENCE);
    printed.length = 0;
    expect(await run()).toBe(0);
    expect(printed).toContain('made: history of Van: 4 positions, 0 left out');
    await service.kill();
  }, 180_000);
});

test.each([
  ['jdbc:h2:./data/database', /read by H2 alone/],
  ['/opt/traccar/data/database.mv.db', /read by H2 alone/],
  ['jdbc:sqlserver://host;databaseName=traccar', /sqlserver can't be read/],
  ['traccar', /must be a URL/],
])('%s is refused with what to do', async (database, reason) => {
  await expect(
    openTraccarDatabase({ database, user: undefined, password: undefined, timeZone: 'UTC' }),
  ).rejects.toThrow(reason);
});
