import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookSecret, verifyWebhook } from '@outrider/channels';

/** A destination of forwarding that acts as another system: it accepts signed batches and discards them. */
export interface DemoReceiver {
  url: string;
  /** Secret with which batches must be signed; a new one at each start. */
  secret: string;
  close(): Promise<void>;
}

/** Larger than any batch. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Listens on this machine only. Responds with 204 to requests signed with its secret, and with 401 to all others.
 *
 * @param random returns that many unpredictable bytes, such as `randomBytes` of node:crypto
 */
export async function startReceiver(random: (bytes: number) => Uint8Array, now: () => number): Promise<DemoReceiver> {
  const secret = createWebhookSecret(random);
  const server = createServer(async (request, response) => {
    try {
      const body = await bodyOf(request);
      const fault = body === null ? null : verifyWebhook({ headers: request.headers, body }, [secret], now());
      response.writeHead(body === null ? 413 : fault === null ? 204 : 401).end();
    } catch {
      // The sender aborted the request.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/fleet`,
    secret,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @returns null if the body is too large */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
