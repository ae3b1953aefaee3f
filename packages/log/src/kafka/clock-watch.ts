/** The wall clock, and a monotonic clock to compare it with, in milliseconds. */
export interface Clocks {
  wallMs(): number;
  steadyMs(): number;
}

const LOOK_EVERY_MS = 1000;
const CLOCKS: Clocks = { wallMs: () => Date.now(), steadyMs: () => performance.now() };

/**
 * Checks periodically whether the wall clock was set back by more than `toleratedMs`.
 *
 * @param onSetBack called with how much, each time
 * @returns ends the watch
 */
export function watchClock(toleratedMs: number, onSetBack: (byMs: number) => void, clocks = CLOCKS): () => void {
  let aheadMs = clocks.wallMs() - clocks.steadyMs();
  const timer = setInterval(() => {
    const nowAheadMs = clocks.wallMs() - clocks.steadyMs();
    const byMs = aheadMs - nowAheadMs;
    aheadMs = nowAheadMs;
    if (byMs > toleratedMs) onSetBack(byMs);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
