import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook as it came. */
export interface ReceivedWebhook {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  received: readonly ReceivedWebhook[];
  close(): void;
}

/**
 * An endpoint for webhooks.
 *
 * @param statusOf the status of its answer; `times` counts the messages with this id, this one included
 */
export async function receiveWebhooks(statusOf: (id: string, times: number) => number): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer(async (request, response) => {
    try {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      // A message channel has a name of its own for it.
      const id = String(request.headers['webhook-id'] ?? request.headers['call-id']);
      received.push({ id, headers: request.headers, body });
      response.writeHead(statusOf(id, received.filter((each) => each.id === id).length)).end();
    } catch {
      // The sender was killed in the middle of it: nothing was received.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
