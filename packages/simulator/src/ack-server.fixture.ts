import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Position } from '@outrider/domain';
import type { Protocol } from '@outrider/protocols';

/** A server for tests that takes what terminals send, by a protocol's own codec. */
export interface AckServer {
  port: number;
  /** What was taken, in the order it came. */
  positions: Position[];
  /** What it does with the next packets; `hang-up` ends the connection without an answer. */
  mood: 'acknowledge' | 'hang-up' | 'silent' | 'reject';
  /** From this many positions on it hangs up. */
  hangsUpFrom: number;
  connections(): number;
  close(): Promise<void>;
}

/** @param port to come back where another was; default any free one */
export async function createAckServer(protocol: Protocol, port = 0): Promise<AckServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const tcp = createServer((socket) => {
    connections++;
    sockets.add(socket);
    const session = protocol.createSession();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      for (const message of session.push(chunk, Date.now())) {
        const full = server.mood === 'hang-up' || server.positions.length >= server.hangsUpFrom;
        if (full && message.type === 'positions') return socket.destroy();
        if (server.mood === 'silent') return;
        if (message.type === 'identify') {
          const answer = server.mood === 'reject' ? message.reject : message.accept;
          if (answer) socket.write(answer);
        } else if (message.type === 'positions') {
          server.positions.push(...message.positions);
          if (message.ack) socket.write(message.ack);
        } else if (message.type === 'reply') socket.write(message.bytes);
        else if (message.type === 'refuse') throw new Error(`refused: ${message.detail}`);
      }
    });
  });
  await new Promise<void>((resolve) => tcp.listen(port, '127.0.0.1', resolve));
  const server: AckServer = {
    port: (tcp.address() as AddressInfo).port,
    positions: [],
    mood: 'acknowledge',
    hangsUpFrom: Number.POSITIVE_INFINITY,
    connections: () => connections,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => tcp.close(() => resolve()));
    },
  };
  return server;
}

/** The same over HTTP: keeps the targets of the requests it answered with 200. */
export async function createHttpAckServer(statuses: number[] = []): Promise<{
  port: number;
  targets: string[];
  close(): Promise<void>;
}> {
  const targets: string[] = [];
  const http = createHttpServer((request, response) => {
    const status = statuses.shift() ?? 200;
    if (status === 200) targets.push(request.url ?? '');
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    port: (http.address() as AddressInfo).port,
    targets,
    close: () => {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };
}
