/** Longs are kept to what zigzag coding can double without losing a bit of a JavaScript number. */
export const MAX_LONG = 2 ** 52;
const MAX_INT = 2 ** 31 - 1;
const MIN_INT = -(2 ** 31);

/** The nearest int; the smallest where `value` is no number, which no scaled field reaches by a true value. */
export function toInt(value: number): number {
  const whole = Math.round(value);
  if (whole > MAX_INT) return MAX_INT;
  return whole > MIN_INT ? whole | 0 : MIN_INT;
}

/** The nearest long; 0 where `value` is no number. */
export function toLong(value: number): number {
  const whole = Math.round(value);
  if (whole > MAX_LONG) return MAX_LONG;
  if (whole < -MAX_LONG) return -MAX_LONG;
  // Neither NaN nor negative zero leaves here.
  return whole || 0;
}
