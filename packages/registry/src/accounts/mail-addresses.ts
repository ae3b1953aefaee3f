import { randomBytes } from 'node:crypto';
import type { Owner } from '@outrider/domain';
import type { Transaction } from 'kysely';
import { TooManyAddressesError } from '../store/errors.ts';
import type { MailAddressRow, Tables } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import { inTurns, saveTurn, sharedTurns } from '../work/fair-order.ts';
import { type Lease, Leases } from '../work/leases.ts';

/**
 * - `pending`: its holder has not confirmed it: it gets no mail but the one that asks for that.
 * - `confirmed`: its holder, or the operator, agreed to mails of the tenant.
 * - `unsubscribed`: its holder wants none, until the holder confirms it again.
 */
export const MAIL_ADDRESS_STATES = ['pending', 'confirmed', 'unsubscribed'] as const;
export type MailAddressState = (typeof MAIL_ADDRESS_STATES)[number];

/** An e-mail address as one tenant may use it. */
export interface MailAddress {
  id: string;
  tenant: string;
  address: string;
  /** Of its reader, as the account supposes that last named it; null: not known. */
  language: string | null;
  state: MailAddressState;
  /** What links in its mails are signed with. */
  secret: string;
  /** Grows with each change of the state: links that change it are good for one generation. */
  generation: number;
  /** When it was last sent a mail that asks for the confirmation; null: never. */
  askedAtMs: number | null;
}

/** How many mails may be sent in an hour and in a day. */
export interface MailLimits {
  perHour: number;
  perDay: number;
}

/** A mail that asks the holder of an address to confirm it, to be sent by the caller and nobody else. */
export interface LeasedConfirmation {
  address: MailAddress;
  lease: string;
  attempts: number;
}

/** State of an address that a tenant uses. */
export interface MailAddressStatus {
  state: MailAddressState;
  /** Mails of the last 24 hours that were not sent because of a limit. */
  suppressed: number;
}

/** Of one tenant: who names more is asked to wait until some are confirmed. */
const MAX_PENDING = 1000;
/** An address is asked again for another confirmation no sooner than this. */
const ASK_AGAIN_MS = 3_600_000;
/** Pending addresses that were not saved again for this time are deleted. */
const PENDING_KEPT_MS = 30 * 86_400_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
const MONTH = 'month';
const QUEUE = 'mail confirmations';

/** E-mail addresses that tenants want to write to, and how many mails they sent. */
export class MailAddresses {
  readonly #store: Store;
  readonly #leases: Leases<'mailAddresses'>;

  constructor(store: Store) {
    this.#store = store;
    const dueAt = 'nextAttemptAtMs';
    this.#leases = new Leases(store, { table: 'mailAddresses', dueAt, leasedUntil: dueAt });
  }

  /**
   * Notes that a tenant wants to write to addresses. New ones are pending, and their holders are asked to confirm them.
   *
   * @param isTrusted addresses that the operator vouches for: they are confirmed at once, unless they unsubscribed
   * @param named the owner has just named them, for readers of a language: those that are pending already are asked
   *   once more, where the last time is long enough ago
   * @throws {TooManyAddressesError} when too many addresses of the tenant are pending
   */
  async request(
    tenant: string,
    addresses: readonly string[],
    isTrusted: (address: string) => boolean,
    named: { language: string | null } | null = null,
  ): Promise<Map<string, MailAddress>> {
    const known = await this.#find(tenant, addresses);
    const nowMs = this.#store.now();
    const { db } = this.#store;
    if (addresses.some((address) => !known.has(keyOf(address)) && !isTrusted(address))) {
      const { count } = await db
        .selectFrom('mailAddresses')
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('tenantId', '=', tenant)
        .where('state', '=', 'pending')
        .executeTakeFirstOrThrow();
      if (Number(count) >= MAX_PENDING) throw new TooManyAddressesError(MAX_PENDING);
    }
    for (const address of addresses) {
      const row = known.get(keyOf(address));
      const trusted = isTrusted(address);
      if (row === undefined)
        await db
          .insertInto('mailAddresses')
          .values({
            ...this.#sealed(
              newMailAddressRow(this.#store.newId(), tenant, address, trusted ? 'confirmed' : 'pending', nowMs),
            ),
            language: named?.language ?? null,
          })
          .onConflict((c) => c.columns(['tenantId', 'addressKey']).doNothing())
          .execute();
      else if (row.state === 'pending' && trusted) await this.#change(row, 'confirmed');
      else if (row.state === 'pending' && named !== null) {
        if (row.language !== named.language)
          await db
            .updateTable('mailAddresses')
            .set({ language: named.language })
            .where('id', '=', row.id)
            .where('state', '=', 'pending')
            .execute();
        await db
          .updateTable('mailAddresses')
          .set({ nextAttemptAtMs: nowMs, attempts: 0, changedAtMs: nowMs })
          .where('id', '=', row.id)
          .where('nextAttemptAtMs', 'is', null)
          .where('askedAtMs', '<=', nowMs - ASK_AGAIN_MS)
          .execute();
      }
    }
    return this.#find(tenant, addresses);
  }

  /** Statuses of a tenant's addresses, by address; those that it never used are missing. */
  async statuses(tenant: string, addresses: readonly string[]): Promise<Map<string, MailAddressStatus>> {
    const known = await this.#find(tenant, addresses);
    const suppressed = new Map<string, number>();
    for (const some of inChunks([...known.values()].map(({ id }) => id))) {
      const rows = await this.#store.db
        .selectFrom('mailCounts')
        .select(['counter', 'suppressed'])
        .where('counter', 'in', some.map(dayCounter))
        .where('windowStartMs', '>=', windowOf(this.#store.now(), DAY_MS))
        .execute();
      for (const row of rows) suppressed.set(row.counter, row.suppressed);
    }
    return new Map(
      addresses.flatMap((address) => {
        const found = known.get(keyOf(address));
        if (found === undefined) return [];
        return [[address, { state: found.state, suppressed: suppressed.get(dayCounter(found.id)) ?? 0 }]];
      }),
    );
  }

  /** Null for an unknown id. */
  async get(id: string): Promise<MailAddress | null> {
    const row = await this.#store.db.selectFrom('mailAddresses').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? this.#opened(row) : null;
  }

  /**
   * Notes what the holder of an address wants.
   *
   * @returns false when it was changed since `generation`: nothing was noted
   */
  async change(address: MailAddress, state: 'confirmed' | 'unsubscribed'): Promise<boolean> {
    return this.#change(address, state);
  }

  async #change({ id, generation }: MailAddress, state: MailAddressState): Promise<boolean> {
    const row = await this.#store.db
      .updateTable('mailAddresses')
      .set({
        state,
        generation: generation + 1,
        nextAttemptAtMs: null,
        lease: null,
        changedAtMs: this.#store.now(),
      })
      .where('id', '=', id)
      .where('generation', '=', generation)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Counts a mail of a tenant to an address, unless a limit is reached; then it counts as suppressed. All instances
   * count together, by hours and days of UTC.
   *
   * @returns the limit that was reached; null where the mail may be sent
   */
  take(
    { id, tenant }: Pick<MailAddress, 'id' | 'tenant'>,
    limits: { address: MailLimits; owner: MailLimits },
  ): Promise<string | null> {
    return this.#count(
      [
        [
          `hour address ${id}`,
          HOUR_MS,
          limits.address.perHour,
          `${limits.address.perHour} e-mails an hour to the address`,
        ],
        [dayCounter(id), DAY_MS, limits.address.perDay, `${limits.address.perDay} e-mails a day to the address`],
        [
          `hour tenant ${tenant}`,
          HOUR_MS,
          limits.owner.perHour,
          `${limits.owner.perHour} e-mails an hour of the account's fleet`,
        ],
        [
          `day tenant ${tenant}`,
          DAY_MS,
          limits.owner.perDay,
          `${limits.owner.perDay} e-mails a day of the account's fleet`,
        ],
      ],
      dayCounter(id),
    );
  }

  /**
   * The same for mails that their reader did not agree to: an address counts once, whichever tenants name it.
   *
   * @param what of which there are few, in words
   */
  takeFew(
    what: 'confirmations' | 'account mails' | 'account notices',
    { address, tenant }: Pick<MailAddress, 'address' | 'tenant'>,
    { perDay, perMonth }: { perDay: number; perMonth: number },
    owner: MailLimits,
  ): Promise<string | null> {
    return this.#count(
      [
        [`day ${what} to ${keyOf(address)}`, DAY_MS, perDay, `${perDay} ${what} a day`],
        [`${MONTH} ${what} to ${keyOf(address)}`, MONTH_MS, perMonth, `${perMonth} ${what} in 30 days`],
        [`hour ${what} of ${tenant}`, HOUR_MS, owner.perHour, `${owner.perHour} ${what} an hour`],
        [`day ${what} of ${tenant}`, DAY_MS, owner.perDay, `${owner.perDay} ${what} a day`],
      ],
      null,
    );
  }

  async #count(
    counters: readonly (readonly [counter: string, windowMs: number, most: number, words: string])[],
    suppressedCounter: string | null,
  ): Promise<string | null> {
    const nowMs = this.#store.now();
    const reached = await this.#store.db
      .transaction()
      .execute(async (tx) => {
        for (const [counter, windowMs, most, words] of counters)
          if (!(await countOne(tx, counter, windowOf(nowMs, windowMs), most))) throw new LimitReached(words);
        return null;
      })
      .catch((error) => {
        if (error instanceof LimitReached) return error.words;
        throw error;
      });
    if (reached !== null && suppressedCounter !== null)
      await this.#store.db
        .insertInto('mailCounts')
        .values({ counter: suppressedCounter, windowStartMs: windowOf(nowMs, DAY_MS), sent: 0, suppressed: 1 })
        .onConflict((c) =>
          c.columns(['counter', 'windowStartMs']).doUpdateSet((e) => ({
            suppressed: e('mailCounts.suppressed', '+', 1),
          })),
        )
        .execute();
    return reached;
  }

  /** Leases confirmations that are to be sent, for the tenants in turn. */
  leaseConfirmations(limit: number, leaseMs: number): Promise<LeasedConfirmation[]> {
    return this.#leases.poll(
      QUEUE,
      async (db, nowMs) => {
        const isDue = this.#leases.isDue(nowMs);
        const due = await db.selectFrom('mailAddresses').select('tenantId').distinct().where(isDue).execute();
        return due.map(({ tenantId }) => ({ tenant: tenantId, account: tenantId }));
      },
      async ({ tx, nowMs }, waiting) => {
        const turns = await sharedTurns(tx, QUEUE, waiting, []);
        return inTurns<Owner, LeasedConfirmation>(
          turns,
          waiting,
          ({ length }) => length >= limit,
          async (owner) => {
            const next = await tx
              .selectFrom('mailAddresses')
              .select('id')
              .where('tenantId', '=', owner.tenant)
              .where(this.#leases.isDue(nowMs))
              .orderBy('nextAttemptAtMs')
              .limit(1)
              .executeTakeFirst();
            const [row] = next === undefined ? [] : await this.#leases.take(tx, [next.id], leaseMs);
            if (row === undefined) return null;
            turns.served(owner);
            await saveTurn(tx, QUEUE, owner, nowMs);
            return { address: this.#opened(row), lease: row.lease, attempts: row.attempts };
          },
        );
      },
    );
  }

  async renewConfirmations(leased: readonly LeasedConfirmation[], leaseMs: number): Promise<void> {
    await this.#leases.renew(leased.map(leaseOf), leaseMs);
  }

  /**
   * Notes how a confirmation ended.
   *
   * @param outcome `isCounted`: its next attempt is another one of the same mail; `retryAtMs`: null for no
   *   further attempt until the address is requested again
   * @returns false when the lease was lost: nothing was noted
   */
  settleConfirmation(
    leased: LeasedConfirmation,
    outcome: { isSent: boolean; isCounted: boolean; retryAtMs: number | null },
  ): Promise<boolean> {
    return this.#leases.settle(this.#store.db, leaseOf(leased), {
      nextAttemptAtMs: outcome.retryAtMs,
      // Also one that was given up counts as asked, so that the address can be asked again later.
      ...((outcome.isSent || outcome.retryAtMs === null) && { askedAtMs: this.#store.now() }),
      ...(!outcome.isCounted && { attempts: 0 }),
    });
  }

  /** Forgets counts that are over, and pending addresses that nobody confirmed. */
  async clean(): Promise<void> {
    const nowMs = this.#store.now();
    const { db } = this.#store;
    await db
      .deleteFrom('mailCounts')
      .where('windowStartMs', '<', nowMs - 2 * DAY_MS)
      .where((e) => e.or([e('counter', 'not like', `${MONTH} %`), e('windowStartMs', '<', nowMs - 2 * MONTH_MS)]))
      .execute();
    await db
      .deleteFrom('mailAddresses')
      .where('state', '=', 'pending')
      .where('changedAtMs', '<', nowMs - PENDING_KEPT_MS)
      .execute();
  }

  #sealed<Row extends { id: string; secret: string }>(row: Row): Row {
    return { ...row, secret: this.#store.secrets.seal(row.secret, { table: 'mail_addresses', id: row.id }) };
  }

  #opened(row: MailAddressRow): MailAddress {
    const secret = this.#store.secrets.open(row.secret, { table: 'mail_addresses', id: row.id });
    return fromRow({ ...row, secret });
  }

  /** By {@link keyOf}. */
  async #find(tenant: string, addresses: readonly string[]): Promise<Map<string, MailAddress>> {
    const found = new Map<string, MailAddress>();
    for (const some of inChunks(addresses.map(keyOf))) {
      const rows = await this.#store.db
        .selectFrom('mailAddresses')
        .selectAll()
        .where('tenantId', '=', tenant)
        .where('addressKey', 'in', some)
        .execute();
      for (const row of rows) found.set(row.addressKey, this.#opened(row));
    }
    return found;
  }
}

function leaseOf({ address, lease }: LeasedConfirmation): Lease {
  return { id: address.id, lease };
}

class LimitReached extends Error {
  readonly words: string;
  constructor(words: string) {
    super(words);
    this.words = words;
  }
}

/** @returns false where the counter is full */
async function countOne(tx: Transaction<Tables>, counter: string, windowStartMs: number, most: number) {
  const row = await tx
    .insertInto('mailCounts')
    .values({ counter, windowStartMs: windowStartMs, sent: 1, suppressed: 0 })
    .onConflict((c) =>
      c
        .columns(['counter', 'windowStartMs'])
        .doUpdateSet((e) => ({ sent: e('mailCounts.sent', '+', 1) }))
        .where('mailCounts.sent', '<', most),
    )
    .returning('sent')
    .executeTakeFirst();
  return row !== undefined;
}

/** How addresses are compared: no mail server in use distinguishes case. */
export function keyOf(address: string): string {
  return address.toLowerCase();
}

function dayCounter(id: string): string {
  return `day address ${id}`;
}

function windowOf(nowMs: number, windowMs: number): number {
  return nowMs - (nowMs % windowMs);
}

/** What links in the mails to an address are signed with, in clear. */
export function newLinkSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function newMailAddressRow(
  id: string,
  tenant: string,
  address: string,
  state: MailAddressState,
  nowMs: number,
): Omit<MailAddressRow, 'language'> {
  return {
    id,
    tenantId: tenant,
    address,
    addressKey: keyOf(address),
    state,
    secret: newLinkSecret(),
    generation: 1,
    askedAtMs: null,
    nextAttemptAtMs: state === 'pending' ? nowMs : null,
    attempts: 0,
    lease: null,
    changedAtMs: nowMs,
  };
}

function fromRow(row: MailAddressRow): MailAddress {
  return {
    id: row.id,
    tenant: row.tenantId,
    address: row.address,
    language: row.language,
    state: row.state as MailAddressState,
    secret: row.secret,
    generation: row.generation,
    askedAtMs: row.askedAtMs,
  };
}
