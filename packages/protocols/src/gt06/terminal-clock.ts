/** How far a location that is sent at once may be from the time of its reception. */
const LIVE_MS = 120_000;

/**
 * Whether the clock of a terminal shows UTC, or the time of the zone that its login names: the document wants UTC, and
 * many show what they were set to. The first location that is of now by one of them, and not by the other, decides.
 */
export class TerminalClock {
  readonly #offsetMs: number;
  #isLocal: boolean | null = null;

  /** @param zoneMinutes east of Greenwich; 0: it shows UTC */
  constructor(zoneMinutes: number) {
    this.#offsetMs = zoneMinutes * 60_000;
  }

  /** @param nowMs of the reception */
  utcOf(shownMs: number, nowMs: number): number {
    if (this.#offsetMs === 0) return shownMs;
    // A terminal that sends what it kept passes by each time once: what is of now as UTC counts more.
    if (Math.abs(nowMs - shownMs) <= LIVE_MS) this.#isLocal = false;
    else if (this.#isLocal === null && Math.abs(nowMs - (shownMs - this.#offsetMs)) <= LIVE_MS) this.#isLocal = true;
    // No terminal sends what is still to come.
    const isAhead = shownMs > nowMs + LIVE_MS && shownMs - this.#offsetMs <= nowMs + LIVE_MS;
    return this.#isLocal === true || isAhead ? shownMs - this.#offsetMs : shownMs;
  }
}
