import { connect, type Socket } from 'node:net';
import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '@outrider/protocols';
import { StoredPositions } from './stored-positions.ts';

/** How a terminal is doing. Counts are of positions unless they say otherwise. */
export interface TerminalStats {
  /** Connected, and taken in by the server. */
  online: boolean;
  /** Recorded and not yet acknowledged. */
  stored: number;
  acknowledged: number;
  acknowledgedPackets: number;
  /** Lost because the store was full: the oldest go first. */
  dropped: number;
  /** How often a connection was made. */
  connections: number;
  /** What the server, or the network, last said against it. */
  lastFailure: string | null;
}

/** A terminal with a store of its own: what it records is kept until the server acknowledges it. */
export interface TerminalClient {
  readonly terminalId: TerminalId;
  /** Records positions and sends them as soon as it can. Never waits. */
  record(positions: readonly Position[]): void;
  stats(): TerminalStats;
  /** Resolves when all that was recorded up to now, and after, is acknowledged; at once when nothing is stored. */
  settled(): Promise<void>;
  /** Hangs up. What is stored is forgotten; those who wait for {@link settled} go on waiting no longer: it rejects. */
  close(): Promise<void>;
}

export interface TcpTerminalOptions {
  host: string;
  port: number;
  terminalId: TerminalId;
  createSimulator: CreateSimulator;
  /** At most this many positions in a packet; default what the protocol allows. */
  positionsPerPacket?: number;
  /** The order of the positions in a packet; many terminals send the newest first. Default `oldest-first`. */
  packetOrder?: 'oldest-first' | 'newest-first';
  /** Packets under way at a time. Real terminals wait for each: default 1. */
  windowPackets?: number;
  /** Default 10,000. */
  maxStoredPositions?: number;
  /** Waiting between attempts, doubled from the first to the last; default 250 ms to 15 s. */
  backoffMs?: readonly [first: number, last: number];
  /** A server that owes an answer for longer is hung up on; default 20 s. */
  replyTimeoutMs?: number;
  /** Spreads the attempts of many terminals; default `Math.random`. */
  random?: () => number;
}

/** A terminal over TCP. It begins to connect at once, and again whenever the connection ends, until it is closed. */
export function createTcpTerminal(options: TcpTerminalOptions): TerminalClient {
  return new TcpTerminal(options);
}

class TcpTerminal implements TerminalClient {
  readonly terminalId: TerminalId;
  readonly #options: TcpTerminalOptions;
  readonly #store: StoredPositions;
  readonly #random: () => number;
  readonly #firstBackoffMs: number;
  readonly #lastBackoffMs: number;
  #backoffMs: number;
  #socket: Socket | null = null;
  #simulator: TerminalSimulator | null = null;
  #welcomed = false;
  /** How many positions each packet holds that is under way, oldest first. */
  #underWay: number[] = [];
  #retry: NodeJS.Timeout | null = null;
  #patience: NodeJS.Timeout | null = null;
  #acknowledgedPackets = 0;
  #connections = 0;
  #lastFailure: string | null = null;
  #closed = false;

  constructor(options: TcpTerminalOptions) {
    this.terminalId = options.terminalId;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    [this.#firstBackoffMs, this.#lastBackoffMs] = options.backoffMs ?? [250, 15_000];
    this.#backoffMs = this.#firstBackoffMs;
    this.#store = new StoredPositions(options.maxStoredPositions ?? 10_000);
    this.#connect();
  }

  record(positions: readonly Position[]): void {
    this.#store.add(positions);
    this.#pump();
  }

  stats(): TerminalStats {
    return {
      online: this.#welcomed,
      stored: this.#store.size,
      acknowledged: this.#store.acknowledged,
      acknowledgedPackets: this.#acknowledgedPackets,
      dropped: this.#store.dropped,
      connections: this.#connections,
      lastFailure: this.#lastFailure,
    };
  }

  settled(): Promise<void> {
    return this.#store.emptied();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    this.#expectNothing();
    const socket = this.#socket;
    if (socket && !socket.destroyed) {
      const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.destroySoon();
      await gone;
    }
    this.#store.abandon(new Error(`terminal ${this.terminalId} was closed`));
  }

  #connect(): void {
    const { host, port, createSimulator } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    const simulator = createSimulator(this.terminalId);
    this.#socket = socket;
    socket.on('connect', () => {
      this.#connections++;
      this.#simulator = simulator;
      const hello = simulator.hello();
      if (hello) {
        socket.write(hello);
        this.#expectReply();
      } else {
        this.#welcomed = true;
        this.#pump();
      }
    });
    socket.on('data', (chunk: Buffer) => {
      for (const reply of simulator.receive(chunk)) this.#receive(reply);
    });
    // The server went: what it did not acknowledge is sent again.
    socket.on('end', () => socket.destroy());
    socket.on('error', (error) => {
      this.#lastFailure = error.message;
    });
    socket.on('close', () => this.#disconnected());
  }

  #disconnected(): void {
    this.#socket = null;
    this.#simulator = null;
    this.#welcomed = false;
    this.#underWay = [];
    this.#store.rewind();
    this.#expectNothing();
    if (this.#closed) return;
    this.#retry = setTimeout(() => this.#connect(), this.#backoffMs * (0.5 + this.#random() / 2));
    this.#backoffMs = Math.min(this.#lastBackoffMs, this.#backoffMs * 2);
  }

  #receive(reply: SimulatorReply): void {
    if (reply.type === 'refused') {
      this.#lastFailure = reply.detail;
      this.#socket?.destroy();
      return;
    }
    if (reply.type === 'welcome') {
      this.#welcomed = true;
    } else {
      const count = this.#underWay.shift();
      if (count === undefined) {
        this.#lastFailure = 'an acknowledgement of nothing';
        this.#socket?.destroy();
        return;
      }
      this.#acknowledgedPackets++;
      this.#backoffMs = this.#firstBackoffMs;
      this.#store.acknowledge(count);
    }
    this.#expectNothing();
    this.#pump();
    if (this.#underWay.length > 0) this.#expectReply();
  }

  /** Sends as many packets as the window has space for. */
  #pump(): void {
    const simulator = this.#simulator;
    const socket = this.#socket;
    if (!this.#welcomed || !simulator || !socket || socket.destroyed) return;
    const perPacket = Math.min(this.#options.positionsPerPacket ?? Infinity, simulator.maxPositionsPerPacket);
    while (this.#underWay.length < (this.#options.windowPackets ?? 1)) {
      const positions = this.#store.take(perPacket);
      if (positions.length === 0) return;
      this.#underWay.push(positions.length);
      const newestFirst = this.#options.packetOrder === 'newest-first';
      socket.write(simulator.encode(newestFirst ? positions.toReversed() : positions));
      this.#expectReply();
    }
  }

  #expectReply(): void {
    this.#patience ??= setTimeout(() => {
      this.#lastFailure = 'no answer in time';
      this.#socket?.destroy();
    }, this.#options.replyTimeoutMs ?? 20_000);
  }

  #expectNothing(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
  }
}
