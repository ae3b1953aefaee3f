import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refused, Verified } from '@outrider/auth';
import { Directory, eventJson, type FleetEvent, maySeeVehicle, positionJson, type VehicleId } from '@outrider/domain';
import type { Hub, LatestPosition, Unsubscribe } from '@outrider/hub';
import { eventsTopic, followDefinitions, type Log, type Subscription } from '@outrider/log';
import { Counter, type Log as Diary, Gauge, type Part, type Registry } from '@outrider/runtime';
import { type RawData, WebSocketServer } from 'ws';
import { CLOSE, LiveClient, type Subscription as Wish } from './client.ts';
import { jsonFrame } from './frames.ts';
import { type Cursor, parseClientMessage, writeCursor } from './messages.ts';

export interface NotifierParts {
  config: { maxConnections: number };
  log: Log;
  hub: Hub;
  /** Whose token is it? */
  verify(token: string): Promise<Verified | Refused>;
  diary: Diary;
  metrics: Registry;
  now(): number;
}

export interface Notifier extends Part {
  /** Takes over an HTTP upgrade to `GET /live`; the socket is answered here whatever comes of it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const AUTHORIZE_WITHIN_MS = 5000;
const PING_EVERY_MS = 30_000;
const MAX_MESSAGE_BYTES = 512 * 1024;
/** Messages of one client that may wait for their turn. */
const MAX_WAITING_MESSAGES = 16;
const GAP_DETAIL = 'these events are no longer in the log';
const SNAPSHOT_CHUNK = 1000;
/** The longest that a timer can run. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The people's side of the road: pushes positions and events to the WebSockets of those who may see them.
 * Positions come from the hub and are conflated to the newest where a client is slow; events come from the log, carry a
 * cursor, and are never left out: a client that comes back with its cursor gets what it missed.
 */
export function createNotifier({ config, log, hub, verify, diary, metrics, now }: NotifierParts): Notifier {
  const directory = new Directory();
  const clients = new Set<LiveClient>();
  /** Next offset of topic `events` by partition: everything below was offered to the clients. */
  const told = new Map<number, number>();
  /** Who is to hear of a vehicle; emptied whenever a definition or a subscription changes. */
  const audiences = new Map<VehicleId, LiveClient[]>();
  const dirty = new Set<LiveClient>();
  let flushing = false;
  let definitions: Subscription | null = null;
  let events: Subscription | null = null;
  let leaveHub: Unsubscribe | null = null;
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
  const positionsSent = sent.labels('position');
  const eventsSent = sent.labels('event');

  function maySee(client: LiveClient, vehicleId: VehicleId): boolean {
    const user = client.userId === null ? undefined : directory.users.get(client.userId);
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

  function onLatest(entries: readonly LatestPosition[]): void {
    for (const { vehicleId, position } of entries) {
      const audience = audienceOf(vehicleId);
      if (audience.length === 0) continue;
      let frame: Buffer | null = null;
      for (const client of audience) {
        if (!client.subscription?.positions) continue;
        frame ??= jsonFrame({ type: 'position', ...positionJson(vehicleId, position) });
        client.queuePosition(vehicleId, frame);
        positionsSent.inc();
        dirty.add(client);
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

  function eventFrame(event: FleetEvent, cursor: Cursor): Buffer {
    return jsonFrame({ type: 'event', ...eventJson(event), cursor: writeCursor(cursor) });
  }

  function onEvent(event: FleetEvent): void {
    let frame: Buffer | null = null;
    for (const client of audienceOf(event.vehicleId)) {
      if (!client.subscription?.events || client.catchingUp) continue;
      frame ??= eventFrame(event, told);
      client.send(frame);
      eventsSent.inc();
    }
  }

  function onDefinitionChanged(): void {
    audiences.clear();
    for (const client of clients)
      if (client.userId !== null && !LiveClient.mayStay(directory.users.get(client.userId)))
        client.socket.close(CLOSE.forbidden, 'the account was blocked or deleted');
  }

  /** Positions that wait for a slow client were queued when it might see them; it may not have that right any more. */
  function dropForbidden(vehicleId: VehicleId): void {
    for (const client of clients) if (!maySee(client, vehicleId)) client.dropPosition(vehicleId);
  }

  async function authorize(client: LiveClient, jwt: string): Promise<boolean> {
    const verified = await verify(jwt);
    if (verified.error !== undefined) {
      client.socket.close(CLOSE.unauthorized, `the token is not taken: ${verified.error}`);
      return false;
    }
    if (!LiveClient.mayStay(directory.users.get(verified.userId))) {
      client.socket.close(CLOSE.forbidden, 'the account is blocked or deleted');
      return false;
    }
    if (client.userId !== null && client.userId !== verified.userId) {
      client.socket.close(CLOSE.forbidden, 'a connection stays with the account that opened it');
      return false;
    }
    admitUntil(client, verified);
    return true;
  }

  /** The client is who the token says, until the token ends. */
  function admitUntil(client: LiveClient, { userId, expiresAtMs }: Verified): void {
    client.userId = userId;
    if (client.expiry) clearTimeout(client.expiry);
    client.expiry = setTimeout(
      () => client.socket.close(CLOSE.unauthorized, 'the token expired'),
      Math.min(expiresAtMs - now(), MAX_TIMER_MS),
    );
  }

  async function subscribe(client: LiveClient, wish: Wish): Promise<void> {
    client.subscription = wish;
    client.dropPositions();
    client.catchingUp = true;
    audiences.clear();
    // Everything up to here is either in the snapshot and the replay below, or comes live afterwards; nothing falls between.
    const since = wish.since ?? new Map(told);
    if (wish.positions) await sendSnapshot(client, wish);
    if (wish.events) await resume(client, since, wish.since !== null);
    client.catchingUp = false;
    client.flushPositions();
  }

  async function sendSnapshot(client: LiveClient, wish: Wish): Promise<void> {
    const candidates = wish.vehicles !== null && wish.groups === null ? wish.vehicles : directory.vehicles.keys();
    const vehicleIds: VehicleId[] = [];
    for (const vehicleId of candidates)
      if (client.wants(vehicleId, directory.vehicles.get(vehicleId)?.groupIds ?? []) && maySee(client, vehicleId))
        vehicleIds.push(vehicleId);
    let from = 0;
    do {
      const chunk = await hub.latest(vehicleIds.slice(from, from + SNAPSHOT_CHUNK));
      from += SNAPSHOT_CHUNK;
      const positions = chunk
        .filter(({ vehicleId }) => maySee(client, vehicleId))
        .map(({ vehicleId, position }) => positionJson(vehicleId, position));
      client.send(jsonFrame({ type: 'snapshot', positions, complete: from >= vehicleIds.length }));
      await client.drained();
    } while (from < vehicleIds.length && client.open);
  }

  /**
   * Tells what was said since the cursor, until the client stands where the live stream does; from that moment, without
   * a turn of the event loop between, it is part of the live stream.
   */
  async function resume(client: LiveClient, since: Cursor, asked: boolean): Promise<void> {
    const reached = new Map<number, number>();
    for (const partition of told.keys()) reached.set(partition, since.get(partition) ?? 0);
    let missed = 0;
    for (let behind = true; behind && client.open; ) {
      behind = false;
      for (const [partition, end] of told) {
        const from = reached.get(partition) ?? end;
        if (from >= end) continue;
        behind = true;
        let next = from;
        for await (const batch of log.read(eventsTopic, partition, from, end)) {
          const oldest = batch.records[0]?.offset ?? from;
          if (asked && oldest > next)
            client.send(jsonFrame({ type: 'gap', partition, from: next, to: oldest, detail: GAP_DETAIL }));
          next = (batch.records.at(-1)?.offset ?? next) + 1;
          for (const { offset, value } of batch.records) {
            reached.set(partition, offset + 1);
            const groupIds = directory.vehicles.get(value.vehicleId)?.groupIds ?? [];
            if (!client.wants(value.vehicleId, groupIds) || !maySee(client, value.vehicleId)) continue;
            client.send(eventFrame(value, reached));
            eventsSent.inc();
            missed++;
          }
          await client.drained();
          if (!client.open) return;
        }
        reached.set(partition, end);
      }
    }
    client.send(jsonFrame({ type: 'resumed', missed, cursor: writeCursor(told) }));
    client.catchingUp = false;
  }

  async function onMessage(client: LiveClient, data: RawData, isBinary: boolean): Promise<void> {
    if (isBinary) return client.socket.close(CLOSE.badMessage, 'messages are JSON text');
    const message = parseClientMessage(data.toString());
    if ('error' in message) {
      client.send(jsonFrame({ type: 'error', detail: message.error }));
      return;
    }
    if (message.type === 'authorize') {
      if (await authorize(client, message.jwt)) client.send(jsonFrame({ type: 'authorized' }));
      return;
    }
    if (client.userId === null) return client.socket.close(CLOSE.unauthorized, 'the first message must be "authorize"');
    if (message.type === 'subscribe') return subscribe(client, message);
    client.subscription = null;
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
      if (client.userId === null) client.socket.close(CLOSE.unauthorized, 'no token within 5 seconds');
    }, AUTHORIZE_WITHIN_MS);
    const ping = setInterval(() => {
      if (!alive) return client.socket.terminate();
      alive = false;
      client.socket.ping();
    }, PING_EVERY_MS);
    client.socket.on('pong', () => {
      alive = true;
    });
    client.socket.on('message', (data, isBinary) => {
      if (++waiting > MAX_WAITING_MESSAGES) return client.socket.close(CLOSE.tooMany, 'too many messages at once');
      turn = turn
        .then(() => onMessage(client, data, isBinary))
        .catch((error) => {
          diary.error({ err: error }, 'a live client could not be served');
          client.socket.close(1011, 'the service could not answer');
        })
        .finally(() => {
          waiting--;
        });
    });
    client.socket.on('error', (error) => diary.debug({ err: error }, 'live client'));
    client.socket.on('close', () => {
      clearTimeout(authorizing);
      clearInterval(ping);
      if (client.expiry) clearTimeout(client.expiry);
      clients.delete(client);
      dirty.delete(client);
      audiences.clear();
    });
  }

  return {
    name: 'notifier',
    failed,
    async start() {
      definitions = await followDefinitions(log, 'notifier', (change) => {
        if (directory.apply(change) === undefined) return;
        onDefinitionChanged();
        if (change.kind === 'vehicle') dropForbidden(change.id as VehicleId);
        if (change.kind === 'user')
          for (const client of clients) if (client.userId === change.id) client.dropPositions();
      });
      definitions.failed.catch(fail);
      for (const [partition, end] of await log.endOffsets(eventsTopic)) told.set(partition, end);
      events = await log.consume(eventsTopic, {
        group: `notifier-${crypto.randomUUID()}`,
        startAt: (partition) => told.get(partition) ?? 'latest',
        async onBatch({ partition, records }) {
          for (const { offset, value } of records) {
            told.set(partition, offset + 1);
            onEvent(value);
          }
        },
      });
      events.failed.catch(fail);
      leaveHub = await hub.onLatest(onLatest);
    },
    async stop() {
      await leaveHub?.();
      await events?.stop();
      await definitions?.stop();
      for (const client of clients) client.socket.close(1001, 'the service is stopping');
      const patience = setTimeout(() => {
        for (const client of clients) client.socket.terminate();
      }, 1000);
      while (clients.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      clearTimeout(patience);
      server.close();
    },
    upgrade(request, socket, head) {
      void open(request, socket, head).catch((error) => {
        diary.error({ err: error }, 'a live client could not be let in');
        socket.destroy();
      });
    },
  };

  async function open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    if (clients.size >= config.maxConnections) return turnAway(socket, '503 Service Unavailable');
    const header = request.headers.authorization;
    let verified: Verified | null = null;
    if (header !== undefined) {
      const [scheme, token] = header.split(' ');
      const answer: Verified | Refused = scheme === 'JWT' && token ? await verify(token) : { error: 'malformed' };
      if (answer.error !== undefined || !LiveClient.mayStay(directory.users.get(answer.userId)))
        return turnAway(socket, '401 Unauthorized', 'WWW-Authenticate: JWT\r\n');
      verified = answer;
    }
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const client = new LiveClient(webSocket, socket);
      admit(client);
      if (verified !== null) admitUntil(client, verified);
    });
  }
}

function turnAway(socket: Duplex, status: string, headers = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}
