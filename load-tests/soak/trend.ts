/** One value at one time. */
export interface Sample {
  /** Seconds from the beginning. */
  at: number;
  value: number;
}

/** The straight line that fits some samples best: by least squares. */
export interface Trend {
  /** Units a minute. */
  perMinute: number;
  /** Of the samples that it was laid through. */
  mean: number;
  /** How much the line rises from its first sample to its last. */
  rise: number;
}

/**
 * The trend of the last part of some samples; each of several windows counts by its least value, as a heap between two
 * collections of its garbage says nothing.
 *
 * @param from seconds: what was before is getting started
 * @param windows how many
 * @returns null where there are not two windows with samples
 */
export function trendOf(samples: readonly Sample[], from: number, windows: number): Trend | null {
  const last = samples.at(-1)?.at ?? 0;
  const span = (last - from) / windows;
  const least: Sample[] = [];
  for (let window = 0; window < windows; window++) {
    const begin = from + window * span;
    const within = samples.filter(({ at }) => at >= begin && (at < begin + span || window === windows - 1));
    const [first] = within;
    if (first) least.push(within.reduce((low, sample) => (sample.value < low.value ? sample : low), first));
  }
  const [first] = least;
  const end = least.at(-1);
  if (!first || !end || least.length < 2) return null;
  const meanAt = mean(least.map(({ at }) => at));
  const meanValue = mean(least.map(({ value }) => value));
  let above = 0;
  let below = 0;
  for (const { at, value } of least) {
    above += (at - meanAt) * (value - meanValue);
    below += (at - meanAt) ** 2;
  }
  const perSecond = above / below;
  return { perMinute: perSecond * 60, mean: meanValue, rise: perSecond * (end.at - first.at) };
}

/** Is what a trend rises by within a share of its mean, and something beside it? */
export function isFlat({ rise, mean: level }: Trend, share: number, beside: number): boolean {
  return rise <= share * level + beside;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
