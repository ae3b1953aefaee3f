import type { Owner } from '@outrider/domain';
import { sql } from 'kysely';
import type { Store } from '../store/store.ts';
import { inTurns, ownersOf } from '../work/fair-order.ts';
import { type DeliveryCircuits, FIRST_STRIKES } from './delivery-circuits.ts';
import type { DeliverySlots, SlotWish } from './delivery-slots.ts';

/** Accounts, and endpoints of an account, that one query returns. The next query continues after them. */
const MAX_ACCOUNTS = 500;
const MAX_ENDPOINTS = 200;
/** Accounts whose last endpoint is remembered. */
const MAX_CURSORS = 10_000;

/** An endpoint of an account, with deliveries that are due. */
interface DueEndpoint {
  endpoint: string;
  isProbe: boolean;
}

/** Chooses due deliveries, for the owners in turn. */
export class DueDeliveries {
  readonly #store: Store;
  readonly #circuits: DeliveryCircuits;
  /** Where the next query for accounts starts, so that every account gets its turn. */
  #afterAccount = '';
  /** The same for the endpoints of an account. */
  readonly #afterEndpoint = new Map<string, string>();

  constructor(store: Store, circuits: DeliveryCircuits) {
    this.#store = store;
    this.#circuits = circuits;
  }

  /** Deliveries that are due, each with the slot that was taken for it. */
  async choose(slots: DeliverySlots, leaseMs: number): Promise<Map<string, SlotWish>> {
    const nowMs = this.#store.now();
    const chosen = new Map<string, SlotWish>();
    const queues = new Map<Owner, AsyncGenerator<[string, SlotWish]>>();
    const takeNext = async (owner: Owner) => {
      const queue = queues.get(owner) ?? this.#dueOf(owner, slots, nowMs, leaseMs);
      queues.set(owner, queue);
      const next = await queue.next();
      if (next.done) return null;
      chosen.set(...next.value);
      return next.value;
    };
    try {
      await inTurns(slots.turns, await this.#dueOwners(nowMs), () => slots.free === 0, takeNext);
      return chosen;
    } catch (error) {
      for (const slot of chosen.values()) slots.release(slot);
      throw error;
    }
  }

  /** Due deliveries of an owner with their slots, for its endpoints in turn. Ends when no share has slots left. */
  async *#dueOf(
    owner: Owner,
    slots: DeliverySlots,
    nowMs: number,
    leaseMs: number,
  ): AsyncGenerator<[string, SlotWish]> {
    const ids = new Map<DueEndpoint, string[]>();
    let endpoints = await this.#dueEndpoints(owner.account, nowMs);
    while (endpoints.length > 0) {
      const left: DueEndpoint[] = [];
      for (const due of endpoints) {
        const { endpoint, isProbe } = due;
        const slot = { owner, channel: endpoint.startsWith('mailto:') ? 'email' : 'webhook', endpoint, isProbe };
        if (!slots.take(slot)) continue;
        let id: string | undefined;
        try {
          const queue = ids.get(due) ?? (await this.#oldestDue(owner.account, due, slots, nowMs));
          ids.set(due, queue);
          if (queue.length > 0 && (!isProbe || (await this.#circuits.claimProbe(slot, nowMs, leaseMs))))
            id = queue.shift();
        } finally {
          if (id === undefined) slots.release(slot);
        }
        if (id === undefined) continue;
        this.#remember(owner.account, endpoint);
        if (!isProbe) left.push(due);
        yield [id, slot];
      }
      endpoints = left;
    }
  }

  async #oldestDue(
    account: string,
    { endpoint, isProbe }: DueEndpoint,
    { shares }: DeliverySlots,
    nowMs: number,
  ): Promise<string[]> {
    const rows = await this.#store.db
      .selectFrom('deliveries')
      .select('id')
      .where('state', '=', 'pending')
      .where('userId', '=', account)
      .where('endpoint', '=', endpoint)
      .where('nextAttemptAtMs', '<=', nowMs)
      .orderBy('nextAttemptAtMs')
      .limit(isProbe ? 1 : shares.perAccountAndEndpoint)
      .execute();
    return rows.map(({ id }) => id);
  }

  #remember(account: string, endpoint: string): void {
    this.#afterEndpoint.delete(account);
    this.#afterEndpoint.set(account, endpoint);
    for (const key of this.#afterEndpoint.keys()) {
      if (this.#afterEndpoint.size <= MAX_CURSORS) break;
      this.#afterEndpoint.delete(key);
    }
  }

  /** Owners with due deliveries. If they exceed the bound, each call returns others. */
  async #dueOwners(nowMs: number): Promise<Owner[]> {
    const due: string[] = [];
    const from = this.#afterAccount;
    let hasWrapped = from === '';
    while (due.length < MAX_ACCOUNTS) {
      const page = await this.#accounts(this.#afterAccount);
      for (const { account, dueAtMs } of page) {
        if (hasWrapped && from !== '' && account > from) return this.#owners(due);
        if (dueAtMs <= nowMs) due.push(account);
        this.#afterAccount = account;
      }
      if (page.length === MAX_ACCOUNTS) continue;
      this.#afterAccount = '';
      if (hasWrapped) break;
      hasWrapped = true;
    }
    return this.#owners(due);
  }

  async #owners(accounts: readonly string[]): Promise<Owner[]> {
    return [...(await ownersOf(this.#store.db, accounts)).values()];
  }

  /** Accounts with pending deliveries, and when the first of these is due. */
  async #accounts(after: string): Promise<{ account: string; dueAtMs: number }[]> {
    // Skips from account to account in the index: the cost depends on the number of accounts, not on how many
    // deliveries one of them has.
    const { rows } = await sql<{ userId: string; dueMs: number }>`
      with recursive step(user_id, due_ms, nth) as (
        select user_id, next_attempt_at_ms, 1 from deliveries where id = (
          select id from deliveries where state = 'pending' and user_id > ${after}
          order by user_id, next_attempt_at_ms limit 1)
        union all
        select d.user_id, d.next_attempt_at_ms, nth + 1 from step join deliveries d on d.id = (
          select id from deliveries where state = 'pending' and user_id > step.user_id
          order by user_id, next_attempt_at_ms limit 1)
        where nth < ${MAX_ACCOUNTS}
      )
      select user_id, due_ms from step`.execute(this.#store.db);
    return rows.map(({ userId, dueMs }) => ({ account: userId, dueAtMs: Number(dueMs) }));
  }

  /** Endpoints of an account with due deliveries that may be tried. Starts after the endpoint that was served last. */
  async #dueEndpoints(account: string, nowMs: number): Promise<DueEndpoint[]> {
    const after = this.#afterEndpoint.get(account) ?? '';
    const found = await this.#endpoints(account, after);
    if (after !== '' && found.length < MAX_ENDPOINTS) found.push(...(await this.#endpoints(account, '')));
    const last = found.at(-1);
    // If no endpoint of a full page can be tried yet, the next call continues after the page.
    if (found.length >= MAX_ENDPOINTS && last) this.#remember(account, last.endpoint);
    const due = found.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    return [...new Map(due.map((each) => [each.endpoint, each])).values()];
  }

  /** Skips from endpoint to endpoint in the index, as for accounts. */
  async #endpoints(account: string, after: string): Promise<(DueEndpoint & { dueAtMs: number })[]> {
    const { rows } = await sql<{ endpoint: string; dueMs: number; strikes: number | null; retryMs: number | null }>`
      with recursive step(endpoint, due_ms, nth) as (
        select endpoint, next_attempt_at_ms, 1 from deliveries where id = (
          select id from deliveries where state = 'pending' and user_id = ${account} and endpoint > ${after}
          order by endpoint, next_attempt_at_ms limit 1)
        union all
        select d.endpoint, d.next_attempt_at_ms, nth + 1 from step join deliveries d on d.id = (
          select id from deliveries where state = 'pending' and user_id = ${account} and endpoint > step.endpoint
          order by endpoint, next_attempt_at_ms limit 1)
        where nth < ${MAX_ENDPOINTS}
      )
      select step.endpoint, step.due_ms, c.strikes, c.retry_at_ms as retry_ms from step
      left join delivery_circuits c on c.user_id = ${account} and c.endpoint = step.endpoint
      order by nth`.execute(this.#store.db);
    return rows.map(({ endpoint, dueMs, strikes, retryMs }) => ({
      endpoint,
      dueAtMs: Math.max(Number(dueMs), Number(retryMs ?? 0)),
      isProbe: !endpoint.startsWith('mailto:') && (strikes ?? FIRST_STRIKES) > 0,
    }));
  }
}
