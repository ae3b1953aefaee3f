import { Client, type User } from '@outrider/client';
import { signal } from '@preact/signals';

/** Undefined: not known yet; null: nobody is logged in. */
export const user = signal<User | null | undefined>(undefined);
/** Reason for the missing user, by the type of the problem that a call returned. */
const SESSION_ENDS: Readonly<Record<string, 'ended' | 'blocked' | 'expired'>> = {
  'urn:outrider:problem:not-authorized': 'ended',
  'urn:outrider:problem:account-blocked': 'blocked',
  'urn:outrider:problem:account-expired': 'expired',
};
export type SessionEnd = (typeof SESSION_ENDS)[string];
/** Null: nobody was logged in, or the user logged out. */
export const sessionEnd = signal<SessionEnd | null>(null);

/** Unix milliseconds from which on the API accepts calls of this account again after it limited them. */
export const limitedUntilMs = signal(0);
const LONGEST_WAIT_S = 60;

/** API client that authenticates with the session cookie: scripts never see a token. */
export const api = new Client({
  onLimit: (seconds) => {
    limitedUntilMs.value = Math.max(limitedUntilMs.peek(), Date.now() + seconds * 1000);
    return seconds <= LONGEST_WAIT_S;
  },
  onError: (error) => {
    const end = SESSION_ENDS[error.problem.type];
    if (end !== undefined) onUnauthorized(end);
  },
});

function onUnauthorized(end: SessionEnd): void {
  const before = user.peek();
  // A newly opened page had no session that could end, but its account may be blocked or expired.
  if (before || (before === undefined && end !== 'ended')) sessionEnd.value = end;
  user.value = null;
}
