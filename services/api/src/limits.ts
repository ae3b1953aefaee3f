import type { Hub } from '@outrider/hub';
import type { Context, MiddlewareHandler } from 'hono';
import { rateLimiter, type Store } from 'hono-rate-limiter';
import type { ApiEnv } from './context.ts';
import { Problem } from './problem.ts';

/** The spec's table (section 8), and how long a block lasts. */
export interface LimitsConfig {
  failedLoginsPerMinute: number;
  authorizedPerMinute: number;
  unauthorizedPerMinute: number;
  blockSeconds: number;
}

/** Counted in the hub, so that all instances count as one. */
type Counters = Pick<Hub, 'hit' | 'unhit' | 'resetCount' | 'block' | 'blockedUntil'>;

const WINDOW_MS = 60_000;

/** What is counted together, and blocked together. */
export type Subject = `ip:${string}` | `user:${string}`;

/** The three limits and the block that comes of each. */
export class Limits {
  readonly #config: LimitsConfig;
  readonly #hub: Counters;
  readonly #now: () => number;

  constructor(config: LimitsConfig, hub: Counters, now: () => number) {
    this.#config = config;
    this.#hub = hub;
    this.#now = now;
  }

  /** @throws {Problem} `too-many-requests` while the subject is blocked */
  async refuseBlocked(subject: Subject): Promise<void> {
    const nowMs = this.#now();
    const untilMs = await this.#hub.blockedUntil(subject, nowMs);
    if (untilMs !== null) throw tooMany(subject, untilMs - nowMs);
  }

  /** Calls of a user with a good token. */
  authorized(subjectOf: (c: Context<ApiEnv>) => Subject | null): MiddlewareHandler<ApiEnv> {
    return this.#limit('authorized', this.#config.authorizedPerMinute, subjectOf, false);
  }

  /** All other calls of an address. */
  unauthorized(subjectOf: (c: Context<ApiEnv>) => Subject | null): MiddlewareHandler<ApiEnv> {
    return this.#limit('unauthorized', this.#config.unauthorizedPerMinute, subjectOf, false);
  }

  /** Logins of an address that were refused. One that is being checked counts until it turns out to be good. */
  failedLogins(subjectOf: (c: Context<ApiEnv>) => Subject | null): MiddlewareHandler<ApiEnv> {
    return this.#limit('failed-logins', this.#config.failedLoginsPerMinute, subjectOf, true);
  }

  #limit(
    name: string,
    limit: number,
    subjectOf: (c: Context<ApiEnv>) => Subject | null,
    failuresOnly: boolean,
  ): MiddlewareHandler<ApiEnv> {
    const hub = this.#hub;
    const now = this.#now;
    const key = (subject: Subject | null) => `${name}:${subject}`;
    const store: Store<ApiEnv> = {
      async increment(counter) {
        const { hits, resetsAtMs } = await hub.hit(counter, WINDOW_MS, now());
        return { totalHits: hits, resetTime: new Date(resetsAtMs) };
      },
      decrement: (counter) => hub.unhit(counter),
      resetKey: (counter) => hub.resetCount(counter),
    };
    const limiter = rateLimiter<ApiEnv>({
      windowMs: WINDOW_MS,
      limit,
      store,
      // Its own headers tell the reset by the system's clock; ours are set below, by the clock that was handed in.
      standardHeaders: false,
      skip: (c) => subjectOf(c) === null,
      keyGenerator: (c) => key(subjectOf(c)),
      skipSuccessfulRequests: failuresOnly,
      requestWasSuccessful: (c) => c.res.status !== 401 && c.res.status !== 403,
      handler: async (c) => {
        const subject = subjectOf(c);
        if (subject === null) throw new Error('counted a request that is nobody’s');
        const blockMs = this.#config.blockSeconds * 1000;
        await hub.block(subject, now() + blockMs);
        // The block is the punishment: after it, counting begins anew.
        await hub.resetCount(key(subject));
        return tooMany(subject, blockMs).toResponse();
      },
    });
    if (failuresOnly) return limiter;
    return async (c, next) => {
      const answer = await limiter(c, next);
      const info = c.get('rateLimit');
      if (subjectOf(c) !== null && info?.resetTime) {
        const response = answer ?? c.res;
        const seconds = Math.max(0, Math.ceil((info.resetTime.getTime() - now()) / 1000));
        response.headers.set('RateLimit-Policy', `"${name}";q=${limit};w=${WINDOW_MS / 1000}`);
        response.headers.set('RateLimit', `"${name}";r=${info.remaining};t=${seconds}`);
      }
      return answer;
    };
  }
}

function tooMany(subject: Subject, restMs: number): Problem {
  const whose = subject.startsWith('ip:') ? 'this address' : 'this account';
  return new Problem('too-many-requests', `A limit was exceeded; all calls of ${whose} are refused for a while.`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(restMs / 1000))) },
  });
}
