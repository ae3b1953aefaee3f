import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { surviveAcceptErrors } from './accept-errors.ts';
import { type ConnectionBounds, ConnectionCounts } from './connection-counts.ts';
import type { Logger } from './logger.ts';
import { Counter, type Metrics } from './prometheus.ts';

export interface ServerBounds {
  /**
   * Bounds of open HTTP connections; `perKey`: of one address. Connections that were {@link BoundServer.upgraded} no
   * longer count.
   */
  connections: ConnectionBounds;
  /** Maximum upgraded connections, which are counted elsewhere, in addition to those. Default: none. */
  maxUpgraded?: number;
  /** Key by which an address is counted; null for one without a bound, such as a proxy that many share. */
  keyOf(peer: string): string | null;
  logger: Logger;
  metrics: Metrics;
}

export interface BoundServer {
  /** Stops counting a connection: to be called when an upgrade is taken over. */
  upgraded(socket: Duplex): void;
}

/** Default options of `http.createServer` that bound how long a client may take over a request. */
export const HTTP_TIMES = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2000 };

/** Interval of log lines for refusals, which come by the thousand. */
const LOG_EVERY_MS = 60_000;

/**
 * Bounds the open connections of an HTTP server, in all and by address. A connection beyond a bound is closed before
 * anything is read from it. Errors of accepting connections are logged, and do not end the process.
 */
export function boundServer(server: HttpServer, bounds: ServerBounds): BoundServer {
  const { connections, maxUpgraded = 0, keyOf, logger, metrics } = bounds;
  server.maxConnections = connections.total + maxUpgraded;
  const counts = new ConnectionCounts(connections);
  const refused = counterOf(metrics);
  for (const bound of ['total', 'address']) refused.inc({ bound }, 0);
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  /** Functions to call when a connection ends or is upgraded. */
  const releases = new WeakMap<Duplex, () => void>();

  function refuse(socket: Socket, bound: 'total' | 'address'): void {
    socket.destroy();
    refused.inc({ bound });
    unlogged++;
    if (SYSTEM_CLOCK.steadyMs() < loggedAtMs + LOG_EVERY_MS) return;
    logger.warn({ refused: unlogged, bound, open: counts.total }, 'HTTP connections are refused');
    unlogged = 0;
    loggedAtMs = SYSTEM_CLOCK.steadyMs();
  }

  server.prependListener('connection', (socket: Socket) => {
    const key = keyOf(socket.remoteAddress ?? '');
    const exceeded = counts.admit(key);
    if (exceeded !== null) return refuse(socket, exceeded === 'key' ? 'address' : 'total');
    let isOpen = true;
    const release = () => {
      if (isOpen) counts.release(key);
      isOpen = false;
    };
    releases.set(socket, release);
    socket.once('close', release);
  });
  server.on('drop', () => refused.inc({ bound: 'total' }));
  surviveAcceptErrors(server, logger);
  return { upgraded: (socket) => releases.get(socket)?.() };
}

function counterOf(metrics: Metrics): Counter<'bound'> {
  const name = 'outrider_http_connections_refused_total';
  return (
    (metrics.getSingleMetric(name) as Counter<'bound'> | undefined) ??
    new Counter({
      name,
      help: 'HTTP connections closed at once, by the limit that was exceeded',
      labelNames: ['bound'],
      registers: [metrics],
    })
  );
}
