import type { Clock } from '@outrider/domain';
export interface RetryOptions {
  /** Waits between attempts double from `firstMs` to `longestMs`. */
  firstMs: number;
  longestMs: number;
  /** Once aborted, the next failure is final. */
  giveUp: AbortSignal;
  /** True for errors that a retry can't cure. */
  isFinal(error: unknown): boolean;
  onRetry(error: unknown, attempt: number, waitMs: number): void;
  clock: Clock;
}

/**
 * Retries the work until it succeeds.
 *
 * @throws the last failure, when it is final or the work was aborted
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { firstMs, longestMs, giveUp, isFinal, onRetry, clock } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error) || giveUp.aborted) throw error;
      const waitMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 30));
      onRetry(error, attempt, waitMs);
      await clock.pause(waitMs, giveUp);
    }
  }
}
