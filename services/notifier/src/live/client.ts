import type { Duplex } from 'node:stream';
import type { SessionId, User, UserId, VehicleId } from '@outrider/domain';
import type { WebSocket } from 'ws';
import type { ClientMessage } from './messages.ts';
import type { Debtor, UnsentBytes } from './unsent-bytes.ts';

/** Beyond this many bytes not taken by the peer, positions are conflated rather than sent. */
const SLOW_ABOVE_BYTES = 256 * 1024;
/** The same, while the bytes not taken by all peers together are many. */
const SLOW_WHEN_SCARCE_ABOVE_BYTES = 16 * 1024;
/** Beyond this many bytes of events not taken, the client is disconnected: it returns with its cursor and misses nothing. */
const LOST_ABOVE_BYTES = 16 * 1024 * 1024;
/** Written to the socket at a time. What waits here, and not there, can be dropped. */
const WRITE_BYTES = 64 * 1024;
/** Stands where a frame was that has been written: what waits is not kept for longer than it waits. */
const NO_FRAME = Buffer.alloc(0);

/** Close codes of the live API, in the range that RFC 6455 leaves to applications. */
export const CLOSE = { unauthorized: 4401, forbidden: 4403, tooSlow: 4408, badMessage: 4400, tooMany: 4429 } as const;

/** How a client showed who it is: by the API's token, which needs the right to use the API, or by the console's cookie. */
export type Via = 'jwt' | 'cookie';

export type Subscription = ClientMessage & { type: 'subscribe' };

/** One WebSocket of the live API. Positions wait here, the newest per vehicle; events go out in order, all of them. */
export class LiveClient implements Debtor {
  readonly socket: WebSocket;
  readonly #stream: Duplex;
  readonly #unsent: UnsentBytes;
  readonly #onTooSlow: () => void;
  readonly #positions = new Map<string, Buffer>();
  #positionBytes = 0;
  /** Frames in their order, from `#firstWaiting` on. */
  #waiting: Buffer[] = [];
  #firstWaiting = 0;
  #waitingBytes = 0;
  /** Written to the socket, and not taken yet. */
  #writtenBytes = 0;
  #writesSoon = false;
  readonly #onDrained: (() => void)[] = [];
  /** Null until the client said who it is. */
  userId: UserId | null = null;
  /** The session that it is let in by. */
  sessionId: SessionId | null = null;
  via: Via = 'jwt';
  /** The key that signed its token. */
  keyId: string | null = null;
  /** Called when the client has said who it is. */
  identified: () => void = () => {};
  subscription: Subscription | null = null;
  /** Number of the last notification that it was told, or that was left out for want of rights; null: it wants none. */
  notified: number | null = null;
  /** The newest that was heard of for its user. */
  heardOf = 0;
  /** While what it has not been told is read and sent. */
  telling: Promise<unknown> | null = null;
  /** While it gets its snapshot and what it missed, live messages wait. */
  catchingUp = false;
  expiry: NodeJS.Timeout | null = null;

  /** @param onTooSlow called when more waits for this client alone than a client may leave waiting */
  constructor(socket: WebSocket, stream: Duplex, unsent: UnsentBytes, onTooSlow: (client: LiveClient) => void) {
    this.socket = socket;
    this.#stream = stream;
    this.#unsent = unsent;
    this.#onTooSlow = () => onTooSlow(this);
    socket.on('close', () => {
      this.#drop();
      this.#written(this.#writtenBytes);
    });
  }

  /** Is the vehicle among those that the client asked for? Says nothing about whether it may see it. */
  wants(vehicleId: VehicleId, groupIds: readonly string[]): boolean {
    const { subscription } = this;
    if (subscription === null) return false;
    const { vehicles, groups } = subscription;
    if (vehicles === null && groups === null) return true;
    return (vehicles?.has(vehicleId) ?? false) || (groups !== null && groupIds.some((id) => groups.has(id as never)));
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
    return this.#waitingBytes + this.#positionBytes;
  }

  /** Keeps the vehicle's newest position for the next flush. */
  queuePosition(vehicleId: VehicleId, frame: Buffer): void {
    this.#queue(vehicleId, frame);
  }

  /** Keeps the vehicle's newest state beside its newest position. */
  queueState(vehicleId: VehicleId, frame: Buffer): void {
    this.#queue(stateKey(vehicleId), frame);
  }

  #queue(key: string, frame: Buffer): void {
    if (!this.open) return;
    // Dropped first, so that the turn is that of the newest.
    this.#unqueue(key);
    this.#positions.set(key, frame);
    this.#countPositions(frame.length);
  }

  /** Sends the waiting positions until the peer is slow: the others wait on, and grow no more than the fleet. */
  flushPositions(): void {
    if (this.catchingUp || !this.open) return;
    for (const [key, frame] of this.#positions) {
      if (this.slow) return;
      this.#unqueue(key);
      this.send(frame);
    }
  }

  /** Forgets positions that wait: the subscription they were for is over. */
  dropPositions(): void {
    this.#positions.clear();
    this.#countPositions(-this.#positionBytes);
  }

  /** Forgets what waits of one vehicle: the client may no longer see it. */
  dropPosition(vehicleId: VehicleId): void {
    this.#unqueue(vehicleId);
    this.#unqueue(stateKey(vehicleId));
  }

  #unqueue(key: string): void {
    const frame = this.#positions.get(key);
    if (frame === undefined) return;
    this.#positions.delete(key);
    this.#countPositions(-frame.length);
  }

  /** Sends a message, in order with every other one. All that are sent in one go are one write. */
  send(frame: Buffer): void {
    if (!this.open) return;
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

  /** Ends the connection behind what can be written at once; the rest is dropped. */
  close(code: number, reason: string): void {
    if (this.#writtenBytes === 0) this.#write();
    this.socket.close(code, reason);
    this.#drop();
  }

  disconnect(): void {
    this.close(CLOSE.tooSlow, 'messages are not taken; come back with the last cursor');
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
      this.flushPositions();
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
    this.dropPositions();
    this.#unsent.add(-this.#waitingBytes);
    this.#waitingBytes = 0;
    this.#waiting = [];
    this.#firstWaiting = 0;
    this.#resolveDrained();
  }

  #countPositions(bytes: number): void {
    this.#positionBytes += bytes;
    this.#unsent.add(bytes);
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN && this.#stream.writable;
  }

  /** Resolves when the peer took what was sent, or is gone. */
  async drained(): Promise<void> {
    while (this.open && this.slow) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }
}

/** Why the account may not be connected, or stay so; null where it may. A token needs the right to use the API, as every REST call with it. */
export function refusalOf(user: User | undefined, via: Via): string | null {
  if (user === undefined || user.blocked) return 'the account is blocked or deleted';
  return via === 'jwt' && !user.apiAccess ? 'the account does not have the right to use the API' : null;
}

function stateKey(vehicleId: VehicleId): string {
  return `state ${vehicleId}`;
}
