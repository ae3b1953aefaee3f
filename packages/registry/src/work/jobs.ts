import type { JobId, Owner, ReportScheduleId, UserId } from '@outrider/domain';
import { type Selectable, type SqlBool, sql, type Transaction } from 'kysely';
import type { AuditNote } from '../audit/audit-notes.ts';
import { type ConsumerPlace, placesOf, setPlace } from '../store/consumer-places.ts';
import { NotFoundError, TooManyJobsError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { JobRow, Tables } from '../store/schema.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';
import { saveTurn, sharedTurns } from './fair-order.ts';
import { type Columns, type Lease, Leases } from './leases.ts';

/**
 * - `queued`: waits for its first turn, or for the next one.
 * - `running`: a worker has leased it.
 * - `done`, `failed`, `cancelled`: over.
 */
export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** JSON whose meaning depends on the kind of the job. */
export type JobFacts = Readonly<Record<string, unknown>>;

/** Progress of a job. */
export interface JobProgress {
  /** 0 to 100. */
  percent: number;
  /** Positions processed up to now; for a report, rows that were written. */
  positions: number;
}

/** Work that takes longer than an API call may. */
export interface Job {
  id: JobId;
  /** Kind of the work; the workers define the kinds. */
  kind: string;
  /** The user who asked for it; null: the service itself. */
  userId: UserId | null;
  /** Id of the geofence or vehicle that it is about; null where it is about neither. */
  subjectId: string | null;
  /** The schedule that created it; null: none. */
  scheduleId: ReportScheduleId | null;
  /** Parameters as JSON, defined by the kind. */
  parameters: JobFacts;
  state: JobState;
  progress: JobProgress;
  /** Null before the end. */
  result: JobFacts | null;
  /** Why it failed. */
  error: string | null;
  createdAtMs: number;
  /** Time of the first lease. */
  startedAtMs: number | null;
  finishedAtMs: number | null;
}

/** Fields of a new job. */
export interface JobFields {
  kind: string;
  userId: UserId | null;
  subjectId: string | null;
  parameters: JobFacts;
  /** Earliest time at which it may be leased. */
  dueAtMs: number;
}

/** A job that the caller has leased. */
export interface LeasedJob {
  job: Job;
  lease: string;
  /** Saved progress from which to continue; null: from the beginning. */
  resume: JobFacts | null;
  /** Number of leases since the job last progressed, this one included. */
  attempts: number;
  /** The tenant that the job belongs to. */
  tenant: string;
}

export interface JobFilter {
  /** Only jobs of this user; undefined: of all users, and of the service itself. */
  userId?: UserId;
  kind?: string;
  state?: JobState;
}

export interface JobLeaseOptions {
  kinds: readonly string[];
  /** Lease duration, to be renewed. */
  leaseMs: number;
  /** Maximum of leased jobs of these kinds at a time, over all workers. */
  atOnce: number;
  /** Maximum of leased jobs per tenant at a time, over all workers. Default: `atOnce`. */
  perTenant?: number;
  /** Jobs of these tenants are not leased. */
  withoutTenants?: ReadonlySet<string>;
  /** Attempts without progress after which a job is given up. Default 5. */
  maxAttempts?: number;
}

/** A job of the service itself. */
export type ServiceJobFields = Omit<JobFields, 'userId'> & { subjectId: string };

/** Merges the parameters of a waiting job and an added one. */
export type MergeJobs = (waiting: JobFacts, added: JobFacts) => JobFacts;

/** Outcome of a worker's lease. */
export type JobOutcome =
  /** `positions`: number of positions processed, where the progress does not have it yet. */
  | { state: 'done'; result: JobFacts; positions?: number }
  | { state: 'failed'; error: string; result?: JobFacts }
  | { state: 'cancelled' }
  /** Continues at another turn; `resume` is null where it starts again. */
  | { state: 'queued'; resume: JobFacts | null; dueAtMs: number };

/** Limits the attempts of a job that crashes every process. */
const MAX_ATTEMPTS = 5;
/** Limit of open jobs per user. */
export const MAX_OPEN_JOBS_PER_USER = 20;
const MAX_ERROR_CHARACTERS = 500;
const ROWS_AT_ONCE = 50;

/**
 * Long-running work, with its progress and result. A job whose worker crashes is passed to another worker, with the
 * progress that was saved last. So every job is completed, but parts of it may be done more than once: they must be
 * idempotent.
 */
export class Jobs {
  readonly #store: Store;
  readonly #leases: Leases<'jobs'>;

  constructor(store: Store) {
    this.#store = store;
    this.#leases = jobLeases(store);
  }

  /**
   * Adds a job for a user, with a line in the audit trail.
   *
   * @param about the entry for the audit trail
   * @throws {TooManyJobsError} when the user has the maximum of open jobs
   */
  create(fields: JobFields & { userId: UserId }, about: Omit<AuditNote, 'before'>) {
    return this.#store.write(async (writer): Promise<Job> => {
      const job = await addUserJob(writer, fields);
      writer.note({ ...about, before: null });
      return job;
    });
  }

  /** Null when it does not exist. */
  async get(id: JobId): Promise<Job | null> {
    const row = await this.#store.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** The newest first. */
  async list(filter: JobFilter, paging: Paging): Promise<Page<Job>> {
    let query = this.#store.db.selectFrom('jobs').selectAll();
    if (filter.userId !== undefined) query = query.where('userId', '=', filter.userId);
    if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
    if (filter.state !== undefined) query = query.where('state', '=', filter.state);
    return readPage(query, paging, (rows) => rows.map(fromRow), 'newest first');
  }

  /**
   * Cancels a job: at once if it is queued, else when its worker next renews the lease. A finished job is not changed.
   *
   * @param about entry for the audit trail. With it, a job is cancelled only while it is queued
   * @throws {NotFoundError} when it does not exist
   */
  cancel(id: JobId, about?: AuditNote): Promise<Job> {
    return this.#store.write(async (writer) => {
      const { tx, nowMs } = writer;
      if (about === undefined)
        await tx
          .updateTable('jobs')
          .set({ cancelRequested: 1 })
          .where('id', '=', id)
          .where('state', '=', 'running')
          .execute();
      const called = await tx
        .updateTable('jobs')
        .set({ state: 'cancelled', cancelRequested: 1, finishedAtMs: nowMs, resume: null })
        .where('id', '=', id)
        .where('state', '=', 'queued')
        .returning('id')
        .executeTakeFirst();
      const row = await tx.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) throw new NotFoundError('job', id);
      if (called !== undefined && about !== undefined) writer.note(about);
      return fromRow(row);
    });
  }

  /**
   * Leases a job, for the tenants in turn, and for the accounts of a tenant in turn. Of one owner, the job that has
   * waited longest. Jobs of the service itself belong to the tenant of the vehicle that they are about.
   *
   * @returns null when no job is due, or enough are leased
   */
  async lease(options: JobLeaseOptions): Promise<LeasedJob | null> {
    return (await this.leaseTogether(options, { kind: '', max: 1 }))[0] ?? null;
  }

  /**
   * Leases a job like {@link lease}. If it is a job of the service itself, of the kind that is done together, further
   * due jobs of that kind are leased with it, under the same lease, as evenly per tenant as possible.
   *
   * @param together kind that is done together, and the maximum of jobs, each about a different subject
   * @returns an empty list when no job is due, or enough are leased
   */
  leaseTogether(options: JobLeaseOptions, together: { kind: string; max: number }): Promise<LeasedJob[]> {
    const { kinds, leaseMs, maxAttempts = MAX_ATTEMPTS } = options;
    const queue = `jobs ${kinds.join()}`;
    return this.#leases.poll(
      queue,
      async (db, nowMs) => {
        const turn = await this.#nextTurn(db, nowMs, queue, options, together);
        return turn === null ? [] : [turn];
      },
      async ({ tx, nowMs }, [turn]) => {
        if (turn === undefined) return [];
        const { owner, ids } = turn;
        // Otherwise a late worker would continue alongside the next one.
        await this.#leases.endLapsed(tx, { state: 'queued' }, isOfKinds(kinds));
        const started = sql`coalesce(${sql.ref('startedAtMs')}, ${nowMs})`;
        const rows = await this.#leases.take(tx, ids, leaseMs, { state: 'running', startedAtMs: started }, (row) =>
          givenUp(row, maxAttempts, nowMs),
        );
        if (rows.length > 0) await saveTurn(tx, queue, owner, nowMs);
        return rows.map((row) => {
          const resume = row.resume === null ? null : (JSON.parse(row.resume) as JobFacts);
          return { job: fromRow(row), lease: row.lease, resume, attempts: row.attempts, tenant: owner.tenant };
        });
      },
      isOfKinds(kinds),
    );
  }

  /** When a job of these kinds is due next, or the next lease expires; null: no job. */
  nextDueMs(kinds: readonly string[]): Promise<number | null> {
    return this.#leases.nextDueMs(isOfKinds(kinds));
  }

  /** The owner whose turn it is, and the jobs to lease; null: no job is due, or enough are leased. */
  async #nextTurn(
    db: Reader,
    nowMs: number,
    queue: string,
    options: JobLeaseOptions,
    together: { kind: string; max: number },
  ): Promise<{ owner: JobOwner; ids: string[] } | null> {
    const { kinds, atOnce, perTenant = atOnce, withoutTenants } = options;
    const running = await ownedJobs(db, kinds).select(OWNER).where(this.#leases.isLeased(nowMs)).execute();
    if (running.length >= atOnce) return null;
    const due = () => ownedJobs(db, kinds).where(this.#leases.isDue(nowMs));
    const waiting = await due()
      .select(OWNER)
      .groupBy(['jobs.userId', tenantOfJob])
      // Among owners that never had a turn, the one that has waited longest comes first.
      .orderBy((e) => e.fn.min('jobs.dueAtMs'))
      .orderBy((e) => e.fn.min('jobs.id'))
      .execute();
    const owners = waiting.map(ownerOfJob);
    const turns = await sharedTurns(db, queue, owners, running.map(ownerOfJob));
    const owner = turns.next(
      owners.filter((each) => turns.runningOfTenant(each) < perTenant && !withoutTenants?.has(each.tenant)),
    );
    if (owner === undefined) return null;
    const next = await due()
      .select(['jobs.id', 'jobs.kind', 'jobs.subjectId'])
      .where('jobs.userId', owner.userId === null ? 'is' : '=', owner.userId)
      .where(tenantOfJob, '=', owner.tenant)
      .orderBy('jobs.dueAtMs')
      .orderBy('jobs.id')
      .limit(1)
      .executeTakeFirst();
    // Without the writers' lock, another instance may have taken it since.
    if (next === undefined) return this.#nextTurn(db, nowMs, queue, options, together);
    if (next.kind !== together.kind || owner.userId !== null) return { owner, ids: [next.id] };
    const others = await due()
      .select(['jobs.id', 'jobs.subjectId'])
      .where('jobs.kind', '=', next.kind)
      .where('jobs.userId', 'is', null)
      .where('jobs.id', '!=', next.id)
      .orderBy(sql`row_number() over (partition by ${tenantOfJob} order by jobs.due_at_ms, jobs.id)`)
      .orderBy('jobs.dueAtMs')
      .orderBy('jobs.id')
      .limit(together.max - 1)
      .execute();
    // Only one of several jobs about the same subject is leased; the others wait.
    const bySubject = new Map<string | null, string>();
    for (const { id, subjectId } of [next, ...others]) if (!bySubject.has(subjectId)) bySubject.set(subjectId, id);
    return { owner, ids: [...bySubject.values()] };
  }

  /**
   * Renews the leases of many jobs. Such jobs take seconds, so cancellation is not checked: a job that is cancelled
   * meanwhile runs to its end.
   *
   * @returns false when any lease was lost
   */
  async renewTogether(leased: readonly Pick<LeasedJob, 'job' | 'lease'>[], leaseMs: number): Promise<boolean> {
    return (await this.#leases.renew(leased.map(leaseOf), leaseMs)).length === leased.length;
  }

  /**
   * Settles many jobs, and adds others of the service itself like {@link add}, in one transaction. Jobs whose lease was
   * lost are not changed.
   */
  async settleTogether(
    settled: readonly { leased: Pick<LeasedJob, 'job' | 'lease'>; outcome: JobOutcome }[],
    added: readonly ServiceJobFields[],
    merge: MergeJobs,
  ): Promise<void> {
    await this.#store.write(async ({ tx, nowMs, newId }) => {
      for (const { leased, outcome } of settled) await settleJob(this.#leases, tx, leased, outcome, nowMs);
      await addOrMerge(tx, added, merge, newId, nowMs);
    });
  }

  /**
   * Renews the lease and saves the progress; another worker would continue at `resume`.
   *
   * @returns `held`: go on; `cancel`: the job was cancelled; `lost`: the lease was lost, and nothing was saved
   */
  async renew(
    leased: Pick<LeasedJob, 'job' | 'lease'>,
    leaseMs: number,
    { percent, positions }: JobProgress,
    resume: JobFacts | null,
  ): Promise<'held' | 'cancel' | 'lost'> {
    // Attempts are counted since the job last got further.
    const progressed = resume && { resume: JSON.stringify(resume), attempts: 1 };
    const [row] = await this.#leases.renew([leaseOf(leased)], leaseMs, { percent, positions, ...progressed });
    return row === undefined ? 'lost' : row.cancelRequested ? 'cancel' : 'held';
  }

  /**
   * Ends the lease of a job with its outcome.
   *
   * @returns false when the lease was lost: nothing was changed
   */
  settle(leased: Pick<LeasedJob, 'job' | 'lease'>, outcome: JobOutcome): Promise<boolean> {
    return settleJob(this.#leases, this.#store.db, leased, outcome, this.#store.now());
  }

  /**
   * Adds jobs of the service itself, and saves the offset of the log consumer that found them, in one transaction. A
   * job is merged with a waiting one about the same subject. Jobs below the saved offset were added before and are left
   * out.
   *
   * @param merge merges the parameters of both
   */
  async gather(
    { consumer, partition, next }: { consumer: string; partition: number; next: number },
    jobs: readonly (ServiceJobFields & { offset: number })[],
    merge: MergeJobs,
  ): Promise<void> {
    await this.#store.write(async ({ tx, nowMs, newId }) => {
      const done = (await placesOf(tx, consumer)).get(partition)?.offset ?? 0;
      if (next <= done) return;
      const fresh = jobs.filter(({ offset }) => offset >= done);
      await addOrMerge(tx, fresh, merge, newId, nowMs);
      await tx
        .insertInto('consumerOffsets')
        .values({ consumer, logPartition: partition, nextOffset: next, logIdentity: null })
        .onConflict((c) => c.columns(['consumer', 'logPartition']).doUpdateSet({ nextOffset: next }))
        .execute();
    });
  }

  /** Like {@link gather}, for one job that does not come from a log. */
  async add(fields: ServiceJobFields, merge: MergeJobs): Promise<void> {
    await this.#store.write(({ tx, nowMs, newId }) => addOrMerge(tx, [fields], merge, newId, nowMs));
  }

  /** Offsets at which {@link gather} continues, by partition; partitions that were never saved are missing. */
  places(consumer: string): Promise<Map<number, ConsumerPlace>> {
    return placesOf(this.#store.db, consumer);
  }

  /**
   * Records which log a consumer reads.
   *
   * @param offset where it continues in the log; null: unchanged
   */
  setPlace(consumer: string, partition: number, identity: string, offset: number | null): Promise<void> {
    return setPlace(this.#store.db, consumer, partition, identity, offset);
  }

  /** See {@link Leases.clean}. */
  clean(finishedBeforeMs: number, limit: number): Promise<number> {
    return this.#leases.clean(finishedBeforeMs, limit);
  }
}

/** Leases of jobs, for {@link settleJob} in a transaction with other changes. */
export function jobLeases(store: Store): Leases<'jobs'> {
  return new Leases(store, {
    table: 'jobs',
    open: ['queued', 'running'],
    dueAt: 'dueAtMs',
    leasedUntil: 'leaseUntilMs',
  });
}

function leaseOf({ job, lease }: Pick<LeasedJob, 'job' | 'lease'>): Lease {
  return { id: job.id, lease };
}

/** @throws {TooManyJobsError} when the user has the maximum of open jobs */
export async function addUserJob({ tx, nowMs, newId }: Writer, fields: JobFields & { userId: UserId }): Promise<Job> {
  const { open } = await tx
    .selectFrom('jobs')
    .select((e) => e.fn.countAll<number>().as('open'))
    .where('userId', '=', fields.userId)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow();
  if (Number(open) >= MAX_OPEN_JOBS_PER_USER) throw new TooManyJobsError(MAX_OPEN_JOBS_PER_USER);
  const row = newJobRow(fields, newId(), nowMs);
  await tx.insertInto('jobs').values(row).execute();
  return fromRow(row);
}

/** {@link Jobs.settle}, for a given connection or transaction. */
export function settleJob(
  leases: Leases<'jobs'>,
  db: Reader,
  leased: Pick<LeasedJob, 'job' | 'lease'>,
  outcome: JobOutcome,
  nowMs: number,
): Promise<boolean> {
  return leases.settle(db, leaseOf(leased), {
    state: outcome.state,
    ...(outcome.state === 'queued'
      ? { resume: outcome.resume && JSON.stringify(outcome.resume), dueAtMs: outcome.dueAtMs, attempts: 0 }
      : { resume: null, finishedAtMs: nowMs }),
    ...(outcome.state === 'done' && {
      result: JSON.stringify(outcome.result),
      percent: 100,
      ...(outcome.positions !== undefined && { positions: outcome.positions }),
    }),
    ...(outcome.state === 'failed' && {
      error: outcome.error.slice(0, MAX_ERROR_CHARACTERS),
      ...(outcome.result && { result: JSON.stringify(outcome.result) }),
    }),
  });
}

/**
 * A job belongs to the tenant of its user. A job of the service itself belongs to the tenant of the vehicle that it is
 * about, or else to the operator.
 */
const tenantOfJob = sql<string>`coalesce(users.dealer_id, users.id, jobs.user_id, vehicles.dealer_id, 'operator')`;
const OWNER = ['jobs.userId as userId', tenantOfJob.as('tenant')] as const;

function isOfKinds(kinds: readonly string[]) {
  return sql<SqlBool>`jobs.kind in (${sql.join(kinds)})`;
}

function ownedJobs(db: Reader, kinds: readonly string[]) {
  return db
    .selectFrom('jobs')
    .leftJoin('users', 'users.id', 'jobs.userId')
    .leftJoin('vehicles', (join) => join.onRef('vehicles.id', '=', 'jobs.subjectId').on('jobs.userId', 'is', null))
    .where(isOfKinds(kinds));
}

interface JobOwner extends Owner {
  /** Null: the service itself. */
  userId: string | null;
}

function ownerOfJob({ userId, tenant }: { userId: string | null; tenant: string }): JobOwner {
  return { userId, tenant, account: userId ?? `service of ${tenant}` };
}

/** Final columns of a job that was cancelled, or whose workers crashed too often; null: it is attempted. */
function givenUp(
  { attempts, cancelRequested }: Pick<Selectable<JobRow>, 'attempts' | 'cancelRequested'>,
  maxAttempts: number,
  nowMs: number,
): Columns<'jobs'> | null {
  const over = { resume: null, finishedAtMs: nowMs };
  if (cancelRequested) return { ...over, state: 'cancelled' };
  if (attempts <= maxAttempts) return null;
  return { ...over, state: 'failed', error: `It was interrupted ${attempts - 1} times without progress.` };
}

/** Adds jobs of the service. Jobs of the same kind and subject, including a waiting one, are merged. */
async function addOrMerge(
  tx: Transaction<Tables>,
  added: readonly ServiceJobFields[],
  merge: MergeJobs,
  newId: () => string,
  nowMs: number,
): Promise<void> {
  for (const [kind, ofKind] of Map.groupBy(added, (fields) => fields.kind)) {
    const bySubject = new Map<string, ServiceJobFields>();
    for (const fields of ofKind) {
      const known = bySubject.get(fields.subjectId);
      bySubject.set(fields.subjectId, known === undefined ? fields : mergedFields(known, fields, merge));
    }
    for (const some of inChunks([...bySubject.values()])) await addOrMergeChunk(tx, kind, some, merge, newId, nowMs);
  }
}

/** @param added each about a different subject */
async function addOrMergeChunk(
  tx: Transaction<Tables>,
  kind: string,
  added: readonly ServiceJobFields[],
  merge: MergeJobs,
  newId: () => string,
  nowMs: number,
): Promise<void> {
  const subjects = added.map(({ subjectId }) => subjectId);
  const rows = await tx
    .selectFrom('jobs')
    .select(['id', 'subjectId', 'parameters', 'dueAtMs'])
    .where('state', '=', 'queued')
    .where('kind', '=', kind)
    .where('subjectId', 'in', subjects)
    .where('userId', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  const waiting = new Map(rows.map((row) => [row.subjectId, row]));
  const fresh: JobRow[] = [];
  for (const fields of added) {
    const row = waiting.get(fields.subjectId);
    if (row === undefined) {
      fresh.push(newJobRow({ ...fields, userId: null }, newId(), nowMs));
      continue;
    }
    const known = { ...fields, parameters: JSON.parse(row.parameters) as JobFacts, dueAtMs: row.dueAtMs };
    const { parameters, dueAtMs } = mergedFields(known, fields, merge);
    await tx
      .updateTable('jobs')
      .set({ parameters: JSON.stringify(parameters), dueAtMs: dueAtMs, resume: null })
      .where('id', '=', row.id)
      .execute();
  }
  // Rows have two dozen columns, so fewer of them fit into a statement than single values.
  for (let at = 0; at < fresh.length; at += ROWS_AT_ONCE)
    await tx
      .insertInto('jobs')
      .values(fresh.slice(at, at + ROWS_AT_ONCE))
      .execute();
}

function mergedFields(waiting: ServiceJobFields, added: ServiceJobFields, merge: MergeJobs): ServiceJobFields {
  const parameters = merge(waiting.parameters, added.parameters);
  return { ...waiting, parameters, dueAtMs: Math.min(waiting.dueAtMs, added.dueAtMs) };
}

/** @param by the schedule that creates it, and the period that it is for */
export function newJobRow(
  fields: JobFields,
  id: string,
  nowMs: number,
  by: { scheduleId: ReportScheduleId; period: string } | null = null,
): JobRow {
  return {
    id,
    kind: fields.kind,
    userId: fields.userId,
    subjectId: fields.subjectId,
    scheduleId: by?.scheduleId ?? null,
    period: by?.period ?? null,
    parameters: JSON.stringify(fields.parameters),
    state: 'queued',
    percent: 0,
    positions: 0,
    result: null,
    error: null,
    resume: null,
    createdAtMs: nowMs,
    startedAtMs: null,
    finishedAtMs: null,
    dueAtMs: fields.dueAtMs,
    lease: null,
    leaseUntilMs: 0,
    attempts: 0,
    cancelRequested: 0,
  };
}

function fromRow(row: Selectable<JobRow>): Job {
  return {
    id: row.id as JobId,
    kind: row.kind,
    userId: row.userId as UserId | null,
    subjectId: row.subjectId,
    scheduleId: row.scheduleId as ReportScheduleId | null,
    parameters: JSON.parse(row.parameters) as JobFacts,
    state: row.state as JobState,
    progress: { percent: row.percent, positions: row.positions },
    result: row.result === null ? null : (JSON.parse(row.result) as JobFacts),
    error: row.error,
    createdAtMs: row.createdAtMs,
    startedAtMs: row.startedAtMs,
    finishedAtMs: row.finishedAtMs,
  };
}
