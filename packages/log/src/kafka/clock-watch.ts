import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';

const LOOK_EVERY_MS = 1000;

/**
 * Checks periodically whether the wall clock was set back by more than `toleratedMs`.
 *
 * @param onSetBack called with the size of the step, each time
 * @returns ends the watch
 */
export function watchClock(
  toleratedMs: number,
  onSetBack: (byMs: number) => void,
  clock: Clock = SYSTEM_CLOCK,
): () => void {
  let aheadMs = clock.now() - clock.steadyMs();
  const timer = clock.every(LOOK_EVERY_MS, () => {
    const nowAheadMs = clock.now() - clock.steadyMs();
    const byMs = aheadMs - nowAheadMs;
    aheadMs = nowAheadMs;
    if (byMs > toleratedMs) onSetBack(byMs);
  });
  timer.unref();
  return () => timer.cancel();
}
