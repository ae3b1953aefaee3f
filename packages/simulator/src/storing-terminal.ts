import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator, SimulatorReply } from '@outrider/protocols';
import { StoredPositions } from './stored-positions.ts';
import type { TerminalClient, TerminalStats } from './terminal-client.ts';

/** What a terminal is given, whatever it sends over. */
export interface StoringTerminalOptions {
  host: string;
  port: number;
  terminalId: TerminalId;
  createSimulator: CreateSimulator;
  /** Default 10,000. */
  maxStoredPositions?: number;
  /** Called for each command of the server. @returns whether the terminal does it; default: it does all */
  onCommand?: (text: string) => boolean;
}

/** A terminal with a store, without what it sends over. */
export abstract class StoringTerminal implements TerminalClient {
  readonly terminalId: TerminalId;
  protected readonly store: StoredPositions;
  protected welcomed = false;
  /** How many positions each packet holds that is under way, oldest first. */
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

  /** What is under way may not have arrived: all that is stored is sent again. */
  protected beginAgain(): void {
    this.welcomed = false;
    this.underWay = [];
    this.store.rewind();
    this.expectNothing();
  }

  /** Sends what it can. */
  protected abstract pump(): void;
  protected abstract say(bytes: Buffer): void;
  protected abstract hangUp(): Promise<void> | void;
  /** Waits no longer for an answer. */
  protected abstract expectNothing(): void;
  /** The server refused; {@link lastFailure} says why. */
  protected abstract refused(): void;
  /** Something arrived. */
  protected abstract acknowledged(): void;
  /** An acknowledgement came while nothing was under way. */
  protected abstract nothingAcknowledged(): void;
}
