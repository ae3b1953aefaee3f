import { ApiError, ConnectionError } from '@outrider/client';
import { t } from './words/words.ts';

/** What happened, in the user's words where the page knows them, else in those of the API. */
export function describeError(error: unknown): string {
  if (error instanceof ConnectionError) return t().notReached;
  if (error instanceof ApiError) {
    if (error.status === 429) return t().tooManyAttempts(error.retryAfterSeconds ?? 60);
    if (error.problem.type === 'urn:outrider:problem:account-blocked') return t().accountBlocked;
    if (error.problem.type === 'urn:outrider:problem:account-expired') return t().accountExpired;
    if (error.status === 403) return t().notAllowed;
    return t().somethingFailed(error.problem.detail);
  }
  return t().somethingFailed(error instanceof Error ? error.message : String(error));
}
