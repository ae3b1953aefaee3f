/** A file in the store. */
export interface FileInfo {
  id: string;
  bytes: number;
  /** Unix milliseconds at which it was put. */
  storedAtMs: number;
}

/** What was put. */
export interface PutFile {
  bytes: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

/** Bytes from `start` up to and without `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Files by id, each put whole or not at all, and never changed but by another put. */
export interface Files {
  /**
   * Puts a file in place of whatever has this id, once all of it is there and durable: a reader meanwhile gets the
   * old one or the new one. Memory does not grow with the file.
   *
   * @param source in parts of any size; where it throws, nothing is put
   * @throws {FileIdError}
   * @throws {FilesFullError} when the disk is full
   */
  put(id: string, source: AsyncIterable<Uint8Array>): Promise<PutFile>;
  /** Null for an unknown id. */
  info(id: string): Promise<FileInfo | null>;
  /**
   * The file's bytes, or a part of them, read as they are taken and not before.
   *
   * @param range within the file; the whole of it where it is left out
   * @returns null for an unknown id
   * @throws {RangeError} when the range is not within the file
   * @throws {DamagedFileError} while it is read, where it is not what was put: no byte that is not is returned
   */
  get(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null>;
  /** Does nothing for an unknown id. */
  delete(id: string): Promise<void>;
  /** All files, in no order that means anything. */
  list(): AsyncIterable<FileInfo>;
  /** @throws {Error} when the store does not answer */
  ping(): Promise<void>;
}

/** The store does not answer. */
export class FilesAwayError extends Error {
  override name = 'FilesAwayError';
}

/** There is no space for the file: nothing was put. */
export class FilesFullError extends FilesAwayError {
  override name = 'FilesFullError';
}

/** The file is not as it was put: the disk, or something else, has changed it. */
export class DamagedFileError extends Error {
  override name = 'DamagedFileError';
  readonly id: string;
  constructor(id: string, what: string) {
    super(`the file ${id} is damaged: ${what}`);
    this.id = id;
  }
}

/** Something that no file can be called. */
export class FileIdError extends Error {
  override name = 'FileIdError';
  constructor(id: string) {
    super(`${JSON.stringify(id.slice(0, 200))} is no id of a file`);
  }
}

/**
 * One flat name in lower case: it means the same in a folder, in a bucket and in a URL, and leads out of none of them.
 */
const ID = /^[a-z0-9][a-z0-9-]{0,127}(?:\.[a-z0-9]{1,16})?$/;
/** What Windows keeps for devices, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;

/** @throws {FileIdError} when it is no id */
export function requireFileId(id: string): string {
  if (!ID.test(id) || DEVICE.test(id)) throw new FileIdError(id);
  return id;
}

/** @throws {RangeError} when the range is not within a file of so many bytes */
export function requireRange({ start, end }: ByteRange, bytes: number): void {
  const isWithin = Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end && end <= bytes;
  if (!isWithin) throw new RangeError(`bytes ${start} to ${end} are not within a file of ${bytes}`);
}
