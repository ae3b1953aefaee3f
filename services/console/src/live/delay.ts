/** Delays are counted by whole milliseconds up to this value. Longer ones count as this value. */
const LONGEST_MS = 5000;
const SLICE_MS = 10_000;
/** One minute, and the slice that is being filled. */
const SLICES = 7;
/** A page that draws regularly draws messages long before so many have arrived. */
const MOST_WAITING = 1000;

/** Histogram of the delays of the last minute. Its memory is constant. */
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

  /**
   * Percentile of the delays in whole milliseconds, with the number of delays; null without delays.
   *
   * @param part fraction of the delays that do not exceed the percentile
   */
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

/** Stages between the arrival of a packet and the frame that shows its position. */
export const STAGES = ['service', 'network', 'page'] as const;
export type Stage = (typeof STAGES)[number];

/**
 * Age of positions when the map shows them, counted from the arrival of their packets. The service measures its own
 * part by its clock. The network's part is half the round-trip time of a message.
 */
export class LiveDelay {
  readonly total = new RecentDelays();
  readonly stages: Record<Stage, RecentDelays> = {
    service: new RecentDelays(),
    network: new RecentDelays(),
    page: new RecentDelays(),
  };
  /** Messages that arrived and are not drawn yet. */
  #waiting: { arrivedMs: number; delaysMs: readonly number[] }[] = [];
  #roundTripMs: number | null = null;
  /** Whether a map that shows each position is drawn. */
  isDrawn: () => boolean = () => false;

  /** Starts with a new connection, whose round-trip time is not known yet. */
  begin(): void {
    this.#roundTripMs = null;
    this.#waiting = [];
  }

  measured(roundTripMs: number): void {
    this.#roundTripMs = roundTripMs;
  }

  /** @param delaysMs for each position, how long the service took */
  arrived(delaysMs: readonly number[], nowMs: number): void {
    if (!this.isDrawn() || this.#waiting.length >= MOST_WAITING) this.#waiting = [];
    if (this.isDrawn()) this.#waiting.push({ arrivedMs: nowMs, delaysMs });
  }

  /** Called when a frame was drawn with everything that has arrived. */
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
