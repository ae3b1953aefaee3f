import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Registry, StoredReport, StoredVideo } from '@outrider/registry';
import type { Warehouse } from '@outrider/warehouse';

/*
 * Common steps of the erasure of deleted objects and of a vehicle's history. Each step removes what is left, and can be
 * repeated. `reached` renews the lease, and rejects if the erasure must stop.
 */

/** Files or notifications removed at a time. */
export const AT_ONCE = 100;

/**
 * Erases rows of the archive until none are left.
 *
 * @param archivePollMs interval of the queries; default 2000
 * @returns number of erased rows
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

/**
 * Deletes stored videos.
 *
 * @param left returns some of the remaining videos
 * @returns number of deleted videos
 */
export function eraseVideos(
  { registry, videoFiles }: { registry: Pick<Registry, 'storedVideos'>; videoFiles: Pick<Files, 'delete'> },
  left: () => Promise<StoredVideo[]>,
  reached: () => Promise<void>,
): Promise<number> {
  return untilNoneIsLeft(left, reached, async (videos) => {
    for (const { id } of videos) {
      // In this order, so that the file is found again after a crash in between.
      await videoFiles.delete(`${id}.mp4`);
      await registry.storedVideos.fileDeleted(id);
    }
  });
}

/** Deletes files of reports, in the same way as {@link eraseVideos}. */
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

/** @returns number of removed items */
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
