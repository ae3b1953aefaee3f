/** Delays are counted by whole milliseconds up to this; longer ones count as it. */
const LONGEST_MS = 5000;
const SLICE_MS = 10_000;
/** Of a minute, and one that is being filled. */
const SLICES = 7;
/** A page that draws shows what arrived long before so many messages. */
const MOST_WAITING = 1000;

/** Delays of the last minute. Bounded, whatever their number. */
export class RecentDelays {
  readonly #slices = Array.from({ length: SLICES }, () => ({ nth: -1, counts: new Uint32Array(LONGEST_MS + 1) }));

  add(delayMs: number, nowMs: number): void {
    const nth = Math.floor(nowMs / SLICE_MS);
    const slice = this.#slices[nth % SLICES];
    if (slice === undefined) return;
    if (slice.nth !== nth) {
      slice.nth = nth;
      slice.counts.fill(0);
    }
    const bucket = Math.min(LONGEST_MS, Math.max(0, Math.ceil(delayMs)));
    slice.counts[bucket] = (slice.counts[bucket] ?? 0) + 1;
  }

  /** What a part of the delays does not exceed, in whole milliseconds, of so many; null where there is no delay. */
  percentile(part: number, nowMs: number): { ms: number; count: number } | null {
    const oldest = Math.floor(nowMs / SLICE_MS) - SLICES;
    const recent = this.#slices.filter(({ nth }) => nth > oldest);
    const count = recent.reduce((sum, { counts }) => counts.reduce((all, one) => all + one, sum), 0);
    if (count === 0) return null;
    let left = Math.ceil(part * count);
    let ms = 0;
    for (; ms < LONGEST_MS; ms += 1) {
      for (const { counts } of recent) left -= counts[ms] as number;
      if (left <= 0) break;
    }
    return { ms, count };
  }
}

/** Where the time goes between a packet that arrives and the picture that shows its position. */
export const STAGES = ['service', 'network', 'page'] as const;
export type Stage = (typeof STAGES)[number];

/**
 * How old positions are when the map shows them, counted from the moment at which their packets arrived. What the
 * service took is measured there, by its clock; the way to the page is half of that of a message and its answer.
 */
export class LiveDelay {
  readonly total = new RecentDelays();
  readonly stages: Record<Stage, RecentDelays> = {
    service: new RecentDelays(),
    network: new RecentDelays(),
    page: new RecentDelays(),
  };
  /** Arrived, and not drawn yet. */
  #waiting: { arrivedMs: number; delaysMs: readonly number[] }[] = [];
  #roundTripMs: number | null = null;
  /** Whether a map is drawn that shows each position. */
  isDrawn: () => boolean = () => false;

  /** Another connection: how far it is to the service is not known. */
  begin(): void {
    this.#roundTripMs = null;
    this.#waiting = [];
  }

  measured(roundTripMs: number): void {
    this.#roundTripMs = roundTripMs;
  }

  /** @param delaysMs for how long the service had each position */
  arrived(delaysMs: readonly number[], nowMs: number): void {
    if (!this.isDrawn() || this.#waiting.length >= MOST_WAITING) this.#waiting = [];
    if (this.isDrawn()) this.#waiting.push({ arrivedMs: nowMs, delaysMs });
  }

  /** A picture was drawn with all that has arrived. */
  drawn(nowMs: number): void {
    const waiting = this.#waiting;
    if (waiting.length === 0 || this.#roundTripMs === null) return;
    this.#waiting = [];
    const { service, network, page } = this.stages;
    const networkMs = this.#roundTripMs / 2;
    for (const { arrivedMs, delaysMs } of waiting) {
      const pageMs = nowMs - arrivedMs;
      for (const serviceMs of delaysMs) {
        service.add(serviceMs, nowMs);
        network.add(networkMs, nowMs);
        page.add(pageMs, nowMs);
        this.total.add(serviceMs + networkMs + pageMs, nowMs);
      }
    }
  }
}

export const liveDelay = new LiveDelay();
