import type { TerminalId, VehicleId } from '@outrider/domain';
import { blankPosition, OPEN_ACCESS } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { tcpProtocols } from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connectPeer, NOON, PATIENCE, type Peer, refusalsOf, startGateway } from './gateway.fixture.ts';
import type { Gateway } from './gateway.ts';
import { HeldLog } from './held-log.fixture.ts';

const IMEI = '356307042441013' as TerminalId;
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;

let log: HeldLog;
let metrics: Metrics;
let hub: MemoryHub;
let gateway: Gateway;
let clock: VirtualClock;
const peers: Peer[] = [];

beforeEach(async () => {
  log = new HeldLog();
  log.letGo();
  metrics = new Metrics();
  hub = new MemoryHub();
  clock = new VirtualClock(NOON);
  gateway = await startGateway({ log, hub, metrics, clock });
});
afterEach(async () => {
  for (const { socket } of peers.splice(0)) socket.destroy();
  await gateway.stop();
});

function define(terminalId: string): void {
  const definition = sampleVehicle({
    id: CAR,
    version: 1,
    name: 'car',
    terminalId: terminalId as TerminalId,
    terminalAccess: OPEN_ACCESS,
  });
  log.define({ kind: 'vehicle', id: CAR, version: 1, changedAtMs: NOON, definition });
}

async function peer(protocol: string): Promise<Peer> {
  const connected = await connectPeer(gateway.ports[protocol]);
  peers.push(connected);
  return connected;
}

const contacts = (count: number) =>
  vi.waitFor(() => {
    expect(log.written).toHaveLength(count);
    expect(log.written.at(-1)).toMatchObject({ vehicleId: CAR, receivedAtMs: clock.now(), positions: [] });
  }, PATIENCE);

const simulatorOf = (protocol: string) => {
  const { simulators } = tcpProtocols.find(({ name }) => name === protocol) as (typeof tcpProtocols)[number];
  return simulators[0](IMEI);
};
const helloOf = (protocol: string) => simulatorOf(protocol).hello() as Buffer;

describe('a terminal that sends signs of life alone is in contact', () => {
  test.each([
    ['wialon-ips', helloOf('wialon-ips'), Buffer.from('#P#\r\n')],
    ['teltonika', helloOf('teltonika'), Buffer.of(0xff)],
    ['gps103', Buffer.from(`##,imei:${IMEI},A;`), Buffer.from(`${IMEI};`)],
  ])('%s', async (protocol, hello, sign) => {
    define(IMEI);
    const it = await peer(protocol);
    it.socket.write(hello);
    await vi.waitFor(() => expect(it.bytes.length).toBeGreaterThan(0), PATIENCE);
    expect(log.written).toEqual([]);
    for (let nth = 1; nth <= 3; nth++) {
      await clock.advance(10_000);
      it.socket.write(sign);
      await contacts(nth);
    }
    expect(await refusalsOf(metrics)).toEqual({});
  });

  test('a telephone, by its identifier and a time', async () => {
    define('phone-7');
    const asked = (query: string) => fetch(`http://127.0.0.1:${gateway.ports.osmand}/?${query}`);
    expect((await asked(`id=phone-7&timestamp=${clock.now()}`)).status).toBe(200);
    await contacts(1);
    await clock.advance(10_000);
    const json = { method: 'POST', body: '{"device_id":"phone-7"}' };
    expect((await fetch(`http://127.0.0.1:${gateway.ports.osmand}/`, json)).status).toBe(200);
    await contacts(2);
    const stranger = await asked('id=phone-8');
    expect([stranger.status, await hub.unknownTerminals()]).toMatchObject([404, [{ terminalId: 'phone-8' }]]);
  });

  test('OwnTracks, by a transition', async () => {
    define('driver/phone');
    const body = JSON.stringify({ _type: 'transition', event: 'enter', lat: 52.5, lon: 13.4, tst: 1796000100 });
    const headers = { 'x-limit-u': 'driver', 'x-limit-d': 'phone' };
    const response = await fetch(`http://127.0.0.1:${gateway.ports.owntracks}/`, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([200, '[]']);
    await contacts(1);
  });
});

test('however often a terminal sends signs of life, the log gets one in eight seconds', async () => {
  define(IMEI);
  const it = await peer('wialon-ips');
  it.socket.write(helloOf('wialon-ips'));
  await vi.waitFor(() => expect(it.bytes.length).toBeGreaterThan(0), PATIENCE);
  for (let nth = 0; nth < 16; nth++) {
    const before = it.bytes.length;
    it.socket.write('#P#\r\n');
    await vi.waitFor(() => expect(it.bytes.length).toBeGreaterThan(before), PATIENCE);
    await clock.advance(1000);
  }
  await vi.waitFor(() => expect(log.written).toHaveLength(2), PATIENCE);
});

test('a sign of life beside positions adds nothing', async () => {
  define(IMEI);
  const it = await peer('teltonika');
  it.socket.write(helloOf('teltonika'));
  await vi.waitFor(() => expect(it.hex).toBe('01'), PATIENCE);
  const packet = simulatorOf('teltonika').encode([blankPosition(NOON, 52.5, 13.4)]);
  it.socket.write(Buffer.concat([Buffer.of(0xff), packet]));
  await vi.waitFor(() => expect(it.hex).toBe('0100000001'), PATIENCE);
  expect(log.written).toMatchObject([{ positions: [{}] }]);
});
