/** Rounds a value and limits it to the range of a field. */
export function clampRound(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round(value)));
}
