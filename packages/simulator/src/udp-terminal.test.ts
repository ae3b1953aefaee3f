import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { gt06, type Protocol, teltonika } from '@outrider/protocols';
import { afterEach, expect, test, vi } from 'vitest';
import { createUdpTerminal } from './udp-terminal.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const NOW_MS = Date.UTC(2026, 0, 1);
const IMEI = '359999000000018' as TerminalId;

let socket: Socket;
afterEach(() => {
  socket.close();
});

/** A server that takes each datagram by a session of its sender; the first `lost` of them do not arrive. */
async function listen(protocol: Protocol, lost: number) {
  const positions: Position[] = [];
  const sessions = new Map<number, ReturnType<Protocol['createSession']>>();
  let datagrams = 0;
  socket = createSocket('udp4');
  socket.on('message', (bytes: Buffer, from: RemoteInfo) => {
    if (datagrams++ < lost) return;
    const session = sessions.get(from.port) ?? (protocol.datagrams?.createSession ?? protocol.createSession)();
    sessions.set(from.port, session);
    for (const message of session.push(bytes, NOW_MS)) {
      const answer = message.type === 'identify' ? message.accept : message.type === 'positions' ? message.ack : null;
      if (message.type === 'positions') positions.push(...message.positions);
      if (answer !== null) socket.send(answer, from.port, from.address);
    }
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, positions, datagrams: () => datagrams };
}

test.each([
  ['a protocol whose datagrams say who they are from', teltonika],
  ['a protocol with a login', gt06],
])('%s: each datagram is sent until it is acknowledged', async (_, protocol) => {
  const server = await listen(protocol, 2);
  const terminal = createUdpTerminal({
    host: '127.0.0.1',
    port: server.port,
    terminalId: IMEI,
    createSimulator: protocol.datagrams?.simulator ?? protocol.simulators[0],
    positionsPerPacket: 2,
    retryMs: [20, 20],
  });
  terminal.record(Array.from({ length: 5 }, (_, second) => blankPosition(NOW_MS + second * 1000, 1, 2)));
  await terminal.settled();
  expect(terminal.stats()).toMatchObject({ online: true, stored: 0, acknowledged: 5 });
  expect(terminal.stats().connections).toBeGreaterThanOrEqual(3);
  const times = new Set(server.positions.map(({ fixTimeMs }) => fixTimeMs));
  expect([...times]).toEqual([0, 1, 2, 3, 4].map((second) => NOW_MS + second * 1000));
  await terminal.close();
});

test('a server that is not there is tried again, until the terminal is closed', async () => {
  const server = await listen(teltonika, Number.POSITIVE_INFINITY);
  const terminal = createUdpTerminal({
    host: '127.0.0.1',
    port: server.port,
    terminalId: IMEI,
    createSimulator: teltonika.datagrams?.simulator ?? teltonika.simulators[0],
    retryMs: [5, 10],
  });
  terminal.record([blankPosition(NOW_MS, 1, 2)]);
  await vi.waitFor(() => expect(server.datagrams()).toBeGreaterThan(3), PATIENCE);
  expect(terminal.stats()).toMatchObject({ stored: 1, acknowledged: 0, lastFailure: 'no answer in time' });
  const settled = terminal.settled();
  await terminal.close();
  await expect(settled).rejects.toThrow('was closed');
});

test('a command is answered where it came from, and acknowledges nothing', async () => {
  const session = gt06.createSession();
  const said: string[] = [];
  socket = createSocket('udp4');
  socket.on('message', (bytes: Buffer, from: RemoteInfo) => {
    for (const message of session.push(bytes, NOW_MS)) {
      const answer = message.type === 'identify' ? message.accept : message.type === 'positions' ? message.ack : null;
      const command = session.command?.({ type: 'text', parameters: { text: 'STATUS#' } });
      if (message.type === 'identify' && command) socket.send(command.bytes, from.port, from.address);
      if (message.type === 'answer') said.push(`${message.answer.type} ${terminal.stats().acknowledged}`);
      if (answer !== null) socket.send(answer, from.port, from.address);
    }
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const terminal = createUdpTerminal({
    host: '127.0.0.1',
    port: socket.address().port,
    terminalId: IMEI,
    createSimulator: gt06.simulators[0],
  });
  await vi.waitFor(() => expect(said).toEqual(['acknowledged 0']), PATIENCE);
  terminal.record([blankPosition(NOW_MS, 1, 2)]);
  await terminal.settled();
  await terminal.close();
});
