import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';

/**
 * Creates a function that makes a value at most once in an interval, however many callers it has. Callers get the same
 * value while it is made, and soon after. After a failure, the next caller tries again.
 *
 * @param keptMs how long a value is valid, from when it was made
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
