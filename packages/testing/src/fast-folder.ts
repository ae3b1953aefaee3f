import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './is-running.ts';

const MEMORY = '/dev/shm';
const PREFIX = 'outrider-test-';
/** Tests write up to a few hundred megabytes at a time. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Sets `TMPDIR` to a folder in memory, for this process and its children: tests spend most of their time waiting for a
 * disk to sync. Changes nothing where `/dev/shm` is missing or small, or where `TMPDIR` is set.
 *
 * @returns removes the folder, with what tests left in it
 */
export function useFastFolder(): () => void {
  if (process.env.TMPDIR !== undefined || !hasSpace()) return () => {};
  removeAbandoned();
  const folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`));
  // PostgreSQL runs as another user where tests run as root.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
    delete process.env.TMPDIR;
  };
}

function hasSpace(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}
