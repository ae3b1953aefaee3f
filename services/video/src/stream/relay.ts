import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { CheckedAddress } from './checked-host.ts';

/** Relay to one RTSP server, for this machine only. */
export interface Relay {
  /** Port on 127.0.0.1. */
  port: number;
  /** Whether the server tried to redirect its client. */
  readonly redirected: boolean;
  /** Why the connection to the server failed; null if it did not. */
  readonly unreachable: string | null;
  close(): void;
}

/** Beginning of an RTSP redirect (RFC 2326, 11.3). */
const REDIRECT = /RTSP\/\d\.\d 3\d\d/;
const LONGEST_MATCH = 16;
const CONNECT_WITHIN_MS = 15_000;

/**
 * Opens a port that leads to one checked address and nowhere else. Its client resolves no name and follows no redirect,
 * because a redirect by the server ends the connection.
 *
 * @param tls host name that the server's certificate must be for; null: without TLS
 */
export async function openRelay({ address, family }: CheckedAddress, port: number, tls: string | null): Promise<Relay> {
  const sockets = new Set<Socket>();
  let redirected = false;
  let unreachable: string | null = null;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((inside) => {
    // Only one client: a second connection would be another program's.
    server.close();
    keep(inside);
    const target = { host: address, port, family };
    const outside = keep(tls === null ? connect(target) : connectTls({ ...target, servername: tls }));
    const end = () => {
      inside.destroy();
      outside.destroy();
    };
    outside.setTimeout(CONNECT_WITHIN_MS, () => {
      unreachable ??= 'the source does not answer';
      end();
    });
    outside.once(tls === null ? 'connect' : 'secureConnect', () => outside.setTimeout(0));
    outside.on('error', (error) => {
      unreachable ??= `the source could not be reached (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
      end();
    });
    inside.on('error', end);
    inside.on('close', end);
    outside.on('close', () => inside.end());
    inside.pipe(outside);
    let tail = '';
    outside.on('data', (bytes: Buffer) => {
      const text = tail + bytes.toString('latin1');
      if (REDIRECT.test(text)) {
        redirected = true;
        return end();
      }
      tail = text.slice(-LONGEST_MATCH);
      if (!inside.write(bytes)) {
        outside.pause();
        inside.once('drain', () => outside.resume());
      }
    });
  });
  server.maxConnections = 1;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    get redirected() {
      return redirected;
    },
    get unreachable() {
      return unreachable;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
