import { createReadStream } from 'node:fs';
import { isFinal, type UserId, type VideoTaskId } from '@outrider/domain';
import { type Files, FilesFullError, type PutFile, removeStrays } from '@outrider/files';
import type { Registry, StoredVideo } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';

export interface VideoRetentionConfig {
  /** Days for which a file is retained. */
  retentionDays: number;
  /** Maximum of bytes of all files together. */
  quotaBytes: number;
}

type VideoRetentionRegistry = Pick<Registry, 'videoTasks' | 'storedVideos'> & {
  quotas: Pick<Registry['quotas'], 'use'>;
};

const DAY_MS = 86_400_000;
/** Days for which a task without a file is retained. */
const TASK_RETENTION_DAYS = 90;
const AT_ONCE = 100;
/** Minimum age of a stray file: a younger one may belong to a task that is just being stored. */
const STRAY_AFTER_MS = 3_600_000;

/** Storage of finished videos, limited by age and by quotas. */
export class VideoRetention {
  readonly #files: Files;
  readonly #tasks: Registry['videoTasks'];
  readonly #stored: Registry['storedVideos'];
  readonly #quotas: Pick<Registry['quotas'], 'use'>;
  readonly #config: VideoRetentionConfig;
  readonly #logger: Logger;
  readonly #now: () => number;

  constructor(
    files: Files,
    registry: VideoRetentionRegistry,
    config: VideoRetentionConfig,
    logger: Logger,
    now: () => number,
  ) {
    this.#files = files;
    this.#tasks = registry.videoTasks;
    this.#stored = registry.storedVideos;
    this.#quotas = registry.quotas;
    this.#config = config;
    this.#logger = logger;
    this.#now = now;
  }

  get quotaBytes(): number {
    return this.#config.quotaBytes;
  }

  /**
   * Stores a local file. Deletes other videos if a quota requires it.
   *
   * @throws {FilesFullError} when the file does not fit into the storage of its dealer
   */
  async put(id: VideoTaskId, path: string, bytes: number): Promise<PutFile> {
    await this.#makeSpace(await this.#stored.dealerOf(id), bytes);
    return this.#files.put(fileIdOf(id), createReadStream(path));
  }

  /** Deletes the file of a task that failed or was cancelled. A file that another worker completed stays. */
  async discard(id: VideoTaskId): Promise<void> {
    const task = await this.#tasks.get(id);
    if (task === null || (isFinal(task.state) && task.state !== 'done')) await this.#files.delete(fileIdOf(id));
  }

  /** Deletes videos that are too old, exceed a quota, or are no longer visible to anybody. */
  async tidy(): Promise<void> {
    const keptSinceMs = this.#now() - this.#config.retentionDays * DAY_MS;
    for (;;) {
      const old = (await this.#stored.oldestFiles(AT_ONCE)).filter(({ finishedAtMs }) => finishedAtMs < keptSinceMs);
      const orphans = await this.#stored.orphanedFiles(AT_ONCE);
      if (old.length + orphans.length === 0) break;
      for (const video of [...old, ...orphans]) await this.#remove(video);
    }
    for (const dealerId of (await this.#stored.usageByDealer()).keys()) await this.#enforceDealerQuota(dealerId, 0);
    await this.#enforceQuota(null, 0);
    const forgottenBeforeMs = this.#now() - Math.max(TASK_RETENTION_DAYS, this.#config.retentionDays) * DAY_MS;
    while ((await this.#stored.clean(forgottenBeforeMs, AT_ONCE)) === AT_ONCE);
  }

  /** Deletes files without a task, which a crash between two writes may have left. */
  async sweep(): Promise<void> {
    await removeStrays(this.#files, {
      storedBeforeMs: this.#now() - STRAY_AFTER_MS,
      ownerOf: (id) => /^([0-9a-f-]{36})\.mp4$/.exec(id)?.[1] ?? null,
      known: (tasks) => this.#stored.withFiles(tasks),
      onStray: (file) => this.#logger.warn({ file }, 'removed a video without a task'),
    });
  }

  async #makeSpace(dealerId: UserId | null, bytes: number): Promise<void> {
    await this.#enforceDealerQuota(dealerId, bytes);
    await this.#enforceQuota(dealerId, bytes);
  }

  /** Deletes the oldest videos of a dealer over its quota. Videos of others stay. */
  async #enforceDealerQuota(dealerId: UserId | null, bytes: number): Promise<void> {
    if (dealerId === null) return;
    const { used, limit } = await this.#quotas.use(dealerId, 'dealer', 'storageBytes');
    let surplus = used + bytes - limit;
    if (surplus <= 0) return;
    // Reports count as well. A file is refused if deleting all of the dealer's videos would not free enough.
    const videoBytes = (await this.#stored.usageByDealer()).get(dealerId) ?? 0;
    if (bytes > 0 && surplus > videoBytes) throw new FilesFullError('the storage of the dealer is full');
    while (surplus > 0) {
      const oldest = await this.#stored.oldestFilesOf(dealerId, AT_ONCE);
      if (oldest.length === 0) break;
      surplus -= await this.#evict(dealerId, oldest, surplus);
    }
  }

  /**
   * While the overall quota is exceeded, deletes the oldest video of the owner with the most bytes.
   *
   * @param bytes to be added by `dealerId`
   */
  async #enforceQuota(dealerId: UserId | null, bytes: number): Promise<void> {
    for (;;) {
      const usage = await this.#stored.usageByDealer();
      const total = [...usage.values()].reduce((sum, each) => sum + each, bytes);
      const surplus = total - this.#config.quotaBytes;
      if (surplus <= 0) return;
      usage.set(dealerId, (usage.get(dealerId) ?? 0) + bytes);
      const byUse = [...usage].toSorted(([, a], [, b]) => b - a);
      let isEvicted = false;
      for (const [owner] of byUse) {
        const oldest = await this.#stored.oldestFilesOf(owner, 1);
        if (oldest.length === 0) continue;
        await this.#evict(owner, oldest, surplus);
        isEvicted = true;
        break;
      }
      if (!isEvicted) return;
    }
  }

  /** @returns bytes freed */
  async #evict(dealer: UserId | null, videos: readonly StoredVideo[], surplus: number): Promise<number> {
    let bytes = 0;
    for (const video of videos) {
      if (bytes >= surplus) break;
      this.#logger.info({ task: video.id, dealer, bytes: video.bytes }, 'deleted a video: quota exceeded');
      await this.#remove(video);
      bytes += video.bytes;
    }
    return bytes;
  }

  async #remove({ id }: StoredVideo): Promise<void> {
    // In this order: a crash in between leaves a record without a file, which is found again, rather than a lost file.
    await this.#files.delete(fileIdOf(id));
    await this.#stored.fileDeleted(id);
  }
}

/** Name of a task's file in the store. */
export function fileIdOf(id: VideoTaskId): string {
  return `${id}.mp4`;
}
