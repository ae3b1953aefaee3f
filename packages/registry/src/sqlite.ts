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

const MAX_CACHED_STATEMENTS = 256;
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens a database file: write-ahead log, every commit synced to the disk, foreign keys enforced.
 *
 * @param path file, or `:memory:`
 */
export function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  return database;
}

/** Kysely over the SQLite that Node brings along. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  readonly #writes: { count: number };
  readonly #othersVersion: StatementSync;

  constructor(database: DatabaseSync) {
    const writes = { count: 0 };
    const adapted = adapt(database, writes);
    super({ database: adapted });
    this.#database = adapted;
    this.#writes = writes;
    this.#othersVersion = database.prepare('PRAGMA data_version');
  }

  /** Of what is in the database: another after each statement of this connection that writes, and each commit of another one. */
  version(): string {
    return `${this.#writes.count} ${this.#othersVersion.get()?.data_version}`;
  }

  override createDriver(): Driver {
    return new ImmediateDriver({ database: this.#database });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

/** Takes the write lock at once: a transaction that reads first and writes later could not wait for another process. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** `node:sqlite` in the form that Kysely's driver speaks to; statements are kept, the least recently used goes first. */
function adapt(database: DatabaseSync, writes: { count: number }): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement) statements.delete(sql);
      else {
        statement = adaptStatement(
          database.prepare(sql),
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

/** Statements that write nothing; those that begin and end a transaction do not either. */
const READS = /^\s*(select|begin|commit|rollback)\b/i;

function adaptStatement(statement: StatementSync, onRun: () => void): SqliteStatement {
  const values = (parameters: ReadonlyArray<unknown>) => parameters as readonly SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all(parameters) {
      onRun();
      return statement.all(...values(parameters));
    },
    run(parameters) {
      onRun();
      return statement.run(...values(parameters));
    },
    iterate(parameters) {
      onRun();
      return statement.iterate(...values(parameters));
    },
  };
}
