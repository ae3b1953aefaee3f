import type { SendResult } from './send-result.ts';

const FIRST_RETRY_MS = 5000;
const FACTOR = 3;
const LONGEST_RETRY_MS = 4 * 3_600_000;
/** Random share of a wait, so that deliveries that failed together are not retried together. */
const JITTER = 0.3;

/**
 * Time of the next attempt: after 5 s, 15 s, 45 s, … up to 4 h, with jitter, but not before the receiver's requested
 * wait. In a day that makes about 15 attempts.
 *
 * @param attempts attempts up to now, at least 1
 * @param retryAfterMs wait that the receiver requested; null if none
 * @param random 0 to 1, as `Math.random` gives it
 * @returns Unix milliseconds; null when that would be after `giveUpAtMs`
 */
export function nextAttemptAtMs(
  attempts: number,
  nowMs: number,
  giveUpAtMs: number,
  retryAfterMs: number | null,
  random: number,
): number | null {
  const grown = Math.min(FIRST_RETRY_MS * FACTOR ** (attempts - 1), LONGEST_RETRY_MS);
  const waitMs = Math.max(grown * (1 + JITTER * (2 * random - 1)), retryAfterMs ?? 0);
  const atMs = Math.round(nowMs + waitMs);
  return atMs > giveUpAtMs ? null : atMs;
}

/** State of a delivery after an attempt. */
export type AttemptOutcome =
  | { state: 'delivered'; status: number | null }
  | { state: 'pending'; error: string; status: number | null; nextAttemptAtMs: number }
  | { state: 'failed'; error: string; status: number | null };

/**
 * Decides what follows an attempt: the delivery is done, is retried, or is given up.
 *
 * @param random 0 to 1, as `Math.random` gives it
 */
export function outcomeOf(
  { attempts, giveUpAtMs }: { attempts: number; giveUpAtMs: number },
  result: SendResult,
  nowMs: number,
  random: number,
): AttemptOutcome {
  if (result.ok) return { state: 'delivered', status: result.status };
  const { error, status } = result;
  if (!result.retry) return { state: 'failed', error, status };
  const nextMs = nextAttemptAtMs(attempts, nowMs, giveUpAtMs, result.retryAfterMs ?? null, random);
  return nextMs === null
    ? { state: 'failed', error, status }
    : { state: 'pending', error, status, nextAttemptAtMs: nextMs };
}
