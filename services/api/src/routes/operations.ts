import { Problem } from '@outrider/access';
import {
  type Logger,
  METRICS_CHALLENGE,
  METRICS_TYPE,
  type MetricsAccess,
  type ReadyCheck,
  readiness,
  sharedFor,
} from '@outrider/runtime';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { ApiEnv } from '../context.ts';
import { readQuery } from '../http/input.ts';
import type { DescribedRoute } from '../route.ts';

export type { ReadyCheck };

export interface OperationsParts {
  checks: Readonly<Record<string, ReadyCheck>>;
  metricsAccess: Pick<MetricsAccess, 'read'>;
  logger: Logger;
}

const status = z.enum(['ok', 'failed']);
const part = z.strictObject({
  status,
  warnings: z.array(z.string()).optional(),
  behind: z
    .record(z.string(), z.int())
    .meta({ description: 'Records that the part has not processed yet, by topic of the log.' })
    .optional(),
});
const Readiness = z.strictObject({ status, parts: z.record(z.string(), part) }).meta({
  id: 'Readiness',
  examples: [
    { status: 'ok', parts: { registry: { status: 'ok' }, rules: { status: 'ok', behind: { telemetry: 0 } } } },
  ],
});

const INDEX = {
  documentation: '/docs/',
  openapi: '/openapi.json',
  asyncapi: '/asyncapi.json',
  login: '/auth/login?jwt=1',
  live: '/live',
  health: '/health/ready',
  metrics: '/metrics',
};

/** Documentation of {@link operations}. */
export const operationDescriptions: readonly DescribedRoute[] = (
  [
    {
      method: 'get',
      path: '/api/v1',
      operationId: 'getIndex',
      summary: 'Get the paths of the documentation, the login, the live API, health and metrics.',
      answers: {
        200: {
          description: 'The paths of this service.',
          body: z
            .strictObject(Object.fromEntries(Object.keys(INDEX).map((name) => [name, z.string()])))
            .meta({ id: 'Index', examples: [INDEX] }),
        },
      },
    },
    {
      method: 'get',
      path: '/health/live',
      operationId: 'getLiveness',
      summary: 'Check whether the process is alive.',
      description: 'Checks nothing else. A process that does not answer this call should be restarted.',
      answers: {
        200: {
          description: 'The process answers.',
          body: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Liveness', examples: [{ status: 'ok' }] }),
        },
      },
    },
    {
      method: 'get',
      path: '/health/ready',
      operationId: 'getReadiness',
      summary: 'Check whether all parts of the service work.',
      description:
        'Reports the state of each part by name. Send traffic to another instance while a part fails. The reason is in the log.',
      answers: {
        200: { description: 'All parts work.', body: Readiness },
        503: {
          description: 'At least one part does not work.',
          body: Readiness.meta({
            id: 'Unreadiness',
            examples: [{ status: 'failed', parts: { registry: { status: 'ok' }, log: { status: 'failed' } } }],
          }),
        },
      },
    },
    {
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Get the metrics of the process, for Prometheus.',
      description:
        'For callers on the same machine. Others need the token in `METRICS_TOKEN`: `Authorization: Bearer <token>`. ' +
        'The values are updated at most once a second.',
      problems: ['not-authorized'],
      answers: {
        200: {
          description: 'Metrics in the text exposition format of Prometheus, version 0.0.4.',
          mediaType: 'text/plain',
          body: z.string().meta({
            examples: ['outrider_http_requests_total{route="/api/v1/me",status="200"} 1\n'],
          }),
        },
      },
    },
  ] as const
).map((route) => ({ ...route, group: 'Operations', access: 'unlimited', params: null, query: null, body: null }));

/**
 * The index, health and metrics, for machines and outside the rate limits. The reason why a component fails is logged,
 * not returned to strangers.
 */
export function operations({ checks, metricsAccess, logger }: OperationsParts): Hono<ApiEnv> {
  // Concurrent requests share one check.
  const checked = sharedFor(0, () => readiness(checks, logger));
  const answers: Record<string, (c: Context<ApiEnv>) => Response | Promise<Response>> = {
    '/api/v1': (c) => c.json(INDEX),
    '/health/live': (c) => c.json({ status: 'ok' }),
    '/health/ready': async (c) => {
      const ready = await checked();
      return c.json(ready, ready.status === 'ok' ? 200 : 503);
    },
    '/metrics': async (c) => {
      const peer = c.env?.incoming?.socket.remoteAddress;
      const answer = await metricsAccess.read({ peer, header: (name) => c.req.header(name) });
      if ('text' in answer) return c.body(answer.text, 200, { 'content-type': METRICS_TYPE });
      throw new Problem('not-authorized', answer.refused, { headers: { 'www-authenticate': METRICS_CHALLENGE } });
    },
  };
  const app = new Hono<ApiEnv>();
  for (const [path, answer] of Object.entries(answers))
    app.get(path, (c) => {
      readQuery(null, c.req.url);
      return answer(c);
    });
  app.get('/api/v1/', (c) => c.redirect('/api/v1', 308));
  return app;
}
