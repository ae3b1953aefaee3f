import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Refused, tokenOfHeader, type Verified } from '@outrider/auth';
import {
  Directory,
  type FleetEvent,
  geofenceOf,
  mayHear,
  maySeeVehicle,
  maySeeVideo,
  type Notification,
  notificationJson,
  positionJson,
  REPORT_JOB_CHANNEL,
  type ReportJobNews,
  reportJobJson,
  type SessionId,
  type User,
  type UserId,
  type VehicleId,
  type VehicleStatus,
  VIDEO_TASK_CHANNEL,
  type VideoTaskNews,
  vehicleStateJson,
  videoTaskJson,
} from '@outrider/domain';
import type { Hub, Unsubscribe } from '@outrider/hub';
import { eventsTopic, followDefinitions, type Log, type Subscription } from '@outrider/log';
import type { Geofences, Notifications as Inbox } from '@outrider/registry';
import {
  ConnectionCounts,
  Counter,
  Gauge,
  isDebugEnabled,
  type Logger,
  type Part,
  type Registry,
} from '@outrider/runtime';
import { type RawData, WebSocketServer } from 'ws';
import { TOLD_CHANNEL, type ToldMessage } from '../notifications.ts';
import { Slots } from '../slots.ts';
import { CLOSE, LiveClient, refusalOf, type Via, type Subscription as Wish } from './client.ts';
import { CursorPlaces } from './cursor-places.ts';
import { type EventMessage, eventFrame, eventMessage } from './event-messages.ts';
import { jsonFrame } from './frames.ts';
import { GeofenceOwners } from './geofence-owners.ts';
import { type Cursor, parseClientMessage, writeCursor } from './messages.ts';
import { PastEvents } from './past-events.ts';
import { RecentEvents } from './recent-events.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { RepeatedEvents } from './repeated-events.ts';
import { UnsentBytes } from './unsent-bytes.ts';

export interface NotifierConfig {
  maxConnections: number;
  /** Of one account. */
  maxPerUser: number;
  /** Of one address. */
  maxPerAddress: number;
  /** What may wait for slow clients, over all WebSockets. */
  maxUnsentBytes: number;
}

export interface NotifierParts {
  config: NotifierConfig;
  log: Log;
  hub: Hub;
  /** What was told to whom. */
  inbox: Pick<Inbox, 'after' | 'standings'>;
  /** Whose token is it? */
  verify(token: string): Promise<Verified | Refused>;
  /** Whose cookie does the request carry? Null where it carries none, or was made by a page of another origin. */
  cookieSession(request: IncomingMessage): Promise<Verified | Refused | null>;
  /** What the client's address is counted by; null where it is not bounded. */
  addressKey(request: IncomingMessage): string | null;
  /** Owners of geofences, deleted ones included. */
  geofenceOwners: Geofences['ownersOf'];
  /** Is what this key signed still taken? */
  keyIsGood(keyId: string): boolean;
  /** Those of the sessions that are still open. */
  liveSessions(ids: readonly SessionId[]): Promise<ReadonlySet<SessionId>>;
  logger: Logger;
  metrics: Registry;
  now(): number;
}

export interface Notifier extends Part {
  /** Takes over an HTTP upgrade to `GET /live`; the socket is answered here whatever comes of it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const AUTHORIZE_WITHIN_MS = 5000;
/** Share of the connections that clients may hold before they have said who they are: the others are for those who have. */
const ANONYMOUS_SHARE = 0.1;
const MAX_ANONYMOUS_PER_ADDRESS = 20;
const PING_EVERY_MS = 30_000;
/** A session that ended has no socket 5 s later: this, and the time that the question takes. */
const RECHECK_SESSIONS_MS = 2000;
const MAX_MESSAGE_BYTES = 512 * 1024;
/** Messages of one client that may wait for their turn. */
const MAX_WAITING_MESSAGES = 16;
const GAP_DETAIL = 'these events are no longer in the log';
const REPLACED_DETAIL = 'the log was replaced or cut short since: events may be missing';
const FORGOTTEN_DETAIL = 'these notifications are no longer kept';
const RETRY_AFTER = 'Retry-After: 5\r\n';
const TOO_MANY_OF_USER = 'the account has too many connections';
/** The client returns with its cursor, and misses nothing. */
const OWNER_UNKNOWN = 'the service could not answer';
/** Notifications that are read at a time for a client that missed some. */
const NOTIFICATIONS_AT_ONCE = 200;
const SNAPSHOT_CHUNK = 1000;
/** The same, while much waits for slow clients already. */
const SNAPSHOT_CHUNK_WHEN_SCARCE = 100;
/** Chunks that are on their way from the hub to clients at the same time. */
const SNAPSHOTS_AT_ONCE = 32;
const LOG_SLOW_EVERY_MS = 60_000;
/** How long one client that catches up may keep all others waiting. */
const CATCH_UP_SLICE_MS = 5;
/** The longest that a timer can run. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The people's side of the road: pushes positions and events to the WebSockets of those who may see them.
 * Positions come from the hub and are conflated to the newest where a client is slow; events come from the log and
 * notifications from the inbox, carry a cursor, and are never left out: a client that comes back with its cursor gets
 * what it missed. Of new notifications the hub tells; what is sent is what the inbox holds, in the order of the numbers.
 */
export function createNotifier(parts: NotifierParts): Notifier {
  const { config, log, hub, inbox, verify, logger, metrics, now } = parts;
  const details = isDebugEnabled(logger);
  const directory = new Directory();
  const owners = new GeofenceOwners(directory, parts.geofenceOwners);
  const clients = new Set<LiveClient>();
  const repeated = new RepeatedEvents();
  const recent = new RecentEvents({ now });
  const past = new PastEvents(log);
  const places = new CursorPlaces(log);
  /** Next offset of topic `events` by partition: everything below was offered to the clients. */
  const told = new Map<number, number>();
  /** Who is to hear of a vehicle; emptied whenever a definition or a subscription changes. */
  const audiences = new Map<VehicleId, LiveClient[]>();
  /** Time of each vehicle's newest position. */
  const positionTimes = new Map<VehicleId, number>();
  const dirty = new Set<LiveClient>();
  let flushing = false;
  let definitions: Subscription | null = null;
  let events: Subscription | null = null;
  let leaveHub: Unsubscribe | null = null;
  let leaveTold: Unsubscribe | null = null;
  let leaveVideo: Unsubscribe | null = null;
  let leaveReports: Unsubscribe | null = null;
  const clientsOf = new Map<UserId, Set<LiveClient>>();
  const { maxConnections, maxPerAddress, maxPerUser } = config;
  const connections = new ConnectionCounts({ total: maxConnections, perKey: maxPerAddress });
  const anonymous = new ConnectionCounts({
    total: Math.ceil(maxConnections * ANONYMOUS_SHARE),
    perKey: MAX_ANONYMOUS_PER_ADDRESS,
  });
  let rechecking: NodeJS.Timeout | null = null;
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  new Gauge({
    name: 'outrider_live_clients',
    help: 'WebSockets of the live API that are open',
    registers: [metrics],
    collect() {
      this.set(clients.size);
    },
  });
  const sent = new Counter({
    name: 'outrider_live_messages_total',
    help: 'Messages given to WebSockets of the live API',
    labelNames: ['type'],
    registers: [metrics],
  });
  const slowDisconnects = new Counter({
    name: 'outrider_live_slow_disconnects_total',
    help: 'WebSockets that were closed because their clients took too little, by the bound that was exceeded',
    labelNames: ['bound'],
    registers: [metrics],
  });
  for (const bound of ['client', 'sum']) slowDisconnects.inc({ bound }, 0);
  const refusedConnections = new Counter({
    name: 'outrider_live_refused_total',
    help: 'WebSockets of the live API that were refused, by the bound that was exceeded',
    labelNames: ['bound'],
    registers: [metrics],
  });
  for (const bound of ['total', 'address', 'user', 'anonymous']) refusedConnections.inc({ bound }, 0);
  const unsent = new UnsentBytes(
    config.maxUnsentBytes,
    () => clients,
    (count) => countSlow('sum', count),
  );
  new Gauge({
    name: 'outrider_live_unsent_bytes',
    help: 'What waits in memory for clients of the live API that take less than they are sent',
    registers: [metrics],
    collect() {
      this.set(unsent.total);
    },
  });
  let slowSinceLogged = 0;
  let slowLoggedAtMs = Number.NEGATIVE_INFINITY;
  const snapshots = new Slots(SNAPSHOTS_AT_ONCE);
  const positionsSent = sent.labels('position');
  const statesSent = sent.labels('vehicle-state');
  const eventsSent = sent.labels('event');
  const notificationsSent = sent.labels('notification');
  const videoTasksSent = sent.labels('video-task');
  const reportJobsSent = sent.labels('report-job');

  function countSlow(bound: 'client' | 'sum', count: number): void {
    slowDisconnects.inc({ bound }, count);
    slowSinceLogged += count;
  }

  /** Many clients may be slow at the same time: one line for all of a while. */
  function logSlow(): void {
    if (slowSinceLogged === 0 || performance.now() < slowLoggedAtMs + LOG_SLOW_EVERY_MS) return;
    logger.warn({ clients: slowSinceLogged, unsentBytes: unsent.total }, 'disconnected slow live clients');
    slowSinceLogged = 0;
    slowLoggedAtMs = performance.now();
  }

  function userOf({ userId }: LiveClient): User | undefined {
    return userId === null ? undefined : directory.users.get(userId);
  }

  function maySee(client: LiveClient, vehicleId: VehicleId): boolean {
    const user = userOf(client);
    const vehicle = directory.vehicles.get(vehicleId);
    return user !== undefined && vehicle !== undefined && maySeeVehicle(user, vehicle);
  }

  function audienceOf(vehicleId: VehicleId): readonly LiveClient[] {
    let audience = audiences.get(vehicleId);
    if (audience === undefined) {
      const groupIds = directory.vehicles.get(vehicleId)?.groupIds ?? [];
      audience = [...clients].filter((client) => client.wants(vehicleId, groupIds) && maySee(client, vehicleId));
      audiences.set(vehicleId, audience);
    }
    return audience;
  }

  function onLatest(statuses: readonly VehicleStatus[]): void {
    for (const status of statuses) {
      const { vehicleId, position } = status;
      // A record without a usable fix comes with the position that is known already.
      const isMoved = position !== null && positionTimes.get(vehicleId) !== position.fixTimeMs;
      if (isMoved) positionTimes.set(vehicleId, position.fixTimeMs);
      const audience = audienceOf(vehicleId);
      if (audience.length === 0) continue;
      let frame: Buffer | null = null;
      let stateFrame: Buffer | null = null;
      for (const client of audience) {
        const { subscription } = client;
        if (isMoved && subscription?.positions) {
          frame ??= jsonFrame({ type: 'position', ...positionJson(vehicleId, position) });
          client.queuePosition(vehicleId, frame);
          positionsSent.inc();
          dirty.add(client);
        }
        if (subscription?.states) {
          stateFrame ??= jsonFrame({ type: 'vehicle-state', ...vehicleStateJson(status) });
          client.queueState(vehicleId, stateFrame);
          statesSent.inc();
          dirty.add(client);
        }
      }
    }
    if (dirty.size > 0 && !flushing) {
      flushing = true;
      setImmediate(() => {
        flushing = false;
        for (const client of dirty) client.flushPositions();
        dirty.clear();
      });
    }
  }

  function onEvent(event: FleetEvent, message: EventMessage): void {
    // Clients differ by how far their notifications are sent: that is part of the cursor.
    const frames = new Map<number | null, Buffer>();
    let clientCount = 0;
    for (const client of audienceOf(event.vehicleId)) {
      if (!client.subscription?.events || client.catchingUp) continue;
      const user = userOf(client);
      const isAllowed = user !== undefined && owners.mayHear(user, message.vehicleId, message.geofenceId);
      if (isAllowed === undefined) client.close(1011, OWNER_UNKNOWN);
      if (!isAllowed) continue;
      const { notified } = client;
      let frame = frames.get(notified);
      if (frame === undefined) {
        frame = eventFrame(message, cursorAt(told, notified));
        frames.set(notified, frame);
      }
      client.send(frame);
      eventsSent.inc();
      clientCount++;
    }
    if (clientCount > 0 && details) {
      const { traceId, id, phase } = event;
      logger.debug({ traceId, eventId: id, phase, clients: clientCount }, 'event sent to live clients');
    }
  }

  function mayHearOf(client: LiveClient, { event }: Notification): boolean {
    const user = userOf(client);
    if (user === undefined) return false;
    const geofenceId = geofenceOf(event);
    const geofence = geofenceId === null ? undefined : directory.geofences.get(geofenceId);
    const geofenceOwner = geofence && directory.users.get(geofence.ownerId);
    return mayHear(user, { vehicle: directory.vehicles.get(event.vehicleId), geofence, geofenceOwner });
  }

  /** How far a task is, for those who may see its video; whoever was not there asks the API. */
  function onVideoTask(text: string): void {
    const { vehicleId, task } = JSON.parse(text) as VideoTaskNews;
    const vehicle = directory.vehicles.get(vehicleId);
    if (vehicle === undefined) return;
    let frame: Buffer | null = null;
    for (const client of audienceOf(vehicleId)) {
      const user = userOf(client);
      if (!client.subscription?.videoTasks || user === undefined || !maySeeVideo(user, vehicle)) continue;
      frame ??= jsonFrame({ type: 'video-task', ...videoTaskJson(task) });
      client.send(frame);
      videoTasksSent.inc();
    }
  }

  /** The end of a report, for who asked for it; whoever was not there asks the API. */
  function onReportJob(text: string): void {
    const news = JSON.parse(text) as ReportJobNews;
    for (const client of clientsOf.get(news.userId) ?? []) {
      if (!client.subscription?.reportJobs) continue;
      client.send(jsonFrame({ type: 'report-job', ...reportJobJson(news) }));
      reportJobsSent.inc();
    }
  }

  /** Sends the next notification, unless the right to hear of it was lost: then it counts as told. */
  function sendNotification(
    client: LiveClient,
    notification: Notification,
    reached: ReadonlyMap<number, number>,
  ): boolean {
    client.notified = notification.number;
    if (!mayHearOf(client, notification)) return false;
    const cursor = cursorAt(reached, client.notified);
    client.send(jsonFrame({ type: 'notification', ...notificationJson(notification), cursor }));
    notificationsSent.inc();
    if (details) {
      const { id, userId, event } = notification;
      logger.debug({ traceId: event.traceId, notificationId: id, userId }, 'notification sent to a live client');
    }
    return true;
  }

  function onTold(text: string): void {
    const { userId, last, notifications } = JSON.parse(text) as ToldMessage;
    for (const client of clientsOf.get(userId) ?? []) {
      client.heardOf = Math.max(client.heardOf, last);
      if (client.notified === null || client.catchingUp) continue;
      const [first] = notifications;
      // What follows on what it was told is sent as it is; anything else is read, so that the order is that of the inbox.
      if (client.telling === null && first !== undefined && first.number <= client.notified + 1) {
        for (const notification of notifications)
          if (notification.number > client.notified) sendNotification(client, notification, told);
      }
      tellOnSoon(client);
    }
  }

  /** Reads and sends what a client has not been told, if there is anything. */
  function tellOnSoon(client: LiveClient): void {
    if (client.notified === null || client.telling !== null || client.catchingUp || !client.open) return;
    if (client.heardOf <= client.notified) return;
    client.telling = tellOn(client, told)
      .catch((error) => {
        logger.error({ err: error }, 'notifications of a live client could not be read');
        client.close(1011, 'the service could not answer');
      })
      .finally(() => {
        client.telling = null;
        tellOnSoon(client);
      });
  }

  /** @returns how many were told */
  async function tellOn(client: LiveClient, reached: ReadonlyMap<number, number>): Promise<number> {
    let count = 0;
    while (client.open && client.userId !== null && client.notified !== null && client.heardOf > client.notified) {
      // Of those that are heard of while the inbox is read, it need not have shown any.
      const heardOf = client.heardOf;
      const missed = await inbox.after(client.userId, client.notified, NOTIFICATIONS_AT_ONCE);
      for (const notification of missed) {
        // The subscription may have ended meanwhile.
        if (client.notified === null) return count;
        // Numbers have no holes: what is missing was forgotten.
        if (notification.number > client.notified + 1) sendForgotten(client, client.notified + 1, notification.number);
        if (sendNotification(client, notification, reached)) count++;
      }
      await client.drained();
      if (missed.length < NOTIFICATIONS_AT_ONCE && client.notified !== null && client.notified < heardOf) {
        // Heard of and not there: forgotten since.
        sendForgotten(client, client.notified + 1, heardOf + 1);
        client.notified = heardOf;
      }
    }
    return count;
  }

  function sendForgotten(client: LiveClient, from: number, to: number): void {
    client.send(jsonFrame({ type: 'gap', stream: 'notifications', from, to, detail: FORGOTTEN_DETAIL }));
  }

  /** Where the hub lost a hint, what it hinted at is found by looking. */
  async function lookForUnheard(): Promise<void> {
    const userIds = [...clientsOf].filter(([, all]) => [...all].some(({ notified }) => notified !== null));
    const standings = await inbox.standings(userIds.map(([userId]) => userId));
    for (const [userId, { lastNumber }] of standings)
      for (const client of clientsOf.get(userId) ?? []) {
        client.heardOf = Math.max(client.heardOf, lastNumber);
        tellOnSoon(client);
      }
  }

  function onDefinitionChanged(): void {
    audiences.clear();
    for (const client of clients) {
      if (client.userId === null) continue;
      const reason = refusalOf(directory.users.get(client.userId), client.via);
      if (reason !== null) client.close(CLOSE.forbidden, reason);
    }
  }

  /** Positions that wait for a slow client were queued when it might see them; it may not have that right any more. */
  function dropForbidden(vehicleId: VehicleId): void {
    for (const client of clients) if (!maySee(client, vehicleId)) client.dropPosition(vehicleId);
  }

  async function authorize(client: LiveClient, jwt: string): Promise<boolean> {
    const verified = await verify(jwt);
    if (verified.error !== undefined) {
      client.close(CLOSE.unauthorized, `the token is not taken: ${verified.error}`);
      return false;
    }
    const reason = refusalOf(directory.users.get(verified.userId), 'jwt');
    if (reason !== null) {
      client.close(CLOSE.forbidden, reason);
      return false;
    }
    if (client.userId !== null && client.userId !== verified.userId) {
      client.close(CLOSE.forbidden, 'a connection stays with the account that opened it');
      return false;
    }
    if (client.userId === null && isFull(verified.userId)) {
      refusedConnections.inc({ bound: 'user' });
      client.close(CLOSE.tooMany, TOO_MANY_OF_USER);
      return false;
    }
    admitUntil(client, verified, 'jwt');
    return true;
  }

  /** Has the account as many connections as it may? */
  function isFull(userId: UserId): boolean {
    return (clientsOf.get(userId)?.size ?? 0) >= maxPerUser;
  }

  async function verifyHeader(header: string): Promise<Verified | Refused> {
    const token = tokenOfHeader(header);
    return token === null ? { error: 'malformed' } : verify(token);
  }

  /** The client is who the token says, until the token ends. */
  function admitUntil(client: LiveClient, { userId, sessionId, expiresAtMs, keyId }: Verified, via: Via): void {
    if (client.userId === null) {
      client.identified();
      const others = clientsOf.get(userId);
      if (others) others.add(client);
      else clientsOf.set(userId, new Set([client]));
    }
    client.userId = userId;
    client.sessionId = sessionId;
    client.via = via;
    client.keyId = keyId;
    if (client.expiry) clearTimeout(client.expiry);
    client.expiry = setTimeout(
      () => client.close(CLOSE.unauthorized, 'the token expired'),
      Math.min(expiresAtMs - now(), MAX_TIMER_MS),
    );
  }

  /** Lets go of clients whose session was ended: by a logout, by another password, by whoever keeps the account. */
  async function recheckSessions(): Promise<void> {
    const sessionIds = new Set([...clients].map(({ sessionId }) => sessionId).filter((id) => id !== null));
    if (sessionIds.size === 0) return;
    const live = await parts.liveSessions([...sessionIds]);
    for (const client of clients) {
      // Only those that were asked for: a client may have come with another session meanwhile.
      const { sessionId } = client;
      if (sessionId !== null && sessionIds.has(sessionId) && !live.has(sessionId))
        client.close(CLOSE.unauthorized, 'the session was ended');
    }
  }

  /** Ends connections whose token was signed by a key that was revoked. */
  function recheckKeys(): void {
    for (const client of clients)
      if (client.keyId !== null && !parts.keyIsGood(client.keyId))
        client.close(CLOSE.unauthorized, 'the key of the token was revoked');
  }

  function recheckSoon(): void {
    rechecking = setTimeout(async () => {
      try {
        recheckKeys();
        await recheckSessions();
        await lookForUnheard();
        recent.trim();
        logSlow();
      } catch (error) {
        logger.error({ err: error }, 'sessions and inboxes could not be asked for; asking again');
      }
      if (rechecking !== null) recheckSoon();
    }, RECHECK_SESSIONS_MS);
  }

  async function subscribe(client: LiveClient, wish: Wish): Promise<void> {
    client.subscription = wish;
    client.dropPositions();
    client.catchingUp = true;
    audiences.clear();
    // Everything up to here is either in the snapshot and the replay below, or comes live afterwards; nothing falls between.
    const since = wish.since === null ? new Map(told) : await placeOf(client, wish, wish.since);
    await client.telling;
    await beginNotifications(client, wish);
    if (wish.positions || wish.states) await sendSnapshot(client, wish);
    const missedNotifications = await tellOn(client, since);
    const joinLive = (missed: number) => {
      const cursor = cursorAt(told, client.notified);
      client.send(jsonFrame({ type: 'resumed', missed, missedNotifications, cursor }));
      client.catchingUp = false;
    };
    if (wish.events) await resume(client, since, wish.since !== null, joinLive);
    else joinLive(0);
    client.catchingUp = false;
    tellOnSoon(client);
    client.flushPositions();
  }

  function cursorAt(events: ReadonlyMap<number, number>, notifications: number | null): string {
    return writeCursor({ events, notifications, identity: places.identity });
  }

  /** Where the client's cursor goes on in this log. */
  async function placeOf(client: LiveClient, wish: Wish, cursor: Cursor): Promise<Map<number, number>> {
    const { events, gaps } = await places.locate(cursor, told);
    if (wish.events)
      for (const gap of gaps)
        client.send(jsonFrame({ type: 'gap', stream: 'events', ...gap, detail: REPLACED_DETAIL }));
    return events;
  }

  /** From which notification on the client is told: after the one of its cursor, or from now on. */
  async function beginNotifications(client: LiveClient, wish: Wish): Promise<void> {
    // Who only asks for other vehicles goes on where they are.
    const before = client.notified;
    client.notified = null;
    if (!wish.notifications || client.userId === null) return;
    const standing = (await inbox.standings([client.userId])).get(client.userId);
    const { lastNumber, forgottenNumber } = standing ?? { lastNumber: 0, forgottenNumber: 0 };
    client.heardOf = Math.max(client.heardOf, lastNumber);
    const asked = wish.since?.notifications ?? before ?? lastNumber;
    if (asked < forgottenNumber) sendForgotten(client, asked + 1, forgottenNumber + 1);
    // A number that was never given comes from another inbox: it says nothing about this one.
    client.notified = Math.min(Math.max(asked, forgottenNumber), lastNumber);
  }

  async function sendSnapshot(client: LiveClient, wish: Wish): Promise<void> {
    const candidates = wish.vehicles !== null && wish.groups === null ? wish.vehicles : directory.vehicles.keys();
    const vehicleIds: VehicleId[] = [];
    for (const vehicleId of candidates)
      if (client.wants(vehicleId, directory.vehicles.get(vehicleId)?.groupIds ?? []) && maySee(client, vehicleId))
        vehicleIds.push(vehicleId);
    let from = 0;
    do {
      await snapshots.run(async () => {
        const to = from + (unsent.isScarce ? SNAPSHOT_CHUNK_WHEN_SCARCE : SNAPSHOT_CHUNK);
        const chunk = await hub.latest(vehicleIds.slice(from, to));
        from = to;
        const visible = chunk.filter(({ vehicleId }) => maySee(client, vehicleId));
        const positions = visible.flatMap(({ vehicleId, position }) =>
          wish.positions && position !== null ? positionJson(vehicleId, position) : [],
        );
        const states = wish.states ? { states: visible.map(vehicleStateJson) } : {};
        client.send(jsonFrame({ type: 'snapshot', positions, ...states, complete: from >= vehicleIds.length }));
      });
      await client.drained();
    } while (from < vehicleIds.length && client.open);
  }

  /**
   * Sends the events since the cursor, until the client stands where the live stream does; at that moment, without a
   * turn of the event loop between, it becomes part of the live stream.
   *
   * @param joinLive is passed how many were missed
   */
  async function resume(
    client: LiveClient,
    since: ReadonlyMap<number, number>,
    asked: boolean,
    joinLive: (missed: number) => void,
  ): Promise<void> {
    const reached = new Map<number, number>();
    for (const [partition, end] of told) {
      const next = since.get(partition) ?? 0;
      reached.set(partition, next);
      // The first pages of all partitions are read at the same time.
      if (next < end && recent.from(partition, next) === null) past.prefetch(partition, next, end);
    }
    let missed = 0;
    let yieldAtMs = performance.now() + CATCH_UP_SLICE_MS;
    for (let behind = true; behind && client.open; ) {
      behind = false;
      for (const [partition, end] of told) {
        while ((reached.get(partition) ?? end) < end && client.open) {
          behind = true;
          missed += await sendNext(client, partition, end, asked, reached);
          // Nothing read is held meanwhile: many slow clients at different places would hold much.
          if (client.slow) await client.drained();
          if (performance.now() > yieldAtMs) {
            await nextTurn();
            yieldAtMs = performance.now() + CATCH_UP_SLICE_MS;
          }
        }
      }
    }
    joinLive(missed);
  }

  /**
   * Sends the next events of a partition that the client asked for and may see, until it is slow; notes how far it came.
   *
   * @returns how many were sent
   */
  async function sendNext(
    client: LiveClient,
    partition: number,
    end: number,
    asked: boolean,
    reached: Map<number, number>,
  ): Promise<number> {
    const from = reached.get(partition) ?? end;
    const { messages, start, endOffset } = recent.from(partition, from) ?? (await past.from(partition, from, end));
    const kept = Math.min(messages[start]?.offset ?? endOffset, endOffset);
    if (asked && kept > from)
      client.send(jsonFrame({ type: 'gap', stream: 'events', partition, from, to: kept, detail: GAP_DETAIL }));
    const user = userOf(client);
    let count = 0;
    for (let index = start; index < messages.length; index++) {
      const message = messages[index];
      if (message === undefined || message.offset >= endOffset) break;
      const { offset, vehicleId, geofenceId } = message;
      // As `maySee`, of all clients for all events when many return: each is asked for once.
      const vehicle = directory.vehicles.get(vehicleId);
      if (!user || !vehicle || !client.wants(vehicleId, vehicle.groupIds)) continue;
      const isAllowed = owners.mayHear(user, vehicleId, geofenceId);
      if (isAllowed === undefined) {
        // Rights may change meanwhile: the event is the first of the next call.
        reached.set(partition, offset);
        await owners.read(geofencesIn(messages, index, endOffset));
        return count;
      }
      if (!isAllowed) continue;
      if (repeated.isRepetition(partition, offset, message)) continue;
      reached.set(partition, offset + 1);
      client.send(eventFrame(message, cursorAt(reached, client.notified)));
      eventsSent.inc();
      count++;
      if (client.slow) return count;
    }
    reached.set(partition, endOffset);
    return count;
  }

  async function onMessage(client: LiveClient, data: RawData, isBinary: boolean): Promise<void> {
    if (isBinary) return client.close(CLOSE.badMessage, 'messages are JSON text');
    const message = parseClientMessage(data.toString());
    if ('error' in message) {
      client.send(jsonFrame({ type: 'error', detail: message.error }));
      return;
    }
    if (message.type === 'authorize') {
      if (await authorize(client, message.jwt)) client.send(jsonFrame({ type: 'authorized' }));
      return;
    }
    if (client.userId === null) return client.close(CLOSE.unauthorized, 'the first message must be "authorize"');
    if (message.type === 'subscribe') return subscribe(client, message);
    client.subscription = null;
    client.notified = null;
    client.dropPositions();
    audiences.clear();
  }

  /** From here on the client is one of ours: its messages are taken one after the other. */
  function admit(client: LiveClient): void {
    clients.add(client);
    let waiting = 0;
    let turn: Promise<void> = Promise.resolve();
    let alive = true;
    const authorizing = setTimeout(() => {
      if (client.userId === null) client.close(CLOSE.unauthorized, 'no token within 5 seconds');
    }, AUTHORIZE_WITHIN_MS);
    const ping = setInterval(() => {
      if (!alive) return client.terminate();
      alive = false;
      client.socket.ping();
    }, PING_EVERY_MS);
    client.socket.on('pong', () => {
      alive = true;
    });
    client.socket.on('message', (data, isBinary) => {
      if (++waiting > MAX_WAITING_MESSAGES) return client.close(CLOSE.tooMany, 'too many messages at once');
      turn = turn
        .then(() => onMessage(client, data, isBinary))
        .catch((error) => {
          logger.error({ err: error }, 'a live client could not be served');
          client.close(1011, 'the service could not answer');
        })
        .finally(() => {
          waiting--;
        });
    });
    client.socket.on('error', (error) => logger.debug({ err: error }, 'live client'));
    client.socket.on('close', () => {
      clearTimeout(authorizing);
      clearInterval(ping);
      if (client.expiry) clearTimeout(client.expiry);
      clients.delete(client);
      if (client.userId !== null) {
        const others = clientsOf.get(client.userId);
        others?.delete(client);
        if (others?.size === 0) clientsOf.delete(client.userId);
      }
      dirty.delete(client);
      audiences.clear();
    });
  }

  return {
    name: 'notifier',
    failed,
    async start() {
      definitions = await followDefinitions(log, 'notifier', (change) => {
        const before = directory.apply(change);
        if (before === undefined) return;
        if (change.definition === null && before?.kind === 'geofence') owners.remember(before.id, before.ownerId);
        onDefinitionChanged();
        if (change.kind === 'vehicle') dropForbidden(change.id as VehicleId);
        if (change.kind === 'vehicle' && change.definition === null) positionTimes.delete(change.id as VehicleId);
        if (change.kind === 'user')
          for (const client of clients) if (client.userId === change.id) client.dropPositions();
      });
      definitions.failed.catch(fail);
      await places.open();
      for (const [partition, end] of await log.endOffsets(eventsTopic)) {
        told.set(partition, end);
        recent.begin(partition, end);
      }
      events = await log.consume(eventsTopic, {
        group: `notifier-${crypto.randomUUID()}`,
        startAt: (partition) => told.get(partition) ?? 'latest',
        async onBatch({ partition, records }) {
          await owners.read(records.map(({ value }) => geofenceOf(value))).catch((error) => {
            // Clients that may be concerned are disconnected, and come back for what they missed.
            logger.error({ err: error }, 'cannot read the owners of deleted geofences');
          });
          for (const { offset, value } of records) {
            const message = eventMessage(offset, value);
            recent.append(partition, message);
            told.set(partition, offset + 1);
            if (!repeated.isRepetition(partition, offset, value)) onEvent(value, message);
          }
        },
      });
      events.failed.catch(fail);
      leaveHub = await hub.onLatest(onLatest);
      leaveTold = await hub.subscribe(TOLD_CHANNEL, onTold);
      leaveVideo = await hub.subscribe(VIDEO_TASK_CHANNEL, onVideoTask);
      leaveReports = await hub.subscribe(REPORT_JOB_CHANNEL, onReportJob);
      recheckSoon();
    },
    async stop() {
      if (rechecking !== null) clearTimeout(rechecking);
      rechecking = null;
      await leaveHub?.();
      await leaveTold?.();
      await leaveVideo?.();
      await leaveReports?.();
      await events?.stop();
      await definitions?.stop();
      for (const client of clients) client.close(1001, 'the service is stopping');
      const patience = setTimeout(() => {
        for (const client of clients) client.terminate();
      }, 1000);
      while (clients.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      clearTimeout(patience);
      server.close();
    },
    upgrade(request, socket, head) {
      void open(request, socket, head).catch((error) => {
        logger.error({ err: error }, 'a live client could not be let in');
        socket.destroy();
      });
    },
  };

  function refuse(socket: Duplex, bound: 'total' | 'address' | 'user' | 'anonymous'): void {
    refusedConnections.inc({ bound });
    const isPeers = bound === 'address' || bound === 'user';
    refuseUpgrade(socket, isPeers ? '429 Too Many Requests' : '503 Service Unavailable', RETRY_AFTER);
  }

  async function open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    // Counted before anything is awaited: many that come at once are not let in beyond the bound.
    const key = parts.addressKey(request);
    const exceeded = connections.admit(key);
    if (exceeded !== null) return refuse(socket, exceeded === 'key' ? 'address' : 'total');
    socket.once('close', () => connections.release(key));
    // A token or a filter in the query would be ignored: the client learns at once that it is taken nowhere.
    if (/\?./.test(request.url ?? '')) return refuseUpgrade(socket, '400 Bad Request');
    const header = request.headers.authorization;
    const via: Via = header === undefined ? 'cookie' : 'jwt';
    const answer = header === undefined ? await parts.cookieSession(request) : await verifyHeader(header);
    // The peer may have gone meanwhile: nothing that is counted now would ever be released.
    if (socket.destroyed) return;
    if (via === 'jwt' && answer?.error !== undefined) return unauthorized(socket);
    const verified = answer?.error === undefined ? answer : null;
    let identified = () => {};
    if (verified !== null) {
      const user = directory.users.get(verified.userId);
      if (refusalOf(user, 'cookie') !== null) return unauthorized(socket);
      if (refusalOf(user, via) !== null) return refuseUpgrade(socket, '403 Forbidden');
      if (isFull(verified.userId)) return refuse(socket, 'user');
    } else {
      if (anonymous.admit(key) !== null) return refuse(socket, 'anonymous');
      identified = once(() => anonymous.release(key));
      socket.once('close', identified);
    }
    server.handleUpgrade(request, socket, head, (webSocket) => {
      if (answer?.error !== undefined) {
        // A browser tells its page no status of a refused upgrade, but the code that a WebSocket is closed with.
        webSocket.on('error', () => webSocket.terminate());
        return webSocket.close(CLOSE.unauthorized, `the session is over: ${answer.error}`);
      }
      const client = new LiveClient(webSocket, socket, unsent, (tooSlow) => {
        countSlow('client', 1);
        tooSlow.disconnect();
      });
      client.identified = identified;
      admit(client);
      if (verified !== null) admitUntil(client, verified, via);
    });
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function unauthorized(socket: Duplex): void {
  refuseUpgrade(socket, '401 Unauthorized', 'WWW-Authenticate: JWT\r\n');
}

function* geofencesIn(messages: readonly EventMessage[], start: number, endOffset: number) {
  for (let index = start; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined || message.offset >= endOffset) return;
    yield message.geofenceId;
  }
}
