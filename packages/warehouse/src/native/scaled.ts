/** Degrees as whole 1e-7 degrees; clamped to what Int32 holds, and 0 for what is no number: such a fix is flagged. */
export function degreesE7(degrees: number): number {
  return clamp(degrees * 1e7, -0x8000_0000, 0x7fff_ffff);
}

/** `value` rounded to a whole number within `[low, high]`; 0 (or the nearest bound) for what is no number. */
export function clamp(value: number, low: number, high: number): number {
  const whole = Math.round(value);
  if (whole >= low) return Math.min(whole, high);
  return whole < low ? low : Math.max(low, 0);
}
