import { FairQueue, type Owner, QueueFullError } from '@outrider/domain';
import { BusyError, type Statement } from './engine.ts';

/**
 * Resources that queries share, such as connections, allocated fairly among their owners. A tenant holds at most half
 * of several resources: the rest stays available to others.
 */
export class QueryPlaces<T> {
  readonly #free: T[];
  readonly #queue: FairQueue;

  /**
   * @param places resources, each used by one query at a time
   * @param maxWaiting maximum number of waiting queries; one account may have a quarter of them
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
   * @param statement its owner, and the signal that cancels its waiting; work that has begun handles the signal itself
   * @throws {BusyError} when too many queries wait, in total or of the account
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
