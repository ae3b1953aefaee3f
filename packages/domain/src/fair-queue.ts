import { type Clock, SYSTEM_CLOCK, type Timer } from './clock.ts';
import { type Owner, SERVICE_OWNER, Turns } from './fair-order.ts';

export interface FairQueueLimits {
  /** Total weight of entries in progress at once; a heavier entry runs alone. */
  atOnce: number;
  /** Most entries of one tenant in progress; the service's own are not limited. Default: no limit. */
  perTenant?: number;
  /** Most waiting entries in total. */
  maxWaiting: number;
  /** Most waiting entries of one account; the service's own are not limited. Default: no limit per account. */
  maxWaitingOfAccount?: number;
  /** Longest time that an entry waits; then it is rejected. Default: no limit. */
  maxWaitMs?: number;
}

export interface QueueEntry {
  /** Owner in whose turn the entry waits. Default: the service itself. */
  owner?: Owner;
  /** Default: 1. */
  weight?: number;
  /** Removes the entry from the queue. Work that has begun must handle the signal itself. */
  signal?: AbortSignal | undefined;
}

/** Too many entries wait already, or this one waited for too long. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

interface Waiting {
  weight: number;
  isWaiting: boolean;
  start(): void;
}

/**
 * Runs a bounded amount of work at once; the rest waits. Owners are served in the order of {@link Turns}, so that many
 * entries of one owner hardly delay those of another. Entries of one owner are served in the order of arrival.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #clock: Clock;
  readonly #turns = new Turns();
  readonly #waiting = new Map<string, { owner: Owner; entries: Waiting[] }>();
  #waitingCount = 0;
  #weight = 0;
  #inside = 0;
  #onIdle: (() => void)[] = [];

  constructor(limits: FairQueueLimits, clock: Clock = SYSTEM_CLOCK) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Weight of the entries in progress. */
  get weight(): number {
    return this.#weight;
  }

  /**
   * @throws {QueueFullError}
   * @throws the reason of the signal, where it is aborted before `work` begins
   */
  async run<T>(work: () => Promise<T>, entry: QueueEntry = {}): Promise<T> {
    const leave = await this.enter(entry);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * As {@link run}, for work that can't be put into one function.
   *
   * @returns function to call when the work is over
   */
  enter({ owner = SERVICE_OWNER, weight = 1, signal }: QueueEntry = {}): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let timer: Timer | undefined;
      const entry: Waiting = {
        weight,
        isWaiting: true,
        start: () => {
          timer?.cancel();
          signal?.removeEventListener('abort', onAbort);
          resolve(this.#leaver(owner, weight));
        },
      };
      const giveUp = (reason: unknown) => {
        timer?.cancel();
        signal?.removeEventListener('abort', onAbort);
        this.#take(owner, entry);
        reject(reason);
        // Entries behind it may be lighter.
        this.#startNext();
      };
      const onAbort = () => giveUp(signal?.reason);
      this.#add(owner, entry);
      this.#startNext();
      if (!entry.isWaiting) return;
      const refusal = this.#refusal(owner);
      if (refusal !== null) return giveUp(refusal);
      const { maxWaitMs } = this.#limits;
      if (maxWaitMs !== undefined)
        timer = this.#clock.after(maxWaitMs, () => giveUp(new QueueFullError(`it waited for ${maxWaitMs} ms`)));
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Resolves when nothing is in progress, and nothing waits. */
  async idle(): Promise<void> {
    if (this.#inside > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Why the newest entry of an owner can't wait; null: it can. */
  #refusal(owner: Owner): QueueFullError | null {
    const { maxWaiting, maxWaitingOfAccount } = this.#limits;
    if (this.#waitingCount > maxWaiting) return new QueueFullError(`${maxWaiting} wait already`);
    const own = this.#waiting.get(owner.account)?.entries.length ?? 0;
    const isLimited = maxWaitingOfAccount !== undefined && owner.tenant !== SERVICE_OWNER.tenant;
    return isLimited && own > maxWaitingOfAccount
      ? new QueueFullError(`${maxWaitingOfAccount} of the account are already waiting`)
      : null;
  }

  #add(owner: Owner, entry: Waiting): void {
    const own = this.#waiting.get(owner.account);
    if (own) own.entries.push(entry);
    else this.#waiting.set(owner.account, { owner, entries: [entry] });
    this.#waitingCount++;
  }

  #take({ account }: Owner, entry: Waiting): void {
    const entries = this.#waiting.get(account)?.entries ?? [];
    entries.splice(entries.indexOf(entry), 1);
    if (entries.length === 0) this.#waiting.delete(account);
    this.#waitingCount--;
    entry.isWaiting = false;
  }

  #startNext(): void {
    for (;;) {
      const owner = this.#turns.next(this.#eligible());
      const entry = owner && this.#waiting.get(owner.account)?.entries[0];
      if (owner === undefined || entry === undefined) return;
      // Lighter entries do not overtake a heavy one, which might otherwise never start.
      if (this.#weight > 0 && this.#weight + entry.weight > this.#limits.atOnce) return;
      this.#take(owner, entry);
      this.#turns.begin(owner);
      this.#turns.served(owner);
      this.#weight += entry.weight;
      this.#inside++;
      entry.start();
    }
  }

  /** Waiting owners whose tenants may have more work in progress. */
  *#eligible(): Generator<Owner> {
    const { perTenant = Number.POSITIVE_INFINITY } = this.#limits;
    for (const { owner } of this.#waiting.values())
      if (owner.tenant === SERVICE_OWNER.tenant || this.#turns.runningOfTenant(owner) < perTenant) yield owner;
  }

  #leaver(owner: Owner, weight: number): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#turns.end(owner);
      this.#weight -= weight;
      this.#inside--;
      this.#startNext();
      if (this.#inside === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    };
  }
}
