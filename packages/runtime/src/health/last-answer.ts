import type { Duplex } from 'node:stream';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Option of a `WebSocketServer`: maximum time for a peer's part of closing. The types of `ws` lack it. */
export const WEB_SOCKET_CLOSING = { closeTimeout: 5000 };
/** Maximum time for a peer to receive the last answer of a connection and to end its side. */
const CLOSING_MS = 2000;

/**
 * Sends the last bytes of a connection and closes it, whatever its peer does: as soon as both sides have ended, or
 * after a short time. Further data from the peer is discarded: if it stayed unread at the close, the peer would lose
 * the answer.
 */
export function endWith(socket: Duplex, bytes: string | Buffer): void {
  const timer = SYSTEM_CLOCK.after(CLOSING_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
  socket.on('error', () => socket.destroy());
  socket.end(bytes);
  socket.resume();
}
