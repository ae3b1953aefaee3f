import type { MessagePort } from 'node:worker_threads';
import type { Owner } from '@outrider/domain';
import type { NativeBlock } from '../native/block.ts';

/** Resources that a query may use before it is cancelled. */
export interface QueryLimits {
  maxSeconds: number;
  maxMemoryBytes: number;
  /** Maximum number of rows to read, whatever it returns. Default: no limit. */
  maxRowsRead?: number;
}

/** A value that is bound to a query. A list is bound as an array. */
export type Parameter = string | number | readonly string[] | readonly number[];

/** A query whose values are bound by name (`{name:Type}` in the text), never inserted into the text. */
export interface Statement {
  sql: string;
  parameters: Readonly<Record<string, Parameter>>;
  limits?: QueryLimits;
  /**
   * The queue it waits in: `quick` for what a user is waiting for, `report` for what may take seconds. A long report
   * then delays only other reports, and those for one page at most. Default: `quick`.
   */
  queue?: 'quick' | 'report';
  /** Account whose turn it takes. Default: the service itself. */
  owner?: Owner;
  /** Cancels the query, whether it waits or runs. */
  signal?: AbortSignal | undefined;
}

/** A query exceeded its limits. */
export class TooMuchError extends Error {
  override name = 'TooMuchError';
  readonly what: 'time' | 'memory' | 'rows';
  constructor(what: 'time' | 'memory' | 'rows', cause: unknown) {
    super(`The query took more ${what} than it may`, { cause });
    this.what = what;
  }
}

/** The database does not respond. */
export class WarehouseAwayError extends Error {
  override name = 'WarehouseAwayError';
}

/** The disk of the warehouse is full. */
export class WarehouseFullError extends WarehouseAwayError {
  override name = 'WarehouseFullError';
}

/** Files of the warehouse are damaged: their contents can't be read. */
export class WarehouseDamagedError extends Error {
  override name = 'WarehouseDamagedError';
}

/** Too many queries are waiting to answer another one in acceptable time. */
export class BusyError extends Error {
  override name = 'BusyError';
}

/**
 * A ClickHouse: in a separate process of the service (chDB), or a server behind HTTP. The rest of this package is
 * independent of which.
 */
export interface Engine {
  /**
   * Inserts blocks of the same columns as one. When it resolves, the rows are durable: they survive a crash of the
   * process and of the machine.
   */
  insert(table: string, ...blocks: readonly NativeBlock[]): Promise<void>;
  /**
   * Returns the rows of a SELECT, each an array of its columns. 64-bit integers are returned as numbers.
   *
   * @throws {TooMuchError} when it exceeds its limits
   * @throws {BusyError} when too many queries wait in its queue
   * @throws {WarehouseAwayError} when a server does not respond
   * @throws the signal's reason when it was cancelled
   */
  select(statement: Statement): Promise<unknown[][]>;
  /**
   * Returns rows as a file that ClickHouse writes, in chunks of bytes. Temporary data is removed when the last chunk is
   * taken, or when the caller stops.
   *
   * @throws the signal's reason when it was cancelled
   */
  file(rows: FileRows): AsyncIterable<Uint8Array>;
  /** Runs a statement that gives no rows back, such as CREATE TABLE. */
  execute(sql: string): Promise<void>;
  /** Resolves when the engine responds; does not wait behind inserts and reports. */
  ping(): Promise<void>;
  /**
   * Makes each query of any thread wait for `work`, which begins once the engine is open. Undefined for a server, which
   * does not report who queries it.
   */
  beforeQueries?(work: () => Promise<void>): void;
  /** Whether it is open. Undefined if it always is. */
  isOpen?(): boolean;
  /** Lets the thread at the other end of a port use the engine. Undefined if each thread opens its own. */
  share?(port: MessagePort): void;
  /**
   * Creates hard links of all parts under a name, and blocks writes until `whileHeld` ends. Undefined for a server,
   * which has commands of its own for backups.
   */
  freeze?(name: string, whileHeld: () => Promise<void>): Promise<void>;
  /** Removes the hard links. */
  unfreeze?(name: string): Promise<void>;
  /** Waits for running statements, then releases all resources. */
  close(): Promise<void>;
}

export const FILE_FORMATS = ['Parquet', 'Arrow'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Rows to be written as a file. */
export interface FileRows {
  format: FileFormat;
  columns: readonly { name: string; type: string }[];
  /** Lines of JSONCompactEachRow: a JSON array a row, each with its line break. Asked for as they are needed. */
  lines: AsyncIterable<string>;
  /** Account whose turn it takes. Default: the service itself. */
  owner?: Owner;
  signal?: AbortSignal | undefined;
}

/** Names and types of columns in ClickHouse's syntax. */
export function structureOf(columns: FileRows['columns']): string {
  return columns.map(({ name, type }) => `\`${name}\` ${type}`).join(', ');
}

/** For reports: bounded so that no query of one user can make the service unavailable to the others. */
export const DEFAULT_LIMITS: QueryLimits = { maxSeconds: 30, maxMemoryBytes: 512 * 1024 * 1024 };

/** The statement with its limits and with how its rows are to be written, as every engine sends it. */
export function limitedSql({ sql, limits = DEFAULT_LIMITS }: Statement): string {
  return `${sql}
SETTINGS max_execution_time = ${Number(limits.maxSeconds)}, max_memory_usage = ${Number(limits.maxMemoryBytes)},
  max_rows_to_read = ${Number(limits.maxRowsRead ?? 0)}, do_not_merge_across_partitions_select_final = 1,
  use_skip_indexes_if_final = 1, use_skip_indexes_if_final_exact_mode = 1, output_format_json_quote_64bit_integers = 0`;
}

/** ClickHouse errors for damaged files which do not name the part that was read. */
const DAMAGES = /CHECKSUM_DOESNT_MATCH|CORRUPTED_DATA|CANNOT_DECOMPRESS|CANNOT_READ_ALL_DATA|_AFTER_EOF/;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * Maps an error of ClickHouse to this package's classes if a limit was exceeded, the disk is full or a file damaged.
 * Returns other errors unchanged.
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

/** Settings for reading and writing files: rows in order, on one thread, with minimal memory. */
export const FILE_SETTINGS = {
  max_threads: 1,
  input_format_parallel_parsing: 0,
  output_format_parallel_formatting: 0,
  output_format_parquet_row_group_size: '100000',
  date_time_input_format: 'best_effort',
} as const;

/**
 * Settings of every insert. Late data may belong to any number of months at once, and one block makes one part per
 * month. Duplicates within a block are left to merges and to FINAL: removing them during the insert would cost two
 * thirds of its time (100,000 positions on one core: 250 ms with, 80 ms without).
 */
export const INSERT_SETTINGS = {
  max_partitions_per_insert_block: '0',
  max_insert_threads: '1',
  optimize_on_insert: 0,
} as const;
