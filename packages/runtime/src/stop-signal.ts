import { SYSTEM_CLOCK } from '@outrider/domain';

/** A second Ctrl-C within this time counts as the same one: both the terminal and npm send it. */
const SAME_SIGNAL_MS = 1500;

/** Resolves with the first signal to stop. A further one, after a while, ends the process at once. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        const nowMs = SYSTEM_CLOCK.now();
        if (firstAtMs !== null && nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(130);
        firstAtMs ??= nowMs;
        resolve(signal);
      });
  });
}
