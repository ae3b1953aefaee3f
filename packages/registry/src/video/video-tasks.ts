import {
  isFinal,
  mayBecome,
  mayChangeTask,
  type Owner,
  Turns,
  type UserId,
  VIDEO_TASK_STATES,
  type VideoFailure,
  type VideoFile,
  type VideoProfile,
  type VideoProfileId,
  type VideoQuality,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskState,
  type VideoTaskTransition,
} from '@outrider/domain';
import { type SqlBool, sql, type Transaction } from 'kysely';
import { ERASURE } from '../accounts/erasures.ts';
import { isOfVehicles, type OfVehicles } from '../fleet/of-vehicles.ts';
import { NotFoundError, StaleError, UnknownReferenceError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { Tables, VideoTaskRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { inTurns } from '../work/fair-order.ts';
import { Leases } from '../work/leases.ts';
import { fromProfileRow, openedProfile } from './video-profiles.ts';
import {
  deleteTasks,
  fromTaskRow,
  NOT_BEFORE_WOKEN,
  noteTransition,
  type StepColumns,
  type StoredVideo,
  storedVideo,
  takeStep,
} from './video-task-rows.ts';

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

/** A finished file that waits to be stored, by its path in the worker's own folder. */
export interface FetchedFile extends Omit<VideoFile, 'sha256'> {
  spool: string;
}

/** A task that the caller, and nobody else, is to work on now. */
export interface LeasedVideoTask {
  task: VideoTask;
  profile: VideoProfile;
  /** What an earlier attempt fetched and did not come to store. */
  fetched: FetchedFile | null;
  lease: string;
  /** Whose turn it takes, to be ended by {@link Turns.end}. */
  owner: Owner;
}

/** A step of the worker that has the lease. Final steps and `waiting` end the lease. */
export type VideoStep =
  | { state: 'requested' | 'downloading' | 'processing' }
  | {
      state: 'waiting';
      reason: VideoFailure;
      detail: string;
      /** Null: when the terminal connects. */
      nextAttemptAtMs: number | null;
      /** Attempts up to now, where this one did not get as far as being requested. */
      attempts?: number;
    }
  | { state: 'failed'; reason: VideoFailure; detail: string; attempts?: number }
  | { state: 'done'; file: VideoFile };

/** How much is stored. */
export interface VideoUsage {
  files: number;
  bytes: number;
  /** When the oldest of them was stored; null without files. */
  oldestMs: number | null;
}

/** Tasks that fetch video: asked for by people, worked on by the video service. */
export class VideoTasks {
  readonly #store: Store;
  readonly #leases: Leases<'videoTasks'>;

  constructor(store: Store) {
    this.#store = store;
    this.#leases = new Leases(store, {
      table: 'videoTasks',
      open: UNFINISHED,
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'leaseUntilMs',
      // An attempt counts once the terminal is asked to play.
      countsAttempts: false,
    });
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
   * Leases tasks, for the tenants of the vehicles in turn: of each profile its oldest unfinished tasks, as many as it
   * may have at a time and no younger one before them.
   *
   * @param turns of the caller: what it has in progress
   * @param perTenant of one tenant it has no more at a time
   */
  lease(limit: number, leaseMs: number, turns = new Turns(), perTenant = limit): Promise<LeasedVideoTask[]> {
    const isFull = (owner: Owner) => turns.runningOfTenant(owner) >= perTenant;
    return this.#leases.poll(
      'video tasks to lease',
      async (db, nowMs) => (await this.#dueOwners(db, nowMs)).filter((owner) => !isFull(owner)),
      async ({ tx, nowMs }, waiting) =>
        inTurns<DueOwner, LeasedVideoTask>(
          turns,
          waiting,
          ({ length }) => length >= limit,
          async (owner) => {
            const next = isFull(owner) ? undefined : owner.tasks.shift();
            if (next === undefined) return null;
            const [taken] = await this.#leases.take(tx, [next.id], leaseMs);
            if (taken === undefined) return null;
            const row = await asWaiting(tx, taken, nowMs);
            const fetched = row.fetched === null ? null : (JSON.parse(row.fetched) as FetchedFile);
            turns.begin(owner);
            turns.served(owner);
            return { task: fromTaskRow(row), profile: next.profile, fetched, lease: taken.lease, owner };
          },
        ),
    );
  }

  /** Tenants with the tasks that may begin now. */
  async #dueOwners(db: Reader, nowMs: number): Promise<DueOwner[]> {
    const isDue = this.#leases.isDue(nowMs);
    const rows = await db
      .selectFrom((e) =>
        e
          .selectFrom('videoTasks')
          .selectAll()
          .select(sql<number>`row_number() over (partition by profile_id order by id)`.as('nth'))
          .where('finishedAtMs', 'is', null)
          .where('profileId', 'in', (q) => q.selectFrom('videoTasks').select('profileId').where(isDue))
          .as('videoTasks'),
      )
      .select(['id', 'profileId', 'nth'])
      .where(isDue)
      .orderBy('id')
      .execute();
    const profiles = await this.#profiles(db, [...new Set(rows.map((row) => row.profileId))]);
    const owners = new Map<string, DueOwner>();
    for (const { id, profileId, nth } of rows) {
      const { profile, tenant } = profiles.get(profileId) ?? {};
      if (profile === undefined || tenant === undefined || Number(nth) > profile.maxParallelDownloads) continue;
      const owner = owners.get(tenant) ?? { account: tenant, tenant, tasks: [] };
      owners.set(tenant, owner);
      owner.tasks.push({ id, profile });
    }
    return [...owners.values()];
  }

  /** Profiles with the tenants of their vehicles; one without a dealer is the operator's. */
  async #profiles(db: Reader, ids: readonly string[]): Promise<Map<string, { profile: VideoProfile; tenant: string }>> {
    const profiles = new Map<string, { profile: VideoProfile; tenant: string }>();
    for (const some of inChunks(ids)) {
      const rows = await db
        .selectFrom('videoProfiles')
        .leftJoin('vehicles', 'vehicles.id', 'videoProfiles.vehicleId')
        .selectAll('videoProfiles')
        .select('vehicles.dealerId as dealerId')
        .where('videoProfiles.id', 'in', some)
        .execute();
      for (const { dealerId, ...row } of rows)
        profiles.set(row.id, { profile: openedProfile(row, this.#store.secrets), tenant: dealerId ?? 'operator' });
    }
    return profiles;
  }

  /**
   * Takes the task that a lease is for one step on.
   *
   * @returns the task as it now is; null when it is somebody else's by now, or was cancelled: nothing was changed
   */
  step({ task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>, step: VideoStep): Promise<VideoTask | null> {
    return this.#asHolder(task.id, lease, async (tx, row, nowMs) => {
      if (row.state === 'waiting' && step.state === 'waiting') return takeWaiting(tx, row, step, nowMs);
      switch (step.state) {
        case 'requested':
          return takeStep(
            tx,
            row,
            'requested',
            {
              attempts: row.attempts + 1,
              reason: null,
              detail: null,
              progressPercent: 0,
              progressBytes: 0,
              fetched: null,
            },
            nowMs,
          );
        case 'downloading':
        case 'processing':
          return takeStep(tx, row, step.state, {}, nowMs);
        case 'waiting':
          return takeStep(tx, row, 'waiting', waitingColumns(step, row), nowMs);
        case 'failed':
          return takeStep(
            tx,
            row,
            'failed',
            { reason: step.reason, detail: step.detail, attempts: step.attempts ?? row.attempts },
            nowMs,
          );
        case 'done':
          return takeStep(
            tx,
            row,
            'done',
            {
              reason: null,
              detail: null,
              progressPercent: 100,
              progressBytes: step.file.bytes,
              file: JSON.stringify(step.file),
              fileBytes: step.file.bytes,
            },
            nowMs,
          );
      }
    });
  }

  /** Notes how far a task is, and renews the lease; the same results as {@link step}. */
  async progress(
    { task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>,
    { percent, bytes }: { percent: number; bytes: number },
    leaseMs: number,
  ): Promise<VideoTask | null> {
    const changed = { progressPercent: percent, progressBytes: bytes };
    const [row] = await this.#leases.renew([{ id: task.id, lease }], leaseMs, changed);
    return row === undefined ? null : fromTaskRow(row);
  }

  /** Notes that the file is whole and lies in the worker's folder; the same answers as {@link step}. */
  fetched({ task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>, file: FetchedFile): Promise<VideoTask | null> {
    return this.#asHolder(task.id, lease, async (tx, row) => {
      const fetched = JSON.stringify(file);
      await tx.updateTable('videoTasks').set({ fetched }).where('id', '=', row.id).execute();
      return { ...row, fetched };
    });
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

  /**
   * Makes waiting tasks of a profile due now, because its terminal is connected.
   *
   * @param which `all` of them, or those that wait for the terminal alone, and not for the end of a back-off
   */
  async wake(profileId: VideoProfileId, which: 'all' | 'waiting-for-terminal'): Promise<void> {
    await this.#store.db
      .updateTable('videoTasks')
      .set({ nextAttemptAtMs: this.#store.now() })
      .where('profileId', '=', profileId)
      .where('state', '=', 'waiting')
      .where('finishedAtMs', 'is', null)
      .$if(which === 'waiting-for-terminal', (query) => query.where('nextAttemptAtMs', '=', NOT_BEFORE_WOKEN))
      .execute();
  }

  /** Ends all leases: for the only worker, when it starts. */
  releaseLeases(): Promise<void> {
    return this.#leases.releaseAll();
  }

  /**
   * Ends what was tried for long enough; what is being worked on is left to its worker.
   *
   * @returns the tasks as they now are
   */
  expire(limit: number): Promise<VideoTask[]> {
    const expired = async (db: Reader, nowMs: number) =>
      db
        .selectFrom('videoTasks')
        .selectAll()
        .where('finishedAtMs', 'is', null)
        .where('expiresAtMs', '<=', nowMs)
        .where('leaseUntilMs', '<=', nowMs)
        .limit(limit)
        .execute();
    const expire = async ({ tx, nowMs }: Writer, rows: readonly VideoTaskRow[]) => {
      const ended: VideoTask[] = [];
      for (const row of rows) {
        const detail = row.reason === null ? 'it was not done in time' : `it was not done in time: ${row.reason}`;
        ended.push(fromTaskRow(await takeStep(tx, row, 'failed', { reason: 'expired', detail }, nowMs)));
      }
      return ended;
    };
    return this.#store.writeDue('video tasks to expire', expired, expire, async () => {
      const { at } = await this.#store.db
        .selectFrom('videoTasks')
        .select((e) => e.fn.min('expiresAtMs').as('at'))
        .where('finishedAtMs', 'is', null)
        .executeTakeFirstOrThrow();
      return at === null ? null : Number(at);
    });
  }

  /** Profiles of which something waits for the terminal alone. */
  async waitingForTerminal(): Promise<VideoProfile[]> {
    const rows = await this.#store.db
      .selectFrom('videoProfiles')
      .selectAll()
      .where('id', 'in', (q) =>
        q
          .selectFrom('videoTasks')
          .select('profileId')
          .where('state', '=', 'waiting')
          .where('nextAttemptAtMs', '=', NOT_BEFORE_WOKEN)
          .where('finishedAtMs', 'is', null),
      )
      .execute();
    return rows.map(fromProfileRow);
  }

  /** Tasks that are not finished, by their state. */
  async counts(): Promise<ReadonlyMap<VideoTaskState, number>> {
    const counts = await this.#leases.counts(sql<SqlBool>`finished_at_ms is null`);
    return counts as ReadonlyMap<string, number> as ReadonlyMap<VideoTaskState, number>;
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

  /** Whose videos those of a task's vehicle are: a dealer, or the operator (null). */
  async dealerOf(id: VideoTaskId): Promise<UserId | null> {
    const row = await this.#store.db
      .selectFrom('videoTasks')
      .innerJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .select('dealerId')
      .where('videoTasks.id', '=', id)
      .executeTakeFirst();
    return (row?.dealerId ?? null) as UserId | null;
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

  /** Files whose vehicle is gone, and whose erasure nobody planned: nobody may see them. */
  async orphanedFiles(limit: number): Promise<StoredVideo[]> {
    const rows = await this.#store.db
      .selectFrom('videoTasks')
      .leftJoin('vehicles', 'vehicles.id', 'videoTasks.vehicleId')
      .select(['videoTasks.id as id', 'fileBytes', 'finishedAtMs'])
      .where('fileBytes', '>', 0)
      .where('vehicles.id', 'is', null)
      // An erasure that was planned removes them in its time.
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

  /** Notes that the file of a task is gone from the store. */
  async fileDeleted(id: VideoTaskId): Promise<void> {
    await this.#store.db
      .updateTable('videoTasks')
      .set({ fileBytes: 0, fileDeletedAtMs: this.#store.now() })
      .where('id', '=', id)
      .execute();
  }

  /** As {@link fileDeleted}, where somebody deleted it: it is noted in the audit trail. */
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

  /** Those of the ids that a file in the store belongs to, or may come to belong to. */
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

  /**
   * Forgets tasks that finished before a time and have no file.
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

  async #asHolder(
    id: VideoTaskId,
    lease: string,
    work: (tx: Transaction<Tables>, row: VideoTaskRow, nowMs: number) => Promise<VideoTaskRow>,
  ): Promise<VideoTask | null> {
    return this.#store.write(async ({ tx, nowMs }) => {
      const row = await this.#leases.held(tx, { id, lease });
      return row && fromTaskRow(await work(tx, row, nowMs));
    });
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

const UNFINISHED = VIDEO_TASK_STATES.filter((state) => !isFinal(state));

/** A tenant, and tasks of its vehicles that may begin, the oldest first. */
type DueOwner = Owner & { tasks: { id: string; profile: VideoProfile }[] };

type WaitingStep = Extract<VideoStep, { state: 'waiting' }>;

function waitingColumns({ reason, detail, nextAttemptAtMs, attempts }: WaitingStep, row: VideoTaskRow) {
  return {
    attempts: attempts ?? row.attempts,
    reason,
    detail,
    nextAttemptAtMs: nextAttemptAtMs ?? NOT_BEFORE_WOKEN,
    lease: null,
    leaseUntilMs: 0,
    fetched: null,
  };
}

/** What waits already goes on waiting: no step, and a new line of the history only where it is for another reason. */
async function takeWaiting(
  tx: Transaction<Tables>,
  row: VideoTaskRow,
  step: WaitingStep,
  nowMs: number,
): Promise<VideoTaskRow> {
  const columns = waitingColumns(step, row);
  const isNews = row.reason !== step.reason;
  const changed = { ...columns, ...(isNews ? { changedAtMs: nowMs } : {}) };
  await tx.updateTable('videoTasks').set(changed).where('id', '=', row.id).execute();
  const next = { ...row, ...changed };
  if (isNews) await noteTransition(tx, next, nowMs);
  return next;
}

/** A task over which a worker died: what was begun is not going on, and what was fetched is still there. */
async function asWaiting(tx: Transaction<Tables>, row: VideoTaskRow, nowMs: number): Promise<VideoTaskRow> {
  const state = row.state as VideoTaskState;
  if (state === 'waiting' || mayBecome(state, 'requested')) return row;
  const columns = { reason: 'interrupted', detail: `the service ended while it was ${state}` };
  return takeStep(tx, row, 'waiting', columns, nowMs);
}
