/** Converts degrees to whole 1e-7 degrees, clamped to Int32. NaN becomes 0: such a fix is flagged. */
export function degreesE7(degrees: number): number {
  return clamp(degrees * 1e7, -0x8000_0000, 0x7fff_ffff);
}

/** Rounds `value` and clamps it to `[low, high]`; NaN becomes 0 (or the nearest bound). */
export function clamp(value: number, low: number, high: number): number {
  const whole = Math.round(value);
  if (whole >= low) return Math.min(whole, high);
  return whole < low ? low : Math.max(low, 0);
}
