import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { createClient } from '@clickhouse/client';
import { recordMark, type TelemetryPacket } from '@outrider/domain';
import { statusOf } from '@outrider/testing/process-tree';
import { openChdb } from './engines/chdb.ts';
import type { Engine } from './engines/engine.ts';
import { migrate } from './migrations.ts';
import { positionBlock } from './positions/block.ts';
import type { Recorded } from './recorded.ts';
import { fleetPackets, recordedPackets } from './sample.ts';

export interface InsertBenchOptions {
  /** Positions of the generated fleet. Default 1,000,000. */
  positions?: number;
  /** Positions per insert. Default 100,000. */
  batch?: number;
  /** Folder to work in, removed afterwards. Default: a temporary folder. */
  folder?: string;
}

export interface InsertBenchResult {
  positions: number;
  batch: number;
  /** Positions per second converted to columns, without inserting. */
  buildPerSecond: number;
  /** Positions a second built and durably inserted, as the archiver does it. */
  insertPerSecond: number;
  /** The same rows as JSON text through `@clickhouse/client` on chDB's connection. */
  jsonPerSecond: number;
  /** Compressed bytes of a position, all columns, after merging, for the generated fleet. */
  bytesPerPosition: number;
  /** Compressed bytes per position by column. */
  bytesByColumn: Record<string, number>;
  /** Sizes for the recorded drive; null if its file does not exist. */
  recorded: { positions: number; bytesPerPosition: number; bytesByColumn: Record<string, number> } | null;
  /** Resident memory of the process in MB: with the engine open, and after the inserts. */
  rssIdleMb: number;
  rssAfterMb: number;
}

/** Measures the cost of archiving: building, inserting, and disk usage. */
export async function insertBench(options: InsertBenchOptions = {}): Promise<InsertBenchResult> {
  const { positions = 1_000_000, batch = 100_000 } = options;
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'outrider-warehouse-bench-')));
  const batches = batchesOf(
    fleetPackets({ vehicles: 1000, positions, perPacket: 10, startMs: Date.UTC(2025, 5, 2) }),
    batch,
  );
  const engine = await openChdb(join(folder, 'chdb'));
  try {
    await migrate(engine);
    // Small parts keep all columns in one file, and ClickHouse then reports no sizes by column.
    await engine.execute('ALTER TABLE positions MODIFY SETTING min_bytes_for_wide_part = 0');
    const rssIdleMb = await residentMb();

    for (const packets of batches.slice(0, 2)) positionBlock(packets);
    const buildPerSecond = await rate(positions, () => {
      for (const packets of batches) positionBlock(packets);
    });
    const insertPerSecond = await rate(positions, async () => {
      // The next block is built during an insert, as in the archiver.
      let inserting = Promise.resolve();
      for (const packets of batches) {
        const block = positionBlock(packets);
        await inserting;
        inserting = engine.insert('positions', block);
      }
      await inserting;
    });
    const rssAfterMb = await residentMb();
    const generated = await sizes(engine);

    await engine.execute('TRUNCATE TABLE positions');
    const jsonBatches = batches.slice(0, Math.max(1, Math.ceil(batches.length / 5)));
    const jsonPositions = count(jsonBatches.flat());
    const jsonPerSecond = await insertAsJson(join(folder, 'json'), jsonBatches, jsonPositions);

    const drive = recordedPackets(new URL('../../../../shared/data/geolife-001.csv.gz', import.meta.url), 10);
    let recorded: InsertBenchResult['recorded'] = null;
    if (drive) {
      await engine.execute('TRUNCATE TABLE positions');
      // Forces a file for each column, as ClickHouse writes a fleet's month; this data is too small for that by
      // default.
      await engine.execute('ALTER TABLE positions MODIFY SETTING min_bytes_for_wide_part = 0');
      for (const packets of batchesOf(drive, batch)) await engine.insert('positions', positionBlock(packets));
      recorded = await sizes(engine);
    }
    return {
      ...generated,
      positions,
      batch,
      buildPerSecond,
      insertPerSecond,
      jsonPerSecond,
      recorded,
      rssIdleMb,
      rssAfterMb,
    };
  } finally {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type ClientConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>;

/** Baseline for comparison: rows as objects, as JSON, through the client on chDB's own connection. */
async function insertAsJson(path: string, batches: Recorded<TelemetryPacket>[][], positions: number): Promise<number> {
  const engine = await openChdb(path);
  await migrate(engine);
  await engine.close();
  const clickhouse = await import('@clickhouse/client');
  const { createChdbConnection } = await import('chdb/connection');
  // chDB's types are from another build of the client: the methods are the same.
  const connection = createChdbConnection({ path }) as unknown as ClientConnection;
  const client = clickhouse.createClient({ connection });
  try {
    return await rate(positions, async () => {
      for (const packets of batches) {
        const values = packets.flatMap(({ offset, value: packet }) =>
          packet.positions.map((position) => [
            packet.vehicleId,
            timeText(position.fixTimeMs),
            '',
            Math.round(position.latitude * 1e7),
            Math.round(position.longitude * 1e7),
            position.valid,
            position.speedKmh === null ? null : Math.round(position.speedKmh * 10),
            position.courseDeg,
            position.altitudeM,
            position.satellites,
            position.ignition,
            position.odometerM,
            position.supplyV === null ? null : Math.round(position.supplyV * 1000),
            position.fuelL === null ? null : Math.round(position.fuelL * 10),
            position.alarms,
            JSON.stringify(position.attributes),
            packet.terminalId,
            packet.protocol,
            timeText(packet.receivedAtMs),
            offset,
            recordMark(position),
          ]),
        );
        await client.insert({ table: 'outrider.positions', values, format: 'JSONCompactEachRow' });
      }
    });
  } finally {
    await client.close();
  }
}

const timeText = (timeMs: number) => new Date(timeMs).toISOString().replace('T', ' ').slice(0, -1);

async function sizes(engine: Engine) {
  await engine.execute('OPTIMIZE TABLE positions FINAL');
  const [total] = await engine.select({
    sql: `SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'positions'`,
    parameters: {},
  });
  const positions = Number(total?.[0]);
  const columns = await engine.select({
    sql: `SELECT column, sum(column_data_compressed_bytes) AS bytes FROM system.parts_columns
      WHERE active AND table = 'positions' GROUP BY column ORDER BY bytes DESC`,
    parameters: {},
  });
  const perPosition = (bytes: unknown) => Math.round((Number(bytes) / positions) * 1000) / 1000;
  return {
    positions,
    bytesPerPosition: perPosition(total?.[1]),
    bytesByColumn: Object.fromEntries(columns.map(([column, bytes]) => [String(column), perPosition(bytes)])),
  };
}

function batchesOf(packets: Recorded<TelemetryPacket>[], batch: number): Recorded<TelemetryPacket>[][] {
  const batches: Recorded<TelemetryPacket>[][] = [];
  let current: Recorded<TelemetryPacket>[] = [];
  let rows = 0;
  for (const packet of packets) {
    current.push(packet);
    rows += packet.value.positions.length;
    if (rows < batch) continue;
    batches.push(current);
    current = [];
    rows = 0;
  }
  if (current.length > 0) batches.push(current);
  return batches;
}

const count = (packets: Recorded<TelemetryPacket>[]) =>
  packets.reduce((sum, { value }) => sum + value.positions.length, 0);

/** Resident memory of this process and that of ClickHouse. */
const residentMb = async () => Math.round(((await statusOf(process.pid, 'VmRSS')) ?? 0) / 1000);

async function rate(positions: number, work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round(positions / ((performance.now() - start) / 1000));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { positions: { type: 'string' }, batch: { type: 'string' }, folder: { type: 'string' } },
  });
  const result = await insertBench({
    ...(values.positions && { positions: Number(values.positions) }),
    ...(values.batch && { batch: Number(values.batch) }),
    ...(values.folder && { folder: values.folder }),
  });
  console.log(JSON.stringify(result, null, 2));
}
