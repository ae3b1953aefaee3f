import type { VideoTask } from '@outrider/domain';
import type { VideoStep } from '@outrider/registry';
import type { DriverFailure } from './driver.ts';

/** Failures that retrying cannot fix. */
const FINAL: ReadonlySet<DriverFailure> = new Set([
  'no-recording',
  'unsupported-codec',
  'address-not-allowed',
  'too-large',
]);
/** Maximum of attempts per task. */
export const MAX_ATTEMPTS = 8;
const FIRST_DELAY_MS = 5000;
const MAX_DELAY_MS = 600_000;

/**
 * Next step after a failed attempt: the task fails for good, waits for its terminal, or is retried with growing delays
 * until its attempts or its time are used up.
 *
 * @param task with the attempt counted
 * @param random from 0 up to 1
 */
export function afterFailure(
  task: Pick<VideoTask, 'attempts' | 'expiresAtMs'>,
  failure: { reason: Exclude<DriverFailure, 'aborted'> | 'no-space'; detail: string },
  nowMs: number,
  random: number,
): Extract<VideoStep, { state: 'waiting' | 'failed' }> {
  const { reason, detail } = failure;
  if (reason !== 'no-space' && FINAL.has(reason)) return { state: 'failed', reason, detail };
  if (nowMs >= task.expiresAtMs)
    return { state: 'failed', reason: 'expired', detail: `it did not finish in time: ${reason}` };
  if (reason === 'terminal-offline') return { state: 'waiting', reason, detail, nextAttemptAtMs: null };
  if (task.attempts >= MAX_ATTEMPTS)
    return { state: 'failed', reason, detail: `${detail} (${task.attempts} attempts)` };
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, task.attempts - 1), MAX_DELAY_MS);
  // Jitter: tasks that failed together are not retried together.
  return { state: 'waiting', reason, detail, nextAttemptAtMs: nowMs + Math.round(delayMs * (0.75 + random / 2)) };
}
