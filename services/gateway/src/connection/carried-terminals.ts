import type { CommandOutcome, TerminalId } from '@outrider/domain';
import type { TerminalCheck } from '../terminal-check.ts';
import type { TerminalLink } from './connected-terminals.ts';

/** Maximum of terminals per connection. Beyond it, the one that was silent longest counts as disconnected. */
const MAX_CARRIED = 20_000;
/** Maximum of dropped terminals per connection that are reported. */
const MAX_DROPPED = 1000;

/** Events and settings of the terminals of a connection. */
export interface CarriedContext {
  idleTimeoutMs: number;
  onCarried(terminalId: TerminalId, link: TerminalLink): void;
  onCarriedEnd(terminalId: TerminalId, link: TerminalLink): void;
}

/** A terminal among several of a connection. It takes no commands, because the forwarding platform would get them. */
class CarriedTerminal implements TerminalLink {
  readonly takesCommands = false;
  readonly address: string;
  readonly check: TerminalCheck;
  readonly #end: () => void;
  hasRivals = false;
  lastReceivedMs: number;

  constructor(address: string, check: TerminalCheck, nowMs: number, end: () => void) {
    this.address = address;
    this.check = check;
    this.lastReceivedMs = nowMs;
    this.#end = end;
  }

  get isAuthenticated(): boolean {
    return this.check.isAuthenticated;
  }

  /** Ends the terminal only: the connection stays open for the others. */
  supersede(): void {
    this.#end();
  }

  command(): Promise<CommandOutcome> {
    return Promise.resolve({ outcome: 'unsupported' });
  }
}

/**
 * The terminals that share one connection, such as that of a platform that forwards the data of its vehicles. A
 * terminal counts as connected while it sends.
 */
export class CarriedTerminals {
  readonly #address: string;
  readonly #context: CarriedContext;
  /** Ordered by last data: the terminal that was silent longest comes first. */
  readonly #terminals = new Map<TerminalId, CarriedTerminal>();
  readonly #dropped = new Set<TerminalId>();

  constructor(address: string, context: CarriedContext) {
    this.#address = address;
    this.#context = context;
  }

  get(terminalId: TerminalId): Readonly<CarriedTerminal> | undefined {
    return this.#terminals.get(terminalId);
  }

  /** Adds a terminal that passed its check. */
  add(terminalId: TerminalId, check: TerminalCheck, nowMs: number): void {
    const terminal = new CarriedTerminal(this.#address, check, nowMs, () => this.end(terminalId));
    this.#terminals.set(terminalId, terminal);
    this.#dropped.delete(terminalId);
    this.#context.onCarried(terminalId, terminal);
  }

  /** Records data of a terminal, and ends terminals that have been silent for the idle time. */
  note(terminalId: TerminalId, nowMs: number): void {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) return;
    terminal.lastReceivedMs = nowMs;
    this.#terminals.delete(terminalId);
    this.#terminals.set(terminalId, terminal);
    for (const [silentId, { lastReceivedMs }] of this.#terminals) {
      const isIdle = lastReceivedMs < nowMs - this.#context.idleTimeoutMs;
      if (!isIdle && this.#terminals.size <= MAX_CARRIED) break;
      this.end(silentId);
    }
  }

  end(terminalId: TerminalId): void {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) return;
    this.#terminals.delete(terminalId);
    this.#context.onCarriedEnd(terminalId, terminal);
  }

  /** Whether the next dropped packet of the terminal is its first. */
  isFirstDropped(terminalId: TerminalId): boolean {
    return !this.#dropped.has(terminalId) && this.#dropped.size < MAX_DROPPED;
  }

  noteDropped(terminalId: TerminalId): void {
    if (this.#dropped.size < MAX_DROPPED) this.#dropped.add(terminalId);
  }

  close(): void {
    for (const terminalId of [...this.#terminals.keys()]) this.end(terminalId);
  }
}
