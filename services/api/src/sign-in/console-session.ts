import { type Arrival, setSessionCookie } from '@outrider/auth';
import type { User } from '@outrider/domain';
import type { Authentication } from '../route.ts';

/**
 * Begins a session of the console.
 *
 * @param userAgent name of the device in the list of sessions
 * @returns the `Set-Cookie` header of the session
 */
export async function beginConsoleSession(
  authentication: Pick<Authentication, 'beginSession' | 'sessionTtlMs' | 'tokens'>,
  user: User,
  arrival: Arrival,
  userAgent: string,
): Promise<string> {
  const { sessionTtlMs, tokens } = authentication;
  const session = await authentication.beginSession(user, arrival, userAgent);
  const token = await tokens.issueCookie(user.id, session.id, session.expiresAtMs);
  return setSessionCookie(token, arrival.secure, Math.floor(sessionTtlMs / 1000));
}
