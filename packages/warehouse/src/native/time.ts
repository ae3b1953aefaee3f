import { clamp } from './scaled.ts';

/** Range of a time column: the years 1900 to 2299, in Unix milliseconds. */
export const EARLIEST_MS = -2_208_988_800_000;
export const LATEST_MS = 10_413_791_999_999;

/** Clamps a time to the range of a time column. Times outside are flagged by their rejection. */
export function storableMs(timeMs: number): number {
  return clamp(timeMs, EARLIEST_MS, LATEST_MS - 1);
}

/**
 * Converts a bound of a time range to whole milliseconds, clamped to what a time column can be compared with.
 *
 * @throws {RangeError} when it is not a number
 */
export function boundMs(timeMs: number): number {
  if (Number.isNaN(timeMs)) throw new RangeError('A bound of a time range is not a number');
  return Math.ceil(Math.max(EARLIEST_MS, Math.min(LATEST_MS, timeMs)));
}
