import { readdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ColumnDataType, type Kysely, SqliteAdapter } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

export const FLAG: ColumnDataType = 'integer';
export const TIME_MS: ColumnDataType = 'bigint';

export function isSqliteDatabase(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter;
}

const FOLDER = new URL('./migrations/', import.meta.url);

async function migrationNames(): Promise<string[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.ts'));
  return files.map((file) => file.slice(0, -'.ts'.length)).toSorted();
}

/**
 * All files of `migrations/`, in the order of their names. Each `up` works on both databases. A file that has run
 * anywhere is never edited.
 */
async function migrations(): Promise<Record<string, Migration>> {
  const modules = (await migrationNames()).map(async (name) => [
    name,
    await import(new URL(`${name}.ts`, FOLDER).href),
  ]);
  return Object.fromEntries(await Promise.all(modules)) as Record<string, Migration>;
}

/** Whether exactly the known migrations have run. Takes one query, whereas the migrator describes every table first. */
async function isNewest(db: Kysely<unknown>, schema: string | undefined): Promise<boolean> {
  const here = schema === undefined ? db : db.withSchema(schema);
  try {
    const rows = await (here as Kysely<{ kysely_migration: { name: string } }>)
      .selectFrom('kysely_migration')
      .select('name')
      .execute();
    return isDeepStrictEqual(rows.map(({ name }) => name).toSorted(), await migrationNames());
  } catch {
    // The table is missing, or the database does not answer: the migrator will find out.
    return false;
  }
}

/**
 * Migrates the database to the newest schema; does nothing where it is up to date. Everything is done in one
 * transaction under a lock (SQLite: the write lock, PostgreSQL: an advisory lock). So instances that start at once
 * migrate once, and a migration that fails changes nothing.
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
  if (last === undefined && (await isNewest(db as Kysely<unknown>, schema))) return;
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
