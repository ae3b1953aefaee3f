import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { logLevel } from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';
import { expect, type onTestFinished, test } from 'vitest';
import { KafkaClients } from './clients.ts';

const REQUEST_HEADER_BYTES = 12;
const CLOSED_AFTER_MS = 50;

async function listen(onFinished: typeof onTestFinished, onSocket: (socket: Socket, nth: number) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    onSocket(socket, sockets.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { sockets, port: (server.address() as AddressInfo).port };
}

/** The answer to a request for the versions that the broker knows: a few hundred, of which no client knows any. */
function answerOf(request: Buffer): Buffer {
  const kinds = 300;
  const answer = Buffer.alloc(4 + 4 + 2 + 4 + 6 * kinds + 4);
  answer.writeInt32BE(answer.length - 4, 0);
  request.copy(answer, 4, 8, REQUEST_HEADER_BYTES);
  answer.writeInt32BE(kinds, 10);
  for (let kind = 0; kind < kinds; kind++) answer.writeInt16BE(kind, 14 + 6 * kind);
  return answer;
}

function connectionTo(port: number, onOpen: (onConnect: () => void) => (() => void) | undefined): Connection {
  const quiet = { debug() {}, error() {}, warn() {}, info() {}, namespace: () => quiet };
  return new Connection({
    host: '127.0.0.1',
    port,
    logger: quiet,
    requestTimeout: 60_000,
    connectionTimeout: 60_000,
    socketFactory: ({ host, port, onConnect }) => connect({ host, port }, onOpen(onConnect)),
  });
}

test('of an answer that was cut off nothing is left for the next socket', async ({ onTestFinished }) => {
  const { sockets, port } = await listen(onTestFinished, (socket, nth) =>
    socket.on('data', (request: Buffer) => {
      const answer = answerOf(request);
      if (nth === 1) socket.end(answer.subarray(0, answer.length / 2));
      else socket.write(answer);
    }),
  );
  const admin = new KafkaClients({
    brokers: [`127.0.0.1:${port}`],
    requestTimeout: 10_000,
    retry: { initialRetryTime: 10, retries: 1 },
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  expect(sockets).toHaveLength(2);
  await admin.disconnect();
});

test('many requests that find it closed open one socket', async ({ onTestFinished }) => {
  const { port } = await listen(onTestFinished, (socket) => socket.resume());
  let opened = 0;
  const connection = connectionTo(port, (onConnect) => {
    opened++;
    return onConnect;
  });
  await Promise.all(Array.from({ length: 50 }, () => connection.connect()));
  await connection.connect();
  expect(opened).toBe(1);
  await connection.disconnect();
});

test('a socket that closes before it is open is an error, and the next one is tried', async ({ onTestFinished }) => {
  const { port } = await listen(onTestFinished, (socket, nth) => {
    socket.resume();
    if (nth === 1) setTimeout(() => socket.end(), CLOSED_AFTER_MS);
  });
  let opened = 0;
  // As with TLS, whose handshake never ends on the first one.
  const connection = connectionTo(port, (onConnect) => (++opened === 1 ? undefined : onConnect));
  await expect(connection.connect()).rejects.toThrow('closed before it was open');
  expect(await connection.connect()).toBe(true);
  await connection.disconnect();
});
