import type { NotificationRuleId, UserId } from '@outrider/domain';
import type { AuditNote } from '../audit/audit-notes.ts';
import { TooManyTestsError } from '../store/errors.ts';
import type { ChannelTestRow } from '../store/schema.ts';
import type { Reader, Store } from '../store/store.ts';
import { type Lease, Leases } from '../work/leases.ts';
import type { Channel, DeliveryState } from './deliveries.ts';

/** A message that tests a channel: one attempt, whose result is kept for an hour. */
export interface ChannelTest {
  id: string;
  /** The account that requested it. */
  userId: UserId;
  /** Null: the test is of a message channel, independent of rules. */
  ruleId: NotificationRuleId | null;
  channel: Channel;
  /** Address of the mailbox, URL of the webhook, or id of the message channel. */
  target: string;
  state: DeliveryState;
  createdAtMs: number;
  /** Null while it is pending. */
  finishedAtMs: number | null;
  lastError: string | null;
  /** HTTP status or SMTP code. */
  responseStatus: number | null;
}

/** Outcome of the attempt. */
export type ChannelTestOutcome =
  | { state: 'delivered'; status: number | null }
  | { state: 'failed' | 'cancelled'; error: string; status: number | null };

/** Limit per account. */
export const MAX_TESTS_PER_MINUTE = 5;
const MINUTE_MS = 60_000;
const KEPT_MS = 3_600_000;
const MAX_LISTED = 100;
/** Stands for null: the column was defined before message channels existed. */
const NO_RULE = '';

/** Leaves out the target: the URL of a webhook may contain a key. */
async function testNote(
  tx: Reader,
  { userId, ruleId, channel, target }: Pick<ChannelTest, 'userId' | 'ruleId' | 'target'> & { channel: string },
): Promise<AuditNote> {
  const [kind, id] =
    ruleId === null ? (['message-channel', target] as const) : (['notification-rule', ruleId] as const);
  const table = ruleId === null ? 'messageChannels' : 'notificationRules';
  const row = await tx.selectFrom(table).select('name').where('id', '=', id).executeTakeFirst();
  return {
    action: 'tested',
    subject: { kind, id, name: row?.name ?? '' },
    before: null,
    after: { channel },
    dealerIds: [],
    ownerIds: [userId],
  };
}

/** Messages that users send to test a channel. */
export class ChannelTests {
  readonly #store: Store;
  readonly #leases: Leases<'channelTests'>;

  constructor(store: Store) {
    this.#store = store;
    this.#leases = new Leases(store, {
      table: 'channelTests',
      open: ['pending'],
      dueAt: 'nextAttemptAtMs',
      leasedUntil: 'nextAttemptAtMs',
    });
  }

  /** @throws {TooManyTestsError} when the account requested {@link MAX_TESTS_PER_MINUTE} within a minute */
  request(test: Pick<ChannelTest, 'userId' | 'ruleId' | 'target'> & { channel: string }): Promise<ChannelTest> {
    const nowMs = this.#store.now();
    return this.#store.write(async (writer) => {
      const { tx, newId } = writer;
      await tx
        .deleteFrom('channelTests')
        .where('userId', '=', test.userId)
        .where('createdAtMs', '<', nowMs - KEPT_MS)
        .execute();
      const lately = await tx
        .selectFrom('channelTests')
        .select('createdAtMs')
        .where('userId', '=', test.userId)
        .where('createdAtMs', '>', nowMs - MINUTE_MS)
        .orderBy('createdAtMs')
        .execute();
      const [first] = lately;
      if (first !== undefined && lately.length >= MAX_TESTS_PER_MINUTE)
        throw new TooManyTestsError(first.createdAtMs + MINUTE_MS - nowMs);
      const row: ChannelTestRow = {
        ...test,
        ruleId: test.ruleId ?? NO_RULE,
        id: newId(),
        state: 'pending',
        attempts: 0,
        createdAtMs: nowMs,
        nextAttemptAtMs: nowMs,
        finishedAtMs: null,
        lease: null,
        lastError: null,
        responseStatus: null,
      };
      await tx.insertInto('channelTests').values(row).execute();
      writer.note(await testNote(tx, test));
      return fromRow(row);
    });
  }

  /** Tests of a rule that the account requested in the last hour, the newest first. */
  async list(userId: UserId, ruleId: NotificationRuleId): Promise<ChannelTest[]> {
    const rows = await this.#store.db
      .selectFrom('channelTests')
      .selectAll()
      .where('userId', '=', userId)
      .where('createdAtMs', '>=', this.#store.now() - KEPT_MS)
      .where('ruleId', '=', ruleId)
      .orderBy('id', 'desc')
      .limit(MAX_LISTED)
      .execute();
    return rows.map(fromRow);
  }

  /** The same for a message channel. */
  async listOfTarget(userId: UserId, target: string): Promise<ChannelTest[]> {
    const rows = await this.#store.db
      .selectFrom('channelTests')
      .selectAll()
      .where('userId', '=', userId)
      .where('createdAtMs', '>=', this.#store.now() - KEPT_MS)
      .where('ruleId', '=', NO_RULE)
      .where('target', '=', target)
      .orderBy('id', 'desc')
      .limit(MAX_LISTED)
      .execute();
    return rows.map(fromRow);
  }

  /** Leases due tests. A test whose worker crashed counts as failed, as it may have been sent. */
  lease(limit: number, leaseMs: number): Promise<(ChannelTest & Lease)[]> {
    return this.#store.due(
      'channel tests',
      [],
      async () => {
        const isDue = this.#leases.isDue(this.#store.now());
        const { db } = this.#store;
        const query = db.selectFrom('channelTests').select('id').where(isDue).orderBy('nextAttemptAtMs').limit(limit);
        const ids = (await query.execute()).map(({ id }) => id);
        if (ids.length === 0) return [];
        const rows = await this.#leases.take(db, ids, leaseMs, {}, ({ attempts }, nowMs) =>
          attempts <= 1 ? null : { state: 'failed', lastError: 'The attempt was interrupted.', finishedAtMs: nowMs },
        );
        return rows.map((row) => ({ ...fromRow(row), lease: row.lease }));
      },
      () => this.#leases.nextDueMs(),
    );
  }

  renew(leased: readonly Lease[], leaseMs: number): Promise<unknown> {
    return this.#leases.renew(leased, leaseMs);
  }

  /** @returns false when the lease was lost: nothing was noted */
  settle(leased: Lease, outcome: ChannelTestOutcome): Promise<boolean> {
    return this.#leases.settle(this.#store.db, leased, {
      state: outcome.state,
      lastError: outcome.state === 'delivered' ? null : outcome.error,
      responseStatus: outcome.status,
      finishedAtMs: this.#store.now(),
    });
  }
}

function fromRow(row: ChannelTestRow): ChannelTest {
  return {
    id: row.id,
    userId: row.userId as UserId,
    ruleId: row.ruleId === NO_RULE ? null : (row.ruleId as NotificationRuleId),
    channel: row.channel,
    target: row.target,
    state: row.state as DeliveryState,
    createdAtMs: row.createdAtMs,
    finishedAtMs: row.finishedAtMs,
    lastError: row.lastError,
    responseStatus: row.responseStatus,
  };
}
