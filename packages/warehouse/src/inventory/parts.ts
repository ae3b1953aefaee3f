import type { Engine } from '../engines/engine.ts';
import { ARCHIVE_TABLES, type ArchiveTable, WATCHED_TABLES, type WatchedTable } from '../tables.ts';

/** A part of a table: ClickHouse writes each insert as one, and merges several into one that has all their blocks. */
export interface Part {
  table: WatchedTable;
  name: string;
  partition: string;
  firstBlock: number;
  lastBlock: number;
}

export interface ActivePart extends Part {
  rows: number;
  bytes: number;
  /** Only mutations of higher numbers are still to be applied to the part. */
  dataVersion: number;
}

/** A part with facts about its rows. */
export interface KnownPart extends ActivePart {
  /** Approximate number of vehicles of the rows, as ClickHouse counts them. */
  vehicles: number;
  /**
   * Unix milliseconds of the first and the last row: the fix time of positions, or the time of receipt of refused ones.
   */
  fromMs: number;
  toMs: number;
  /** Offsets of the rows in the log; null if none came from it. */
  offsets: Offsets | null;
  /** Whether recalculations wrote some of the rows. */
  hasCorrections: boolean;
  /** Identity of the log that the offsets belong to; null if unknown. */
  log: string | null;
}

/** From the first to the last, both included; without a last to the end of the log. */
export interface Offsets {
  first: number;
  last: number | null;
}

/** A part that ClickHouse does not read: it was moved into folder `detached`, by ClickHouse or on command. */
export interface DetachedPart extends Part {
  /** Reason that ClickHouse gives, such as `broken-on-start`; '' if it was detached by hand. */
  reason: string;
  path: string;
}

/** Parts as ClickHouse reports them. */
export interface PartsSeen {
  /** Unix milliseconds by the clock of ClickHouse. */
  nowMs: number;
  /** When it was started: since then a part has disappeared legitimately, or is among the detached ones. */
  startedAtMs: number;
  /** Whether it was started for this comparison: merged parts were then merged before anything was lost. */
  isOpenedNow: boolean;
  active: readonly ActivePart[];
  detached: readonly DetachedPart[];
  /** Number of the last mutation that deleted rows of a table: those of erasures. */
  lastDeletion: ReadonlyMap<WatchedTable, number>;
  /** Days that rows of a table are kept; 0: for ever. */
  retentionDays: ReadonlyMap<WatchedTable, number>;
}

const OWN_TABLES = `database = currentDatabase() AND table IN (${WATCHED_TABLES.map((table) => `'${table}'`).join(', ')})`;
/** Reasons of detached parts whose rows are all in another part too. */
const DUPLICATES = ['covered-by-broken', 'ignored', 'clone', 'attaching', 'deleting', 'tmp-fetch'];

/** @param isOpenedNow ClickHouse was started for this, and has answered no query yet */
export async function partsSeen(engine: Engine, isOpenedNow = false): Promise<PartsSeen> {
  const select = (sql: string) => engine.select({ sql, parameters: {} });
  const [[now] = []] = [await select('SELECT toUnixTimestamp64Milli(now64(3)), uptime()')];
  const [nowMs, uptimeS] = [Number(now?.[0]), Number(now?.[1])];
  const active =
    await select(`SELECT table, name, partition_id, min_block_number, max_block_number, rows, bytes_on_disk,
      data_version
    FROM system.parts WHERE ${OWN_TABLES} AND active`);
  const detached = await select(`SELECT table, name, partition_id, min_block_number, max_block_number, reason, path
    FROM system.detached_parts WHERE ${OWN_TABLES} AND partition_id IS NOT NULL`);
  const deletions = await select(`SELECT table, max(arrayMax(block_numbers.number)) FROM system.mutations
    WHERE ${OWN_TABLES} AND position(command, 'DELETE') > 0 GROUP BY table`);
  return {
    nowMs,
    // The uptime is in whole seconds.
    startedAtMs: isOpenedNow ? nowMs : nowMs - (uptimeS + 1) * 1000,
    isOpenedNow,
    active: active.map((row) => ({
      ...partOf(row),
      rows: Number(row[5]),
      bytes: Number(row[6]),
      dataVersion: Number(row[7]),
    })),
    detached: detached
      .map((row) => ({ ...partOf(row), reason: String(row[5]), path: String(row[6]) }))
      .filter(({ reason }) => !DUPLICATES.includes(reason)),
    lastDeletion: new Map(deletions.map(([table, number]) => [table as ArchiveTable, Number(number)])),
    retentionDays: await daysKept(engine),
  };
}

/** A part's name, unique among all tables. */
export function keyOf({ table, name }: Pick<Part, 'table' | 'name'>): string {
  return `${table}/${name}`;
}

function partOf([table, name, partition, first, last]: readonly unknown[]): Part {
  return {
    table: table as WatchedTable,
    name: String(name),
    partition: String(partition),
    firstBlock: Number(first),
    lastBlock: Number(last),
  };
}

/** Retention of each table in whole days; 0: for ever. */
export async function daysKept(engine: Engine): Promise<Map<WatchedTable, number>> {
  const rows = await engine.select({
    sql: 'SELECT name, engine_full FROM system.tables WHERE database = currentDatabase()',
    parameters: {},
  });
  const daysOf = (text: unknown) => Number(/ TTL .*toIntervalDay\((\d+)\)/.exec(String(text))?.[1] ?? 0);
  return new Map(rows.map(([table, text]) => [table as WatchedTable, daysOf(text)]));
}

/** A row's precedence holds its offset in the log: see `PositionColumns` and `eventBlock`. */
const OFFSETS: Readonly<Record<'positions' | 'events', { isLogged: string; offset: string }>> = {
  positions: { isLogged: '1', offset: 'bitShiftRight(bitNot(precedence), 10)' },
  events: {
    isLogged: 'precedence < 9223372036854775808',
    offset: `${Number.MAX_SAFE_INTEGER} - bitAnd(precedence, 4611686018427387903)`,
  },
};

const TIMES: Readonly<Record<ArchiveTable, string>> = {
  positions: "toUnixTimestamp64Milli(if(rejection = '', fix_time, received_at))",
  events: 'toUnixTimestamp64Milli(began_at)',
  measured_trips: 'toUnixTimestamp64Milli(started_at)',
  late_days: 'toInt64(day) * 86400000',
};

/** Maximum number of parts that one query reads. */
const PARTS_AT_ONCE = 500;

/** Gathers the facts of active parts: reads two of their columns completely. */
export async function knownOf(engine: Engine, parts: readonly ActivePart[], log: string | null): Promise<KnownPart[]> {
  const known: KnownPart[] = [];
  for (const table of ARCHIVE_TABLES) {
    const ofTable = parts.filter((part) => part.table === table);
    for (let at = 0; at < ofTable.length; at += PARTS_AT_ONCE) {
      const some = ofTable.slice(at, at + PARTS_AT_ONCE);
      const logged = table === 'positions' || table === 'events' ? OFFSETS[table] : { isLogged: '0', offset: '0' };
      const rows = await engine.select({
        sql: `SELECT _part, min(${TIMES[table]}), max(${TIMES[table]}), uniq(vehicle_id), countIf(${logged.isLogged}),
            countIf(NOT (${logged.isLogged})), minIf(${logged.offset}, ${logged.isLogged}),
            maxIf(${logged.offset}, ${logged.isLogged})
          FROM ${table} WHERE _part IN {names:Array(String)} GROUP BY _part`,
        parameters: { names: some.map(({ name }) => name) },
        queue: 'report',
        limits: { maxSeconds: 120, maxMemoryBytes: 512 * 1024 * 1024 },
      });
      const byName = new Map(rows.map((row) => [String(row[0]), row]));
      for (const part of some) {
        // A part that was merged meanwhile is found next time, in its merged form.
        const row = byName.get(part.name);
        if (row === undefined) continue;
        const [, fromMs, toMs, vehicles, loggedRows, otherRows, first, last] = row.map(Number) as number[];
        known.push({
          ...part,
          fromMs: fromMs ?? 0,
          toMs: toMs ?? 0,
          vehicles: vehicles ?? 0,
          offsets: loggedRows ? { first: first ?? 0, last: last ?? 0 } : null,
          hasCorrections: table === 'events' && (otherRows ?? 0) > 0,
          log,
        });
      }
    }
  }
  return known;
}
