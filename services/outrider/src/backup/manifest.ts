import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@outrider/runtime';

/** Format of a backup's folder. Incremented when earlier versions could not restore it. */
export const BACKUP_FORMAT = 1;
const MANIFEST_FILE = 'manifest.json';
/** Folder of the files listed in the manifest, as they are restored to DATA_DIR. */
export const CONTENT = 'data';

export interface BackedUpFile {
  /** Path in DATA_DIR, with `/` between folders. */
  path: string;
  bytes: number;
  sha256: string;
  /** Modification time in nanoseconds since 1970: a later backup links files that have not changed since. */
  mtimeNs: string;
}

/** Description of a backup. Times are ISO 8601. */
export interface Manifest {
  format: number;
  /** Version of the Outrider that made the backup. */
  version: string;
  dataDirFormat: number;
  startedAt: string;
  /** The moment whose state the databases and the archive have. */
  takenAt: string;
  finishedAt: string;
  service: 'running' | 'stopped';
  hasSecretsKey: boolean;
  files: BackedUpFile[];
}

export function manifestPath(backup: string): string {
  return join(backup, MANIFEST_FILE);
}

/** @throws {StartError} when the folder is not a finished backup, or one of another format */
export async function readManifest(backup: string): Promise<Manifest> {
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(await readFile(manifestPath(backup), 'utf8')) as Partial<Manifest>;
  } catch (error) {
    throw new StartError(`${backup} is no finished backup: ${(error as Error).message}`, { cause: error });
  }
  if (manifest.format !== BACKUP_FORMAT)
    throw new StartError(
      `${backup} is a backup of format ${manifest.format}, and this version of Outrider knows format ${BACKUP_FORMAT} alone`,
    );
  for (const { path } of manifest.files ?? [])
    if (!isInside(path)) throw new StartError(`${backup} lists ${JSON.stringify(path)}, which is no file of DATA_DIR`);
  return manifest as Manifest;
}

function isInside(path: unknown): boolean {
  return typeof path === 'string' && path.split('/').every((name) => !['', '.', '..'].includes(name));
}
