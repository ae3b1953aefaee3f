import { randomUUID } from 'node:crypto';
import type { ProtocolName, TerminalId } from '@outrider/domain';
import { type ConnectionChange, GATEWAY_KEPT_MS, type Hub, type TerminalConnection } from '@outrider/hub';
import type { Connection } from './connection.ts';

/** Terminals that come and go within this time are noted together: after an outage all come at once. */
const GATHER_MS = 200;
/** Changes in one call. */
const CHANGES_AT_ONCE = 1000;

/** The terminals that are connected to this gateway, each by its latest connection; the hub is kept informed of them. */
export class ConnectedTerminals {
  readonly #hub: Pick<Hub, 'noteConnections'>;
  readonly #onError: (error: unknown) => void;
  /** Of this run: what a former one noted ends with it. */
  readonly #gateway = randomUUID();
  readonly #connected = new Map<TerminalId, { connection: Connection; noted: TerminalConnection }>();
  #changed = new Set<TerminalId>();
  #noting: Promise<void> = Promise.resolve();
  #gathering: NodeJS.Timeout | null = null;
  #renewing: NodeJS.Timeout | null = null;

  constructor(hub: Pick<Hub, 'noteConnections'>, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#onError = onError;
  }

  start(): void {
    this.#renewing = setInterval(() => this.#note(), GATEWAY_KEPT_MS / 3);
    this.#renewing.unref();
  }

  /** The latest connection of a terminal. */
  of(terminalId: TerminalId): Connection | undefined {
    return this.#connected.get(terminalId)?.connection;
  }

  /** Terminals that take commands. */
  *commandable(): Generator<TerminalId> {
    for (const [terminalId, { connection }] of this.#connected) if (connection.takesCommands) yield terminalId;
  }

  came(terminalId: TerminalId, connection: Connection, protocol: ProtocolName, nowMs: number): void {
    this.#connected.set(terminalId, { connection, noted: { protocol, address: connection.address, sinceMs: nowMs } });
    this.#noteSoon(terminalId);
  }

  /** @returns false where the terminal has another connection by now */
  went(terminalId: TerminalId, connection: Connection): boolean {
    if (this.of(terminalId) !== connection) return false;
    this.#connected.delete(terminalId);
    this.#noteSoon(terminalId);
    return true;
  }

  /** All terminals are gone. */
  async close(): Promise<void> {
    if (this.#renewing !== null) clearInterval(this.#renewing);
    for (const terminalId of this.#connected.keys()) this.#changed.add(terminalId);
    this.#connected.clear();
    await this.#note();
  }

  #noteSoon(terminalId: TerminalId): void {
    this.#changed.add(terminalId);
    this.#gathering ??= setTimeout(() => this.#note(), GATHER_MS);
  }

  /** One call after the other, so that none overtakes an earlier one. */
  #note(): Promise<void> {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    this.#noting = this.#noting.then(() => this.#noteChanged()).catch(this.#onError);
    return this.#noting;
  }

  async #noteChanged(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed = new Set();
    try {
      for (let from = 0; from === 0 || from < changed.length; from += CHANGES_AT_ONCE) {
        const changes = changed.slice(from, from + CHANGES_AT_ONCE).map((terminalId): ConnectionChange => {
          return { terminalId, connection: this.#connected.get(terminalId)?.noted ?? null };
        });
        // A hub that lost what it knew is given everything again.
        const isKnown = await this.#hub.noteConnections(this.#gateway, changes);
        if (!isKnown) for (const terminalId of this.#connected.keys()) this.#noteSoon(terminalId);
      }
    } catch (error) {
      for (const terminalId of changed) this.#changed.add(terminalId);
      throw error;
    }
  }
}
