import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Owner, VehicleId } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fixedColumn } from '../native/columns.ts';
import { fleetPackets } from '../sample.ts';
import { openWarehouse } from '../warehouse.ts';
import { chdbWhenNeeded, openChdb } from './chdb.ts';
import type { ChdbStatements } from './chdb-engine.ts';
import { connectChdb, serveChdb } from './chdb-port.ts';
import { ENDLESS, engineConformance } from './engine.conformance.ts';
import { WarehouseAwayError } from './engine.ts';

const VEHICLE = '00000000-0000-4000-8000-000000000001' as VehicleId;
const SAMPLE = { vehicles: 10, positions: 100, perPacket: 10, startMs: Date.UTC(2026, 0, 1) };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-chdb-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

engineConformance('chDB', () => openChdb(folder));
engineConformance('chDB through a port', async () => {
  const engine = await openChdb(folder);
  const { port1, port2 } = new MessageChannel();
  engine.share?.(port1);
  const connected = await connectChdb(port2);
  return {
    ...connected,
    async close() {
      await connected.close();
      await engine.close();
    },
  };
});

test('through a port, a query waits in the turn of its owner, and ends when the port closes', async () => {
  const statements: { owner: Owner | undefined; signal: AbortSignal | undefined }[] = [];
  const { port1, port2 } = new MessageChannel();
  const run: ChdbStatements['run'] = ({ owner, signal }) => {
    statements.push({ owner, signal });
    return new Promise(() => {});
  };
  serveChdb({ spool: folder, run }, port1);
  const connected = await connectChdb(port2);
  const owner = { account: 'anna', tenant: 'north' } as Owner;
  const query = connected.select({ sql: 'SELECT 1', parameters: {}, owner });
  const outcome = query.catch((error: unknown) => error);
  await vi.waitFor(() => expect(statements).toHaveLength(1));
  expect(statements[0]?.owner).toEqual(owner);
  await connected.close();
  expect(await outcome).toBeInstanceOf(WarehouseAwayError);
  await vi.waitFor(() => expect(statements[0]?.signal?.aborted).toBe(true));
});

test('a report that takes for ever holds up neither inserts nor quick questions; and so many wait, and no more', async () => {
  const engine = await openChdb(folder);
  const leave = new AbortController();
  try {
    await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
    const reports = Array.from({ length: 80 }, () => engine.select({ ...ENDLESS, signal: leave.signal }));
    const outcomes = Promise.allSettled(reports);
    await engine.insert('bytes', { rows: 2, columns: [fixedColumn('place', 'UInt32', new Uint32Array([1, 2]))] });
    expect(await engine.select({ sql: 'SELECT count() FROM bytes', parameters: {} })).toEqual([[2]]);
    await engine.ping();
    leave.abort(new Error('enough'));
    const refused = (await outcomes).filter((each) => each.status === 'rejected' && each.reason.name === 'BusyError');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(20);
  } finally {
    leave.abort();
    await engine.close();
  }
});

test('rows become a file that ClickHouse reads as it was, and nothing of it is left behind', async () => {
  const engine = await openChdb(folder);
  try {
    const columns = [
      { name: 'name', type: 'String' },
      { name: 'at', type: "Nullable(DateTime64(3, 'UTC'))" },
      { name: 'day', type: 'Date32' },
      { name: 'metres', type: 'Float64' },
      { name: 'on', type: 'Nullable(Bool)' },
    ];
    const rows = [
      ['=1+1 "ä" \n', '2026-01-15T12:00:00.250Z', '2026-01-15', 12.5, true],
      ['', null, '2024-02-29', -0.125, null],
    ];
    async function* lines() {
      for (const row of rows) yield `${JSON.stringify(row)}\n`;
    }
    for (const format of ['Parquet', 'Arrow'] as const) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of engine.file({ format, columns, lines: lines() })) chunks.push(chunk);
      const path = join(folder, `back.${format}`);
      writeFileSync(path, Buffer.concat(chunks));
      const sql = `SELECT name, toUnixTimestamp64Milli(at), toString(day), metres, \`on\` FROM file('${path}', ${format})`;
      expect(await engine.select({ sql, parameters: {} })).toEqual([
        [rows[0]?.[0], Date.UTC(2026, 0, 15, 12, 0, 0, 250), '2026-01-15', 12.5, true],
        ['', null, '2024-02-29', -0.125, null],
      ]);
    }
    // Nobody reads on: it is gone all the same.
    for await (const _ of engine.file({ format: 'Parquet', columns, lines: lines() })) break;
    expect(readdirSync(join(folder, 'outrider-spool'))).toEqual([]);
  } finally {
    await engine.close();
  }
});

test('what was confirmed is there after kill -9 in the middle of inserts', async () => {
  for (let round = 0; round < 2; round++) {
    const { child, said } = archiveUntilKilled();
    let confirmed = 0;
    let lines = 0;
    for await (const line of said) {
      if (line !== 'open') confirmed = Number(line);
      if (++lines > 4 + round) child.kill('SIGKILL');
    }
    expect(confirmed).toBeGreaterThanOrEqual(8000);
    const warehouse = await openWarehouse({ path: folder });
    try {
      expect(await warehouse.positionCount()).toBeGreaterThanOrEqual(confirmed);
      const { positions } = await warehouse.track({ vehicleId: VEHICLE, fromMs: 0, toMs: Date.now(), limit: 10_000 });
      const expected = Array.from({ length: Math.min(confirmed, 10_000) }, (_, i) => Date.UTC(2025, 0, 1) + i * 1000);
      expect(positions.slice(0, expected.length).map(({ fixTimeMs }) => fixTimeMs)).toEqual(expected);
      expect(readdirSync(join(folder, 'outrider-spool'))).toEqual([]);
    } finally {
      await warehouse.close();
    }
  }
});

test('a folder that another process holds is refused', async () => {
  const { child, said } = archiveUntilKilled();
  try {
    for await (const line of said) if (line === 'open') break;
    await expect(openWarehouse({ path: folder })).rejects.toThrow(/another process/);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

test('a folder whose name ClickHouse would take for a pattern is refused', async () => {
  await expect(openChdb(join(folder, 'a*b'))).rejects.toThrow(/pattern/);
  expect(existsSync(join(folder, 'a*b'))).toBe(false);
});

test('it leaves space of the disk to the others, so that no merge runs out of it', async () => {
  const engine = await openChdb(folder);
  try {
    const sql = 'SELECT keep_free_space FROM system.disks';
    expect(await engine.select({ sql, parameters: {} })).toEqual([[64 * 1024 ** 2]]);
  } finally {
    await engine.close();
  }
});

describe('when needed', () => {
  test('a new folder has nothing but its spool until something is written or read, through a port as well', async () => {
    const warehouse = await openWarehouse({ path: folder }, { whenNeeded: true, retentionDays: 0 });
    try {
      const { port1, port2 } = new MessageChannel();
      warehouse.share(port1);
      const connected = await openWarehouse({ port: port2 });
      await warehouse.ping();
      expect(readdirSync(folder)).toEqual(['outrider-spool']);
      expect(await connected.positionCount()).toBe(0);
      expect(readdirSync(folder)).toContain('outrider-prepared.json');
      expect(await warehouse.insertPositions(fleetPackets(SAMPLE))).toBe(100);
      expect(await connected.positionCount()).toBe(100);
      await warehouse.ping();
      let queries = 0;
      warehouse.beforeQueries(async () => {
        if (++queries === 1)
          await warehouse.insertPositions(fleetPackets({ ...SAMPLE, startMs: SAMPLE.startMs - 1e9 }));
      });
      expect(await connected.positionCount()).toBe(200);
      expect(await warehouse.positionCount()).toBe(200);
      expect(queries).toBe(2);
      await connected.close();
    } finally {
      await warehouse.close();
    }
    await expect(warehouse.positionCount()).rejects.toThrow('The warehouse is closed');
  });

  test('the folder of the same release and options is not opened by a start, any other is', async () => {
    await (await openWarehouse({ path: folder })).close();
    const other = mkdtempSync(join(tmpdir(), 'outrider-chdb-'));
    /** A process holds one warehouse at a time. */
    const isOpen = async () => {
      const opening = openWarehouse({ path: other });
      const opened = await opening.catch(() => null);
      await opened?.close();
      return opened === null;
    };
    try {
      const opens: boolean[] = [];
      for (const retentionDays of [30, 30, 60]) {
        const warehouse = await openWarehouse({ path: folder }, { whenNeeded: true, retentionDays });
        opens.push(await isOpen());
        await warehouse.close();
      }
      expect(opens).toEqual([true, false, true]);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  test('what queries wait for begins once it is open, so that its bound is not used up by the opening', async () => {
    let isPrepared = false;
    const wasPrepared: boolean[] = [];
    const engine = await chdbWhenNeeded(folder, async () => {
      isPrepared = true;
    });
    try {
      engine.beforeQueries?.(async () => {
        wasPrepared.push(isPrepared);
      });
      expect(await engine.select({ sql: 'SELECT 1', parameters: {} })).toEqual([[1]]);
      expect(wasPrepared).toEqual([true]);
    } finally {
      await engine.close();
    }
  });

  test('an opening that fails is the error of the call and of the ping, until one succeeds', async () => {
    let fails = true;
    const engine = await chdbWhenNeeded(folder, async () => {
      if (fails) throw new Error('no, not now');
    });
    try {
      await engine.ping();
      await expect(engine.select({ sql: 'SELECT 1', parameters: {} })).rejects.toThrow('no, not now');
      await expect(engine.ping()).rejects.toThrow('no, not now');
      fails = false;
      expect(await engine.select({ sql: 'SELECT 1', parameters: {} })).toEqual([[1]]);
      await engine.ping();
    } finally {
      await engine.close();
    }
  });
});

test('a worker thread may hold it, and ends without harm', async () => {
  const code = `
    import { parentPort } from 'node:worker_threads';
    import { openWarehouse } from ${JSON.stringify(new URL('../warehouse.ts', import.meta.url).href)};
    const warehouse = await openWarehouse({ path: ${JSON.stringify(folder)} });
    parentPort.postMessage(await warehouse.positionCount());
    await warehouse.close();`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const [count] = await once(worker, 'message');
  expect(count).toBe(0);
  const [exitCode] = await once(worker, 'exit');
  expect(exitCode).toBe(0);
});

function archiveUntilKilled(): { child: ChildProcess; said: AsyncIterable<string> } {
  const script = new URL('crash-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, folder, VEHICLE], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { child, said: createInterface({ input: child.stdout }) };
}
