import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openHttpFront } from './engines/http-front.ts';
import { reportsConformance } from './reports.conformance.ts';
import { warehouseConformance } from './warehouse.conformance.ts';
import { openWarehouse } from './warehouse.ts';

const { CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD } = process.env;

if (CLICKHOUSE_URL) {
  const open = () =>
    openWarehouse({
      url: CLICKHOUSE_URL,
      database: `outrider_test_${process.pid}`,
      ...(CLICKHOUSE_USER && { username: CLICKHOUSE_USER }),
      ...(CLICKHOUSE_PASSWORD && { password: CLICKHOUSE_PASSWORD }),
    });
  warehouseConformance('a ClickHouse server', open);
  reportsConformance('a ClickHouse server', open);
}

const folder = mkdtempSync(join(tmpdir(), 'outrider-front-'));
const front = openHttpFront(folder);
warehouseConformance("ClickHouse's engine behind HTTP", async () => openWarehouse({ url: (await front).url }));
reportsConformance("ClickHouse's engine behind HTTP", async () => openWarehouse({ url: (await front).url }));

test('a server that is not there is an error at the start', async () => {
  await expect(openWarehouse({ url: 'http://127.0.0.1:1' })).rejects.toThrow();
});

test("a database's name is a plain name", async () => {
  await expect(openWarehouse({ url: 'http://127.0.0.1:1', database: 'a; DROP' })).rejects.toThrow(/no name/);
});

afterAll(async () => {
  await (await front).close();
  rmSync(folder, { recursive: true, force: true });
});
