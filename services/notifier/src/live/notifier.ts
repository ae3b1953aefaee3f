import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type DefinitionChange,
  Directory,
  NOTIFICATIONS_READ_CHANNEL,
  type NotificationsRead,
  REPORT_JOB_CHANNEL,
  type UserId,
  type VehicleId,
  VIDEO_TASK_CHANNEL,
} from '@outrider/domain';
import type { Hub, Unsubscribe } from '@outrider/hub';
import { followDefinitions, type Log, type Subscription as LogSubscription } from '@outrider/log';
import type { Geofences, Notifications as Inbox } from '@outrider/registry';
import type { Logger, Part, Registry } from '@outrider/runtime';
import { NOTIFICATIONS_CHANNEL, type SavedNotifications } from '../notifications.ts';
import { Audiences } from './audiences.ts';
import type { LiveClient } from './client.ts';
import { type Authentication, type ConnectionBounds, Connections } from './connections.ts';
import { DefinitionFeed } from './definition-feed.ts';
import { EventFeed } from './event-feed.ts';
import { jsonFrame } from './frames.ts';
import { GeofenceOwners } from './geofence-owners.ts';
import { JobFeed } from './job-feed.ts';
import { createLiveMetrics, type LiveMetrics } from './live-metrics.ts';
import type { Subscription } from './messages.ts';
import { NotificationFeed } from './notification-feed.ts';
import { StatusFeed } from './status-feed.ts';
import { UnreadFeed } from './unread-feed.ts';
import { UnsentBytes } from './unsent-bytes.ts';

export interface NotifierConfig extends ConnectionBounds {
  /** What may wait for slow clients, over all WebSockets. */
  maxUnsentBytes: number;
}

export interface NotifierParts extends Authentication {
  config: NotifierConfig;
  log: Log;
  hub: Hub;
  inbox: Pick<Inbox, 'after' | 'progressByUser' | 'unread'>;
  /** Owners of geofences, deleted ones included. */
  geofenceOwners: Geofences['ownersOf'];
  logger: Logger;
  metrics: Registry;
  now(): number;
}

export interface Notifier extends Part {
  /** Takes over an HTTP upgrade to `GET /live`; the socket is answered here whatever comes of it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** A session that ended has no socket 5 s later: this, and the time that the query takes. */
const RECHECK_EVERY_MS = 2000;
const LOG_SLOW_EVERY_MS = 60_000;

/**
 * The live API: pushes positions, events and notifications to the WebSockets of those who may see them. Positions come
 * from the hub and are conflated to the newest where a client is slow; events come from the log and notifications from
 * the inbox, carry a cursor, and are never left out: a client that returns with its cursor gets what it missed.
 */
export function createNotifier(parts: NotifierParts): Notifier {
  return new LiveNotifier(parts);
}

class LiveNotifier implements Notifier {
  readonly name = 'notifier';
  readonly failed: Promise<never>;
  readonly #parts: NotifierParts;
  readonly #directory = new Directory();
  readonly #audiences = new Audiences<LiveClient>(this.#directory);
  readonly #owners: GeofenceOwners;
  readonly #unsent: UnsentBytes;
  readonly #metrics: LiveMetrics;
  readonly #connections: Connections;
  readonly #statuses: StatusFeed;
  readonly #events: EventFeed;
  readonly #notifications: NotificationFeed;
  readonly #jobs: JobFeed;
  readonly #changes: DefinitionFeed;
  readonly #unread: UnreadFeed;
  readonly #unsubscribes: Unsubscribe[] = [];
  #definitions: LogSubscription | null = null;
  #fail: (error: unknown) => void;
  #rechecking: NodeJS.Timeout | null = null;
  #slowSinceLogged = 0;
  #slowLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: NotifierParts) {
    const { config, logger, now } = parts;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.failed.catch(() => {});
    this.#fail = reject;
    this.#parts = parts;
    const directory = this.#directory;
    const audiences = this.#audiences;
    this.#owners = new GeofenceOwners(directory, parts.geofenceOwners);
    this.#unsent = new UnsentBytes(
      config.maxUnsentBytes,
      () => this.#connections.clients,
      (count) => this.#countSlow('sum', count),
    );
    const metrics = createLiveMetrics(parts.metrics, {
      clients: () => this.#connections.clients.size,
      unsentBytes: () => this.#unsent.total,
    });
    this.#metrics = metrics;
    this.#connections = new Connections({
      bounds: config,
      authentication: parts,
      directory,
      unsent: this.#unsent,
      metrics,
      logger,
      now,
      onSubscription: (client, subscription) => this.#subscribe(client, subscription),
      onTooSlow: (client) => {
        this.#countSlow('client', 1);
        client.disconnect();
      },
      onClosed: (client) => {
        audiences.remove(client);
        this.#changes.remove(client);
        this.#statuses.forgetClient(client);
      },
    });
    const connections = this.#connections;
    this.#statuses = new StatusFeed({ hub: parts.hub, directory, audiences, unsent: this.#unsent, metrics, now });
    this.#events = new EventFeed({ log: parts.log, directory, audiences, owners: this.#owners, metrics, logger, now });
    this.#notifications = new NotificationFeed({
      inbox: parts.inbox,
      directory,
      connections,
      metrics,
      logger,
      cursorAt: (events, lastNotification) => this.#events.cursorAt(events, lastNotification),
      here: () => this.#events.here(),
    });
    this.#jobs = new JobFeed({ directory, audiences, connections, metrics });
    this.#unread = new UnreadFeed({ inbox: parts.inbox, directory, connections, metrics, logger });
    this.#changes = new DefinitionFeed({
      directory,
      connections,
      metrics,
      onVehiclesAdded: (client, vehicleIds) => {
        void this.#statuses.sendKnown(client, vehicleIds).catch((error) => {
          logger.error({ err: error }, 'sending the state of vehicles that a client may see now failed');
          client.close(1011, 'the service could not answer');
        });
      },
      onRights: ({ userId }) => {
        if (userId !== null) this.#unread.changed(userId);
      },
    });
  }

  async start(): Promise<void> {
    const { log, hub } = this.#parts;
    this.#definitions = await followDefinitions(log, 'notifier', (change) => this.#onDefinition(change));
    this.#definitions.failed.catch(this.#fail);
    await this.#events.start(this.#fail);
    await this.#statuses.start();
    const follow = async <T>(channel: string, onMessage: (message: T) => void) => {
      this.#unsubscribes.push(await hub.subscribe(channel, (text) => onMessage(JSON.parse(text) as T)));
    };
    await follow<SavedNotifications>(NOTIFICATIONS_CHANNEL, (saved) => {
      this.#notifications.onSaved(saved);
      this.#unread.changed(saved.userId);
    });
    await follow<NotificationsRead>(NOTIFICATIONS_READ_CHANNEL, ({ userId }) => this.#unread.changed(userId));
    await follow(VIDEO_TASK_CHANNEL, this.#jobs.onVideoTask.bind(this.#jobs));
    await follow(REPORT_JOB_CHANNEL, this.#jobs.onReportJob.bind(this.#jobs));
    this.#recheckSoon();
  }

  async stop(): Promise<void> {
    if (this.#rechecking !== null) clearTimeout(this.#rechecking);
    this.#rechecking = null;
    await this.#statuses.stop();
    this.#unread.stop();
    for (const unsubscribe of this.#unsubscribes) await unsubscribe();
    await this.#events.stop();
    await this.#definitions?.stop();
    await this.#connections.close();
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    void this.#connections.upgrade(request, socket, head).catch((error) => {
      this.#parts.logger.error({ err: error }, 'admitting a live client failed');
      socket.destroy();
    });
  }

  async #subscribe(client: LiveClient, subscription: Subscription | null): Promise<void> {
    client.subscription = subscription;
    this.#audiences.update(client);
    this.#changes.update(client);
    if (subscription === null) {
      client.lastNotification = null;
      client.statuses.clear();
      return;
    }
    this.#statuses.begin(client, subscription);
    client.catchingUp = true;
    const { since } = subscription;
    // Everything before is either in the snapshot and the replay below, or comes live afterwards; nothing falls
    // between.
    const events =
      since === null ? new Map(this.#events.here()) : await this.#events.locate(client, subscription, since);
    await client.reading;
    await this.#notifications.begin(client, subscription);
    if (subscription.positions || subscription.states) await this.#statuses.sendSnapshot(client, subscription);
    const missedNotifications = await this.#notifications.sendMissed(client, events);
    const joinLive = (missed: number) => {
      const cursor = this.#events.liveCursor(client.lastNotification);
      client.send(jsonFrame({ type: 'resumed', missed, missedNotifications, cursor }));
      client.catchingUp = false;
    };
    if (subscription.events) await this.#events.resume(client, events, since !== null, joinLive);
    else joinLive(0);
    client.catchingUp = false;
    this.#notifications.sendMissedSoon(client);
    client.flushStatuses();
    this.#changes.flush(client);
    if (subscription.unread && client.userId !== null) this.#unread.changed(client.userId);
  }

  #onDefinition(change: DefinitionChange): void {
    const notifyViewers = this.#changes.prepare(change);
    const before = this.#directory.apply(change);
    if (before === undefined) return;
    if (change.kind === 'vehicle') this.#onVehicle(change.id as VehicleId);
    if (change.kind === 'user') this.#onUser(change.id as UserId);
    if (change.definition === null && before?.kind === 'geofence') this.#owners.remember(before.id, before.ownerId);
    notifyViewers();
  }

  #onVehicle(id: VehicleId): void {
    // Positions that wait for a slow client were queued when it might see them.
    for (const client of this.#audiences.vehicleChanged(id)) client.statuses.forget(id);
    if (!this.#directory.vehicles.has(id)) this.#statuses.forgetVehicle(id);
  }

  #onUser(id: UserId): void {
    for (const client of this.#connections.of(id)) {
      client.statuses.clear();
      this.#audiences.update(client);
      this.#changes.update(client);
    }
    this.#connections.recheckUser(id);
  }

  #recheckSoon(): void {
    this.#rechecking = setTimeout(async () => {
      try {
        await this.#connections.recheckSessions();
        await this.#notifications.findUnannounced();
        this.#events.trim();
        this.#logSlow();
      } catch (error) {
        this.#parts.logger.error({ err: error }, 'checking the sessions and inboxes of live clients failed');
      }
      if (this.#rechecking !== null) this.#recheckSoon();
    }, RECHECK_EVERY_MS);
  }

  #countSlow(bound: 'client' | 'sum', count: number): void {
    this.#metrics.disconnectedSlow(bound, count);
    this.#slowSinceLogged += count;
  }

  /** Many clients may be slow at the same time: one line for all of a while. */
  #logSlow(): void {
    if (this.#slowSinceLogged === 0 || performance.now() < this.#slowLoggedAtMs + LOG_SLOW_EVERY_MS) return;
    const fields = { clients: this.#slowSinceLogged, unsentBytes: this.#unsent.total };
    this.#parts.logger.warn(fields, 'disconnected slow live clients');
    this.#slowSinceLogged = 0;
    this.#slowLoggedAtMs = performance.now();
  }
}
