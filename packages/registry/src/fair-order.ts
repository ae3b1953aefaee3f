import type { User } from '@outrider/domain';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from './schema.ts';
import { inChunks, type Reader } from './store.ts';

/**
 * Who work is done for. The tenant is the dealer of the account, dealers included; an account without a dealer is a tenant
 * of its own. Tenants share a queue first, then the accounts of a tenant share what the tenant gets.
 */
export interface Owner {
  account: string;
  tenant: string;
}

/** Owner of work that the service does for itself. */
export const SERVICE_OWNER: Owner = { account: 'service', tenant: 'service' };

/** Owners whose last turn is remembered in memory. One that is forgotten comes before all others, once. */
const MAX_REMEMBERED = 10_000;
/** A turn that was this long ago orders nobody any more. */
const TURN_KEPT_MS = 7 * 86_400_000;

const tenantKey = ({ tenant }: Owner) => `tenant ${tenant}`;
const accountKey = ({ account }: Owner) => `account ${account}`;

/**
 * The order in which owners are served: the tenant with the least work in progress first, then the one that was served the
 * longest ago, and in the same way among the accounts of that tenant. So the wait of an owner depends on how many others
 * wait, not on how much work they have.
 */
export class Turns {
  readonly #running = new Map<string, number>();
  readonly #served: Map<string, number>;
  #newest: number;

  /** @param served when each owner was last served, by {@link tenantKey} and {@link accountKey} */
  constructor(served: ReadonlyMap<string, number> = new Map()) {
    this.#served = new Map(served);
    this.#newest = Math.max(0, ...served.values());
  }

  /** @returns the owner whose turn it is; undefined where `waiting` is empty */
  next<T extends Owner>(waiting: Iterable<T>): T | undefined {
    let best: T | undefined;
    for (const each of waiting) if (best === undefined || this.#isBefore(each, best)) best = each;
    return best;
  }

  /** Counts work that is in progress for an owner. */
  begin(owner: Owner, count = 1): void {
    for (const key of [tenantKey(owner), accountKey(owner)])
      this.#running.set(key, (this.#running.get(key) ?? 0) + count);
  }

  end(owner: Owner): void {
    for (const key of [tenantKey(owner), accountKey(owner)]) {
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left > 0) this.#running.set(key, left);
      else this.#running.delete(key);
    }
  }

  /** Work in progress for the tenant of an owner. */
  runningOfTenant(owner: Owner): number {
    return this.#running.get(tenantKey(owner)) ?? 0;
  }

  runningOfAccount(owner: Owner): number {
    return this.#running.get(accountKey(owner)) ?? 0;
  }

  /** Notes that an owner was served: all others come before it. */
  served(owner: Owner): void {
    this.#newest += 1;
    for (const key of [tenantKey(owner), accountKey(owner)]) {
      this.#served.delete(key);
      this.#served.set(key, this.#newest);
    }
    for (const key of this.#served.keys()) {
      if (this.#served.size <= MAX_REMEMBERED) break;
      this.#served.delete(key);
    }
  }

  #isBefore(a: Owner, b: Owner): boolean {
    for (const key of [tenantKey, accountKey]) {
      const [ofA, ofB] = [key(a), key(b)];
      const order =
        (this.#running.get(ofA) ?? 0) - (this.#running.get(ofB) ?? 0) ||
        (this.#served.get(ofA) ?? 0) - (this.#served.get(ofB) ?? 0);
      if (order !== 0) return order < 0;
    }
    return false;
  }
}

/** A place among others that is limited for each of several groups that it belongs to. */
export type Claim = readonly (readonly [group: string, most: number])[];

/** Counts what is in use of several limits at once: all of a claim is taken, or nothing. */
export class Shares {
  readonly #used = new Map<string, number>();

  take(claim: Claim): boolean {
    if (claim.some(([group, most]) => (this.#used.get(group) ?? 0) >= most)) return false;
    for (const [group] of claim) this.#used.set(group, (this.#used.get(group) ?? 0) + 1);
    return true;
  }

  release(claim: Claim): void {
    for (const [group] of claim) {
      const left = (this.#used.get(group) ?? 1) - 1;
      if (left > 0) this.#used.set(group, left);
      else this.#used.delete(group);
    }
  }
}

/** The tenant of an account. */
export function tenantOf({ id, dealerId }: Pick<User, 'id' | 'dealerId'>): string {
  return dealerId ?? id;
}

/** SQL for the tenant of a row of `users`; null where the join found none. */
export function tenantOfUser(table = 'users'): RawBuilder<string | null> {
  return sql<string | null>`coalesce(${sql.ref(`${table}.dealer_id`)}, ${sql.ref(`${table}.id`)})`;
}

/** Owners by account id; accounts that are gone are missing. */
export async function ownersOf(db: Reader, accounts: readonly string[]): Promise<Map<string, Owner>> {
  const owners = new Map<string, Owner>();
  for (const some of inChunks(accounts)) {
    const rows = await db
      .selectFrom('users')
      .select(['id', tenantOfUser().as('tenant')])
      .where('id', 'in', some)
      .execute();
    for (const { id, tenant } of rows) owners.set(id, { account: id, tenant: tenant ?? id });
  }
  return owners;
}

/**
 * The turns of a queue that all instances share, with what is in progress.
 *
 * @param queue name of the queue
 * @param waiting owners that have work in it
 * @param running owners of the work in progress, one for each piece of it
 */
export async function sharedTurns(
  tx: Transaction<Tables>,
  queue: string,
  waiting: readonly Owner[],
  running: readonly Owner[],
): Promise<Turns> {
  const keys = [...new Set(waiting.flatMap((owner) => [tenantKey(owner), accountKey(owner)]))];
  const served = new Map<string, number>();
  for (const some of inChunks(keys)) {
    const rows = await tx
      .selectFrom('queue_turns')
      .select(['owner', 'turn'])
      .where('queue', '=', queue)
      .where('owner', 'in', some)
      .execute();
    for (const { owner, turn } of rows) served.set(owner, turn);
  }
  const turns = new Turns(served);
  for (const owner of running) turns.begin(owner);
  return turns;
}

/** Saves that an owner was served, for all instances: see {@link Turns.served}. */
export async function saveTurn(tx: Transaction<Tables>, queue: string, owner: Owner, nowMs: number): Promise<void> {
  const { newest } = await tx
    .selectFrom('queue_turns')
    .select((e) => e.fn.max('turn').as('newest'))
    .where('queue', '=', queue)
    .executeTakeFirstOrThrow();
  const turn = Number(newest ?? 0) + 1;
  const rows = [tenantKey(owner), accountKey(owner)].map((key) => ({ queue, owner: key, turn, served_at_ms: nowMs }));
  await tx
    .insertInto('queue_turns')
    .values(rows)
    .onConflict((c) =>
      c.columns(['queue', 'owner']).doUpdateSet((e) => ({
        turn: e.ref('excluded.turn'),
        served_at_ms: e.ref('excluded.served_at_ms'),
      })),
    )
    .execute();
  await tx
    .deleteFrom('queue_turns')
    .where('queue', '=', queue)
    .where('served_at_ms', '<', nowMs - TURN_KEPT_MS)
    .execute();
}
