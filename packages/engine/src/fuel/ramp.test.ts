import { expect, test } from 'vitest';
import { createRandom } from '../../../simulator/src/random.ts';
import { fitRamp, type Ramp } from './ramp.ts';

/** All ramps there are, and their distance value by value. */
function plainRamp(values: readonly number[], weights: readonly number[]): { ramp: Ramp; cost: number } {
  const mean = (from: number, to: number) => {
    let [sum, weight] = [0, 0];
    for (let i = from; i < to; i++) {
      sum += (values[i] as number) * (weights[i] as number);
      weight += weights[i] as number;
    }
    return sum / weight;
  };
  let best: { ramp: Ramp; cost: number } | null = null;
  for (let from = 0; from < values.length - 1; from++)
    for (let to = from + 1; to < values.length; to++) {
      const [before, after] = [mean(0, from + 1), mean(to, values.length)];
      let cost = 0;
      for (let i = 0; i < values.length; i++) {
        const share = Math.min(1, Math.max(0, (i - from) / (to - from)));
        cost += (weights[i] as number) * ((values[i] as number) - before - share * (after - before)) ** 2;
      }
      if (best === null || cost < best.cost) best = { ramp: { before, after, from, to }, cost };
    }
  return best as { ramp: Ramp; cost: number };
}

test('is as close to the values as any ramp', () => {
  const random = createRandom(5);
  for (let run = 0; run < 60; run++) {
    const count = 4 + Math.floor(random.between(0, 20));
    const from = random.between(1, count - 1);
    const values = Array.from({ length: count }, (_, i) => (i < from ? 300 : 250) + 4 * random.gauss());
    const weights = values.map(() => random.pick([1, 9]));
    const ramp = fitRamp(values, weights) as Ramp;
    const plain = plainRamp(values, weights).ramp;
    expect([ramp.from, ramp.to]).toEqual([plain.from, plain.to]);
    expect(ramp.before).toBeCloseTo(plain.before, 6);
    expect(ramp.after).toBeCloseTo(plain.after, 6);
  }
});

test('is none of fewer than four values', () => {
  expect(fitRamp([1, 2, 3], [1, 1, 1])).toBeNull();
});
