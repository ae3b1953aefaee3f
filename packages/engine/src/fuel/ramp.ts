/** A level that is constant, changes linearly to another, and stays there. */
export interface Ramp {
  before: number;
  after: number;
  /** Index of the last value before the change. */
  from: number;
  /** Index of the first value after the change. */
  to: number;
}

/**
 * The ramp with the least squared distance from a series of values; null where there are fewer than four. Single
 * outliers must be removed before.
 *
 * @param weights weight of each value
 */
export function fitRamp(values: readonly number[], weights: readonly number[]): Ramp | null {
  const count = values.length;
  if (count < 4) return null;
  // Prefix sums: of weights, of weighted values, and of both times the index.
  const w = new Float64Array(count + 1);
  const wi = new Float64Array(count + 1);
  const wii = new Float64Array(count + 1);
  const wy = new Float64Array(count + 1);
  const wiy = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) {
    const weight = weights[i] as number;
    const value = values[i] as number;
    w[i + 1] = (w[i] as number) + weight;
    wi[i + 1] = (wi[i] as number) + weight * i;
    wii[i + 1] = (wii[i] as number) + weight * i * i;
    wy[i + 1] = (wy[i] as number) + weight * value;
    wiy[i + 1] = (wiy[i] as number) + weight * value * i;
  }
  const sum = (sums: Float64Array, from: number, to: number) => (sums[to] as number) - (sums[from] as number);
  let best: Ramp | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let from = 0; from < count - 1; from++) {
    const before = sum(wy, 0, from + 1) / sum(w, 0, from + 1);
    const costBefore = -before * sum(wy, 0, from + 1);
    for (let to = from + 1; to < count; to++) {
      const after = sum(wy, to, count) / sum(w, to, count);
      const slope = (after - before) / (to - from);
      const base = before - slope * from;
      const [f, t] = [from + 1, to];
      // Squared distances without the sum of squared values, which is the same for all ramps.
      const cost =
        costBefore -
        after * sum(wy, to, count) +
        base * base * sum(w, f, t) +
        2 * base * slope * sum(wi, f, t) +
        slope * slope * sum(wii, f, t) -
        2 * base * sum(wy, f, t) -
        2 * slope * sum(wiy, f, t);
      if (cost < least) {
        least = cost;
        best = { before, after, from, to };
      }
    }
  }
  return best;
}
