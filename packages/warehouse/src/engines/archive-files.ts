import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the archive. */
export interface ArchiveFile {
  /** Path of the file relative to the folder of an archive. */
  path: string;
  /** Current path of the file. */
  source: string;
}

/** Folder in which ClickHouse puts the hard links of frozen parts. */
const FROZEN = 'shadow';
/** Parts that are being written or removed. */
const UNFINISHED = /^(tmp|delete)/;

/** Folder of the parts frozen under a name. */
export function frozenFolder(folder: string, name: string): string {
  return join(folder, FROZEN, name);
}

/**
 * Lists the files that a copy of the archive needs: the definitions of database and tables, and the parts of tables.
 * ClickHouse opens a folder with these as it opens one after a crash.
 *
 * @param folder folder of an embedded archive (chDB)
 * @param frozen name under which its parts were frozen; null: no process has the archive open
 * @throws {Error} when nothing is frozen under the name
 */
export async function archiveFiles(folder: string, frozen: string | null): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  const add = (path: string, source = join(folder, path)) => files.push({ path, source });
  for (const { name } of await filesIn(join(folder, 'metadata'))) if (name.endsWith('.sql')) add(`metadata/${name}`);
  const parts = frozen === null ? folder : frozenFolder(folder, frozen);
  // The table of migrations has parts in any case.
  await access(join(parts, 'store'));
  for (const store of await storesIn(folder))
    for (const { name } of await filesIn(join(folder, store))) if (!name.endsWith('.tmp')) add(`${store}/${name}`);
  for (const store of await storesIn(parts))
    for (const part of await foldersIn(join(parts, store))) {
      if (part === 'detached' || UNFINISHED.test(part)) continue;
      for (const { parentPath, name } of await filesIn(join(parts, store, part), true)) {
        const source = join(parentPath, name);
        add(source.slice(parts.length + 1), source);
      }
    }
  return files;
}

/** Each database and table has a folder, by the first digits of its id and the id. */
async function storesIn(folder: string): Promise<string[]> {
  const stores: string[] = [];
  for (const digits of await foldersIn(join(folder, 'store')))
    for (const id of await foldersIn(join(folder, 'store', digits))) stores.push(`store/${digits}/${id}`);
  return stores;
}

async function foldersIn(folder: string): Promise<string[]> {
  return (await entriesIn(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function filesIn(folder: string, recursive = false) {
  return (await entriesIn(folder, recursive)).filter((entry) => entry.isFile());
}

async function entriesIn(folder: string, recursive = false) {
  try {
    return await readdir(folder, { withFileTypes: true, recursive });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
