import type { TerminalId } from '@outrider/domain';
import { createTeltonikaSimulator, suntech, teltonika } from '@outrider/protocols';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type AckServer, createAckServer } from './ack-server.fixture.ts';
import { generateDrive } from './recorded.ts';
import { createTcpTerminal, type TcpTerminalOptions } from './tcp-terminal.ts';
import type { TerminalClient } from './terminal-client.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const terminalId = '359999000000018' as TerminalId;
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function serve(port?: number): Promise<AckServer> {
  const server = await createAckServer(teltonika, port);
  open.push(server);
  return server;
}

function connect(port: number, options: Partial<TcpTerminalOptions> = {}): TerminalClient {
  const client = createTcpTerminal({
    host: '127.0.0.1',
    port,
    terminalId,
    createSimulator: createTeltonikaSimulator,
    backoffMs: [5, 20],
    ...options,
  });
  open.unshift(client);
  return client;
}

const times = (positions: readonly { fixTimeMs: number }[]) => positions.map(({ fixTimeMs }) => fixTimeMs);

describe('a terminal over TCP', () => {
  test('sends what it records and counts what is acknowledged', async () => {
    const server = await serve();
    const client = connect(server.port, { positionsPerPacket: 10 });
    const drive = generateDrive(95, 1);
    client.record(drive);
    await client.settled();
    expect(times(server.positions)).toEqual(times(drive));
    expect(client.stats()).toEqual({
      online: true,
      stored: 0,
      acknowledged: 95,
      acknowledgedPackets: 10,
      dropped: 0,
      connections: 1,
      lastFailure: null,
    });
  });

  test('without acknowledgements, what the connection took is stored', async () => {
    const server = await createAckServer(suntech);
    open.push(server);
    const [createSimulator] = suntech.simulators;
    const client = connect(server.port, { createSimulator, terminalId: suntech.exampleId(1) });
    const drive = generateDrive(20, 1);
    client.record(drive);
    await client.settled();
    await vi.waitFor(() => expect(times(server.positions)).toEqual(times(drive)), PATIENCE);
    expect(client.stats()).toMatchObject({ online: true, stored: 0, acknowledged: 20, lastFailure: null });
  });

  test('sends the newest position of a packet first where it is made to', async () => {
    const server = await serve();
    const client = connect(server.port, { positionsPerPacket: 3, packetOrder: 'newest-first' });
    const drive = generateDrive(7, 1);
    client.record(drive);
    await client.settled();
    const [a, b, c, d, e, f, g] = times(drive);
    expect(times(server.positions)).toEqual([c, b, a, f, e, d, g]);
  });

  test('keeps what it records while the server is away, and delivers it in order', async () => {
    const server = await serve();
    const { port } = server;
    await server.close();
    const client = connect(port);
    const drive = generateDrive(50, 2);
    client.record(drive);
    await vi.waitFor(() => expect(client.stats().lastFailure).toContain('ECONNREFUSED'), PATIENCE);
    const back = await serve(port);
    await client.settled();
    expect(times(back.positions)).toEqual(times(drive));
  });

  test('sends again what was not acknowledged when the server hung up', async () => {
    const server = await serve();
    server.mood = 'hang-up';
    const client = connect(server.port, { positionsPerPacket: 5, windowPackets: 4 });
    const drive = generateDrive(100, 3);
    client.record(drive);
    await vi.waitFor(() => expect(server.connections()).toBeGreaterThan(2), PATIENCE);
    expect(client.stats().acknowledged).toBe(0);
    server.mood = 'acknowledge';
    await client.settled();
    expect(times(server.positions)).toEqual(times(drive));
    expect(client.stats().acknowledged).toBe(100);
  });

  test('loses its oldest when its store is full, and says so', async () => {
    const server = await serve();
    server.mood = 'reject';
    const client = connect(server.port, { maxStoredPositions: 30 });
    const drive = generateDrive(100, 4);
    for (const position of drive) client.record([position]);
    expect(client.stats()).toMatchObject({ stored: 30, dropped: 70 });
    server.mood = 'acknowledge';
    await client.settled();
    expect(times(server.positions)).toEqual(times(drive.slice(70)));
  });

  test('comes back after it was refused', async () => {
    const server = await serve();
    server.mood = 'reject';
    const client = connect(server.port);
    client.record(generateDrive(3, 5));
    await vi.waitFor(() => expect(client.stats().lastFailure).toBe('the IMEI was not accepted'), PATIENCE);
    expect(client.stats().online).toBe(false);
    server.mood = 'acknowledge';
    await client.settled();
    expect(server.positions).toHaveLength(3);
  });

  test('hangs up on a server that owes an answer', async () => {
    const server = await serve();
    server.mood = 'silent';
    const client = connect(server.port, { replyTimeoutMs: 1000 });
    client.record(generateDrive(3, 6));
    await vi.waitFor(() => expect(client.stats().lastFailure).toBe('no answer in time'), PATIENCE);
    server.mood = 'acknowledge';
    await client.settled();
    expect(server.positions).toHaveLength(3);
  });

  test('that is closed sends nothing more and leaves nobody waiting', async () => {
    const server = await serve();
    server.mood = 'silent';
    const client = connect(server.port);
    client.record(generateDrive(3, 7));
    const settled = client.settled();
    settled.catch(() => {});
    await client.close();
    await expect(settled).rejects.toThrow(`terminal ${terminalId} was closed`);
    expect(client.stats().online).toBe(false);
  });
});
