import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  blankPosition,
  type DefinitionChange,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import { type Log, LogFullError } from '@outrider/log';
import { createTeltonikaSimulator, encodeOsmandQuery } from '@outrider/protocols';
import { createLogger, Registry } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGateway, type Gateway } from './gateway.ts';

const IMEI = '356307042441013' as TerminalId;
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const NOON = Date.UTC(2026, 0, 1, 12);

/** A log whose writes become durable when the test says so. */
class HeldLog implements Log {
  pendingBytes = 0;
  readonly waiting: { packets: TelemetryPacket[]; durable: () => void; refuse: (error: Error) => void }[] = [];
  readonly written: TelemetryPacket[] = [];
  #tell: ((change: DefinitionChange) => void) | null = null;

  append(_topic: unknown, records: readonly unknown[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const packets = records as TelemetryPacket[];
      this.waiting.push({
        packets,
        durable: () => {
          this.written.push(...packets);
          resolve();
        },
        refuse: reject,
      });
    });
  }
  async consume(_topic: unknown, options: { onBatch(batch: unknown): Promise<void> }) {
    let offset = 0;
    this.#tell = (value) => void options.onBatch({ partition: 0, records: [{ offset: offset++, value }] });
    return { stop: async () => {}, failed: new Promise<never>(() => {}) };
  }
  define(change: DefinitionChange): void {
    this.#tell?.(change);
  }
  async endOffsets() {
    return new Map([[0, 0]]);
  }
  async *read(): AsyncGenerator<never> {}
  async close() {}
}

let log: HeldLog;
let hub: MemoryHub;
let metrics: Registry;
let gateway: Gateway;
const sockets: Socket[] = [];

beforeEach(async () => {
  log = new HeldLog();
  hub = new MemoryHub();
  metrics = new Registry();
  gateway = createGateway({
    config: {
      host: '127.0.0.1',
      ports: { teltonika: 0, omnicomm: 0, 'wialon-ips': 0, osmand: 0 },
      maxConnections: 3,
      idleTimeoutMs: 500,
    },
    log,
    hub,
    diary: createLogger('silent', 'json'),
    metrics,
    now: () => NOON,
  });
  await gateway.start();
  log.define(vehicle(1, IMEI));
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const { durable } of log.waiting.splice(0)) durable();
  await gateway.stop();
});

function vehicle(version: number, terminalId: TerminalId | null): DefinitionChange {
  return {
    kind: 'vehicle',
    id: CAR,
    version,
    changedAtMs: NOON,
    definition: {
      kind: 'vehicle',
      id: CAR,
      version,
      name: 'car',
      plate: null,
      terminalId,
      dealerId: null,
      groupIds: [],
      speedLimitKmh: null,
      speedToleranceKmh: 0,
      speedingMinSeconds: 0,
      offlineAfterMinutes: 10,
      movingSpeedKmh: 2,
      movingDistanceM: 50,
      tripStopMinutes: 5,
      tripGapMinutes: 60,
    },
  };
}

/** A terminal on a plain socket, with everything it was answered. */
async function terminal(imei: TerminalId = IMEI) {
  const socket = connect(gateway.ports.teltonika ?? 0, '127.0.0.1');
  sockets.push(socket);
  const answers: Buffer[] = [];
  let closed = false;
  socket.on('data', (chunk) => answers.push(chunk as Buffer));
  socket.on('close', () => {
    closed = true;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const simulator = createTeltonikaSimulator(imei);
  return {
    socket,
    simulator,
    get heard() {
      return Buffer.concat(answers).toString('hex');
    },
    get closed() {
      return closed;
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

async function counted(name: string, labels: Record<string, string>): Promise<number> {
  const metric = (await metrics.getMetricsAsJSON()).find((candidate) => candidate.name === name);
  const value = metric?.values.find(({ labels: have }) =>
    Object.entries(labels).every(([label, text]) => (have as Record<string, unknown>)[label] === text),
  );
  return value?.value ?? 0;
}

test('a packet is acknowledged once it is durable, and not before', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  car.send(NOON, NOON + 1000);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(car.heard).toBe('01');

  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(car.heard).toBe('0100000002'));
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
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  car.send(NOON + 1000, NOON + 2000);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(2));
  log.waiting[1]?.durable();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(car.heard).toBe('01');
  log.waiting[0]?.durable();
  await vi.waitFor(() => expect(car.heard).toBe('010000000100000002'));
});

test('packets that wait together go into the log together', async () => {
  const cars = await Promise.all([terminal(), terminal()]);
  for (const car of cars) car.hello();
  await vi.waitFor(() => expect(cars.map(({ heard }) => heard)).toEqual(['01', '01']));
  const packet = cars[0]?.simulator.encode([blankPosition(NOON, 52.5, 13.4)]) ?? Buffer.alloc(0);
  cars[0]?.socket.write(Buffer.concat([packet, packet, packet]));
  await vi.waitFor(() => expect(log.waiting[0]?.packets).toHaveLength(3));
});

test('a terminal without a vehicle is refused, counted and noted', async () => {
  const stranger = await terminal('111111111111111' as TerminalId);
  stranger.hello();
  await vi.waitFor(() => expect(stranger.closed).toBe(true));
  expect(stranger.heard).toBe('00');
  expect(await counted('outrider_refusals_total', { protocol: 'teltonika', reason: 'unknown-terminal' })).toBe(1);
  expect(await hub.unknownTerminals()).toMatchObject([
    { terminalId: '111111111111111', protocol: 'teltonika', attempts: 1 },
  ]);
});

test('a terminal whose vehicle is taken away is refused from its next packet on', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  log.define(vehicle(2, null));
  car.send(NOON);
  await vi.waitFor(() => expect(car.closed).toBe(true));
  expect(car.heard).toBe('01');
  expect(log.waiting).toHaveLength(0);
});

test('a vehicle that gets its terminal while the service runs is let in at once', async () => {
  const other = '222222222222222' as TerminalId;
  log.define(vehicle(2, other));
  const car = await terminal(other);
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
});

test('a write that fails is not acknowledged, holds terminals back, and is made again', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  log.waiting.shift()?.refuse(new Error('disk full'));
  await vi.waitFor(() => expect(gateway.healthy).toBe(false));
  car.send(NOON + 1000);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  expect(car.heard).toBe('01');
  // Held back: the second packet is not even read before the first is safe.
  expect(log.waiting[0]?.packets).toMatchObject([{ positions: [{ fixTimeMs: NOON }] }]);

  log.waiting.shift()?.refuse(new LogFullError('64 MiB are waiting'));
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(car.heard).toBe('0100000001'));
  expect(gateway.healthy).toBe(true);
  await vi.waitFor(() => expect(log.waiting[0]?.packets).toMatchObject([{ positions: [{ fixTimeMs: NOON + 1000 }] }]));
});

test('while the log is behind, terminals are not read', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  log.pendingBytes = 100 * 1024 * 1024;
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  car.send(NOON + 1000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(log.waiting).toHaveLength(1);
  log.pendingBytes = 0;
  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(log.waiting[0]?.packets).toMatchObject([{ positions: [{ fixTimeMs: NOON + 1000 }] }]));
});

test('a terminal that says nothing, and one that talks garbage, are disconnected with a counted reason', async () => {
  const silent = await terminal();
  const garbage = await terminal();
  garbage.socket.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await vi.waitFor(() => expect(garbage.closed).toBe(true));
  await vi.waitFor(() => expect(silent.closed).toBe(true));
  expect(await counted('outrider_refusals_total', { protocol: 'teltonika', reason: 'idle' })).toBe(1);
  const refusals = (await metrics.getMetricsAsJSON()).find(({ name }) => name === 'outrider_refusals_total');
  expect(refusals?.values.reduce((sum, { value }) => sum + value, 0)).toBe(2);
});

test('a connection over the bound is turned away', async () => {
  await Promise.all([terminal(), terminal(), terminal()]);
  const fourth = await terminal();
  await vi.waitFor(() => expect(fourth.closed).toBe(true));
  expect(await counted('outrider_refusals_total', { reason: 'too-many-connections' })).toBe(1);
});

test('a terminal that closes its side after its last packet still gets its acknowledgement', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  car.send(NOON);
  car.socket.end();
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  log.waiting.shift()?.durable();
  await vi.waitFor(() => expect(car.closed).toBe(true));
  expect(car.heard).toBe('0100000001');
});

test('stopping waits for what was taken, and says so to the terminals', async () => {
  const car = await terminal();
  car.hello();
  await vi.waitFor(() => expect(car.heard).toBe('01'));
  car.send(NOON);
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  const stopped = gateway.stop();
  log.waiting.shift()?.durable();
  await stopped;
  await vi.waitFor(() => expect(car.closed).toBe(true));
  expect(car.heard).toBe('0100000001');
});

test('a phone is answered 200 once its position is durable', async () => {
  const url = `http://127.0.0.1:${gateway.ports.osmand}${encodeOsmandQuery(IMEI, blankPosition(NOON, 52.5, 13.4))}`;
  let status: number | null = null;
  const answered = fetch(url, { method: 'POST' }).then((response) => {
    status = response.status;
  });
  await vi.waitFor(() => expect(log.waiting).toHaveLength(1));
  expect(status).toBeNull();
  log.waiting.shift()?.durable();
  await answered;
  expect(status).toBe(200);
  expect(log.written).toMatchObject([{ protocol: 'osmand', positions: [{ fixTimeMs: NOON, latitude: 52.5 }] }]);
});

test('a phone without a vehicle, without a place, or with too long a body is told what is wrong', async () => {
  const base = `http://127.0.0.1:${gateway.ports.osmand}`;
  const stranger = await fetch(`${base}/?id=stranger&lat=52.5&lon=13.4&timestamp=${NOON / 1000}`);
  expect(stranger.status).toBe(404);
  expect(await stranger.text()).toContain('stranger');
  expect((await fetch(`${base}/?id=${IMEI}&lat=north`)).status).toBe(400);
  const long = await fetch(base, { method: 'POST', body: 'x'.repeat(70_000) }).catch(() => null);
  if (long) expect(long.status).toBe(413);
});
