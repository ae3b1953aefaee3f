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

/** What a task is asked for with. */
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

/** What of a task can be changed until its terminal is asked to play. */
export type WantedVideo = Pick<NewVideoTask, 'channel' | 'startMs' | 'endMs' | 'quality' | 'audio'>;

/** Whose vehicle a task is of, for the audit trail. */
export interface VehicleOfTask {
  vehicleName: string;
  dealerId: UserId | null;
}

export interface VideoTaskFilter extends OfVehicles {
  profileId?: VideoProfileId;
  states?: readonly VideoTaskState[];
}

/** Tasks that fetch video, as people ask for them; `VideoTaskQueue` is for who works on them. */
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

  /** Everything that became of a task, the first thing first. */
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

  /** How many tasks of a profile are not finished. */
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
   * Ends a task that nobody needs any more; one that is finished stays as it is.
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
   * Changes what a task asks for, as long as its terminal was not asked to play. It is due at once; a worker that has
   * it already takes no further step.
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
        // Two changes in one millisecond are two versions.
        changedAtMs: Math.max(nowMs, Number(row.changedAtMs) + 1),
        nextAttemptAtMs: nowMs,
        lease: null,
        leaseUntilMs: 0,
        // An earlier attempt fetched what is no longer asked for.
        fetched: null,
      };
      await tx.updateTable('videoTasks').set(columns).where('id', '=', id).execute();
      const task = fromTaskRow({ ...row, ...columns });
      noteTask(writer, 'changed', vehicle, fromTaskRow(row), task);
      return { task, changed: true };
    });
  }

  /**
   * Removes a task in any state, and what became of it. Its file is the caller's to delete; a worker that has the task
   * takes no further step.
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

/** Notes what somebody did to a task in the audit trail. */
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
