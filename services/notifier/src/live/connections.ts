import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Refused, tokenOfHeader, type Verified, type VerifiedApiKey } from '@outrider/auth';
import {
  type ApiKeyGrant,
  type ApiKeyId,
  type Clock,
  type Directory,
  type SessionId,
  SYSTEM_CLOCK,
  type Timer,
  type UserId,
} from '@outrider/domain';
import { ConnectionCounts, type Logger, refuseUpgrade, WEB_SOCKET_CLOSING } from '@outrider/runtime';
import { type RawData, WebSocketServer } from 'ws';
import { BINARY_PROTOCOL } from './binary.ts';
import { CLOSE, LiveClient, refusalOf, type Via } from './client.ts';
import { jsonFrame } from './frames.ts';
import type { LiveMetrics, RefusalBound } from './live-metrics.ts';
import { parseClientMessage, type Subscription } from './messages.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/** Decides who may connect, and for how long. */
export interface Authentication {
  verify(token: string): Promise<Verified | VerifiedApiKey | Refused>;
  /** Null if the request carries no cookie or comes from a page of another origin. */
  cookieSession(request: IncomingMessage): Promise<Verified | Refused | null>;
  /** Whether the requesting page may connect: pages of other sites may if they may call the API. Default: any page. */
  mayConnect?(request: IncomingMessage): boolean;
  /** Key by which the connections of the client's address are counted; null if they are not limited. */
  addressKey(request: IncomingMessage): string | null;
  /** Whether tokens signed by this key are still valid. */
  keyIsGood(keyId: string): boolean;
  /** @returns the sessions that are still open */
  liveSessions(ids: readonly SessionId[]): Promise<ReadonlySet<SessionId>>;
  /** @returns the API keys that are still valid, with their current rights */
  apiKeysAmong(ids: readonly ApiKeyId[]): Promise<ReadonlyMap<ApiKeyId, ApiKeyGrant>>;
  /** Records the use of an API key. */
  noteApiKeyUse(id: ApiKeyId, address: string): Promise<void>;
  /** Address of the client that made the request, also when it comes through trusted proxies. */
  clientAddress(request: IncomingMessage): string;
}

export interface ConnectionBounds {
  maxConnections: number;
  /** Maximum of connections per account. */
  maxPerUser: number;
  /** Maximum of connections per address. */
  maxPerAddress: number;
}

export interface ConnectionsContext {
  bounds: ConnectionBounds;
  authentication: Authentication;
  directory: Directory;
  unsent: UnsentBytes;
  metrics: LiveMetrics;
  logger: Logger;
  clock: Clock;
  /** A client requested another subscription; null: it unsubscribed. */
  onSubscription(client: LiveClient, subscription: Subscription | null): Promise<void> | void;
  onTooSlow(client: LiveClient): void;
  /** The rights with which the client calls have changed. */
  onRights(client: LiveClient): void;
  onClosed(client: LiveClient): void;
}

/** Subprotocols, in the order of preference. */
export const PROTOCOLS = [BINARY_PROTOCOL, 'outrider.live.v1'];
const PONG = jsonFrame({ type: 'pong' });
const AUTHORIZE_WITHIN_MS = 5000;
/** Share of the connections that unidentified clients may take; the rest is reserved for identified ones. */
const ANONYMOUS_SHARE = 0.1;
const MAX_ANONYMOUS_PER_ADDRESS = 20;
const PING_EVERY_MS = 30_000;
const MAX_MESSAGE_BYTES = 512 * 1024;
/** Messages of one client that may wait to be processed. */
const MAX_WAITING_MESSAGES = 16;
const RETRY_AFTER = 'Retry-After: 5\r\n';
/** Longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const CLOSED_WITHIN_MS = 1000;
/** Each client is in one of this many groups; each group has its own time within every second. */
const TURNS = 10;
const TURN_MS = 1000 / TURNS;

/** The WebSockets of the live API: admission, identity and expiry of clients. */
export class Connections {
  readonly clients = new Set<LiveClient>();
  readonly #ofUser = new Map<UserId, Set<LiveClient>>();
  readonly #context: ConnectionsContext;
  readonly #counts: ConnectionCounts;
  readonly #anonymous: ConnectionCounts;
  /** Groups of clients whose seconds begin together. Heartbeats of all clients at once would delay everything else. */
  readonly #turns = Array.from({ length: TURNS }, () => new Set<LiveClient>());
  /** One timer for the heartbeats of all connections. */
  readonly #heartbeats: Timer;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    ...WEB_SOCKET_CLOSING,
    handleProtocols: (offered) => PROTOCOLS.find((name) => offered.has(name)) ?? false,
  });

  constructor(context: ConnectionsContext) {
    const { maxConnections, maxPerAddress } = context.bounds;
    this.#context = context;
    this.#counts = new ConnectionCounts({ total: maxConnections, perKey: maxPerAddress });
    this.#anonymous = new ConnectionCounts({
      total: Math.ceil(maxConnections * ANONYMOUS_SHARE),
      perKey: MAX_ANONYMOUS_PER_ADDRESS,
    });
    const { clock } = context;
    let last = Math.floor(clock.steadyMs() / TURN_MS);
    this.#heartbeats = clock.every(TURN_MS, () => {
      const now = Math.floor(clock.steadyMs() / TURN_MS);
      // A busy process catches up on the groups that it skipped, once each.
      for (let turn = Math.max(last, now - TURNS) + 1; turn <= now; turn++)
        for (const client of this.#turns[turn % TURNS] ?? []) client.passSecond();
      last = now;
    });
  }

  /** The identified clients of an account. */
  of(userId: UserId): Iterable<LiveClient> {
    return this.#ofUser.get(userId) ?? [];
  }

  /** Accounts with at least one client, each with its clients. */
  byUser(): Iterable<[UserId, ReadonlySet<LiveClient>]> {
    return this.#ofUser;
  }

  /** Handles an HTTP upgrade. The socket always gets a response, also if the upgrade is refused. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { authentication, bounds, directory } = this.#context;
    socket.on('error', () => socket.destroy());
    // Counted before the first await: otherwise many simultaneous requests could exceed the limit.
    const key = authentication.addressKey(request);
    const exceeded = this.#counts.admit(key);
    if (exceeded !== null) return this.#refuse(socket, exceeded === 'key' ? 'address' : 'total');
    socket.once('close', () => this.#counts.release(key));
    // A token or a filter in the query would be ignored, so it is refused at once.
    if (/\?./.test(request.url ?? '')) return refuseUpgrade(socket, '400 Bad Request');
    if (authentication.mayConnect?.(request) === false) return refuseUpgrade(socket, '403 Forbidden');
    const header = request.headers.authorization;
    const answer =
      header === undefined ? await authentication.cookieSession(request) : await this.#verifyHeader(header);
    // The peer may have disconnected meanwhile: whatever is counted now would never be released.
    if (socket.destroyed) return;
    const via: Via = header === undefined ? 'cookie' : viaOf(answer);
    if (via !== 'cookie' && answer?.error !== undefined) return unauthorized(socket);
    const refusal = via === 'cookie' ? refusalOfCookie(answer, directory) : null;
    const verified = answer?.error === undefined && refusal === null ? answer : null;
    let identified = () => {};
    if (verified !== null) {
      const user = directory.users.get(verified.userId);
      if (refusalOf(user, 'cookie') !== null) return unauthorized(socket);
      if (refusalOf(user, via) !== null || !mayListen(verified)) return refuseUpgrade(socket, '403 Forbidden');
      if (this.#isFull(verified.userId, bounds)) return this.#refuse(socket, 'user');
    } else {
      if (this.#anonymous.admit(key) !== null) return this.#refuse(socket, 'anonymous');
      identified = once(() => this.#anonymous.release(key));
      socket.once('close', identified);
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      if (refusal !== null) {
        // Browsers hide the status of a refused upgrade from their pages, but not the close code of a WebSocket.
        webSocket.on('error', () => webSocket.terminate());
        return webSocket.close(refusal.code, refusal.reason);
      }
      const client = new LiveClient(webSocket, socket, this.#context.unsent, this.#context.onTooSlow);
      client.identified = identified;
      client.address = authentication.clientAddress(request);
      this.#admit(client);
      if (verified !== null) this.#identify(client, verified, via);
    });
  }

  /** Closes the connections of an account that may no longer be connected. */
  recheckUser(userId: UserId): void {
    const user = this.#context.directory.users.get(userId);
    for (const client of this.of(userId)) {
      const reason = refusalOf(user, client.via);
      if (reason !== null) client.close(CLOSE.forbidden, reason);
    }
  }

  /**
   * Closes connections whose session was ended, whose token was signed by a revoked key, or whose API key was revoked,
   * has expired or has other rights now.
   */
  async recheckSessions(): Promise<void> {
    const { keyIsGood, liveSessions } = this.#context.authentication;
    for (const client of this.clients)
      if (client.keyId !== null && !keyIsGood(client.keyId))
        client.close(CLOSE.unauthorized, 'the key of the token was revoked');
    await this.#recheckApiKeys();
    const sessionIds = new Set([...this.clients].map(({ sessionId }) => sessionId).filter((id) => id !== null));
    if (sessionIds.size === 0) return;
    const live = await liveSessions([...sessionIds]);
    for (const client of this.clients) {
      // Only the sessions that were queried: a client may have got another session meanwhile.
      const { sessionId } = client;
      if (sessionId !== null && sessionIds.has(sessionId) && !live.has(sessionId))
        client.close(CLOSE.unauthorized, 'the session was ended');
    }
  }

  async #recheckApiKeys(): Promise<void> {
    const grants = [...this.clients].map(({ grant }) => grant).filter((grant) => grant !== null);
    if (grants.length === 0) return;
    const asked = new Set(grants);
    const now = await this.#context.authentication.apiKeysAmong([...new Set(grants.map(({ id }) => id))]);
    for (const client of this.clients) {
      const { grant } = client;
      // Only the keys that were queried: a client may have got another key meanwhile.
      if (grant === null || !asked.has(grant)) continue;
      const known = now.get(grant.id);
      if (known === undefined) client.close(CLOSE.unauthorized, 'the API key was revoked');
      // The client reconnects with its cursor and gets the current rights of the key.
      else if (known.version !== grant.version) client.close(CLOSE.reconnect, 'the API key was changed');
    }
  }

  async close(): Promise<void> {
    this.#heartbeats.cancel();
    for (const client of this.clients) client.close(1001, 'the service is stopping');
    const patience = SYSTEM_CLOCK.after(CLOSED_WITHIN_MS, () => {
      for (const client of this.clients) client.terminate();
    });
    while (this.clients.size > 0) await SYSTEM_CLOCK.sleep(10);
    patience.cancel();
    this.#server.close();
  }

  /** Starts to process the client's messages, one after the other. */
  #admit(client: LiveClient): void {
    const { logger, clock } = this.#context;
    this.clients.add(client);
    const turn = this.#turns.reduce((least, other) => (other.size < least.size ? other : least));
    turn.add(client);
    let waiting = 0;
    let handled: Promise<void> = Promise.resolve();
    let alive = true;
    const authorizing = clock.after(AUTHORIZE_WITHIN_MS, () => {
      if (client.userId === null) client.close(CLOSE.unauthorized, 'no token within 5 seconds');
    });
    const ping = clock.every(PING_EVERY_MS, () => {
      if (!alive) return client.terminate();
      alive = false;
      client.socket.ping();
    });
    client.socket.on('pong', () => {
      alive = true;
    });
    client.socket.on('message', (data, isBinary) => {
      if (++waiting > MAX_WAITING_MESSAGES) return client.close(CLOSE.tooMany, 'too many messages at once');
      handled = handled
        .then(() => this.#onMessage(client, data, isBinary))
        .catch((error) => {
          logger.error({ err: error }, 'serving a live client failed');
          client.close(1011, 'the service could not answer');
        })
        .finally(() => {
          waiting--;
        });
    });
    client.socket.on('error', (error) => logger.debug({ err: error }, 'socket error of a live client'));
    client.socket.on('close', () => {
      authorizing.cancel();
      ping.cancel();
      turn.delete(client);
      this.#remove(client);
    });
  }

  #remove(client: LiveClient): void {
    client.expiry?.cancel();
    this.clients.delete(client);
    if (client.userId !== null) {
      const others = this.#ofUser.get(client.userId);
      others?.delete(client);
      if (others?.size === 0) this.#ofUser.delete(client.userId);
    }
    this.#context.onClosed(client);
  }

  async #onMessage(client: LiveClient, data: RawData, isBinary: boolean): Promise<void> {
    if (isBinary) return client.close(CLOSE.badMessage, 'messages are JSON text');
    const message = parseClientMessage(data.toString());
    if ('error' in message) {
      client.send(jsonFrame({ type: 'error', detail: message.error }));
      return;
    }
    if (message.type === 'authorize') {
      if (await this.#authorize(client, message.jwt)) client.send(jsonFrame({ type: 'authorized' }));
      return;
    }
    if (client.userId === null) return client.close(CLOSE.unauthorized, 'the first message must be "authorize"');
    if (message.type === 'ping') return client.send(PONG);
    await this.#context.onSubscription(client, message.type === 'subscribe' ? message : null);
  }

  async #authorize(client: LiveClient, jwt: string): Promise<boolean> {
    const { authentication, bounds, directory, metrics } = this.#context;
    const verified = await authentication.verify(jwt);
    if (verified.error !== undefined) {
      client.close(CLOSE.unauthorized, `the token is not valid: ${verified.error}`);
      return false;
    }
    // A client that closed meanwhile would never be removed again.
    if (!client.open) return false;
    const via = viaOf(verified);
    const refusal = refusalOf(directory.users.get(verified.userId), via);
    const reason = refusal ?? (mayListen(verified) ? null : 'the API key does not have the scope "read"');
    if (reason !== null) {
      client.close(CLOSE.forbidden, reason);
      return false;
    }
    if (client.userId !== null && client.userId !== verified.userId) {
      client.close(CLOSE.forbidden, 'a connection stays with the account that opened it');
      return false;
    }
    if (client.userId === null && this.#isFull(verified.userId, bounds)) {
      metrics.refused('user');
      client.close(CLOSE.tooMany, 'the account has too many connections');
      return false;
    }
    this.#identify(client, verified, via);
    return true;
  }

  /** Identifies the client as the account of the token or key, until that expires. */
  #identify(client: LiveClient, verified: Verified | VerifiedApiKey, via: Via): void {
    const { userId, expiresAtMs } = verified;
    const { logger, authentication } = this.#context;
    const before = client.grant;
    const grant = grantOf(verified);
    const isOther = client.userId !== null && (grant?.id !== before?.id || grant?.version !== before?.version);
    if (client.userId === null) {
      client.identified();
      const others = this.#ofUser.get(userId);
      if (others) others.add(client);
      else this.#ofUser.set(userId, new Set([client]));
    }
    client.userId = userId;
    client.via = via;
    client.sessionId = 'grant' in verified ? null : verified.sessionId;
    client.keyId = 'grant' in verified ? null : verified.keyId;
    client.grant = grant;
    if (grant !== null)
      authentication.noteApiKeyUse(grant.id, client.address).catch((error) => {
        logger.warn({ err: error }, 'cannot save the last use of an API key');
      });
    client.expiry?.cancel();
    client.expiry = null;
    if (expiresAtMs !== null) {
      const leftMs = Math.min(expiresAtMs - this.#context.clock.now(), MAX_TIMER_MS);
      client.expiry = this.#context.clock.after(leftMs, () => client.close(CLOSE.unauthorized, 'the token expired'));
    }
    // The client may see other things now: its subscription applies to these from now on.
    if (isOther) this.#context.onRights(client);
  }

  #isFull(userId: UserId, { maxPerUser }: ConnectionBounds): boolean {
    return (this.#ofUser.get(userId)?.size ?? 0) >= maxPerUser;
  }

  async #verifyHeader(header: string): Promise<Verified | VerifiedApiKey | Refused> {
    const token = tokenOfHeader(header);
    return token === null ? { error: 'malformed' } : this.#context.authentication.verify(token);
  }

  #refuse(socket: Duplex, bound: RefusalBound): void {
    this.#context.metrics.refused(bound);
    const isOfPeer = bound === 'address' || bound === 'user';
    refuseUpgrade(socket, isOfPeer ? '429 Too Many Requests' : '503 Service Unavailable', RETRY_AFTER);
  }
}

function viaOf(answer: Verified | VerifiedApiKey | Refused | null): Via {
  return answer !== null && 'grant' in answer ? 'api-key' : 'jwt';
}

/** How to close the connection of a refused cookie; null if the cookie is accepted or missing. */
function refusalOfCookie(
  answer: Verified | VerifiedApiKey | Refused | null,
  directory: Directory,
): { code: number; reason: string } | null {
  if (answer === null) return null;
  const user = answer.userId && directory.users.get(answer.userId);
  const reason = refusalOf(user, 'cookie');
  // The sessions of a blocked account have ended, but the block is the more helpful reason.
  if (reason !== null && (user?.blocked || answer.error === undefined)) return { code: CLOSE.forbidden, reason };
  return answer.error === undefined
    ? null
    : { code: CLOSE.unauthorized, reason: `the session is over: ${answer.error}` };
}

function grantOf(verified: Verified | VerifiedApiKey): ApiKeyGrant | null {
  return 'grant' in verified ? verified.grant : null;
}

/** An API key needs the scope `read` for the live stream. */
function mayListen(verified: Verified | VerifiedApiKey): boolean {
  return !('grant' in verified) || verified.grant.scopes.includes('read');
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function unauthorized(socket: Duplex): void {
  refuseUpgrade(socket, '401 Unauthorized', 'WWW-Authenticate: JWT\r\n');
}
