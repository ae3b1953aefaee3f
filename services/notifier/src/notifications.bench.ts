import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import {
  DEFAULT_QUOTAS,
  Directory,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type SessionId,
  SYSTEM_CLOCK,
  type User,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { sampleRuleFields, sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { definitionsTopic, eventsTopic, openSqliteLog } from '@outrider/log';
import { openRegistry, type Registry } from '@outrider/registry';
import { createLogger, Metrics } from '@outrider/runtime';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ListenersState, ListenersTask } from './listeners.bench-worker.ts';
import { createNotifier } from './live/notifier.ts';
import { createNotifications } from './notifications.ts';

/** Events that each listener is notified of, among many rules of other vehicles. */
export interface NotificationsCase {
  events: number;
  /** Listeners, each with a rule that matches every event, and a WebSocket. */
  listeners: number;
  /** Rules of other vehicles, which match no event. */
  otherRules: number;
}

export interface NotificationsRow extends NotificationsCase {
  notifications: number;
  /** Time from appending the first event until the last client has its last notification: rules, inbox, WebSocket. */
  seconds: number;
  perSecond: number;
  /** Time to write the same rows in as many transactions and send the same bytes to as many WebSockets by `ws`. */
  bareSeconds: number;
  barePerSecond: number;
  /** Rate relative to the bare rate. */
  share: number;
}

/** Events per transaction: the size of the log's batches. */
const EVENTS_AT_ONCE = 1000;
const T0 = Date.UTC(2026, 0, 15, 12);
const logger = createLogger('silent', 'json');

/** Runs both variants alternately, twice each. The faster run of each counts. */
export async function benchNotifications(one: NotificationsCase): Promise<NotificationsRow> {
  let seconds = Number.POSITIVE_INFINITY;
  let bareSeconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 2; round++) {
    const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
    try {
      seconds = Math.min(seconds, await wholeWay(folder, one));
      bareSeconds = Math.min(bareSeconds, await bareWay(folder, one));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const notifications = one.events * one.listeners;
  return {
    ...one,
    notifications,
    seconds,
    perSecond: Math.round(notifications / seconds),
    bareSeconds,
    barePerSecond: Math.round(notifications / bareSeconds),
    share: bareSeconds / seconds,
  };
}

/** @returns seconds from appending the first event until the last client has the last notification */
async function wholeWay(folder: string, { events, listeners, otherRules }: NotificationsCase): Promise<number> {
  const log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  // All rules belong to one account, so its quota is raised.
  const account = { ...DEFAULT_QUOTAS.account, notificationRules: 1_000_000 };
  const quotas = { account, dealer: { ...DEFAULT_QUOTAS.dealer, notificationRules: 1_000_000 } };
  const registry = await openRegistry({ path: join(folder, 'registry.sqlite'), quotas });
  const hub = new MemoryHub();
  const { users, vehicleId, geofenceId } = await furnish(registry, listeners, otherRules);
  for (let pending = await registry.outbox.pending(1000); pending.length > 0; ) {
    await log.append(
      definitionsTopic,
      pending.map(({ change }) => change),
    );
    await registry.outbox.delivered(pending.map(({ seq }) => seq));
    pending = await registry.outbox.pending(1000);
  }
  const notifier = createNotifier({
    config: {
      maxConnections: listeners,
      maxPerUser: listeners,
      maxPerAddress: listeners,
      maxUnsentBytes: 256_000_000,
    },
    log,
    hub,
    inbox: registry.inboxes,
    verify: async (token) => ({
      userId: token as UserId,
      sessionId: token as string as SessionId,
      expiresAtMs: Date.now() + 3_600_000,
      keyId: 'key',
    }),
    cookieSession: async () => null,
    addressKey: () => null,
    geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
    driverAssignments: async () => [],
    counters: async () => [],
    keyIsGood: () => true,
    liveSessions: async (ids) => new Set(ids),
    apiKeysAmong: async () => new Map(),
    noteApiKeyUse: async () => {},
    clientAddress: () => '127.0.0.1',
    logger,
    metrics: new Metrics(),
    clock: SYSTEM_CLOCK,
  });
  await notifier.start();
  const server = createServer();
  server.on('upgrade', (request, socket, head) => notifier.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients = await listen({
    port: (server.address() as AddressInfo).port,
    tokens: users.map(({ id }) => id),
    subscribe: { type: 'subscribe', all: true, positions: false, events: false },
    awaited: events,
  });
  const notifications = createNotifications({
    config: { retentionDays: 90 },
    log,
    hub,
    directory: new Directory(),
    registry,
    notifications: registry.notifications,
    incidents: registry.incidents,
    waiting: registry.waitingNotifications,
    onSaved() {},
    logger,
    metrics: new Metrics(),
    clock: SYSTEM_CLOCK,
  });
  await notifications.start();
  const begun = performance.now();
  for (let from = 0; from < events; from += EVENTS_AT_ONCE) {
    const length = Math.min(EVENTS_AT_ONCE, events - from);
    await log.append(
      eventsTopic,
      Array.from({ length }, (_, nth) => visit(vehicleId, geofenceId, from + nth)),
    );
  }
  await clients.done;
  const seconds = (performance.now() - begun) / 1000;
  await clients.close();
  await notifications.stop();
  await notifier.stop();
  server.close();
  await registry.close();
  await log.close();
  return seconds;
}

/** Writes and sends the results of the whole pipeline once more, without it. */
async function bareWay(folder: string, { events, listeners }: NotificationsCase): Promise<number> {
  const made = new DatabaseSync(join(folder, 'registry.sqlite'), { readOnly: true });
  const rows = made.prepare('SELECT * FROM notifications ORDER BY number, user_id').all() as Record<
    string,
    SQLInputValue
  >[];
  const tables = made
    .prepare("SELECT sql FROM sqlite_master WHERE tbl_name = 'notifications' AND sql IS NOT NULL")
    .all();
  made.close();
  if (rows.length !== events * listeners) throw new Error(`${rows.length} rows of ${events * listeners}`);

  const bare = new DatabaseSync(join(folder, 'bare.sqlite'), { enableForeignKeyConstraints: false });
  bare.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  for (const { sql } of tables) bare.exec(String(sql));
  const columns = Object.keys(rows[0] ?? {});
  const insert = bare.prepare(`INSERT INTO notifications VALUES (${columns.map(() => '?').join(', ')})`);
  const messages = rows.map((row) => {
    const { user_id: userId, event, ...rest } = row;
    return { userId, text: JSON.stringify({ type: 'notification', ...rest, event: JSON.parse(String(event)) }) };
  });

  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const sockets = new Map<unknown, WebSocket>();
  const userIds = [...new Set(rows.map((row) => String(row.user_id)))];
  server.on('connection', (socket, request) => {
    sockets.set(request.headers.authorization?.split(' ')[1], socket);
    socket.on('message', () => socket.send(JSON.stringify({ type: 'resumed' })));
  });
  const clients = await listen({
    port: (server.address() as AddressInfo).port,
    tokens: userIds,
    subscribe: { type: 'subscribe' },
    awaited: events,
  });
  const begun = performance.now();
  const atOnce = EVENTS_AT_ONCE * listeners;
  for (let from = 0; from < rows.length; from += atOnce) {
    bare.exec('BEGIN IMMEDIATE');
    for (const row of rows.slice(from, from + atOnce)) insert.run(...columns.map((name) => row[name] ?? null));
    bare.exec('COMMIT');
    for (const { userId, text } of messages.slice(from, from + atOnce)) sockets.get(userId)?.send(text);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await clients.done;
  const seconds = (performance.now() - begun) / 1000;
  await clients.close();
  server.close();
  bare.close();
  return seconds;
}

/** Starts the clients in a worker thread; resolves when all of them listen. */
async function listen(task: ListenersTask): Promise<{ done: Promise<void>; close(): Promise<unknown> }> {
  const worker = new Worker(new URL('./listeners.bench-worker.ts', import.meta.url), { workerData: task });
  const ready = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  worker.on('message', (state: ListenersState) => (state === 'ready' ? ready : done).resolve());
  worker.on('error', (error) => {
    ready.reject(error);
    done.reject(error);
  });
  await ready.promise;
  return { done: done.promise, close: () => worker.terminate() };
}

async function furnish(registry: Registry, listeners: number, otherRules: number) {
  const group = await registry.groups.create({ name: 'Fleet', dealerId: null });
  const vehicle = (name: string) => registry.vehicles.create(sampleVehicleFields({ name, groupIds: [group.id] }));
  const users: User[] = [];
  for (let nth = 0; nth < listeners; nth++)
    users.push(
      await registry.users.create(
        sampleUserFields({ login: `user-${nth}`, name: `User ${nth}`, groupIds: [group.id] }),
        'a password for the benchmark',
      ),
    );
  const [owner] = users;
  if (!owner) throw new RangeError('nobody listens');
  const shape = { type: 'circle', center: [30, 60], radiusM: 100 } as const;
  const terms = {
    ...{ groupIds: null, speedLimitKmh: null, minDwellSeconds: 0, color: null, description: null },
    ...{ category: null, sharedWithOrganisation: false, sharedGroupIds: [] },
  };
  const geofence = await registry.geofences.create({ name: 'Depot', ownerId: owner.id, shape, ...terms });
  const watched = await vehicle('Van 1');
  const other = await vehicle('Van 2');
  const rule = (name: string, ownerId: UserId, vehicleIds: VehicleId[] | null) =>
    registry.notificationRules.create(
      sampleRuleFields({
        name,
        ownerId,
        vehicleIds,
        geofenceIds: [geofence.id],
        days: { on: 'weekdays', weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] },
        hours: { from: '06:00', to: '22:00' },
        timeZone: 'Europe/Berlin',
      }),
      null,
    );
  for (const { id } of users) await rule('All', id, null);
  for (let nth = 0; nth < otherRules; nth++) await rule(`Other ${nth}`, owner.id, [other.id]);
  return { users, vehicleId: watched.id, geofenceId: geofence.id };
}

function visit(vehicleId: VehicleId, geofenceId: GeofenceId, nth: number): FleetEvent {
  const atMs = T0 + nth * 100;
  return {
    id: deriveEventId('geofence-visit', vehicleId, geofenceId, atMs),
    kind: 'geofence-visit',
    phase: 'begin',
    vehicleId,
    startedAtMs: atMs,
    endedAtMs: null,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fromFixTimeMs: atMs,
    fixTimeMs: atMs,
    geofenceId,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  };
}
