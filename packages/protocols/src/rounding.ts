/** The nearest whole number within bounds: what fits a field of the wire. */
export function clampRound(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round(value)));
}
