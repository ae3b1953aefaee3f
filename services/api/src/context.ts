import type { HttpBindings } from '@hono/node-server';
import type { Arrival, TokenError } from '@outrider/auth';
import type { ApiKeyId, Keyed, SessionId, User, UserId } from '@outrider/domain';
import type { Span } from '@outrider/runtime';
import type { RateLimitInfo } from 'hono-rate-limiter';

/**
 * How an account showed who it is: by the API's JWT or an API key, which need the right to use the API, or by the
 * console's cookie.
 */
export type Via = 'jwt' | 'api-key' | 'cookie';

/** An account with a good token or key. */
export type KnownIdentity =
  | { via: 'cookie'; caller: User; sessionId: SessionId; apiKeyId: null }
  | {
      via: 'jwt';
      caller: User;
      sessionId: SessionId;
      apiKeyId: null;
      /** How often the session had been refreshed before this token. */
      generation: number;
    }
  | {
      via: 'api-key';
      /** With no more rights than the key allows. */
      caller: User & Keyed;
      sessionId: null;
      apiKeyId: ApiKeyId;
    };

/** Why an account is kept out. One whose time is over is blocked as well. */
export type AccountBlock = 'account-blocked' | 'account-expired';

/** Who calls: an account with a good token, or nobody, and why. */
export type Identity =
  | KnownIdentity
  | { refused: TokenError | 'missing' }
  /** A blocked account, with a token that is good or was, until its session ended. */
  | { refused: AccountBlock; userId: UserId };

/** What middleware passes to the handlers behind it. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: {
    arrival: Arrival;
    identity: Identity;
    rateLimit: RateLimitInfo | undefined;
    /** Path of the route that answers, as it is described. */
    routePath: string | undefined;
    /** Undefined where tracing is off. */
    span: Span | undefined;
  };
}
