import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { type BoundServer, boundServer, HTTP_TIMES, type ServerBounds } from '@outrider/runtime';
import type { Api } from '../api.ts';
import { answerClientErrors } from './literal-refresh.ts';

export interface ApiServer {
  /** For other parts that use the same port: WebSocket upgrades. */
  server: Server;
  port: number;
  upgraded: BoundServer['upgraded'];
  /** Accepts no more connections, lets requests in progress finish for up to `graceMs`, then closes the rest. */
  close(graceMs?: number): Promise<void>;
}

/** Time limits for clients. */
export interface ClientTimes {
  headersWithinMs: number;
  requestWithinMs: number;
  /** Interval at which the server checks the time limits. */
  checkedEveryMs: number;
}
const TIMES: ClientTimes = {
  headersWithinMs: HTTP_TIMES.headersTimeout,
  requestWithinMs: HTTP_TIMES.requestTimeout,
  checkedEveryMs: HTTP_TIMES.connectionsCheckingInterval,
};
/**
 * Longer than the idle timeout of common proxies, so that the proxy closes an idle connection, never both ends at once.
 */
const KEEP_ALIVE_MS = 75_000;
const GRACE_MS = 10_000;
const SWEEP_EVERY_MS = 50;

/**
 * Serves the API over HTTP.
 *
 * @param place `port` 0 takes any free one; without `bounds`, as many connections as the system allows
 * @returns once it listens
 * @throws {Error} when the port is taken or may not be used
 */
export async function listenApi(
  api: Pick<Api, 'fetch'> & Partial<Pick<Api, 'endFeeds'>>,
  place: { port: number; host: string; bounds?: ServerBounds },
  times: ClientTimes = TIMES,
): Promise<ApiServer> {
  const server = createAdaptorServer({
    fetch: (request, env) => api.fetch(request, env as Parameters<Api['fetch']>[1]),
    createServer,
    serverOptions: {
      headersTimeout: times.headersWithinMs,
      requestTimeout: times.requestWithinMs,
      connectionsCheckingInterval: times.checkedEveryMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  }) as Server;
  const upgraded = place.bounds ? boundServer(server, place.bounds).upgraded : () => {};
  answerClientErrors(server, api);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place.port, place.host, () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    server,
    port: (server.address() as AddressInfo).port,
    upgraded,
    async close(graceMs = GRACE_MS) {
      api.endFeeds?.();
      await new Promise<void>((resolve) => {
        // A kept-alive connection becomes idle when its current request has been answered.
        const sweep = SYSTEM_CLOCK.every(SWEEP_EVERY_MS, () => server.closeIdleConnections());
        const timer = SYSTEM_CLOCK.after(graceMs, () => {
          sweep.cancel();
          server.closeAllConnections();
          // Upgraded sockets no longer belong to the server: the WebSocket part closes them.
          resolve();
        });
        server.close(() => {
          timer.cancel();
          sweep.cancel();
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}
