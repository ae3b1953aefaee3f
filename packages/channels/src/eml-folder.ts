import { createHash } from 'node:crypto';
import { access, constants, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceWhole } from '@outrider/files/whole-file';

/** No write takes this long: what is as old and unfinished was left by a process that was killed. */
const UNFINISHED_AFTER_MS = 3_600_000;
/** What {@link replaceWhole} writes first; versions before it wrote `.tmp`. */
const UNFINISHED = /\.eml\.(?:[0-9a-f-]{36}|\d+-\d+\.tmp)$/;

/**
 * A name for files and message ids that is the same for the same id, and holds nothing that means something to a file
 * system or a header: the id itself where it is harmless (as UUIDs are), else a hash of it.
 */
export function safeName(id: string): string {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(id) ? id : `x-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/**
 * Puts a message into the folder as `<id>.eml`: the whole file or none, durable once this resolves. The
 * same id again replaces it. The folder is made where it is missing.
 */
export async function writeEml(folder: string, id: string, message: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  await replaceWhole(join(folder, `${safeName(id)}.eml`), message);
}

/**
 * Makes the folder where it is missing and clears it of what killed processes left; rejects where nothing can be
 * written into it.
 */
export async function checkFolder(folder: string, nowMs: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await access(folder, constants.W_OK);
  for (const name of await readdir(folder)) {
    if (!UNFINISHED.test(name)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: nowMs }));
    if (mtimeMs < nowMs - UNFINISHED_AFTER_MS) await rm(path, { force: true });
  }
}
