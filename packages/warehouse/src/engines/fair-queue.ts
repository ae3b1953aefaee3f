import { type Owner, SERVICE_OWNER, Turns } from '@outrider/domain';
import { BusyError, type Statement } from './engine.ts';

/** Who asks. Default: the service itself. */
type Whose = Pick<Statement, 'owner' | 'signal'>;

interface Waiting<T> extends Owner {
  start(place: T): void;
}

/**
 * Places that queries share, such as connections. Who waits is served in the order of {@link Turns}, so that many
 * queries of one owner delay those of another by few. Of several places a tenant holds half at most: the others are for
 * who comes.
 */
export class FairQueue<T> {
  readonly #free: T[];
  readonly #waiting = new Set<Waiting<T>>();
  readonly #turns = new Turns();
  readonly #maxWaiting: number;
  readonly #perTenant: number;

  /**
   * @param places are lent, one to each query
   * @param maxWaiting queries that may wait; those of one account may be a quarter of them
   */
  constructor(places: readonly T[], maxWaiting: number) {
    this.#free = [...places];
    this.#maxWaiting = maxWaiting;
    this.#perTenant = Math.ceil(places.length / 2);
  }

  /**
   * @param whose the owner in whose turn it waits; `signal` leaves the queue, what has begun sees to that itself
   * @throws {BusyError} when too many wait, in all or of the account
   */
  async take<R>(work: (place: T) => Promise<R>, { owner = SERVICE_OWNER, signal }: Whose): Promise<R> {
    const place = await this.#wait(owner, signal);
    try {
      return await work(place);
    } finally {
      this.#turns.end(owner);
      this.#free.push(place);
      this.#startNext();
    }
  }

  #wait(owner: Owner, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    if (this.#waiting.size >= this.#maxWaiting) throw new BusyError(`${this.#waiting.size} queries wait already`);
    if (owner.tenant !== SERVICE_OWNER.tenant) {
      let own = 0;
      for (const { account } of this.#waiting) if (account === owner.account) own += 1;
      if (own >= Math.ceil(this.#maxWaiting / 4)) throw new BusyError(`${own} queries of the account wait already`);
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(entry);
        reject(signal?.reason);
      };
      const entry: Waiting<T> = {
        ...owner,
        start(place) {
          signal?.removeEventListener('abort', leave);
          resolve(place);
        },
      };
      this.#waiting.add(entry);
      signal?.addEventListener('abort', leave, { once: true });
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#free.length > 0) {
      const entry = this.#turns.next(
        this.#waiting
          .values()
          .filter(
            (each) => each.tenant === SERVICE_OWNER.tenant || this.#turns.runningOfTenant(each) < this.#perTenant,
          ),
      );
      const place = entry && this.#free.pop();
      if (entry === undefined || place === undefined) return;
      this.#waiting.delete(entry);
      this.#turns.begin(entry);
      this.#turns.served(entry);
      entry.start(place);
    }
  }
}
