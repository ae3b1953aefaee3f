import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Refused, VerifiedApiKey } from '@outrider/auth';
import {
  Directory,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  isApiKey,
  type NotificationRule,
  type NotifiedEvent,
  parseApiKey,
  type SessionId,
  SYSTEM_CLOCK,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import {
  sampleGeofenceFields,
  sampleRuleFields,
  sampleUserFields,
  sampleVehicleFields,
} from '@outrider/domain/samples';
import { MemoryHub } from '@outrider/hub';
import { definitionsTopic, eventsTopic, type Log, lateEventsTopic, openSqliteLog } from '@outrider/log';
import type { GeofenceFields, NotificationRuleFields, Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type BinaryMessage, readBinaryMessage } from './live/binary-reader.fixture.ts';
import { createNotifier, type Notifier, type NotifierParts } from './live/notifier.ts';
import { createNotifications, type NotificationsParts } from './notifications.ts';

export const NOON = Date.UTC(2026, 0, 15, 12);
const PATIENCE = { timeout: 60_000, interval: 10 };

export type Message = Record<string, unknown> & { type: string };

/** A registry, a log and a hub of their own, and the notifier's parts on them, to be started, stopped and abandoned. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'outrider-notifications-'));
  readonly log: Log = openSqliteLog({ path: join(this.folder, 'log.sqlite') });
  readonly hub = new MemoryHub();
  readonly directory = new Directory();
  registry = null as unknown as Registry;
  nowMs = NOON;
  readonly #stops: (() => Promise<void>)[] = [];
  #http: Server | null = null;
  #live: Notifier | null = null;
  readonly #sockets: WebSocket[] = [];

  async open(): Promise<this> {
    this.registry = await openTestRegistry({ path: join(this.folder, 'registry.sqlite'), now: () => this.nowMs });
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    for (const stop of this.#stops.reverse()) await stop();
    this.#http?.close();
    await this.log.close();
    await this.registry.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async addUser(login: string, groupIds: readonly GroupId[] = []): Promise<User> {
    return this.registry.users.create(
      sampleUserFields({ login, name: login, role: 'user', groupIds }),
      'a long password',
    );
  }

  addVehicle(name: string, groupIds: readonly GroupId[]): Promise<Vehicle> {
    return this.registry.vehicles.create(sampleVehicleFields({ name, groupIds }));
  }

  async addGeofence(name: string, ownerId: UserId, more: Partial<GeofenceFields> = {}): Promise<GeofenceId> {
    return (await this.registry.geofences.create(sampleGeofenceFields({ name, ownerId, ...more }))).id;
  }

  addRule(ownerId: UserId, more: Partial<NotificationRuleFields> = {}): Promise<NotificationRule> {
    const fields: NotificationRuleFields = sampleRuleFields({ name: 'Rule', ownerId, ...more });
    const secret = fields.webhookUrl === null ? null : `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    return this.registry.notificationRules.create(fields, secret);
  }

  /** Carries what was defined into the log, as the relay does. */
  async relay(): Promise<void> {
    const pending = await this.registry.outbox.pending(10_000);
    for (const { change } of pending) this.directory.apply(change);
    if (pending.length > 0)
      await this.log.append(
        definitionsTopic,
        pending.map(({ change }) => change),
      );
    await this.registry.outbox.delivered(pending.map(({ seq }) => seq));
  }

  happen(...events: FleetEvent[]): Promise<void> {
    return this.log.append(eventsTopic, events);
  }

  /** Late data makes it known. */
  happenLate(...events: FleetEvent[]): Promise<void> {
    return this.log.append(
      lateEventsTopic,
      events.map((event): FleetEvent => ({ ...event, origin: 'recalculated' })),
    );
  }

  /** @returns stops it, at the end by itself */
  async startNotifications(
    notifications: NotificationsParts['notifications'] = this.registry.notifications,
    more: Partial<NotificationsParts> = {},
  ): Promise<() => Promise<void>> {
    const part = createNotifications({
      config: { retentionDays: 90, waitingPollMs: 20 },
      log: this.log,
      hub: this.hub,
      directory: this.directory,
      registry: this.registry,
      notifications,
      incidents: this.registry.incidents,
      waiting: this.registry.waitingNotifications,
      onSaved() {},
      logger: createLogger('silent', 'json'),
      metrics: new Metrics(),
      clock: clockAt(() => this.nowMs),
      ...more,
    });
    await part.start();
    let stopped = false;
    const stop = async () => {
      if (!stopped) {
        stopped = true;
        await part.stop();
      }
    };
    this.#stops.push(stop);
    return stop;
  }

  async startLive(more: Partial<NotifierParts> = {}): Promise<() => Promise<void>> {
    const live = createNotifier({
      config: { maxConnections: 100, maxPerUser: 100, maxPerAddress: 100, maxUnsentBytes: 256_000_000 },
      log: this.log,
      hub: this.hub,
      inbox: this.registry.inboxes,
      verify: async (token) => {
        if (isApiKey(token)) return this.#verifyKey(token);
        return {
          userId: token as UserId,
          sessionId: token as string as SessionId,
          expiresAtMs: Date.now() + 3_600_000,
          keyId: 'key',
        };
      },
      cookieSession: async () => null,
      addressKey: () => null,
      geofenceOwners: (ids) => this.registry.geofences.ownersOf(ids),
      driverAssignments: (question) => this.registry.driverAssignments.list(question),
      counters: (vehicleIds) => this.registry.counters.of(vehicleIds),
      keyIsGood: () => true,
      liveSessions: async (ids) => new Set(ids),
      apiKeysAmong: (ids) => this.registry.apiKeys.grantsAmong(ids),
      noteApiKeyUse: (id, address) => this.registry.apiKeys.touch(id, address),
      clientAddress: () => '127.0.0.1',
      logger: createLogger('silent', 'json'),
      metrics: new Metrics(),
      clock: SYSTEM_CLOCK,
      ...more,
    });
    await live.start();
    this.#live = live;
    if (this.#http === null) {
      this.#http = createServer();
      this.#http.on('upgrade', (request, socket, head) => this.#live?.upgrade(request, socket, head));
      this.#http.listen(0, '127.0.0.1');
      await once(this.#http, 'listening');
    }
    let stopped = false;
    const stop = async () => {
      if (!stopped) {
        stopped = true;
        await live.stop();
      }
    };
    this.#stops.push(stop);
    return stop;
  }

  async #verifyKey(text: string): Promise<VerifiedApiKey | Refused> {
    const parsed = parseApiKey(text);
    const stored = parsed && (await this.registry.apiKeys.stored(parsed.id));
    return stored ?? { error: 'unknown-key' };
  }

  get liveUrl(): string {
    if (this.#http === null) throw new Error('nothing to connect to');
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}/live`;
  }

  /**
   * A client of the live API, and what it received, once it misses nothing any more.
   *
   * @param protocols subprotocols that it offers
   */
  async connect(
    user: User,
    wish: object = { all: true },
    headers: Record<string, string> = { Authorization: `JWT ${user.id}` },
    protocols: readonly string[] = [],
  ) {
    const socket = new WebSocket(this.liveUrl, [...protocols], { headers });
    this.#sockets.push(socket);
    const received: Message[] = [];
    const binary: BinaryMessage[] = [];
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) binary.push(readBinaryMessage(data));
      else received.push(JSON.parse(data.toString()) as Message);
    });
    socket.on('error', () => {});
    await once(socket, 'open');
    const client = {
      socket,
      received,
      binary,
      say: (message: object) => socket.send(JSON.stringify(message)),
      of: (type: string) => received.filter((message) => message.type === type),
      numbers: () => client.of('notification').map(({ number }) => number),
      cursor: () => received.findLast(({ cursor }) => cursor !== undefined)?.cursor,
      async receives(type: string, count = 1) {
        await vi.waitFor(() => expect(client.of(type).length).toBeGreaterThanOrEqual(count), PATIENCE);
        return client.of(type);
      },
    };
    client.say({ type: 'subscribe', positions: false, ...wish });
    await client.receives('resumed');
    return client;
  }

  /** Events of the user's inbox, by vehicle and minute, in the order of the numbers. */
  async inbox(user: User): Promise<string[]> {
    const all = await this.registry.inboxes.after(user.id, 0, 10_000);
    expect(all.map(({ number }) => number)).toEqual(all.map((_, nth) => nth + 1));
    return all.map(({ ruleName, event }) => `${ruleName} ${labelOf(event)}`);
  }

  /** Resolves once everything that happened is held against the rules, and that is saved. */
  async settled(): Promise<void> {
    const sources = [
      ['notifications', eventsTopic],
      ['late-notifications', lateEventsTopic],
    ] as const;
    for (const [consumer, topic] of sources) {
      const ends = await this.log.endOffsets(topic);
      await vi.waitFor(async () => {
        const offsets = await this.registry.notifications.places(consumer);
        for (const [partition, end] of ends) expect(offsets.get(partition)?.offset ?? 0).toBe(end);
      }, PATIENCE);
    }
  }
}

export function visit(
  vehicleId: VehicleId,
  geofenceId: GeofenceId,
  minute: number,
  phase: FleetEvent['phase'] = 'begin',
): FleetEvent {
  const atMs = NOON + minute * 60_000;
  return {
    id: deriveEventId('geofence-visit', vehicleId, geofenceId, atMs),
    kind: 'geofence-visit',
    phase,
    vehicleId,
    startedAtMs: atMs,
    endedAtMs: phase === 'begin' ? null : atMs + 30_000,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fixTimeMs: phase === 'begin' ? atMs : atMs + 30_000,
    geofenceId,
    fromFixTimeMs: atMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: phase === 'begin' ? null : 'left',
  };
}

export function labelOf(event: NotifiedEvent): string {
  return `${(event.startedAtMs - NOON) / 60_000} ${event.phase}`;
}
