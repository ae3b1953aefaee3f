/** Largest long: zigzag coding can double it without losing a bit of a JavaScript number. */
export const MAX_LONG = 2 ** 52;
const MAX_INT = 2 ** 31 - 1;
const MIN_INT = -(2 ** 31);

/** The nearest int. NaN becomes the smallest int, which no real value of a scaled field equals. */
export function toInt(value: number): number {
  const whole = Math.round(value);
  if (whole > MAX_INT) return MAX_INT;
  return whole > MIN_INT ? whole | 0 : MIN_INT;
}

/** The nearest long; 0 for NaN. */
export function toLong(value: number): number {
  const whole = Math.round(value);
  if (whole > MAX_LONG) return MAX_LONG;
  if (whole < -MAX_LONG) return -MAX_LONG;
  // Turns NaN and negative zero into 0.
  return whole || 0;
}
