import { Counter, Histogram, type Metrics } from '@outrider/runtime';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../context.ts';
import { GROUPS } from '../paths.ts';

/** Counts and times each request, and sets the headers common to all responses. */
export function measured(metrics: Metrics): MiddlewareHandler<ApiEnv> {
  const seconds = new Histogram({
    name: 'outrider_http_request_seconds',
    help: 'Duration of REST API requests, by route group',
    labelNames: ['group'],
    buckets: [0.0025, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });
  const answered = new Counter({
    name: 'outrider_http_requests_total',
    help: 'REST API requests, by route and status',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });

  return async (c, next) => {
    const end = seconds.startTimer();
    await next();
    const headers = c.res.headers;
    headers.set('x-content-type-options', 'nosniff');
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
    const route = c.get('routePath') ?? 'other';
    end({ group: GROUPS.get(route) ?? 'other' });
    answered.inc({ route, status: String(c.res.status) });
  };
}
