import { Client, type User } from '@outrider/client';
import { signal } from '@preact/signals';

/** Undefined: not known yet; null: nobody is logged in. */
export const user = signal<User | null | undefined>(undefined);
/** Why there is no user, by the problem that a call was answered with. */
const SESSION_ENDS: Readonly<Record<string, 'ended' | 'blocked' | 'expired'>> = {
  'urn:outrider:problem:not-authorized': 'ended',
  'urn:outrider:problem:account-blocked': 'blocked',
  'urn:outrider:problem:account-expired': 'expired',
};
export type SessionEnd = (typeof SESSION_ENDS)[string];
/** Null: nobody was logged in, or logged out. */
export const sessionEnd = signal<SessionEnd | null>(null);

/** Unix milliseconds at which the API takes calls of this account again, where it was called too often. */
export const limitedUntilMs = signal(0);
const LONGEST_WAIT_S = 60;

/** The API by the cookie of the session: no token is known to scripts. */
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
  // A page that is opened has seen no session end, but may have the one of an account that is blocked.
  if (before || (before === undefined && end !== 'ended')) sessionEnd.value = end;
  user.value = null;
}
