import {
  isFinal,
  mayBecome,
  type Owner,
  Turns,
  VIDEO_TASK_STATES,
  type VideoFailure,
  type VideoFile,
  type VideoProfile,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskState,
} from '@outrider/domain';
import { type SqlBool, sql, type Transaction } from 'kysely';
import type { Tables, VideoTaskRow } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { inTurns } from '../work/fair-order.ts';
import { Leases } from '../work/leases.ts';
import { fromProfileRow, openedProfile } from './video-profiles.ts';
import { fromTaskRow, NOT_BEFORE_WOKEN, noteTransition, takeStep } from './video-task-rows.ts';

/** A finished file that is not in the store yet, with its path in the worker's own folder. */
export interface FetchedFile extends Omit<VideoFile, 'sha256'> {
  spool: string;
}

/** A task that is leased by the caller. */
export interface LeasedVideoTask {
  task: VideoTask;
  profile: VideoProfile;
  /** File that an earlier attempt fetched but did not store. */
  fetched: FetchedFile | null;
  lease: string;
  /** Owner whose turn it takes, to be ended by {@link Turns.end}. */
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
      /** Attempts to record, where this one failed before the terminal was requested to play. */
      attempts?: number;
    }
  | { state: 'failed'; reason: VideoFailure; detail: string; attempts?: number }
  | { state: 'done'; file: VideoFile };

/** Unfinished tasks, for the video service. */
export class VideoTaskQueue {
  readonly #store: Store;
  readonly #leases: Leases<'videoTasks'>;

  constructor(store: Store) {
    this.#store = store;
    this.#leases = new Leases(store, {
      table: 'videoTasks',
      open: UNFINISHED,
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'leaseUntilMs',
      // An attempt counts once the terminal is requested to play.
      countsAttempts: false,
    });
  }

  /**
   * Leases tasks, for the tenants of the vehicles in turn. Of each profile, only its oldest unfinished tasks are
   * leased, as many as it may have at a time.
   *
   * @param turns of the caller, with its tasks in progress
   * @param perTenant maximum of tasks that the caller has in progress per tenant
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

  /** Tenants with their due tasks. */
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

  /** Profiles with the tenants of their vehicles. A vehicle without a dealer belongs to the operator. */
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
   * Moves a leased task to its next state.
   *
   * @returns the task as it now is; null when the lease was lost, or the task was cancelled: nothing was changed
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

  /** Saves the progress of a task, and renews the lease; same results as {@link step}. */
  async progress(
    { task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>,
    { percent, bytes }: { percent: number; bytes: number },
    leaseMs: number,
  ): Promise<VideoTask | null> {
    const changed = { progressPercent: percent, progressBytes: bytes };
    const [row] = await this.#leases.renew([{ id: task.id, lease }], leaseMs, changed);
    return row === undefined ? null : fromTaskRow(row);
  }

  /** Records that the file is complete and lies in the worker's folder; same results as {@link step}. */
  fetched({ task, lease }: Pick<LeasedVideoTask, 'task' | 'lease'>, file: FetchedFile): Promise<VideoTask | null> {
    return this.#asHolder(task.id, lease, async (tx, row) => {
      const fetched = JSON.stringify(file);
      await tx.updateTable('videoTasks').set({ fetched }).where('id', '=', row.id).execute();
      return { ...row, fetched };
    });
  }

  /**
   * Makes waiting tasks of a profile due now, because its terminal is connected.
   *
   * @param which `all` of them, or only those that wait for the terminal, and not for the end of a back-off
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

  /** Ends all leases. For the start of a worker that is the only one. */
  releaseLeases(): Promise<void> {
    return this.#leases.releaseAll();
  }

  /**
   * Fails tasks that have expired. Tasks that are leased are left to their worker.
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

  /** Profiles with tasks that wait only for the terminal. */
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

  /** Number of unfinished tasks by state. */
  async counts(): Promise<ReadonlyMap<VideoTaskState, number>> {
    const counts = await this.#leases.counts(sql<SqlBool>`finished_at_ms is null`);
    return counts as ReadonlyMap<string, number> as ReadonlyMap<VideoTaskState, number>;
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

const UNFINISHED = VIDEO_TASK_STATES.filter((state) => !isFinal(state));

/** A tenant with due tasks of its vehicles, the oldest first. */
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

/** Keeps a task waiting. This is no step, and adds a line to the history only where the reason has changed. */
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

/** Resets a task whose worker crashed to `waiting`. A file that was fetched already is kept. */
async function asWaiting(tx: Transaction<Tables>, row: VideoTaskRow, nowMs: number): Promise<VideoTaskRow> {
  const state = row.state as VideoTaskState;
  if (state === 'waiting' || mayBecome(state, 'requested')) return row;
  const columns = { reason: 'interrupted', detail: `the service ended while it was ${state}` };
  return takeStep(tx, row, 'waiting', columns, nowMs);
}
