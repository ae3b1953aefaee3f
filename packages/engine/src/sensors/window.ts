import { MAX_SMOOTHING } from '@outrider/domain';

/**
 * Window of a median filter: the newest values of a sensor and their times, stored in a part of a list of numbers. It
 * is a ring buffer: a value replaces the oldest, without moving others or allocating.
 */
const COUNT = 0;
const NEXT = 1;
const UNSAFE = 2;
const TIMES = 3;

export type WindowEntry = [timeMs: number, value: number];

/** Initial content of a window of `size` values. */
export function blankWindow(size: number): number[] {
  return [0, 0, 0, ...Array.from({ length: 2 * size }, () => Number.NaN)];
}

/** Adds a value to the window of `size` values at index `at`. */
export function addToWindow(numbers: number[], at: number, size: number, timeMs: number, value: number): void {
  const next = numbers[at + NEXT] as number;
  numbers[at + TIMES + next] = timeMs;
  numbers[at + TIMES + size + next] = value;
  numbers[at + NEXT] = next + 1 === size ? 0 : next + 1;
  if ((numbers[at + COUNT] as number) < size) (numbers[at + COUNT] as number)++;
}

/** Records whether the newest value may exceed a threshold. False if no value in the window may, nor their median. */
export function noteUnsafe(numbers: number[], at: number, size: number, isUnsafe: boolean): boolean {
  const left = numbers[at + UNSAFE] as number;
  if (isUnsafe) numbers[at + UNSAFE] = size;
  else if (left > 0) numbers[at + UNSAFE] = left - 1;
  return isUnsafe || left > 1;
}

export function clearWindow(numbers: number[], at: number): void {
  numbers[at + COUNT] = 0;
  numbers[at + NEXT] = 0;
  numbers[at + UNSAFE] = 0;
}

/** The content of the window, oldest value first. */
export function windowEntries(numbers: readonly number[], at: number, size: number): WindowEntry[] {
  const count = numbers[at + COUNT] as number;
  const oldest = count < size ? 0 : (numbers[at + NEXT] as number);
  return Array.from({ length: count }, (_, i) => {
    const nth = (oldest + i) % size;
    return [numbers[at + TIMES + nth] as number, numbers[at + TIMES + size + nth] as number];
  });
}

/** Fills a blank window. Each of the values may exceed a threshold. */
export function fillWindow(numbers: number[], at: number, size: number, entries: readonly WindowEntry[]): void {
  for (const [timeMs, value] of entries) addToWindow(numbers, at, size, timeMs, value);
  numbers[at + UNSAFE] = size;
}

const sorted = new Float64Array(MAX_SMOOTHING);

/** The median of a window, as `medianOf`, but without a list of its own, since each record needs it. */
export function medianIn(numbers: readonly number[], at: number, size: number): number {
  const count = numbers[at + COUNT] as number;
  const first = at + TIMES + size;
  for (let i = 0; i < count; i++) {
    const value = numbers[first + i] as number;
    let to = i;
    for (; to > 0 && (sorted[to - 1] as number) > value; to--) sorted[to] = sorted[to - 1] as number;
    sorted[to] = value;
  }
  const upper = sorted[count >> 1] as number;
  return count % 2 === 1 ? upper : ((sorted[(count >> 1) - 1] as number) + upper) / 2;
}
