import type { DeliveryCircuitRow } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import type { SlotWish } from './delivery-slots.ts';

/**
 * Result of an attempt for its endpoint: `prompt`: it answered, whatever the answer; `slow`: it answered late;
 * `silent`: no connection, or no answer; `unknown`: no attempt was made.
 */
export type EndpointHealth = 'prompt' | 'slow' | 'silent' | 'unknown';

/** Break before an endpoint that did not answer is tried again. It doubles with each further failure, … */
const FIRST_BREAK_MS = 5000;
/** … up to this. */
const LONGEST_BREAK_MS = 600_000;
/**
 * Strikes that a late or missing answer adds, up to a bound. A prompt answer removes one. An endpoint with strikes is
 * tried by one delivery at a time, so an endpoint that answers only now and then does not count as working.
 */
const STRIKES_OF_FAILURE = 4;
const MAX_STRIKES = 16;
/** A new endpoint has to answer once before it counts as working. */
export const FIRST_STRIKES = 1;

/** Circuit breakers per account: an endpoint that does not answer is tried by one delivery at a time, after a break. */
export class DeliveryCircuits {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns false where another delivery of the account is trying the endpoint already */
  async claimProbe({ owner, endpoint }: SlotWish, nowMs: number, leaseMs: number): Promise<boolean> {
    const row = await this.#store.db
      .insertInto('deliveryCircuits')
      .values({
        userId: owner.account,
        endpoint,
        strikes: FIRST_STRIKES,
        failures: 0,
        retryAtMs: nowMs + leaseMs,
        changedAtMs: nowMs,
      })
      .onConflict((c) =>
        c
          .columns(['userId', 'endpoint'])
          .doUpdateSet({ retryAtMs: nowMs + leaseMs, changedAtMs: nowMs })
          .where('deliveryCircuits.retryAtMs', '<=', nowMs),
      )
      .returning('endpoint')
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Records the result of an attempt for its endpoint. */
  async note({ owner, endpoint, isProbe }: SlotWish, health: EndpointHealth): Promise<void> {
    const nowMs = this.#store.now();
    // An endpoint that keeps working needs no write.
    if (!isProbe && (health === 'prompt' || health === 'unknown')) return;
    const { db } = this.#store;
    const row = await db
      .selectFrom('deliveryCircuits')
      .selectAll()
      .where('userId', '=', owner.account)
      .where('endpoint', '=', endpoint)
      .executeTakeFirst();
    // When several deliveries failed together, only the first failure counts.
    if (!isProbe && row !== undefined && row.retryAtMs > nowMs) return;
    const noted = { ...circuitAfter(health, row, nowMs), changedAtMs: nowMs };
    await db
      .insertInto('deliveryCircuits')
      .values({ userId: owner.account, endpoint, ...noted })
      .onConflict((c) => c.columns(['userId', 'endpoint']).doUpdateSet(noted))
      .execute();
  }
}

function circuitAfter(
  health: EndpointHealth,
  row: Pick<DeliveryCircuitRow, 'strikes' | 'failures'> | undefined,
  nowMs: number,
): Pick<DeliveryCircuitRow, 'strikes' | 'failures' | 'retryAtMs'> {
  const { strikes, failures } = row ?? { strikes: FIRST_STRIKES, failures: 0 };
  const more = Math.min(MAX_STRIKES, strikes + STRIKES_OF_FAILURE);
  switch (health) {
    case 'unknown':
      return { strikes, failures, retryAtMs: 0 };
    case 'prompt':
      return { strikes: Math.max(0, strikes - 1), failures: 0, retryAtMs: 0 };
    case 'slow':
      return { strikes: more, failures: 0, retryAtMs: 0 };
    case 'silent': {
      const breakMs = Math.min(FIRST_BREAK_MS * 2 ** failures, LONGEST_BREAK_MS);
      return { strikes: more, failures: failures + 1, retryAtMs: nowMs + breakMs };
    }
  }
}
