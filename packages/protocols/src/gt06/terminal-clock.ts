/** Maximum difference between the time of a location sent at once and its time of reception. */
const LIVE_MS = 120_000;

/**
 * Converts the clock of a terminal to UTC. The document requires UTC, but many terminals show the zone that their login
 * names. The first location that is current by only one of the two decides.
 */
export class TerminalClock {
  readonly #offsetMs: number;
  #isLocal: boolean | null = null;

  /** @param zoneMinutes east of Greenwich; 0 where the clock shows UTC */
  constructor(zoneMinutes: number) {
    this.#offsetMs = zoneMinutes * 60_000;
  }

  /** @param nowMs time of reception */
  utcOf(shownMs: number, nowMs: number): number {
    if (this.#offsetMs === 0) return shownMs;
    // Buffered locations may match either clock once by chance, so a location that is current as UTC takes precedence.
    if (Math.abs(nowMs - shownMs) <= LIVE_MS) this.#isLocal = false;
    else if (this.#isLocal === null && Math.abs(nowMs - (shownMs - this.#offsetMs)) <= LIVE_MS) this.#isLocal = true;
    // A terminal cannot send locations of the future.
    const isAhead = shownMs > nowMs + LIVE_MS && shownMs - this.#offsetMs <= nowMs + LIVE_MS;
    return this.#isLocal === true || isAhead ? shownMs - this.#offsetMs : shownMs;
  }
}
