import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Registry, StoredReport, StoredVideo } from '@outrider/registry';
import type { Warehouse } from '@outrider/warehouse';

/*
 * What the erasures of deleted things and of a vehicle's past have in common. Each step removes what is left, and can
 * be repeated. `reached` renews the lease, and rejects where the erasure must not go on.
 */

/** So many files or notifications are removed at a time. */
export const AT_ONCE = 100;

/**
 * Has the archive erase rows until none are left.
 *
 * @param archivePollMs how often it is asked; default 2000
 * @returns how many there were
 */
export async function eraseRows(
  erase: () => ReturnType<Warehouse['erase']>,
  archivePollMs = 2000,
  reached: () => Promise<void>,
  stop: AbortSignal,
): Promise<number> {
  let most = 0;
  for (;;) {
    const { done, rows } = await erase();
    most = Math.max(most, rows);
    if (done) return most;
    await reached();
    await SYSTEM_CLOCK.sleep(archivePollMs, stop);
  }
}

/** Deletes stored videos. @param left some of those that are left @returns how many there were */
export function eraseVideos(
  { registry, videoFiles }: { registry: Pick<Registry, 'storedVideos'>; videoFiles: Pick<Files, 'delete'> },
  left: () => Promise<StoredVideo[]>,
  reached: () => Promise<void>,
): Promise<number> {
  return untilNoneIsLeft(left, reached, async (videos) => {
    for (const { id } of videos) {
      // In this order: after a crash between them the file is found again.
      await videoFiles.delete(`${id}.mp4`);
      await registry.storedVideos.fileDeleted(id);
    }
  });
}

/** Deletes files of reports, as {@link eraseVideos} does videos. */
export function eraseReports(
  { registry, reportFiles }: { registry: Pick<Registry, 'reportFiles'>; reportFiles: Pick<Files, 'delete'> },
  left: () => Promise<StoredReport[]>,
  reached: () => Promise<void>,
): Promise<number> {
  return untilNoneIsLeft(left, reached, async (reports) => {
    for (const { id } of reports) {
      await reportFiles.delete(id);
      await registry.reportFiles.forget(id);
    }
  });
}

/** @returns how many there were */
export async function untilNoneIsLeft<T>(
  left: () => Promise<readonly T[]>,
  reached: () => Promise<void>,
  remove: (some: readonly T[]) => Promise<void>,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const some = await left();
    if (some.length === 0) return removed;
    await remove(some);
    removed += some.length;
    await reached();
  }
}
