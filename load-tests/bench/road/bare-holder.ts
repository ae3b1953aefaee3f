import { type AddressInfo, createServer } from 'node:net';
import { awaitTask } from './child.ts';

export type BareHolderMessage = { type: 'listening'; port: number } | { type: 'memory'; bytes: number };

/*
 * The least that holds connections of terminals: accepts each, and acknowledges what comes. It decodes nothing and
 * remembers nothing but the socket. Each message of the parent returns the memory of its objects and buffers.
 */
const { send } = await awaitTask<null, BareHolderMessage>();
const ACCEPTED = Buffer.from([1]);
const ONE_TAKEN = Buffer.from([0, 0, 0, 1]);
/** A Teltonika terminal first says who it is, in 17 bytes. */
const HELLO_BYTES = 17;
const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => socket.write(chunk.length === HELLO_BYTES ? ACCEPTED : ONE_TAKEN));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  send({ type: 'listening', port: (server.address() as AddressInfo).port }),
);
process.on('message', () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  send({ type: 'memory', bytes: heapUsed + arrayBuffers });
});
