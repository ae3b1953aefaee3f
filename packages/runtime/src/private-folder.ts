import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { Logger } from './logger.ts';

const OWNER = 0o700;
/** Permission bits of the group and of others. */
const OTHERS = 0o077;
/** Mode bit of a folder that accounts share, such as /tmp. */
const STICKY = 0o1000;

/** Result of {@link makePrivateFolder}. */
export interface PrivateFolder {
  /** Number of files and folders to which others had rights that were removed. */
  changed: number;
  /**
   * Number of those that belong to another account, which alone may change them; or 1 for a folder that other programs
   * use as well.
   */
  unchanged: number;
}

/**
 * Creates a folder if it is missing, and removes the rights of other accounts from its content. Files that this process
 * creates from now on are private as well. Links and their targets are left unchanged.
 *
 * @throws {Error} when the folder can't be made or read
 */
export function makePrivateFolder(path: string): PrivateFolder {
  // The umask is set for the whole process.
  if (isMainThread) process.umask(OTHERS);
  mkdirSync(path, { recursive: true, mode: OWNER });
  const found: PrivateFolder = { changed: 0, unchanged: 0 };
  if (isShared(path)) return { changed: 0, unchanged: 1 };
  // Windows has no such permissions: a folder inherits those of its parent.
  if (process.platform !== 'win32') takeRights(realpathSync(path), found);
  return found;
}

/** Whether the folder was hardly meant for this service alone. */
function isShared(path: string): boolean {
  const real = realpathSync(path);
  return (statSync(real).mode & STICKY) !== 0 || real === dirname(real) || real === homedir();
}

/** Logs the result if it is not empty. */
export function logPrivateFolder(folder: string, { changed, unchanged }: PrivateFolder, logger: Logger): void {
  if (changed > 0) logger.info({ folder, files: changed }, 'removed the rights of other accounts to stored files');
  if (unchanged > 0)
    logger.warn(
      { folder, files: unchanged },
      'other accounts may have rights to stored files: give DATA_DIR a folder of this account alone',
    );
}

function takeRights(path: string, found: PrivateFolder): void {
  const state = lstatSync(path, { throwIfNoEntry: false });
  if (state === undefined || !(state.isDirectory() || state.isFile())) return;
  if ((state.mode & OTHERS) !== 0) {
    try {
      chmodSync(path, state.mode & OWNER);
      found.changed++;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
      found.unchanged++;
    }
  }
  if (state.isDirectory()) for (const name of readdirSync(path)) takeRights(join(path, name), found);
}
