import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { openRegistry } from '../index.ts';
import { PLUGINS } from '../registry.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

const hashOf = (texts: readonly string[]) => createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16);

/** A hash of each table of the embedded registry, with its indexes. */
export async function sqliteFingerprints(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-fingerprints-'));
  const path = join(folder, 'registry.sqlite');
  try {
    await (await openRegistry({ path })).close();
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(
      'SELECT tbl_name AS name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1, 2',
    );
    const tables = new Map<string, string[]>();
    for (const { name, sql } of rows.iterate())
      tables.set(String(name), [...(tables.get(String(name)) ?? []), String(sql)]);
    database.close();
    return Object.fromEntries([...tables].map(([name, statements]) => [name, hashOf(statements)]));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A hash of what each migration sends to an empty PostgreSQL database. No server is asked. */
export async function postgresFingerprints(): Promise<Record<string, string>> {
  const fingerprints: Record<string, string> = {};
  for (const file of readdirSync(MIGRATIONS).toSorted()) {
    const statements: string[] = [];
    const db = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (database) => new PostgresIntrospector(database),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      plugins: PLUGINS,
      log: ({ query }) => void statements.push(query.sql),
    });
    const { up } = (await import(new URL(file, MIGRATIONS).href)) as { up(db: Kysely<unknown>): Promise<void> };
    await up(db);
    fingerprints[file] = hashOf(statements);
  }
  return fingerprints;
}
