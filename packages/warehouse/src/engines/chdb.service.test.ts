import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Owner, VehicleId } from '@outrider/domain';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fixedColumn } from '../native/columns.ts';
import { fleetPackets } from '../sample.ts';
import { openWarehouse } from '../warehouse.ts';
import { archiveFiles } from './archive-files.ts';
import { connectThread, openChdb, SPOOL_FOLDER } from './chdb.ts';
import type { ChdbStatements } from './chdb-engine.ts';
import { serveChdb, threadChannel } from './chdb-port.ts';
import { ENDLESS, engineConformance } from './engine.conformance.ts';
import { BusyError, TooMuchError, WarehouseAwayError, WarehouseDamagedError, WarehouseFullError } from './engine.ts';

const VEHICLE = '00000000-0000-4000-8000-000000000001' as VehicleId;
const SAMPLE = { vehicles: 10, positions: 100, perPacket: 10, startMs: Date.UTC(2026, 0, 1) };
const PATIENCE = { timeout: 20_000 };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-chdb-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

engineConformance('chDB', () => openChdb(folder));
engineConformance('chDB through a port', async () => {
  const engine = await openChdb(folder);
  const { port1, port2 } = new MessageChannel();
  engine.share(port1);
  const connected = await connectThread(port2);
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
  serveChdb({ spool: folder, run }, threadChannel(port1));
  const connected = await connectThread(port2);
  const owner = { account: 'anna', tenant: 'north' } as Owner;
  const query = connected.select({ sql: 'SELECT 1', parameters: {}, owner });
  const outcome = query.catch((error: unknown) => error);
  await vi.waitFor(() => expect(statements).toHaveLength(1));
  expect(statements[0]?.owner).toEqual(owner);
  await connected.close();
  expect(await outcome).toBeInstanceOf(WarehouseAwayError);
  await vi.waitFor(() => expect(statements[0]?.signal?.aborted).toBe(true));
});

test.each([
  new BusyError('too many wait'),
  new TooMuchError('rows', null),
  new WarehouseAwayError('it is gone'),
  new WarehouseDamagedError('a part is damaged'),
  new WarehouseFullError('no space is left'),
])('through a port, %s is of its class', async (error) => {
  const { port1, port2 } = new MessageChannel();
  serveChdb({ spool: folder, run: () => Promise.reject(error) }, threadChannel(port1));
  const connected = await connectThread(port2);
  const refused = await connected.select({ sql: 'SELECT 1', parameters: {} }).catch((reason: unknown) => reason);
  expect(refused).toBeInstanceOf(error.constructor);
  expect(refused).toMatchObject({ name: error.name, message: error.message });
  await connected.close();
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

test('a result larger than a message is what it was, and leaves no file', async () => {
  const engine = await openChdb(folder);
  try {
    const rows = await engine.select({ sql: 'SELECT number, toString(number) FROM numbers(100000)', parameters: {} });
    expect([rows.length, rows.at(-1)]).toEqual([100_000, [99_999, '99999']]);
    expect(readdirSync(join(folder, SPOOL_FOLDER))).toEqual([]);
  } finally {
    await engine.close();
  }
});

test('when its process is killed, what was under way fails, and the next statement starts it anew', async () => {
  const engine = await openChdb(folder);
  try {
    await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
    await engine.insert('bytes', { rows: 2, columns: [fixedColumn('place', 'UInt32', new Uint32Array([1, 2]))] });
    const [pid] = processesOf(folder);
    const report = engine.select(ENDLESS).catch((error: unknown) => error);
    await vi.waitFor(async () =>
      expect(
        await engine.select({
          sql: "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000000000)%'",
          parameters: {},
        }),
      ).toEqual([[2]]),
    );
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await report).toBeInstanceOf(WarehouseAwayError);
    expect(await engine.select({ sql: 'SELECT count() FROM bytes', parameters: {} })).toEqual([[2]]);
  } finally {
    await engine.close();
  }
  expect(processesOf(folder)).toEqual([]);
});

test('a signal to the whole group of processes does not end it: it is ended by who started it', async () => {
  const engine = await openChdb(folder);
  try {
    await engine.ping();
    await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
    const before = processesOf(folder);
    for (const pid of before) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(pid, signal);
    expect(await engine.select({ sql: 'SELECT count() FROM bytes', parameters: {} })).toEqual([[0]]);
    expect([before.length, processesOf(folder)]).toEqual([1, before]);
  } finally {
    await engine.close();
  }
});

describe('when needed', () => {
  const FOR_EVER = { askedMs: Number.POSITIVE_INFINITY, ownMs: Number.POSITIVE_INFINITY };

  test('a new folder has nothing but its spool until something is written or read, through a port as well', async () => {
    const warehouse = await openWarehouse({ path: folder }, { whenNeeded: FOR_EVER, retentionDays: 0 });
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
    const opens: boolean[] = [];
    for (const retentionDays of [30, 30, 60]) {
      const warehouse = await openWarehouse({ path: folder }, { whenNeeded: FOR_EVER, retentionDays });
      opens.push(warehouse.isOpen);
      expect(processesOf(folder)).toHaveLength(warehouse.isOpen ? 1 : 0);
      await warehouse.close();
    }
    expect(opens).toEqual([true, false, true]);
  });

  test('it is ended when nobody needed it for a while, sooner after what was not asked for, and started again', async () => {
    const clock = new VirtualClock();
    const engine = await openChdb(folder, { idle: { askedMs: 60_000, ownMs: 10_000 }, clock });
    const owner = { account: 'anna', tenant: 'north' } as Owner;
    const ended = () => vi.waitFor(() => expect([engine.isOpen(), processesOf(folder)]).toEqual([false, []]), PATIENCE);
    try {
      await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
      await clock.advance(9_999);
      await engine.insert('bytes', { rows: 2, columns: [fixedColumn('place', 'UInt32', new Uint32Array([1, 2]))] });
      await clock.advance(9_999);
      await engine.ping();
      expect(engine.isOpen()).toBe(true);
      await clock.advance(1);
      await ended();
      await engine.ping();
      expect(processesOf(folder)).toEqual([]);
      const count = { sql: 'SELECT count() FROM bytes', parameters: {} };
      expect(await engine.select({ ...count, owner })).toEqual([[2]]);
      expect(await engine.select(count)).toEqual([[2]]);
      await clock.advance(59_999);
      expect([engine.isOpen(), processesOf(folder).length]).toEqual([true, 1]);
      // What comes while it ends waits until it has ended.
      await clock.advance(1);
      expect(await engine.select(count)).toEqual([[2]]);
      await clock.advance(10_000);
      await ended();
    } finally {
      await engine.close();
    }
  });

  test('what is frozen stays, whatever ends and starts meanwhile, and no insert comes between', async () => {
    const clock = new VirtualClock();
    const engine = await openChdb(folder, { idle: { askedMs: 0, ownMs: 1000 }, clock });
    try {
      await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
      await engine.execute('INSERT INTO bytes SELECT number FROM numbers(100)');
      let inserted: Promise<void> | null = null;
      let files = 0;
      await engine.freeze('moment', async () => {
        inserted = engine.execute('INSERT INTO bytes SELECT number FROM numbers(100)');
        expect(await engine.select({ sql: 'SELECT count() FROM bytes', parameters: {} })).toEqual([[100]]);
        files = (await archiveFiles(folder, 'moment')).length;
      });
      await inserted;
      await clock.advance(1000);
      await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), PATIENCE);
      expect(await engine.select({ sql: 'SELECT count() FROM bytes', parameters: {} })).toEqual([[200]]);
      expect((await archiveFiles(folder, 'moment')).length).toBe(files);
      await engine.unfreeze('moment');
      await expect(archiveFiles(folder, 'moment')).rejects.toThrow(/ENOENT/);
    } finally {
      await engine.close();
    }
  });

  test('what queries wait for begins once it is open, so that its bound is not used up by the opening', async () => {
    let isPrepared = false;
    const wasPrepared: boolean[] = [];
    const engine = await openChdb(folder, {
      async prepare() {
        isPrepared = true;
      },
    });
    try {
      engine.beforeQueries(async () => {
        wasPrepared.push(isPrepared);
      });
      expect(await engine.select({ sql: 'SELECT 1', parameters: {} })).toEqual([[1]]);
      expect(wasPrepared).toEqual([true]);
    } finally {
      await engine.close();
    }
  });

  test('the ping does not wait for an opening, unless that takes half a minute', async () => {
    const clock = new VirtualClock();
    const { promise: isPrepared, resolve: prepared } = Promise.withResolvers<void>();
    const engine = await openChdb(folder, { prepare: () => isPrepared, clock });
    try {
      const selected = engine.select({ sql: 'SELECT 1', parameters: {} });
      await engine.ping();
      await clock.advance(29_999);
      await engine.ping();
      await clock.advance(1);
      let hasAnswered = false;
      const pinged = engine.ping().then(() => {
        hasAnswered = true;
      });
      await nextTurn();
      expect(hasAnswered).toBe(false);
      prepared();
      expect(await selected).toEqual([[1]]);
      await pinged;
      await engine.ping();
    } finally {
      prepared();
      await engine.close();
    }
  });

  test('an opening that fails is the error of the call and of the ping, until one succeeds', async () => {
    let fails = true;
    const engine = await openChdb(folder, {
      async prepare() {
        if (fails) throw new Error('no, not now');
      },
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

/** Ids of the processes that have ClickHouse of a folder. */
function processesOf(path: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) =>
      commandOf(pid).some((word, place, words) => word === path && /chdb-process/.test(words[place - 1] ?? '')),
    )
    .map(Number);
}

function commandOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function archiveUntilKilled(): { child: ChildProcess; said: AsyncIterable<string> } {
  const script = new URL('crash-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, folder, VEHICLE], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { child, said: createInterface({ input: child.stdout }) };
}
