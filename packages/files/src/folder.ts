import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ByteRange,
  type FileInfo,
  type Files,
  FilesFullError,
  type PutFile,
  requireFileId,
  requireRange,
} from './files.ts';

/** Where files are until they are whole: no id has such a name. */
const INCOMING = '.incoming';
const READ_BYTES = 64 * 1024;

/**
 * Files in a folder that is this process's own. A file is written aside, synced, and then gets its name.
 *
 * @param path created if it is missing; unfinished files of an earlier process are removed
 * @throws {Error} when it can't be used
 */
export async function openFolder(path: string): Promise<Files> {
  const incoming = join(path, INCOMING);
  await mkdir(incoming, { recursive: true });
  for (const name of await readdir(incoming)) await rm(join(incoming, name), { recursive: true });
  return new FolderFiles(path, incoming);
}

class FolderFiles implements Files {
  readonly #path: string;
  readonly #incoming: string;

  constructor(path: string, incoming: string) {
    this.#path = path;
    this.#incoming = incoming;
  }

  async put(id: string, source: AsyncIterable<Uint8Array>): Promise<PutFile> {
    const place = this.#place(id);
    const aside = join(this.#incoming, randomUUID());
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const file = await open(aside, 'wx');
      try {
        for await (const part of source) {
          hash.update(part);
          bytes += part.length;
          await file.writeFile(part);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(aside, place);
    } catch (error) {
      await rm(aside, { force: true });
      throw orFull(error);
    }
    await syncFolder(this.#path);
    return { bytes, sha256: hash.digest('hex') };
  }

  async info(id: string): Promise<FileInfo | null> {
    const known = await stat(this.#place(id)).catch(absent);
    return known?.isFile() ? { id, bytes: known.size, storedAtMs: Math.round(known.mtimeMs) } : null;
  }

  async get(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const known = await this.info(id);
    if (!known) return null;
    const wanted = range ?? { start: 0, end: known.bytes };
    requireRange(wanted, known.bytes);
    return read(this.#place(id), wanted);
  }

  async delete(id: string): Promise<void> {
    await rm(this.#place(id), { force: true });
  }

  async *list(): AsyncIterable<FileInfo> {
    for (const name of await readdir(this.#path)) {
      if (name === INCOMING) continue;
      const known = await stat(join(this.#path, name)).catch(absent);
      if (known?.isFile()) yield { id: name, bytes: known.size, storedAtMs: Math.round(known.mtimeMs) };
    }
  }

  async ping(): Promise<void> {
    await stat(this.#incoming);
  }

  #place(id: string): string {
    return join(this.#path, requireFileId(id));
  }
}

/** Opened with the first part that is taken, so that what nobody reads holds nothing open. */
async function* read(path: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
  if (start === end) return;
  const file = await open(path, 'r');
  try {
    for (let at = start; at < end; ) {
      const part = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
      const { bytesRead } = await file.read(part, 0, part.length, at);
      if (bytesRead === 0) throw new Error(`${path} ended at byte ${at}`);
      at += bytesRead;
      yield part.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** A name in a folder is durable once the folder is. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

function orFull(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' ? new FilesFullError(message, { cause: error }) : error;
}
