import type { Clock, CommandOutcome, TerminalCommand, TerminalId, Timer } from '@outrider/domain';
import type { TerminalLink } from '../connection/connected-terminals.ts';
import type { DatagramPeer } from './datagram-peers.ts';

/** Network address translation keeps the return path for a minute or more after a datagram. */
const FRESH_MS = 60_000;
const SWEEP_MS = 5000;
/** Maximum of links per protocol. Beyond it, a terminal gets no commands until others have become silent. */
const MAX_LINKS = 20_000;

interface Parts {
  clock: Clock;
  came(terminalId: TerminalId, link: TerminalLink): void;
  went(terminalId: TerminalId, link: TerminalLink): void;
}

/** Return path to a terminal that sent a datagram recently. */
class DatagramLink implements TerminalLink {
  readonly isLasting = false;
  readonly terminalId: TerminalId;
  readonly address: string;
  readonly #now: () => number;
  readonly #end: () => void;
  peer: DatagramPeer;
  send: (bytes: Buffer) => void;
  lastReceivedMs: number;
  hasRivals = false;

  constructor(
    { peer, address, send }: Contact,
    terminalId: TerminalId,
    { now, end }: { now: () => number; end: () => void },
  ) {
    this.peer = peer;
    this.address = address;
    this.send = send;
    this.terminalId = terminalId;
    this.#now = now;
    this.#end = end;
    this.lastReceivedMs = now();
  }

  get isFresh(): boolean {
    return this.lastReceivedMs > this.#now() - FRESH_MS;
  }

  get takesCommands(): boolean {
    return this.isFresh;
  }

  get isAuthenticated(): boolean {
    return this.peer.check.isAuthenticated;
  }

  command(command: TerminalCommand, timeoutMs: number): Promise<CommandOutcome> {
    if (!this.isFresh) return Promise.resolve({ outcome: 'offline' });
    return this.peer.commands.give(this.peer.session, command, timeoutMs, (bytes) => this.send(bytes));
  }

  supersede(): void {
    this.#end();
  }
}

/** An accepted datagram. */
interface Contact {
  peer: DatagramPeer;
  address: string;
  /** Sends to the origin of the datagram. */
  send(bytes: Buffer): void;
}

/**
 * Terminals that can be sent commands at the address of their newest datagram, while it is fresh. Links are identified
 * by address and port. While a command is unanswered, its session also decodes the following datagrams.
 */
export class DatagramLinks {
  readonly #parts: Parts;
  /** Ordered by last datagram: the link that was silent longest comes first. */
  readonly #links = new Map<string, DatagramLink>();
  readonly #sweeping: Timer;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sweeping = parts.clock.every(SWEEP_MS, () => this.#sweep());
    this.#sweeping.unref();
  }

  note(key: string, contact: Contact, terminalId: TerminalId): void {
    const known = this.#links.get(key);
    if (known !== undefined && known.terminalId === terminalId && known.isFresh) {
      known.lastReceivedMs = this.#parts.clock.now();
      known.send = contact.send;
      if (known.peer.commands.isEmpty) known.peer = contact.peer;
      this.#links.delete(key);
      this.#links.set(key, known);
      return;
    }
    this.end(key);
    if (this.#links.size >= MAX_LINKS) return;
    const link = new DatagramLink(contact, terminalId, { now: this.#parts.clock.now, end: () => this.end(key) });
    this.#links.set(key, link);
    this.#parts.came(terminalId, link);
  }

  /** The peer whose pending command may be answered by the next datagram from this address. */
  waiting(key: string): DatagramPeer | undefined {
    const peer = this.#links.get(key)?.peer;
    return peer?.commands.isEmpty === false ? peer : undefined;
  }

  end(key: string): void {
    const link = this.#links.get(key);
    if (link === undefined) return;
    this.#links.delete(key);
    link.peer.commands.end();
    this.#parts.went(link.terminalId, link);
  }

  close(): void {
    this.#sweeping.cancel();
    for (const key of [...this.#links.keys()]) this.end(key);
  }

  #sweep(): void {
    for (const [key, link] of this.#links) {
      if (link.isFresh) return;
      this.end(key);
    }
  }
}
