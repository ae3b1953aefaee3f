import type { Duplex } from 'node:stream';
import {
  type ApiKeyGrant,
  callerWithKey,
  type Directory,
  type SessionId,
  type Timer,
  type User,
  type UserId,
} from '@outrider/domain';
import type { WebSocket } from 'ws';
import { BINARY_PROTOCOL } from './binary.ts';
import { jsonFrame } from './frames.ts';
import type { Subscription } from './messages.ts';
import { SingleMessages, StatusQueue } from './status-queue.ts';
import type { Debtor, UnsentBytes } from './unsent-bytes.ts';

/** Above this many unsent bytes, positions are conflated rather than sent. */
const SLOW_ABOVE_BYTES = 256 * 1024;
/** The same limit while the unsent bytes of all clients together are many. */
const SLOW_WHEN_SCARCE_ABOVE_BYTES = 16 * 1024;
/**
 * Above this many unsent bytes of events, the client is disconnected. It reconnects with its cursor and misses nothing.
 */
const LOST_ABOVE_BYTES = 16 * 1024 * 1024;
/** Bytes written to the socket at a time. Only frames that are not yet written can be dropped. */
const WRITE_BYTES = 64 * 1024;
/** A subscribed client is sent a heartbeat after this many seconds without a message. */
export const HEARTBEAT_SECONDS = 4;
const HEARTBEAT = jsonFrame({ type: 'heartbeat' });
/** Replaces a frame that has been written, so that the frame can be freed. */
const NO_FRAME = Buffer.alloc(0);

/** Close codes of the live API, in the range that RFC 6455 leaves to applications. */
export const CLOSE = {
  unauthorized: 4401,
  forbidden: 4403,
  tooSlow: 4408,
  badMessage: 4400,
  reconnect: 4412,
  tooMany: 4429,
} as const;

/**
 * How a client is authenticated: by the API's token or an API key, which need the right to use the API, or by the
 * console's cookie.
 */
export type Via = 'jwt' | 'api-key' | 'cookie';

/**
 * One WebSocket of the live API. Positions are queued here, the newest per vehicle; everything else is sent completely
 * and in order.
 */
export class LiveClient implements Debtor {
  readonly socket: WebSocket;
  readonly #stream: Duplex;
  readonly #unsent: UnsentBytes;
  readonly #onTooSlow: () => void;
  /** Positions and states that wait to be sent. */
  readonly statuses: StatusQueue;
  /** Frames to send, in order, starting at `#firstWaiting`. */
  #waiting: Buffer[] = [];
  #firstWaiting = 0;
  #waitingBytes = 0;
  /** Bytes written to the socket that the peer has not taken yet. */
  #writtenBytes = 0;
  #writesSoon = false;
  /** Seconds that have begun since the last message to the client. */
  #quietSeconds = 0;
  readonly #onDrained: (() => void)[] = [];
  /** Null until the client is identified. */
  userId: UserId | null = null;
  /** The session of the token or cookie that identified the client. */
  sessionId: SessionId | null = null;
  via: Via = 'jwt';
  /** The key that signed the client's token. */
  keyId: string | null = null;
  /** Address from which the client is connected. */
  address = '';
  /** Rights of the client's API key; null without an API key. */
  grant: ApiKeyGrant | null = null;
  /** Cache of {@link callerFor}: an account and key, and the resulting caller. */
  #caller: { account: User; grant: ApiKeyGrant; caller: User } | null = null;
  /** Called when the client is identified. */
  identified: () => void = () => {};
  subscription: Subscription | null = null;
  /** Number of the last notification that was sent or withheld for lack of rights; null if the client wants none. */
  lastNotification: number | null = null;
  /** Number of the user's newest known notification. */
  newestNotification = 0;
  /** Set while missed notifications are read and sent. */
  reading: Promise<unknown> | null = null;
  /** Set while the client gets its snapshot and the messages that it missed. Live messages wait meanwhile. */
  catchingUp = false;
  expiry: Timer | null = null;

  /** @param onTooSlow called when the bytes that wait for this client exceed the limit for one client */
  constructor(socket: WebSocket, stream: Duplex, unsent: UnsentBytes, onTooSlow: (client: LiveClient) => void) {
    this.socket = socket;
    this.#stream = stream;
    this.#unsent = unsent;
    this.#onTooSlow = () => onTooSlow(this);
    this.statuses = new StatusQueue(new SingleMessages({ geofence: () => false, driver: () => null }), (bytes) =>
      unsent.add(bytes),
    );
    socket.on('close', () => {
      this.#drop();
      this.#written(this.#writtenBytes);
    });
  }

  /**
   * The account with its current rights: with an API key, no more than the key allows. Undefined if the client is not
   * identified or the account is gone.
   */
  callerIn(directory: Directory): User | undefined {
    return this.callerFor(directory.userOf(this));
  }

  /** A version of the client's account with the rights of the client's API key, see {@link callerIn}. */
  callerFor<T extends User | undefined>(account: T): T | User {
    const { grant } = this;
    if (account === undefined || grant === null) return account;
    // Cached: messages of the same account and key need no new caller.
    if (this.#caller?.account !== account || this.#caller.grant !== grant)
      this.#caller = { account, grant, caller: callerWithKey(account, grant) };
    return this.#caller.caller;
  }

  get isBinary(): boolean {
    return this.socket.protocol === BINARY_PROTOCOL;
  }

  /** Whether the peer takes messages more slowly than they are sent. */
  get slow(): boolean {
    const above = this.#unsent.isScarce ? SLOW_WHEN_SCARCE_ABOVE_BYTES : SLOW_ABOVE_BYTES;
    return this.#waitingBytes + this.#writtenBytes > above;
  }

  get owner(): string {
    return this.userId ?? '';
  }

  get unsentBytes(): number {
    return this.droppableBytes + this.#writtenBytes;
  }

  get droppableBytes(): number {
    return this.#waitingBytes + this.statuses.bytes;
  }

  /** Sends the waiting positions and states until the peer is slow. The rest, bounded by the fleet's size, waits. */
  flushStatuses(): void {
    if (this.catchingUp || !this.open || this.slow || this.statuses.bytes === 0) return;
    for (const frame of this.statuses.frames()) {
      this.send(frame);
      if (this.slow) return;
    }
  }

  /** Sends a message after all previous ones. Messages of the same event loop turn are combined into one write. */
  send(frame: Buffer): void {
    if (!this.open) return;
    this.#quietSeconds = 0;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.length;
    this.#unsent.add(frame.length);
    if (this.#waitingBytes > LOST_ABOVE_BYTES) return this.#onTooSlow();
    if (this.#writtenBytes > 0 || this.#writesSoon) return;
    this.#writesSoon = true;
    process.nextTick(() => {
      this.#writesSoon = false;
      if (this.#writtenBytes === 0) this.#write();
    });
  }

  /** To be called once a second. Sends a heartbeat to a subscribed client when nothing else was sent to it. */
  passSecond(): void {
    this.#quietSeconds++;
    if (this.#quietSeconds < HEARTBEAT_SECONDS || this.subscription === null) return;
    // Waiting messages serve as a sign of life as well, once they are taken.
    if (this.#waitingBytes + this.#writtenBytes === 0) this.send(HEARTBEAT);
  }

  /** Closes the connection after what can be written at once; the rest is dropped. */
  close(code: number, reason: string): void {
    if (this.#writtenBytes === 0) this.#write();
    this.socket.close(code, reason);
    this.#drop();
  }

  disconnect(): void {
    this.close(CLOSE.tooSlow, 'messages are read too slowly; reconnect with the last cursor');
  }

  terminate(): void {
    this.socket.terminate();
    // The socket's close event comes later.
    this.#drop();
    this.#written(this.#writtenBytes);
  }

  #write(): void {
    if (!this.open || this.#waitingBytes === 0) return;
    let bytes = 0;
    const frames: Buffer[] = [];
    while (bytes < WRITE_BYTES && this.#firstWaiting < this.#waiting.length) {
      const frame = this.#waiting[this.#firstWaiting] ?? NO_FRAME;
      this.#waiting[this.#firstWaiting++] = NO_FRAME;
      frames.push(frame);
      bytes += frame.length;
    }
    if (this.#firstWaiting * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#firstWaiting);
      this.#firstWaiting = 0;
    }
    this.#waitingBytes -= bytes;
    this.#writtenBytes = bytes;
    // Copying into one buffer is cheaper than a vectored write of many small frames.
    const [only] = frames;
    this.#stream.write(frames.length === 1 && only ? only : Buffer.concat(frames, bytes), () => {
      this.#written(bytes);
      this.flushStatuses();
      if (this.#writtenBytes === 0) this.#write();
    });
  }

  #written(bytes: number): void {
    // The bytes of a terminated socket have been subtracted before.
    const taken = Math.min(bytes, this.#writtenBytes);
    this.#writtenBytes -= taken;
    this.#unsent.add(-taken);
    this.#resolveDrained();
  }

  #resolveDrained(): void {
    if (this.open && this.slow) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Drops everything that waits. */
  #drop(): void {
    this.statuses.clear();
    this.#unsent.add(-this.#waitingBytes);
    this.#waitingBytes = 0;
    this.#waiting = [];
    this.#firstWaiting = 0;
    this.#resolveDrained();
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN && this.#stream.writable;
  }

  /** Resolves when the peer has taken what was sent, or is disconnected. */
  async drained(): Promise<void> {
    while (this.open && this.slow) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }
}

/**
 * Why the account may not be connected; null if it may. A token or API key needs the right to use the API, as for every
 * REST call.
 */
export function refusalOf(user: User | undefined, via: Via): string | null {
  if (user === undefined || user.blocked) return 'the account is blocked or deleted';
  return via !== 'cookie' && !user.apiAccess ? 'the account does not have the right to use the API' : null;
}
