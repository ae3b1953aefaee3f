import {
  isFinal,
  mayChangeTask,
  type UserId,
  type VideoFailure,
  type VideoProfileId,
  type VideoQuality,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskState,
  type VideoTaskTransition,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import { isOfVehicles, type OfVehicles } from '../fleet/of-vehicles.ts';
import { NotFoundError, StaleError, UnknownReferenceError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { Tables, VideoTaskRow } from '../store/schema.ts';
import type { Store, Writer } from '../store/store.ts';
import { deleteTasks, fromTaskRow, noteTransition, type StepColumns, takeStep } from './video-task-rows.ts';

/** A requested task. */
export interface NewVideoTask {
  profileId: VideoProfileId;
  createdBy: UserId | null;
  channel: number;
  startMs: number;
  endMs: number;
  quality: VideoQuality;
  audio: boolean;
  expiresAtMs: number;
}

/** Fields of a task that can be changed until its terminal is requested to play. */
export type WantedVideo = Pick<NewVideoTask, 'channel' | 'startMs' | 'endMs' | 'quality' | 'audio'>;

/** Vehicle of a task, for the audit trail. */
export interface VehicleOfTask {
  vehicleName: string;
  dealerId: UserId | null;
}

export interface VideoTaskFilter extends OfVehicles {
  profileId?: VideoProfileId;
  states?: readonly VideoTaskState[];
}

/** Tasks that fetch video, for the people who request them; workers use `VideoTaskQueue`. */
export class VideoTasks {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {UnknownReferenceError} when there is no such profile */
  create(wish: NewVideoTask): Promise<VideoTask> {
    return this.#store.write(async ({ tx, nowMs, newId }) => {
      const profile = await tx
        .selectFrom('videoProfiles')
        .select('vehicleId')
        .where('id', '=', wish.profileId)
        .executeTakeFirst();
      if (!profile) throw new UnknownReferenceError('profileId', wish.profileId);
      const row: VideoTaskRow = {
        id: newId(),
        profileId: wish.profileId,
        vehicleId: profile.vehicleId,
        createdBy: wish.createdBy,
        channel: wish.channel,
        startMs: wish.startMs,
        endMs: wish.endMs,
        quality: wish.quality,
        audio: wish.audio ? 1 : 0,
        state: 'new',
        reason: null,
        detail: null,
        attempts: 0,
        progressPercent: 0,
        progressBytes: 0,
        createdAtMs: nowMs,
        changedAtMs: nowMs,
        expiresAtMs: wish.expiresAtMs,
        nextAttemptAtMs: nowMs,
        finishedAtMs: null,
        lease: null,
        leaseUntilMs: 0,
        fetched: null,
        file: null,
        fileBytes: 0,
        fileDeletedAtMs: null,
      };
      await tx.insertInto('videoTasks').values(row).execute();
      await noteTransition(tx, row, nowMs);
      return fromTaskRow(row);
    });
  }

  async get(id: VideoTaskId): Promise<VideoTask | null> {
    const row = await this.#store.db.selectFrom('videoTasks').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? fromTaskRow(row) : null;
  }

  /** History of a task, the oldest entry first. */
  async history(id: VideoTaskId): Promise<VideoTaskTransition[]> {
    const rows = await this.#store.db
      .selectFrom('videoTransitions')
      .selectAll()
      .where('taskId', '=', id)
      .orderBy('nth')
      .execute();
    return rows.map((row) => ({
      state: row.state as VideoTaskState,
      atMs: row.atMs,
      reason: row.reason as VideoFailure | null,
      detail: row.detail,
    }));
  }

  /** The newest first. */
  async list(filter: VideoTaskFilter, paging: Paging): Promise<Page<VideoTask>> {
    if (filter.anyOfGroups?.length === 0) return { items: [], next: null };
    let query = this.#store.db
      .selectFrom('videoTasks')
      .innerJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .selectAll('videoTasks')
      .where(isOfVehicles(filter));
    if (filter.profileId !== undefined) query = query.where('videoTasks.profileId', '=', filter.profileId);
    if (filter.states !== undefined) query = query.where('videoTasks.state', 'in', filter.states);
    return readPage(query, paging, (rows) => rows.map(fromTaskRow), 'newest first', 'videoTasks.id');
  }

  /** Number of unfinished tasks of a profile. */
  async unfinished(profileId: VideoProfileId): Promise<number> {
    const { count } = await this.#store.db
      .selectFrom('videoTasks')
      .select((e) => e.fn.countAll().as('count'))
      .where('profileId', '=', profileId)
      .where('finishedAtMs', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * Cancels a task; a finished one is not changed.
   *
   * @returns the task as it now is, and whether this call ended it
   * @throws {NotFoundError}
   */
  cancel(id: VideoTaskId): Promise<{ task: VideoTask; cancelled: boolean }> {
    return this.#store.write(async ({ tx, nowMs }) => {
      const row = await tx.selectFrom('videoTasks').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) throw new NotFoundError('video-task', id);
      if (isFinal(row.state as VideoTaskState)) return { task: fromTaskRow(row), cancelled: false };
      return { task: fromTaskRow(await takeStep(tx, row, 'cancelled', {}, nowMs)), cancelled: true };
    });
  }

  /**
   * Changes a task, unless its terminal was already requested to play. The task is due at once; a worker that has
   * leased it can take no further step.
   *
   * @param ifMatch the `changedAtMs` that the caller last saw; null: any
   * @returns the task as it now is, and whether this call changed it: not where it was requested already
   * @throws {NotFoundError}
   * @throws {StaleError}
   */
  change(
    id: VideoTaskId,
    ifMatch: number | null,
    { channel, startMs, endMs, quality, audio }: WantedVideo,
    vehicle: VehicleOfTask,
  ): Promise<{ task: VideoTask; changed: boolean }> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      const row = await this.#forWriting(tx, id, ifMatch);
      if (!mayChangeTask(row.state as VideoTaskState)) return { task: fromTaskRow(row), changed: false };
      const columns: StepColumns & { changedAtMs: number } = {
        ...{ channel, startMs, endMs, quality, audio: audio ? 1 : 0 },
        reason: null,
        detail: null,
        attempts: 0,
        // Two changes within one millisecond must still be two versions.
        changedAtMs: Math.max(nowMs, Number(row.changedAtMs) + 1),
        nextAttemptAtMs: nowMs,
        lease: null,
        leaseUntilMs: 0,
        // An earlier attempt fetched a video that is no longer wanted.
        fetched: null,
      };
      await tx.updateTable('videoTasks').set(columns).where('id', '=', id).execute();
      const task = fromTaskRow({ ...row, ...columns });
      noteTask(writer, 'changed', vehicle, fromTaskRow(row), task);
      return { task, changed: true };
    });
  }

  /**
   * Deletes a task in any state, with its history. The caller must delete its file. A worker that has leased the task
   * can take no further step.
   *
   * @param ifMatch as in {@link change}
   * @throws {NotFoundError}
   * @throws {StaleError}
   */
  delete(id: VideoTaskId, ifMatch: number | null, vehicle: VehicleOfTask): Promise<void> {
    return this.#store.write(async (writer) => {
      const { tx } = writer;
      const row = await this.#forWriting(tx, id, ifMatch);
      await deleteTasks(tx, [{ id }]);
      noteTask(writer, 'deleted', vehicle, fromTaskRow(row), null);
    });
  }

  async #forWriting(tx: Transaction<Tables>, id: VideoTaskId, ifMatch: number | null): Promise<VideoTaskRow> {
    const row = await tx.selectFrom('videoTasks').selectAll().where('id', '=', id).executeTakeFirst();
    if (!row) throw new NotFoundError('video-task', id);
    const version = Number(row.changedAtMs);
    if (ifMatch !== null && ifMatch !== version) throw new StaleError({ kind: 'video-task', version }, ifMatch);
    return row;
  }
}

/** Records in the audit trail what somebody did to a task. */
function noteTask(
  writer: Writer,
  action: 'changed' | 'deleted',
  { vehicleName, dealerId }: VehicleOfTask,
  before: VideoTask,
  after: VideoTask | null,
): void {
  const fields = ({ vehicleId, channel, startMs, endMs, quality, audio }: VideoTask) => ({
    vehicleIds: [vehicleId],
    ...{ channel, startMs: Number(startMs), endMs: Number(endMs), quality, audio },
  });
  writer.note({
    action,
    subject: { kind: 'video-task', id: before.id, name: vehicleName },
    before: fields(before),
    after: after && fields(after),
    dealerIds: dealerId === null ? [] : [dealerId],
  });
}
