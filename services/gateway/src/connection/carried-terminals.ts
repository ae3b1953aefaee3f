import type { CommandOutcome, TerminalAccess, TerminalId } from '@outrider/domain';
import type { TerminalLink } from './connected-terminals.ts';

/** Terminals of one connection, at most: beyond it, the one that was silent longest counts as disconnected. */
const MAX_CARRIED = 20_000;
/** Dropped terminals of one connection that are reported, at most. */
const MAX_DROPPED = 1000;

/** What becomes of the terminals of a connection. */
export interface CarriedContext {
  idleTimeoutMs: number;
  onCarried(terminalId: TerminalId, link: TerminalLink): void;
  onCarriedEnd(terminalId: TerminalId, link: TerminalLink): void;
}

/** One of the terminals of a connection. It takes no commands: the platform that forwards it would get them. */
class CarriedTerminal implements TerminalLink {
  readonly takesCommands = false;
  readonly address: string;
  readonly #end: () => void;
  isAuthenticated = false;
  hasRivals = false;
  lastReceivedMs = 0;
  /** The access settings that it was checked against. */
  checkedAccess: TerminalAccess | null = null;

  constructor(address: string, end: () => void) {
    this.address = address;
    this.#end = end;
  }

  /** The connection goes on for the others. */
  supersede(): void {
    this.#end();
  }

  command(): Promise<CommandOutcome> {
    return Promise.resolve({ outcome: 'unsupported' });
  }
}

/**
 * The terminals whose data comes by one connection, as that of a platform that forwards its vehicles. Each counts as
 * connected while it sends.
 */
export class CarriedTerminals {
  readonly #address: string;
  readonly #context: CarriedContext;
  /** The one that was silent longest comes first. */
  readonly #terminals = new Map<TerminalId, CarriedTerminal>();
  readonly #dropped = new Set<TerminalId>();

  constructor(address: string, context: CarriedContext) {
    this.#address = address;
    this.#context = context;
  }

  get(terminalId: TerminalId): Readonly<CarriedTerminal> | undefined {
    return this.#terminals.get(terminalId);
  }

  /** The terminal was checked and may send. */
  allow(terminalId: TerminalId, access: TerminalAccess, isAuthenticated: boolean, nowMs: number): void {
    const terminal = this.#terminals.get(terminalId) ?? new CarriedTerminal(this.#address, () => this.end(terminalId));
    terminal.checkedAccess = access;
    terminal.isAuthenticated = isAuthenticated;
    terminal.lastReceivedMs = nowMs;
    if (this.#terminals.has(terminalId)) return;
    this.#terminals.set(terminalId, terminal);
    this.#dropped.delete(terminalId);
    this.#context.onCarried(terminalId, terminal);
  }

  /** Data of the terminal came; those that have been silent for the idle time are no longer connected. */
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

  /** Is it the first packet of the terminal that was dropped? */
  isFirstDropped(terminalId: TerminalId): boolean {
    if (this.#dropped.has(terminalId) || this.#dropped.size >= MAX_DROPPED) return false;
    this.#dropped.add(terminalId);
    return true;
  }

  close(): void {
    for (const terminalId of [...this.#terminals.keys()]) this.end(terminalId);
  }
}
