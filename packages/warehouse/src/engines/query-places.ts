import { FairQueue, type Owner, QueueFullError } from '@outrider/domain';
import { BusyError, type Statement } from './engine.ts';

/**
 * Places that queries share, such as connections, in turns of their owners. Of several places a tenant holds half at
 * most: the others are for who comes.
 */
export class QueryPlaces<T> {
  readonly #free: T[];
  readonly #queue: FairQueue;

  /**
   * @param places are lent, one to each query
   * @param maxWaiting queries that may wait; those of one account may be a quarter of them
   */
  constructor(places: readonly T[], maxWaiting: number) {
    this.#free = [...places];
    this.#queue = new FairQueue({
      atOnce: places.length,
      perTenant: Math.ceil(places.length / 2),
      maxWaiting,
      maxWaitingOfAccount: Math.ceil(maxWaiting / 4),
    });
  }

  /**
   * @param statement whose it is, and when it is given up; what has begun sees to that itself
   * @throws {BusyError} when too many wait, in all or of the account
   */
  async take<R>(work: (place: T) => Promise<R>, { owner, signal }: Pick<Statement, 'owner' | 'signal'>): Promise<R> {
    const leave = await this.#enter(owner, signal);
    const place = this.#free.pop() as T;
    try {
      return await work(place);
    } finally {
      this.#free.push(place);
      leave();
    }
  }

  async #enter(owner: Owner | undefined, signal: AbortSignal | undefined): Promise<() => void> {
    try {
      return await this.#queue.enter({ ...(owner && { owner }), signal });
    } catch (error) {
      throw error instanceof QueueFullError ? new BusyError(`queries: ${error.message}`) : error;
    }
  }
}
