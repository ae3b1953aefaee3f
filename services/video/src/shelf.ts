import { createReadStream } from 'node:fs';
import { isFinal, type VideoTaskId } from '@outrider/domain';
import { type Files, type PutFile, removeStrays } from '@outrider/files';
import type { Registry, StoredVideo } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';

export interface ShelfConfig {
  /** How long a file is kept. */
  retentionDays: number;
  /** How much room all files together may take up. */
  quotaBytes: number;
}

const DAY_MS = 86_400_000;
/** How long it is known of a task what became of it, once it has no file. */
const TASK_RETENTION_DAYS = 90;
const AT_ONCE = 100;
/** A file that no task has may be one that is just being put. */
const STRAY_AFTER_MS = 3_600_000;

/** Where finished videos stand, for as long and as many as there is room for. */
export class Shelf {
  readonly #files: Files;
  readonly #tasks: Registry['videoTasks'];
  readonly #config: ShelfConfig;
  readonly #logger: Logger;
  readonly #now: () => number;

  constructor(files: Files, tasks: Registry['videoTasks'], config: ShelfConfig, logger: Logger, now: () => number) {
    this.#files = files;
    this.#tasks = tasks;
    this.#config = config;
    this.#logger = logger;
    this.#now = now;
  }

  get quotaBytes(): number {
    return this.#config.quotaBytes;
  }

  /** Makes room where the quota needs it, the oldest files going first, and puts a local file. */
  async put(id: VideoTaskId, path: string, bytes: number): Promise<PutFile> {
    await this.#makeRoom(this.#config.quotaBytes - bytes);
    return this.#files.put(fileIdOf(id), createReadStream(path));
  }

  /** Takes away what a task left that came to nothing; what another worker made of it stays. */
  async discard(id: VideoTaskId): Promise<void> {
    const task = await this.#tasks.get(id);
    if (task === null || (isFinal(task.state) && task.state !== 'done')) await this.#files.delete(fileIdOf(id));
  }

  /** Takes away what is too old, what there is no room for, and what nobody may see any more. */
  async tidy(): Promise<void> {
    const keptSinceMs = this.#now() - this.#config.retentionDays * DAY_MS;
    for (;;) {
      const old = (await this.#tasks.oldestFiles(AT_ONCE)).filter(({ finishedAtMs }) => finishedAtMs < keptSinceMs);
      const orphans = await this.#tasks.orphanedFiles(AT_ONCE);
      if (old.length + orphans.length === 0) break;
      for (const video of [...old, ...orphans]) await this.#remove(video);
    }
    await this.#makeRoom(this.#config.quotaBytes);
    const forgottenBeforeMs = this.#now() - Math.max(TASK_RETENTION_DAYS, this.#config.retentionDays) * DAY_MS;
    while ((await this.#tasks.clean(forgottenBeforeMs, AT_ONCE)) === AT_ONCE);
  }

  /** Takes away files that no task has: what a crash between two writes may have left. */
  async sweep(): Promise<void> {
    await removeStrays(this.#files, {
      storedBeforeMs: this.#now() - STRAY_AFTER_MS,
      ownerOf: (id) => /^([0-9a-f-]{36})\.mp4$/.exec(id)?.[1] ?? null,
      known: (tasks) => this.#tasks.withFiles(tasks),
      onStray: (file) => this.#logger.warn({ file }, 'a video that belongs to no task is removed'),
    });
  }

  async #makeRoom(upToBytes: number): Promise<void> {
    let { bytes } = await this.#tasks.usage();
    while (bytes > upToBytes) {
      const oldest = await this.#tasks.oldestFiles(AT_ONCE);
      if (oldest.length === 0) return;
      for (const video of oldest) {
        if (bytes <= upToBytes) return;
        this.#logger.info({ task: video.id, bytes: video.bytes }, 'a video is deleted: there is no room for all');
        await this.#remove(video);
        bytes -= video.bytes;
      }
    }
  }

  async #remove({ id }: StoredVideo): Promise<void> {
    // In this order: what is gone and still noted is found again, what is noted as gone and still there would not be.
    await this.#files.delete(fileIdOf(id));
    await this.#tasks.fileDeleted(id);
  }
}

/** What the file of a task is called in the store. */
export function fileIdOf(id: VideoTaskId): string {
  return `${id}.mp4`;
}
