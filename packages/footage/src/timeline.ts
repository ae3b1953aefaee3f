/** A step further than this is another count that began, not a pause in what was recorded. */
const LONGEST_STEP_MS = 20 * 60_000;
/** Frames that come a little late keep their order; further back, another count began. */
const LONGEST_STEP_BACK_MS = 2000;
/** Where the next frame is put when another count begins. */
const USUAL_STEP_MS = 40;

/** Puts the times of one track, counted from wherever the terminal likes, on the file's clock, which begins with 0. */
export class Timeline {
  #offsetMs: number;
  #latestMs: number | null = null;

  /** @param zeroMs the time by the terminal's count that is 0 in the file */
  constructor(zeroMs: number) {
    this.#offsetMs = -zeroMs;
  }

  /** The latest time that was given; null before the first. */
  get latestMs(): number | null {
    return this.#latestMs;
  }

  /**
   * @param mayStepBack for frames that are shown before others that came first
   * @param notBeforeMs what the time is moved on to at least
   * @returns milliseconds; less than 0 for what was before the file's beginning
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
