import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { makeCertificate } from '@outrider/channels/certificate';
import {
  blankPosition,
  type DefinitionChange,
  FIRST_CONTACT_CHANNEL,
  type FirstContact,
  hashOfSecret,
  OPEN_ACCESS,
  type ProtocolName,
  type TerminalAccess,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { createTeltonikaSimulator, encodeLocation, encodeOsmandQuery, Jt808TerminalSide } from '@outrider/protocols';
import { createLogger, Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openTlsIdentity } from './connection/tls-identity.ts';
import { BINDING_PACKETS } from './first-contacts.ts';
import {
  collect,
  connectPeer,
  FREE_PORTS,
  NOON,
  PATIENCE,
  type Peer,
  refusalsOf,
  startGateway,
} from './gateway.fixture.ts';
import type { Gateway, GatewayConfig } from './gateway.ts';
import { HeldLog } from './held-log.fixture.ts';

/** Somebody who knows the id of a terminal tries to send data as it. */

const ID = '13800000007' as TerminalId;
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const SECRET = 'a secret of the terminal'.replaceAll(' ', '-');
const SALT = Buffer.alloc(16, 7);

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;
let version: number;
let contacts: FirstContact[];
const sockets: Socket[] = [];

beforeEach(async () => {
  log = new HeldLog();
  hub = new MemoryHub();
  metrics = new Metrics();
  version = 0;
  contacts = [];
  await hub.subscribe(FIRST_CONTACT_CHANNEL, (text) => contacts.push(JSON.parse(text)));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  log.letGo();
  await gateway.stop();
});

async function start(access: Partial<TerminalAccess>, config: Partial<GatewayConfig> = {}): Promise<void> {
  gateway = await startGateway({ log, hub, metrics }, config);
  define(access);
}

function define(access: Partial<TerminalAccess>): void {
  version++;
  const terminalAccess = { ...OPEN_ACCESS, ...access };
  const definition = sampleVehicle({ id: CAR, version, terminalId: ID, terminalAccess });
  const change: DefinitionChange = { kind: 'vehicle', id: CAR, version, changedAtMs: NOON, definition };
  log.define(change);
}

async function peer(protocol: ProtocolName, localAddress?: string): Promise<Peer> {
  const it = await connectPeer(gateway.ports[protocol], localAddress);
  sockets.push(it.socket);
  return it;
}
async function collected(socket: Socket, ready: string): Promise<Peer> {
  sockets.push(socket);
  return collect(socket, ready);
}
const refusals = () => refusalsOf(metrics);
async function osmand(more: { query?: string; headers?: string; localAddress?: string } = {}): Promise<string> {
  const { query = '', headers = '', localAddress } = more;
  const it = await peer('osmand', localAddress);
  const position = encodeOsmandQuery(ID, blankPosition(NOON, 52.5, 13.4));
  it.socket.write(`GET ${position}${query} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`);
  await vi.waitFor(() => {
    for (const { durable } of log.waiting.splice(0)) durable();
    expect(it.closed).toBe(true);
  }, PATIENCE);
  return it.text.split(' ', 2)[1] ?? '';
}
async function wialon(password: string): Promise<string> {
  const it = await peer('wialon-ips');
  it.socket.write(`#L#${ID};${password}\r\n`);
  await vi.waitFor(() => expect(it.text).toMatch(/\r\n$/), PATIENCE);
  it.socket.destroy();
  return it.text.trim();
}
async function teltonika(): Promise<string> {
  const it = await peer('teltonika');
  it.socket.write(createTeltonikaSimulator(ID).hello() ?? '');
  await vi.waitFor(() => expect(it.bytes.length > 0 || it.closed).toBe(true), PATIENCE);
  return it.bytes.toString('hex');
}

describe('a vehicle that is bound to a protocol', () => {
  test('takes data of its id by no other, and what it has is kept when the binding comes later', async () => {
    await start({ protocol: 'teltonika' });
    expect(await osmand()).toBe('403');
    expect(await wialon('NA')).toBe('#AL#0');
    expect(log.written).toEqual([]);
    expect(await teltonika()).toBe('01');
    expect(await refusals()).toEqual({ 'wrong-protocol': 2 });
    define({ protocol: 'any' });
    expect(await osmand()).toBe('200');
    // A connection that was let in under the old binding is held against the new one with its next packet.
    const phone = await peer('wialon-ips');
    phone.socket.write(`#L#${ID};NA\r\n`);
    await vi.waitFor(() => expect(phone.text).toBe('#AL#1\r\n'), PATIENCE);
    define({ protocol: 'teltonika' });
    phone.socket.write('#P#\r\n#SD#010126;120000;5230.0000;N;01324.0000;E;0;0;0;9\r\n');
    await vi.waitFor(() => expect(phone.closed).toBe(true), PATIENCE);
    expect(log.waiting).toEqual([]);
  });

  test('learns it from ten packets in a row, and holds to it before the definition says so', async () => {
    await start({ protocol: 'learn', seen: false });
    expect(await teltonika()).toBe('01');
    expect(contacts).toEqual([]);
    const contact = { vehicleId: CAR, terminalId: ID, registrationHash: null };
    for (let packets = 1; packets < BINDING_PACKETS; packets++) expect(await osmand()).toBe('200');
    expect(contacts).toEqual([{ ...contact, protocol: null }]);
    expect(await teltonika()).toBe('01');
    expect(await osmand()).toBe('200');
    expect(contacts).toEqual([
      { ...contact, protocol: null },
      { ...contact, protocol: 'osmand' },
    ]);
    expect(await teltonika()).not.toBe('01');
    expect(await osmand()).toBe('200');
    expect(contacts).toHaveLength(2);
    define({ protocol: 'osmand' });
    expect(await teltonika()).not.toBe('01');
    expect(await osmand()).toBe('200');
  });
});

test('a request that somebody tried with the id of a terminal does not lock the terminal out', async () => {
  await start({ protocol: 'learn', seen: false });
  expect(await osmand()).toBe('200');
  const truck = await peer('teltonika');
  const simulator = createTeltonikaSimulator(ID);
  truck.socket.write(simulator.hello() ?? '');
  for (let packets = 1; packets <= BINDING_PACKETS; packets++) {
    truck.socket.write(simulator.encode([blankPosition(NOON + packets, 52.5, 13.4)]));
    await vi.waitFor(() => {
      for (const { durable } of log.waiting.splice(0)) durable();
      expect(truck.hex).toBe(`01${'00000001'.repeat(packets)}`);
    }, PATIENCE);
  }
  expect(contacts.at(-1)).toMatchObject({ protocol: 'teltonika' });
  expect(await osmand()).toBe('403');
});

test('data that a vehicle does not take is listed with the reason, and without its bytes', async () => {
  await start({ protocol: 'teltonika' });
  expect(await osmand()).toBe('403');
  const contact = {
    transport: 'http',
    reason: 'wrong-protocol',
    detail: 'the vehicle is bound to teltonika',
    receivedBytes: 0,
    firstBytes: '',
  };
  expect(await hub.refusedTerminal(ID)).toMatchObject({
    protocol: 'osmand',
    address: '127.0.0.1',
    attempts: 1,
    contact,
  });
  expect(await wialon('NA')).toBe('#AL#0');
  expect(await hub.refusedTerminal(ID)).toMatchObject({ protocol: 'wialon-ips', attempts: 2 });
});

describe('a terminal with a secret', () => {
  const secretHash = hashOfSecret(SECRET, SALT);

  test('shows it as the password of Wialon IPS', async () => {
    await start({ secretHash });
    expect(await wialon('NA')).toBe('#AL#0');
    expect(await wialon(`${SECRET}x`)).toBe('#AL#0');
    expect(await wialon(SECRET)).toBe('#AL#1');
    expect(await refusals()).toEqual({ 'wrong-secret': 2 });
  });

  test('shows it as the token of OsmAnd, in the query or a header, and it is never an attribute', async () => {
    await start({ secretHash });
    expect(await osmand()).toBe('403');
    expect(await osmand({ query: '&token=wrong' })).toBe('403');
    expect(await osmand({ query: `&token=${SECRET}` })).toBe('200');
    expect(await osmand({ headers: `Authorization: Bearer ${SECRET}\r\n` })).toBe('200');
    expect(JSON.stringify(log.written)).not.toContain(SECRET);
  });

  test('is not taken by a protocol that has none', async () => {
    await start({ secretHash });
    expect(await teltonika()).not.toBe('01');
    expect(await refusals()).toEqual({ 'wrong-secret': 1 });
  });

  test('guesses are counted: an address gets as many as it gets unknown ids', async () => {
    await start({ secretHash });
    const answers: string[] = [];
    await vi.waitFor(async () => {
      answers.push(await osmand({ query: '&token=wrong', localAddress: '127.0.0.2' }));
      expect(answers.at(-1)).toBe('429');
    }, PATIENCE);
    expect(answers.filter((status) => status === '403').length).toBeLessThanOrEqual(5);
    expect(await osmand({ query: `&token=${SECRET}` })).toBe('200');
  });
});

describe('the code of a JT/T 808 terminal', () => {
  /** Registers; the result and the code of the answer. */
  async function register(number = '0000007') {
    const side = new Jt808TerminalSide(ID, 2013);
    const it = await peer('jt808');
    // Province and city, maker, model, number of the terminal, and what is about the vehicle.
    const body = `\0\0\0\0${'MAKER'}${'MODEL'.padEnd(20, '\0')}${number}\x01PLATE`;
    it.socket.write(side.say(0x0100, Buffer.from(body, 'latin1')).bytes);
    await vi.waitFor(() => expect(it.bytes.length > 0 || it.closed).toBe(true), PATIENCE);
    const [answer] = side.receive(it.bytes);
    const answered = typeof answer === 'object' ? answer.body : Buffer.alloc(0);
    return { it, side, result: answered[2], code: answered.toString('latin1', 3) };
  }

  /** Shows a code; the result of the answer. */
  async function authorize(code: string) {
    const side = new Jt808TerminalSide(ID, 2013);
    const it = await peer('jt808');
    it.socket.write(side.say(0x0102, Buffer.from(code)).bytes);
    await vi.waitFor(() => expect(it.bytes.length).toBeGreaterThan(0), PATIENCE);
    const [answer] = side.receive(it.bytes);
    return typeof answer === 'object' ? answer.body[4] : null;
  }

  /** Sends a location on a new connection, and nothing before it. */
  async function locate() {
    const it = await peer('jt808');
    const location = encodeLocation(blankPosition(NOON, 52.5, 13.4));
    it.socket.write(new Jt808TerminalSide(ID, 2013).say(0x0200, location).bytes);
    return it;
  }

  test('is given to the terminal that registered first, and to nobody else who registers with its number', async () => {
    await start({ protocol: 'learn', seen: false });
    const own = await register();
    expect(own).toMatchObject({ result: 0, code: expect.stringMatching(/^[0-9a-f]{16}$/) });
    own.it.socket.write(own.side.say(0x0200, encodeLocation(blankPosition(NOON, 52.5, 13.4))).bytes);
    await vi.waitFor(() => expect(contacts).toHaveLength(1), PATIENCE);
    expect(contacts[0]).toMatchObject({ protocol: 'jt808', registrationHash: expect.stringContaining('sha256$') });
    define({ protocol: 'jt808', registrationHash: contacts[0]?.registrationHash ?? null });
    expect(await register()).toMatchObject({ result: 0, code: own.code });
    expect(await register('1234567')).toMatchObject({ result: 3, code: '' });
    // From then on a code of another platform, and data without a code, are not taken either.
    expect(await authorize('of another platform')).toBe(1);
    const stranger = await locate();
    await vi.waitFor(() => expect(stranger.closed).toBe(true), PATIENCE);
    expect(await refusals()).toEqual({ 'not-identified': 1 });
  });

  test.each(['any', 'learn', 'jt808'])('is not needed where no terminal registered: protocol %s', async (protocol) => {
    await start({ protocol, seen: false });
    expect(await authorize('of another platform')).toBe(0);
    await locate();
    await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
    for (const { durable } of log.waiting.splice(0)) durable();
    expect(log.written).toMatchObject([{ protocol: 'jt808', terminalId: ID }]);
    expect(await refusals()).toEqual({});
  });

  test('is not what keeps a vehicle to its networks', async () => {
    await start({ networks: ['192.0.2.0/24'] });
    expect(await authorize('of another platform')).toBe(1);
    const stranger = await locate();
    await vi.waitFor(() => expect(stranger.closed).toBe(true), PATIENCE);
    expect(await refusals()).toEqual({ 'wrong-network': 2 });
    expect(log.waiting).toEqual([]);
  });

  test('is the secret of the vehicle where it has one, and then nobody is given it', async () => {
    await start({ secretHash: hashOfSecret(SECRET, SALT) });
    expect(await register()).toMatchObject({ result: 3, code: '' });
    expect(await authorize('wrong')).toBe(1);
    expect(await authorize(SECRET)).toBe(0);
  });
});

test('a terminal is taken from its networks alone', async () => {
  await start({ networks: ['127.0.0.2/32', '2001:db8::/32'] });
  expect(await osmand()).toBe('403');
  expect(await osmand({ localAddress: '127.0.0.2' })).toBe('200');
  expect(await refusals()).toEqual({ 'wrong-network': 1 });
});

describe('TLS', () => {
  let folder: string;
  const file = (name: string) => join(folder, name);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tls-'));
    for (const name of ['server', 'terminal', 'other']) {
      const { cert, key } = makeCertificate(name, new Date(Date.now() + 86_400_000));
      await writeFile(file(`${name}.pem`), cert);
      await writeFile(file(`${name}.key`), key);
    }
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('a terminal with a certificate is taken with it alone', async () => {
    const { raw } = new X509Certificate(await readFile(file('terminal.pem')));
    const certificateSha256 = createHash('sha256').update(raw).digest('hex');
    await start(
      { certificateSha256 },
      { tls: { ports: FREE_PORTS, certificate: file('server.pem'), key: file('server.key') } },
    );
    const by = async (name: string | null) => {
      const shown =
        name === null ? {} : { cert: await readFile(file(`${name}.pem`)), key: await readFile(file(`${name}.key`)) };
      const socket = connectTls({ port: gateway.tlsPorts.teltonika ?? 0, rejectUnauthorized: false, ...shown });
      const it = await collected(socket, 'secureConnect');
      socket.write(createTeltonikaSimulator(ID).hello() ?? '');
      await vi.waitFor(() => expect(it.bytes.length > 0 || it.closed).toBe(true), PATIENCE);
      return it.bytes.toString('hex');
    };
    expect(await by('terminal')).toBe('01');
    for (const name of ['other', null]) expect(await by(name), `${name}`).not.toBe('01');
    expect(await teltonika()).not.toBe('01');
    expect(await refusals()).toEqual({ 'wrong-certificate': 3 });
  });

  test('certificate and key are read anew when both are there, and kept while they do not fit together', async () => {
    await start({});
    const files = { certificate: file('server.pem'), key: file('server.key') };
    const clock = new VirtualClock();
    const logger = createLogger('silent', 'json');
    const kept = vi.spyOn(logger, 'warn');
    const identity = await openTlsIdentity(files, logger, clock);
    const seen: string[] = [];
    identity.watch(({ cert }) => seen.push(cert.toString()));
    const next = await readFile(file('other.pem'));
    await writeFile(files.certificate, next);
    await clock.advance(10_000);
    await vi.waitFor(() => expect(kept).toHaveBeenCalledOnce(), PATIENCE);
    expect(seen).toEqual([]);
    await writeFile(files.key, await readFile(file('other.key')));
    await clock.advance(10_000);
    await vi.waitFor(() => expect(seen).toEqual([next.toString()]), PATIENCE);
    identity.close();
  });
});
