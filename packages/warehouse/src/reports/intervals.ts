import { boundMs } from '../native/time.ts';

/** The distance between evenly spaced cuts; null if they are not. */
export function stepOf(cuts: readonly number[]): number | null {
  const [first = 0, second = 0] = cuts;
  const step = second - first;
  return cuts.length > 1 && cuts.every((cut, nth) => cut === first + nth * step) ? step : null;
}

/**
 * SQL of the number of the interval that a time is in: 0 before the first cut, and the number of cuts from the last on.
 * It searches a list of cuts for each row, but computes the number for a grid.
 *
 * @param time an SQL expression of Unix milliseconds
 * @param cuts Unix milliseconds, increasing; must also be bound to the query as `cuts` unless they are a grid
 */
export function intervalOf(time: string, cuts: readonly number[]): string {
  const step = stepOf(cuts);
  return step === null
    ? `toInt32(arrayCount(cut -> cut <= ${time}, {cuts:Array(Int64)}))`
    : `toInt32(least(greatest(intDiv(${time} - ${boundMs(cuts[0] ?? 0) - step}, ${step}), 0), ${cuts.length}))`;
}

/**
 * SQL of the cut at which an interval of {@link intervalOf} begins, from 1 on. The cuts of a grid are computed, so that
 * a long one need not be bound.
 *
 * @param interval an SQL expression
 */
export function cutAt(interval: string, cuts: readonly number[]): string {
  const step = stepOf(cuts);
  return step === null
    ? `{cuts:Array(Int64)}[${interval}]`
    : `(toInt64(${boundMs(cuts[0] ?? 0)}) + (${interval} - 1) * ${step})`;
}
