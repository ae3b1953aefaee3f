import type { User } from './resources/user.ts';

/**
 * The account and tenant that work is done for. The tenant is the dealer of the account; a dealer is its own tenant, as
 * is an account without a dealer. Tenants share a queue first, then the accounts of a tenant share its part.
 */
export interface Owner {
  account: string;
  tenant: string;
}

/** Owner of work that the service does for itself. */
export const SERVICE_OWNER: Owner = { account: 'service', tenant: 'service' };

/** Owners whose last turn is kept in memory. A forgotten owner comes before all others, once. */
const MAX_REMEMBERED = 10_000;
/** Key of a tenant in the records of turns. */
export const tenantKey = ({ tenant }: Owner) => `tenant ${tenant}`;
/** Key of an account in the records of turns. */
export const accountKey = ({ account }: Owner) => `account ${account}`;

/**
 * The order in which owners are served: the tenant with the least work in progress first, then the one served longest
 * ago; then likewise among the accounts of that tenant. An owner's waiting time therefore depends on how many others
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

  /** @returns the next owner to serve; undefined where `waiting` is empty */
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

  /** Records that an owner was served, which puts it behind all others. */
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

/** Groups in which a slot is needed, each with the most slots that may be in use. */
export type ShareClaim = readonly (readonly [group: string, most: number])[];

/** Counts the slots in use under several limits: a claim is granted as a whole or not at all. */
export class Shares {
  readonly #used = new Map<string, number>();

  take(claim: ShareClaim): boolean {
    if (claim.some(([group, most]) => (this.#used.get(group) ?? 0) >= most)) return false;
    for (const [group] of claim) this.#used.set(group, (this.#used.get(group) ?? 0) + 1);
    return true;
  }

  release(claim: ShareClaim): void {
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
