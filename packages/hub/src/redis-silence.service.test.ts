import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { HubAwayError } from './hub.ts';
import { openRedisHub } from './redis.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** What a server says to each command as a client begins, by its first word. */
function answerOf(command: string): string {
  if (/^info/i.test(command)) return '$9\r\nloading:0\r\n';
  if (/^subscribe/i.test(command)) return '*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n';
  return '+OK\r\n';
}

/**
 * Answers like a server that knows nothing, until it is silent: then it receives, on the connections that it has, and
 * says nothing.
 */
async function serverThatGoes() {
  const silent = new WeakSet<Socket>();
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (silent.has(socket)) return;
      for (const command of data.toString().split(/\*\d+\r\n/)) {
        const word = command.split('\r\n')[1];
        if (word !== undefined) socket.write(answerOf(word));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.filter(({ closed }) => !closed),
    silence() {
      const known = sockets.filter(({ closed }) => !closed);
      for (const socket of known) silent.add(socket);
      return known;
    },
  };
}

test('connections on which nobody answers are left, by who asks and by who only listens', async () => {
  const server = await serverThatGoes();
  const hub = await openRedisHub({ url: server.url, onError: () => {} });
  ends.push(() => hub.close());
  await hub.subscribe('news', () => {});
  await hub.resetCount('somebody');
  const lost = server.silence();
  expect(lost.length).toBe(2);
  await expect(hub.resetCount('somebody')).rejects.toThrow(HubAwayError);
  await vi.waitFor(() => expect(lost.map(({ closed }) => closed)).toEqual([true, true]), PATIENCE);
  await vi.waitFor(() => hub.resetCount('somebody'), PATIENCE);
  await vi.waitFor(() => expect(server.open().length).toBe(2), PATIENCE);
});
