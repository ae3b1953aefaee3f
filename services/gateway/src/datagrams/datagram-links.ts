import type { Clock, CommandOutcome, TerminalCommand, TerminalId, Timer } from '@outrider/domain';
import type { TerminalLink } from '../connection/connected-terminals.ts';
import type { DatagramPeer } from './datagram-peers.ts';

/** Networks keep the way back to an address for a minute or more after a datagram. */
const FRESH_MS = 60_000;
const SWEEP_MS = 5000;
/** Links of one protocol: beyond them a terminal gets no commands until others went silent. */
const MAX_LINKS = 20_000;

interface Parts {
  clock: Clock;
  came(terminalId: TerminalId, link: TerminalLink): void;
  went(terminalId: TerminalId, link: TerminalLink): void;
}

/** The way back to a terminal that sent a datagram a short while ago. */
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

/** A datagram that was taken. */
interface Contact {
  peer: DatagramPeer;
  address: string;
  /** To where it came from. */
  send(bytes: Buffer): void;
}

/**
 * Terminals that can be given commands by the address of their newest datagram, while it is fresh. Each is held by
 * address and port; the session of a datagram whose command is unanswered reads the ones that follow it.
 */
export class DatagramLinks {
  readonly #parts: Parts;
  /** The one that was silent longest comes first. */
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

  /** The peer whose command the next datagram of this address may answer. */
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
