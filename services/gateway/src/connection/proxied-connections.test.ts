import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { trustedProxies } from '@outrider/auth';
import { makeCertificate } from '@outrider/channels/certificate';
import type { TerminalId, VehicleId } from '@outrider/domain';
import { blankPosition } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { createTeltonikaSimulator, encodeOsmandQuery } from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  collect,
  connectPeer,
  FREE_PORTS,
  NOON,
  PATIENCE,
  type Peer,
  refusalsOf,
  startGateway,
} from '../gateway.fixture.ts';
import type { Gateway, GatewayConfig } from '../gateway.ts';
import { HeldLog } from '../held-log.fixture.ts';
import { readProxyHeader } from './proxy-header.ts';

const IMEI = '356307042441013' as TerminalId;
const UNKNOWN = '356307042441021' as TerminalId;
/** Where the proxy is, and what connects without one. */
const PROXY = '127.0.0.5';
const ELSEWHERE = '127.0.0.6';

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;
const peers: Peer[] = [];

beforeEach(() => {
  log = new HeldLog();
  hub = new MemoryHub();
  metrics = new Metrics();
});
afterEach(async () => {
  for (const { socket } of peers.splice(0)) socket.destroy();
  log.letGo();
  await gateway.stop();
});

async function start(config: Partial<GatewayConfig> = {}): Promise<void> {
  gateway = await startGateway({ log, hub, metrics }, { proxies: trustedProxies([PROXY]), ...config });
  const id = '0190a000-0000-7000-8000-000000000001' as VehicleId;
  const definition = sampleVehicle({ id, version: 1, name: 'car', terminalId: IMEI });
  log.define({ kind: 'vehicle', id, version: 1, changedAtMs: NOON, definition });
}

/** Version 2 for TCP over IPv4. */
function header(address: string, { port = 40_001, command = 0x21, extra = Buffer.alloc(0) } = {}): Buffer {
  const bytes = Buffer.alloc(28);
  bytes.write('0d0a0d0a000d0a515549540a', 0, 'hex');
  bytes.set([command, 0x11], 12);
  bytes.writeUInt16BE(12 + extra.length, 14);
  bytes.set(address.split('.').map(Number), 16);
  bytes.set([192, 0, 2, 1], 20);
  bytes.writeUInt16BE(port, 24);
  bytes.writeUInt16BE(5027, 26);
  return Buffer.concat([bytes, extra]);
}

async function open(protocol: string, from = PROXY): Promise<Peer> {
  const peer = await connectPeer(gateway.ports[protocol], from);
  peers.push(peer);
  return peer;
}

const hello = (terminalId: TerminalId) => createTeltonikaSimulator(terminalId).hello() as Buffer;
const unknownFrom = async () => (await hub.unknownTerminals()).map(({ address }) => address);

const REQUEST = `GET ${encodeOsmandQuery(UNKNOWN, blankPosition(NOON, 52, 13))} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('a terminal behind the proxy is listed with its own address, whatever packets its bytes come in', async () => {
  await start();
  const bytes = Buffer.concat([header('203.0.113.9', { extra: Buffer.from([0x04, 0, 1, 0]) }), hello(UNKNOWN)]);
  const whole = await open('teltonika');
  whole.socket.write(bytes);
  await vi.waitFor(() => expect(whole.closed).toBe(true), PATIENCE);
  await vi.waitFor(async () => expect(await unknownFrom()).toEqual(['203.0.113.9']), PATIENCE);

  const parts = await open('teltonika');
  const taken = Buffer.concat([header('203.0.113.10'), hello(IMEI)]);
  for (const byte of taken) {
    parts.socket.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  await vi.waitFor(() => expect(parts.hex).toBe('01'), PATIENCE);
  parts.socket.write(createTeltonikaSimulator(IMEI).encode([blankPosition(NOON, 52, 13)]));
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
});

test('the lines of version 1, and addresses of IPv6, are read as well', async () => {
  await start();
  const first = await open('teltonika');
  first.socket.write(
    Buffer.concat([Buffer.from('PROXY TCP6 2001:DB8:0::7 2001:db8::1 40001 5027\r\n'), hello(UNKNOWN)]),
  );
  await vi.waitFor(async () => expect(await unknownFrom()).toEqual(['2001:db8::7']), PATIENCE);
});

test('limits per address are those of the terminal’s address, not of the proxy’s', async () => {
  await start({ maxConnectionsPerAddress: 1 });
  const connectFor = async (address: string) => {
    const peer = await open('teltonika');
    peer.socket.write(Buffer.concat([header(address), hello(IMEI)]));
    return peer;
  };
  const [one, other] = [await connectFor('203.0.113.1'), await connectFor('203.0.113.2')];
  for (const peer of [one, other]) await vi.waitFor(() => expect(peer.hex).toBe('01'), PATIENCE);
  const second = await connectFor('203.0.113.1');
  await vi.waitFor(() => expect(second.closed).toBe(true), PATIENCE);
  expect(await refusalsOf(metrics)).toEqual({ 'too-many-of-address': 1 });
  // The slot is free again when its connection ends.
  one.socket.destroy();
  await vi.waitFor(async () => {
    const next = await connectFor('203.0.113.1');
    await vi.waitFor(() => expect(next.hex + next.closed).not.toBe('false'), PATIENCE);
    expect(next.hex).toBe('01');
  }, PATIENCE);
});

test('requests over HTTP behind the proxy have the address of their sender', async () => {
  await start();
  const { socket } = await open('osmand');
  socket.write(header('203.0.113.20'));
  socket.write(REQUEST);
  await vi.waitFor(async () => expect(await unknownFrom()).toEqual(['203.0.113.20']), PATIENCE);
});

test('so have those over TLS, in the connection and over HTTP', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-proxied-'));
  const { key, cert } = makeCertificate('localhost', new Date(Date.now() + 86_400_000));
  const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key);
  await start({ tls: { ...files, ports: FREE_PORTS } });
  rmSync(folder, { recursive: true });
  const secure = async (protocol: string, address: string) => {
    const socket = connect({ port: gateway.tlsPorts[protocol] ?? 0, host: '127.0.0.1', localAddress: PROXY });
    socket.write(header(address));
    const peer = await collect(connectTls({ socket, rejectUnauthorized: false }), 'secureConnect');
    peers.push(peer);
    return peer;
  };
  (await secure('teltonika', '203.0.113.30')).socket.write(hello(UNKNOWN));
  await vi.waitFor(async () => expect(await unknownFrom()).toEqual(['203.0.113.30']), PATIENCE);
  (await secure('osmand', '203.0.113.31')).socket.write(REQUEST);
  await vi.waitFor(async () => expect(await unknownFrom()).toEqual(['203.0.113.31']), PATIENCE);
  const known = await secure('teltonika', '203.0.113.32');
  known.socket.write(hello(IMEI));
  await vi.waitFor(() => expect(known.hex).toBe('01'), PATIENCE);
});

test('from elsewhere a header is no header, and no header is needed', async () => {
  await start();
  const forged = await open('teltonika', ELSEWHERE);
  forged.socket.write(Buffer.concat([header('203.0.113.40'), hello(UNKNOWN)]));
  await vi.waitFor(() => expect(forged.closed).toBe(true), PATIENCE);
  expect(await unknownFrom()).toEqual([]);
  const plain = await open('teltonika', ELSEWHERE);
  plain.socket.write(hello(UNKNOWN));
  await vi.waitFor(async () => expect(await unknownFrom()).toEqual([ELSEWHERE]), PATIENCE);
});

test('a proxy that sends no header is refused; its own connections, such as checks, are not', async () => {
  await start();
  const without = await open('teltonika');
  without.socket.write(hello(IMEI));
  await vi.waitFor(() => expect(without.closed).toBe(true), PATIENCE);
  expect(await refusalsOf(metrics)).toEqual({ 'bad-proxy-header': 1 });
  const own = await open('teltonika');
  own.socket.write(Buffer.concat([header('203.0.113.50', { command: 0x20 }), hello(IMEI)]));
  await vi.waitFor(() => expect(own.hex).toBe('01'), PATIENCE);
});

test.each([
  ['0d0a0d0a000d0a515549540a31110000', 'an unknown version'],
  ['0d0a0d0a000d0a515549540a2111ffff', 'of 65551 bytes'],
  ['0d0a0d0a000d0a515549540a21110004c0000201', 'without its addresses'],
  ['0d0a0d0b', 'not a PROXY protocol header'],
  [Buffer.from('PROXY TCP4 203.0.113.1 192.0.2.1 70000 5027\r\n').toString('hex'), 'without its addresses'],
  [Buffer.from('PROXY TCP4 ::1 192.0.2.1 1 5027\r\n').toString('hex'), 'without its addresses'],
  [Buffer.from('PROXY TCP4 203.0.113.1 192.0.2.1 1\r\n').toString('hex'), 'without its addresses'],
  [Buffer.from(`PROXY ${'x'.repeat(110)}`).toString('hex'), 'without an end'],
  [Buffer.from('GET / HTTP/1.1').toString('hex'), 'not a PROXY protocol header'],
])('%s is refused: %s', (hex, why) => {
  expect(() => readProxyHeader(Buffer.from(hex, 'hex'))).toThrow(why);
});

test('of any beginning of a header more is asked for, and of any bytes no more than 2064', () => {
  const whole = header('203.0.113.60', { extra: Buffer.alloc(300) });
  for (let length = 0; length < whole.length; length++) expect(readProxyHeader(whole.subarray(0, length))).toBeNull();
  expect(readProxyHeader(whole)).toEqual({ peer: { address: '203.0.113.60', port: 40_001 }, length: whole.length });
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 2064, maxLength: 2100 }),
      fc.constantFrom('', 'PROXY ', 'v2'),
      (tail, head) => {
        const begin = head === 'v2' ? whole.subarray(0, 13) : Buffer.from(head);
        try {
          expect(readProxyHeader(Buffer.concat([begin, tail]))).not.toBeNull();
        } catch (error) {
          expect((error as Error).message).toMatch(/PROXY protocol header|not.*null/);
          expect((error as Error).name).toBe('Error');
        }
      },
    ),
  );
});
