import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openRegistry, type Registry, type RegistryOptions } from './registry.ts';
import { RowSums } from './store/row-sums.ts';
import { openDatabase } from './store/sqlite.ts';

type FileOptions = Extract<RegistryOptions, { path: string }>;

/** What the migrations make of an empty database, as the bytes of its file. */
let blank: Promise<Buffer> | null = null;

/**
 * Opens a registry for a test as {@link openRegistry} does, sooner: the migrations run once in a process, and a file
 * that is missing begins as a copy of what they made.
 *
 * @param options `path`: default a new file, which is removed when the registry is closed
 */
export async function openTestRegistry(options: Omit<FileOptions, 'path'> & { path?: string } = {}): Promise<Registry> {
  const path = options.path ?? join(await mkdtemp(join(tmpdir(), 'registry-')), 'registry.sqlite');
  if (!existsSync(path)) {
    blank ??= makeBlank();
    await writeFile(path, await blank, { mode: 0o600 });
  }
  const registry = await openRegistry({ ...options, path });
  if (options.path === undefined) {
    const close = registry.close.bind(registry);
    registry.close = async () => {
      await close();
      await rm(dirname(path), { recursive: true, force: true });
    };
  }
  return registry;
}

async function makeBlank(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'registry-blank-'));
  try {
    const path = join(folder, 'registry.sqlite');
    await (await openRegistry({ path })).close();
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The file of a registry, for statements that write as the registry does: with the check sums of rows. */
export function openRegistryFile(path: string): DatabaseSync {
  const database = openDatabase(path);
  new RowSums(database);
  return database;
}

/** Changes rows past the registry, as a failing disk does: their check sums stay as they were. */
export function changePastRegistry(path: string, sql: string, ...values: string[]): void {
  const database = new DatabaseSync(path, { timeout: 5000 });
  const triggers = database.prepare("select name, sql from sqlite_master where type = 'trigger'").all();
  database.exec('begin immediate');
  for (const { name } of triggers) database.exec(`drop trigger "${name}"`);
  database.prepare(sql).run(...values);
  for (const { sql: again } of triggers) database.exec(String(again));
  database.exec('commit');
  database.close();
}
