import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Admission, type Slot, SlotsByPeer } from '../admission.ts';
import { certificateOf, TLS_OPTIONS, type TlsIdentity } from './tls-identity.ts';

const SOCKET_OPTIONS = { allowHalfOpen: true, keepAlive: true };

export interface TcpServerOptions {
  admission: Admission;
  /** Null: no TLS listener. */
  identity: TlsIdentity | null;
  maxConnections: number;
  /** @param certificateSha256 of the peer; null without TLS or without a certificate */
  onConnection(socket: Socket, slot: Slot, certificateSha256: string | null): void;
  /** A connection was closed before any byte was read. */
  onRefused(reason: string): void;
}

/** Creates the listeners of one protocol, with and without TLS. They share one admission. */
export function createTcpServers(options: TcpServerOptions): { plain: Server; secure: Server | null } {
  const { identity, maxConnections, onConnection, onRefused } = options;
  const admit = (socket: Socket): Slot | null => {
    const slot = options.admission.admit(socket.remoteAddress);
    if (typeof slot !== 'string') return slot;
    onRefused(slot);
    socket.destroy();
    return null;
  };
  const plain = createServer(SOCKET_OPTIONS, (socket: Socket) => {
    const slot = admit(socket);
    if (slot !== null) onConnection(socket, slot, null);
  });
  const secure = identity === null ? null : createSecureServer(identity, admit, options);
  for (const server of [plain, secure]) {
    if (server === null) continue;
    server.maxConnections = maxConnections;
    server.on('drop', () => onRefused('too-many-connections'));
  }
  return { plain, secure };
}

/** Takes the slot before the handshake, so a peer that never finishes it counts as well. */
function createSecureServer(
  identity: TlsIdentity,
  admit: (socket: Socket) => Slot | null,
  { onConnection, onRefused }: TcpServerOptions,
): Server {
  const secure = createTlsServer({ ...SOCKET_OPTIONS, ...TLS_OPTIONS, ...identity.context });
  const slots = new SlotsByPeer();
  secure.on('connection', (socket: Socket) => {
    const slot = admit(socket);
    if (slot !== null) slots.hold(socket, slot);
  });
  secure.on('secureConnection', (socket) => {
    const slot = slots.take(socket);
    if (slot === undefined) socket.destroy();
    else onConnection(socket, slot, certificateOf(socket));
  });
  secure.on('tlsClientError', () => onRefused('bad-handshake'));
  identity.watch((context) => secure.setSecureContext(context));
  return secure;
}
