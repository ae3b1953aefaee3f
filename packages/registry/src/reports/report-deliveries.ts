import type { JobId, Owner, ReportSchedule, ReportScheduleId, Turns, UserId } from '@outrider/domain';
import type { Transaction } from 'kysely';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { ReportDeliveryRow, Tables } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { inTurns, ownersOf } from '../work/fair-order.ts';
import type { Job } from '../work/jobs.ts';
import { type Lease, Leases, outOfTime } from '../work/leases.ts';

/** Delivery of a scheduled report to one mailbox. */
export interface ReportDelivery {
  id: string;
  jobId: JobId;
  scheduleId: ReportScheduleId;
  userId: UserId;
  /** Address of the mailbox. */
  target: string;
  /** Number of attempts that were started, this one included. */
  attempts: number;
  giveUpAtMs: number;
  /** Lease of this attempt, held by the caller. */
  lease: string;
  /** Owner whose turn it takes, to be ended by {@link Turns.end}. */
  owner: Owner;
}

/** Delivery of a report to one mailbox, with its outcome. */
export interface ListedReportDelivery extends Pick<ReportDelivery, 'id' | 'jobId' | 'target' | 'attempts'> {
  state: ReportDeliveryOutcome['state'];
  createdAtMs: number;
  /** Null: it is tried again. */
  finishedAtMs: number | null;
  /** Error of the last attempt that failed. */
  error: string | null;
}

/** Outcome of an attempt. */
export type ReportDeliveryOutcome =
  | { state: 'delivered' }
  | { state: 'pending'; error: string; nextAttemptAtMs: number }
  | { state: 'failed' | 'cancelled'; error: string };

/** How long attempts are repeated. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** Deliveries of scheduled reports to mailboxes. */
export class ReportDeliveries {
  readonly #store: Store;
  readonly #leases: Leases<'reportDeliveries'>;

  constructor(store: Store) {
    this.#store = store;
    this.#leases = new Leases(store, {
      table: 'reportDeliveries',
      open: ['pending'],
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'nextAttemptAtMs',
    });
  }

  /**
   * Leases due deliveries, for the owners in turn. A delivery that is due after its last possible time, and was
   * attempted, is given up.
   *
   * @param limit how many the caller can send now
   * @param turns of the caller, with its deliveries in progress
   */
  lease(limit: number, leaseMs: number, turns: Turns): Promise<ReportDelivery[]> {
    return this.#store.due(
      'report deliveries',
      [],
      () => this.#lease(limit, leaseMs, turns),
      () => this.nextDueMs(),
    );
  }

  async #lease(limit: number, leaseMs: number, turns: Turns): Promise<ReportDelivery[]> {
    const { db } = this.#store;
    const isDue = this.#leases.isDue(this.#store.now());
    const due = await db.selectFrom('reportDeliveries').select('userId').distinct().where(isDue).execute();
    const accounts = due.map(({ userId }) => userId);
    const owners = await ownersOf(db, accounts);
    // A deleted account gets a turn too, in which its deliveries are cancelled.
    const waiting = accounts.map((account) => owners.get(account) ?? { account, tenant: account });
    const takeNext = async (owner: Owner): Promise<ReportDelivery | null> => {
      for (;;) {
        const next = await db
          .selectFrom('reportDeliveries')
          .select('id')
          .where(isDue)
          .where('userId', '=', owner.account)
          .orderBy('nextAttemptAtMs')
          .limit(1)
          .executeTakeFirst();
        if (next === undefined) return null;
        const [row] = await this.#leases.take(db, [next.id], leaseMs, {}, outOfTime);
        if (row === undefined) continue;
        turns.begin(owner);
        turns.served(owner);
        return { ...fromRow(row, row.lease), owner };
      }
    };
    return inTurns<Owner, ReportDelivery>(turns, waiting, ({ length }) => length >= limit, takeNext);
  }

  /** When the next delivery is due, or the next lease expires; null: no delivery waits. */
  nextDueMs(): Promise<number | null> {
    return this.#leases.nextDueMs();
  }

  renew(leased: readonly Lease[], leaseMs: number): Promise<unknown> {
    return this.#leases.renew(leased, leaseMs);
  }

  /**
   * Records the outcome of an attempt.
   *
   * @returns false when the lease was lost: nothing was noted
   */
  settle(leased: Lease, outcome: ReportDeliveryOutcome): Promise<boolean> {
    const nowMs = this.#store.now();
    const isPending = outcome.state === 'pending';
    return this.#leases.settle(this.#store.db, leased, {
      state: outcome.state,
      lastError: outcome.state === 'delivered' ? null : outcome.error,
      finishedAtMs: isPending ? null : nowMs,
      nextAttemptAtMs: isPending ? outcome.nextAttemptAtMs : nowMs,
    });
  }

  /** Deliveries of a schedule, the newest first; those that ended long ago are deleted. */
  async ofSchedule(scheduleId: ReportScheduleId, paging: Paging): Promise<Page<ListedReportDelivery>> {
    const query = this.#store.db.selectFrom('reportDeliveries').selectAll().where('scheduleId', '=', scheduleId);
    return readPage(query, paging, (rows) => rows.map(listed), 'newest first');
  }

  /** Number of deliveries in each state. */
  counts(): Promise<ReadonlyMap<string, number>> {
    return this.#leases.counts();
  }

  /** See {@link Leases.clean}. */
  clean(finishedBeforeMs: number, limit: number): Promise<number> {
    return this.#leases.clean(finishedBeforeMs, limit);
  }
}

/** Queues a delivery to each address of the schedule that created the job; none for jobs without a schedule. */
export async function insertReportDeliveries(
  tx: Transaction<Tables>,
  { id: jobId, scheduleId, userId }: Pick<Job, 'id' | 'scheduleId' | 'userId'>,
  nowMs: number,
  newId: () => string,
): Promise<void> {
  if (scheduleId === null || userId === null) return;
  const row = await tx.selectFrom('reportSchedules').select('terms').where('id', '=', scheduleId).executeTakeFirst();
  if (!row) return;
  const { emails } = JSON.parse(row.terms) as Pick<ReportSchedule, 'emails'>;
  const rows = emails.map(
    (target): ReportDeliveryRow => ({
      id: newId(),
      jobId: jobId,
      scheduleId: scheduleId,
      userId: userId,
      target,
      state: 'pending',
      attempts: 0,
      createdAtMs: nowMs,
      nextAttemptAtMs: nowMs,
      giveUpAtMs: nowMs + GIVE_UP_AFTER_MS,
      finishedAtMs: null,
      lease: null,
      lastError: null,
    }),
  );
  if (rows.length > 0) await tx.insertInto('reportDeliveries').values(rows).execute();
}

function fromRow(row: ReportDeliveryRow, lease: string): Omit<ReportDelivery, 'owner'> {
  return {
    id: row.id,
    jobId: row.jobId as JobId,
    scheduleId: row.scheduleId as ReportScheduleId,
    userId: row.userId as UserId,
    target: row.target,
    attempts: row.attempts,
    giveUpAtMs: row.giveUpAtMs,
    lease,
  };
}

function listed(row: ReportDeliveryRow): ListedReportDelivery {
  const { id, jobId, target, state, attempts, createdAtMs, finishedAtMs, lastError } = row;
  return {
    ...{ id, jobId: jobId as JobId, target, attempts, createdAtMs, finishedAtMs },
    state: state as ReportDeliveryOutcome['state'],
    error: lastError,
  };
}
