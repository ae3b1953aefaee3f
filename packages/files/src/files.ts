/** A file in the store. */
export interface FileInfo {
  id: string;
  bytes: number;
  /** Unix milliseconds at which the file was stored. */
  storedAtMs: number;
}

/** Facts of a file that was stored. */
export interface PutFile {
  bytes: number;
  /** Hash of the bytes, in hexadecimal. */
  sha256: string;
}

/** Bytes from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  start: number;
  end: number;
}

/** Store of files by id. Each file is stored completely or not at all, and changed only by another put. */
export interface Files {
  /**
   * Stores a file under an id, and replaces an existing one once the new file is complete and durable: concurrent
   * readers get the old or the new one. Memory does not grow with the file.
   *
   * @param source chunks of any size; if it throws, nothing is stored
   * @throws {FileIdError}
   * @throws {FilesFullError} when the disk is full
   */
  put(id: string, source: AsyncIterable<Uint8Array>): Promise<PutFile>;
  /** Null for an unknown id. */
  info(id: string): Promise<FileInfo | null>;
  /**
   * Reads the file's bytes, or a range of them, lazily.
   *
   * @param range within the file; default: the whole file
   * @returns null for an unknown id
   * @throws {RangeError} when the range is not within the file
   * @throws {DamagedFileError} during the reading, when the file differs from what was stored: no wrong byte is
   *   returned
   */
  get(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** Does nothing for an unknown id. */
  delete(id: string): Promise<void>;
  /** All files, in arbitrary order. */
  list(): AsyncIterable<FileInfo>;
  /** @throws {Error} when the store does not respond */
  ping(): Promise<void>;
}

/** The store does not respond. */
export class FilesAwayError extends Error {
  override name = 'FilesAwayError';
}

/** There is no space for the file: nothing was stored. */
export class FilesFullError extends FilesAwayError {
  override name = 'FilesFullError';
}

/** The file differs from what was stored: the disk, or something else, has changed it. */
export class DamagedFileError extends Error {
  override name = 'DamagedFileError';
  readonly id: string;
  constructor(id: string, what: string) {
    super(`the file ${id} is damaged: ${what}`);
    this.id = id;
  }
}

/** A text that is not valid as a file id. */
export class FileIdError extends Error {
  override name = 'FileIdError';
  constructor(id: string) {
    super(`${JSON.stringify(id.slice(0, 200))} is no id of a file`);
  }
}

/**
 * One flat name in lower case: it is valid and unambiguous in a folder, in a bucket and in a URL, and can't escape from
 * any of them.
 */
const ID = /^[a-z0-9][a-z0-9-]{0,127}(?:\.[a-z0-9]{1,16})?$/;
/** Names that Windows reserves for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;

/** @throws {FileIdError} when it is not a valid id */
export function requireFileId(id: string): string {
  if (!ID.test(id) || DEVICE.test(id)) throw new FileIdError(id);
  return id;
}

/** @throws {RangeError} when the range is not within a file of the given size */
export function requireRange({ start, end }: ByteRange, bytes: number): void {
  const isWithin = Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end && end <= bytes;
  if (!isWithin) throw new RangeError(`bytes ${start} to ${end} are not within a file of ${bytes}`);
}
