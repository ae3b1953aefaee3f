const HOUR_MS = 3_600_000;
/** Older samples say little about what comes next. */
const WINDOW_MS = 6 * HOUR_MS;
/** A shorter time shows a merge or a backup, not a trend. */
const LEAST_MS = HOUR_MS;
const SAMPLE_EVERY_MS = 60_000;
const WARN_BELOW_SECONDS = 24 * 3600;
/** Hysteresis: a forecast near the bound must not appear and disappear repeatedly. */
const CLEAR_ABOVE_SECONDS = 2 * WARN_BELOW_SECONDS;

/** Forecasts when a space will be full, from its decrease during the last hours. */
export class FillForecast {
  #samples: { atMs: number; space: number }[] = [];
  #isShort = false;

  /** @param space remaining space, in any unit */
  note(atMs: number, space: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < SAMPLE_EVERY_MS) return;
    this.#samples = this.#samples.filter((sample) => sample.atMs > atMs - WINDOW_MS);
    this.#samples.push({ atMs, space });
    const seconds = this.secondsLeft;
    this.#isShort = seconds !== null && seconds < (this.#isShort ? CLEAR_ABOVE_SECONDS : WARN_BELOW_SECONDS);
  }

  /** Whether less than a day is left. Once true, it stays true until two days are left. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** Null if the space is not filling up, or was watched for less than an hour. */
  get secondsLeft(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < LEAST_MS) return null;
    const slope = slopeOf(this.#samples);
    return slope < 0 ? last.space / -slope / 1000 : null;
  }
}

/** Slope of the least-squares line, in units per millisecond. */
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
