import { createHash } from 'node:crypto';
import { access, constants, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceWhole } from '@outrider/files/whole-file';

/** No write takes this long: older unfinished files are leftovers of killed processes. */
const UNFINISHED_AFTER_MS = 3_600_000;
/** Names of temporary files of {@link replaceWhole}; earlier versions wrote `.tmp`. */
const UNFINISHED = /\.eml\.(?:[0-9a-f-]{36}|\d+-\d+\.tmp)$/;

/**
 * A name for files and message ids, derived from the id and safe for file systems and headers. It is the id itself if
 * that is harmless (as UUIDs are), otherwise a hash of it.
 */
export function safeName(id: string): string {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(id) ? id : `x-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/**
 * Writes a message into the folder as `<id>.eml`: atomically, and durable once this resolves. A message with the same
 * id is replaced. Creates the folder if it does not exist.
 */
export async function writeEml(folder: string, id: string, message: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  await replaceWhole(join(folder, `${safeName(id)}.eml`), message);
}

/**
 * Creates the folder if it does not exist and removes leftovers of killed processes; rejects if the folder is not
 * writable.
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
