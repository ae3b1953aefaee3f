import type { JobId, Owner, ReportSchedule, ReportScheduleId, Turns, UserId } from '@outrider/domain';
import type { Transaction } from 'kysely';
import { type Page, type Paging, readPage } from '../store/page.ts';
import type { ReportDeliveryRow, Tables } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { inTurns, ownersOf } from '../work/fair-order.ts';
import type { Job } from '../work/jobs.ts';
import { type Lease, Leases, outOfTime } from '../work/leases.ts';

/** The report of a schedule on its way to one mailbox. */
export interface ReportDelivery {
  id: string;
  jobId: JobId;
  scheduleId: ReportScheduleId;
  userId: UserId;
  /** Address of the mailbox. */
  target: string;
  /** Attempts begun up to now, this one included. */
  attempts: number;
  giveUpAtMs: number;
  /** Of this attempt: the caller, and nobody else, is to make it. */
  lease: string;
  /** Whose turn it takes, to be ended by {@link Turns.end}. */
  owner: Owner;
}

/** What became of one. */
export interface ListedReportDelivery extends Pick<ReportDelivery, 'id' | 'jobId' | 'target' | 'attempts'> {
  state: ReportDeliveryOutcome['state'];
  createdAtMs: number;
  /** Null: it is tried again. */
  finishedAtMs: number | null;
  /** Of the last attempt that failed. */
  error: string | null;
}

/** How an attempt ended. */
export type ReportDeliveryOutcome =
  | { state: 'delivered' }
  | { state: 'pending'; error: string; nextAttemptAtMs: number }
  | { state: 'failed' | 'cancelled'; error: string };

/** How long a delivery is tried. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** Reports of schedules on their way to mailboxes. */
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
   * Leases deliveries that are due, for the owners in turn. One that is due after its last time, and was attempted, is
   * given up.
   *
   * @param limit how many the caller can send now
   * @param turns of the caller: what it has in progress
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
    // Deliveries of an account that is gone are cancelled in its turn.
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

  /** When one is to be leased next, or the lease of one lapses; null: none waits. */
  nextDueMs(): Promise<number | null> {
    return this.#leases.nextDueMs();
  }

  renew(leased: readonly Lease[], leaseMs: number): Promise<unknown> {
    return this.#leases.renew(leased, leaseMs);
  }

  /**
   * Notes how the attempt ended.
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

  /** Of a schedule, the newest first; those that ended long ago are cleaned away. */
  async ofSchedule(scheduleId: ReportScheduleId, paging: Paging): Promise<Page<ListedReportDelivery>> {
    const query = this.#store.db.selectFrom('reportDeliveries').selectAll().where('scheduleId', '=', scheduleId);
    return readPage(query, paging, (rows) => rows.map(listed), 'newest first');
  }

  /** How many there are in each state. */
  counts(): Promise<ReadonlyMap<string, number>> {
    return this.#leases.counts();
  }

  /** See {@link Leases.clean}. */
  clean(finishedBeforeMs: number, limit: number): Promise<number> {
    return this.#leases.clean(finishedBeforeMs, limit);
  }
}

/** A delivery to each address of the schedule that made the job; none where nobody but its user asked for it. */
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
