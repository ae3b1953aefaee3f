import { createHash } from 'node:crypto';
import { access, constants, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

let written = 0;

/**
 * A name for files and message ids that is the same for the same id, and holds nothing that means something to a file
 * system or a header: the id itself where it is harmless (as UUIDs are), else a hash of it.
 */
export function safeName(id: string): string {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(id) ? id : `x-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/**
 * Puts a message into the folder as `<id>.eml`: the whole file or none, synced to the disk before it has its name. The
 * same id again replaces it. The folder is made where it is missing.
 */
export async function writeEml(folder: string, id: string, message: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${safeName(id)}.eml`);
  const unfinished = `${path}.${process.pid}-${written++}.tmp`;
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      await file.writeFile(message);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Makes the folder where it is missing; rejects where nothing can be written into it. */
export async function checkFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await access(folder, constants.W_OK);
}
