import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { FairQueue, QueueFullError, SYSTEM_CLOCK } from '@outrider/domain';
import { checkedAddresses, codeOf } from './checked-addresses.ts';
import { boundLookup, type Lookup, lookupBySystem, type ResolvedAddress } from './lookup.ts';
import { failedForGood, failedForNow, type SendResult } from './send-result.ts';
import { checkWebhookUrl, hostOf } from './webhook-url.ts';

export interface GuardedRequest {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers: http.OutgoingHttpHeaders;
  /** Empty: none is sent. */
  body: string | Buffer;
  /**
   * Whether the endpoint has never responded successfully: its name is then resolved separately from those that have.
   */
  isUnproven?: boolean;
  /** Whether the operator chose the address: plain http and the own network are then allowed. */
  isTrusted?: boolean;
  /** Certificates of authorities in PEM, which replace those of the system. */
  ca?: string | undefined;
}

/** Result of a request, with the first 4 KiB of the response. */
export interface GuardedAnswer {
  result: SendResult;
  answer: string;
}

/** Requests to addresses that users choose. */
export interface GuardedHttp {
  /** Makes one attempt. Never rejects: a fault of the request or the endpoint is in the result. */
  request(request: GuardedRequest): Promise<GuardedAnswer>;
  /** Accepts no more requests, waits for pending ones (at most `timeoutMs` each), then closes all connections. */
  close(): Promise<void>;
}

export interface GuardedHttpOptions {
  /** Whether plain http and endpoints inside the own network are allowed. */
  allowPrivateAddresses: boolean;
  /** Timeout of a whole attempt: name, connection, request and response. */
  timeoutMs: number;
  /** For the connection alone, TLS included. Default 3000. */
  connectTimeoutMs?: number;
  /** A response body is read and discarded up to this size; beyond it the connection is closed. */
  maxResponseBytes: number;
  /** Unix milliseconds. */
  now: () => number;
  /** Resolves all addresses of a name. Default: the system's resolver. */
  lookup?: Lookup;
}

/** Maximum size of a response that is kept. */
const MAX_ANSWER = 4096;
const MAX_AT_ONCE = 64;
const MAX_WAITING = 1000;
const MAX_CONNECTIONS_PER_HOST = 8;
/** A connection, including TLS, that takes longer will probably never be made. */
const CONNECT_TIMEOUT_MS = 3000;
/** Connections kept open for a next delivery, over all hosts, and for how long. */
const MAX_IDLE_CONNECTIONS = 64;
const IDLE_MS = 10_000;
const AGENT_OPTIONS = { keepAlive: true, maxSockets: MAX_CONNECTIONS_PER_HOST, maxFreeSockets: 1, timeout: IDLE_MS };
const MAX_RETRY_AFTER_MS = 24 * 3600_000;

/** Node's error codes for invalid certificates in OpenSSL, and for failures of the handshake itself. */
const TLS_ERROR =
  /^(EPROTO|ERR_SSL_|ERR_TLS_(?!HANDSHAKE_TIMEOUT)|CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|PATH_LENGTH_|HOSTNAME_MISMATCH)/;

/**
 * HTTP client for endpoints that users choose, which must not give access to the own network. A name is resolved once,
 * every address of it is checked, and the connection uses only checked addresses. Redirects are not followed, and no
 * proxy of the environment is used.
 *
 * 2xx is delivered; 408, 425, 429, 5xx, timeouts and failed connections may be retried; everything else is final,
 * including invalid certificates.
 */
export function createGuardedHttp(options: GuardedHttpOptions): GuardedHttp {
  // Two limits: unresponsive name servers then delay only lookups of their own kind.
  const lookupProven = boundLookup(options.lookup ?? lookupBySystem);
  const lookupUnproven = boundLookup(options.lookup ?? lookupBySystem);
  const queue = new FairQueue({ atOnce: MAX_AT_ONCE, maxWaiting: MAX_WAITING });
  const connections = new Connections(options);
  let closed = false;

  async function send(request: GuardedRequest): Promise<GuardedAnswer> {
    const url = new URL(request.url);
    const body = Buffer.from(request.body);
    const lookup = request.isUnproven ? lookupUnproven : lookupProven;
    const allowPrivateAddresses = request.isTrusted === true || options.allowPrivateAddresses;
    const deadline = new AbortController();
    const timer = SYSTEM_CLOCK.after(options.timeoutMs, () => deadline.abort());
    try {
      const looking = checkedAddresses(hostOf(url), lookup, allowPrivateAddresses);
      const addresses = await Promise.race([looking, aborted(deadline.signal)]);
      if (addresses === null) return failed(failedForNow(`The name ${hostOf(url)} was not resolved in time.`));
      if ('ok' in addresses) return failed(addresses);
      // Each attempt removes a dead connection, so this ends with a new one.
      for (;;) {
        const answer = await connections.exchange(request, url, addresses, body, deadline.signal);
        if (answer !== null) return answer;
      }
    } finally {
      timer.cancel();
    }
  }

  return {
    async request(request) {
      const allowPrivateAddresses = request.isTrusted === true || options.allowPrivateAddresses;
      const wrong = checkWebhookUrl(request.url, { allowPrivateAddresses });
      if (wrong !== null) return failed(failedForGood(wrong));
      if (closed) return failed(failedForNow('The service is stopping.'));
      try {
        return await queue.run(async () => (closed ? failed(failedForNow('The service is stopping.')) : send(request)));
      } catch (error) {
        if (error instanceof QueueFullError) return failed(failedForNow('Too many webhooks are waiting.'));
        // Such as a header that the connection refuses.
        return failed(failedForGood(`The request can't be sent (${codeOf(error)}).`));
      }
    },
    async close() {
      closed = true;
      await queue.idle();
      connections.end();
    },
  };
}

/** Connections to checked addresses, kept open for a while for the next request. */
class Connections {
  readonly #options: GuardedHttpOptions;
  // A separate agent uses no proxy of the environment.
  readonly #plain = boundIdle(new http.Agent(AGENT_OPTIONS));
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not apply to endpoints.
  readonly #secured = boundIdle(new https.Agent({ ...AGENT_OPTIONS, rejectUnauthorized: true }));

  constructor(options: GuardedHttpOptions) {
    this.#options = options;
  }

  /** Makes one request; null when a kept connection turned out to be dead, without a response. */
  exchange(
    { method, headers, ca }: GuardedRequest,
    url: URL,
    addresses: readonly ResolvedAddress[],
    body: Buffer,
    deadline: AbortSignal,
  ): Promise<GuardedAnswer | null> {
    const { timeoutMs, maxResponseBytes, now, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    return new Promise((done) => {
      const chunks: Buffer[] = [];
      const settle = (result: SendResult | null) =>
        done(result && { result, answer: Buffer.concat(chunks).toString('utf8').slice(0, MAX_ANSWER) });
      // The status decides as soon as it arrives, even if the body fails.
      let answer: SendResult | null = null;
      const encrypted = url.protocol === 'https:';
      const request = (encrypted ? https : http).request(url, {
        method,
        agent: encrypted ? this.#secured : this.#plain,
        lookup: pinnedLookup(addresses),
        // The agent pools connections by it.
        ...(ca === undefined ? {} : { ca }),
        headers: {
          'user-agent': 'Outrider-Webhooks',
          ...headers,
          ...(body.length > 0 && { 'content-length': body.length }),
        },
        signal: deadline,
      });
      let isLateToConnect = false;
      request.on('socket', (socket) => {
        if (!socket.connecting) return;
        const timer = SYSTEM_CLOCK.after(connectTimeoutMs, () => {
          isLateToConnect = true;
          request.destroy();
        });
        socket.once(encrypted ? 'secureConnect' : 'connect', () => timer.cancel());
        socket.once('close', () => timer.cancel());
      });
      request.on('response', (response) => {
        answer = judge(response.statusCode ?? 0, response.headers['retry-after'], now());
        let received = 0;
        response.on('data', (chunk: Buffer) => {
          if (received < MAX_ANSWER) chunks.push(chunk);
          received += chunk.length;
          if (received > maxResponseBytes) response.destroy();
        });
        // An error of the body changes nothing about the answer; `close` follows it.
        response.on('error', () => {});
        response.on('close', () => settle(answer));
      });
      request.on('error', (error) => {
        if (answer !== null) return settle(answer);
        if (deadline.aborted) return settle(failedForNow(`No answer within ${timeoutMs / 1000} seconds.`));
        if (isLateToConnect) return settle(failedForNow(`No connection within ${connectTimeoutMs / 1000} seconds.`));
        const code = codeOf(error);
        // The peer had closed the idle connection.
        if (request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')) return settle(null);
        if (TLS_ERROR.test(code)) return settle(failedForGood(`No secure connection: ${error.message} (${code}).`));
        settle(failedForNow(`The request failed (${code}).`));
      });
      // Handles replies that are not a response, such as a change of protocol.
      request.on('close', () => settle(answer ?? failedForNow('The connection ended without an answer.')));
      request.end(body);
    });
  }

  end(): void {
    this.#plain.destroy();
    this.#secured.destroy();
  }
}

function failed(result: SendResult): GuardedAnswer {
  return { result, answer: '' };
}

/** Limits the number of idle connections over all hosts; Node limits them only per host. */
function boundIdle<Agent extends http.Agent>(agent: Agent): Agent {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
  const idle = () => Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
  return Object.assign(agent, {
    keepSocketAlive: (socket: Duplex) => idle() < MAX_IDLE_CONNECTIONS && keep(socket),
  });
}

/** A lookup with a fixed result: the connection uses the checked addresses, even if the name has changed meanwhile. */
function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

/** Converts an HTTP status to the result of the delivery. */
function judge(status: number, retryAfter: string | undefined, nowMs: number): SendResult {
  if (status >= 200 && status < 300) return { ok: true, status };
  if (status >= 300 && status < 400)
    return failedForGood(`The endpoint answered ${status}: redirects are not followed.`, status);
  if (status === 410) return failedForGood('The endpoint answered 410: it no longer accepts webhooks.', status);
  if (status < 500 && status !== 408 && status !== 425 && status !== 429)
    return failedForGood(`The endpoint answered ${status}.`, status);

  const waitMs = retryAfter === undefined ? null : waitOf(retryAfter, nowMs);
  const error = `The endpoint answered ${status}.`;
  return { ok: false, retry: true, error, status, ...(waitMs === null ? {} : { retryAfterMs: waitMs }) };
}

/**
 * Milliseconds that a `Retry-After` asks for, seconds or a date (RFC 9110, 10.2.3), a day at most; null where it is
 * neither.
 */
function waitOf(retryAfter: string, nowMs: number): number | null {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}
