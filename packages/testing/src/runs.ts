/** Few inputs are enough to see that a property still runs; a share of a small number says little. */
const FEWEST = 20;

/**
 * How many inputs a property is tested with: all of them with `TEST_RUNS=1`, as `.ci/verify` sets it, and a tenth by
 * default. `TEST_RUNS=5` is five times as many.
 *
 * @param full what `TEST_RUNS=1` runs
 */
export function runs(full: number): number {
  const factor = Number(process.env.TEST_RUNS ?? 0.1);
  if (!(factor > 0)) throw new Error(`TEST_RUNS must be a number above 0, not ${process.env.TEST_RUNS}`);
  return Math.max(Math.min(full, FEWEST), Math.ceil(full * factor));
}
