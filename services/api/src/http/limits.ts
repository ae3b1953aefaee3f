import { Problem } from '@outrider/access';
import type { Hub } from '@outrider/hub';
import type { Context, MiddlewareHandler } from 'hono';
import { type RateLimitInfo, rateLimiter, type Store } from 'hono-rate-limiter';
import type { ApiEnv } from '../context.ts';

/** Limits of the specification (section 8), the limit of API keys, and the duration of a block. */
export interface LimitsConfig {
  failedLoginsPerMinute: number;
  authorizedPerMinute: number;
  /** Limit of one API key, whose calls do not count towards its user's limit. Default: the user's limit. */
  apiKeyPerMinute?: number;
  unauthorizedPerMinute: number;
  blockSeconds: number;
}

export const SPECIFIED_LIMITS: Required<LimitsConfig> = {
  failedLoginsPerMinute: 10,
  authorizedPerMinute: 180,
  apiKeyPerMinute: 180,
  unauthorizedPerMinute: 60,
  blockSeconds: 60,
};

/** Counters are kept in the hub, so that all instances share them. */
type Counters = Pick<Hub, 'hit' | 'unhit' | 'resetCount' | 'block' | 'blockedUntil'>;

const WINDOW_MS = 60_000;

/** Whose calls are counted and blocked together. */
export type Subject = `ip:${string}` | `user:${string}` | `api-key:${string}`;

/** The four rate limits, and the block that follows when one is exceeded. */
export class Limits {
  readonly #config: LimitsConfig;
  readonly #hub: Counters;
  readonly #now: () => number;

  constructor(config: LimitsConfig, hub: Counters, now: () => number) {
    this.#config = config;
    this.#hub = hub;
    this.#now = now;
  }

  /** Response to calls of the subject while it is blocked; null: it is not blocked. */
  async blockOf(subject: Subject): Promise<Problem | null> {
    const nowMs = this.#now();
    const untilMs = await this.#hub.blockedUntil(subject, nowMs);
    return untilMs === null ? null : tooMany(subject, untilMs - nowMs);
  }

  /** @throws {Problem} `too-many-requests` while the subject is blocked */
  async refuseBlocked(subject: Subject): Promise<void> {
    const block = await this.blockOf(subject);
    if (block !== null) throw block;
  }

  /** Limits calls of a user with a valid token. */
  authorized(subjectOf: (c: Context<ApiEnv>) => Subject | null): MiddlewareHandler<ApiEnv> {
    return this.#limit('authorized', this.#config.authorizedPerMinute, subjectOf, false);
  }

  /** Limits calls with a valid API key. */
  ofApiKey(subjectOf: (c: Context<ApiEnv>) => Subject | null): MiddlewareHandler<ApiEnv> {
    return this.#limit('api-key', this.#config.apiKeyPerMinute ?? this.#config.authorizedPerMinute, subjectOf, false);
  }

  /** Limits all other calls from an address. */
  unauthorized(subjectOf: (c: Context<ApiEnv>) => Subject | null): MiddlewareHandler<ApiEnv> {
    return this.#limit('unauthorized', this.#config.unauthorizedPerMinute, subjectOf, false);
  }

  /**
   * Limits attempts with a wrong password from an address. An attempt counts while it is being checked, until the
   * password turns out to be right.
   */
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
    /** Number of attempts of each subject that this process is checking at the moment. */
    const underWay = new Map<Subject, number>();
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
      // The library computes the reset in its headers from the system's clock; the ones set below use the injected
      // clock.
      standardHeaders: false,
      skip: (c) => subjectOf(c) === null,
      keyGenerator: (c) => key(subjectOf(c)),
      skipSuccessfulRequests: failuresOnly,
      requestWasSuccessful: (c) => {
        const problem = c.error instanceof Problem ? c.error : null;
        // The password was right: only a code is missing.
        if (problem?.kind === 'second-factor-needed') return true;
        return c.res.status !== 401 && c.res.status !== 403 && problem?.isWrongPassword !== true;
      },
      handler: async (c) => {
        const subject = subjectOf(c);
        if (subject === null) throw new Error('a request without a subject was counted');
        const others = failuresOnly ? (underWay.get(subject) ?? 1) - 1 : 0;
        // The attempts being checked may all be right, so this one is neither checked beyond the limit nor blocked for
        // it.
        if (others > 0 && (c.get('rateLimit')?.used ?? 0) - 1 - others < limit) return busy().toResponse();
        const blockMs = this.#config.blockSeconds * 1000;
        await hub.block(subject, now() + blockMs);
        // The block is the penalty: after it, counting starts anew.
        await hub.resetCount(key(subject));
        return tooMany(subject, blockMs).toResponse();
      },
    });
    if (failuresOnly)
      return async (c, next) => {
        const subject = subjectOf(c);
        if (subject === null) return next();
        // A console session lets a caller past the block of the address, but not to further password attempts.
        await this.refuseBlocked(subject);
        underWay.set(subject, (underWay.get(subject) ?? 0) + 1);
        try {
          return await limiter(c, next);
        } finally {
          const left = (underWay.get(subject) ?? 1) - 1;
          if (left > 0) underWay.set(subject, left);
          else underWay.delete(subject);
        }
      };
    return async (c, next) => {
      let info: RateLimitInfo | undefined;
      const answer = await limiter(c, () => {
        // Read here: an inner limiter overwrites the variable.
        info = c.get('rateLimit');
        return next();
      });
      info ??= c.get('rateLimit');
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

function busy(): Problem {
  return new Problem('unavailable', 'Other logins from this address are being checked. Try again.', {
    headers: { 'retry-after': '1' },
  });
}

function tooMany(subject: Subject, restMs: number): Problem {
  const kind = subject.slice(0, subject.indexOf(':')) as 'ip' | 'user' | 'api-key';
  const whose = { ip: 'from this address', user: 'of this account', 'api-key': 'with this API key' }[kind];
  return new Problem('too-many-requests', `A rate limit was exceeded. All calls ${whose} are refused for a while.`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(restMs / 1000))) },
  });
}
