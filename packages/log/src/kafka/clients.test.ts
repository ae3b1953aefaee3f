import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { logLevel } from 'kafkajs';
import { type onTestFinished, test, vi } from 'vitest';
import { KafkaClients } from './clients.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

/**
 * A broker as the far end of a connection that only the near one still knows of: it receives everything, and says
 * nothing.
 */
async function silentBroker(onFinished: typeof onTestFinished) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { sockets, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.concurrent.for(['admin', 'producer', 'consumer', 'cluster'] as const)(
  'the %s leaves a connection on which nobody answers, and asks on another',
  async (kind, { expect, onTestFinished }) => {
    const broker = await silentBroker(onTestFinished);
    const clients = new KafkaClients({
      brokers: [broker.address],
      requestTimeout: 200,
      retry: { initialRetryTime: 50, retries: 2 },
      logLevel: logLevel.NOTHING,
    });
    const client = kind === 'consumer' ? clients.consumer({ groupId: 'of a test' }) : clients[kind]({});
    await expect(client.connect()).rejects.toThrow();
    await vi.waitFor(() => expect(broker.sockets.length).toBeGreaterThan(1), PATIENCE);
    await vi.waitFor(() => expect(broker.sockets.slice(0, -1).every(({ closed }) => closed)).toBe(true), PATIENCE);
    await client.disconnect();
  },
);
