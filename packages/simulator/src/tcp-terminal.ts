import { connect, type Socket } from 'node:net';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { TerminalSimulator } from '@outrider/protocols';
import { StoringTerminal, type StoringTerminalOptions } from './storing-terminal.ts';
import type { TerminalClient } from './terminal-client.ts';

export interface TcpTerminalOptions extends StoringTerminalOptions {
  /** Maximum number of positions in a packet; default: the protocol's maximum. */
  positionsPerPacket?: number;
  /** The order of the positions in a packet; many terminals send the newest first. Default `oldest-first`. */
  packetOrder?: 'oldest-first' | 'newest-first';
  /** Maximum number of packets in flight. Default 1, because real terminals wait for each. */
  windowPackets?: number;
  /** First and maximum delay between attempts; it doubles after each. Default: 250 ms to 15 s. */
  backoffMs?: readonly [first: number, last: number];
  /** Maximum time to wait for an answer before the connection is closed; default 20 s. */
  replyTimeoutMs?: number;
  /** Random numbers that spread the attempts of many terminals; default `Math.random`. */
  random?: () => number;
}

/** Creates a terminal over TCP. It connects at once, and again whenever the connection ends, until it is closed. */
export function createTcpTerminal(options: TcpTerminalOptions): TerminalClient {
  return new TcpTerminal(options);
}

class TcpTerminal extends StoringTerminal {
  readonly #options: TcpTerminalOptions;
  readonly #random: () => number;
  readonly #firstBackoffMs: number;
  readonly #lastBackoffMs: number;
  #backoffMs: number;
  #socket: Socket | null = null;
  #simulator: TerminalSimulator | null = null;
  #retry: Timer | null = null;
  #patience: Timer | null = null;

  constructor(options: TcpTerminalOptions) {
    super(options);
    this.#options = options;
    this.#random = options.random ?? Math.random;
    [this.#firstBackoffMs, this.#lastBackoffMs] = options.backoffMs ?? [250, 15_000];
    this.#backoffMs = this.#firstBackoffMs;
    this.#connect();
  }

  #connect(): void {
    const { host, port, createSimulator } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    const simulator = createSimulator(this.terminalId);
    this.#socket = socket;
    socket.on('connect', () => {
      this.connections++;
      this.#simulator = simulator;
      const hello = simulator.hello();
      if (hello) {
        socket.write(hello);
        this.#expectReply();
      } else {
        this.welcomed = true;
        this.pump();
      }
    });
    socket.on('data', (chunk: Buffer) => {
      for (const reply of simulator.receive(chunk)) this.receive(reply);
    });
    // The server closed the connection: unacknowledged positions are sent again.
    socket.on('end', () => socket.destroy());
    socket.on('error', (error) => {
      this.lastFailure = error.message;
    });
    socket.on('close', () => this.#disconnected());
  }

  #disconnected(): void {
    this.#socket = null;
    this.#simulator = null;
    this.beginAgain();
    if (this.closed) return;
    this.#retry = SYSTEM_CLOCK.after(this.#backoffMs * (0.5 + this.#random() / 2), () => this.#connect());
    this.#backoffMs = Math.min(this.#lastBackoffMs, this.#backoffMs * 2);
  }

  /** Sends as many packets as the window has space for. */
  protected override pump(): void {
    const simulator = this.#simulator;
    const socket = this.#socket;
    if (!this.welcomed || !simulator || !socket || socket.destroyed) return;
    const perPacket = Math.min(this.#options.positionsPerPacket ?? Infinity, simulator.maxPositionsPerPacket);
    while (this.underWay.length < (this.#options.windowPackets ?? 1)) {
      const positions = this.store.take(perPacket);
      if (positions.length === 0) break;
      this.underWay.push(positions.length);
      const newestFirst = this.#options.packetOrder === 'newest-first';
      const packet = simulator.encode(newestFirst ? positions.toReversed() : positions);
      if (simulator.isUnacknowledged)
        socket.write(packet, (error) => {
          if (!error && socket === this.#socket) this.receive({ type: 'ack' });
        });
      else socket.write(packet);
    }
    if (this.underWay.length > 0 && !simulator.isUnacknowledged) this.#expectReply();
  }

  protected override say(bytes: Buffer): void {
    this.#socket?.write(bytes);
  }

  protected override async hangUp(): Promise<void> {
    this.#retry?.cancel();
    const socket = this.#socket;
    if (!socket || socket.destroyed) return;
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.destroySoon();
    await gone;
  }

  protected override refused(): void {
    this.#socket?.destroy();
  }

  protected override acknowledged(): void {
    this.#backoffMs = this.#firstBackoffMs;
  }

  protected override nothingAcknowledged(): void {
    this.lastFailure = 'an acknowledgement of nothing';
    this.#socket?.destroy();
  }

  #expectReply(): void {
    this.#patience ??= SYSTEM_CLOCK.after(this.#options.replyTimeoutMs ?? 20_000, () => {
      this.lastFailure = 'no answer in time';
      this.#socket?.destroy();
    });
  }

  protected override expectNothing(): void {
    this.#patience?.cancel();
    this.#patience = null;
  }
}
