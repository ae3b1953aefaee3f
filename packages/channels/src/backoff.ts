import type { SendResult } from './send-result.ts';

const FIRST_RETRY_MS = 5000;
const FACTOR = 3;
const LONGEST_RETRY_MS = 4 * 3_600_000;
/** So much of a wait is left to chance: those who failed together do not come back together. */
const JITTER = 0.3;

/**
 * When to try again: after 5 s, 15 s, 45 s, … up to 4 h, each a little earlier or later; not before the receiver asked
 * for it. Up to a day that makes about 15 attempts.
 *
 * @param attempts made up to now, at least 1
 * @param retryAfterMs how long the receiver asked to be left alone; null where it did not
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

/** How an attempt leaves its delivery. */
export type AttemptOutcome =
  | { state: 'delivered'; status: number | null }
  | { state: 'pending'; error: string; status: number | null; nextAttemptAtMs: number }
  | { state: 'failed'; error: string; status: number | null };

/**
 * What an attempt makes of its delivery: it is done, it is tried again, or it is given up.
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
