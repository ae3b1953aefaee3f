import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';

/**
 * Makes a value at most once in a while, however many ask for it: those that ask while it is made get the same one, and
 * so do those that ask soon after. What failed is tried again by the next caller.
 *
 * @param keptMs how long a value is good, from when it was made
 */
export function sharedFor<T>(keptMs: number, make: () => Promise<T>, clock: Clock = SYSTEM_CLOCK): () => Promise<T> {
  let current: Promise<T> | null = null;
  let madeAtMs: number | null = null;
  return () => {
    if (current !== null && (madeAtMs === null || clock.steadyMs() < madeAtMs + keptMs)) return current;
    madeAtMs = null;
    const making = make();
    current = making;
    making.then(
      () => {
        madeAtMs = clock.steadyMs();
      },
      () => {
        current = null;
      },
    );
    return making;
  };
}
