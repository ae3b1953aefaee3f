import type { Span, Tracing } from '@outrider/runtime';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../context.ts';

/**
 * Records a span for each call: part of the caller's trace if header `traceparent` names one (W3C Trace Context), else
 * the first of a new trace. Header `traceresponse` of the response names it.
 */
export function traced(tracing: Tracing): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { method } = c.req;
    const span = tracing.begin(
      method,
      { kind: 'server', facts: { 'http.request.method': method } },
      c.req.header('traceparent'),
    );
    c.set('span', span);
    try {
      await next();
    } finally {
      const route = c.get('routePath');
      if (route !== undefined) span.rename(`${method} ${route}`);
      if (route !== undefined) span.note({ 'http.route': route });
      const { status, headers } = c.res;
      span.note({ 'http.response.status_code': status });
      if (status >= 500) span.fail(`status ${status}`);
      if (span.traceparent !== null) headers.set('traceresponse', span.traceparent);
      span.end();
    }
  };
}

/** Trace id for log lines. */
export function traceIdOfSpan(span: Span | undefined): string | undefined {
  return span?.traceparent?.split('-')[1];
}
