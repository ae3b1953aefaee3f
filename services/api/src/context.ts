import type { HttpBindings } from '@hono/node-server';
import type { TokenError } from '@outrider/auth';
import type { SessionId, User } from '@outrider/domain';
import type { RateLimitInfo } from 'hono-rate-limiter';

/** Who calls: an account with a good token, or nobody, and why. */
export type Identity = { caller: User; sessionId: SessionId } | { refused: TokenError | 'missing' };

/** What middleware tells the handlers behind it. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: {
    /** Client's address, proxies seen through. */
    address: string;
    identity: Identity;
    rateLimit: RateLimitInfo | undefined;
    /** Path of the route that answers, as it is described. */
    routePath: string | undefined;
  };
}
