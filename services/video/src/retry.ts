import type { VideoTask } from '@outrider/domain';
import type { VideoStep } from '@outrider/registry';
import type { DriverFailure } from './driver.ts';

/** Nothing that time would mend. */
const FINAL: ReadonlySet<DriverFailure> = new Set([
  'no-recording',
  'unsupported-codec',
  'address-not-allowed',
  'too-large',
]);
/** Times that a task is tried. */
export const MAX_ATTEMPTS = 8;
const FIRST_DELAY_MS = 5000;
const MAX_DELAY_MS = 600_000;

/**
 * What becomes of a task whose attempt failed: it fails for good, waits for its terminal, or is tried again, later each
 * time, until its attempts or its time are used up.
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
    return { state: 'failed', reason: 'expired', detail: `it was not done in time: ${reason}` };
  if (reason === 'terminal-offline') return { state: 'waiting', reason, detail, nextAttemptAtMs: null };
  if (task.attempts >= MAX_ATTEMPTS)
    return { state: 'failed', reason, detail: `${detail} (${task.attempts} attempts)` };
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, task.attempts - 1), MAX_DELAY_MS);
  // Spread, so that what failed together does not come back together.
  return { state: 'waiting', reason, detail, nextAttemptAtMs: nowMs + Math.round(delayMs * (0.75 + random / 2)) };
}
