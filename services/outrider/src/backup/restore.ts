import { readdir, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StartError } from '@outrider/runtime';
import type { Command } from '../command.ts';
import { DATA_DIR_FORMAT, openDataDir, RESTORING_FILE } from '../data-dir.ts';
import { copyFile, type Digest, digestOf, eachOf, syncFolders } from './copy.ts';
import { type BackedUpFile, CONTENT, readManifest } from './manifest.ts';

const USAGE = 'it is: restore BACKUP --to DATA_DIR (see docs/operations/backup.md)';

/**
 * `outrider restore BACKUP --to DATA_DIR`: copies a backup into an empty folder and compares it with its checksums. A
 * service can't start on the folder before this has succeeded.
 *
 * @throws {StartError} when the arguments are invalid, the folder is not empty, or the backup can't be used
 */
export const runRestore: Command = async (words, _config, _logger, print) => {
  const { values, positionals } = parsed(words);
  const [folder, ...more] = positionals;
  if (folder === undefined || values.to === undefined || more.length > 0) throw new StartError(USAGE);
  const backup = resolve(folder);
  const target = resolve(values.to);
  const { files, dataDirFormat, takenAt, hasSecretsKey } = await readManifest(backup);
  if (dataDirFormat !== DATA_DIR_FORMAT)
    throw new StartError(
      `${backup} has data of format ${dataDirFormat}, and this version of Outrider reads format ${DATA_DIR_FORMAT} alone`,
    );
  if ((await readdir(target).catch(() => [])).length > 0)
    throw new StartError(`${target} is not empty: a backup is restored into a new folder`);

  const dataDir = openDataDir(target);
  try {
    const unfinished = dataDir.file(RESTORING_FILE);
    await writeFile(unfinished, '', { flush: true });
    await needSpace(target, files);
    await eachOf(files, (file) => restoreFile(backup, target, file));
    await syncFolders(target, files);
    await rm(unfinished);
  } finally {
    dataDir.release();
  }
  print(`${target}: ${files.length} files, as of ${takenAt}. Start the service with DATA_DIR=${target}`);
  if (!hasSecretsKey)
    print(
      'without secrets-key: put your copy of it there before the start, unless SECRETS_KEY or a file of keys is set',
    );
  return 0;
};

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: { to: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw new StartError(`${(error as Error).message}; ${USAGE}`, { cause: error });
  }
}

async function needSpace(folder: string, files: readonly BackedUpFile[]): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < bytes) throw new StartError(`${folder} has too little space: ${bytes} bytes are needed`);
}

async function restoreFile(backup: string, target: string, file: BackedUpFile): Promise<void> {
  const restored = join(target, file.path);
  const wrong = isDifferent(file, await copyFile(join(backup, CONTENT, file.path), restored));
  if (wrong !== null) throw new StartError(`${backup} is damaged: ${file.path} ${wrong}. Nothing was started with it`);
  const changedAt = Number(BigInt(file.mtimeNs) / 1_000_000n) / 1000;
  await utimes(restored, changedAt, changedAt);
}

/** The difference between a file and its entry in the backup; null if none. */
function isDifferent(file: BackedUpFile, found: Digest): string | null {
  if (found.bytes !== file.bytes) return `has ${found.bytes} bytes instead of ${file.bytes}`;
  return found.sha256 === file.sha256 ? null : 'has another checksum';
}

/**
 * Compares each file of a backup with its checksum, and looks for files that do not belong to the backup.
 *
 * @returns number of wrong files
 * @throws {StartError} when the folder is not a finished backup
 */
export async function verifyBackup(backup: string, print: (line: string) => void): Promise<number> {
  const { files, takenAt } = await readManifest(backup);
  const content = join(backup, CONTENT);
  let wrongs = 0;
  const report = (path: string, wrong: string | null) => {
    if (wrong === null) return;
    wrongs++;
    print(`${path} ${wrong}`);
  };
  await eachOf(files, async (file) => {
    const found = await digestOf(join(content, file.path)).catch((error: NodeJS.ErrnoException) => error);
    report(file.path, found instanceof Error ? `can't be read: ${found.code}` : isDifferent(file, found));
  });
  const listed = new Set(files.map(({ path }) => path));
  for (const path of await readdir(content, { recursive: true }))
    if (!listed.has(path) && (await stat(join(content, path))).isFile()) report(path, 'is not of this backup');
  if (wrongs === 0) print(`${backup}: ${files.length} files are as they were backed up, as of ${takenAt}`);
  else print(`${backup}: ${wrongs} ${wrongs === 1 ? 'file is' : 'files are'} wrong`);
  return wrongs;
}
