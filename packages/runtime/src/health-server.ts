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
      const { status, type, body } = answer ? await answer() : json(404, { status: 'failed' });
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
