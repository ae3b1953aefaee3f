import {
  isFinal,
  mayBecome,
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
import type { Transaction } from 'kysely';
import { ERASURE } from './erasures.ts';
import { NotFoundError, UnknownReferenceError } from './errors.ts';
import { isOfVehicles, type OfVehicles } from './of-vehicles.ts';
import { type Page, type Paging, pageOf } from './page.ts';
import type { Tables, VideoProfileRow, VideoTaskRow } from './schema.ts';
import { inChunks, type Reader, type Store } from './store.ts';
import { fromProfileRow, openedProfile } from './video-profiles.ts';
import {
  fromTaskRow,
  NOT_BEFORE_WOKEN,
  noteTransition,
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

/** A step of whoever has the lease. Final steps and `waiting` end the lease. */
export type VideoStep =
  | { state: 'requested' | 'downloading' | 'processing' }
  | {
      state: 'waiting';
      reason: VideoFailure;
      detail: string;
      /** Null: when the terminal connects. */
      nextAttemptAtMs: number | null;
      /** Begun so far, where this one did not come as far as being requested. */
      attempts?: number;
    }
  | { state: 'failed'; reason: VideoFailure; detail: string; attempts?: number }
  | { state: 'done'; file: VideoFile };

/** How much is stored. */
export interface VideoUsage {
  files: number;
  bytes: number;
  /** When the oldest of them was stored; null where there is none. */
  oldestMs: number | null;
}

/** Tasks that fetch video: asked for by people, worked on by the video service. */
export class VideoTasks {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws {UnknownReferenceError} when there is no such profile */
  create(wish: NewVideoTask): Promise<VideoTask> {
    return this.#store.write(async ({ tx, nowMs, newId }) => {
      const profile = await tx
        .selectFrom('video_profiles')
        .select('vehicle_id')
        .where('id', '=', wish.profileId)
        .executeTakeFirst();
      if (!profile) throw new UnknownReferenceError('profileId', wish.profileId);
      const row: VideoTaskRow = {
        id: newId(),
        profile_id: wish.profileId,
        vehicle_id: profile.vehicle_id,
        created_by: wish.createdBy,
        channel: wish.channel,
        start_ms: wish.startMs,
        end_ms: wish.endMs,
        quality: wish.quality,
        audio: wish.audio ? 1 : 0,
        state: 'new',
        reason: null,
        detail: null,
        attempts: 0,
        progress_percent: 0,
        progress_bytes: 0,
        created_at_ms: nowMs,
        changed_at_ms: nowMs,
        expires_at_ms: wish.expiresAtMs,
        next_attempt_at_ms: nowMs,
        finished_at_ms: null,
        lease: null,
        lease_until_ms: 0,
        fetched: null,
        file: null,
        file_bytes: 0,
        file_deleted_at_ms: null,
      };
      await tx.insertInto('video_tasks').values(row).execute();
      await noteTransition(tx, row, nowMs);
      return fromTaskRow(row);
    });
  }

  async get(id: VideoTaskId): Promise<VideoTask | null> {
    const row = await this.#store.db.selectFrom('video_tasks').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? fromTaskRow(row) : null;
  }

  /** Everything that became of a task, the first thing first. */
  async history(id: VideoTaskId): Promise<VideoTaskTransition[]> {
    const rows = await this.#store.db
      .selectFrom('video_transitions')
      .selectAll()
      .where('task_id', '=', id)
      .orderBy('nth')
      .execute();
    return rows.map((row) => ({
      state: row.state as VideoTaskState,
      atMs: row.at_ms,
      reason: row.reason as VideoFailure | null,
      detail: row.detail,
    }));
  }

  /** The newest first. */
  async list(filter: VideoTaskFilter, paging: Paging): Promise<Page<VideoTask>> {
    if (filter.anyOfGroups?.length === 0) return { items: [], next: null };
    let query = this.#store.db
      .selectFrom('video_tasks')
      .innerJoin('vehicles', 'vehicles.id', 'video_tasks.vehicle_id')
      .selectAll('video_tasks')
      .where(isOfVehicles(filter))
      .orderBy('video_tasks.id', 'desc')
      .limit(paging.limit + 1);
    if (paging.after !== null) query = query.where('video_tasks.id', '<', paging.after);
    if (filter.profileId !== undefined) query = query.where('video_tasks.profile_id', '=', filter.profileId);
    if (filter.states !== undefined) query = query.where('video_tasks.state', 'in', filter.states);
    const page = pageOf(await query.execute(), paging);
    return { ...page, items: page.items.map(fromTaskRow) };
  }

  /** How many tasks of a profile are not finished. */
  async unfinished(profileId: VideoProfileId): Promise<number> {
    const { count } = await this.#store.db
      .selectFrom('video_tasks')
      .select((e) => e.fn.countAll().as('count'))
      .where('profile_id', '=', profileId)
      .where('finished_at_ms', 'is', null)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * Takes work, for the tenants of the vehicles in turn: of each profile its oldest unfinished tasks, as many as it may have at
   * a time and no younger one before them. A lease that runs out makes the task free again, so that a worker that died loses
   * none.
   *
   * @param turns of the caller: what it has in progress
   * @param perTenant of one tenant it has no more at a time
   */
  async lease(limit: number, leaseMs: number, turns = new Turns(), perTenant = limit): Promise<LeasedVideoTask[]> {
    // Asked for all the time, and mostly in vain: nobody who writes is kept waiting for that.
    const due = await this.#store.due(
      'video tasks to lease',
      [],
      () => dueProfiles(this.#store.db, this.#store.now()),
      () => this.#nowOrNever(),
    );
    if (due.length === 0) return [];
    return this.#store.write(async ({ tx, nowMs, newId }) => {
      const { secrets } = this.#store;
      const waiting = new Set(
        await ownersOfProfiles(tx, await dueProfiles(tx, nowMs), (row) => openedProfile(row, secrets)),
      );
      const leased: LeasedVideoTask[] = [];
      while (leased.length < limit) {
        const owner = turns.next(waiting.values().filter((each) => turns.runningOfTenant(each) < perTenant));
        if (owner === undefined) break;
        const profile = owner.profiles.shift();
        if (profile === undefined) {
          waiting.delete(owner);
          continue;
        }
        const profile_id = profile.id;
        const heads = await tx
          .selectFrom('video_tasks')
          .selectAll()
          .where('profile_id', '=', profile_id)
          .where('finished_at_ms', 'is', null)
          .orderBy('id')
          .limit(profile.maxParallelDownloads)
          .execute();
        for (const head of heads) {
          if (leased.length >= limit || turns.runningOfTenant(owner) >= perTenant) break;
          if (head.next_attempt_at_ms > nowMs || head.lease_until_ms > nowMs) continue;
          const lease = newId();
          const row = await asWaiting(tx, head, nowMs);
          await tx
            .updateTable('video_tasks')
            .set({ lease, lease_until_ms: nowMs + leaseMs })
            .where('id', '=', row.id)
            .execute();
          const fetched = row.fetched === null ? null : (JSON.parse(row.fetched) as FetchedFile);
          turns.begin(owner);
          turns.served(owner);
          leased.push({ task: fromTaskRow(row), profile, fetched, lease, owner });
        }
      }
      return leased;
    });
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
              progress_percent: 0,
              progress_bytes: 0,
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
              progress_percent: 100,
              progress_bytes: step.file.bytes,
              file: JSON.stringify(step.file),
              file_bytes: step.file.bytes,
            },
            nowMs,
          );
      }
    });
  }

  /** Notes how far a task is, and keeps the lease for as long again; the same answers as {@link step}. */
  progress(
    { task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>,
    { percent, bytes }: { percent: number; bytes: number },
    leaseMs: number,
  ): Promise<VideoTask | null> {
    return this.#asHolder(task.id, lease, async (tx, row, nowMs) => {
      const changed = { progress_percent: percent, progress_bytes: bytes, lease_until_ms: nowMs + leaseMs };
      await tx.updateTable('video_tasks').set(changed).where('id', '=', row.id).execute();
      return { ...row, ...changed };
    });
  }

  /** Notes that the file is whole and lies in the worker's folder; the same answers as {@link step}. */
  fetched({ task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>, file: FetchedFile): Promise<VideoTask | null> {
    return this.#asHolder(task.id, lease, async (tx, row) => {
      const fetched = JSON.stringify(file);
      await tx.updateTable('video_tasks').set({ fetched }).where('id', '=', row.id).execute();
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
      const row = await tx.selectFrom('video_tasks').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) throw new NotFoundError('video-task', id);
      if (isFinal(row.state as VideoTaskState)) return { task: fromTaskRow(row), cancelled: false };
      return { task: fromTaskRow(await takeStep(tx, row, 'cancelled', {}, nowMs)), cancelled: true };
    });
  }

  /** Makes the waiting tasks of a profile due now: its terminal is there. */
  async wake(profileId: VideoProfileId): Promise<void> {
    await this.#store.db
      .updateTable('video_tasks')
      .set({ next_attempt_at_ms: this.#store.now() })
      .where('profile_id', '=', profileId)
      .where('state', '=', 'waiting')
      .where('finished_at_ms', 'is', null)
      .execute();
  }

  /** Frees everything that is leased: for the only worker there is, when it begins. */
  async releaseLeases(): Promise<void> {
    await this.#store.db
      .updateTable('video_tasks')
      .set({ lease: null, lease_until_ms: 0 })
      .where('lease', 'is not', null)
      .execute();
  }

  /**
   * Ends what was tried for long enough; what is being worked on is left to its worker.
   *
   * @returns the tasks as they now are
   */
  expire(limit: number): Promise<VideoTask[]> {
    return this.#store.due(
      'video tasks to expire',
      [],
      () => this.#expire(limit),
      () => this.#nowOrNever(),
    );
  }

  /** When a task may fall due: at any time while one is unfinished, else never. */
  async #nowOrNever(): Promise<number | null> {
    const unfinished = await this.#store.db
      .selectFrom('video_tasks')
      .select('id')
      .where('finished_at_ms', 'is', null)
      .limit(1)
      .executeTakeFirst();
    return unfinished ? this.#store.now() : null;
  }

  #expire(limit: number): Promise<VideoTask[]> {
    return this.#store.write(async ({ tx, nowMs }) => {
      const rows = await tx
        .selectFrom('video_tasks')
        .selectAll()
        .where('finished_at_ms', 'is', null)
        .where('expires_at_ms', '<=', nowMs)
        .where('lease_until_ms', '<=', nowMs)
        .limit(limit)
        .execute();
      const ended: VideoTask[] = [];
      for (const row of rows) {
        const detail = row.reason === null ? 'it was not done in time' : `it was not done in time: ${row.reason}`;
        ended.push(fromTaskRow(await takeStep(tx, row, 'failed', { reason: 'expired', detail }, nowMs)));
      }
      return ended;
    });
  }

  /** Profiles of which something waits for the terminal alone. */
  async waitingForTerminal(): Promise<VideoProfile[]> {
    const rows = await this.#store.db
      .selectFrom('video_profiles')
      .selectAll()
      .where('id', 'in', (q) =>
        q
          .selectFrom('video_tasks')
          .select('profile_id')
          .where('state', '=', 'waiting')
          .where('next_attempt_at_ms', '=', NOT_BEFORE_WOKEN)
          .where('finished_at_ms', 'is', null),
      )
      .execute();
    return rows.map(fromProfileRow);
  }

  /** Tasks that are not finished, by their state. */
  async counts(): Promise<Map<VideoTaskState, number>> {
    const rows = await this.#store.db
      .selectFrom('video_tasks')
      .select(['state', (e) => e.fn.countAll().as('count')])
      .where('finished_at_ms', 'is', null)
      .groupBy('state')
      .execute();
    return new Map(rows.map(({ state, count }) => [state as VideoTaskState, Number(count)]));
  }

  async usage(): Promise<VideoUsage> {
    const row = await this.#store.db
      .selectFrom('video_tasks')
      .select((e) => [
        e.fn.countAll().as('files'),
        e.fn.sum('file_bytes').as('bytes'),
        e.fn.min('finished_at_ms').as('oldest'),
      ])
      .where('file_bytes', '>', 0)
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
      .selectFrom('video_tasks')
      .select(['id', 'file_bytes', 'finished_at_ms'])
      .where('file_bytes', '>', 0)
      .orderBy('finished_at_ms')
      .limit(limit)
      .execute();
    return rows.map(storedVideo);
  }

  /** Whose videos those of a task's vehicle are: a dealer, or the operator (null). */
  async dealerOf(id: VideoTaskId): Promise<UserId | null> {
    const row = await this.#store.db
      .selectFrom('video_tasks')
      .innerJoin('vehicles', 'vehicles.id', 'video_tasks.vehicle_id')
      .select('dealer_id')
      .where('video_tasks.id', '=', id)
      .executeTakeFirst();
    return (row?.dealer_id ?? null) as UserId | null;
  }

  /** Bytes of stored videos, by dealer; null is the operator. */
  async usageByDealer(): Promise<Map<UserId | null, number>> {
    const rows = await this.#store.db
      .selectFrom('video_tasks')
      .leftJoin('vehicles', 'vehicles.id', 'video_tasks.vehicle_id')
      .select((e) => ['dealer_id', e.fn.sum<number>('file_bytes').as('bytes')])
      .where('file_bytes', '>', 0)
      .groupBy('dealer_id')
      .execute();
    return new Map(rows.map(({ dealer_id, bytes }) => [dealer_id as UserId | null, Number(bytes)]));
  }

  /** Files of a dealer's vehicles, or of the operator's (null), the oldest first. */
  async oldestFilesOf(dealerId: UserId | null, limit: number): Promise<StoredVideo[]> {
    const rows = await this.#store.db
      .selectFrom('video_tasks')
      .leftJoin('vehicles', 'vehicles.id', 'video_tasks.vehicle_id')
      .select(['video_tasks.id as id', 'file_bytes', 'finished_at_ms'])
      .where('file_bytes', '>', 0)
      .where('dealer_id', dealerId === null ? 'is' : '=', dealerId)
      .orderBy('finished_at_ms')
      .limit(limit)
      .execute();
    return rows.map(storedVideo);
  }

  /** Files whose vehicle is gone, and whose erasure nobody planned: nobody may see them. */
  async orphanedFiles(limit: number): Promise<StoredVideo[]> {
    const rows = await this.#store.db
      .selectFrom('video_tasks')
      .leftJoin('vehicles', 'vehicles.id', 'video_tasks.vehicle_id')
      .select(['video_tasks.id as id', 'file_bytes', 'finished_at_ms'])
      .where('file_bytes', '>', 0)
      .where('vehicles.id', 'is', null)
      // An erasure that was planned removes them in its time.
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('jobs')
              .select('jobs.id')
              .where('kind', '=', ERASURE)
              .whereRef('subject_id', '=', 'video_tasks.vehicle_id'),
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
      .updateTable('video_tasks')
      .set({ file_bytes: 0, file_deleted_at_ms: this.#store.now() })
      .where('id', '=', id)
      .execute();
  }

  /** Those of the ids that a file in the store belongs to, or may come to belong to. */
  async withFiles(ids: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>();
    for (const some of inChunks(ids)) {
      const rows = await this.#store.db
        .selectFrom('video_tasks')
        .select('id')
        .where('id', 'in', some)
        .where((e) => e.or([e('file_bytes', '>', 0), e('finished_at_ms', 'is', null)]))
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
        .selectFrom('video_tasks')
        .select('id')
        .where('file_bytes', '=', 0)
        .where('finished_at_ms', '<', beforeMs)
        .orderBy('finished_at_ms')
        .limit(limit)
        .execute();
      for (const some of inChunks(rows.map((row) => row.id))) {
        await tx.deleteFrom('video_transitions').where('task_id', 'in', some).execute();
        await tx.deleteFrom('video_tasks').where('id', 'in', some).execute();
      }
      return rows.length;
    });
  }

  async #asHolder(
    id: VideoTaskId,
    lease: string,
    work: (tx: Transaction<Tables>, row: VideoTaskRow, nowMs: number) => Promise<VideoTaskRow>,
  ): Promise<VideoTask | null> {
    return this.#store.write(async ({ tx, nowMs }) => {
      const row = await tx.selectFrom('video_tasks').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row || row.lease !== lease) return null;
      return fromTaskRow(await work(tx, row, nowMs));
    });
  }
}

const UNFINISHED = VIDEO_TASK_STATES.filter((state) => !isFinal(state));

/** Profiles that have something to do that nobody does. */
async function dueProfiles(db: Reader, nowMs: number): Promise<string[]> {
  const rows = await db
    .selectFrom('video_tasks')
    .select('profile_id')
    .distinct()
    .where('state', 'in', UNFINISHED)
    .where('next_attempt_at_ms', '<=', nowMs)
    .where('lease_until_ms', '<=', nowMs)
    .execute();
  return rows.map((row) => row.profile_id);
}

/** Profiles by the tenant of their vehicles; one without a dealer is the operator's. */
async function ownersOfProfiles(
  db: Reader,
  ids: readonly string[],
  open: (row: VideoProfileRow) => VideoProfile,
): Promise<(Owner & { profiles: VideoProfile[] })[]> {
  const owners = new Map<string, Owner & { profiles: VideoProfile[] }>();
  for (const some of inChunks(ids)) {
    const rows = await db
      .selectFrom('video_profiles')
      .leftJoin('vehicles', 'vehicles.id', 'video_profiles.vehicle_id')
      .selectAll('video_profiles')
      .select('vehicles.dealer_id as dealerId')
      .where('video_profiles.id', 'in', some)
      .execute();
    for (const { dealerId, ...row } of rows) {
      const tenant = dealerId ?? 'operator';
      const owner = owners.get(tenant) ?? { account: tenant, tenant, profiles: [] };
      owners.set(tenant, owner);
      owner.profiles.push(open(row));
    }
  }
  return [...owners.values()];
}

type WaitingStep = Extract<VideoStep, { state: 'waiting' }>;

function waitingColumns({ reason, detail, nextAttemptAtMs, attempts }: WaitingStep, row: VideoTaskRow) {
  return {
    attempts: attempts ?? row.attempts,
    reason,
    detail,
    next_attempt_at_ms: nextAttemptAtMs ?? NOT_BEFORE_WOKEN,
    lease: null,
    lease_until_ms: 0,
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
  const changed = { ...columns, ...(isNews ? { changed_at_ms: nowMs } : {}) };
  await tx.updateTable('video_tasks').set(changed).where('id', '=', row.id).execute();
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
