import { BlockList, isIP } from 'node:net';
import type { UserId } from '@outrider/domain';
import { Counter, type Logger, type Metrics } from '@outrider/runtime';

export interface UntrustedProxiesParts {
  logger: Logger;
  metrics: Metrics;
  /** Unix milliseconds. */
  now(): number;
}

/** Properties of a request that reveal a proxy. */
export interface ForwardedRequest {
  /** Remote address of the connection. */
  peer: string;
  /** The calling account; null if unknown. */
  userId: UserId | null;
}

interface Peer {
  /** Accounts that called through the peer, at most 2. */
  userIds: Set<UserId>;
  loggedAtMs: number;
}

/** Number of most recent peers that are watched: any client can send such a header. */
const MAX_PEERS = 100;
const LOG_EVERY_MS = 3_600_000;
const WARN_FOR_MS = 3_600_000;

/**
 * Detects proxies that are missing from the settings. All clients behind such a proxy are counted as one address, so
 * the failed logins of one client lock out all. The header alone proves nothing, as any client can send it. An address
 * in a private network, or several accounts behind one address, does.
 */
export class UntrustedProxies {
  readonly #parts: UntrustedProxiesParts;
  readonly #peers = new Map<string, Peer>();
  readonly #requests: Counter;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: UntrustedProxiesParts) {
    this.#parts = parts;
    this.#requests = new Counter({
      name: 'outrider_untrusted_proxy_requests_total',
      help: 'Requests forwarded by a proxy that is not in TRUSTED_PROXIES',
      registers: [parts.metrics],
    });
  }

  /** Records a request with a forwarding header from an address that is not a trusted proxy. */
  note({ peer, userId }: ForwardedRequest): void {
    const { logger, now } = this.#parts;
    const known = this.#peers.get(peer) ?? { userIds: new Set(), loggedAtMs: Number.NEGATIVE_INFINITY };
    this.#peers.delete(peer);
    this.#peers.set(peer, known);
    for (const oldest of this.#peers.keys()) {
      if (this.#peers.size <= MAX_PEERS) break;
      this.#peers.delete(oldest);
    }
    if (userId !== null && known.userIds.size < 2) known.userIds.add(userId);
    if (known.userIds.size < 2 && !isPrivate(peer)) return;
    const nowMs = now();
    this.#requests.inc();
    this.#lastAtMs = nowMs;
    if (nowMs < known.loggedAtMs + LOG_EVERY_MS) return;
    known.loggedAtMs = nowMs;
    logger.warn({ proxy: peer }, 'requests come through a proxy that TRUSTED_PROXIES does not name');
  }

  /** Warnings for `/health/ready`. */
  warnings(): readonly string[] {
    if (this.#parts.now() > this.#lastAtMs + WARN_FOR_MS) return [];
    return ['requests come through a proxy that TRUSTED_PROXIES does not name: limits count all its clients as one'];
  }
}

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv4');
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

function isPrivate(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && PRIVATE.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
