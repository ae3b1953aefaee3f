import { type Refused, type Tokens, tokenOfHeader, type Verified, type VerifiedApiKey } from '@outrider/auth';
import { callerWithKey, type Directory } from '@outrider/domain';
import type { Identity } from '../context.ts';

/**
 * Identifies the caller by the token or API key in the `Authorization` header, or else by the cookie of the console's
 * session. A blocked or deleted account is refused as soon as the directory knows of it, whatever its token.
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
  // On this path the header holds the token to be refreshed, valid or not: the call itself is unauthenticated.
  if (path === '/auth/refresh') return { refused: 'missing' };
  const via = header === undefined ? 'cookie' : 'jwt';
  if (header === undefined && cookie === null) return { refused: 'missing' };
  const token = header === undefined ? cookie : tokenOfHeader(header);
  if (token === null) return { refused: 'malformed' };
  const verified = await (via === 'jwt' ? tokens.verify(token) : tokens.verifyCookie(token));
  return identityOf(verified, via, directory);
}

/**
 * The account of a verified token or key.
 *
 * @param via how its session is used; ignored for a key
 */
export function identityOf(
  verified: Verified | VerifiedApiKey | Refused,
  via: 'jwt' | 'cookie',
  directory: Directory,
): Identity {
  const caller = verified.userId && directory.users.get(verified.userId);
  if (caller?.blocked) return { refused: 'account-blocked', userId: caller.id };
  if (verified.error !== undefined) return { refused: verified.error };
  if (!caller) return { refused: 'ended' };
  if ('grant' in verified) {
    const { grant } = verified;
    return { via: 'api-key', caller: callerWithKey(caller, grant), sessionId: null, apiKeyId: grant.id };
  }
  const { sessionId, generation = 0 } = verified;
  const known = { caller, sessionId, apiKeyId: null };
  return via === 'jwt' ? { ...known, via, generation } : { ...known, via };
}
