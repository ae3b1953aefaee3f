import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { ApiEnv } from '../context.ts';

/**
 * Paths that pages of other sites may call: the API and its descriptions, but not the console or what is for operators.
 */
const CALLED = /^\/(?:auth|api|service|maps|s|\.well-known)(?:\/|$)|^\/(?:openapi|asyncapi)\.json$/;
const PREFLIGHT_SECONDS = 3600;

/**
 * Lets pages of other sites call the API (CORS). They authorize with a token in the header. No response allows
 * credentials, so a browser that sends the console's cookie never shows such a page the response.
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
    // A cache must not mix up responses for allowed origins and for others.
    c.res.headers.append('vary', 'Origin');
  };
}
