import type { HttpBindings } from '@hono/node-server';
import type { Arrival, TokenError } from '@outrider/auth';
import type { SessionId, User } from '@outrider/domain';
import type { Span } from '@outrider/runtime';
import type { RateLimitInfo } from 'hono-rate-limiter';

/**
 * How an account showed who it is: by the API's JWT, which needs the right to use the API, or by the console's cookie.
 */
export type Via = 'jwt' | 'cookie';

/** An account with a good token. */
export interface KnownIdentity {
  caller: User;
  sessionId: SessionId;
  via: Via;
}

/** Who calls: an account with a good token, or nobody, and why. */
export type Identity = KnownIdentity | { refused: TokenError | 'missing' };

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
