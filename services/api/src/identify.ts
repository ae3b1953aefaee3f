import { type Tokens, tokenOfHeader } from '@outrider/auth';
import type { Directory } from '@outrider/domain';
import type { Identity } from './context.ts';

/**
 * Who calls, by the `Authorization` header. A blocked or deleted account is nobody from the moment that the directory
 * says so, whatever its token.
 */
export async function identify(
  path: string,
  header: string | undefined,
  tokens: Pick<Tokens, 'verify'>,
  directory: Directory,
): Promise<Identity> {
  // There the header holds what is to be refreshed, good or not: the call itself is nobody's.
  if (header === undefined || path === '/auth/refresh') return { refused: 'missing' };
  const token = tokenOfHeader(header);
  if (token === null) return { refused: 'malformed' };
  const verified = await tokens.verify(token);
  if (verified.error !== undefined) return { refused: verified.error };
  const caller = directory.users.get(verified.userId);
  if (!caller || caller.blocked) return { refused: 'ended' };
  return { caller, sessionId: verified.sessionId };
}
