import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChdb } from './engines/chdb.ts';
import type { Engine } from './engines/engine.ts';
import { migrate } from './migrations.ts';
import { keepFor } from './retention.ts';

let folder: string;
let engine: Engine;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-retention-'));
  engine = await openChdb(folder);
  await migrate(engine);
});
afterAll(async () => {
  await engine?.close();
  rmSync(folder, { recursive: true, force: true });
});

const insert = (daysAgo: number, rejection: string, receivedDaysAgo: number) =>
  engine.execute(`INSERT INTO positions (vehicle_id, fix_time, rejection, received_at)
    SELECT generateUUIDv4(), now64(3) - toIntervalDay(${daysAgo}), '${rejection}', now64(3) - toIntervalDay(${receivedDaysAgo})`);
const kept = async () => {
  await engine.execute('OPTIMIZE TABLE positions FINAL');
  const sql = `SELECT rejection, toUInt32(round(dateDiff('hour', fix_time, now64(3)) / 24)) FROM positions ORDER BY 1, 2`;
  return engine.select({ sql, parameters: {} });
};

test('what is older goes, by the time of the fix, or where that is refused by when it came', async () => {
  await insert(3, '', 3);
  await insert(40, '', 3);
  await insert(4000, 'time-too-old', 1);
  await insert(0, 'null-island', 50);
  expect(await kept()).toHaveLength(4);
  await keepFor(engine, 30);
  expect(await kept()).toEqual([
    ['', 3],
    ['time-too-old', 4000],
  ]);
  await keepFor(engine, 30);
  await keepFor(engine, 2);
  expect(await kept()).toEqual([['time-too-old', 4000]]);
});

test('for ever is for ever again', async () => {
  await keepFor(engine, 0);
  await insert(3000, '', 3000);
  expect(await kept()).toContainEqual(['', 3000]);
  await expect(keepFor(engine, -1)).rejects.toThrow(RangeError);
});
