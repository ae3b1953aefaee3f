/** Enough inputs to see that a property still runs; a fraction of a small number would prove little. */
const FEWEST = 20;

/**
 * Number of inputs that a property is tested with: all of them with `TEST_RUNS=1`, as `.ci/verify` sets it, and a tenth
 * by default. `TEST_RUNS=5` is five times as many.
 *
 * @param full number for `TEST_RUNS=1`
 */
export function runs(full: number): number {
  return Math.max(Math.min(full, FEWEST), Math.ceil(full * factor()));
}

/** Whether all inputs are asked for: what has few but slow ones takes a part of them otherwise. */
export function hasAllInputs(): boolean {
  return factor() >= 1;
}

function factor(): number {
  const factor = Number(process.env.TEST_RUNS ?? 0.1);
  if (!(factor > 0)) throw new Error(`TEST_RUNS must be a number above 0, not ${process.env.TEST_RUNS}`);
  return factor;
}
