import { readdir } from 'node:fs/promises';
import { type ColumnDataType, type Kysely, SqliteAdapter } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

export const FLAG: ColumnDataType = 'integer';
export const TIME_MS: ColumnDataType = 'bigint';

export function isSqliteDatabase(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}

const FOLDER = new URL('./migrations/', import.meta.url);

/**
 * Every file of `migrations/`, in the order of their names: `up` works on both databases. A file that has run anywhere
 * is never edited.
 */
async function migrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts'));
  const modules = files.map(async (file) => [file.slice(0, -'.ts'.length), await import(new URL(file, FOLDER).href)]);
  return Object.fromEntries(await Promise.all(modules)) as Record<string, Migration>;
}

/**
 * Brings the database to the newest schema; does nothing where it already is. All of it is one transaction under a lock
 * (SQLite: the write lock, PostgreSQL: an advisory lock), so instances that start at once migrate once, and a migration
 * that fails changes nothing.
 *
 * @param schema PostgreSQL schema that holds the tables, created where it is missing
 * @param last name of the last migration to run; default: the newest
 * @param before called where there is something to run
 * @throws {Error} with the database's error as its cause; where the database is newer than this version, or migrations
 *   ran out of order
 */
export async function migrate<T>(
  db: Kysely<T>,
  schema?: string,
  last?: string,
  before: () => void = () => {},
): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: migrations },
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  });
  if ((await migrator.getMigrations()).some(({ executedAt }) => executedAt === undefined)) before();
  const { error } = await (last === undefined ? migrator.migrateToLatest() : migrator.migrateTo(last));
  if (error !== undefined) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the registry could not be migrated: ${reason}`, { cause: error });
  }
}
