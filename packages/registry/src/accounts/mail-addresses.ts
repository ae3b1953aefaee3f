import type { Owner } from '@outrider/domain';
import { TooManyAddressesError } from '../store/errors.ts';
import type { MailAddressRow } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import { inTurns, saveTurn, sharedTurns } from '../work/fair-order.ts';
import { type Lease, Leases } from '../work/leases.ts';
import { fromRow, keyOf, type MailAddress, type MailAddressState, newMailAddressRow } from './mail-address-rows.ts';
import type { MailCounts } from './mail-counts.ts';

/** A mail that asks the holder of an address to confirm it, leased by the caller for sending. */
export interface LeasedConfirmation {
  address: MailAddress;
  lease: string;
  attempts: number;
}

/** State of an address that a tenant uses. */
export interface MailAddressStatus {
  state: MailAddressState;
  /** Mails of today (UTC) that were not sent because of a limit. */
  suppressed: number;
}

/** Limit per tenant. Above it, new addresses are refused until some are confirmed. */
const MAX_PENDING = 1000;
/** Minimum interval between two requests to confirm an address. */
const ASK_AGAIN_MS = 3_600_000;
/** Pending addresses that were not saved again for this time are deleted. */
const PENDING_KEPT_MS = 30 * 86_400_000;
const QUEUE = 'mail confirmations';

/** E-mail addresses that tenants want to write to. */
export class MailAddresses {
  readonly #store: Store;
  readonly #counts: MailCounts;
  readonly #leases: Leases<'mailAddresses'>;

  constructor(store: Store, counts: MailCounts) {
    this.#store = store;
    this.#counts = counts;
    const dueAt = 'nextAttemptAtMs';
    this.#leases = new Leases(store, { table: 'mailAddresses', dueAt, leasedUntil: dueAt });
  }

  /**
   * Registers addresses that a tenant wants to send mails to. New ones are pending, and their holders are asked to
   * confirm them.
   *
   * @param isTrusted addresses that the operator vouches for: they are confirmed at once, unless they unsubscribed
   * @param named the owner has just named them, for readers of a language: holders of pending addresses are asked once
   *   more, if the last request is long enough ago
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
    const suppressed = await this.#counts.suppressed([...known.values()].map(({ id }) => id));
    return new Map(
      addresses.flatMap((address) => {
        const found = known.get(keyOf(address));
        if (found === undefined) return [];
        return [[address, { state: found.state, suppressed: suppressed.get(found.id) ?? 0 }]];
      }),
    );
  }

  /** Null for an unknown id. */
  async get(id: string): Promise<MailAddress | null> {
    const row = await this.#store.db.selectFrom('mailAddresses').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? this.#opened(row) : null;
  }

  /**
   * Records that the holder of an address confirmed it or unsubscribed.
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
   * Records the outcome of a confirmation mail.
   *
   * @param outcome `isCounted`: the next attempt counts as a retry of the same mail; `retryAtMs`: null for no
   *   further attempt until the address is requested again
   * @returns false when the lease was lost: nothing was noted
   */
  settleConfirmation(
    leased: LeasedConfirmation,
    outcome: { isSent: boolean; isCounted: boolean; retryAtMs: number | null },
  ): Promise<boolean> {
    return this.#leases.settle(this.#store.db, leaseOf(leased), {
      nextAttemptAtMs: outcome.retryAtMs,
      // An address whose mail was given up counts as asked too, so that it can be asked again later.
      ...((outcome.isSent || outcome.retryAtMs === null) && { askedAtMs: this.#store.now() }),
      ...(!outcome.isCounted && { attempts: 0 }),
    });
  }

  /** Deletes counts of past intervals, and pending addresses that nobody confirmed. */
  async clean(): Promise<void> {
    await this.#counts.forgetOver();
    await this.#store.db
      .deleteFrom('mailAddresses')
      .where('state', '=', 'pending')
      .where('changedAtMs', '<', this.#store.now() - PENDING_KEPT_MS)
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
