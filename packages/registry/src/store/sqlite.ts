import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import { RegistryFullError } from './errors.ts';

/**
 * Result codes of SQLite (https://www.sqlite.org/rescode.html). The second means that the index of the write-ahead log
 * could not grow.
 */
const SQLITE_FULL = 13;
const SQLITE_IOERR_SHMSIZE = 4874;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const MAX_CACHED_STATEMENTS = 256;
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens a database file: write-ahead log, every commit synced to the disk, foreign keys enforced.
 *
 * @param path file, or `:memory:`
 * @throws {Error} naming the file, when it can't be opened or is no database
 */
export function openDatabase(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    return database;
  } catch (cause) {
    throw new Error(`the registry ${path} can't be opened: ${(cause as Error).message}`, { cause });
  }
}

/** Kysely over the SQLite that is built into Node. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  readonly #writes: { count: number };
  readonly #othersVersion: StatementSync;
  readonly #isInTransaction: () => boolean;

  constructor(database: DatabaseSync) {
    const writes = { count: 0 };
    const adapted = adapt(database, writes);
    super({ database: adapted });
    this.#database = adapted;
    this.#writes = writes;
    this.#othersVersion = database.prepare('PRAGMA data_version');
    this.#isInTransaction = () => database.isTransaction;
  }

  /**
   * Version of the contents of the database. It changes with each writing statement of this connection, and each commit
   * of another one.
   */
  version(): string {
    return `${this.#writes.count} ${this.#othersVersion.get()?.data_version}`;
  }

  override createDriver(): Driver {
    return new ImmediateDriver({ database: this.#database }, () => this.#isInTransaction());
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

/** Takes the write lock at once: a transaction that reads first and writes later could not wait for another process. */
class ImmediateDriver extends SqliteDriver {
  readonly #isInTransaction: () => boolean;

  constructor(config: ConstructorParameters<typeof SqliteDriver>[0], isInTransaction: () => boolean) {
    super(config);
    this.#isInTransaction = isInTransaction;
  }

  /** A full disk may have ended the transaction already. Rolling back again would hide that error with another. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Adapts `node:sqlite` to the interface of Kysely's driver. Prepared statements are cached, and the least recently used
 * are dropped.
 */
function adapt(database: DatabaseSync, writes: { count: number }): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement) statements.delete(sql);
      else {
        statement = adaptStatement(
          withFileInError(database, () => database.prepare(sql)),
          database,
          READS.test(sql)
            ? () => {}
            : () => {
                writes.count++;
              },
        );
        for (const oldest of statements.keys()) {
          if (statements.size < MAX_CACHED_STATEMENTS) break;
          statements.delete(oldest);
        }
      }
      statements.set(sql, statement);
      return statement;
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

/** Statements that do not write, including the begin and end of a transaction. */
const READS = /^\s*(select|begin|commit|rollback)\b/i;

function adaptStatement(statement: StatementSync, database: DatabaseSync, onRun: () => void): SqliteStatement {
  const values = (parameters: ReadonlyArray<unknown>) => parameters as readonly SQLInputValue[];
  /** @throws {RegistryFullError} when the disk is full */
  const run = <T>(action: () => T): T => {
    onRun();
    try {
      return withFileInError(database, action);
    } catch (error) {
      throw isFull(error) ? new RegistryFullError((error as Error).message, { cause: error }) : error;
    }
  };
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => run(() => statement.all(...values(parameters))),
    run: (parameters) => run(() => statement.run(...values(parameters))),
    iterate: (parameters) => run(() => statement.iterate(...values(parameters))),
  };
}

/** Adds the file name to errors about damage, which SQLite's messages lack. */
function withFileInError<T>(database: DatabaseSync, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = codeOf(error) & 0xff;
    if (code !== SQLITE_CORRUPT && code !== SQLITE_NOTADB) throw error;
    throw new Error(`the registry ${database.location() ?? ''} is damaged: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return (code & 0xff) === SQLITE_FULL || code === SQLITE_IOERR_SHMSIZE;
}

function codeOf(error: unknown): number {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code : 0;
}
