import type { UserId, VideoTaskId } from '@outrider/domain';
import { ERASURE } from '../accounts/erasures.ts';
import { NotFoundError } from '../store/errors.ts';
import { inChunks, type Store } from '../store/store.ts';
import { deleteTasks, type StoredVideo, storedVideo } from './video-task-rows.ts';

/** Amount of stored videos. */
export interface VideoUsage {
  files: number;
  bytes: number;
  /** When the oldest file was stored; null without files. */
  oldestMs: number | null;
}

/** The files of finished tasks: their owners, their sizes, and which of them are to be deleted. */
export class StoredVideos {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async usage(): Promise<VideoUsage> {
    const row = await this.#store.db
      .selectFrom('videoTasks')
      .select((e) => [
        e.fn.countAll().as('files'),
        e.fn.sum('fileBytes').as('bytes'),
        e.fn.min('finishedAtMs').as('oldest'),
      ])
      .where('fileBytes', '>', 0)
      .executeTakeFirstOrThrow();
    return {
      files: Number(row.files),
      bytes: Number(row.bytes ?? 0),
      oldestMs: row.oldest === null ? null : Number(row.oldest),
    };
  }

  /** Bytes of stored videos, by dealer; null is the operator. */
  async usageByDealer(): Promise<Map<UserId | null, number>> {
    const rows = await this.#store.db
      .selectFrom('videoTasks')
      .leftJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .select((e) => ['dealerId', e.fn.sum<number>('fileBytes').as('bytes')])
      .where('fileBytes', '>', 0)
      .groupBy('dealerId')
      .execute();
    return new Map(rows.map(({ dealerId, bytes }) => [dealerId as UserId | null, Number(bytes)]));
  }

  /** Files in the store, the oldest first. */
  async oldestFiles(limit: number): Promise<StoredVideo[]> {
    const rows = await this.#store.db
      .selectFrom('videoTasks')
      .select(['id', 'fileBytes', 'finishedAtMs'])
      .where('fileBytes', '>', 0)
      .orderBy('finishedAtMs')
      .limit(limit)
      .execute();
    return rows.map(storedVideo);
  }

  /** Files of a dealer's vehicles, or of the operator's (null), the oldest first. */
  async oldestFilesOf(dealerId: UserId | null, limit: number): Promise<StoredVideo[]> {
    const rows = await this.#store.db
      .selectFrom('videoTasks')
      .leftJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .select(['videoTasks.id as id', 'fileBytes', 'finishedAtMs'])
      .where('fileBytes', '>', 0)
      .where('dealerId', dealerId === null ? 'is' : '=', dealerId)
      .orderBy('finishedAtMs')
      .limit(limit)
      .execute();
    return rows.map(storedVideo);
  }

  /** Files of deleted vehicles for which no erasure is planned. Nobody may see them. */
  async orphanedFiles(limit: number): Promise<StoredVideo[]> {
    const rows = await this.#store.db
      .selectFrom('videoTasks')
      .leftJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .select(['videoTasks.id as id', 'fileBytes', 'finishedAtMs'])
      .where('fileBytes', '>', 0)
      .where('vehicles.id', 'is', null)
      // A planned erasure removes them when it is due.
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('jobs')
              .select('jobs.id')
              .where('kind', '=', ERASURE)
              .whereRef('subjectId', '=', 'videoTasks.vehicleId'),
          ),
        ),
      )
      .limit(limit)
      .execute();
    return rows.map(storedVideo);
  }

  /** Dealer of a task's vehicle, to whom its videos belong; null: the operator. */
  async dealerOf(id: VideoTaskId): Promise<UserId | null> {
    const row = await this.#store.db
      .selectFrom('videoTasks')
      .innerJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .select('dealerId')
      .where('videoTasks.id', '=', id)
      .executeTakeFirst();
    return (row?.dealerId ?? null) as UserId | null;
  }

  /** Ids among these of tasks that have a file in the store, or may still get one. */
  async withFiles(ids: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (const some of inChunks(ids)) {
      const rows = await this.#store.db
        .selectFrom('videoTasks')
        .select('id')
        .where('id', 'in', some)
        .where((e) => e.or([e('fileBytes', '>', 0), e('finishedAtMs', 'is', null)]))
        .execute();
      for (const { id } of rows) known.add(id);
    }
    return known;
  }

  /** Records that the file of a task was removed from the store. */
  async fileDeleted(id: VideoTaskId): Promise<void> {
    await this.#store.db
      .updateTable('videoTasks')
      .set({ fileBytes: 0, fileDeletedAtMs: this.#store.now() })
      .where('id', '=', id)
      .execute();
  }

  /** Like {@link fileDeleted}, for a file that a person deleted: adds an entry to the audit trail. */
  discardFile(id: VideoTaskId, vehicleName: string, dealerId: UserId | null): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const row = await tx.selectFrom('videoTasks').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) throw new NotFoundError('video-task', id);
      if (row.fileBytes === 0) return;
      await tx.updateTable('videoTasks').set({ fileBytes: 0, fileDeletedAtMs: nowMs }).where('id', '=', id).execute();
      writer.note({
        action: 'deleted',
        subject: { kind: 'video-task', id, name: vehicleName },
        before: {
          vehicleIds: [row.vehicleId],
          channel: row.channel,
          startMs: Number(row.startMs),
          endMs: Number(row.endMs),
        },
        dealerIds: dealerId === null ? [] : [dealerId],
      });
    });
  }

  /**
   * Deletes tasks that finished before a time and have no file.
   *
   * @returns how many they were
   */
  clean(beforeMs: number, limit: number): Promise<number> {
    return this.#store.write(async ({ tx }) => {
      const rows = await tx
        .selectFrom('videoTasks')
        .select('id')
        .where('fileBytes', '=', 0)
        .where('finishedAtMs', '<', beforeMs)
        .orderBy('finishedAtMs')
        .limit(limit)
        .execute();
      await deleteTasks(tx, rows);
      return rows.length;
    });
  }
}
