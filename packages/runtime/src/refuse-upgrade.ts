import type { Duplex } from 'node:stream';
import { endWith } from './health/last-answer.ts';

/**
 * Refuses an upgrade and ends the connection. Node no longer handles the socket of an upgrade, neither when its peer
 * breaks off nor when the peer never ends its side.
 *
 * @param status code and words, as `404 Not Found`
 * @param headers whole lines, each with its CRLF
 */
export function refuseUpgrade(socket: Duplex, status: string, headers = ''): void {
  endWith(socket, `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}
