import type { TerminalId } from '@outrider/domain';
import { teltonika } from '@outrider/protocols';
import { afterEach, expect, test, vi } from 'vitest';
import { type AckServer, createAckServer } from './ack-server.fixture.ts';
import { playDrive } from './drive.ts';
import { loadDrive } from './recorded.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const terminalId = '359999000000018' as TerminalId;
const positions = loadDrive({ limit: 3000 });
let server: AckServer | undefined;

afterEach(async () => {
  await server?.close();
});

test('a drive resolves when all of it is acknowledged, though the server dies in between', async () => {
  const first = await createAckServer(teltonika);
  server = first;
  first.hangsUpFrom = 500;
  const { port } = first;
  const played = playDrive({
    protocol: 'teltonika',
    host: '127.0.0.1',
    port,
    terminalId,
    positions,
    positionsPerPacket: 5,
    windowPackets: 4,
  });
  await vi.waitFor(() => expect(first.connections()).toBeGreaterThan(1), PATIENCE);
  await first.close();
  server = await createAckServer(teltonika, port);
  expect(await played).toMatchObject({ acknowledged: 3000, acknowledgedPackets: 600 });
  // Nothing is missing; what the first had taken and could not say so may have come twice.
  const taken = [...first.positions, ...server.positions].map(({ fixTimeMs }) => fixTimeMs);
  expect([...new Set(taken)]).toEqual(positions.map(({ fixTimeMs }) => fixTimeMs));
});

test('a drive can be called off', async () => {
  server = await createAckServer(teltonika);
  server.mood = 'silent';
  const calledOff = new AbortController();
  const played = playDrive({
    protocol: 'teltonika',
    host: '127.0.0.1',
    port: server.port,
    terminalId,
    positions,
    signal: calledOff.signal,
  });
  calledOff.abort(new Error('enough'));
  await expect(played).rejects.toThrow('enough');
});
