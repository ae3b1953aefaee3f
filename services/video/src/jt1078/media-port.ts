import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { sourceOf } from '@outrider/auth';
import { SYSTEM_CLOCK, type TerminalId, terminalIdsOf } from '@outrider/domain';
import { PlaybackReassembler, type StreamMessage } from '@outrider/protocols';
import { ConnectionCounts, type Logger, surviveAcceptErrors } from '@outrider/runtime';

/** Timeout for the first packet of a terminal. */
const FIRST_PACKET_MS = 15_000;
const MAX_CONNECTIONS = 1000;
/** More than the number of concurrent fetches, even if all terminals share one address. */
const MAX_CONNECTIONS_PER_ADDRESS = 300;

/** The connection of an expected stream: paused, with the data received up to now. */
export interface MediaConnection {
  socket: Socket;
  reassembler: PlaybackReassembler;
  messages: StreamMessage[];
}

/** An expected stream. */
export interface Expectation {
  /** Resolves with the first matching connection. */
  connected: Promise<MediaConnection>;
  /** Stops waiting. Later connections are rejected. */
  cancel(): void;
}

/** Reason why a connection was rejected. */
export type TurnedAway = 'not-expected' | 'no-stream' | 'silent' | 'too-many-connections' | 'too-many-of-address';

interface Waiting {
  sinceMs: number;
  connect(connection: MediaConnection): void;
}

/**
 * Port to which terminals send their streams (JT/T 1078). A connection is identified by the number and the channel in
 * its packets. The first connection that matches an expected stream is accepted. It must have been made after the
 * playback was requested, so that the remains of an earlier playback are not mistaken for it.
 */
export class MediaPort {
  readonly port: number;
  readonly #server: Server;
  readonly #waiting = new Map<string, Waiting>();
  readonly #sockets = new Set<Socket>();

  static async open(
    host: string,
    port: number,
    onTurnedAway: (reason: TurnedAway, address: string) => void,
    logger: Logger | undefined,
  ): Promise<MediaPort> {
    let open: MediaPort | null = null;
    const counts = new ConnectionCounts({ total: MAX_CONNECTIONS, perKey: MAX_CONNECTIONS_PER_ADDRESS });
    const server = createServer({ keepAlive: true }, (socket) => {
      if (open === null) return;
      const source = sourceOf(socket.remoteAddress);
      const exceeded = counts.admit(source);
      if (exceeded !== null) {
        onTurnedAway(
          exceeded === 'total' ? 'too-many-connections' : 'too-many-of-address',
          socket.remoteAddress ?? 'unknown',
        );
        socket.destroy();
        return;
      }
      socket.once('close', () => counts.release(source));
      open.#greet(socket, onTurnedAway);
    });
    server.listen({ host, port });
    await once(server, 'listening');
    surviveAcceptErrors(server, logger);
    const address = server.address();
    open = new MediaPort(server, typeof address === 'object' && address !== null ? address.port : port);
    return open;
  }

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  /** @throws {Error} when the same stream is already expected */
  expect(terminalId: TerminalId, channel: number): Expectation {
    const key = keyOf(terminalId, channel);
    if (this.#waiting.has(key)) throw new Error(`the stream of ${key} is waited for already`);
    const { promise, resolve } = Promise.withResolvers<MediaConnection>();
    const waiting: Waiting = {
      sinceMs: SYSTEM_CLOCK.steadyMs(),
      connect: (connection) => {
        this.#waiting.delete(key);
        resolve(connection);
      },
    };
    this.#waiting.set(key, waiting);
    return {
      connected: promise,
      cancel: () => {
        if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
      },
    };
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Finds an expected stream. Packets may contain numbers other than the phone number, as headers of JT/T 808 do. */
  #waitingFor(number: string, channel: number): Waiting | undefined {
    for (const terminalId of terminalIdsOf(number)) {
      const waiting = this.#waiting.get(keyOf(terminalId, channel));
      if (waiting !== undefined) return waiting;
    }
    return undefined;
  }

  #greet(socket: Socket, onTurnedAway: (reason: TurnedAway, address: string) => void): void {
    const connectedMs = SYSTEM_CLOCK.steadyMs();
    const reassembler = new PlaybackReassembler();
    const messages: StreamMessage[] = [];
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // Disconnecting terminals are normal. The stream's reader sees the end.
    socket.on('error', () => {});
    const refuseUpgrade = (reason: TurnedAway) => {
      onTurnedAway(reason, socket.remoteAddress ?? 'unknown');
      socket.destroy();
    };
    const silent = SYSTEM_CLOCK.after(FIRST_PACKET_MS, () => refuseUpgrade('silent'));
    const isOver = () => silent.cancel();
    const receive = (ended: boolean, chunk: Buffer | null) => {
      messages.push(...(chunk === null ? [] : reassembler.push(chunk)), ...(ended ? reassembler.end() : []));
      const [first] = messages;
      if (first === undefined) return ended ? isOver() : undefined;
      isOver();
      socket.off('data', onData);
      socket.off('end', onEnd);
      socket.pause();
      const waiting = first.type === 'source' ? this.#waitingFor(first.terminalId, first.channel) : undefined;
      if (first.type !== 'source') refuseUpgrade('no-stream');
      else if (waiting === undefined || waiting.sinceMs > connectedMs) refuseUpgrade('not-expected');
      else waiting.connect({ socket, reassembler, messages });
    };
    const onData = (chunk: Buffer) => receive(false, chunk);
    const onEnd = () => receive(true, null);
    socket.on('data', onData);
    socket.on('end', onEnd);
    socket.on('close', isOver);
  }
}

function keyOf(terminalId: TerminalId, channel: number): string {
  return `${terminalId}/${channel}`;
}
