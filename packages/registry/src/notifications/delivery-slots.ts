import { type Owner, type ShareClaim, Shares, Turns } from '@outrider/domain';

/** Limits of deliveries that one process sends concurrently, in total and per group. */
export interface DeliveryShares {
  atOnce: number;
  perTenant: number;
  perAccount: number;
  /** Per endpoint, for all accounts … */
  perEndpoint: number;
  /** … and for one account. */
  perAccountAndEndpoint: number;
  /** For webhooks that have not answered in time lately, or never yet. */
  unproven: number;
  unprovenPerTenant: number;
  /** All e-mails are sent through one server. */
  emails: number;
  emailsPerTenant: number;
}

/** Shares in proportion to the number of slots. Each is at least 1. */
export function deliveryShares(atOnce: number, perAccountAndEndpoint: number): DeliveryShares {
  const part = (divisor: number) => Math.max(1, Math.floor(atOnce / divisor));
  const emails = part(8);
  return {
    atOnce,
    perTenant: part(4),
    perAccount: Math.ceil((part(4) * 3) / 4),
    perEndpoint: 2 * perAccountAndEndpoint,
    perAccountAndEndpoint,
    unproven: part(2),
    unprovenPerTenant: part(16),
    emails,
    emailsPerTenant: Math.max(1, Math.floor(emails / 4)),
  };
}

/** Properties of a delivery that decide which shares its slot counts against. */
export interface SlotWish {
  owner: Owner;
  channel: string;
  endpoint: string;
  /** A webhook that is tried by one delivery at a time until it has answered in time. */
  isProbe: boolean;
}

/**
 * The slots of one process. No tenant gets more than its share, even while slots are free: a slot that an endpoint
 * holds until its time limit can't be taken back when another tenant needs it. Endpoints that have not proven to answer
 * get fewer slots, so that a tenant with hundreds of dead endpoints keeps slots of its share for the live ones.
 */
export class DeliverySlots {
  readonly turns = new Turns();
  readonly #shares: DeliveryShares;
  readonly #used = new Shares();
  #free: number;

  constructor(shares: DeliveryShares) {
    this.#shares = shares;
    this.#free = shares.atOnce;
  }

  get free(): number {
    return this.#free;
  }

  get shares(): DeliveryShares {
    return this.#shares;
  }

  /** @returns false where a share is used up, and nothing was taken */
  take(wish: SlotWish): boolean {
    if (this.#free === 0 || !this.#used.take(this.#claimOf(wish))) return false;
    this.#free -= 1;
    this.turns.begin(wish.owner);
    this.turns.served(wish.owner);
    return true;
  }

  release(wish: SlotWish): void {
    this.#free += 1;
    this.#used.release(this.#claimOf(wish));
    this.turns.end(wish.owner);
  }

  #claimOf({ owner: { account, tenant }, channel, endpoint, isProbe }: SlotWish): ShareClaim {
    const shares = this.#shares;
    const claim: [string, number][] = [
      [`tenant ${tenant}`, shares.perTenant],
      [`account ${account}`, shares.perAccount],
      [`endpoint ${endpoint}`, shares.perEndpoint],
      [`account ${account} endpoint ${endpoint}`, shares.perAccountAndEndpoint],
    ];
    if (isProbe) claim.push(['unproven', shares.unproven], [`unproven ${tenant}`, shares.unprovenPerTenant]);
    if (channel === 'email') claim.push(['emails', shares.emails], [`emails ${tenant}`, shares.emailsPerTenant]);
    return claim;
  }
}
