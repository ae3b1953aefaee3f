import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  blankPosition,
  type DefinitionChange,
  hashOfSecret,
  OPEN_ACCESS,
  type TerminalAccess,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub, openTerminalCommands, type TerminalCommands } from '@outrider/hub';
import { type CreateSimulator, datagramProtocols, gt06, queclink, teltonika, wialonIps } from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NOON, PATIENCE, refusalsOf, startGateway } from '../gateway.fixture.ts';
import type { Gateway, GatewayConfig } from '../gateway.ts';
import { HeldLog } from '../held-log.fixture.ts';

const IMEI = '356307042441013' as TerminalId;
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
/** Another address of this machine: its own is not counted. */
const ELSEWHERE = '127.0.0.2';

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;
let clock: VirtualClock;
const sockets: Socket[] = [];

beforeEach(() => {
  log = new HeldLog();
  hub = new MemoryHub();
  metrics = new Metrics();
  clock = new VirtualClock(NOON);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  log.letGo();
  await gateway.stop();
});

async function start(
  terminalId: TerminalId,
  access: Partial<TerminalAccess> = {},
  config: Partial<GatewayConfig> = {},
) {
  gateway = await startGateway({ log, hub, metrics, clock }, config);
  log.define(vehicle(terminalId, access));
}

function vehicle(terminalId: TerminalId | null, access: Partial<TerminalAccess> = {}, version = 1): DefinitionChange {
  const terminalAccess = { ...OPEN_ACCESS, ...access };
  return {
    kind: 'vehicle',
    id: CAR,
    version,
    changedAtMs: NOON,
    definition: sampleVehicle({ id: CAR, version, name: 'car', terminalId, terminalAccess }),
  };
}

/** A peer with everything it was answered. */
async function peer(protocol: string, address = '127.0.0.1') {
  const socket = createSocket('udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  sockets.push(socket);
  const answers: Buffer[] = [];
  socket.on('message', (bytes) => answers.push(bytes));
  const send = (bytes: Buffer) =>
    new Promise<void>((resolve) => socket.send(bytes, gateway.udpPorts[protocol], '127.0.0.1', () => resolve()));
  return { send, answers };
}

const simulatorOf = (create: CreateSimulator | undefined, terminalId = IMEI) => {
  if (create === undefined) throw new TypeError('no simulator');
  return create(terminalId);
};
const overUdp = () => simulatorOf(teltonika.datagrams?.simulator);
const place = (seconds = 0) => blankPosition(NOON + seconds * 1000, 52.5, 13.4);
const written = (count: number) => vi.waitFor(() => expect(log.waiting).toHaveLength(count), PATIENCE);
const refused = (counts: Record<string, number>) =>
  vi.waitFor(async () => expect(await refusalsOf(metrics)).toEqual(counts), PATIENCE);

/** Answers come in the order of the datagrams: what was sent before was not answered. */
async function expectNoAnswer({ send, answers }: Awaited<ReturnType<typeof peer>>): Promise<void> {
  const before = answers.length;
  const count = log.waiting.length;
  log.define(vehicle(IMEI, {}, 1000));
  await send(overUdp().encode([place(1)]));
  await written(count + 1);
  for (const { durable } of log.waiting) durable();
  await vi.waitFor(() => expect(answers).toHaveLength(before + 1), PATIENCE);
}

describe.each(datagramProtocols)('a terminal over UDP: $name', (protocol) => {
  test('is acknowledged once its packet is durable, and again when it sends it again', async () => {
    const terminalId = protocol.exampleId(7);
    await start(terminalId);
    const it = await peer(protocol.name);
    const simulator = simulatorOf(protocol.datagrams.simulator ?? protocol.simulators[0], terminalId);
    const hello = simulator.hello();
    if (hello !== null) {
      await it.send(hello);
      await vi.waitFor(() => expect(it.answers).toHaveLength(1), PATIENCE);
      expect(simulator.receive(it.answers.splice(0)[0] ?? Buffer.alloc(0))).toEqual([{ type: 'welcome' }]);
    }
    const datagram = simulator.encode([place()]);
    for (let attempt = 0; attempt < 2; attempt++) {
      await it.send(datagram);
      await written(attempt + 1);
      expect(it.answers).toHaveLength(attempt);
      log.waiting[attempt]?.durable();
      await vi.waitFor(() => expect(it.answers).toHaveLength(attempt + 1), PATIENCE);
    }
    expect(simulator.receive(it.answers[0] ?? Buffer.alloc(0))).toEqual([{ type: 'ack' }]);
    expect(log.written).toMatchObject(Array(2).fill({ terminalId, protocol: protocol.name, vehicleId: CAR }));
    await refused({});
  });
});

describe('a datagram', () => {
  test('of an unknown terminal is not answered, and noted with its bytes', async () => {
    await start(IMEI);
    const it = await peer('teltonika');
    const stranger = simulatorOf(teltonika.datagrams?.simulator, '356307042441099' as TerminalId);
    const datagram = stranger.encode([place()]);
    await it.send(datagram);
    await refused({ 'unknown-terminal': 1 });
    expect(await hub.unknownTerminals()).toMatchObject([
      { terminalId: '356307042441099', contact: { transport: 'udp', receivedBytes: datagram.length } },
    ]);
    await expectNoAnswer(it);
  });

  test('of garbage is not answered, and noted with the protocol that it fits', async () => {
    await start(IMEI);
    const it = await peer('teltonika');
    const login = simulatorOf(gt06.simulators[0]).hello() ?? Buffer.alloc(0);
    await it.send(login);
    await refused({ 'bad-length': 1 });
    expect(await hub.unknownDevices()).toMatchObject([
      {
        protocol: 'teltonika',
        contact: { transport: 'udp', firstBytes: login.toString('hex') },
        guesses: [{ protocol: 'gt06', terminalId: IMEI }],
      },
    ]);
    await expectNoAnswer(it);
  });

  test('that is cut off or too long is refused', async () => {
    await start(IMEI);
    const it = await peer('teltonika');
    const datagram = overUdp().encode([place()]);
    await it.send(datagram.subarray(0, -3));
    await it.send(Buffer.concat([datagram, Buffer.alloc(20_000)]));
    await it.send(Buffer.alloc(0));
    await refused({ 'bad-length': 2 });
    expect(log.waiting).toEqual([]);
    await expectNoAnswer(it);
  });

  test('with a whole frame and a part of another gives the whole one', async () => {
    const terminalId = '359999000000018' as TerminalId;
    await start(terminalId);
    const it = await peer('meitrack');
    const { simulators } = datagramProtocols.find(({ name }) => name === 'meitrack') ?? {};
    const frame = simulatorOf(simulators?.[0], terminalId).encode([place()]);
    await it.send(Buffer.concat([frame, frame.subarray(0, 10)]));
    await refused({ 'bad-length': 1 });
    await written(1);
    log.waiting[0]?.durable();
    await vi.waitFor(() => expect(it.answers).toHaveLength(1), PATIENCE);
  });
});

describe('what a vehicle demands of its terminal is demanded over UDP', () => {
  const datagram = () => overUdp().encode([place()]);

  test.each([
    ['wrong-protocol', { protocol: 'gt06' }],
    ['wrong-network', { networks: ['192.0.2.0/24'] }],
    ['wrong-certificate', { certificateSha256: 'ab'.repeat(32) }],
    ['wrong-secret', { secretHash: hashOfSecret('secret-of-it', Buffer.alloc(16, 7)) }],
  ] as const)('%s', async (reason, access) => {
    await start(IMEI, access as Partial<TerminalAccess>);
    const it = await peer('teltonika');
    await it.send(datagram());
    await refused({ [reason]: 1 });
    expect(log.waiting).toEqual([]);
    await expectNoAnswer(it);
  });

  test('a password in each datagram is checked', async () => {
    await start(IMEI, { secretHash: hashOfSecret('secret-of-it', Buffer.alloc(16, 7)) });
    const it = await peer('wialon-ips');
    const message = simulatorOf(wialonIps.simulators[1]).encode([place()]);
    await it.send(Buffer.concat([Buffer.from(`${IMEI};another`), message]));
    await refused({ 'wrong-secret': 1 });
    await it.send(Buffer.concat([Buffer.from(`${IMEI};secret-of-it`), message]));
    await written(1);
    log.waiting[0]?.durable();
    await vi.waitFor(() => expect(it.answers.map(String)).toEqual(['#AD#1\r\n']), PATIENCE);
  });
});

describe('bounds', () => {
  test('datagrams are dropped while the log takes none, and taken when they are sent again', async () => {
    await start(IMEI);
    const it = await peer('teltonika');
    await it.send(overUdp().encode([place()]));
    await written(1);
    log.waiting[0]?.refuse(new Error('no disk'));
    await vi.waitFor(() => expect(gateway.healthy).toBe(false), PATIENCE);
    await it.send(overUdp().encode([place(1)]));
    await refused({ held: 1 });
    await clock.advance(100);
    await written(2);
    for (const { durable } of log.waiting) durable();
    await vi.waitFor(() => expect(it.answers).toHaveLength(1), PATIENCE);
    await vi.waitFor(() => expect(gateway.healthy).toBe(true), PATIENCE);
    await it.send(overUdp().encode([place(1)]));
    await written(3);
  });

  test('of a terminal 16 wait for the log', async () => {
    await start(IMEI);
    const it = await peer('teltonika');
    const simulator = overUdp();
    for (let n = 0; n < 20; n++) await it.send(simulator.encode([place(n)]));
    await refused({ 'too-many-waiting': 4 });
    const taken = log.waiting.flatMap(({ packets }) => packets);
    expect(taken).toHaveLength(16);
    for (const { durable } of log.waiting) durable();
    await vi.waitFor(() => expect(it.answers).toHaveLength(16), PATIENCE);
  });

  test('an address sends as many a second as it may', async () => {
    await start(IMEI, {}, { maxDatagramsPerAddress: 2 });
    const it = await peer('teltonika', ELSEWHERE);
    const simulator = overUdp();
    for (let n = 0; n < 3; n++) await it.send(simulator.encode([place(n)]));
    await refused({ 'too-many-of-address': 1 });
    await clock.advance(1000);
    await it.send(simulator.encode([place(9)]));
    await vi.waitFor(() => expect(log.waiting.flatMap(({ packets }) => packets)).toHaveLength(3), PATIENCE);
  });

  test('an address that tries unknown ids is blocked', async () => {
    await start(IMEI);
    const it = await peer('teltonika', ELSEWHERE);
    for (let n = 20; n < 25; n++) {
      await it.send(simulatorOf(teltonika.datagrams?.simulator, `3563070424410${n}` as TerminalId).encode([place()]));
      await vi.waitFor(async () => {
        const counts = Object.values(await refusalsOf(metrics));
        expect(counts.reduce((sum, each) => sum + each, 0)).toBe(n - 19);
      }, PATIENCE);
    }
    expect(await refusalsOf(metrics)).toEqual({ 'unknown-terminal': 4, 'address-blocked': 1 });
  });
});

describe('a terminal that logs in once', () => {
  async function logIn() {
    await start(IMEI, {}, { maxConnections: 2 });
    const it = await peer('gt06');
    const simulator = simulatorOf(gt06.simulators[0]);
    const hello = simulator.hello() ?? Buffer.alloc(0);
    const enter = async (who: typeof it) => {
      const before = who.answers.length;
      await who.send(hello);
      await vi.waitFor(() => expect(who.answers).toHaveLength(before + 1), PATIENCE);
    };
    await enter(it);
    return { it, simulator, enter };
  }

  test('is forgotten after the idle time', async () => {
    const { it, simulator, enter } = await logIn();
    await clock.advance(30_001);
    await it.send(simulator.encode([place()]));
    await refused({ 'not-identified': 1 });
    await enter(it);
    await it.send(simulator.encode([place()]));
    await written(1);
  });

  test('is forgotten first when it was silent longest', async () => {
    const { it, simulator, enter } = await logIn();
    const others = [await peer('gt06'), await peer('gt06')];
    for (const other of others) await enter(other);
    await it.send(simulator.encode([place()]));
    await refused({ 'not-identified': 1 });
    await others[1]?.send(simulator.encode([place()]));
    await written(1);
  });

  test('is known by its port: another one of its address is not', async () => {
    const { it, simulator } = await logIn();
    const other = await peer('gt06');
    await other.send(simulator.encode([place()]));
    await refused({ 'not-identified': 1 });
    await it.send(simulator.encode([place()]));
    await written(1);
  });

  test('is let in no more once its vehicle has another terminal', async () => {
    const { it, simulator } = await logIn();
    log.define(vehicle(null, {}, 2));
    await it.send(simulator.encode([place()]));
    await refused({ 'unknown-terminal': 1 });
    expect(log.waiting).toEqual([]);
  });
});

describe('a command to a terminal over UDP', () => {
  let commands: TerminalCommands;
  beforeEach(async () => {
    commands = await openTerminalCommands(hub);
  });
  afterEach(() => commands.close());

  const text = (words: string) =>
    commands.send(IMEI, { type: 'text', parameters: { text: words } }, { timeoutMs: 20_000 });

  test('goes to where its newest datagram came from, and is answered by one', async () => {
    await start(IMEI);
    const it = await peer('gt06');
    const simulator = simulatorOf(gt06.simulators[0]);
    await it.send(simulator.hello() ?? Buffer.alloc(0));
    await vi.waitFor(() => expect(it.answers).toHaveLength(1), PATIENCE);
    const outcome = text('STATUS#');
    await vi.waitFor(() => expect(it.answers).toHaveLength(2), PATIENCE);
    const [reply] = simulator.receive(it.answers[1] as Buffer);
    if (reply?.type !== 'command') throw new TypeError(JSON.stringify(reply));
    expect(reply.text).toBe('STATUS#');
    await it.send(reply.answer(true) as Buffer);
    expect(await outcome).toMatchObject({ outcome: 'answered', answer: { result: 'done' } });
  });

  test('of which each datagram says who it is, is answered by a later one', async () => {
    await start(IMEI);
    const it = await peer('queclink');
    const simulator = simulatorOf(queclink.simulators[0]);
    await it.send(simulator.encode([place()]));
    await written(1);
    const outcome = text('AT+GTRTO=gv300,1,,,,,,0001$');
    await vi.waitFor(() => expect(it.answers.join('')).toContain('AT+GTRTO'), PATIENCE);
    await it.send(Buffer.from(`+RESP:GTINF,270302,${IMEI},,16,20260101120000,11EF$`));
    await it.send(Buffer.from(`+ACK:GTRTO,270302,${IMEI},,RTL,0001,20260101120000,11F0$`));
    expect(await outcome).toMatchObject({ outcome: 'answered', answer: { result: 'done' } });
  });

  test('is not sent once the datagram is old', async () => {
    await start(IMEI);
    const it = await peer('gt06');
    await it.send(simulatorOf(gt06.simulators[0]).hello() ?? Buffer.alloc(0));
    await vi.waitFor(() => expect(it.answers).toHaveLength(1), PATIENCE);
    await clock.advance(60_000);
    expect(await text('STATUS#')).toMatchObject({ outcome: 'offline' });
    expect(it.answers).toHaveLength(1);
  });
});

test('without UDP nothing listens for datagrams', async () => {
  await start(IMEI, {}, { udp: false });
  expect(gateway.udpPorts).toEqual({});
});
