import { Problem } from '@outrider/access';

/** How many bodies are worked on at once, and how many wait for it. */
export interface ImportSlotsConfig {
  /** Bytes of bodies that are read and worked on at once; a larger one is worked on alone. */
  maxBytes: number;
  /** Calls that wait, all together. */
  maxWaiting: number;
  /** Calls of one tenant that wait. */
  maxWaitingOfTenant: number;
  maxWaitMs: number;
}

/** Memory grows to some thirty times the bytes of a body while it is parsed, checked and written. */
export const WORKING: ImportSlotsConfig = {
  maxBytes: 16 * 1024 * 1024,
  maxWaiting: 200,
  maxWaitingOfTenant: 10,
  maxWaitMs: 10_000,
};
/** While it is sent, and until it is worked on, there are the bytes alone. */
export const READING: ImportSlotsConfig = { ...WORKING, maxBytes: 8 * WORKING.maxBytes };

interface Waiting {
  bytes: number;
  admit(): void;
}

/**
 * Admits calls with large bodies, so that the bodies held at once are bounded. One call of each tenant is worked on
 * at a time, and tenants that wait are served in turns: one of them can't keep the others out.
 */
export class ImportSlots {
  readonly #config: ImportSlotsConfig;
  /** Bytes of what is being worked on, by tenant. */
  readonly #running = new Map<string, number>();
  /** Tenants in the order in which they are served next. */
  readonly #waiting = new Map<string, Waiting[]>();
  #bytes = 0;
  #waitingCount = 0;

  constructor(config: ImportSlotsConfig) {
    this.#config = config;
  }

  /** Bytes of bodies that are being worked on. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Waits until there is memory for a body.
   *
   * @param tenant a dealer with all accounts that it keeps, or an account that no dealer keeps
   * @param bytes of the body; at most so many where it does not say
   * @param signal aborted when the client leaves
   * @returns call it when the call is answered
   * @throws {Problem} `unavailable` when too many wait, or for too long
   */
  async admit(tenant: string, bytes: number, signal: AbortSignal | null = null): Promise<() => void> {
    const { maxWaiting, maxWaitingOfTenant, maxWaitMs } = this.#config;
    const own = this.#waiting.get(tenant) ?? [];
    if (this.#waitingCount >= maxWaiting || own.length >= maxWaitingOfTenant) throw busy();
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      };
      const waiting: Waiting = {
        bytes,
        admit: () => {
          leave();
          resolve(this.#start(tenant, bytes));
        },
      };
      const giveUp = () => {
        leave();
        own.splice(own.indexOf(waiting), 1);
        this.#waitingCount--;
        if (own.length === 0) this.#waiting.delete(tenant);
        reject(busy());
        this.#admitNext();
      };
      const timer = setTimeout(giveUp, maxWaitMs);
      signal?.addEventListener('abort', giveUp, { once: true });
      own.push(waiting);
      this.#waitingCount++;
      this.#waiting.set(tenant, own);
      this.#admitNext();
    });
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#config.maxBytes;
  }

  #start(tenant: string, bytes: number): () => void {
    this.#running.set(tenant, bytes);
    this.#bytes += bytes;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running.delete(tenant);
      this.#bytes -= bytes;
      this.#admitNext();
    };
  }

  #admitNext(): void {
    for (const [tenant, own] of this.#waiting) {
      if (this.#running.has(tenant)) continue;
      const [next] = own;
      // A large one is not passed by smaller ones for ever: who comes next waits until it fits.
      if (next === undefined || !this.#fits(next.bytes)) return;
      own.shift();
      this.#waitingCount--;
      // The tenant goes behind the others.
      this.#waiting.delete(tenant);
      if (own.length > 0) this.#waiting.set(tenant, own);
      next.admit();
      // The order has changed: begin anew.
      return this.#admitNext();
    }
  }
}

function busy(): Problem {
  return new Problem('unavailable', 'Too many imports are under way; try again.', { headers: { 'retry-after': '5' } });
}
