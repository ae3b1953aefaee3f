import { createHash } from 'node:crypto';
import { link, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@outrider/files';
import { type BackedUpFile, CONTENT } from './manifest.ts';

const READ_BYTES = 1024 * 1024;
/** Files copied concurrently: the size of Node's thread pool. */
const AT_A_TIME = 4;

/** Size and checksum of a file as read. */
export interface Digest {
  bytes: number;
  sha256: string;
}

/** Reads a file and computes its digest. */
export async function digestOf(path: string): Promise<Digest> {
  const file = await open(path, 'r');
  try {
    return await pour(file, null);
  } finally {
    await file.close();
  }
}

/**
 * Copies a file and syncs it to the disk. The copy is readable by its owner only; its folder is created if missing.
 *
 * @returns the digest of the data read
 */
export async function copyFile(source: string, target: string): Promise<Digest> {
  const from = await open(source, 'r');
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const to = await open(target, 'w', 0o600);
    try {
      const copied = await pour(from, to);
      await to.sync();
      return copied;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

type Handle = Awaited<ReturnType<typeof open>>;

async function pour(from: Handle, to: Handle | null): Promise<Digest> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const part = buffer.subarray(0, bytesRead);
    hash.update(part);
    await to?.writeFile(part);
    bytes += bytesRead;
  }
}

/** An earlier backup. Files that have not changed since are hard-linked to it. */
export interface Base {
  folder: string;
  files: ReadonlyMap<string, BackedUpFile>;
}

/** Copies files into a backup. A file is copied again only if it changed between two calls. */
export class Copier {
  readonly #target: string;
  readonly #base: Base | null;
  readonly #files = new Map<string, BackedUpFile>();
  linkedBytes = 0;

  /** @param backup the folder of the backup */
  constructor(backup: string, base: Base | null) {
    this.#target = join(backup, CONTENT);
    this.#base = base;
  }

  /** Sorted by path. */
  get files(): BackedUpFile[] {
    return [...this.#files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** @throws {Error} when a file can't be read or does not exist */
  async copyAll(files: Iterable<{ path: string; source: string }>): Promise<void> {
    await eachOf(files, ({ path, source }) => this.#copy(path, source));
  }

  /** Copies files. Files that were deleted meanwhile are skipped. */
  async copyWhatIsThere(files: Iterable<{ path: string; source: string }>): Promise<void> {
    await eachOf(files, ({ path, source }) => this.#copy(path, source).catch(unlessGone));
  }

  /** Adds a file that was written into the backup directly, and syncs it. */
  async note(path: string): Promise<void> {
    const place = join(this.#target, path);
    const written = await digestOf(place);
    const file = await open(place, 'r+');
    try {
      await file.sync();
      const { mtimeNs } = await file.stat({ bigint: true });
      this.#files.set(path, { path, ...written, mtimeNs: String(mtimeNs) });
    } finally {
      await file.close();
    }
  }

  async #copy(path: string, source: string): Promise<void> {
    const state = await stat(source, { bigint: true });
    const known = { path, bytes: Number(state.size), mtimeNs: String(state.mtimeNs) };
    if (isSame(this.#files.get(path), known)) return;
    const target = join(this.#target, path);
    // A changed file may be linked to the earlier backup, which must not be overwritten.
    await rm(target, { force: true });
    const earlier = this.#base?.files.get(path);
    if (this.#base !== null && earlier !== undefined && isSame(earlier, known)) {
      if (await linked(join(this.#base.folder, CONTENT, path), target)) {
        this.#files.set(path, earlier);
        this.linkedBytes += earlier.bytes;
        return;
      }
    }
    this.#files.set(path, { ...known, ...(await copyFile(source, target)) });
  }
}

function isSame(earlier: BackedUpFile | undefined, now: Pick<BackedUpFile, 'bytes' | 'mtimeNs'>): boolean {
  return earlier !== undefined && earlier.bytes === now.bytes && earlier.mtimeNs === now.mtimeNs;
}

/** @returns false if the file system does not support the link, or the earlier file is gone */
async function linked(earlier: string, target: string): Promise<boolean> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await link(earlier, target);
    return true;
  } catch (error) {
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOENT', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return false;
    throw error;
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Runs an action for each item, several at a time. */
export async function eachOf<T>(items: Iterable<T>, action: (item: T) => Promise<void>): Promise<void> {
  const shared = items[Symbol.iterator]();
  const work = async () => {
    for (let next = shared.next(); !next.done; next = shared.next()) await action(next.value);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

/** Syncs the folders of the files, which makes their names durable. */
export async function syncFolders(root: string, files: readonly BackedUpFile[]): Promise<void> {
  const folders = new Set([root]);
  for (const { path } of files) {
    const names = path.split('/').slice(0, -1);
    for (const [nth] of names.entries()) folders.add(join(root, ...names.slice(0, nth + 1)));
  }
  await eachOf(folders, syncFolder);
}
