import type { BlockList, Server, Socket } from 'node:net';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import { isTrustedProxy } from '@outrider/auth';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { type ProxiedPeer, readProxyHeader } from './proxy-header.ts';

/** A proxy writes the header at once, before it reads from the client. */
const HEADER_TIMEOUT_MS = 5000;

/**
 * Makes connections of proxies begin with a header of the PROXY protocol. Once it is read, the socket's remote address
 * and port are those of the proxy's client, and the server's listeners get the connection as if it came from there.
 * Other connections are accepted unchanged.
 *
 * @param server with all of its listeners for connections
 * @param onRefused called when a proxy sent no header in time, or something else; the connection is closed
 */
export function readProxyHeaders(
  server: Server,
  proxies: BlockList,
  onRefused: (detail: string, address: string) => void,
): void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const accept = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
  /** By addresses and ports, because a TLS socket and its underlying socket are different objects. */
  const peers = new Map<string, ProxiedPeer>();
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !isTrustedProxy(remoteAddress, proxies)) return accept(socket);
    const connection = connectionOf(socket);
    readHeader(socket).then(
      (peer) => {
        if (socket.destroyed) return;
        if (peer !== null) {
          peers.set(connection, peer);
          socket.once('close', () => peers.delete(connection));
          appearAs(socket, peer);
        }
        accept(socket);
      },
      (error: Error) => {
        socket.destroy();
        onRefused(error.message, remoteAddress);
      },
    );
  });
  if (!(server instanceof TlsServer)) return;
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const peer = peers.get(connectionOf(socket));
    if (peer !== undefined) appearAs(socket, peer);
  });
}

function connectionOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function appearAs(socket: Socket, { address, port }: ProxiedPeer): void {
  Object.defineProperties(socket, { remoteAddress: { value: address }, remotePort: { value: port } });
}

/**
 * Reads the header from the connection and leaves the bytes that follow.
 *
 * @throws {Error} when there is no header
 */
function readHeader(socket: Socket): Promise<ProxiedPeer | null> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const late = () => end(() => reject(new Error('no PROXY protocol header in time')));
    const timer = SYSTEM_CLOCK.after(HEADER_TIMEOUT_MS, late);
    const end = (settle: () => void) => {
      timer.cancel();
      socket.off('readable', read).off('close', closed);
      // After the last listener for 'readable' is removed, the stream only flows again in a later tick.
      setImmediate(settle);
    };
    const closed = () => end(() => reject(new Error('closed before its PROXY protocol header')));
    const read = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        received = Buffer.concat([received, chunk as Buffer]);
        let header: ReturnType<typeof readProxyHeader>;
        try {
          header = readProxyHeader(received);
        } catch (error) {
          return end(() => reject(error));
        }
        if (header === null) continue;
        const { peer, length } = header;
        if (length < received.length) socket.unshift(received.subarray(length));
        return end(() => resolve(peer));
      }
    };
    // A failed connection is closed as well, which is handled there.
    socket
      .on('readable', read)
      .on('close', closed)
      .on('error', () => {});
  });
}
