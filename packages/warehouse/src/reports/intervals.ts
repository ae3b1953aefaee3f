import { boundMs } from '../native/time.ts';

/** How far apart cuts are that are evenly so; null where they are not. */
export function stepOf(cuts: readonly number[]): number | null {
  const [first = 0, second = 0] = cuts;
  const step = second - first;
  return cuts.length > 1 && cuts.every((cut, nth) => cut === first + nth * step) ? step : null;
}

/**
 * The number of the interval that a time is in: 0 before the first cut, and as many as there are cuts from the last on.
 * A list of cuts is looked through for each row, a grid is divided.
 *
 * @param time an expression of Unix milliseconds
 * @param cuts Unix milliseconds, growing; also bound to the query as `cuts` unless they are a grid
 */
export function intervalOf(time: string, cuts: readonly number[]): string {
  const step = stepOf(cuts);
  return step === null
    ? `toInt32(arrayCount(cut -> cut <= ${time}, {cuts:Array(Int64)}))`
    : `toInt32(least(greatest(intDiv(${time} - ${boundMs(cuts[0] ?? 0) - step}, ${step}), 0), ${cuts.length}))`;
}

/**
 * The cut at which an interval of {@link intervalOf} begins, from 1 on. Those of a grid are worked out, so that a long
 * one need not be bound.
 *
 * @param interval an expression
 */
export function cutAt(interval: string, cuts: readonly number[]): string {
  const step = stepOf(cuts);
  return step === null
    ? `{cuts:Array(Int64)}[${interval}]`
    : `(toInt64(${boundMs(cuts[0] ?? 0)}) + (${interval} - 1) * ${step})`;
}
