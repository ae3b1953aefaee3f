import type { FuelState, Level, Minute } from './fuel-state.ts';

const MINUTE_MS = 60_000;
/** Minimum and maximum number of minutes that form a level, while the vehicle stands and while it moves. */
const WHILE_STILL = { least: 3, most: 5, spanMs: 5 * MINUTE_MS };
export const WHILE_MOVING = { least: 8, most: 20, spanMs: 45 * MINUTE_MS };
/** The vehicle may have stood during a gap longer than this. */
const MOVING_GAP_MS = 10 * MINUTE_MS;
/** The interquartile range of normal noise is 1.35 standard deviations. Hills last for minutes: they count twice. */
const NOISE_OF_SPREAD = 2 / 1.35;

/** Level over the last minutes of standing, or of moving. Null where they are too few. */
export function levelOf({ minutes, levelClockMs, latitude, longitude }: FuelState): Level | null {
  const last = minutes.at(-1) as Minute;
  const { least, most, spanMs } = last.isStill ? WHILE_STILL : WHILE_MOVING;
  const values: number[] = [];
  for (let i = minutes.length - 1; i >= 0 && values.length < most; i--) {
    const minute = minutes[i] as Minute;
    if (minute.isStill !== last.isStill) break;
    if (values.length >= least && last.atMs - minute.atMs > spanMs) break;
    if (!last.isStill && (minutes[i + 1] ?? minute).atMs - minute.atMs > MOVING_GAP_MS) break;
    values.push(minute.levelUl + minute.burntUl - last.burntUl);
  }
  if (values.length < least) return null;
  const smoothed = last.isStill ? { levelUl: median(values), noiseUl: 0 } : midmean(values);
  return { ...last, ...smoothed, clockMs: levelClockMs, latitude, longitude };
}

/** The interquartile mean with its standard error. */
function midmean(values: readonly number[]): Pick<Level, 'levelUl' | 'noiseUl'> {
  const sorted = values.toSorted((a, b) => a - b);
  const quarter = sorted.length >> 2;
  const middle = sorted.slice(quarter, sorted.length - quarter);
  const spread = (middle.at(-1) as number) - (middle[0] as number);
  return {
    levelUl: Math.round(middle.reduce((sum, value) => sum + value, 0) / middle.length),
    noiseUl: Math.round((spread * NOISE_OF_SPREAD) / Math.sqrt(values.length)),
  };
}

/** The median; of an even number the lower of the middle two, so that it stays an integer. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] as number;
}
