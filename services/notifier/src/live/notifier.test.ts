import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Refused, Verified } from '@outrider/auth';
import {
  blankPosition,
  type Clock,
  type CommandNews,
  type Definition,
  type DefinitionChange,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  type JobId,
  REPORT_JOB_CHANNEL,
  type ReportJobNews,
  type SessionId,
  SYSTEM_CLOCK,
  type User,
  type UserId,
  VEHICLE_COMMAND_CHANNEL,
  type Vehicle,
  type VehicleActivity,
  type VehicleCommand,
  type VehicleId,
  VIDEO_TASK_CHANNEL,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskNews,
} from '@outrider/domain';
import { sampleGeofence, sampleStatus, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { correctionsTopic, definitionsTopic, eventsTopic, type Log, openSqliteLog } from '@outrider/log';
import { createLogger, Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createNotifier, type Notifier, RECHECK_EVERY_MS } from './notifier.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const VAN = '0190a000-0000-7000-8000-000000000002' as VehicleId;
const ZONE = '0190a000-0000-7000-8000-000000000003' as GeofenceId;
const LORRIES = '0190a000-0000-7000-8000-000000000004' as GroupId;
const OPERATOR = '0190a000-0000-7000-8000-000000000005' as UserId;
const USER = '0190a000-0000-7000-8000-000000000006' as UserId;
const NOON = Date.UTC(2026, 0, 1, 12);

const operator: User = sampleUser({ id: OPERATOR, login: 'admin' });
const user: User = { ...operator, id: USER, login: 'user', role: 'user', groupIds: [LORRIES] };
const car: Vehicle = sampleVehicle({ id: CAR, name: 'car', groupIds: [LORRIES] });
const zone = sampleGeofence({ id: ZONE, ownerId: USER });
const van: Vehicle = { ...car, id: VAN, name: 'van', groupIds: [] };

let folder: string;
let log: Log;
let hub: MemoryHub;
let notifier: Notifier;
let http: Server;
let clock: Clock;
let tokenLifeMs: number;
const endedSessions = new Set<SessionId>();
const revokedKeys = new Set<string>();
const clients: WebSocket[] = [];

/** Stands for the tokens: `user`, `operator`, `expired`, … */
async function verify(token: string): Promise<Verified | Refused> {
  const userId = { user: USER, operator: OPERATOR, stranger: CAR as string as UserId }[token];
  if (token === 'ended') return { error: 'ended', userId: USER };
  if (!userId) return { error: token === 'expired' ? 'expired' : 'malformed' };
  return {
    userId,
    sessionId: userId as string as SessionId,
    expiresAtMs: clock.now() + tokenLifeMs,
    keyId: `key of ${token}`,
  };
}

const defined = (definition: Definition): DefinitionChange => ({
  kind: definition.kind,
  id: definition.id,
  version: definition.version,
  changedAtMs: NOON,
  definition,
});

function visit(vehicleId: VehicleId, startedAtMs: number): FleetEvent {
  return {
    id: deriveEventId('geofence-visit', vehicleId, ZONE, startedAtMs),
    kind: 'geofence-visit',
    phase: 'begin',
    vehicleId,
    startedAtMs,
    endedAtMs: null,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fixTimeMs: startedAtMs,
    geofenceId: ZONE,
    fromFixTimeMs: startedAtMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  };
}

/** One a millisecond, all of the same vehicle. */
function visits(count: number, from = 0): FleetEvent[] {
  return Array.from({ length: count - from }, (_, nth) => visit(CAR, NOON + from + nth));
}

const seen = (vehicleId: VehicleId, fixTimeMs: number) => sampleStatus(vehicleId, blankPosition(fixTimeMs, 52.5, 13.4));

async function startNotifier(): Promise<void> {
  notifier = createNotifier({
    config: { maxConnections: 4, maxPerUser: 4, maxPerAddress: 4, maxUnsentBytes: 256_000_000 },
    log,
    hub,
    inbox: { after: async () => [], progressByUser: async () => new Map(), unread: async () => [] },
    verify,
    cookieSession: async ({ headers }) => (headers.cookie === undefined ? null : verify(headers.cookie)),
    addressKey: () => null,
    geofenceOwners: async () => [],
    driverAssignments: async () => [],
    counters: async () => [],
    keyIsGood: (keyId) => !revokedKeys.has(keyId),
    liveSessions: async (ids) => new Set(ids.filter((id) => !endedSessions.has(id))),
    apiKeysAmong: async () => new Map(),
    noteApiKeyUse: async () => {},
    clientAddress: () => '127.0.0.1',
    logger: createLogger('silent', 'json'),
    metrics: new Metrics(),
    clock,
  });
  await notifier.start();
}

/** From here on time goes on only when the test says so. */
async function stopTime(): Promise<VirtualClock> {
  const stopped = new VirtualClock();
  clock = stopped;
  await notifier.stop();
  await startNotifier();
  return stopped;
}

/** Everything that it was sent before is there. */
async function hasReadAll(socket: WebSocket): Promise<void> {
  const answered = once(socket, 'pong');
  socket.ping();
  await answered;
}

beforeEach(async () => {
  clock = SYSTEM_CLOCK;
  tokenLifeMs = 3_600_000;
  endedSessions.clear();
  revokedKeys.clear();
  folder = mkdtempSync(join(tmpdir(), 'outrider-notifier-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  hub = new MemoryHub();
  await log.append(definitionsTopic, [operator, user, car, van, zone].map(defined));
  await startNotifier();
  http = createServer();
  http.on('upgrade', (request, socket, head) => notifier.upgrade(request, socket, head));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await notifier.stop();
  await log.close();
  http.close();
  rmSync(folder, { recursive: true, force: true });
});

type Message = Record<string, unknown> & { type: string };

/** A client with everything it received, and the code it was closed with. */
function connect(token: string | null = null, cookie: string | null = null, query = '') {
  const socket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/live${query}`, {
    headers: { ...(token === null ? {} : { Authorization: `JWT ${token}` }), ...(cookie === null ? {} : { cookie }) },
  });
  clients.push(socket);
  const received: Message[] = [];
  const client = {
    socket,
    received,
    closedWith: null as number | null,
    refusedWith: null as number | null,
    say: (message: object) => socket.send(JSON.stringify(message)),
    of: (type: string) => received.filter((message) => message.type === type),
    async receives(type: string, count = 1) {
      await vi.waitFor(() => expect(client.of(type).length).toBeGreaterThanOrEqual(count), PATIENCE);
      return client.of(type);
    },
    opened: new Promise<void>((resolve) => socket.on('open', resolve)),
  };
  socket.on('message', (data) => received.push(JSON.parse(data.toString()) as Message));
  socket.on('close', (code) => {
    client.closedWith = code;
  });
  socket.on('unexpected-response', (_, response) => {
    client.refusedWith = response.statusCode ?? null;
  });
  socket.on('error', () => {});
  return client;
}

async function subscribed(token: string, wish: object = { all: true }) {
  const client = connect(token);
  await client.opened;
  client.say({ type: 'subscribe', ...wish });
  await client.receives('resumed');
  return client;
}

test('a snapshot comes first, then positions and events as they happen', async () => {
  await hub.updateLatest([seen(CAR, NOON)]);
  const client = await subscribed('operator');
  expect(client.of('snapshot')).toEqual([
    {
      type: 'snapshot',
      positions: [
        { vehicleId: CAR, fixTime: '2026-01-01T12:00:00.000Z', latitude: 52.5, longitude: 13.4, valid: true },
      ],
      complete: true,
    },
  ]);
  await hub.updateLatest([seen(CAR, NOON + 1000)]);
  expect((await client.receives('position'))[0]).toMatchObject({ vehicleId: CAR, fixTime: '2026-01-01T12:00:01.000Z' });
  await log.append(eventsTopic, [visit(CAR, NOON)]);
  expect((await client.receives('event'))[0]).toMatchObject({
    kind: 'geofence-visit',
    phase: 'begin',
    vehicleId: CAR,
    geofenceId: ZONE,
    startedAt: '2026-01-01T12:00:00.000Z',
    endedAt: null,
    cursor: expect.stringMatching(/^0:1;c:[\d:]*;k:\w{16};n:0;l:\w{16}$/),
  });
});

test('who asks for states receives of each record, with a fix or without; a position is sent once', async () => {
  const record = { ...blankPosition(NOON + 5000, 0, 0), valid: false, supplyV: 11.9, attributes: { io21: 2 } };
  const activity: VehicleActivity = {
    state: 'parking',
    sinceMs: NOON,
    ignition: false,
    alarms: ['sos'],
    geofenceIds: [],
    speeding: [],
  };
  const blind = {
    ...seen(CAR, NOON),
    asOfMs: NOON + 6000,
    record,
    lastContactAtMs: NOON + 6000,
    protocol: 'teltonika' as const,
    activity,
  };
  const neverPlaced = { ...blind, vehicleId: VAN, position: null, receivedAtMs: null };
  await hub.updateLatest([seen(CAR, NOON), neverPlaced]);
  const all = await subscribed('operator', { all: true, states: true });
  const positionsOnly = await subscribed('operator');
  expect(all.of('snapshot')).toMatchObject([
    {
      positions: [{ vehicleId: CAR }],
      states: [
        { vehicleId: CAR, state: 'unknown', lastContactAt: '2026-01-01T12:00:00.000Z' },
        { vehicleId: VAN, state: 'parking' },
      ],
    },
  ]);
  expect(positionsOnly.of('snapshot')).toMatchObject([{ positions: [{ vehicleId: CAR }] }]);
  expect(positionsOnly.of('snapshot')[0]).not.toHaveProperty('states');

  await hub.updateLatest([blind]);
  expect(await all.receives('vehicle-state')).toEqual([
    {
      type: 'vehicle-state',
      vehicleId: CAR,
      state: 'parking',
      stateSince: '2026-01-01T12:00:00.000Z',
      online: true,
      lastContactAt: '2026-01-01T12:00:06.000Z',
      protocol: 'teltonika',
      recordTime: '2026-01-01T12:00:05.000Z',
      clockAheadSeconds: null,
      ignition: false,
      supplyV: 11.9,
      sensors: [],
      tank: null,
      fuelL: null,
      alarms: ['sos'],
      driver: null,
      driverCode: null,
      geofenceIds: [],
      speedingIn: [],
      attributes: { io21: 2 },
    },
  ]);
  await hub.updateLatest([{ ...seen(CAR, NOON + 9000), activity }]);
  expect(await positionsOnly.receives('position')).toMatchObject([{ fixTime: '2026-01-01T12:00:09.000Z' }]);
  expect(await all.receives('position')).toHaveLength(1);
  await all.receives('vehicle-state', 2);
  expect(positionsOnly.of('vehicle-state')).toEqual([]);
});

test('changes of a video task go to those who may see the vehicle and were granted its video', async () => {
  const task = {
    id: ZONE as string as VideoTaskId,
    profileId: ZONE as string as VideoProfileId,
    vehicleId: CAR,
    createdBy: OPERATOR,
    channel: 1,
    startMs: NOON,
    endMs: NOON + 60_000,
    quality: 'main',
    audio: true,
    state: 'downloading',
    reason: null,
    detail: null,
    attempts: 1,
    progressPercent: 40,
    progressBytes: 4000,
    createdAtMs: NOON,
    changedAtMs: NOON,
    expiresAtMs: NOON,
    nextAttemptAtMs: null,
    finishedAtMs: null,
    file: null,
    fileDeletedAtMs: null,
  } satisfies VideoTask;
  const send = (vehicleId: VehicleId) => {
    const news: VideoTaskNews = { vehicleId, profileId: task.profileId, task: { ...task, vehicleId } };
    return hub.publish(VIDEO_TASK_CHANNEL, JSON.stringify(news));
  };
  const boss = await subscribed('operator');
  const deaf = await subscribed('operator', { all: true, videoTasks: false });
  const plain = await subscribed('user');
  await send(CAR);
  expect(await boss.receives('video-task')).toMatchObject([
    { id: task.id, vehicleId: CAR, status: 'downloading', progress: { percent: 40, bytes: 4000 }, file: null },
  ]);
  expect(JSON.stringify(boss.of('video-task'))).not.toContain(OPERATOR);
  await log.append(definitionsTopic, [defined({ ...user, version: 2, services: ['video'] })]);
  await vi.waitFor(async () => {
    await send(CAR);
    expect(plain.of('video-task').length).toBeGreaterThan(0);
  }, PATIENCE);
  const [first] = plain.of('video-task');
  expect(first).toMatchObject({ vehicleId: CAR });
  await send(VAN);
  await boss.receives('video-task', 3);
  expect(plain.of('video-task').every(({ vehicleId }) => vehicleId === CAR)).toBe(true);
  expect(deaf.of('video-task')).toEqual([]);
});

test('a command is sent to those who may give it, without who asked for it', async () => {
  const command: VehicleCommand = {
    id: '01961f3d-6fa2-7c3d-8e4f-7a8b9c0d1e2f' as never,
    vehicleId: CAR,
    order: { type: 'position-request', parameters: {} },
    state: 'queued',
    reason: null,
    answer: null,
    maxSpeedKmh: null,
    createdBy: OPERATOR,
    ruleId: null,
    eventId: null,
    createdAtMs: NOON,
    changedAtMs: NOON,
    expiresAtMs: NOON,
    sentAtMs: null,
    finishedAtMs: null,
  };
  const text: VehicleCommand = { ...command, order: { type: 'text', parameters: { text: 'getver' } } };
  const send = (sent: VehicleCommand) =>
    hub.publish(VEHICLE_COMMAND_CHANNEL, JSON.stringify({ command: sent } satisfies CommandNews));
  const boss = await subscribed('operator');
  const deaf = await subscribed('operator', { all: true, commands: false });
  const plain = await subscribed('user');
  await send(command);
  expect(await boss.receives('command')).toMatchObject([
    { command: { id: command.id, vehicleId: CAR, type: 'position-request', state: 'queued', byRule: false } },
  ]);
  expect(JSON.stringify(boss.of('command'))).not.toContain(OPERATOR);
  await log.append(definitionsTopic, [defined({ ...user, version: 2, services: ['commands'] })]);
  await vi.waitFor(async () => {
    await send(command);
    expect(plain.of('command').length).toBeGreaterThan(0);
  }, PATIENCE);
  await send(text);
  await send({ ...command, vehicleId: VAN });
  const last = { ...command, state: 'cancelled' as const };
  await send(last);
  await vi.waitFor(
    () => expect(plain.of('command').at(-1)).toMatchObject({ command: { state: 'cancelled' } }),
    PATIENCE,
  );
  for (const message of plain.of('command'))
    expect(message).toMatchObject({ command: { vehicleId: CAR, type: 'position-request' } });
  expect(deaf.of('command')).toEqual([]);
});

test('the end of a report is sent to who asked for it, and to nobody else', async () => {
  const boss = await subscribed('operator');
  const deaf = await subscribed('operator', { all: true, reportJobs: false });
  const other = await subscribed('user');
  const news: ReportJobNews = {
    userId: OPERATOR,
    jobId: ZONE as string as JobId,
    report: 'mileage',
    format: 'csv',
    state: 'done',
    rows: 7,
    bytes: 70,
    error: null,
    finishedAtMs: NOON,
  };
  await hub.publish(REPORT_JOB_CHANNEL, JSON.stringify(news));
  expect(await boss.receives('report-job')).toEqual([
    {
      type: 'report-job',
      id: ZONE,
      report: 'mileage',
      format: 'csv',
      state: 'done',
      rows: 7,
      bytes: 70,
      error: null,
      finishedAt: new Date(NOON).toISOString(),
    },
  ]);
  // What comes after it has come to all.
  await log.append(eventsTopic, [visit(CAR, NOON)]);
  for (const client of [deaf, other]) {
    await client.receives('event');
    expect(client.of('report-job')).toEqual([]);
  }
});

test('a client that subscribes again on its connection, with whatever cursor, gets no event twice', async () => {
  const client = await subscribed('operator');
  await log.append(eventsTopic, [visit(CAR, NOON)]);
  const cursor = (await client.receives('event'))[0]?.cursor;
  await log.append(eventsTopic, [visit(CAR, NOON + 1), visit(VAN, NOON + 2)]);
  await client.receives('event', 3);
  client.say({ type: 'subscribe', all: true, since: cursor });
  expect((await client.receives('resumed', 2))[1]).toMatchObject({ missed: 0 });
  await log.append(eventsTopic, [visit(CAR, NOON + 3)]);
  const events = await client.receives('event', 4);
  expect(events.map(({ id }) => id)).toEqual(
    [visit(CAR, NOON), visit(CAR, NOON + 1), visit(VAN, NOON + 2), visit(CAR, NOON + 3)].map(({ id }) => id),
  );
  // One that had no events before is sent what it missed.
  const late = await subscribed('operator', { all: true, events: false });
  late.say({ type: 'subscribe', all: true, since: cursor });
  expect((await late.receives('resumed', 2))[1]).toMatchObject({ missed: 3 });
});

test('a client that comes back with its cursor gets each event it missed once, in order, and then the live ones', async () => {
  const first = await subscribed('operator');
  await log.append(eventsTopic, [visit(CAR, NOON)]);
  const cursor = (await first.receives('event'))[0]?.cursor;
  first.socket.terminate();
  await log.append(eventsTopic, [visit(CAR, NOON + 1), visit(VAN, NOON + 2)]);
  await notifier.stop();
  await startNotifier();

  const again = await subscribed('operator', { all: true, since: cursor });
  await log.append(eventsTopic, [visit(CAR, NOON + 3)]);
  const events = await again.receives('event', 3);
  expect(events.map(({ id }) => id)).toEqual([
    visit(CAR, NOON + 1).id,
    visit(VAN, NOON + 2).id,
    visit(CAR, NOON + 3).id,
  ]);
  expect(again.of('resumed')).toEqual([
    {
      ...{ type: 'resumed', missed: 2, missedNotifications: 0, heartbeatSeconds: 4 },
      cursor: expect.stringMatching(/^0:3;c:[\d:]*;k:\w{16};n:0;l:\w{16}$/),
    },
  ]);
});

test('corrections come to those who do not leave them out, live and after a return, and their cursor holds both places', async () => {
  const corrected = (timeMs: number, removed: boolean) => ({ event: visit(CAR, timeMs), removed });
  const plain = await subscribed('operator', { all: true, corrections: false });
  const first = await subscribed('operator');
  await log.append(eventsTopic, [visit(CAR, NOON)]);
  await first.receives('event');
  await log.append(correctionsTopic, [corrected(NOON, false)]);
  const [live, change] = await first.receives('event', 2);
  expect(live).toMatchObject({ phase: visit(CAR, NOON).phase });
  expect(change).toMatchObject({ id: visit(CAR, NOON).id, origin: 'recalculated', phase: visit(CAR, NOON).phase });
  expect(change?.cursor).toMatch(/^0:1;c:0:1;k:\w{16};n:0;l:\w{16}$/);
  first.socket.terminate();
  await log.append(correctionsTopic, [corrected(NOON, true)]);
  await log.append(eventsTopic, [visit(CAR, NOON + 1)]);
  const [, plainly] = await plain.receives('event', 2);
  expect(plainly).toMatchObject({ id: visit(CAR, NOON + 1).id });
  expect(plainly?.cursor).toMatch(/^0:2;n:0;l:\w{16}$/);

  await notifier.stop();
  await startNotifier();
  const again = await subscribed('operator', { all: true, since: change?.cursor });
  expect(again.of('event').map(({ id, phase }) => [id, phase])).toEqual([
    [visit(CAR, NOON + 1).id, visit(CAR, NOON + 1).phase],
    [visit(CAR, NOON).id, 'removed'],
  ]);
  expect(again.of('resumed')).toMatchObject([{ missed: 2, cursor: expect.stringMatching(/^0:2;c:0:2;/) }]);
  // A cursor of before says nothing about them: they come from then on.
  const later = await subscribed('operator', { all: true, since: plainly?.cursor });
  await log.append(correctionsTopic, [corrected(NOON + 1, true)]);
  expect(await later.receives('event')).toMatchObject([{ id: visit(CAR, NOON + 1).id, phase: 'removed' }]);
});

test('a user gets corrections of the vehicles of their groups alone', async () => {
  const client = await subscribed('user', { all: true });
  const correction = (vehicleId: typeof CAR, timeMs: number) => ({ event: visit(vehicleId, timeMs), removed: true });
  await log.append(correctionsTopic, [correction(VAN, NOON), correction(CAR, NOON + 1)]);
  expect(await client.receives('event')).toMatchObject([{ vehicleId: CAR, phase: 'removed' }]);
  const again = await subscribed('user', { all: true, since: client.of('resumed')[0]?.cursor });
  expect(again.of('event').map(({ vehicleId }) => vehicleId)).toEqual([CAR]);
});

test('an event that stands in the log twice is sent once, live and after a return', async () => {
  const first = await subscribed('operator');
  await log.append(eventsTopic, [visit(CAR, NOON), visit(CAR, NOON + 1)]);
  await log.append(eventsTopic, [visit(CAR, NOON), visit(CAR, NOON + 2)]);
  const sent = [NOON, NOON + 1, NOON + 2].map((timeMs) => visit(CAR, timeMs).id);
  expect((await first.receives('event', 3)).map(({ id }) => id)).toEqual(sent);
  const again = await subscribed('operator', { all: true, since: '0:0' });
  expect(again.of('event').map(({ id }) => id)).toEqual(sent);
});

test('events that happen while a client catches up come once, and in order', async () => {
  const all = Array.from({ length: 400 }, (_, index) => visit(CAR, NOON + index));
  await log.append(eventsTopic, all.slice(0, 100));
  const client = connect('operator');
  await client.opened;
  client.say({ type: 'subscribe', all: true, since: '0:0' });
  for (const event of all.slice(100)) await log.append(eventsTopic, [event]);
  const events = await client.receives('event', all.length);
  expect(events.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
});

test('a user receives of the vehicles of their groups alone, in the snapshot too', async () => {
  await hub.updateLatest([seen(CAR, NOON), seen(VAN, NOON)]);
  const client = await subscribed('user', { vehicles: [CAR, VAN] });
  expect(client.of('snapshot')).toMatchObject([{ positions: [{ vehicleId: CAR }] }]);
  await hub.updateLatest([seen(VAN, NOON + 1000)]);
  await log.append(eventsTopic, [visit(VAN, NOON), visit(CAR, NOON)]);
  expect(await client.receives('event')).toMatchObject([{ vehicleId: CAR }]);
  expect(client.of('position')).toEqual([]);
});

test('a right that is lost stops the stream at once, one that is won starts it', async () => {
  const client = await subscribed('user');
  await log.append(definitionsTopic, [
    defined({ ...car, version: 2, groupIds: [] }),
    defined({ ...van, version: 2, groupIds: [LORRIES] }),
  ]);
  await vi.waitFor(async () => {
    await hub.updateLatest([seen(VAN, Date.now())]);
    expect(client.of('position').length).toBeGreaterThan(0);
  }, PATIENCE);
  await log.append(eventsTopic, [visit(CAR, NOON), visit(VAN, NOON)]);
  expect(await client.receives('event')).toMatchObject([{ vehicleId: VAN }]);
});

test('a suspended vehicle is gone from the stream at once, and its state comes again when it is resumed', async () => {
  await hub.updateLatest([seen(CAR, NOON)]);
  const client = await subscribed('user', { all: true, definitions: true });
  const suspension = { reason: 'unpaid', by: 'dealer', sinceMs: NOON } as const;
  await log.append(definitionsTopic, [defined({ ...car, version: 2, suspension })]);
  expect(await client.receives('definition')).toMatchObject([{ changes: [{ id: CAR, change: 'changed' }] }]);
  await hub.updateLatest([seen(CAR, NOON + 1000)]);
  await log.append(eventsTopic, [visit(CAR, NOON)]);
  const boss = await subscribed('operator', { all: true });
  expect(boss.of('snapshot')).toMatchObject([{ positions: [{ vehicleId: CAR }] }]);
  await log.append(definitionsTopic, [defined({ ...car, version: 3, suspension: null })]);
  const fixTime = new Date(NOON + 1000).toISOString();
  expect(await client.receives('position')).toMatchObject([{ vehicleId: CAR, fixTime }]);
  expect(client.of('event')).toEqual([]);
});

test('only what was asked for is sent: vehicles, groups, positions, events', async () => {
  const byGroup = await subscribed('operator', { groups: [LORRIES], positions: false });
  const byVehicle = await subscribed('operator', { vehicles: [VAN] });
  await hub.updateLatest([seen(CAR, NOON), seen(VAN, NOON)]);
  await log.append(eventsTopic, [visit(CAR, NOON), visit(VAN, NOON)]);
  expect(await byGroup.receives('event')).toMatchObject([{ vehicleId: CAR }]);
  expect(await byVehicle.receives('event')).toMatchObject([{ vehicleId: VAN }]);
  expect(byGroup.of('position')).toEqual([]);
  expect(byGroup.of('snapshot')).toEqual([]);
  expect(byVehicle.of('position')).toMatchObject([{ vehicleId: VAN }]);
});

test('a cursor older than the log says how much is gone', async () => {
  await log.append(eventsTopic, visits(6));
  await notifier.stop();
  await startNotifier();
  const read = vi.spyOn(log, 'read').mockImplementation(async function* () {
    yield { partition: 0, records: [{ offset: 5, value: visit(CAR, NOON + 5) as never }] };
  });
  const live = await subscribed('operator');
  expect(live.of('gap')).toEqual([]);
  const client = await subscribed('operator', { all: true, since: '0:2' });
  expect(client.of('gap')).toMatchObject([{ stream: 'events', partition: 0, from: 2, to: 5 }]);
  expect(client.of('event')).toHaveLength(1);

  await notifier.stop();
  await startNotifier();
  read.mockImplementation(async function* () {});
  const lastOfAll = await subscribed('operator', { all: true, since: '0:2' });
  expect(lastOfAll.of('gap')).toMatchObject([{ stream: 'events', partition: 0, from: 2, to: 6 }]);
  expect(lastOfAll.of('event')).toEqual([]);
});

test('clients that return soon are answered from memory: the log is not read', async () => {
  const read = vi.spyOn(log, 'read');
  const first = await subscribed('operator');
  await log.append(eventsTopic, visits(3000));
  await first.receives('event', 3000);
  const cursor = first.of('event')[999]?.cursor;
  for (const token of ['operator', 'user']) {
    const again = await subscribed(token, { all: true, since: cursor });
    expect(again.of('event').map(({ id }) => id)).toEqual(visits(3000, 1000).map(({ id }) => id));
    expect(again.of('resumed')).toMatchObject([{ missed: 2000 }]);
  }
  expect(read).not.toHaveBeenCalled();
});

test('what is older than the memory is read from the log once for all clients that return', async () => {
  await log.append(eventsTopic, visits(2500));
  await notifier.stop();
  await startNotifier();
  const read = vi.spyOn(log, 'read');
  const since = ['0:10', '0:990', '0:1300', '0:0'];
  const returned = await Promise.all(since.map((cursor) => subscribed('operator', { all: true, since: cursor })));
  for (const [nth, client] of returned.entries())
    expect(client.of('event').map(({ id }) => id)).toEqual(
      visits(2500, Number(since[nth]?.slice(2))).map(({ id }) => id),
    );
  expect(read).toHaveBeenCalledTimes(3);
});

describe('heartbeats', () => {
  test.each([[], ['outrider.live.v1+binary']])(
    'come to a subscribed client at least each 4 seconds while nothing else does, by subprotocol %s',
    async (...protocols) => {
      const time = await stopTime();
      const socket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/live`, protocols, {
        headers: { Authorization: 'JWT user' },
      });
      clients.push(socket);
      const texts: Message[] = [];
      socket.on('message', (data, isBinary) => {
        if (!isBinary) texts.push(JSON.parse(data.toString()));
      });
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'subscribe', all: true }));
      await vi.waitFor(() => expect(texts.at(-1)).toMatchObject({ type: 'resumed', heartbeatSeconds: 4 }), PATIENCE);
      const before = texts.length;
      // Each may be a second early.
      for (const [ms, count] of [
        [3000, 0],
        [1000, 1],
        [3000, 1],
        [1000, 2],
      ] as const) {
        await time.advance(ms);
        await hasReadAll(socket);
        expect(texts.slice(before)).toEqual(Array.from({ length: count }, () => ({ type: 'heartbeat' })));
      }
    },
  );

  test('do not come where something else does, nor without a subscription', async () => {
    const time = await stopTime();
    const unsubscribed = await subscribed('user', { all: true });
    unsubscribed.say({ type: 'unsubscribe' });
    const quiet = await subscribed('operator', { all: true, events: false });
    const busy = await subscribed('operator', { all: true });
    for (let nth = 0; nth < 10; nth++) {
      await log.append(eventsTopic, [visit(CAR, NOON + nth)]);
      await busy.receives('event', nth + 1);
      await time.advance(1000);
    }
    for (const { socket } of [quiet, busy, unsubscribed]) await hasReadAll(socket);
    expect(quiet.of('heartbeat').length).toBe(2);
    expect([busy, unsubscribed].map((client) => client.of('heartbeat').length)).toEqual([0, 0]);
  });
});

test('a ping is answered, with and without a subscription, and not before somebody is identified', async () => {
  const client = await subscribed('user', { all: true });
  client.say({ type: 'ping' });
  expect(await client.receives('pong')).toEqual([{ type: 'pong' }]);
  client.say({ type: 'unsubscribe' });
  client.say({ type: 'ping' });
  await client.receives('pong', 2);
  const stranger = connect();
  await stranger.opened;
  stranger.say({ type: 'ping' });
  await vi.waitFor(() => expect(stranger.closedWith).toBe(4401), PATIENCE);
});

test('who says who they are in the first message is as good as by header', async () => {
  const client = connect();
  await client.opened;
  client.say({ type: 'authorize', jwt: 'user' });
  await client.receives('authorized');
  client.say({ type: 'subscribe', all: true });
  await client.receives('resumed');
});

test('a wrong token is refused: with 401 at the door, with 4401 inside', async () => {
  const byHeader = connect('expired');
  await vi.waitFor(() => expect(byHeader.refusedWith).toBe(401), PATIENCE);
  const stranger = connect('stranger');
  await vi.waitFor(() => expect(stranger.refusedWith).toBe(401), PATIENCE);
  const inside = connect();
  await inside.opened;
  inside.say({ type: 'authorize', jwt: 'nonsense' });
  await vi.waitFor(() => expect(inside.closedWith).toBe(4401), PATIENCE);
  const hasty = connect();
  await hasty.opened;
  hasty.say({ type: 'subscribe', all: true });
  await vi.waitFor(() => expect(hasty.closedWith).toBe(4401), PATIENCE);
});

test('parameters in the query are refused with 400: neither a token nor a filter is taken from there', async () => {
  for (const query of ['?jwt=anna', '?vehicles=all']) {
    const client = connect('anna', null, query);
    await vi.waitFor(() => expect(client.refusedWith).toBe(400), PATIENCE);
  }
});

test('a connection ends with its token, unless a newer one came meanwhile', async () => {
  const time = await stopTime();
  tokenLifeMs = 3000;
  const expiring = await subscribed('user');
  const renewed = await subscribed('user');
  tokenLifeMs = 3_600_000;
  renewed.say({ type: 'authorize', jwt: 'user' });
  await renewed.receives('authorized');
  await time.advance(2999);
  await hasReadAll(expiring.socket);
  expect(expiring.closedWith).toBeNull();
  await time.advance(1);
  await vi.waitFor(() => expect(expiring.closedWith).toBe(4401), PATIENCE);
  await hasReadAll(renewed.socket);
  expect(renewed.closedWith).toBeNull();
});

test('the cookie of the console lets in, and one whose session is over gets a code that says so', async () => {
  const client = connect(null, 'operator');
  await client.opened;
  client.say({ type: 'subscribe', all: true });
  await client.receives('resumed');
  const late = connect(null, 'expired');
  await vi.waitFor(() => expect(late.closedWith).toBe(4401), PATIENCE);
  expect(client.closedWith).toBeNull();
});

test('the cookie of a blocked account gets the code of a blocked account, also when its session ended', async () => {
  await log.append(definitionsTopic, [defined({ ...user, version: 2, blocked: true })]);
  for (const cookie of ['user', 'ended'])
    await vi.waitFor(async () => {
      const client = connect(null, cookie);
      await vi.waitFor(() => expect(client.closedWith).not.toBeNull(), PATIENCE);
      expect(client.closedWith).toBe(4403);
    }, PATIENCE);
});

test('a session that was ended has no socket 5 s later; other sessions keep theirs', async () => {
  const time = await stopTime();
  const ended = await subscribed('user');
  const byMessage = connect();
  await byMessage.opened;
  byMessage.say({ type: 'authorize', jwt: 'user' });
  await byMessage.receives('authorized');
  const kept = await subscribed('operator');
  endedSessions.add(USER as string as SessionId);
  await time.advance(RECHECK_EVERY_MS);
  await vi.waitFor(() => expect([ended.closedWith, byMessage.closedWith]).toEqual([4401, 4401]), PATIENCE);
  // A check that just missed the end of the session is followed by the next in time.
  expect(2 * RECHECK_EVERY_MS).toBeLessThan(5000);
  expect(kept.closedWith).toBeNull();
});

test('a revoked key ends the connections of what it signed, and no other', async () => {
  const time = await stopTime();
  const ended = await subscribed('user');
  const kept = await subscribed('operator');
  revokedKeys.add('key of user');
  await time.advance(RECHECK_EVERY_MS);
  await vi.waitFor(() => expect(ended.closedWith).toBe(4401), PATIENCE);
  expect(kept.closedWith).toBeNull();
});

test('a blocked user is disconnected', async () => {
  const client = await subscribed('user');
  await log.append(definitionsTopic, [defined({ ...user, version: 2, blocked: true })]);
  await vi.waitFor(() => expect(client.closedWith).toBe(4403), PATIENCE);
});

test('a message that can not be taken is answered with what is wrong, and the connection stays', async () => {
  const client = await subscribed('operator');
  client.say({ type: 'subscribe', vehicles: ['car'] });
  expect(await client.receives('error')).toEqual([{ type: 'error', detail: '/vehicles/0 is not a UUID' }]);
  client.socket.send('{');
  await client.receives('error', 2);
  expect(client.closedWith).toBeNull();
});

test('a slow client gets the newest position of each vehicle, and every event', async () => {
  const other = await subscribed('operator');
  const client = await subscribed('operator');
  const { _socket: stream } = client.socket as unknown as { _socket: { pause(): void; resume(): void } };
  stream.pause();
  const wide = 'x'.repeat(2000);
  for (let n = 1; n <= 4000; n++)
    await hub.updateLatest([
      { ...seen(CAR, NOON + n), position: { ...blankPosition(NOON + n, 52.5, 13.4), attributes: { wide } } },
    ]);
  const events = Array.from({ length: 500 }, (_, index) => visit(CAR, NOON + index));
  await log.append(eventsTopic, events);
  await other.receives('event', events.length);
  stream.resume();
  await client.receives('event', events.length);
  expect(client.of('event').map(({ id }) => id)).toEqual(events.map(({ id }) => id));
  await vi.waitFor(
    () => expect(client.of('position').at(-1)?.fixTime).toBe(new Date(NOON + 4000).toISOString()),
    PATIENCE,
  );
  expect(client.of('position').length).toBeLessThan(4000);
});

test('too many connections are turned away', async () => {
  const four = [connect('operator'), connect('operator'), connect('operator'), connect('operator')];
  await Promise.all(four.map(({ opened }) => opened));
  const fifth = connect('operator');
  await vi.waitFor(() => expect(fifth.refusedWith).toBe(503), PATIENCE);
});
