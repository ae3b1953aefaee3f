import type { JobId, Owner, ReportSchedule, ReportScheduleId, Turns, UserId } from '@outrider/domain';
import type { Transaction } from 'kysely';
import { ownersOf } from './fair-order.ts';
import type { Job } from './jobs.ts';
import type { ReportDeliveryRow, Tables } from './schema.ts';
import type { Store } from './store.ts';

/** The report of a schedule on its way to one mailbox. */
export interface ReportDelivery {
  id: string;
  jobId: JobId;
  scheduleId: ReportScheduleId;
  userId: UserId;
  /** Address of the mailbox. */
  target: string;
  /** Begun so far, this one included. */
  attempts: number;
  giveUpAtMs: number;
  /** Of this attempt: the caller, and nobody else, is to make it. */
  lease: string;
  /** Whose turn it takes, to be ended by {@link Turns.end}. */
  owner: Owner;
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

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Takes deliveries that are due, for the owners in turn. A lease that runs out without an outcome makes its delivery due again.
   *
   * @param limit how many the caller can send now
   * @param turns of the caller: what it has in progress
   */
  async lease(limit: number, leaseMs: number, turns: Turns): Promise<ReportDelivery[]> {
    const nowMs = this.#store.now();
    const { db } = this.#store;
    const due = await db
      .selectFrom('reportDeliveries')
      .select('userId')
      .distinct()
      .where('state', '=', 'pending')
      .where('nextAttemptAtMs', '<=', nowMs)
      .execute();
    const accounts = due.map(({ userId }) => userId);
    const owners = await ownersOf(db, accounts);
    // An account that is gone has nothing sent; what was for it is cancelled in its turn.
    const waiting = new Set(accounts.map((account) => owners.get(account) ?? { account, tenant: account }));
    const leased: ReportDelivery[] = [];
    while (leased.length < limit) {
      const owner = turns.next(waiting);
      if (owner === undefined) break;
      const lease = this.#store.newId();
      const row = await db
        .updateTable('reportDeliveries')
        .set((e) => ({ lease, nextAttemptAtMs: nowMs + leaseMs, attempts: e('attempts', '+', 1) }))
        .where('id', '=', (e) =>
          e
            .selectFrom('reportDeliveries as due')
            .select('due.id')
            .where('due.state', '=', 'pending')
            .where('due.userId', '=', owner.account)
            .where('due.nextAttemptAtMs', '<=', nowMs)
            .orderBy('due.nextAttemptAtMs')
            .limit(1),
        )
        .where('state', '=', 'pending')
        // Another worker may have seen it too: whoever comes first has it.
        .where('nextAttemptAtMs', '<=', nowMs)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) {
        waiting.delete(owner);
        continue;
      }
      turns.begin(owner);
      turns.served(owner);
      leased.push({ ...fromRow(row, lease), owner });
    }
    return leased;
  }

  /**
   * Notes how the attempt ended.
   *
   * @returns false when the lease had run out and the delivery is somebody else's: nothing was noted
   */
  async settle({ id, lease }: Pick<ReportDelivery, 'id' | 'lease'>, outcome: ReportDeliveryOutcome): Promise<boolean> {
    const nowMs = this.#store.now();
    const isPending = outcome.state === 'pending';
    const [result] = await this.#store.db
      .updateTable('reportDeliveries')
      .set({
        state: outcome.state,
        lease: null,
        lastError: outcome.state === 'delivered' ? null : outcome.error,
        finishedAtMs: isPending ? null : nowMs,
        nextAttemptAtMs: isPending ? outcome.nextAttemptAtMs : nowMs,
      })
      .where('id', '=', id)
      .where('lease', '=', lease)
      .execute();
    return result?.numUpdatedRows === 1n;
  }

  /** How many there are in each state. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#store.db
      .selectFrom('reportDeliveries')
      .select((e) => ['state', e.fn.countAll<number>().as('count')])
      .groupBy('state')
      .execute();
    return new Map(rows.map(({ state, count }) => [state, Number(count)]));
  }

  /**
   * Forgets what was over before a time.
   *
   * @param limit at most this many
   * @returns how many they were
   */
  async clean(finishedBeforeMs: number, limit: number): Promise<number> {
    const rows = await this.#store.db
      .selectFrom('reportDeliveries')
      .select('id')
      .where('finishedAtMs', '<', finishedBeforeMs)
      .limit(limit)
      .execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await this.#store.db.deleteFrom('reportDeliveries').where('id', 'in', ids).execute();
    return ids.length;
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
      jobId,
      scheduleId,
      userId,
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
