import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator, SimulatorReply } from '@outrider/protocols';
import { StoredPositions } from './stored-positions.ts';
import type { TerminalClient, TerminalStats } from './terminal-client.ts';

/** Options of a terminal over any transport. */
export interface StoringTerminalOptions {
  host: string;
  port: number;
  terminalId: TerminalId;
  createSimulator: CreateSimulator;
  /** Default 10,000. */
  maxStoredPositions?: number;
  /** Called for each command of the server. @returns whether the terminal executes it; default: it executes all */
  onCommand?: (text: string) => boolean;
}

/** A terminal with a store, without a transport. */
export abstract class StoringTerminal implements TerminalClient {
  readonly terminalId: TerminalId;
  protected readonly store: StoredPositions;
  protected welcomed = false;
  /** Number of positions in each packet in flight, oldest first. */
  protected underWay: number[] = [];
  protected connections = 0;
  protected lastFailure: string | null = null;
  protected closed = false;
  readonly #onCommand: (text: string) => boolean;
  #acknowledgedPackets = 0;

  constructor({ terminalId, maxStoredPositions = 10_000, onCommand = () => true }: StoringTerminalOptions) {
    this.terminalId = terminalId;
    this.store = new StoredPositions(maxStoredPositions);
    this.#onCommand = onCommand;
  }

  record(positions: readonly Position[]): void {
    this.store.add(positions);
    this.pump();
  }

  stats(): TerminalStats {
    return {
      online: this.welcomed,
      stored: this.store.size,
      acknowledged: this.store.acknowledged,
      acknowledgedPackets: this.#acknowledgedPackets,
      dropped: this.store.dropped,
      connections: this.connections,
      lastFailure: this.lastFailure,
    };
  }

  settled(): Promise<void> {
    return this.store.emptied();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.expectNothing();
    await this.hangUp();
    this.store.abandon(new Error(`terminal ${this.terminalId} was closed`));
  }

  protected receive(reply: SimulatorReply): void {
    if (this.closed) return;
    switch (reply.type) {
      case 'refused':
        this.lastFailure = reply.detail;
        return this.refused();
      case 'command': {
        const answer = reply.answer(this.#onCommand(reply.text));
        if (answer !== null) this.say(answer);
        return;
      }
      case 'welcome':
        this.welcomed = true;
        break;
      case 'ack': {
        const count = this.underWay.shift();
        if (count === undefined) return this.nothingAcknowledged();
        this.#acknowledgedPackets++;
        this.store.acknowledge(count);
        this.acknowledged();
      }
    }
    this.expectNothing();
    this.pump();
  }

  /** Packets in flight may have been lost: all stored positions are sent again. */
  protected beginAgain(): void {
    this.welcomed = false;
    this.underWay = [];
    this.store.rewind();
    this.expectNothing();
  }

  /** Sends as much as currently possible. */
  protected abstract pump(): void;
  protected abstract say(bytes: Buffer): void;
  protected abstract hangUp(): Promise<void> | void;
  /** Cancels the wait for an answer. */
  protected abstract expectNothing(): void;
  /** Called when the server refused the terminal; {@link lastFailure} holds the reason. */
  protected abstract refused(): void;
  /** Called when an acknowledgement arrived. */
  protected abstract acknowledged(): void;
  /** Called when an acknowledgement arrived while nothing was in flight. */
  protected abstract nothingAcknowledged(): void;
}
