import type { HttpBindings } from '@hono/node-server';
import type { Arrival, TokenError } from '@outrider/auth';
import type { ApiKeyId, Keyed, SessionId, User, UserId } from '@outrider/domain';
import type { Span } from '@outrider/runtime';
import type { RateLimitInfo } from 'hono-rate-limiter';

/**
 * How an account authenticated: by a JWT of the API or an API key, which both need the right to use the API, or by the
 * console's cookie.
 */
export type Via = 'jwt' | 'api-key' | 'cookie';

/** An account with a valid token or key. */
export type KnownIdentity =
  | { via: 'cookie'; caller: User; sessionId: SessionId; apiKeyId: null }
  | {
      via: 'jwt';
      caller: User;
      sessionId: SessionId;
      apiKeyId: null;
      /** How often the session had been refreshed before this token was issued. */
      generation: number;
    }
  | {
      via: 'api-key';
      /** The account, with no more rights than the key allows. */
      caller: User & Keyed;
      sessionId: null;
      apiKeyId: ApiKeyId;
    };

/** Why an account is refused. An expired account counts as blocked. */
export type AccountBlock = 'account-blocked' | 'account-expired';

/** Identity of the caller: an account with a valid token, or the reason why none exists. */
export type Identity =
  | KnownIdentity
  | { refused: TokenError | 'missing' }
  /** A blocked account, with a token that is valid or was valid until its session ended. */
  | { refused: AccountBlock; userId: UserId };

/** Types of what middleware passes to the handlers behind it. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: {
    arrival: Arrival;
    identity: Identity;
    rateLimit: RateLimitInfo | undefined;
    /** Path template of the matched route, as documented. */
    routePath: string | undefined;
    /** Undefined where tracing is off. */
    span: Span | undefined;
  };
}
