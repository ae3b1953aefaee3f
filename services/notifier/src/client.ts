import type { Duplex } from 'node:stream';
import type { SessionId, User, UserId, VehicleId } from '@outrider/domain';
import type { WebSocket } from 'ws';
import type { ClientMessage } from './messages.ts';

/** Beyond this many bytes not taken by the peer, positions are conflated rather than sent. */
const SLOW_ABOVE_BYTES = 256 * 1024;
/** Beyond this many bytes of events not taken, the client is let go: it comes back with its cursor and misses nothing. */
const LOST_ABOVE_BYTES = 16 * 1024 * 1024;

/** Close codes of the live API, in the range that RFC 6455 leaves to applications. */
export const CLOSE = { unauthorized: 4401, forbidden: 4403, tooSlow: 4408, badMessage: 4400, tooMany: 4429 } as const;

export type Subscription = ClientMessage & { type: 'subscribe' };

/** One WebSocket of the live API. Positions wait here, the newest per vehicle; events go out in order, all of them. */
export class LiveClient {
  readonly socket: WebSocket;
  readonly #stream: Duplex;
  readonly #positions = new Map<VehicleId, Buffer>();
  #gathering = false;
  /** Null until the client said who it is. */
  userId: UserId | null = null;
  /** The session that it is let in by. */
  sessionId: SessionId | null = null;
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

  constructor(socket: WebSocket, stream: Duplex) {
    this.socket = socket;
    this.#stream = stream;
    stream.on('drain', () => this.flushPositions());
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
    return this.#stream.writableLength > SLOW_ABOVE_BYTES;
  }

  /** Keeps the vehicle's newest position for the next flush. */
  queuePosition(vehicleId: VehicleId, frame: Buffer): void {
    // Deleted first, so that a vehicle's turn is that of its newest position.
    this.#positions.delete(vehicleId);
    this.#positions.set(vehicleId, frame);
  }

  /** Writes the waiting positions as one write, unless the peer is slow: then they wait on, and grow no more than the fleet. */
  flushPositions(): void {
    if (this.#positions.size === 0 || this.catchingUp || this.slow || !this.open) return;
    this.#stream.cork();
    for (const frame of this.#positions.values()) this.#stream.write(frame);
    this.#stream.uncork();
    this.#positions.clear();
  }

  /** Forgets positions that wait: the subscription they were for is over. */
  dropPositions(): void {
    this.#positions.clear();
  }

  /** Forgets what waits of one vehicle: the client may no longer see it. */
  dropPosition(vehicleId: VehicleId): void {
    this.#positions.delete(vehicleId);
  }

  /** Writes a message, in order with every other one; all that are sent in one go are one write. */
  send(frame: Buffer): void {
    if (!this.open) return;
    if (!this.#gathering) {
      this.#gathering = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#gathering = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(frame);
    if (this.#stream.writableLength > LOST_ABOVE_BYTES)
      this.socket.close(CLOSE.tooSlow, 'messages are not taken; come back with the last cursor');
  }

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN && this.#stream.writable;
  }

  /** Resolves when the peer took what was sent, or is gone. */
  async drained(): Promise<void> {
    while (this.open && this.slow) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** May this account still be told anything? */
  static mayStay(user: User | undefined): user is User {
    return user !== undefined && !user.blocked;
  }
}
