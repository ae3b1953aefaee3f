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

/** Beyond this many bytes not taken by the peer, positions are conflated rather than sent. */
const SLOW_ABOVE_BYTES = 256 * 1024;
/** The same, while the bytes not taken by all peers together are many. */
const SLOW_WHEN_SCARCE_ABOVE_BYTES = 16 * 1024;
/**
 * Beyond this many bytes of events not taken, the client is disconnected; it returns with its cursor and misses
 * nothing.
 */
const LOST_ABOVE_BYTES = 16 * 1024 * 1024;
/** Written to the socket at a time. What waits here, and not there, can be dropped. */
const WRITE_BYTES = 64 * 1024;
/** A subscribed client that nothing was sent to for so many seconds is sent a heartbeat. */
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
 * One WebSocket of the live API. Positions wait here, the newest per vehicle; everything else is sent in order and
 * whole.
 */
export class LiveClient implements Debtor {
  readonly socket: WebSocket;
  readonly #stream: Duplex;
  readonly #unsent: UnsentBytes;
  readonly #onTooSlow: () => void;
  /** Positions and states that wait for their turn. */
  readonly statuses: StatusQueue;
  /** Frames in their order, from `#firstWaiting` on. */
  #waiting: Buffer[] = [];
  #firstWaiting = 0;
  #waitingBytes = 0;
  /** Written to the socket, and not taken yet. */
  #writtenBytes = 0;
  #writesSoon = false;
  /** Seconds that have begun since it was last sent something. */
  #quietSeconds = 0;
  readonly #onDrained: (() => void)[] = [];
  /** Null until the client is identified. */
  userId: UserId | null = null;
  /** The session that it was admitted by. */
  sessionId: SessionId | null = null;
  via: Via = 'jwt';
  /** The key that signed its token. */
  keyId: string | null = null;
  /** From where it is connected. */
  address = '';
  /** What the API key allows that it came with; null: it came with none. */
  grant: ApiKeyGrant | null = null;
  /** The account as {@link callerIn} saw it last, and as it calls. */
  #caller: { account: User; grant: ApiKeyGrant; caller: User } | null = null;
  /** Called when the client is identified. */
  identified: () => void = () => {};
  subscription: Subscription | null = null;
  /** Number of the last notification that was sent, or left out for want of rights; null where it wants none. */
  lastNotification: number | null = null;
  /** Number of the newest that is known to exist for its user. */
  newestNotification = 0;
  /** While notifications that it misses are read and sent. */
  reading: Promise<unknown> | null = null;
  /** While it gets its snapshot and what it missed, live messages wait. */
  catchingUp = false;
  expiry: Timer | null = null;

  /** @param onTooSlow called when more waits for this client alone than a client may leave waiting */
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
   * The account as it calls now: with an API key, with no more rights than the key allows. Undefined where it is not
   * identified, or the account is gone.
   */
  callerIn(directory: Directory): User | undefined {
    return this.callerFor(directory.userOf(this));
  }

  /** A version of the client's account as it calls, see {@link callerIn}. */
  callerFor<T extends User | undefined>(account: T): T | User {
    const { grant } = this;
    if (account === undefined || grant === null) return account;
    // The same account gives the same caller, which costs nothing for each message.
    if (this.#caller?.account !== account || this.#caller.grant !== grant)
      this.#caller = { account, grant, caller: callerWithKey(account, grant) };
    return this.#caller.caller;
  }

  get isBinary(): boolean {
    return this.socket.protocol === BINARY_PROTOCOL;
  }

  /** True when the peer takes less than it is given. */
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

  /**
   * Sends the waiting positions and states until the peer is slow. The others wait on, and grow no more than the fleet.
   */
  flushStatuses(): void {
    if (this.catchingUp || !this.open || this.slow || this.statuses.bytes === 0) return;
    for (const frame of this.statuses.frames()) {
      this.send(frame);
      if (this.slow) return;
    }
  }

  /** Sends a message, in order with every other one. All that are sent in one go are one write. */
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

  /** To be called once a second: shows a subscribed client that its connection lives, where nothing else does. */
  passSecond(): void {
    this.#quietSeconds++;
    if (this.#quietSeconds < HEARTBEAT_SECONDS || this.subscription === null) return;
    // What waits shows it as well, once it is taken.
    if (this.#waitingBytes + this.#writtenBytes === 0) this.send(HEARTBEAT);
  }

  /** Ends the connection behind what can be written at once; the rest is dropped. */
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
    // The socket's own event comes later.
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
    // One copy costs less than a vector of many small frames does.
    const [only] = frames;
    this.#stream.write(frames.length === 1 && only ? only : Buffer.concat(frames, bytes), () => {
      this.#written(bytes);
      this.flushStatuses();
      if (this.#writtenBytes === 0) this.#write();
    });
  }

  #written(bytes: number): void {
    // A socket that was terminated has been counted before.
    const taken = Math.min(bytes, this.#writtenBytes);
    this.#writtenBytes -= taken;
    this.#unsent.add(-taken);
    this.#resolveDrained();
  }

  #resolveDrained(): void {
    if (this.open && this.slow) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Forgets everything that waits. */
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

  /** Resolves when the peer took what was sent, or is gone. */
  async drained(): Promise<void> {
    while (this.open && this.slow) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }
}

/**
 * Why the account may not be connected; null where it may. A token or API key needs the right to use the API, as every
 * REST call.
 */
export function refusalOf(user: User | undefined, via: Via): string | null {
  if (user === undefined || user.blocked) return 'the account is blocked or deleted';
  return via !== 'cookie' && !user.apiAccess ? 'the account does not have the right to use the API' : null;
}
