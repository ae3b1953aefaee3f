import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Clock } from '@outrider/domain';
import type { MemoryHub } from '@outrider/hub';
import { protocols } from '@outrider/protocols';
import { createLogger, type Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { createGateway, type Gateway, type GatewayConfig } from './gateway.ts';
import type { HeldLog } from './held-log.fixture.ts';

export const PATIENCE = { timeout: 60_000, interval: 10 };
export const NOON = Date.UTC(2026, 0, 1, 12);
/** A free port for every protocol. */
export const FREE_PORTS = Object.fromEntries(protocols.map(({ name }) => [name, 0]));

export interface TestGatewayParts {
  log: HeldLog;
  hub: MemoryHub;
  metrics: Metrics;
  /** Default: one that stands at noon. */
  clock?: Clock;
}

/** A gateway on free ports of this machine. */
export async function startGateway(
  { log, hub, metrics, clock = new VirtualClock(NOON) }: TestGatewayParts,
  config: Partial<GatewayConfig> = {},
): Promise<Gateway> {
  const gateway = createGateway({
    config: {
      host: '127.0.0.1',
      ports: FREE_PORTS,
      tls: null,
      udp: true,
      maxDatagramsPerAddress: 100,
      maxConnections: 100,
      maxConnectionsPerAddress: 100,
      proxies: null,
      unknownPerMinute: 3,
      idleTimeoutMs: 30_000,
      platformTokens: {},
      broker: null,
      terminalSecret: 'a secret of the tests',
      ...config,
    },
    log,
    hub,
    logger: createLogger('silent', 'json'),
    metrics,
    clock,
  });
  await gateway.start();
  return gateway;
}

/** A peer that collects the answers it gets. */
export interface Peer {
  readonly socket: Socket;
  readonly closed: boolean;
  readonly bytes: Buffer;
  readonly hex: string;
  readonly text: string;
}

/** Connects to a port of the gateway. */
export function connectPeer(port: number | undefined, localAddress = '127.0.0.1'): Promise<Peer> {
  return collect(connect({ port: port ?? 0, host: '127.0.0.1', localAddress }));
}

/** @param ready event after which the socket can be written to */
export async function collect(socket: Socket, ready = 'connect'): Promise<Peer> {
  const chunks: Buffer[] = [];
  let closed = false;
  socket.on('data', (chunk) => chunks.push(chunk as Buffer));
  socket.on('close', () => {
    closed = true;
  });
  socket.on('error', () => {});
  await once(socket, ready);
  return {
    socket,
    get closed() {
      return closed;
    },
    get bytes() {
      return Buffer.concat(chunks);
    },
    get hex() {
      return Buffer.concat(chunks).toString('hex');
    },
    get text() {
      return Buffer.concat(chunks).toString('latin1');
    },
  };
}

/** Refusals up to now, by reason or by protocol and reason. */
export async function refusalsOf(metrics: Metrics, byProtocol = false): Promise<Record<string, number>> {
  const metric = (await metrics.getMetricsAsJSON()).find(({ name }) => name === 'outrider_refusals_total');
  const counts: Record<string, number> = {};
  for (const { labels, value } of metric?.values ?? []) {
    if (value === 0) continue;
    const key = byProtocol ? `${labels.protocol} ${labels.reason}` : String(labels.reason);
    counts[key] = (counts[key] ?? 0) + value;
  }
  return counts;
}
