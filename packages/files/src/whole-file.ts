import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Only for the account of the service: files may contain secrets. */
const MODE = 0o600;

/**
 * Creates a file atomically and durably: after a crash or a power cut it is complete or missing.
 *
 * @returns false if the file exists already: it is left unchanged
 */
export async function createWhole(path: string, content: string): Promise<boolean> {
  return placed(path, content, async (aside) => {
    try {
      await link(aside, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  });
}

/** Creates or replaces a file atomically and durably: readers find the old content or the new one, never a part. */
export async function replaceWhole(path: string, content: string | Uint8Array): Promise<void> {
  await placed(path, content, (aside) => rename(aside, path));
}

async function placed<Result>(
  path: string,
  content: string | Uint8Array,
  place: (aside: string) => Promise<Result>,
): Promise<Result> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await writeFile(aside, content, { flag: 'wx', mode: MODE, flush: true });
    const result = await place(aside);
    await syncFolder(dirname(path));
    return result;
  } finally {
    await rm(aside, { force: true });
  }
}

/** Syncs a folder: only then are the names of its files durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
