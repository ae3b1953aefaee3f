import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { ApiEnv } from '../context.ts';

/** What pages of other sites may call: the API and what describes it; not the console, nor what is for operators. */
const CALLED = /^\/(?:auth|api|service|maps|s|\.well-known)(?:\/|$)|^\/(?:openapi|asyncapi)\.json$/;
const PREFLIGHT_SECONDS = 3600;

/**
 * Lets pages of other sites call the API (CORS). They authorize with a token in the header; a browser that sends the
 * cookie of the console along is never allowed to show them the answer, because no answer allows credentials.
 *
 * @param origins of those sites
 */
export function crossOrigin(origins: readonly string[]): MiddlewareHandler<ApiEnv> {
  const allow = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      ...['Accept', 'Authorization', 'Authorization-Refresh', 'Content-Type', 'Idempotency-Key'],
      ...['If-Match', 'If-None-Match', 'If-Range', 'Range', 'traceparent'],
    ],
    exposeHeaders: [
      ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'ETag', 'Location', 'WWW-Authenticate'],
      ...['Content-Disposition', 'Content-Length', 'Content-Range', 'Accept-Ranges', 'traceresponse'],
      'Outrider-Incomplete',
    ],
    maxAge: PREFLIGHT_SECONDS,
  });
  return async (c, next) => {
    if (!CALLED.test(c.req.path)) return next();
    const origin = c.req.header('origin');
    if (origin !== undefined && origins.includes(origin)) return allow(c, next);
    await next();
    // A cache must not give this answer to a page that may have it, nor the other way round.
    c.res.headers.append('vary', 'Origin');
  };
}
