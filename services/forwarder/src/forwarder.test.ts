import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '@outrider/channels';
import {
  blankPosition,
  type EventId,
  type FleetEvent,
  type GroupId,
  SYSTEM_CLOCK,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { type ForwardedItem, ForwardingError, openTarget, type Target } from '@outrider/forwarding';
import { eventsTopic, type Log, openSqliteLog, telemetryTopic } from '@outrider/log';
import { type FollowedRegistry, type ForwardingFields, followRegistry, type Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { reservePort } from '@outrider/testing/port';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createForwarder, type ForwarderParts } from './forwarder.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const T0 = Date.UTC(2026, 0, 15, 11);
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const logger = createLogger('silent', 'json');

let folder: string;
let log: Log;
let registry: Registry;
let followed: FollowedRegistry;
let dealer: User;
let group: GroupId;
let van: VehicleId;
let truck: VehicleId;
let foreign: VehicleId;
let stops: (() => Promise<unknown>)[];
/** What the fake receiving system took, and in how many batches. */
let taken: ForwardedItem[];
let batchIds: string[];
/** Sends are refused so often, and then wait until it is over. */
let outage: { refusals: number } | null;
/** The clock of the registry is ahead by this. */
let skewMs: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forwarder-'));
  log = openLog();
  skewMs = 0;
  registry = await openTestRegistry({ path: join(folder, 'registry.sqlite'), now: () => Date.now() + skewMs });
  followed = await followRegistry(registry);
  dealer = await registry.users.create(sampleUserFields({ login: 'dealer', role: 'dealer' }), 'a long password 1');
  group = (await registry.groups.create({ name: 'North', dealerId: dealer.id })).id;
  van = await addVehicle('Van', dealer.id, [group]);
  truck = await addVehicle('Truck', dealer.id);
  foreign = await addVehicle('Foreign', null);
  stops = [];
  taken = [];
  batchIds = [];
  outage = null;
});
afterEach(async () => {
  for (const stop of stops) await stop();
  followed.stop();
  await registry.close();
  await log.close();
  await rm(folder, { recursive: true });
});

function openLog(name = 'log', more: object = {}): Log {
  return openSqliteLog({ path: join(folder, `${name}.sqlite`), partitions: 3, startsRun: true, ...more });
}

let vehicles = 0;
const addVehicle = async (name: string, dealerId: User['id'] | null, groupIds: GroupId[] = []) =>
  (
    await registry.vehicles.create(
      sampleVehicleFields({ name, dealerId, groupIds, terminalId: String(35_000_000 + ++vehicles) as TerminalId }),
    )
  ).id;

const packet = (vehicleId: VehicleId, ...seconds: number[]): TelemetryPacket => ({
  vehicleId,
  terminalId: '356307042441013' as TerminalId,
  protocol: 'teltonika',
  receivedAtMs: T0 + 3_600_000,
  positions: seconds.map((second) => blankPosition(T0 + second * 1000, 59.9, 30.3)),
});

let made = 0;
const event = (vehicleId: VehicleId, kind: 'ignition' | 'power-cut' = 'ignition') =>
  ({
    id: `01961f3c-0000-7000-8000-${String(++made).padStart(12, '0')}` as EventId,
    kind,
    phase: 'begin',
    vehicleId,
    startedAtMs: T0,
    endedAtMs: null,
    latitude: 59.9,
    longitude: 30.3,
    speedKmh: null,
    fromFixTimeMs: T0,
    fixTimeMs: T0 + made,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  }) as unknown as FleetEvent;

async function addDestination(more: Partial<ForwardingFields> = {}, filter: Partial<ForwardingFields['filter']> = {}) {
  return registry.forwardingDestinations.create(
    dealer.id,
    {
      name: 'ERP',
      kind: 'http',
      settings: { url: 'https://erp.example.com/' },
      endpoint: 'erp.example.com:443',
      filter: { vehicleIds: null, groupIds: null, positions: true, events: false, eventKinds: null, ...filter },
      active: true,
      ...more,
    },
    { secret: SECRET, headers: {} },
  );
}

const fake: Target = {
  async send({ id, items }) {
    if (outage !== null && outage.refusals-- > 0) throw new ForwardingError('The endpoint answered 503.');
    await vi.waitFor(() => expect(outage).toBeNull(), PATIENCE);
    batchIds.push(id);
    taken.push(...items);
    return { count: 0, reason: null };
  },
  test: async () => {},
  close: async () => {},
};

async function start(more: Partial<ForwarderParts> = {}) {
  const forwarder = createForwarder({
    config: { allowPrivateAddresses: true, pollMs: 20, saveEveryMs: 20 },
    log,
    registry,
    directory: followed.directory,
    logger,
    metrics: new Metrics(),
    clock: SYSTEM_CLOCK,
    random: () => 0,
    open: () => fake,
    ...more,
  });
  await forwarder.start();
  const stop = () => forwarder.stop();
  stops.push(stop);
  return stop;
}

const secondsOf = (vehicleId: VehicleId, items: readonly ForwardedItem[] = taken) =>
  items
    .filter((item) => item.vehicleId === vehicleId && item.fact.type === 'position')
    .map(({ fact }) => (fact.type === 'position' ? (fact.position.fixTimeMs - T0) / 1000 : null));
const stateOf = async (id: string) => (await registry.forwardingDestinations.get(id)) ?? expect.fail('it is gone');

test('forwards what its owner may see, from its creation on, in the order of each vehicle', async () => {
  const { id } = await addDestination({}, { events: true, eventKinds: ['ignition'] });
  await start();
  await log.append(telemetryTopic, [packet(van, 1, 2), packet(foreign, 1), packet(truck, 1)]);
  await log.append(telemetryTopic, [packet(van, 3)]);
  await log.append(eventsTopic, [event(van), event(van, 'power-cut'), event(foreign)]);
  await vi.waitFor(() => expect(taken).toHaveLength(5), PATIENCE);
  expect(secondsOf(van)).toEqual([1, 2, 3]);
  expect(secondsOf(truck)).toEqual([1]);
  expect(taken.filter(({ fact }) => fact.type === 'event').map((item) => item.json())).toMatchObject([
    { type: 'event', kind: 'ignition', vehicleId: van },
  ]);
  await vi.waitFor(
    async () => expect(await stateOf(id)).toMatchObject({ positionsSent: 4, eventsSent: 1, failures: 0, gap: null }),
    PATIENCE,
  );
  expect(await stateOf(id)).toMatchObject({ isLeased: true, lastError: null });
});

test('a filter names vehicles and groups', async () => {
  await addDestination({}, { vehicleIds: [truck] });
  await start();
  await log.append(telemetryTopic, [packet(van, 1), packet(truck, 2)]);
  await vi.waitFor(() => expect(secondsOf(truck)).toEqual([2]), PATIENCE);
  const { items } = await registry.forwardingDestinations.list(dealer.id, { limit: 1, after: null });
  const [only = expect.fail('no destination')] = items;
  const filter = { ...only.filter, vehicleIds: null, groupIds: [group] };
  await registry.forwardingDestinations.update(only.id, null, { ...only, filter });
  await log.append(telemetryTopic, [packet(van, 3)]);
  await vi.waitFor(() => expect(secondsOf(van)).toContain(3), PATIENCE);
  expect(secondsOf(truck)).toEqual([2]);
});

test('while the destination is down nothing is lost, and its state says so', async () => {
  const { id } = await addDestination();
  outage = { refusals: 1 };
  await start();
  for (let second = 1; second <= 300; second++) await log.append(telemetryTopic, [packet(van, second)]);
  await vi.waitFor(
    async () => expect(await stateOf(id)).toMatchObject({ failures: 1, lastError: 'The endpoint answered 503.' }),
    PATIENCE,
  );
  expect(taken).toEqual([]);
  outage = null;
  await vi.waitFor(() => expect(secondsOf(van)).toHaveLength(300), PATIENCE);
  expect(secondsOf(van)).toEqual(Array.from({ length: 300 }, (_, nth) => nth + 1));
  await vi.waitFor(
    async () => expect(await stateOf(id)).toMatchObject({ failures: 0, lastError: null, positionsSent: 300 }),
    PATIENCE,
  );
});

test('one of several forwarders works at a destination, and another goes on where it stopped', async () => {
  await addDestination();
  const stopFirst = await start();
  await log.append(telemetryTopic, [packet(van, 1)]);
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1]), PATIENCE);
  await start();
  await log.append(telemetryTopic, [packet(van, 2)]);
  await vi.waitFor(() => expect(secondsOf(van)).toContain(2), PATIENCE);
  await stopFirst();
  await log.append(telemetryTopic, [packet(van, 3)]);
  await vi.waitFor(() => expect(secondsOf(van)).toContain(3), PATIENCE);
  expect(secondsOf(van)).toEqual([1, 2, 3]);
  expect(new Set(batchIds).size).toBe(batchIds.length);
});

test('a forwarder that crashed before it saved sends once more what it sent', async () => {
  const { id } = await addDestination();
  const { forwardingDestinations: real } = registry;
  const crashing = {
    lease: real.lease.bind(real),
    isCurrent: async () => true,
    save: async () => true,
    settle: async () => {},
  } as unknown as Registry['forwardingDestinations'];
  const crash = await start({ registry: { geofences: registry.geofences, forwardingDestinations: crashing } });
  await log.append(telemetryTopic, [packet(van, 1, 2)]);
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1, 2]), PATIENCE);
  await crash();
  // The lease lapses.
  skewMs += 61_000;
  await start();
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1, 2, 1, 2]), PATIENCE);
  await vi.waitFor(async () => expect(await stateOf(id)).toMatchObject({ positionsSent: 2 }), PATIENCE);
});

test('a paused destination gets nothing, and goes on where it was', async () => {
  const made = await addDestination();
  await start();
  await log.append(telemetryTopic, [packet(van, 1)]);
  await vi.waitFor(async () => expect(await stateOf(made.id)).toMatchObject({ positionsSent: 1 }), PATIENCE);
  await registry.forwardingDestinations.update(made.id, null, { ...made, active: false });
  await vi.waitFor(async () => expect(await stateOf(made.id)).toMatchObject({ isLeased: false }), PATIENCE);
  await log.append(telemetryTopic, [packet(van, 2)]);
  await registry.forwardingDestinations.update(made.id, null, made);
  await vi.waitFor(() => expect(secondsOf(van)).toContain(2), PATIENCE);
  expect(secondsOf(van)).toEqual([1, 2]);
});

test('the owner who is blocked has nothing forwarded', async () => {
  const { id } = await addDestination();
  await registry.users.update(dealer.id, null, { blocked: true });
  await start();
  await log.append(telemetryTopic, [packet(van, 1)]);
  await vi.waitFor(
    async () => expect(await stateOf(id)).toMatchObject({ lastError: 'The account of its owner is blocked.' }),
    PATIENCE,
  );
  await registry.users.update(dealer.id, null, { blocked: false });
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1]), PATIENCE);
});

test('a replay begins with what was written at that time', async () => {
  const { id } = await addDestination();
  await start();
  const beforeMs = Date.now() - 60_000;
  await log.append(telemetryTopic, [packet(van, 1)]);
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1]), PATIENCE);
  await registry.forwardingDestinations.replay(id, beforeMs);
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1, 1]), PATIENCE);
  expect(await stateOf(id)).toMatchObject({ gap: null });
});

test('what the log no longer has is said, and the rest is forwarded', async () => {
  const { id } = await addDestination();
  const stop = await start();
  await log.append(telemetryTopic, [packet(van, 1)]);
  await vi.waitFor(async () => expect(await stateOf(id)).toMatchObject({ positionsSent: 1 }), PATIENCE);
  await stop();
  await log.append(telemetryTopic, [packet(van, 2)]);
  await log.close();
  log = openLog('another');
  await log.append(telemetryTopic, [packet(van, 3), packet(truck, 3)]);
  const metrics = new Metrics();
  outage = { refusals: 2 };
  await start({ metrics });
  // It is said once, however often the rest is tried.
  await vi.waitFor(async () => expect((await stateOf(id)).failures).toBeGreaterThan(1), PATIENCE);
  outage = null;
  await vi.waitFor(() => expect(secondsOf(truck)).toEqual([3]), PATIENCE);
  await vi.waitFor(() => expect(secondsOf(van)).toEqual([1, 3]), PATIENCE);
  await vi.waitFor(async () => expect((await stateOf(id)).gap).not.toBeNull(), PATIENCE);
  const { gap } = await stateOf(id);
  expect(gap?.fromMs).toBeLessThanOrEqual(gap?.toMs ?? 0);
  expect(await metrics.metrics()).toContain('outrider_forwarding_gaps_total{kind="http"} 1');
});

test('batches over HTTP are signed; an endpoint that is killed and comes back gets the rest in order', async () => {
  const port = await reservePort();
  const received: number[] = [];
  const wrong: (string | null)[] = [];
  const answer = async (request: IncomingMessage) => {
    const body = await text(request);
    wrong.push(verifyWebhook({ headers: request.headers, body }, SECRET, Date.now()));
    const { type, data } = JSON.parse(body);
    if (type === 'forwarding.batch')
      for (const { fixTime } of data.items) received.push((Date.parse(fixTime) - T0) / 1000);
  };
  const listen = () =>
    new Promise<Server>((resolve) => {
      const server = createServer((request, response) => {
        answer(request).then(() => response.writeHead(204).end());
      });
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  const kill = (server: Server) =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  const settings = { url: `http://127.0.0.1:${port}/in` };
  const { id } = await addDestination({ settings });
  let server = await listen();
  stops.push(() => kill(server));
  await start({ open: (destination, context) => openTarget(destination, destination.secrets, context) });
  let second = 0;
  const drive = async (until: number) => {
    while (second < until) await log.append(telemetryTopic, [packet(van, ++second)]);
  };
  await drive(50);
  await vi.waitFor(() => expect(new Set(received).size).toBe(50), PATIENCE);
  await kill(server);
  await drive(400);
  await vi.waitFor(async () => expect((await stateOf(id)).failures).toBeGreaterThan(0), PATIENCE);
  server = await listen();
  await vi.waitFor(() => expect(new Set(received).size).toBe(400), PATIENCE);
  // A batch whose answer was lost comes once more; nothing overtakes.
  const first = [...new Set(received)];
  expect(first).toEqual(first.toSorted((a, b) => a - b));
  expect(new Set(wrong)).toEqual(new Set([null]));
});
