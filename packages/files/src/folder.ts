import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  type ByteRange,
  DamagedFileError,
  type FileInfo,
  type Files,
  FilesFullError,
  type PutFile,
  requireFileId,
  requireRange,
} from './files.ts';
import { syncFolder } from './whole-file.ts';

/** Folder of incomplete files: no id has such a name. */
const INCOMING = '.incoming';
/** Folder with a file of check sums for each file, under the same name. */
const SUMS = '.sums';
/** Size of the blocks that are read and have a check sum each. */
const BLOCK_BYTES = 64 * 1024;

/**
 * Files in a folder that belongs to this process alone. A file is written to a temporary file, synced, and renamed.
 * Then its check sums are stored, and verified at each read. A file without check sums is read without verification: an
 * earlier version wrote it, or the process was killed before it stored them.
 *
 * @param path created if it is missing; unfinished files of an earlier process are removed
 * @throws {Error} when it can't be used
 */
export async function openFolder(path: string): Promise<Files> {
  const incoming = join(path, INCOMING);
  await mkdir(incoming, { recursive: true });
  await mkdir(join(path, SUMS), { recursive: true });
  for (const name of await readdir(incoming)) await rm(join(incoming, name), { recursive: true });
  return new FolderFiles(path, incoming);
}

class FolderFiles implements Files {
  readonly #path: string;
  readonly #incoming: string;
  #published: Promise<void> = Promise.resolve();

  constructor(path: string, incoming: string) {
    this.#path = path;
    this.#incoming = incoming;
  }

  async put(id: string, source: AsyncIterable<Uint8Array>): Promise<PutFile> {
    const place = this.#place(id);
    const aside = join(this.#incoming, randomUUID());
    const hash = createHash('sha256');
    const sums = new BlockSums();
    try {
      const file = await open(aside, 'wx');
      try {
        for await (const part of source) {
          hash.update(part);
          sums.add(part);
          await file.writeFile(part);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await writeFile(`${aside}.sums`, sums.encode(), { flush: true });
      await this.#publishing(async () => {
        await this.#removeSums(id);
        await rename(aside, place);
        await syncFolder(this.#path);
        await rename(`${aside}.sums`, this.#sumsOf(id));
      });
    } catch (error) {
      await rm(aside, { force: true });
      await rm(`${aside}.sums`, { force: true });
      throw orFull(error);
    }
    return { bytes: sums.bytes, sha256: hash.digest('hex') };
  }

  async info(id: string): Promise<FileInfo | null> {
    const known = await stat(this.#place(id)).catch(absent);
    return known?.isFile() ? { id, bytes: known.size, storedAtMs: Math.round(known.mtimeMs) } : null;
  }

  async get(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const known = await this.info(id);
    if (!known) return null;
    const wanted = range ?? { start: 0, end: known.bytes };
    if (known.bytes === 0 || wanted.end > known.bytes) await this.#requireLength(known);
    requireRange(wanted, known.bytes);
    return read(id, this.#place(id), wanted, () => readSums(id, this.#sumsOf(id)));
  }

  async delete(id: string): Promise<void> {
    await rm(this.#place(id), { force: true });
    await rm(this.#sumsOf(id), { force: true });
  }

  async *list(): AsyncIterable<FileInfo> {
    for (const name of await readdir(this.#path)) {
      if (name === INCOMING || name === SUMS) continue;
      const known = await stat(join(this.#path, name)).catch(absent);
      if (known?.isFile()) yield { id: name, bytes: known.size, storedAtMs: Math.round(known.mtimeMs) };
    }
  }

  async ping(): Promise<void> {
    await stat(this.#incoming);
  }

  /** @throws {DamagedFileError} when the file has become shorter */
  async #requireLength({ id, bytes }: FileInfo): Promise<void> {
    const sums = await readSums(id, this.#sumsOf(id));
    if (sums !== null && sums.bytes > bytes)
      throw new DamagedFileError(id, `it has ${bytes} bytes, and had ${sums.bytes}`);
  }

  /** Removes the check sums of a replaced file, which must not be used for the new one. */
  async #removeSums(id: string): Promise<void> {
    if ((await stat(this.#sumsOf(id)).catch(absent)) === null) return;
    await rm(this.#sumsOf(id), { force: true });
    await syncFolder(join(this.#path, SUMS));
  }

  /** Serialises publishing, so that two files of the same name do not get each other's check sums. */
  #publishing(publish: () => Promise<void>): Promise<void> {
    const published = this.#published.then(publish);
    this.#published = published.catch(() => {});
    return published;
  }

  #place(id: string): string {
    return join(this.#path, requireFileId(id));
  }

  #sumsOf(id: string): string {
    return join(this.#path, SUMS, requireFileId(id));
  }
}

/** Check sums of a file during writing: CRC-32 of each block, and the number of bytes. */
class BlockSums {
  bytes = 0;
  #sums: number[] = [];
  #current = 0;

  add(part: Uint8Array): void {
    for (let at = 0; at < part.length; ) {
      const block = part.subarray(at, at + BLOCK_BYTES - (this.bytes % BLOCK_BYTES));
      this.#current = crc32(block, this.#current);
      this.bytes += block.length;
      at += block.length;
      if (this.bytes % BLOCK_BYTES === 0) this.#endBlock();
    }
  }

  /** The length as a 64-bit number, the check sums, and a check sum of all of this; little-endian. */
  encode(): Buffer {
    if (this.bytes % BLOCK_BYTES !== 0) this.#endBlock();
    const encoded = Buffer.alloc(8 + 4 * this.#sums.length + 4);
    encoded.writeBigUInt64LE(BigInt(this.bytes));
    for (const [nth, sum] of this.#sums.entries()) encoded.writeUInt32LE(sum, 8 + 4 * nth);
    encoded.writeUInt32LE(crc32(encoded.subarray(0, -4)), encoded.length - 4);
    return encoded;
  }

  #endBlock(): void {
    this.#sums.push(this.#current);
    this.#current = 0;
  }
}

interface KnownSums {
  bytes: number;
  /** Check sum of a block. */
  sumAt(block: number): number;
}

/**
 * The check sums of a file; null where it has none.
 *
 * @throws {DamagedFileError} when they are damaged themselves
 */
async function readSums(id: string, path: string): Promise<KnownSums | null> {
  const encoded = await readFile(path).catch(absent);
  if (encoded === null) return null;
  const isWhole = encoded.length >= 12 && encoded.readUInt32LE(encoded.length - 4) === crc32(encoded.subarray(0, -4));
  if (!isWhole) throw new DamagedFileError(id, 'its check sums are');
  return {
    bytes: Number(encoded.readBigUInt64LE()),
    // For a block beyond the end, -1, which no block's check sum equals.
    sumAt: (block) => (8 + 4 * block < encoded.length - 4 ? encoded.readUInt32LE(8 + 4 * block) : -1),
  };
}

/**
 * Reads whole blocks, and verifies each before any byte of it is returned. The file is opened when the first chunk is
 * taken, so that an unused result holds nothing open.
 */
async function* read(
  id: string,
  path: string,
  { start, end }: ByteRange,
  sumsOf: () => Promise<KnownSums | null>,
): AsyncGenerator<Uint8Array> {
  if (start === end) return;
  const file = await open(path, 'r');
  /**
   * If the file was replaced meanwhile, the old one is read to its end, although the check sums may be those of the new
   * one.
   */
  const isReplaced = async () => (await stat(path).catch(absent))?.ino !== (await file.stat()).ino;
  try {
    const sums = await sumsOf();
    const { size } = await file.stat();
    if (sums !== null && sums.bytes !== size && !(await isReplaced()))
      throw new DamagedFileError(id, `it has ${size} bytes, and had ${sums.bytes}`);
    for (let at = start - (start % BLOCK_BYTES); at < end; at += BLOCK_BYTES) {
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(block, length, BLOCK_BYTES - length, at + length);
        length += bytesRead;
        if (bytesRead === 0 || length === BLOCK_BYTES) break;
      }
      const whole = block.subarray(0, length);
      if (sums !== null && crc32(whole) !== sums.sumAt(at / BLOCK_BYTES) && !(await isReplaced()))
        throw new DamagedFileError(id, `bytes ${at} to ${at + length} are not those that were put`);
      if (at + length < Math.min(end, at + BLOCK_BYTES)) throw new Error(`${path} ended at byte ${at + length}`);
      yield whole.subarray(Math.max(0, start - at), Math.min(length, end - at));
    }
  } finally {
    await file.close();
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
