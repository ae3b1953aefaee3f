import type { Duplex } from 'node:stream';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Option of a `WebSocketServer`: how long a peer may take over its part of closing. The types of `ws` lack it. */
export const WEB_SOCKET_CLOSING = { closeTimeout: 5000 };
/** How long a peer may take over the last answer of a connection and over ending its side. */
const CLOSING_MS = 2000;

/**
 * Sends the last bytes of a connection and lets go of it, whatever its peer does: as soon as both sides have ended, or
 * after a moment. What the peer still sends is thrown away: closed with bytes unread, the peer would lose the answer.
 */
export function endWith(socket: Duplex, bytes: string | Buffer): void {
  const timer = SYSTEM_CLOCK.after(CLOSING_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
  socket.on('error', () => socket.destroy());
  socket.end(bytes);
  socket.resume();
}
