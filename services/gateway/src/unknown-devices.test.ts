import type { TerminalId } from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import { gt06 } from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connectPeer, NOON, PATIENCE, startGateway } from './gateway.fixture.ts';
import type { Gateway } from './gateway.ts';
import { HeldLog } from './held-log.fixture.ts';

const IMEI = '356307042441013' as TerminalId;

let log: HeldLog;
let hub: MemoryHub;
let clock: VirtualClock;
let gateway: Gateway;
beforeEach(async () => {
  log = new HeldLog();
  hub = new MemoryHub();
  clock = new VirtualClock(NOON);
  gateway = await startGateway({ log, hub, metrics: new Metrics(), clock });
});
afterEach(async () => {
  await gateway.stop();
});

async function send(protocol: string, bytes: Buffer): Promise<void> {
  const peer = await connectPeer(gateway.ports[protocol]);
  peer.socket.write(bytes);
  await vi.waitFor(() => expect(peer.closed).toBe(true), PATIENCE);
}

describe('a device that is refused before it said who it is', () => {
  test('is noted with its first bytes and the protocol that they fit', async () => {
    const login = gt06.simulators[0](IMEI).hello() ?? Buffer.alloc(0);
    const sent = Buffer.concat([login, Buffer.alloc(500, 0x2a)]);
    await send('h02', sent);
    expect(await hub.unknownDevices()).toEqual([
      {
        protocol: 'h02',
        address: '127.0.0.1',
        contact: {
          transport: 'tcp',
          reason: 'bad-frame',
          detail: 'a line begins with 0x78',
          receivedBytes: sent.length,
          firstBytes: sent.subarray(0, 256).toString('hex'),
        },
        guesses: [{ protocol: 'gt06', terminalId: IMEI }],
        firstSeenMs: NOON,
        lastSeenMs: NOON,
        attempts: 1,
      },
    ]);
  });

  test('is noted once a second, however often it comes', async () => {
    for (let n = 0; n < 3; n++) await send('h02', Buffer.from(`hello ${n}`));
    await clock.advance(1000);
    await send('h02', Buffer.from('hello again'));
    expect(await hub.unknownDevices()).toMatchObject([
      { attempts: 2, contact: { firstBytes: Buffer.from('hello again').toString('hex') } },
    ]);
  });

  test('is noted where it does not speak HTTP', async () => {
    await send('osmand', Buffer.from('*HQ,9100000025,V1#\r\n\r\n'));
    expect(await hub.unknownDevices()).toMatchObject([
      { protocol: 'osmand', contact: { transport: 'http', reason: 'bad-frame' } },
    ]);
  });
});

test('a connection that sent nothing is not noted', async () => {
  const peer = await connectPeer(gateway.ports.h02);
  peer.socket.end();
  await vi.waitFor(() => expect(peer.closed).toBe(true), PATIENCE);
  expect(await hub.unknownDevices()).toEqual([]);
});

test('an unknown terminal is noted with its bytes', async () => {
  const login = gt06.simulators[0](IMEI).hello() ?? Buffer.alloc(0);
  await send('gt06', login);
  expect(await hub.unknownTerminals()).toMatchObject([
    { terminalId: IMEI, contact: { reason: 'unknown-terminal', firstBytes: login.toString('hex') } },
  ]);
  expect(await hub.unknownDevices()).toEqual([]);
});
