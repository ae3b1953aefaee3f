import type { Socket } from 'node:net';
import { sourceOf } from '@outrider/auth';
import { type ConnectionBounds, ConnectionCounts } from '@outrider/runtime';

/** Reason why a connection is closed before any byte of it is read. */
export type NotAdmitted = 'too-many-connections' | 'too-many-of-address' | 'too-many-unidentified';

/** One in this many of an address's connections may be unidentified at a time. */
const UNIDENTIFIED_PART = 6;
const MIN_UNIDENTIFIED = 50;

/** One of a listener's connection slots. */
export interface Slot {
  /** To be called when the terminal has identified itself. */
  identified(): void;
  /** To be called when the connection is closed. */
  release(): void;
}

/**
 * The slots of a server's connections, by address and port of the peer, because a TLS socket and its underlying socket
 * are different objects.
 */
export class SlotsByPeer {
  readonly #slots = new Map<string, { slot: Slot; isTaken: boolean }>();

  /** Releases the slot when the socket closes, unless it is {@link take}n before. */
  hold(socket: Socket, slot: Slot): void {
    const peer = peerOf(socket);
    const held = { slot, isTaken: false };
    this.#slots.set(peer, held);
    socket.once('close', () => {
      // Two proxies may have reported the same peer for two connections.
      if (this.#slots.get(peer) === held) this.#slots.delete(peer);
      if (!held.isTaken) slot.release();
    });
  }

  of(socket: Socket): Slot | undefined {
    return this.#slots.get(peerOf(socket))?.slot;
  }

  /** Takes the slot of the connection, which the caller has to release. */
  take(socket: Socket): Slot | undefined {
    const peer = peerOf(socket);
    const held = this.#slots.get(peer);
    if (held === undefined) return undefined;
    this.#slots.delete(peer);
    held.isTaken = true;
    return held.slot;
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * Limits the connections of one listener: in total, per address, and per address those whose terminal has not
 * identified itself. One address can neither take all slots, nor more than a few without knowing a terminal's id.
 */
export class Admission {
  readonly #open: ConnectionCounts;
  readonly #unidentified: ConnectionCounts;

  constructor(bounds: ConnectionBounds) {
    this.#open = new ConnectionCounts(bounds);
    const perKey = Math.max(MIN_UNIDENTIFIED, Math.ceil(bounds.perKey / UNIDENTIFIED_PART));
    this.#unidentified = new ConnectionCounts({ total: bounds.total, perKey });
  }

  admit(remoteAddress: string | undefined): Slot | NotAdmitted {
    const source = sourceOf(remoteAddress);
    const exceeded = this.#open.admit(source);
    if (exceeded !== null) return exceeded === 'total' ? 'too-many-connections' : 'too-many-of-address';
    if (this.#unidentified.admit(source) !== null) {
      this.#open.release(source);
      return 'too-many-unidentified';
    }
    let isUnidentified = true;
    const identified = () => {
      if (isUnidentified) this.#unidentified.release(source);
      isUnidentified = false;
    };
    return {
      identified,
      release: () => {
        identified();
        this.#open.release(source);
      },
    };
  }
}
