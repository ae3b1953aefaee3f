/** An interval of a sensor's history, from the API. */
export interface SeriesRow {
  startedAt: string;
  sensorId: string;
  mean: number | null;
}

/** Values over time, in seconds, as charts take them: a null breaks the line. */
export interface Series {
  seconds: number[];
  values: (number | null)[];
  /** Length of the interval that one value covers. */
  stepMs: number;
}

/** A pause longer than this many intervals is a gap, however long the intervals. */
const GAP_STEPS = 2.5;
/** Window size of the median filter for a tank level without a sensor. */
const MEDIAN_OF = 5;

/**
 * The history of each sensor by its id. A value is placed at the middle of its interval.
 *
 * @param gapMs a longer pause breaks the line
 */
export function seriesOf(rows: readonly SeriesRow[], gapMs: number): Map<string, Series> {
  const times = new Map<string, { startMs: number; mean: number }[]>();
  for (const { startedAt, sensorId, mean } of rows) {
    if (mean === null) continue;
    const list = times.get(sensorId) ?? [];
    list.push({ startMs: Date.parse(startedAt), mean });
    times.set(sensorId, list);
  }
  const stepMs = stepOf([...times.values()].map((list) => list.map(({ startMs }) => startMs)));
  return new Map(
    [...times].map(([id, list]) => {
      const middles = list.map(({ startMs }) => startMs + stepMs / 2);
      const means = list.map(({ mean }) => mean);
      return [id, broken(middles, means, stepMs, Math.max(gapMs, GAP_STEPS * stepMs))];
    }),
  );
}

/** Smallest difference between two successive times; 0 if none exists. */
function stepOf(lists: readonly (readonly number[])[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const list of lists)
    for (let n = 1; n < list.length; n++) {
      const step = (list[n] as number) - (list[n - 1] as number);
      if (step > 0 && step < least) least = step;
    }
  return least === Number.POSITIVE_INFINITY ? 0 : least;
}

function broken(times: readonly number[], found: readonly number[], stepMs: number, gapMs: number): Series {
  const seconds: number[] = [];
  const values: (number | null)[] = [];
  for (const [nth, timeMs] of times.entries()) {
    const before = times[nth - 1];
    if (before !== undefined && timeMs - before > gapMs) {
      seconds.push(before / 1000 + 0.001);
      values.push(null);
    }
    seconds.push(timeMs / 1000);
    values.push(found[nth] as number);
  }
  return { seconds, values, stepMs };
}

/** Sum of all sensors, at the times that all of them have. */
export function sumOf(all: readonly Series[]): Series {
  const [first, ...others] = all;
  if (first === undefined) return { seconds: [], values: [], stepMs: 0 };
  const known = others.map(
    ({ seconds, values }) => new Map(seconds.map((second, nth) => [second, values[nth] ?? null])),
  );
  const seconds: number[] = [];
  const values: (number | null)[] = [];
  for (const [nth, second] of first.seconds.entries()) {
    const own = first.values[nth] ?? null;
    const rest = known.map((of) => of.get(second));
    if (rest.includes(undefined)) continue;
    seconds.push(second);
    values.push(
      rest.includes(null) || own === null ? null : rest.reduce<number>((sum, value) => sum + (value ?? 0), own),
    );
  }
  return { seconds, values, stepMs: first.stepMs };
}

/** Median filter. Gaps stay. */
export function medianed({ seconds, values, stepMs }: Series): Series {
  const half = MEDIAN_OF >> 1;
  const next = values.map((value, nth) => {
    if (value === null) return null;
    const around = values.slice(Math.max(0, nth - half), nth + half + 1).filter((each) => each !== null);
    return around.toSorted((a, b) => a - b)[around.length >> 1] ?? value;
  });
  return { seconds, values: next, stepMs };
}

/** The last value at or before a time; null before the first, and in a gap. */
export function valueAt({ seconds, values }: Series, timeMs: number): number | null {
  let low = 0;
  let high = seconds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seconds[middle] as number) * 1000 <= timeMs) low = middle + 1;
    else high = middle;
  }
  return values[low - 1] ?? null;
}
