import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GeofenceOwners } from '@outrider/access';
import {
  type Clock,
  COUNTERS_CHANNEL,
  type CountersNews,
  type DefinitionChange,
  Directory,
  DRIVER_ASSIGNMENT_CHANNEL,
  INCIDENT_CHANNEL,
  NOTIFICATIONS_READ_CHANNEL,
  type NotificationsRead,
  REPORT_JOB_CHANNEL,
  type UserId,
  VEHICLE_COMMAND_CHANNEL,
  type Vehicle,
  type VehicleCounters,
  type VehicleId,
  VIDEO_TASK_CHANNEL,
} from '@outrider/domain';
import type { Hub, Unsubscribe } from '@outrider/hub';
import { followDefinitions, type Log, type Subscription as LogSubscription } from '@outrider/log';
import type { DriverAssignments, Geofences, Inboxes } from '@outrider/registry';
import { type Logger, type Metrics, type Part, type Poller, poller } from '@outrider/runtime';
import { NOTIFICATIONS_CHANNEL, type SavedNotifications } from '../notifications.ts';
import { Audiences } from './audiences.ts';
import { ChangedCounters } from './changed-counters.ts';
import { HEARTBEAT_SECONDS, type LiveClient } from './client.ts';
import { type Authentication, type ConnectionBounds, Connections } from './connections.ts';
import { CurrentDrivers } from './current-drivers.ts';
import { DefinitionFeed } from './feeds/definition-feed.ts';
import { EventFeed } from './feeds/event-feed.ts';
import { JobFeed } from './feeds/job-feed.ts';
import { NotificationFeed } from './feeds/notification-feed.ts';
import { StatusFeed } from './feeds/status-feed.ts';
import { UnreadFeed } from './feeds/unread-feed.ts';
import { jsonFrame } from './frames.ts';
import { createLiveMetrics, type LiveMetrics } from './live-metrics.ts';
import type { Subscription } from './messages.ts';
import { UnsentBytes } from './unsent-bytes.ts';

export interface NotifierConfig extends ConnectionBounds {
  /** Maximum of bytes that wait for slow clients, over all WebSockets. */
  maxUnsentBytes: number;
}

export interface NotifierParts extends Authentication {
  config: NotifierConfig;
  log: Log;
  hub: Hub;
  inbox: Pick<Inboxes, 'after' | 'progressByUser' | 'unread'>;
  /** Owners of geofences, deleted ones included. */
  geofenceOwners: Geofences['ownersOf'];
  /** Manual assignments of drivers to vehicles. */
  driverAssignments: DriverAssignments['list'];
  /** Counters of vehicles. Vehicles without counters are missing. */
  counters(vehicleIds: readonly VehicleId[]): Promise<VehicleCounters[]>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface Notifier extends Part {
  /** Handles an HTTP upgrade to `GET /live`. The socket always gets a response, also if the upgrade is refused. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Sockets of an ended session are closed within 5 s: this interval plus the time of the query. */
export const RECHECK_EVERY_MS = 2000;
/** Interval at which changed counters are read and sent. */
const COUNTERS_EVERY_MS = 1000;
const LOG_SLOW_EVERY_MS = 60_000;

/**
 * The live API: pushes positions, events and notifications to the WebSockets of clients that may see them. Positions
 * come from the hub and are conflated to the newest for slow clients. Events come from the log and notifications from
 * the inbox; both carry a cursor and are never skipped. A client that reconnects with its cursor gets what it missed.
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
  readonly #drivers: CurrentDrivers;
  readonly #driverChecks: Poller;
  readonly #counters: ChangedCounters;
  readonly #counterReads: Poller;
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
  readonly #rechecks: Poller;
  #slowSinceLogged = 0;
  #slowLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: NotifierParts) {
    const { config, logger, clock } = parts;
    const { now } = clock;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.failed.catch(() => {});
    this.#fail = reject;
    this.#parts = parts;
    const directory = this.#directory;
    const audiences = this.#audiences;
    this.#drivers = new CurrentDrivers({ directory, assignments: parts.driverAssignments, now });
    this.#driverChecks = poller({
      name: 'drivers of vehicles',
      work: async () => this.#statuses.sendDrivers(await this.#drivers.changed()),
      everyMs: RECHECK_EVERY_MS,
      logger,
      clock,
    });
    this.#counters = new ChangedCounters({
      counters: parts.counters,
      audiences,
      send: (counters) => this.#statuses.sendCounters(counters),
    });
    this.#counterReads = poller({
      name: 'counters of vehicles',
      work: () => this.#counters.send(),
      everyMs: COUNTERS_EVERY_MS,
      logger,
      clock,
    });
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
    this.#rechecks = poller({
      name: 'checks of live sessions and inboxes',
      work: () => this.#recheck(),
      everyMs: RECHECK_EVERY_MS,
      retryMs: RECHECK_EVERY_MS,
      logger,
      clock,
    });
    this.#connections = new Connections({
      bounds: config,
      authentication: parts,
      directory,
      unsent: this.#unsent,
      metrics,
      logger,
      clock,
      onSubscription: (client, subscription) => this.#subscribe(client, subscription),
      onTooSlow: (client) => {
        this.#countSlow('client', 1);
        client.disconnect();
      },
      onRights: (client) => this.#refile(client),
      onClosed: (client) => {
        audiences.remove(client);
        this.#changes.remove(client);
        this.#statuses.forgetClient(client);
      },
    });
    const connections = this.#connections;
    this.#statuses = new StatusFeed({
      hub: parts.hub,
      directory,
      audiences,
      drivers: this.#drivers,
      unsent: this.#unsent,
      metrics,
      clock,
    });
    this.#events = new EventFeed({ log: parts.log, directory, audiences, owners: this.#owners, metrics, logger, now });
    this.#notifications = new NotificationFeed({
      inbox: parts.inbox,
      directory,
      connections,
      metrics,
      logger,
      cursorAt: (places, lastNotification) => this.#events.cursorAt(places, lastNotification),
      here: (client) => this.#events.here(client),
    });
    this.#jobs = new JobFeed({ directory, audiences, connections, metrics });
    this.#unread = new UnreadFeed({ inbox: parts.inbox, directory, connections, metrics, logger, clock });
    this.#changes = new DefinitionFeed({
      directory,
      connections,
      metrics,
      onVehiclesAdded: (client, vehicleIds) => this.#sendKnown(client, vehicleIds),
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
    await follow(VEHICLE_COMMAND_CHANNEL, this.#jobs.onCommand.bind(this.#jobs));
    await follow(INCIDENT_CHANNEL, this.#jobs.onIncident.bind(this.#jobs));
    await follow(REPORT_JOB_CHANNEL, this.#jobs.onReportJob.bind(this.#jobs));
    await follow(DRIVER_ASSIGNMENT_CHANNEL, () => {
      this.#drivers.assignmentChanged();
      this.#driverChecks.wake();
    });
    await follow<CountersNews>(COUNTERS_CHANNEL, ({ vehicleIds }) => this.#counters.note(vehicleIds));
    await this.#counterReads.start();
    await this.#driverChecks.start();
    await this.#rechecks.start();
  }

  async stop(): Promise<void> {
    await this.#rechecks.stop();
    await this.#counterReads.stop();
    await this.#driverChecks.stop();
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
    // Messages already sent are not repeated: the events of this connection continue where they are.
    const goesOn = client.subscription?.events === true;
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
    const since = goesOn ? null : subscription.since;
    // From here on nothing is lost: earlier events are in the snapshot and the replay below, later ones come live.
    const places = await this.#events.locate(client, { ...subscription, since });
    await client.reading;
    await this.#notifications.begin(client, subscription);
    if (subscription.positions || subscription.states) await this.#statuses.sendSnapshot(client, subscription);
    const missedNotifications = await this.#notifications.sendMissed(client, places);
    const joinLive = (missed: number) => {
      const cursor = this.#events.cursorAt(this.#events.here(client), client.lastNotification);
      const heartbeatSeconds = HEARTBEAT_SECONDS;
      client.send(jsonFrame({ type: 'resumed', missed, missedNotifications, cursor, heartbeatSeconds }));
      client.catchingUp = false;
    };
    if (subscription.events) await this.#events.resume(client, places, since !== null, joinLive);
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
    if (change.kind === 'vehicle') this.#onVehicle(change.id as VehicleId, before as Vehicle | null);
    if (change.kind === 'user') this.#onUser(change.id as UserId);
    this.#drivers.definitionChanged(change);
    if (change.kind === 'driver') this.#driverChecks.wake();
    if (change.definition === null && before?.kind === 'geofence') this.#owners.remember(before);
    notifyViewers();
  }

  #onVehicle(id: VehicleId, before: Vehicle | null): void {
    // Positions that wait for a slow client may have been queued while it could see the vehicle.
    const left = this.#audiences.vehicleChanged(id);
    for (const client of left) client.statuses.forget(id);
    const after = this.#directory.vehicles.get(id);
    if (after === undefined) this.#statuses.forgetVehicle(id);
    if (before === null || after === undefined || isSuspended(before) === isSuspended(after)) return;
    // Data sent during the suspension, and notifications of its events, are visible again.
    for (const client of isSuspended(after) ? left : this.#audiences.of(id)) {
      if (client.userId !== null) this.#unread.changed(client.userId);
      if (!isSuspended(after)) this.#sendKnown(client, [id]);
    }
  }

  /** Sends the state of vehicles that have become visible to a client. */
  #sendKnown(client: LiveClient, vehicleIds: readonly VehicleId[]): void {
    void this.#statuses.sendKnown(client, vehicleIds).catch((error) => {
      this.#parts.logger.error({ err: error }, 'sending the state of vehicles that a client may see now failed');
      client.close(1011, 'the service could not answer');
    });
  }

  #onUser(id: UserId): void {
    for (const client of this.#connections.of(id)) this.#refile(client);
    this.#connections.recheckUser(id);
  }

  /** Indexes a client again after its rights may have changed. */
  #refile(client: LiveClient): void {
    client.statuses.clear();
    this.#audiences.update(client);
    this.#changes.update(client);
    // Other drivers may be visible now.
    void this.#statuses.sendDrivers(this.#drivers.vehicleIds(), client).catch((error) => {
      this.#parts.logger.warn({ err: error }, 'sending the drivers of vehicles failed');
    });
  }

  async #recheck(): Promise<void> {
    await this.#connections.recheckSessions();
    await this.#notifications.findUnannounced();
    this.#events.trim();
    this.#logSlow();
  }

  #countSlow(bound: 'client' | 'sum', count: number): void {
    this.#metrics.disconnectedSlow(bound, count);
    this.#slowSinceLogged += count;
  }

  /** Logs once per interval, because many clients may be slow at the same time. */
  #logSlow(): void {
    const nowMs = this.#parts.clock.steadyMs();
    if (this.#slowSinceLogged === 0 || nowMs < this.#slowLoggedAtMs + LOG_SLOW_EVERY_MS) return;
    const fields = { clients: this.#slowSinceLogged, unsentBytes: this.#unsent.total };
    this.#parts.logger.warn(fields, 'disconnected slow live clients');
    this.#slowSinceLogged = 0;
    this.#slowLoggedAtMs = nowMs;
  }
}

function isSuspended({ suspension }: Vehicle): boolean {
  return suspension !== null;
}
