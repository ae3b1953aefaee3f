import { ApiError, ConnectionError } from '@outrider/client';
import { t } from './words/words.ts';

/** Describes an error in the user's language if the console has a text for it, otherwise with the text of the API. */
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
