import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundServer, HTTP_TIMES } from '../bound-server.ts';
import type { Logger } from '../logger.ts';
import { METRICS_CHALLENGE, METRICS_TYPE, type MetricsAccess, type MetricsRequest } from '../metrics-access.ts';
import type { Metrics } from '../prometheus.ts';
import { sharedFor } from '../shared-for.ts';
import { type ReadyCheck, readiness } from './readiness.ts';

export interface HealthServer {
  port: number;
  close(): Promise<void>;
}

export interface HealthParts {
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Called with every request: the parts to check change while a service starts and stops. */
  checks(): Readonly<Record<string, ReadyCheck>>;
  metricsAccess: MetricsAccess;
  logger: Logger;
  metrics: Metrics;
  /**
   * If the usual content of this port is not available yet, any other path is answered with 503 and this as
   * `Retry-After`. Default: 404.
   */
  retryAfterSeconds?: number;
}

interface HealthAnswer {
  status: number;
  type: string;
  body: string;
  headers?: Record<string, string>;
}

/** Few connections suffice for programs that supervise a service; a stranger must not take all of them. */
const CONNECTIONS = { total: 256, perKey: 64 };

/**
 * Serves the health and metrics of a service that serves nothing else over HTTP: `/health/live`, `/health/ready`,
 * `/metrics`. For machines in the own network.
 *
 * @throws {Error} when the port is taken or may not be used
 */
export function openHealthServer(parts: HealthParts): Promise<HealthServer> {
  const { checks, metricsAccess, logger, retryAfterSeconds } = parts;
  // However many requests come, only one check of the parts runs at a time.
  const ready = sharedFor(0, () => readiness(checks(), logger));
  const answers: Record<string, (request: MetricsRequest) => Promise<HealthAnswer>> = {
    '/health/live': async () => json(200, { status: 'ok' }),
    '/health/ready': async () => {
      const answer = await ready();
      return json(answer.status === 'ok' ? 200 : 503, answer);
    },
    '/metrics': (request) => metricsAnswer(metricsAccess.read(request)),
  };
  return open(parts, async (path, request) => {
    const answer = answers[path];
    if (answer) return answer(request);
    if (retryAfterSeconds === undefined) return json(404, { status: 'failed' });
    return { ...json(503, { status: 'failed' }), headers: { 'retry-after': String(retryAfterSeconds) } };
  });
}

/**
 * Serves `/metrics` alone, on a port of its own.
 *
 * @throws {Error} when the port is taken or may not be used
 */
export function openMetricsServer(parts: Omit<HealthParts, 'checks' | 'retryAfterSeconds'>): Promise<HealthServer> {
  return open(parts, async (path, request) =>
    path === '/metrics' ? metricsAnswer(parts.metricsAccess.readOnOwnPort(request)) : json(404, { status: 'failed' }),
  );
}

async function metricsAnswer(reading: ReturnType<MetricsAccess['read']>): Promise<HealthAnswer> {
  const answer = await reading;
  if ('text' in answer) return { status: 200, type: METRICS_TYPE, body: answer.text };
  return { ...json(401, { detail: answer.refused }), headers: { 'www-authenticate': METRICS_CHALLENGE } };
}

async function open(
  { host, port, logger, metrics }: Pick<HealthParts, 'host' | 'port' | 'logger' | 'metrics'>,
  answerOf: (path: string, request: MetricsRequest) => Promise<HealthAnswer>,
): Promise<HealthServer> {
  const server = createServer(HTTP_TIMES, async (request, response) => {
    request.resume();
    try {
      const { status, type, body, headers } = await answerOf(request.url?.split('?', 1)[0] ?? '', asked(request));
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers }).end(body);
    } catch (error) {
      logger.error({ err: error }, 'a request for health or metrics failed');
      response.writeHead(500).end();
    }
  });
  boundServer(server, { connections: CONNECTIONS, keyOf: (peer) => peer, logger, metrics });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function asked({ socket, headers }: IncomingMessage): MetricsRequest {
  return {
    peer: socket.remoteAddress,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(',') : value;
    },
  };
}

function json(status: number, body: unknown): HealthAnswer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
