import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { boundServer } from './bound-server.ts';
import { createLogger } from './logger.ts';
import { Metrics } from './prometheus.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const sockets: Socket[] = [];
let server: Server;

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

async function serve(total: number, perKey: number, keyOf: (peer: string) => string | null = (peer) => peer) {
  const metrics = new Metrics();
  server = createServer((_, response) => response.end('ok'));
  const bounds = {
    connections: { total, perKey },
    maxUpgraded: 2,
    keyOf,
    logger: createLogger('silent', 'json'),
    metrics,
  };
  const { upgraded } = boundServer(server, bounds);
  server.on('upgrade', (_, socket) => {
    upgraded(socket);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return metrics;
}

/** What the server answered on a new connection; empty where it was closed at once. */
async function answerOf(headers = ''): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  let text = '';
  let isClosed = false;
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.on('close', () => {
    isClosed = true;
  });
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  await vi.waitFor(() => expect(text !== '' || isClosed).toBe(true), PATIENCE);
  return text.split('\r\n', 1)[0] ?? '';
}

test('one address has no more connections than its share, and gets the next one when another ends', async () => {
  const metrics = await serve(100, 2);
  expect([await answerOf(), await answerOf(), await answerOf()]).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', '']);
  sockets[0]?.destroy();
  await vi.waitFor(async () => expect(await answerOf()).toBe('HTTP/1.1 200 OK'), PATIENCE);
  expect(await metrics.metrics()).toMatch(/outrider_http_connections_refused_total\{bound="address"\} [1-9]/);
});

test('addresses without a bound of their own share the total; upgraded connections do not count in it', async () => {
  await serve(2, 1, () => null);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  for (let nth = 0; nth < 2; nth++) expect(await answerOf(upgrade)).toMatch('101');
  expect([await answerOf(), await answerOf(), await answerOf()]).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', '']);
});
