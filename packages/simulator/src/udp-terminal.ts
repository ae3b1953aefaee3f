import { createSocket, type Socket } from 'node:dgram';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { TerminalSimulator } from '@outrider/protocols';
import { StoringTerminal, type StoringTerminalOptions } from './storing-terminal.ts';
import type { TerminalClient } from './terminal-client.ts';

export interface UdpTerminalOptions extends StoringTerminalOptions {
  /** Maximum number of positions in a datagram; default 10, which fits into one IP packet. */
  positionsPerPacket?: number;
  /** First and maximum delay before an unanswered datagram is sent again; it doubles after each. Default: 1 to 15 s. */
  retryMs?: readonly [first: number, last: number];
}

/**
 * A terminal over UDP: it repeats a datagram until that is acknowledged, then sends the next. Each attempt uses a new
 * port, as behind a network that reassigns addresses. This prevents an answer to an earlier attempt from being mistaken
 * for that to a later datagram.
 */
export function createUdpTerminal(options: UdpTerminalOptions): TerminalClient {
  return new UdpTerminal(options);
}

const POSITIONS_PER_PACKET = 10;
const RETRY_MS = [1000, 15_000] as const;

class UdpTerminal extends StoringTerminal {
  readonly #options: UdpTerminalOptions;
  readonly #firstRetryMs: number;
  readonly #lastRetryMs: number;
  #socket: Socket;
  #simulator: TerminalSimulator;
  #retryMs: number;
  #retry: Timer | null = null;

  constructor(options: UdpTerminalOptions) {
    super(options);
    this.#options = options;
    [this.#firstRetryMs, this.#lastRetryMs] = options.retryMs ?? RETRY_MS;
    this.#retryMs = this.#firstRetryMs;
    [this.#socket, this.#simulator] = this.#begin();
  }

  #begin(): [Socket, TerminalSimulator] {
    const socket = createSocket(this.#options.host.includes(':') ? 'udp6' : 'udp4');
    const simulator = this.#options.createSimulator(this.terminalId);
    this.connections++;
    socket.on('message', (bytes) => {
      if (socket !== this.#socket) return;
      for (const reply of simulator.receive(bytes)) this.receive(reply);
    });
    socket.on('error', (error) => {
      this.lastFailure = error.message;
    });
    const hello = simulator.hello();
    this.welcomed = hello === null;
    if (hello !== null) this.#send(socket, hello);
    return [socket, simulator];
  }

  /** Sends the next datagram, unless one is in flight. */
  protected override pump(): void {
    if (!this.welcomed || this.underWay.length > 0 || this.closed) return;
    const { positionsPerPacket = POSITIONS_PER_PACKET } = this.#options;
    const positions = this.store.take(Math.min(positionsPerPacket, this.#simulator.maxPositionsPerPacket));
    if (positions.length === 0) return;
    this.underWay.push(positions.length);
    this.#send(this.#socket, this.#simulator.encode(positions));
  }

  protected override say(bytes: Buffer): void {
    this.#socket.send(bytes, this.#options.port, this.#options.host, () => {});
  }

  protected override hangUp(): Promise<void> {
    return new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  /** Keeps trying, like a terminal whose server is still being set up. */
  protected override refused(): void {}

  protected override acknowledged(): void {
    this.#retryMs = this.#firstRetryMs;
  }

  /** Ignored: a datagram that was received twice is acknowledged twice. */
  protected override nothingAcknowledged(): void {}

  #send(socket: Socket, bytes: Buffer): void {
    const { port, host } = this.#options;
    socket.send(bytes, port, host, (error) => {
      if (error) this.lastFailure = error.message;
    });
    this.#retry ??= SYSTEM_CLOCK.after(this.#retryMs, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.lastFailure = 'no answer in time';
    this.#retryMs = Math.min(this.#lastRetryMs, this.#retryMs * 2);
    this.#socket.close();
    this.beginAgain();
    [this.#socket, this.#simulator] = this.#begin();
    this.pump();
  }

  protected override expectNothing(): void {
    this.#retry?.cancel();
    this.#retry = null;
  }
}
