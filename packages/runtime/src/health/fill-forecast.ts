const HOUR_MS = 3_600_000;
/** What came before says little of what comes next. */
const WINDOW_MS = 6 * HOUR_MS;
/** A shorter time shows a merge or a backup, not a trend. */
const LEAST_MS = HOUR_MS;
const SAMPLE_EVERY_MS = 60_000;
const WARN_BELOW_SECONDS = 24 * 3600;
/** Far enough from the bound that a forecast near it does not come and go. */
const CLEAR_ABOVE_SECONDS = 2 * WARN_BELOW_SECONDS;

/** When something that fills up will be full, by how the space in it went down during the last hours. */
export class FillForecast {
  #samples: { atMs: number; space: number }[] = [];
  #isShort = false;

  /** @param space how much is left, in any unit */
  note(atMs: number, space: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < SAMPLE_EVERY_MS) return;
    this.#samples = this.#samples.filter((sample) => sample.atMs > atMs - WINDOW_MS);
    this.#samples.push({ atMs, space });
    const seconds = this.secondsLeft;
    this.#isShort = seconds !== null && seconds < (this.#isShort ? CLEAR_ABOVE_SECONDS : WARN_BELOW_SECONDS);
  }

  /** Is less than a day left? Once it is, until two days are. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** Null where it does not fill up, or was watched for less than an hour. */
  get secondsLeft(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < LEAST_MS) return null;
    const slope = slopeOf(this.#samples);
    return slope < 0 ? last.space / -slope / 1000 : null;
  }
}

/** Of the line with the least squares of differences, in units a millisecond. */
function slopeOf(samples: readonly { atMs: number; space: number }[]): number {
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const atMs = meanOf(samples.map((sample) => sample.atMs));
  const space = meanOf(samples.map((sample) => sample.space));
  let [product, square] = [0, 0];
  for (const sample of samples) {
    product += (sample.atMs - atMs) * (sample.space - space);
    square += (sample.atMs - atMs) ** 2;
  }
  return product / square;
}
