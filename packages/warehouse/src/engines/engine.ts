import type { NativeBlock } from '../native/block.ts';

/** What a query may take of the machine before it is broken off. */
export interface QueryLimits {
  maxSeconds: number;
  maxMemoryBytes: number;
}

/** A query whose values are bound by name (`{name:Type}` in the text), never put into the text. */
export interface Statement {
  sql: string;
  parameters: Readonly<Record<string, string | number>>;
  limits?: QueryLimits;
}

/**
 * A ClickHouse, wherever it runs: in this process (chDB) or behind HTTP. Everything else of this package is written
 * once, against this.
 */
export interface Engine {
  /** Inserts the block as one. When it resolves, the rows outlive a crash of the process and of the machine. */
  insert(table: string, block: NativeBlock): Promise<void>;
  /** The rows of a SELECT, each an array of its columns. 64-bit integers come as numbers. */
  select(statement: Statement): Promise<unknown[][]>;
  /** Runs a statement that gives no rows back, such as CREATE TABLE. */
  execute(sql: string): Promise<void>;
  /** Resolves when the engine answers; does not wait behind inserts and reports. */
  ping(): Promise<void>;
  /** Lets what is running finish, then lets go of everything. */
  close(): Promise<void>;
}

/** For reports: bounded so that no question of one user can take the service from the others. */
export const DEFAULT_LIMITS: QueryLimits = { maxSeconds: 30, maxMemoryBytes: 512 * 1024 * 1024 };

/** The statement with its limits and with how its rows are to be written, as every engine sends it. */
export function limitedSql({ sql, limits = DEFAULT_LIMITS }: Statement): string {
  return `${sql}
SETTINGS max_execution_time = ${Number(limits.maxSeconds)}, max_memory_usage = ${Number(limits.maxMemoryBytes)},
  do_not_merge_across_partitions_select_final = 1, output_format_json_quote_64bit_integers = 0`;
}

/**
 * Settings of every insert. Late data may touch any number of months at once, and one block makes one part per month.
 * Duplicates within a block are left to merges and to FINAL: taking them out on the way in costs two thirds of an insert
 * (100,000 positions on one core: 250 ms with, 80 ms without).
 */
export const INSERT_SETTINGS = {
  max_partitions_per_insert_block: '0',
  max_insert_threads: '1',
  optimize_on_insert: 0,
} as const;
