import type { TerminalId } from '@outrider/domain';
import type { Session } from '@outrider/protocols';
import type { Admission, NotAdmitted, Slot } from '../admission.ts';
import type { PendingCommands } from '../connection/pending-commands.ts';
import type { TerminalCheck } from '../terminal-check.ts';

/** Maximum of remembered addresses per terminal: a mobile network gives it a new one from time to time. */
const MAX_PER_TERMINAL = 4;

/** State of a terminal at an address. */
export interface DatagramPeer {
  readonly session: Session;
  /** Null before identification. */
  terminalId: TerminalId | null;
  registration: string | null;
  readonly check: TerminalCheck;
  readonly commands: PendingCommands;
}

interface Remembered {
  peer: DatagramPeer;
  terminalId: TerminalId;
  slot: Slot;
  usedMs: number;
}

/**
 * Terminals that logged in over UDP, by address and port. The one that was silent longest is forgotten first: it logs
 * in again when it gets no answer.
 */
export class DatagramPeers {
  readonly #admission: Admission;
  readonly #idleMs: number;
  readonly #now: () => number;
  /** Ordered by last datagram: the peer that was silent longest comes first. */
  readonly #peers = new Map<string, Remembered>();
  readonly #byTerminal = new Map<TerminalId, Set<string>>();

  constructor(parts: { admission: Admission; idleMs: number; now(): number }) {
    this.#admission = parts.admission;
    this.#idleMs = parts.idleMs;
    this.#now = parts.now;
  }

  get size(): number {
    return this.#peers.size;
  }

  of(key: string): DatagramPeer | undefined {
    this.#forgetIdle();
    const remembered = this.#peers.get(key);
    if (remembered === undefined) return undefined;
    remembered.usedMs = this.#now();
    this.#peers.delete(key);
    this.#peers.set(key, remembered);
    return remembered.peer;
  }

  /** @returns why the peer can't be remembered; null if it is */
  remember(key: string, address: string, peer: DatagramPeer, terminalId: TerminalId): NotAdmitted | null {
    this.forget(key);
    let slot = this.#admission.admit(address);
    if (slot === 'too-many-connections') {
      this.#forgetOldest();
      slot = this.#admission.admit(address);
    }
    if (typeof slot === 'string') return slot;
    slot.identified();
    this.#peers.set(key, { peer, terminalId, slot, usedMs: this.#now() });
    const keys = this.#byTerminal.get(terminalId) ?? new Set();
    this.#byTerminal.set(terminalId, keys);
    keys.add(key);
    const [oldest] = keys;
    if (keys.size > MAX_PER_TERMINAL && oldest !== undefined) this.forget(oldest);
    return null;
  }

  forget(key: string): void {
    const remembered = this.#peers.get(key);
    if (remembered === undefined) return;
    this.#peers.delete(key);
    remembered.slot.release();
    const keys = this.#byTerminal.get(remembered.terminalId);
    keys?.delete(key);
    if (keys?.size === 0) this.#byTerminal.delete(remembered.terminalId);
  }

  #forgetIdle(): void {
    const sinceMs = this.#now() - this.#idleMs;
    for (const [key, { usedMs }] of this.#peers) {
      if (usedMs >= sinceMs) return;
      this.forget(key);
    }
  }

  #forgetOldest(): void {
    for (const key of this.#peers.keys()) {
      this.forget(key);
      return;
    }
  }
}
