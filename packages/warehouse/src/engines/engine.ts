import type { MessagePort } from 'node:worker_threads';
import type { Owner } from '@outrider/domain';
import type { NativeBlock } from '../native/block.ts';

/** What a query may take of the machine before it is broken off. */
export interface QueryLimits {
  maxSeconds: number;
  maxMemoryBytes: number;
  /** Rows that it may read, whatever it gives back. Default: as many as there are. */
  maxRowsRead?: number;
}

/** A value that is bound to a query. A list is bound as an array. */
export type Parameter = string | number | readonly string[] | readonly number[];

/** A query whose values are bound by name (`{name:Type}` in the text), never put into the text. */
export interface Statement {
  sql: string;
  parameters: Readonly<Record<string, Parameter>>;
  limits?: QueryLimits;
  /**
   * What it waits in line with: `quick` for what somebody looks at, `report` for what may take seconds, so that a long
   * report holds up nobody but other reports, and those for one page at most. Default: `quick`.
   */
  queue?: 'quick' | 'report';
  /** Whose turn it waits in. Default: the service's own. */
  owner?: Owner;
  /** Breaks the query off, wherever it is: waiting, or running. */
  signal?: AbortSignal | undefined;
}

/** A query that took more than its limits let it. */
export class TooMuchError extends Error {
  override name = 'TooMuchError';
  readonly what: 'time' | 'memory' | 'rows';
  constructor(what: 'time' | 'memory' | 'rows', cause: unknown) {
    super(`The query took more ${what} than it may`, { cause });
    this.what = what;
  }
}

/** The database does not answer. */
export class WarehouseAwayError extends Error {
  override name = 'WarehouseAwayError';
}

/** The disk of the warehouse is full. */
export class WarehouseFullError extends WarehouseAwayError {
  override name = 'WarehouseFullError';
}

/** Files of the warehouse are damaged: what they hold can't be read. */
export class WarehouseDamagedError extends Error {
  override name = 'WarehouseDamagedError';
}

/** More queries wait than will be answered in any time that somebody waits. */
export class BusyError extends Error {
  override name = 'BusyError';
}

/**
 * A ClickHouse, wherever it runs: in a process of ours (chDB) or behind HTTP. Everything else of this package is
 * written once, against this.
 */
export interface Engine {
  /**
   * Inserts blocks of the same columns as one. When it resolves, the rows outlive a crash of the process and of the
   * machine.
   */
  insert(table: string, ...blocks: readonly NativeBlock[]): Promise<void>;
  /**
   * The rows of a SELECT, each an array of its columns. 64-bit integers come as numbers.
   *
   * @throws {TooMuchError} when it goes over its limits
   * @throws {BusyError} when too many wait in its queue
   * @throws {WarehouseAwayError} when a server does not answer
   * @throws the signal's reason when it was broken off
   */
  select(statement: Statement): Promise<unknown[][]>;
  /**
   * Rows as a file that others read, written by ClickHouse: its bytes as they come. Whatever is set aside for it
   * meanwhile is gone when the last is taken, or when nobody takes more.
   *
   * @throws the signal's reason when it was broken off
   */
  file(rows: FileRows): AsyncIterable<Uint8Array>;
  /** Runs a statement that gives no rows back, such as CREATE TABLE. */
  execute(sql: string): Promise<void>;
  /** Resolves when the engine answers; does not wait behind inserts and reports. */
  ping(): Promise<void>;
  /**
   * Has each query of any thread wait for `work`, which begins once the engine is open. Undefined where it isn't known
   * who queries.
   */
  beforeQueries?(work: () => Promise<void>): void;
  /** Is it open? Undefined where it always is. */
  isOpen?(): boolean;
  /** Lets the thread at the other end of a port use the engine. Undefined where threads open one each. */
  share?(port: MessagePort): void;
  /**
   * Makes hard links of all parts under a name, and holds back what writes until `whileHeld` ends. Undefined for a
   * server, which has commands of its own for backups.
   */
  freeze?(name: string, whileHeld: () => Promise<void>): Promise<void>;
  /** Removes the hard links. */
  unfreeze?(name: string): Promise<void>;
  /** Lets what is running finish, then lets go of everything. */
  close(): Promise<void>;
}

export const FILE_FORMATS = ['Parquet', 'Arrow'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Rows to be made into a file. */
export interface FileRows {
  format: FileFormat;
  columns: readonly { name: string; type: string }[];
  /** Lines of JSONCompactEachRow: a JSON array a row, each with its line break. Asked for as they are needed. */
  lines: AsyncIterable<string>;
  /** Whose turn it waits in. Default: the service's own. */
  owner?: Owner;
  signal?: AbortSignal | undefined;
}

/** Names and types of columns as ClickHouse takes them. */
export function structureOf(columns: FileRows['columns']): string {
  return columns.map(({ name, type }) => `\`${name}\` ${type}`).join(', ');
}

/** For reports: bounded so that no question of one user can take the service from the others. */
export const DEFAULT_LIMITS: QueryLimits = { maxSeconds: 30, maxMemoryBytes: 512 * 1024 * 1024 };

/** The statement with its limits and with how its rows are to be written, as every engine sends it. */
export function limitedSql({ sql, limits = DEFAULT_LIMITS }: Statement): string {
  return `${sql}
SETTINGS max_execution_time = ${Number(limits.maxSeconds)}, max_memory_usage = ${Number(limits.maxMemoryBytes)},
  max_rows_to_read = ${Number(limits.maxRowsRead ?? 0)}, do_not_merge_across_partitions_select_final = 1,
  use_skip_indexes_if_final = 1, use_skip_indexes_if_final_exact_mode = 1, output_format_json_quote_64bit_integers = 0`;
}

/** Errors of ClickHouse by files that are not as it wrote them, where it does not say which part it read. */
const DAMAGES = /CHECKSUM_DOESNT_MATCH|CORRUPTED_DATA|CANNOT_DECOMPRESS|CANNOT_READ_ALL_DATA|_AFTER_EOF/;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * An error of ClickHouse in this package's words, where a limit was reached, the disk is full or a file damaged; else
 * as it is.
 *
 * @param text with the name of the error, as ClickHouse writes it at the end of its messages
 */
export function limitError(error: unknown, text = messageOf(error)): unknown {
  if (/NOT_ENOUGH_SPACE|No space left on device|ENOSPC|EDQUOT/.test(text))
    return new WarehouseFullError(text, { cause: error });
  if (/TIMEOUT_EXCEEDED|TOO_SLOW/.test(text)) return new TooMuchError('time', error);
  if (/MEMORY_LIMIT_EXCEEDED/.test(text)) return new TooMuchError('memory', error);
  if (/TOO_MANY_ROWS/.test(text)) return new TooMuchError('rows', error);
  const message = messageOf(error);
  if (DAMAGES.test(text) || /while reading (from part|or decompressing)/i.test(message))
    return new WarehouseDamagedError(message, { cause: error });
  return error;
}

/**
 * Settings of whatever reads and writes files: rows in their order, on one thread, and no larger in memory than need
 * be.
 */
export const FILE_SETTINGS = {
  max_threads: 1,
  input_format_parallel_parsing: 0,
  output_format_parallel_formatting: 0,
  output_format_parquet_row_group_size: '100000',
  date_time_input_format: 'best_effort',
} as const;

/**
 * Settings of every insert. Late data may touch any number of months at once, and one block makes one part per month.
 * Duplicates within a block are left to merges and to FINAL: taking them out on the way in costs two thirds of an
 * insert (100,000 positions on one core: 250 ms with, 80 ms without).
 */
export const INSERT_SETTINGS = {
  max_partitions_per_insert_block: '0',
  max_insert_threads: '1',
  optimize_on_insert: 0,
} as const;
