/** A larger step is a restart of the terminal's count, not a pause in the recording. */
const LONGEST_STEP_MS = 20 * 60_000;
/** Frames that come a little late keep their order; a larger step back is a restart of the count. */
const LONGEST_STEP_BACK_MS = 2000;
/** Step to the next frame when the count restarts. */
const USUAL_STEP_MS = 40;

/** Converts the times of one track, with a start that the terminal chose, to the file's clock, which begins with 0. */
export class Timeline {
  #offsetMs: number;
  #latestMs: number | null = null;

  /** @param zeroMs the terminal's time that is 0 in the file */
  constructor(zeroMs: number) {
    this.#offsetMs = -zeroMs;
  }

  /** The latest time that was assigned; null before the first. */
  get latestMs(): number | null {
    return this.#latestMs;
  }

  /**
   * @param mayStepBack for frames that are shown before others that came first
   * @param notBeforeMs minimum for the resulting time
   * @returns milliseconds; less than 0 for frames from before the file's beginning
   */
  place(timestampMs: number, mayStepBack: boolean, notBeforeMs = Number.NEGATIVE_INFINITY): number {
    let atMs = timestampMs + this.#offsetMs;
    const latestMs = this.#latestMs;
    if (latestMs !== null) {
      if (atMs - latestMs > LONGEST_STEP_MS || latestMs - atMs > LONGEST_STEP_BACK_MS) {
        this.#offsetMs += latestMs + USUAL_STEP_MS - atMs;
        atMs = latestMs + USUAL_STEP_MS;
      }
      if (!mayStepBack && atMs <= latestMs) atMs = latestMs + 1;
    }
    atMs = Math.max(atMs, notBeforeMs);
    if (atMs >= 0) this.#latestMs = Math.max(atMs, latestMs ?? 0);
    return atMs;
  }
}
