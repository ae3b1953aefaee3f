import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { backup as copyDatabase, type DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { SECRETS_KEY_FILE } from '@outrider/backing';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { syncFolder } from '@outrider/files';
import { type Config, StartError, serviceVersion } from '@outrider/runtime';
import { archiveFiles } from '@outrider/warehouse';
import type { Command } from '../command.ts';
import type { variables } from '../config.ts';
import { type DataDir, DataDirInUseError, openDataDir } from '../data-dir.ts';
import { withFrozenArchive } from './archive-hold.ts';
import { type Base, Copier, syncFolders } from './copy.ts';
import { openAtOneMoment } from './database-moment.ts';
import { BACKUP_FORMAT, CONTENT, type Manifest, manifestPath, readManifest } from './manifest.ts';
import { verifyBackup } from './restore.ts';

const USAGE =
  'it is: backup DIR [--base EARLIER] [--with-secrets-key], or: backup --verify DIR (see docs/operations/backup.md)';
const WAREHOUSE = 'warehouse';
/** The log is the last database to be locked, because it is written all the time. */
const LOCK_LAST = 'log.sqlite';
/** Files that a start recreates, files of a running process, and unfinished files. */
const LEFT_OUT =
  /^(in-use\.lock.*|backup\.sock|video-spool|warehouse|restoring|signing-keys\.json\..*|secrets-key\..*|.*\.sqlite(-wal|-shm|-journal)?)$/;
/** Folder of unfinished files. */
const INCOMING = '.incoming';
const PAGES_AT_A_TIME = 10_000;
const SERVERS = ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', 'S3_URL'] as const;

interface Request {
  /** Absolute paths: DATA_DIR, the new backup, and an earlier one. */
  source: string;
  target: string;
  base: string | null;
  withSecretsKey: boolean;
  /** Whether the archive is in DATA_DIR. */
  hasArchive: boolean;
}

/**
 * `outrider backup DIR`: copies DATA_DIR, of a running or stopped service, into a new folder.
 * `outrider backup --verify DIR`: compares a backup with its checksums.
 *
 * @returns number of wrong files of a verified backup
 * @throws {StartError} when the arguments are invalid, or DATA_DIR or the folder can't be used; {Error} when a file
 *   can't be read or written: then the copied files are removed
 */
export const runBackup: Command = async (words, config, _logger, print) => {
  const { values, positionals } = parsed(words);
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new StartError(USAGE);
  if (values.verify) {
    if (values.base !== undefined || values['with-secrets-key']) throw new StartError(USAGE);
    return verifyBackup(resolve(folder), print);
  }
  const source = resolve(config.DATA_DIR);
  const request: Request = {
    source,
    target: resolve(folder),
    base: values.base === undefined ? null : resolve(values.base),
    withSecretsKey: values['with-secrets-key'] ?? false,
    hasArchive: config.CLICKHOUSE_URL === null && existsSync(join(source, WAREHOUSE)),
  };
  const { manifest, linkedBytes } = await makeBackup(request);
  report(request, manifest, linkedBytes, config, print);
  return 0;
};

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        base: { type: 'string' },
        verify: { type: 'boolean' },
        'with-secrets-key': { type: 'boolean' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new StartError(`${(error as Error).message}; ${USAGE}`, { cause: error });
  }
}

function report(
  { source, target, base, withSecretsKey }: Request,
  { files, takenAt, service, hasSecretsKey }: Manifest,
  linkedBytes: number,
  config: Config<typeof variables>,
  print: (line: string) => void,
): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  print(`${target}: ${files.length} files, ${megabytes(bytes)}, as of ${takenAt}, service ${service}`);
  if (base !== null) print(`of them ${megabytes(linkedBytes)} are links to ${base}`);
  if (!withSecretsKey && existsSync(join(source, SECRETS_KEY_FILE)))
    print(`without ${SECRETS_KEY_FILE}: keep a copy of it elsewhere, a restored service needs it`);
  else if (hasSecretsKey) print(`with ${SECRETS_KEY_FILE}: who can read the backup can open stored secrets`);
  const servers = SERVERS.filter((name) => config[name] !== null);
  if (servers.length > 0)
    print(`not included, since they are servers: ${servers.join(', ')}. See docs/operations/backup.md`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

async function makeBackup(request: Request): Promise<{ manifest: Manifest; linkedBytes: number }> {
  const { source, target } = request;
  if (!existsSync(join(source, 'format')))
    throw new StartError(`DATA_DIR ${source} holds no data: set DATA_DIR to the folder of the service`);
  if (isWithin(source, target)) throw new StartError(`${target} is in DATA_DIR: a backup needs another folder`);
  if ((await readdir(target).catch(() => [])).length > 0)
    throw new StartError(`${target} is not empty: each backup needs a folder of its own`);
  const base = request.base === null ? null : await openBase(request.base);

  const unfinished = `${target}.unfinished`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await mkdir(unfinished, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new StartError(`${unfinished} exists: another backup writes it, or was broken off. Then remove it`);
  }
  try {
    const copier = new Copier(unfinished, base);
    const manifest = await fill(unfinished, copier, request);
    await syncFolders(join(unfinished, CONTENT), manifest.files);
    await writeSynced(manifestPath(unfinished), `${JSON.stringify(manifest, null, 1)}\n`);
    await syncFolder(unfinished);
    await rename(unfinished, target);
    await syncFolder(dirname(target));
    return { manifest, linkedBytes: copier.linkedBytes };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function openBase(folder: string): Promise<Base> {
  const { files } = await readManifest(folder);
  return { folder, files: new Map(files.map((file) => [file.path, file])) };
}

function isWithin(folder: string, path: string): boolean {
  return !relative(folder, path).startsWith('..');
}

/** Copies everything, in the order explained in docs/decisions/0084-a-backup-is-of-one-moment.md. */
async function fill(unfinished: string, copier: Copier, request: Request): Promise<Manifest> {
  const { source, withSecretsKey, hasArchive } = request;
  const startedAt = new Date(SYSTEM_CLOCK.now()).toISOString();
  let takenAt = startedAt;
  let databases: { name: string; opened: DatabaseSync }[] = [];
  const openDatabases = async () => {
    const names = await databaseNames(source);
    const opened = await openAtOneMoment(names.map((name) => join(source, name)));
    takenAt = new Date(SYSTEM_CLOCK.now()).toISOString();
    databases = names.map((name, nth) => ({ name, opened: opened[nth] as DatabaseSync }));
  };
  const copyRest = async (frozen: string | null) => {
    // The log first: while its snapshot is open, its file grows by everything that is written.
    for (const { name, opened } of databases.toReversed()) {
      await copyDatabaseInto(unfinished, name, opened);
      await copier.note(name);
    }
    const archive = hasArchive ? await archiveFiles(join(source, WAREHOUSE), frozen) : [];
    await copier.copyAll(archive.map((file) => ({ ...file, path: `${WAREHOUSE}/${file.path}` })));
    await copier.copyWhatIsThere(await plainFiles(source, withSecretsKey));
  };

  const stopped = stoppedDataDir(source);
  try {
    // Copies most of the large, unchanging files before, so that little remains after the moment of the backup.
    await copier.copyWhatIsThere(await plainFiles(source, withSecretsKey));
    if (stopped === null && hasArchive) await withFrozenArchive(source, openDatabases, copyRest);
    else {
      await openDatabases();
      await copyRest(null);
    }
  } finally {
    for (const { opened } of databases) if (opened.isOpen) opened.close();
    stopped?.release();
  }
  const { files } = copier;
  return {
    format: BACKUP_FORMAT,
    version: serviceVersion(),
    dataDirFormat: Number(await readFile(join(source, 'format'), 'utf8')),
    startedAt,
    takenAt,
    finishedAt: new Date(SYSTEM_CLOCK.now()).toISOString(),
    service: stopped === null ? 'running' : 'stopped',
    hasSecretsKey: files.some(({ path }) => path === SECRETS_KEY_FILE),
    files,
  };
}

/** @returns null when a service uses the folder */
function stoppedDataDir(source: string): DataDir | null {
  try {
    return openDataDir(source);
  } catch (error) {
    if (error instanceof DataDirInUseError) return null;
    throw error;
  }
}

async function databaseNames(source: string): Promise<string[]> {
  const names = (await readdir(source)).filter((name) => name.endsWith('.sqlite')).toSorted();
  return [...names.filter((name) => name !== LOCK_LAST), ...names.filter((name) => name === LOCK_LAST)];
}

/** Files of the service other than databases and the archive. */
async function plainFiles(source: string, withSecretsKey: boolean): Promise<{ path: string; source: string }[]> {
  const files: { path: string; source: string }[] = [];
  const add = async (folder: string, entries: Awaited<ReturnType<typeof entriesOf>>) => {
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isFile()) files.push({ path: relative(source, path), source: path });
      else if (entry.isDirectory() && entry.name !== INCOMING) await add(path, await entriesOf(path));
    }
  };
  const isTaken = (name: string) => !LEFT_OUT.test(name) && (withSecretsKey || name !== SECRETS_KEY_FILE);
  await add(
    source,
    (await entriesOf(source)).filter(({ name }) => isTaken(name)),
  );
  return files;
}

function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true });
}

async function copyDatabaseInto(unfinished: string, name: string, opened: DatabaseSync): Promise<void> {
  const folder = join(unfinished, CONTENT);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await copyDatabase(opened, join(folder, name), { rate: PAGES_AT_A_TIME });
  opened.close();
}

async function writeSynced(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
}
