import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseUpgrade } from './refuse-upgrade.ts';

const UPGRADE = 'GET /elsewhere HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

let server: ReturnType<typeof createServer>;
let upgraded: Promise<Duplex>;
beforeEach(async () => {
  server = createServer();
  upgraded = once(server, 'upgrade').then(([, socket]) => socket as Duplex);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.close();
});

async function ask(): Promise<Socket> {
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  await once(client, 'connect');
  client.write(UPGRADE);
  return client;
}

test('a peer that never ends its side is answered, and let go all the same', async () => {
  const client = await ask();
  const socket = await upgraded;
  const answer = client.toArray();
  const closed = once(socket, 'close');
  refuseUpgrade(socket, '404 Not Found', 'X-Why: nothing is here\r\n');
  await closed;
  expect(Buffer.concat(await answer).toString()).toBe(
    'HTTP/1.1 404 Not Found\r\nX-Why: nothing is here\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  );
  client.destroy();
});

test('a peer that breaks off ends its own connection and nothing else', async () => {
  const client = await ask();
  const socket = await upgraded;
  // Not by `once` of node:events, which would take the error as its own.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  refuseUpgrade(socket, '404 Not Found');
  socket.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  await closed;
  client.destroy();
});
