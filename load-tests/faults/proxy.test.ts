import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openProxy, type TcpProxy } from './proxy.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
/** Long enough for what is not to come to have come. */
const A_WHILE_MS = 300;

/** A server that answers in capitals, and what it received. */
let server: Server;
let proxy: TcpProxy;
let received: Buffer[];
let served: Socket[];

beforeEach(async () => {
  received = [];
  served = [];
  server = createServer((socket) => {
    served.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      received.push(bytes);
      socket.write(bytes.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await openProxy((server.address() as AddressInfo).port);
});

afterEach(async () => {
  await proxy.close();
  for (const socket of served) socket.destroy();
  server.close();
});

async function dial() {
  const socket = connect(proxy.port, '127.0.0.1');
  const said: Buffer[] = [];
  let closed = false;
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => said.push(bytes));
  socket.on('close', () => {
    closed = true;
  });
  await once(socket, 'connect');
  return { socket, said: () => Buffer.concat(said).toString(), closed: () => closed };
}

const receivedText = () => Buffer.concat(received).toString();

test('it passes everything on, both ways, and the end of it', async () => {
  const client = await dial();
  client.socket.write('hello');
  await vi.waitFor(() => expect(client.said()).toBe('HELLO'), PATIENCE);
  const long = 'x'.repeat(3_000_000);
  client.socket.end(long);
  await vi.waitFor(
    () => expect([receivedText().length, client.said().length]).toEqual([3_000_005, 3_000_005]),
    PATIENCE,
  );
  await vi.waitFor(() => expect([client.closed(), proxy.connections]).toEqual([true, 0]), PATIENCE);
});

test('a cut goes through the middle of what is sent next, and ends both sides', async () => {
  const [busy, idle] = [await dial(), await dial()];
  await vi.waitFor(() => expect(proxy.connections).toBe(2), PATIENCE);
  proxy.cut();
  busy.socket.write('0123456789');
  await vi.waitFor(() => expect([busy.closed(), idle.closed(), proxy.connections]).toEqual([true, true, 0]), PATIENCE);
  await vi.waitFor(() => expect(receivedText()).toBe('01234'), PATIENCE);
  const next = await dial();
  next.socket.write('again');
  await vi.waitFor(() => expect(next.said()).toBe('AGAIN'), PATIENCE);
});

test('delayed bytes arrive later, in order', async () => {
  const client = await dial();
  proxy.delay(150);
  const startedMs = performance.now();
  for (const word of ['one ', 'two ', 'three']) client.socket.write(word);
  await vi.waitFor(() => expect(client.said()).toBe('ONE TWO THREE'), PATIENCE);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(299);
  proxy.delay(60_000);
  client.socket.write(' four');
  await wait(50);
  proxy.heal();
  client.socket.write(' five');
  await vi.waitFor(() => expect(client.said()).toBe('ONE TWO THREE FOUR FIVE'), PATIENCE);
});

test('a silent direction delivers late, and the other continues meanwhile', async () => {
  const client = await dial();
  client.socket.write('a');
  await vi.waitFor(() => expect(client.said()).toBe('A'), PATIENCE);
  proxy.halve('to-client', 'late');
  const other = await dial();
  client.socket.write('b');
  other.socket.write('c');
  await vi.waitFor(() => expect([...receivedText()].toSorted().join('')).toBe('abc'), PATIENCE);
  await wait(A_WHILE_MS);
  expect([client.said(), other.said()]).toEqual(['A', '']);
  proxy.heal();
  await vi.waitFor(() => expect([client.said(), other.said()]).toEqual(['AB', 'C']), PATIENCE);
});

test('a side that lost its connection receives nothing more, not even its end', async () => {
  const client = await dial();
  client.socket.write('a');
  await vi.waitFor(() => expect(client.said()).toBe('A'), PATIENCE);
  proxy.halve('to-server', 'never');
  client.socket.write('b');
  await wait(A_WHILE_MS);
  proxy.heal();
  client.socket.write('c');
  served[0]?.write('still here');
  await vi.waitFor(() => expect(client.said()).toBe('Astill here'), PATIENCE);
  expect(receivedText()).toBe('a');
  const ended = vi.fn();
  served[0]?.on('close', ended);
  client.socket.destroy();
  await wait(A_WHILE_MS);
  expect(ended).not.toHaveBeenCalled();
  const next = await dial();
  next.socket.write('d');
  await vi.waitFor(() => expect(next.said()).toBe('D'), PATIENCE);
});
