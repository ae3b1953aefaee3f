import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder, type PrivateFolder, StartError } from '@outrider/runtime';

/** The data folder can't be used; the message says why and what to do. */
export class DataDirError extends StartError {
  override name = 'DataDirError';
}

/** Another process holds the folder. */
export class DataDirInUseError extends DataDirError {
  override name = 'DataDirInUseError';
}

/** Exists in a folder while a backup is restored into it. */
export const RESTORING_FILE = 'restoring';

/**
 * Version of the format of stored data: the schemas of the log and the states in checkpoints, which unlike the registry
 * and the archive have no migrations. Incremented when data of earlier versions can no longer be read.
 */
export const DATA_DIR_FORMAT = 2;

/** The service's folder, locked by this process. */
export interface DataDir {
  /** Absolute path. */
  path: string;
  /** Files to which other accounts had access before. */
  rights: PrivateFolder;
  file(name: string): string;
  release(): void;
}

/**
 * Creates the folder if it does not exist, and locks it: a second service on the same folder would overwrite its data.
 * The operating system holds the lock (through SQLite), so it ends with the process, even after a crash.
 *
 * @throws {DataDirError} when the folder can't be created or written to, is locked by another process, or has a log of
 *   a version that this one can't read
 */
export function openDataDir(folder: string): DataDir {
  const path = resolve(folder);
  let rights: PrivateFolder;
  try {
    rights = makePrivateFolder(path);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new DataDirError(`DATA_DIR ${path} cannot be written to: ${(error as Error).message}`);
  }
  const lock = takeLock(join(path, 'in-use.lock'), path);
  try {
    checkFormat(path);
    if (existsSync(join(path, RESTORING_FILE)))
      throw new DataDirError(
        `a backup was not restored to its end into DATA_DIR ${path}: empty the folder, and restore it again`,
      );
  } catch (error) {
    lock.close();
    throw error;
  }
  return {
    path,
    rights,
    file: (name) => join(path, name),
    release: () => lock.close(),
  };
}

/** Whether a running service holds the folder. The folder is not changed. */
export function isInUse(path: string): boolean {
  const file = join(path, 'in-use.lock');
  if (!existsSync(file)) return false;
  try {
    takeLock(file, path).close();
    return false;
  } catch (error) {
    return error instanceof DataDirInUseError;
  }
}

function checkFormat(path: string): void {
  const file = join(path, 'format');
  const isNew = !existsSync(file) && !existsSync(join(path, 'log.sqlite'));
  if (isNew) {
    // Written completely and durably before the log exists: with an empty or missing file the folder would be refused.
    writeFileSync(`${file}.new`, `${DATA_DIR_FORMAT}\n`, { flush: true });
    renameSync(`${file}.new`, file);
    const folder = openSync(path, 'r');
    fsyncSync(folder);
    closeSync(folder);
  }
  // The first format had no such file.
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : '1';
  if (!/^\d+$/.test(found))
    throw new DataDirError(`${file} is damaged: it should hold a number. Restore it from a backup of DATA_DIR`);
  if (found !== String(DATA_DIR_FORMAT))
    throw new DataDirError(
      `DATA_DIR ${path} was written in format ${found}, and this version of Outrider reads format ${DATA_DIR_FORMAT} alone: ` +
        'start the version that wrote it, or set another DATA_DIR',
    );
}

function takeLock(file: string, path: string): DatabaseSync {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (/locked/.test((error as Error).message))
      throw new DataDirInUseError(
        `DATA_DIR ${path} is in use by another Outrider: stop that one, or set another DATA_DIR`,
      );
    throw new DataDirError(`DATA_DIR ${path} cannot be locked: ${(error as Error).message}`);
  }
}
