import type { JobId } from '@outrider/domain';
import { type Files, removeStrays } from '@outrider/files';
import type { Registry } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';

export interface ReportFileStoreConfig {
  /** How long a file is kept. */
  retentionDays: number;
  /** How much space all files together may use. */
  quotaBytes: number;
  /** Maximum size of a file. */
  maxFileBytes: number;
}

const DAY_MS = 86_400_000;
const AT_ONCE = 100;
/** Minimum age at which a file without a record is removed: a younger one may still be being stored. */
const STRAY_AFTER_MS = 3_600_000;
const PART_BYTES = 64 * 1024;
const OWN = /^report-[0-9a-f-]{36}-[0-9a-f-]{36}\.[a-z0-9]+$/;

/** The report would exceed the maximum size. */
export class ReportTooLargeError extends Error {
  override name = 'ReportTooLargeError';
  constructor(maxBytes: number) {
    super(`A report may have ${Math.floor(maxBytes / 1_000_000)} MB`);
  }
}

/** The files of reports, deleted when they are too old or the quota is used up. */
export class ReportFileStore {
  readonly #files: Files;
  readonly #noted: Registry['reportFiles'];
  readonly #config: ReportFileStoreConfig;
  readonly #logger: Logger;
  readonly #now: () => number;

  constructor(
    files: Files,
    noted: Registry['reportFiles'],
    config: ReportFileStoreConfig,
    logger: Logger,
    now: () => number,
  ) {
    this.#files = files;
    this.#noted = noted;
    this.#config = config;
    this.#logger = logger;
    this.#now = now;
  }

  /**
   * Stores the parts as a file of this attempt: another attempt at the same job has another file.
   *
   * @throws {ReportTooLargeError}
   */
  async put(jobId: JobId, lease: string, extension: string, parts: AsyncIterable<string | Uint8Array>) {
    const id = `report-${jobId}-${lease}.${extension}`;
    return { id, ...(await this.#files.put(id, bounded(parts, this.#config.maxFileBytes))) };
  }

  delete(id: string): Promise<void> {
    return this.#files.delete(id);
  }

  /** Deletes files that are too old, files that no user may read any more, and files beyond the quota. */
  async tidy(): Promise<void> {
    const keptSinceMs = this.#now() - this.#config.retentionDays * DAY_MS;
    for (;;) {
      const old = await this.#noted.outdated(keptSinceMs, AT_ONCE);
      if (old.length === 0) break;
      for (const { id } of old) await this.#remove(id);
    }
    let bytes = await this.#noted.usage();
    while (bytes > this.#config.quotaBytes) {
      const oldest = await this.#noted.oldestOfTheLargest();
      if (oldest === null) return;
      this.#logger.info({ job: oldest.jobId, bytes: oldest.bytes }, 'deleted a report: quota exceeded');
      await this.#remove(oldest.id);
      bytes -= oldest.bytes;
    }
  }

  /** Removes files without a record: a crash between two writes may have left them. */
  async sweep(): Promise<void> {
    await removeStrays(this.#files, {
      storedBeforeMs: this.#now() - STRAY_AFTER_MS,
      ownerOf: (id) => (OWN.test(id) ? id : null),
      known: (ids) => this.#noted.known(ids),
      onStray: (file) => this.#logger.warn({ file }, 'removed a report without a job'),
    });
  }

  async #remove(id: string): Promise<void> {
    // In this order: a recorded file that is missing would be damaged for its reader. The sweep finds files that exist
    // without a record.
    await this.#noted.forget(id);
    await this.#files.delete(id);
  }
}

/** Converts the parts to bytes, in chunks that are worth a write. */
async function* bounded(parts: AsyncIterable<string | Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  let total = 0;
  for await (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    total += bytes.length;
    if (total > maxBytes) throw new ReportTooLargeError(maxBytes);
    waiting.push(bytes);
    length += bytes.length;
    if (length < PART_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(waiting);
}
