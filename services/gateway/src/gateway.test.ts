import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  blankPosition,
  type DefinitionChange,
  hashOfSecret,
  OPEN_ACCESS,
  type TerminalId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub, openTerminalCommands } from '@outrider/hub';
import { LogFullError } from '@outrider/log';
import {
  createTeltonikaSimulator,
  encodeLocation,
  encodeOsmandQuery,
  encodeRecordings,
  Jt808TerminalSide,
} from '@outrider/protocols';
import { Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConnectedTerminals } from './connection/connected-terminals.ts';
import type { Connection } from './connection/connection.ts';
import { connectPeer, NOON, PATIENCE, refusalsOf, startGateway } from './gateway.fixture.ts';
import type { Gateway, GatewayConfig } from './gateway.ts';
import { HeldLog } from './held-log.fixture.ts';

const IMEI = '356307042441013' as TerminalId;
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
/** Connects and disconnects are published together after this time. */
const GATHERED_MS = 200;
/** Packets that the log refused are appended again after this time. */
const RETRY_MS = 100;

let log: HeldLog;
let hub: MemoryHub;
let metrics: Metrics;
let gateway: Gateway;
let clock: VirtualClock;
const sockets: Socket[] = [];

beforeEach(async () => {
  log = new HeldLog();
  hub = new MemoryHub();
  await start({});
});

async function start(config: Partial<GatewayConfig>): Promise<void> {
  metrics = new Metrics();
  clock = new VirtualClock(NOON);
  gateway = await startGateway(
    { log, hub, metrics, clock },
    { maxConnections: 3, maxConnectionsPerAddress: 2, ...config },
  );
  log.define(vehicle(1, IMEI));
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  log.letGo();
  await gateway.stop();
});

function vehicle(version: number, terminalId: TerminalId | null): DefinitionChange {
  return {
    kind: 'vehicle',
    id: CAR,
    version,
    changedAtMs: NOON,
    definition: sampleVehicle({ id: CAR, version, name: 'car', terminalId }),
  };
}

/** A Teltonika terminal with everything it was answered. */
async function terminal(imei: TerminalId = IMEI) {
  const peer = await connectPeer(gateway.ports.teltonika);
  const { socket } = peer;
  sockets.push(socket);
  const simulator = createTeltonikaSimulator(imei);
  return {
    socket,
    simulator,
    get received() {
      return peer.hex;
    },
    get closed() {
      return peer.closed;
    },
    hello() {
      const hello = simulator.hello();
      if (hello) socket.write(hello);
    },
    send(...times: number[]) {
      socket.write(simulator.encode(times.map((time) => ({ ...blankPosition(time, 52.5, 13.4), satellites: 9 }))));
    },
  };
}

/** A terminal that came later has its answer, whatever it is: what was to be answered before it has been. */
async function anotherIsAnswered(): Promise<void> {
  const other = await terminal();
  other.hello();
  await vi.waitFor(() => expect(other.received).not.toBe(''), PATIENCE);
  other.socket.destroy();
}

async function counted(name: string, labels: Record<string, string>): Promise<number> {
  const metric = (await metrics.getMetricsAsJSON()).find((candidate) => candidate.name === name);
  const value = metric?.values.find(({ labels: have }) =>
    Object.entries(labels).every(([label, text]) => (have as Record<string, unknown>)[label] === text),
  );
  return value?.value ?? 0;
}

const refused = () => refusalsOf(metrics, true);

test('a packet is acknowledged once it is durable, and not before', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  car.send(NOON, NOON + 1000);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  await anotherIsAnswered();
  expect(car.received).toBe('01');

  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(car.received).toBe('0100000002'), PATIENCE);
  expect(log.written).toMatchObject([
    {
      vehicleId: CAR,
      terminalId: IMEI,
      protocol: 'teltonika',
      receivedAtMs: NOON,
      positions: [{ fixTimeMs: NOON }, { fixTimeMs: NOON + 1000 }],
    },
  ]);
  expect(await counted('outrider_positions_received_total', { protocol: 'teltonika' })).toBe(2);
});

test('acknowledgements keep the order of the packets, even where a later one is durable first', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  car.send(NOON + 1000, NOON + 2000);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(2), PATIENCE);
  log.waiting[1]?.durable();
  await anotherIsAnswered();
  expect(car.received).toBe('01');
  log.waiting[0]?.durable();
  await vi.waitFor(() => expect(car.received).toBe('010000000100000002'), PATIENCE);
});

test('the hub knows which terminals are connected, and from where, until they go', async () => {
  const connections = async () => (await hub.connections([IMEI])).get(IMEI);
  const car = await terminal();
  car.hello();
  const noted = { protocol: 'teltonika', address: '127.0.0.1', sinceMs: NOON };
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  await clock.advance(GATHERED_MS);
  expect(await connections()).toEqual(noted);
  // It comes again before its old connection is known to be dead.
  const again = await terminal();
  again.hello();
  await vi.waitFor(() => expect(again.received).toBe('01'), PATIENCE);
  car.socket.destroy();
  await vi.waitFor(
    async () => expect(await counted('outrider_terminal_connections', { protocol: 'teltonika' })).toBe(1),
    PATIENCE,
  );
  expect(await connections()).toEqual(noted);
  await clock.advance(GATHERED_MS);
  expect(await connections()).toEqual({ ...noted, sinceMs: NOON + GATHERED_MS });
  again.socket.destroy();
  await vi.waitFor(async () => {
    await clock.advance(GATHERED_MS);
    expect(await connections()).toBeUndefined();
  }, PATIENCE);
});

test('connections that the hub did not take, or forgot, are noted again', async () => {
  const noted: string[][] = [];
  let refusals = 0;
  let answer: () => boolean = () => {
    refusals += 1;
    throw new Error('the hub is away');
  };
  const terminals = new ConnectedTerminals(
    {
      async noteConnections(_, changes) {
        const isKnown = answer();
        noted.push(changes.map(({ terminalId, connection }) => `${connection ? '+' : '-'}${terminalId}`));
        return isKnown;
      },
      publish: async () => {},
      subscribe: async () => async () => {},
    },
    () => {},
    clock,
  );
  const connection = { address: '192.0.2.1', takesCommands: false } as Connection;
  terminals.came('1' as TerminalId, connection, 'teltonika', NOON);
  await clock.advance(GATHERED_MS);
  expect(refusals).toBe(1);
  answer = () => noted.length > 0;
  terminals.came('2' as TerminalId, connection, 'teltonika', NOON);
  // The first call that succeeds is the first that it gets from this gateway: it gets all terminals again.
  await clock.advance(2 * GATHERED_MS);
  expect(noted).toEqual([
    ['+1', '+2'],
    ['+1', '+2'],
  ]);
  await terminals.close();
  expect(noted.at(-1)).toEqual(['-1', '-2']);
});

test('text of a terminal is counted, not answered, and its packets go on', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  // Codec 12: "ok".
  car.socket.write(Buffer.from('000000000000000a0c0106000000026f6b010000d092', 'hex'));
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting.flatMap(({ packets }) => packets)).toHaveLength(2), PATIENCE);
  for (const { durable } of log.waiting.splice(0)) durable();
  await vi.waitFor(() => expect(car.received).toBe('0100000001'), PATIENCE);
  expect(await counted('outrider_terminal_texts_total', { protocol: 'teltonika' })).toBe(1);
  expect(car.closed).toBe(false);
});

test('the model of the vehicle says what the data means, on an open connection as well', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  const fuelOf = async (fixTimeMs: number) => {
    car.socket.write(car.simulator.encode([{ ...blankPosition(fixTimeMs, 52.5, 13.4), fuelL: 52 }]));
    await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
    log.waiting.shift()?.durable();
    return log.written.at(-1)?.positions[0]?.fuelL;
  };
  expect(await fuelOf(NOON)).toBe(52);
  const change = vehicle(2, IMEI);
  log.define({ ...change, definition: { ...(change.definition as Vehicle), deviceModel: 'FMB640' } });
  expect(await fuelOf(NOON + 1000)).toBe(null);
});

test('packets that wait together go into the log together', async () => {
  const cars = await Promise.all([terminal(), terminal()]);
  for (const car of cars) car.hello();
  await vi.waitFor(() => expect(cars.map(({ received }) => received)).toEqual(['01', '01']), PATIENCE);
  const packet = cars[0]?.simulator.encode([blankPosition(NOON, 52.5, 13.4)]) ?? Buffer.alloc(0);
  cars[0]?.socket.write(Buffer.concat([packet, packet, packet]));
  await vi.waitFor(() => expect(log.waiting[0]?.packets).toHaveLength(3), PATIENCE);
});

test('a terminal without a vehicle is refused, counted and noted', async () => {
  const stranger = await terminal('111111111111111' as TerminalId);
  stranger.hello();
  await vi.waitFor(() => expect(stranger.closed).toBe(true), PATIENCE);
  expect(stranger.received).toBe('00');
  expect(await counted('outrider_refusals_total', { protocol: 'teltonika', reason: 'unknown-terminal' })).toBe(1);
  expect(await hub.unknownTerminals()).toMatchObject([
    { terminalId: '111111111111111', protocol: 'teltonika', attempts: 1 },
  ]);
});

test('a terminal whose vehicle is taken away is refused from its next packet on', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  log.define(vehicle(2, null));
  car.send(NOON);
  await vi.waitFor(() => expect(car.closed).toBe(true), PATIENCE);
  expect(car.received).toBe('01');
  expect(log.waiting).toHaveLength(0);
});

test('a vehicle that gets its terminal while the service runs is let in at once', async () => {
  const other = '222222222222222' as TerminalId;
  log.define(vehicle(2, other));
  const car = await terminal(other);
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
});

test('a write that fails is not acknowledged, holds terminals back, and is made again', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  log.waiting.shift()?.refuse(new Error('disk full'));
  await vi.waitFor(() => expect(gateway.healthy).toBe(false), PATIENCE);
  car.send(NOON + 1000);
  await clock.advance(RETRY_MS);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  expect(car.received).toBe('01');
  // Held back: the second packet is not even read before the first is safe.
  expect(log.waiting[0]?.packets).toMatchObject([{ positions: [{ fixTimeMs: NOON }] }]);

  log.waiting.shift()?.refuse(new LogFullError('64 MiB are waiting'));
  await clock.advance(RETRY_MS);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(car.received).toBe('0100000001'), PATIENCE);
  expect(gateway.healthy).toBe(true);
  await vi.waitFor(
    () => expect(log.waiting[0]?.packets).toMatchObject([{ positions: [{ fixTimeMs: NOON + 1000 }] }]),
    PATIENCE,
  );
});

test('while the log is behind, terminals are not read', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  log.pendingBytes = 100 * 1024 * 1024;
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  car.send(NOON + 1000);
  // What came after it is answered.
  expect((await fetch(`http://127.0.0.1:${gateway.ports.osmand}/?id=1`)).status).toBe(503);
  expect(log.waiting).toHaveLength(1);
  log.pendingBytes = 0;
  log.waiting.shift()?.durable();
  await vi.waitFor(
    () => expect(log.waiting[0]?.packets).toMatchObject([{ positions: [{ fixTimeMs: NOON + 1000 }] }]),
    PATIENCE,
  );
});

test('a silent terminal is disconnected with a counted reason', async () => {
  await gateway.stop();
  await start({ idleTimeoutMs: 100 });
  const silent = await terminal();
  await vi.waitFor(async () => {
    await clock.advance(100);
    expect(silent.closed).toBe(true);
  }, PATIENCE);
  expect(await refused()).toEqual({ 'teltonika not-identified-in-time': 1 });
});

test('a terminal that talks garbage is disconnected with a counted reason', async () => {
  const garbage = await terminal();
  garbage.socket.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await vi.waitFor(() => expect(garbage.closed).toBe(true), PATIENCE);
  expect(await refused()).toEqual({ 'teltonika bad-frame': 1 });
});

test('a connection over the bound is turned away', async () => {
  await Promise.all([terminal(), terminal(), terminal()]);
  const fourth = await terminal();
  await vi.waitFor(() => expect(fourth.closed).toBe(true), PATIENCE);
  expect(await counted('outrider_refusals_total', { reason: 'too-many-connections' })).toBe(1);
});

test('a terminal that closes its side after its last packet still gets its acknowledgement', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  car.send(NOON);
  car.socket.end();
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(car.closed).toBe(true), PATIENCE);
  expect(car.received).toBe('0100000001');
});

test('stopping waits for what was taken, and says so to the terminals', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.received).toBe('01'), PATIENCE);
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  const stopped = gateway.stop();
  log.waiting.shift()?.durable();
  await stopped;
  await vi.waitFor(() => expect(car.closed).toBe(true), PATIENCE);
  expect(car.received).toBe('0100000001');
});

test('a phone is answered 200 once its position is durable', async () => {
  const url = `http://127.0.0.1:${gateway.ports.osmand}${encodeOsmandQuery(IMEI, blankPosition(NOON, 52.5, 13.4))}`;
  let status: number | null = null;
  const answered = fetch(url, { method: 'POST' }).then((response) => {
    status = response.status;
  });
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
  expect(status).toBeNull();
  log.waiting.shift()?.durable();
  await answered;
  expect(status).toBe(200);
  expect(log.written).toMatchObject([{ protocol: 'osmand', positions: [{ fixTimeMs: NOON, latitude: 52.5 }] }]);
});

test('a phone without a vehicle, without a place, or with too long a body is reported what is wrong', async () => {
  const base = `http://127.0.0.1:${gateway.ports.osmand}`;
  const stranger = await fetch(`${base}/?id=stranger&lat=52.5&lon=13.4&timestamp=${NOON / 1000}`);
  expect(stranger.status).toBe(404);
  expect(await stranger.text()).toContain('stranger');
  expect((await fetch(`${base}/?id=${IMEI}&lat=north`)).status).toBe(400);
  const long = await fetch(base, { method: 'POST', body: 'x'.repeat(70_000) }).catch(() => null);
  if (long) expect(long.status).toBe(413);
});

describe('a terminal of JT/T 808', () => {
  const PHONE = '13900000001' as TerminalId;

  /** Registered, with everything that it was reported. */
  async function registered(phone: TerminalId = PHONE) {
    const socket = connect(gateway.ports.jt808 ?? 0, '127.0.0.1');
    sockets.push(socket);
    const side = new Jt808TerminalSide(phone, 2019);
    const received: Exclude<ReturnType<typeof side.receive>[number], string>[] = [];
    socket.on('data', (chunk) => {
      for (const message of side.receive(chunk as Buffer)) if (typeof message !== 'string') received.push(message);
    });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(side.register());
    await vi.waitFor(() => expect(received).toHaveLength(1), PATIENCE);
    return { socket, side, received };
  }

  test('is given a code when it registers, shows it when it comes back, and is refused with a word where it has no vehicle', async () => {
    log.define(vehicle(2, PHONE));
    const { received, socket } = await registered();
    expect(received[0]?.body[2]).toBe(0);
    const code = received[0]?.body.toString('latin1', 3) ?? '';
    socket.destroy();

    const back = connect(gateway.ports.jt808 ?? 0, '127.0.0.1');
    sockets.push(back);
    const side = new Jt808TerminalSide(PHONE, 2019);
    back.write(side.authorize(code));
    const [answer] = (await once(back, 'data')) as [Buffer];
    expect(side.receive(answer)).toMatchObject([{ id: 0x8001 }]);

    const stranger = await registered('13999999999' as TerminalId);
    expect(stranger.received[0]?.body[2]).toBe(4);
    expect(await hub.unknownTerminals()).toMatchObject([{ terminalId: '13999999999', protocol: 'jt808' }]);
  });

  test.each([
    ['the IMEI', '356307042441013'],
    ['the hexadecimal digits', '2067eb783585'],
    ['the same in capitals', '2067EB783585'],
  ])('with an IMEI packed into its number is known by %s', async (_, id) => {
    log.define(vehicle(2, id as TerminalId));
    const car = await registered('2067eb783585' as TerminalId);
    expect(car.received[0]?.body[2]).toBe(0);
    car.socket.write(car.side.say(0x0200, encodeLocation(blankPosition(NOON, 52.5, 13.4))).bytes);
    await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
    log.waiting.shift()?.durable();
    await vi.waitFor(() => expect(log.written).toMatchObject([{ protocol: 'jt808', terminalId: id }]), PATIENCE);
    expect(await hub.unknownTerminals()).toEqual([]);
  });

  test('without a vehicle is listed, whatever it is refused for', async () => {
    const terminalAccess = { ...OPEN_ACCESS, secretHash: hashOfSecret('its code', Buffer.alloc(16)) };
    const definition = sampleVehicle({ id: CAR, version: 2, terminalId: PHONE, terminalAccess });
    log.define({ ...vehicle(2, PHONE), definition });
    expect((await registered('2067eb783585' as TerminalId)).received[0]?.body[2]).toBe(4);
    for (const [number, ofVehicle] of [
      ['a1b2c3d4e5f6', false],
      [PHONE, true],
    ] as const) {
      const socket = connect(gateway.ports.jt808 ?? 0, '127.0.0.1');
      sockets.push(socket);
      const closed = once(socket, 'close');
      socket.resume();
      socket.write(new Jt808TerminalSide(number, 2013).heartbeat());
      await closed;
      const listed = (await hub.unknownTerminals()).map(({ terminalId }) => terminalId);
      expect(listed.includes(number as string)).toBe(!ofVehicle);
    }
    expect(await refused()).toEqual({ 'jt808 unknown-terminal': 2, 'jt808 not-identified': 1 });
    expect((await hub.unknownTerminals()).map(({ terminalId }) => terminalId).toSorted()).toEqual([
      '356307042441013',
      'a1b2c3d4e5f6',
    ]);
  });

  test('is acknowledged by 0x8001 once its positions are durable', async () => {
    log.define(vehicle(2, PHONE));
    const car = await registered();
    car.socket.write(car.side.say(0x0200, encodeLocation(blankPosition(NOON, 52.5, 13.4))).bytes);
    await vi.waitFor(() => expect(log.waiting).toHaveLength(1), PATIENCE);
    await anotherIsAnswered();
    expect(car.received).toHaveLength(1);
    log.waiting.shift()?.durable();
    await vi.waitFor(() => expect(car.received[1]?.id).toBe(0x8001), PATIENCE);
    expect(log.written).toMatchObject([{ protocol: 'jt808', terminalId: PHONE, positions: [{ fixTimeMs: NOON }] }]);
  });

  test('is in contact by its heartbeat', async () => {
    log.define(vehicle(2, PHONE));
    const car = await registered();
    expect(log.waiting).toEqual([]);
    car.socket.write(car.side.heartbeat());
    await vi.waitFor(() => expect(log.waiting).toMatchObject([{ packets: [{ positions: [] }] }]), PATIENCE);
    expect(log.waiting[0]?.packets).toMatchObject([{ vehicleId: CAR, terminalId: PHONE, protocol: 'jt808' }]);
    await vi.waitFor(() => expect(car.received[1]?.id).toBe(0x8001), PATIENCE);
  });

  test('is announced over the hub, takes commands from there, and its answers go back', async () => {
    log.define(vehicle(2, PHONE));
    const commands = await openTerminalCommands(hub);
    const presence: boolean[] = [];
    commands.onPresence((_, online) => presence.push(online));
    const car = await registered();
    await vi.waitFor(() => expect(presence).toEqual([true]), PATIENCE);

    const asked = commands.send(
      PHONE,
      { type: 'list-recordings', channel: 1, startMs: NOON, endMs: NOON + 60_000, media: 'video', stream: 'main' },
      { timeoutMs: 5000 },
    );
    await vi.waitFor(() => expect(car.received).toHaveLength(2), PATIENCE);
    const [, question] = car.received;
    expect(question?.id).toBe(0x9205);
    // Another message in between does not confuse it, nor a word that it got the question.
    car.socket.write(car.side.heartbeat());
    car.socket.write(car.side.acknowledge(question ?? { id: 0, serial: 0 }));
    car.socket.write(car.side.say(0x1205, encodeRecordings(question?.serial ?? 0, [])).bytes);
    expect(await asked).toEqual({ outcome: 'answered', answer: { type: 'recordings', recordings: [] } });

    const silent = { type: 'control-playback', channel: 1, action: 'end', seekToMs: null } as const;
    const unanswered = commands.send(PHONE, silent, { timeoutMs: 5000 });
    await vi.waitFor(() => expect(car.received).toHaveLength(4), PATIENCE);
    await clock.advance(5000);
    expect(await unanswered).toEqual({ outcome: 'unanswered' });
    const cutOff = commands.send(PHONE, silent, { timeoutMs: 5000 });
    await vi.waitFor(() => expect(car.received).toHaveLength(5), PATIENCE);
    car.socket.destroy();
    expect(await cutOff).toEqual({ outcome: 'offline', maybeSent: true });
    await vi.waitFor(() => expect(presence).toEqual([true, false]), PATIENCE);
    expect(await commands.send(PHONE, silent, { timeoutMs: 5000 })).toMatchObject({ outcome: 'offline' });
    await commands.close();
  });

  test('that connects anew is commanded there, and stays on-line when the old connection ends', async () => {
    log.define(vehicle(2, PHONE));
    const commands = await openTerminalCommands(hub);
    const presence: boolean[] = [];
    const first = await registered();
    await vi.waitFor(() => expect(commands.isOnline(PHONE)).toBe(true), PATIENCE);
    commands.onPresence((_, online) => presence.push(online));
    const second = await registered();
    first.socket.destroy();
    await vi.waitFor(
      async () => expect(await counted('outrider_terminal_connections', { protocol: 'jt808' })).toBe(1),
      PATIENCE,
    );
    const end = { type: 'control-playback', channel: 1, action: 'end', seekToMs: null } as const;
    const asked = commands.send(PHONE, end, { timeoutMs: 5000 });
    await vi.waitFor(() => expect(second.received).toHaveLength(2), PATIENCE);
    second.socket.write(second.side.acknowledge(second.received[1] ?? { id: 0, serial: 0 }));
    expect(await asked).toEqual({ outcome: 'answered', answer: { type: 'acknowledged', result: 'done' } });
    expect(presence).toEqual([]);
    expect(first.received).toHaveLength(1);
    await commands.close();
  });

  test('owes a bounded number of answers', async () => {
    log.define(vehicle(2, PHONE));
    const commands = await openTerminalCommands(hub);
    const car = await registered();
    await vi.waitFor(() => expect(commands.isOnline(PHONE)).toBe(true), PATIENCE);
    const end = { type: 'control-playback', channel: 1, action: 'end', seekToMs: null } as const;
    const asked = Array.from({ length: 20 }, () => commands.send(PHONE, end, { timeoutMs: 1000 }));
    await vi.waitFor(() => expect(car.received).toHaveLength(17), PATIENCE);
    await clock.advance(1000);
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter(({ outcome }) => outcome === 'overloaded')).toHaveLength(4);
    expect(outcomes.filter(({ outcome }) => outcome === 'unanswered')).toHaveLength(16);
    await commands.close();
  });

  test('that is only the video terminal of a vehicle is let in, and its positions are not taken', async () => {
    log.define({
      kind: 'video-profile',
      id: '0190a000-0000-7000-8000-000000000077' as never,
      version: 1,
      changedAtMs: NOON,
      definition: {
        kind: 'video-profile',
        id: '0190a000-0000-7000-8000-000000000077' as never,
        version: 1,
        vehicleId: CAR,
        name: 'cameras',
        protocol: 'jt1078',
        address: PHONE,
        channels: [],
        quality: 'main',
        audio: true,
        maxFragmentSeconds: 900,
        maxParallelDownloads: 1,
        timeZone: 'UTC',
      },
    });
    const car = await registered();
    expect(car.received[0]?.body[2]).toBe(0);
    car.socket.write(car.side.say(0x0200, encodeLocation(blankPosition(NOON, 52.5, 13.4))).bytes);
    await vi.waitFor(() => expect(car.received[1]?.id).toBe(0x8001), PATIENCE);
    expect(log.waiting).toHaveLength(0);
    expect(await counted('outrider_positions_without_vehicle_total', { protocol: 'jt808' })).toBe(1);
  });
});
