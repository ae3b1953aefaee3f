import { once } from 'node:events';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
// Types only: the thread that checks the file loads this module, and would load all of Kysely with it.
import type {
  KyselyPlugin,
  OperationNode,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  TableNode,
  UnknownRow,
} from 'kysely';
import { DamagedRowError } from './errors.ts';

/** The column of the checksums, and the SQL function that computes them. */
const COLUMN = 'row_sum';
const PROPERTY = 'rowSum';
const SUM = 'outrider_row_sum';
const MAX_FINDINGS = 10;

/**
 * Tables without checksums: queues, counts and records of actions. They change all the time and are rebuilt, or no
 * decision depends on them.
 */
const WITHOUT_SUMS: ReadonlySet<string> = new Set([
  'sessions',
  'used_challenges',
  'login_sources',
  'account_links',
  'account_notices',
  'outbox',
  'recent_changes',
  'idempotency',
  'rule_firings',
  'licence_notices',
  'waiting_notifications',
  'notification_counters',
  'notifications',
  'deliveries',
  'delivery_circuits',
  'channel_tests',
  'queue_turns',
  'mail_counts',
  'consumer_offsets',
  'jobs',
  'report_deliveries',
  'terminal_holders',
  'video_presence',
  'video_tasks',
  'video_transitions',
  'vehicle_commands',
  'vehicle_counters',
  'counter_days',
  'counter_marks',
  'maintenance_states',
]);

/** A row whose values differ from those that were written. */
export interface DamagedRow {
  /** Name of the table in the database. */
  table: string;
  /** The values of its primary key, separated by spaces. */
  key: string;
}

interface SummedTable {
  columns: readonly string[];
  /** Names of the primary key's columns. */
  key: readonly string[];
}

/**
 * Checksums of the rows of an embedded registry. SQLite has none, so a bit that the disk returns wrongly would go
 * unnoticed. Triggers of the database write the sum with the row. It is compared whenever a whole row is read, and by
 * {@link RowSums.check}. PostgreSQL has checksums of its pages.
 */
export class RowSums {
  readonly #database: DatabaseSync;
  readonly #tables = new Map<string, SummedTable>();
  readonly #damaged = new Map<string, DamagedRow>();

  /** @param database in which the SQL function of the sums is defined */
  constructor(database: DatabaseSync) {
    this.#database = database;
    defineSum(database);
  }

  /** Rows that are known to be damaged. */
  get damaged(): readonly DamagedRow[] {
    return [...this.#damaged.values()];
  }

  /** To be called before a migration: records damaged rows, and drops the triggers, which might obstruct it. */
  beforeMigration(): void {
    const summed = triggersIn(this.#database);
    const shapes = shapesIn(this.#database);
    for (const table of new Set([...summed.values()].map(({ table }) => table)))
      for (const row of damagedIn(this.#database, table, shapes.get(table))) this.#note(row);
    for (const name of summed.keys()) this.#database.exec(`drop trigger ${quoted(name)}`);
  }

  /** Adapts sums and triggers to the current tables. */
  install(): void {
    const before = triggersIn(this.#database);
    const due: [table: string, shape: SummedTable][] = [];
    for (const [table, shape] of shapesIn(this.#database)) {
      if (WITHOUT_SUMS.has(table)) continue;
      this.#tables.set(table, shape);
      const isCurrent = triggersOf(table, shape).every(([name, sql]) => before.get(name)?.sql === sql);
      if (!isCurrent) due.push([table, shape]);
    }
    if (due.length === 0) return;
    this.#database.exec('begin immediate');
    try {
      for (const [table, shape] of due) this.#begin(table, shape);
      this.#database.exec('commit');
    } catch (error) {
      this.#database.exec('rollback');
      throw error;
    }
  }

  /**
   * Compares all rows with their sums, and checks the structure of the file. Runs in a separate thread, because it
   * reads the whole file.
   *
   * @returns errors in the structure, as SQLite reports them; empty without any
   * @throws {Error} when the file can't be read
   */
  async check(): Promise<string[]> {
    const path = this.#database.location();
    if (path === null) return [];
    const { damaged, findings } = await checkInThread(path);
    this.#damaged.clear();
    for (const row of damaged) this.#note(row);
    return findings;
  }

  /**
   * Rebuilds the indexes of one table, or of all, from the rows. Needed because SQLite refuses to change a row that an
   * index holds with another value.
   */
  reindex(table?: string): void {
    this.#database.exec(table === undefined ? 'reindex' : `reindex ${quoted(table)}`);
  }

  /** Compares rows that are known to be damaged again. */
  recheck(): void {
    const tables = new Set(this.damaged.map(({ table }) => table));
    this.#damaged.clear();
    for (const table of tables)
      for (const row of damagedIn(this.#database, table, this.#tables.get(table))) this.#note(row);
  }

  /** Accepts the current values of damaged rows as correct. */
  accept(): void {
    for (const { table } of this.damaged) {
      const shape = this.#tables.get(table);
      if (shape !== undefined) this.#database.exec(`update ${quoted(table)} set ${COLUMN} = ${sumOf(shape, '')}`);
    }
    this.#damaged.clear();
  }

  /** Compares the rows that queries read. Must see queries with database names, and rows with names of the code. */
  plugin(): KyselyPlugin {
    return new RowSumsPlugin(this.#tables, (row) => this.#note(row));
  }

  #note(row: DamagedRow): void {
    this.#damaged.set(nameOf(row), row);
  }

  #begin(table: string, shape: SummedTable): void {
    const hasColumn = this.#database
      .prepare(`PRAGMA table_info(${quoted(table)})`)
      .all()
      .some(({ name }) => name === COLUMN);
    for (const [name] of triggersOf(table, shape)) this.#database.exec(`drop trigger if exists ${quoted(name)}`);
    if (!hasColumn) this.#database.exec(`alter table ${quoted(table)} add column ${COLUMN} integer`);
    this.#database.exec(`update ${quoted(table)} set ${COLUMN} = ${sumOf(shape, '')}`);
    const unknown = this.#database.prepare(`update ${quoted(table)} set ${COLUMN} = null where ${keyOf(shape)} = ?`);
    for (const row of this.damaged) if (row.table === table) unknown.run(row.key);
    for (const [, sql] of triggersOf(table, shape)) this.#database.exec(sql);
  }
}

/** Damaged rows that were read. */
const damagedRows = new WeakSet<object>();

/** Whether a row that a query returned is damaged: then each of its values throws {@link DamagedRowError}. */
export function isDamaged(row: object): boolean {
  return damagedRows.has(row);
}

/** Compares the rows of queries that read whole rows of one table. */
class RowSumsPlugin implements KyselyPlugin {
  readonly #tables: ReadonlyMap<string, SummedTable>;
  readonly #onDamage: (row: DamagedRow) => void;
  /** Table of each query whose rows are to be compared. */
  readonly #compared = new WeakMap<object, string>();

  constructor(tables: ReadonlyMap<string, SummedTable>, onDamage: (row: DamagedRow) => void) {
    this.#tables = tables;
    this.#onDamage = onDamage;
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    const table = tableOfWholeRows(node);
    if (table !== null && this.#tables.has(table)) this.#compared.set(queryId, table);
    return node;
  }

  async transformResult({ result, queryId }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    const { rows } = result;
    if (rows[0] === undefined || !(PROPERTY in rows[0])) return result;
    const table = this.#compared.get(queryId);
    const shape = table === undefined ? undefined : this.#tables.get(table);
    const properties = shape?.columns.map(inCamelCase) ?? [];
    const compared = rows.map((row) => {
      const { [PROPERTY]: sum, ...values } = row;
      if (table === undefined || shape === undefined) return values;
      if (sum === sumOfValues(properties.map((name) => values[name] as SQLInputValue))) return values;
      const damaged = { table, key: shape.key.map((name) => String(values[inCamelCase(name)])).join(' ') };
      this.#onDamage(damaged);
      return guarded(damaged);
    });
    return { ...result, rows: compared };
  }
}

/** A row whose values can't be read. */
function guarded(damaged: DamagedRow): UnknownRow {
  const row = new Proxy<UnknownRow>(
    {},
    {
      get: (_, name) => {
        if (typeof name === 'symbol' || name === 'then') return undefined;
        throw new DamagedRowError(damaged.table, damaged.key);
      },
      ownKeys: () => {
        throw new DamagedRowError(damaged.table, damaged.key);
      },
    },
  );
  damagedRows.add(row);
  return row;
}

/** The table of a query that selects all columns of a single table; null for other queries. */
function tableOfWholeRows(node: RootOperationNode): string | null {
  if (node.kind !== 'SelectQueryNode' || node.joins !== undefined || node.groupBy !== undefined) return null;
  const isWhole = node.selections?.some(({ selection }) =>
    selection.kind === 'ReferenceNode' ? selection.column.kind === 'SelectAllNode' : selection.kind === 'SelectAllNode',
  );
  const [from, ...others] = node.from?.froms ?? [];
  if (!isWhole || others.length > 0 || from === undefined || !isTable(from)) return null;
  return from.table.identifier.name;
}

function isTable(node: OperationNode): node is TableNode {
  return node.kind === 'TableNode';
}

/** Result of {@link RowSums.check}. */
export interface FileCheck {
  damaged: DamagedRow[];
  findings: string[];
}

/**
 * Checks a registry over a separate connection, so that the data is read from the file.
 *
 * @throws {Error} when the file can't be opened
 */
export function checkFile(path: string): FileCheck {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    defineSum(database);
    const damaged: DamagedRow[] = [];
    const findings: string[] = [];
    // Reading a table with damaged pages fails before its end.
    const attempt = (read: () => void) => {
      try {
        read();
      } catch (error) {
        findings.push((error as Error).message);
      }
    };
    const shapes = shapesIn(database);
    for (const table of new Set([...triggersIn(database).values()].map(({ table }) => table)))
      attempt(() => damaged.push(...damagedIn(database, table, shapes.get(table))));
    attempt(() => {
      const rows = database.prepare(`PRAGMA integrity_check(${MAX_FINDINGS})`).all();
      findings.push(...rows.map(({ integrity_check: finding }) => String(finding)));
    });
    return { damaged, findings: [...new Set(findings)].filter((finding) => finding !== 'ok') };
  } finally {
    database.close();
  }
}

async function checkInThread(path: string): Promise<FileCheck> {
  const thread = new Worker(new URL('./row-sums-thread.ts', import.meta.url), { workerData: path });
  const [[check]] = await Promise.all([once(thread, 'message') as Promise<[FileCheck]>, once(thread, 'exit')]);
  return check;
}

/** Rows of a table whose sums are wrong. */
function damagedIn(database: DatabaseSync, table: string, shape: SummedTable | undefined): DamagedRow[] {
  if (shape === undefined) return [];
  const rows = database
    .prepare(`select ${keyOf(shape)} as key from ${quoted(table)} where ${COLUMN} is not ${sumOf(shape, '')}`)
    .all();
  return rows.map(({ key }) => ({ table, key: String(key) }));
}

/** All tables but those of SQLite and of the migrations, in one query: there are about a hundred. */
function shapesIn(database: DatabaseSync): Map<string, SummedTable> {
  const rows = database
    .prepare(
      `select tables.name as tableName, columns.name, columns.pk
      from sqlite_master as tables, pragma_table_info(tables.name) as columns
      where tables.type = 'table' and tables.name not like 'sqlite_%' and tables.name not like 'kysely_%'
      order by tables.name, columns.cid`,
    )
    .all();
  const shapes = Map.groupBy(rows, ({ tableName }) => String(tableName));
  return new Map([...shapes].map(([table, columns]) => [table, shapeOf(columns)]));
}

/** @param columns of one table, as `pragma_table_info` lists them */
function shapeOf(columns: readonly Record<string, unknown>[]): SummedTable {
  const key = columns
    .filter(({ pk }) => Number(pk) > 0)
    .sort((one, other) => Number(one.pk) - Number(other.pk))
    .map(({ name }) => String(name));
  return { columns: columns.map(({ name }) => String(name)).filter((name) => name !== COLUMN), key };
}

/** The triggers that write sums. */
function triggersIn(database: DatabaseSync): Map<string, { table: string; sql: string }> {
  const rows = database
    .prepare("select name, tbl_name, sql from sqlite_master where type = 'trigger' and name like ? escape '\\'")
    .all(`%\\_${COLUMN.replace('_', '\\_')}\\_%`);
  return new Map(rows.map((row) => [String(row.name), { table: String(row.tbl_name), sql: String(row.sql) }]));
}

function triggersOf(table: string, shape: SummedTable): [name: string, sql: string][] {
  const to = (event: string, name: string) =>
    `CREATE TRIGGER ${quoted(name)} after ${event} on ${quoted(table)} begin update ${quoted(table)} set ${COLUMN} = ${sumOf(shape, 'new.')} where rowid = new.rowid; end`;
  const [onInsert, onUpdate] = [`${table}_${COLUMN}_insert`, `${table}_${COLUMN}_update`];
  return [
    [onInsert, to('insert', onInsert)],
    [onUpdate, to(`update of ${shape.columns.map(quoted).join(', ')}`, onUpdate)],
  ];
}

function sumOf({ columns }: SummedTable, prefix: string): string {
  return `${SUM}(${columns.map((name) => `${prefix}${quoted(name)}`).join(', ')})`;
}

/** SQL for the primary key as text. */
function keyOf({ key }: SummedTable): string {
  return `(${key.map((name) => `cast(${quoted(name)} as text)`).join(" || ' ' || ")})`;
}

function defineSum(database: DatabaseSync): void {
  database.function(SUM, { varargs: true, deterministic: true }, (...values) => sumOfValues(values as SQLInputValue[]));
}

/** CRC-32 of values with their types, so that null and numbers differ from equal texts. */
function sumOfValues(values: readonly SQLInputValue[]): number {
  return crc32(
    values
      .map((value) => (value === null ? '-' : typeof value === 'string' ? `t${value}` : `n${value}`))
      .join('\u0001'),
  );
}

function nameOf({ table, key }: DamagedRow): string {
  return `${table} ${key}`;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function inCamelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
