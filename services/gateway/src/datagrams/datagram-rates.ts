const MAX_SOURCES = 10_000;
/** A refused datagram counts as this many towards its source's rate. */
const REFUSED_COST = 10;

interface Bucket {
  left: number;
  filledMs: number;
}

/** Token bucket for each source of datagrams: its rate per second is also its burst size. */
export class DatagramRates {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** Ordered by use: the least recently used bucket comes first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** @param source null for this machine, which is not limited */
  admit(source: string | null): boolean {
    if (source === null) return true;
    const bucket = this.#fill(source);
    if (bucket.left < 1) return false;
    bucket.left--;
    return true;
  }

  noteRefused(source: string | null): void {
    if (source !== null) this.#fill(source).left -= REFUSED_COST - 1;
  }

  #fill(source: string): Bucket {
    const nowMs = this.#now();
    const bucket = this.#buckets.get(source) ?? { left: this.#perSecond, filledMs: nowMs };
    const gained = (Math.max(0, nowMs - bucket.filledMs) / 1000) * this.#perSecond;
    bucket.left = Math.min(this.#perSecond, bucket.left + gained);
    bucket.filledMs = nowMs;
    this.#buckets.delete(source);
    this.#buckets.set(source, bucket);
    if (this.#buckets.size > MAX_SOURCES)
      for (const longestUnused of this.#buckets.keys()) {
        this.#buckets.delete(longestUnused);
        break;
      }
    return bucket;
  }
}
