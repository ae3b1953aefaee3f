import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  type EventId,
  type FleetEvent,
  type GroupId,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { correctionsTopic, eventsTopic, type Log, openSqliteLog, telemetryTopic } from '@outrider/log';
import { refuseUpgrade } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { World } from '../api.fixture.ts';
import { type ApiServer, listenApi } from '../http/listen.ts';
import { traccarEndId, traccarId } from './ids.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const T0 = Date.UTC(2026, 0, 15, 11);

let folder: string;
let log: Log;
let world: World;
let server: ApiServer;
let anna: { user: User; jwt: string };
let north: GroupId;
let van: VehicleId;
let truck: VehicleId;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'traccar-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite'), partitions: 2, startsRun: true });
  world = await World.open({}, { log });
  const groups = await Promise.all(
    ['North', 'South'].map(async (name) => (await world.registry.groups.create({ name, dealerId: null })).id),
  );
  const vehicle = async (name: string, groupId: GroupId) =>
    (await world.registry.vehicles.create(sampleVehicleFields({ name, groupIds: [groupId] }))).id;
  [north, van, truck] = [
    groups[0] as GroupId,
    await vehicle('Van', groups[0] as GroupId),
    await vehicle('Truck', groups[1] as GroupId),
  ];
  anna = await world.member('anna', 'user', { groupIds: [north] });
  server = await listenApi(world.api, { port: 0, host: '127.0.0.1' });
  server.server.on('upgrade', (request, socket, head) => {
    if (!world.api.upgrade(request, socket, head)) refuseUpgrade(socket, '404 Not Found');
  });
});
afterEach(async () => {
  await server.close();
  await world.close();
  await log.close();
  await rm(folder, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what was really sent.
type News = any;

function connect(headers: Record<string, string> = { authorization: `Bearer ${anna.jwt}` }) {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/socket`, { headers });
  const messages: News[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(data.toString())));
  socket.on('error', () => {});
  const all = (what: string): News[] => messages.flatMap((message) => message[what] ?? []);
  return { socket, messages, all, closed: once(socket, 'close') as Promise<[number, Buffer]> };
}
const refusalOf = async (headers: Record<string, string>) => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/socket`, { headers });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  return response.statusCode as number;
};

const packet = (vehicleId: VehicleId, second: number, valid = true): TelemetryPacket => ({
  ...{ vehicleId, terminalId: '1' as TerminalId, protocol: 'teltonika', receivedAtMs: T0 + 3_600_000 },
  positions: [{ ...blankPosition(T0 + second * 1000, 59.9, 30.3), valid }],
});
const ignition = (vehicleId: VehicleId, nth: number, more: Partial<FleetEvent> = {}) =>
  ({
    ...{ id: `01961f3c-0000-7000-8000-${String(nth).padStart(12, '0')}` as EventId, kind: 'ignition', vehicleId },
    ...{ phase: 'begin', startedAtMs: T0, endedAtMs: null, latitude: 59.9, longitude: 30.3, speedKmh: null },
    ...{ fromFixTimeMs: T0, fixTimeMs: T0, definitionVersion: 1, origin: 'live', inferred: false, endReason: null },
    ...more,
  }) as FleetEvent;

test('a client has what it may see first, and then what becomes known of it', async () => {
  const client = connect();
  await vi.waitFor(() => expect(client.messages).toHaveLength(1), PATIENCE);
  expect(client.messages[0]).toMatchObject({ devices: [{ id: traccarId(van), status: 'unknown' }], positions: [] });

  await log.append(telemetryTopic, [packet(truck, 1), packet(van, 10)]);
  await vi.waitFor(() => expect(client.all('positions')).toHaveLength(1), PATIENCE);
  // Older, of others, and not to be trusted: none of them is news.
  await log.append(telemetryTopic, [packet(van, 5), packet(truck, 20), packet(van, 15, false)]);
  await log.append(telemetryTopic, [packet(van, 30)]);
  await vi.waitFor(() => expect(client.all('positions')).toHaveLength(2), PATIENCE);
  expect(client.all('positions').map(({ deviceId, fixTime }) => [deviceId, Date.parse(fixTime)])).toEqual([
    [traccarId(van), T0 + 10_000],
    [traccarId(van), T0 + 30_000],
  ]);

  const begun = ignition(van, 1);
  await log.append(correctionsTopic, [{ event: ignition(van, 9), removed: true }]);
  await log.append(eventsTopic, [ignition(truck, 2), begun]);
  await log.append(eventsTopic, [{ ...begun, phase: 'end', endedAtMs: T0 + 5000, endReason: 'switched-off' } as never]);
  await vi.waitFor(() => expect(client.all('events')).toHaveLength(2), PATIENCE);
  expect(client.all('events')).toMatchObject([
    { id: traccarId(begun.id), type: 'ignitionOn', deviceId: traccarId(van) },
    { id: traccarEndId(begun.id), type: 'ignitionOff' },
  ]);
  client.socket.close();
  await client.closed;
});

test('it ends with the right to it, and when the service stops', async () => {
  const client = connect();
  const other = connect({ authorization: `Bearer ${(await world.member('boss', 'operator')).jwt}` });
  await vi.waitFor(() => expect([client.messages.length, other.messages.length]).toEqual([1, 1]), PATIENCE);
  await world.registry.users.update(anna.user.id, null, { blocked: true });
  const [code] = await client.closed;
  expect(code).toBe(1008);
  await server.close();
  expect((await other.closed)[0]).toBe(1001);
});

test('an account has five at most', async () => {
  const clients = Array.from({ length: 6 }, () => connect());
  const [code] = await Promise.race(clients.map(({ closed }) => closed));
  expect(code).toBe(1013);
  expect(clients.filter(({ socket }) => socket.readyState === WebSocket.OPEN).length).toBeLessThanOrEqual(5);
  for (const { socket } of clients) socket.terminate();
});

test('others are refused', async () => {
  expect(await refusalOf({})).toBe(401);
  expect(await refusalOf({ cookie: 'JSESSIONID=x' })).toBe(401);
  // A password is checked by calls, not here.
  expect(await refusalOf({ authorization: 'Basic YW5uYTp4' })).toBe(401);
  expect(await refusalOf({ authorization: `Bearer ${anna.jwt}`, origin: 'https://other.example' })).toBe(403);
  const { jwt } = await world.member('eve', 'user', { apiAccess: false });
  expect(await refusalOf({ authorization: `Bearer ${jwt}` })).toBe(403);
});
