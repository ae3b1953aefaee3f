import { type Tokens, tokenOfHeader } from '@outrider/auth';
import type { Directory } from '@outrider/domain';
import type { Identity } from './context.ts';

/**
 * Who calls, by the `Authorization` header, or without one, by the cookie of the console's session. A blocked
 * or deleted account is nobody from the moment that the directory says so, whatever its token.
 *
 * @param header `Authorization`
 * @param cookie token in the cookie
 */
export async function identify(
  path: string,
  header: string | undefined,
  cookie: string | null,
  tokens: Pick<Tokens, 'verify' | 'verifyCookie'>,
  directory: Directory,
): Promise<Identity> {
  // There the header holds what is to be refreshed, good or not: the call itself is nobody's.
  if (path === '/auth/refresh') return { refused: 'missing' };
  const via = header === undefined ? 'cookie' : 'jwt';
  if (header === undefined && cookie === null) return { refused: 'missing' };
  const token = header === undefined ? cookie : tokenOfHeader(header);
  if (token === null) return { refused: 'malformed' };
  const verified = await (via === 'jwt' ? tokens.verify(token) : tokens.verifyCookie(token));
  if (verified.error !== undefined) return { refused: verified.error };
  const caller = directory.users.get(verified.userId);
  if (!caller || caller.blocked) return { refused: 'ended' };
  return { caller, sessionId: verified.sessionId, via };
}
