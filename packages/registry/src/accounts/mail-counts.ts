import type { Transaction } from 'kysely';
import type { Tables } from '../store/schema.ts';
import { inChunks, type Store } from '../store/store.ts';
import { keyOf, type MailAddress } from './mail-address-rows.ts';

/** How many mails may be sent in an hour and in a day. */
export interface MailLimits {
  perHour: number;
  perDay: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
const MONTH = 'month';

/** How many mails tenants sent, and to whom. */
export class MailCounts {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Counts a mail of a tenant to an address, unless a limit is reached; then it counts as suppressed. Counters are
   * shared by all instances, and count by hours and days of UTC.
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
   * The same for mails that their reader did not agree to. An address has one counter for all tenants that name it.
   *
   * @param what kind of the mails, as the text of a reached limit names it
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

  /** Mails of today (UTC) that were not sent because of a limit, by the ids of addresses that have some. */
  async suppressed(ids: readonly string[]): Promise<Map<string, number>> {
    const ofCounter = new Map(ids.map((id) => [dayCounter(id), id]));
    const suppressed = new Map<string, number>();
    for (const some of inChunks([...ofCounter.keys()])) {
      const rows = await this.#store.db
        .selectFrom('mailCounts')
        .select(['counter', 'suppressed'])
        .where('counter', 'in', some)
        .where('windowStartMs', '>=', windowOf(this.#store.now(), DAY_MS))
        .execute();
      for (const row of rows) suppressed.set(ofCounter.get(row.counter) ?? '', row.suppressed);
    }
    return suppressed;
  }

  /** Deletes counts of past intervals. */
  async forgetOver(): Promise<void> {
    const nowMs = this.#store.now();
    await this.#store.db
      .deleteFrom('mailCounts')
      .where('windowStartMs', '<', nowMs - 2 * DAY_MS)
      .where((e) => e.or([e('counter', 'not like', `${MONTH} %`), e('windowStartMs', '<', nowMs - 2 * MONTH_MS)]))
      .execute();
  }
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

function dayCounter(id: string): string {
  return `day address ${id}`;
}

function windowOf(nowMs: number, windowMs: number): number {
  return nowMs - (nowMs % windowMs);
}
