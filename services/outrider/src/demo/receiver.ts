import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookSecret, verifyWebhook } from '@outrider/channels';

/** Another system, as a destination of forwarding: it takes batches that are signed, and keeps nothing. */
export interface DemoReceiver {
  url: string;
  /** What batches have to be signed with; another one at each start. */
  secret: string;
  close(): Promise<void>;
}

/** Larger than a batch gets. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Listens on this machine alone. It answers 204 to what is signed with its secret, 401 to everything else.
 *
 * @param random gives that many unpredictable bytes, such as `randomBytes` of node:crypto
 */
export async function startReceiver(random: (bytes: number) => Uint8Array, now: () => number): Promise<DemoReceiver> {
  const secret = createWebhookSecret(random);
  const server = createServer(async (request, response) => {
    try {
      const body = await bodyOf(request);
      const fault = body === null ? null : verifyWebhook({ headers: request.headers, body }, [secret], now());
      response.writeHead(body === null ? 413 : fault === null ? 204 : 401).end();
    } catch {
      // The sender broke off.
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

/** @returns null where it is too large */
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
