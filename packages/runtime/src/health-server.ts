import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from './logger.ts';
import { type ReadyCheck, readiness } from './readiness.ts';

export interface HealthServer {
  port: number;
  close(): Promise<void>;
}

export interface HealthParts {
  host: string;
  /** 0 takes any free one. */
  port: number;
  /** Asked with every call: what there is to check changes while a service starts and stops. */
  checks(): Readonly<Record<string, ReadyCheck>>;
  metricsText(): Promise<string>;
  logger: Logger;
  /** Where what is usually served here is not yet: any other path is answered with 503 and this as `Retry-After`. Default: with 404. */
  retryAfterSeconds?: number;
}

/**
 * Health and metrics of a service that serves nothing else over HTTP: `/health/live`, `/health/ready`, `/metrics`. For
 * machines in the own network.
 *
 * @throws {Error} when the port is taken or may not be used
 */
export async function openHealthServer({
  host,
  port,
  checks,
  metricsText,
  logger,
  retryAfterSeconds,
}: HealthParts): Promise<HealthServer> {
  const answers: Record<string, () => Promise<{ status: number; type: string; body: string }>> = {
    '/health/live': async () => json(200, { status: 'ok' }),
    '/health/ready': async () => {
      const ready = await readiness(checks(), logger);
      return json(ready.status === 'ok' ? 200 : 503, ready);
    },
    '/metrics': async () => ({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: await metricsText(),
    }),
  };
  const server = createServer(async (request, response) => {
    request.resume();
    const answer = answers[request.url?.split('?', 1)[0] ?? ''];
    try {
      if (!answer && retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
      const { status, type, body } = answer
        ? await answer()
        : json(retryAfterSeconds === undefined ? 404 : 503, { status: 'failed' });
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    } catch (error) {
      logger.error({ err: error }, 'a request for health or metrics failed');
      response.writeHead(500).end();
    }
  });
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

function json(status: number, body: unknown): { status: number; type: string; body: string } {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
