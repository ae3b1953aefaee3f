import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startClickhouseServer } from './engines/clickhouse-server.fixture.ts';
import { engineConformance } from './engines/engine.conformance.ts';
import { openServer } from './engines/server.ts';
import { reportsConformance } from './reports.conformance.ts';
import { tripPartsConformance } from './trip-parts.conformance.ts';
import { warehouseConformance } from './warehouse.conformance.ts';
import { openWarehouse } from './warehouse.ts';

const { CLICKHOUSE_URL } = process.env;

const folder = mkdtempSync(join(tmpdir(), 'outrider-clickhouse-'));
// One of its own where none is given.
const server = CLICKHOUSE_URL ? null : startClickhouseServer(folder);
const addressOf = async (database: string) => ({
  url: CLICKHOUSE_URL ?? (await server)?.url ?? '',
  database: `outrider_test_${process.pid}${database}`,
});
const open = async () => openWarehouse(await addressOf(''));
let engines = 0;
engineConformance('a ClickHouse server', async () => openServer(await addressOf(`_${++engines}`)));
warehouseConformance('a ClickHouse server', open);
reportsConformance('a ClickHouse server', open);
tripPartsConformance('a ClickHouse server', async () => openServer(await addressOf('_trips')));

test('a server that is not there is an error at the start', async () => {
  await expect(openWarehouse({ url: 'http://127.0.0.1:1' })).rejects.toThrow();
});

test("a database's name is a plain name", async () => {
  await expect(openWarehouse({ url: 'http://127.0.0.1:1', database: 'a; DROP' })).rejects.toThrow(/no name/);
});

afterAll(async () => {
  await (await server)?.stop();
  rmSync(folder, { recursive: true, force: true });
});
