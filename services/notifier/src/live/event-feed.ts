import { type Directory, type FleetEvent, geofenceOf } from '@outrider/domain';
import { type Batch, eventsTopic, type Log, type Subscription as LogSubscription } from '@outrider/log';
import { isDebugEnabled, type Logger } from '@outrider/runtime';
import type { Audiences } from './audiences.ts';
import type { LiveClient } from './client.ts';
import { CursorPlaces } from './cursor-places.ts';
import { type EventMessage, eventFrame, eventMessage } from './event-messages.ts';
import { jsonFrame } from './frames.ts';
import type { GeofenceOwners } from './geofence-owners.ts';
import type { LiveMetrics } from './live-metrics.ts';
import { type Cursor, type Subscription, writeCursor } from './messages.ts';
import { MissedEvents } from './missed-events.ts';
import { RecentEvents } from './recent-events.ts';
import { RepeatedEvents } from './repeated-events.ts';

export interface EventFeedContext {
  log: Log;
  directory: Directory;
  audiences: Audiences<LiveClient>;
  owners: GeofenceOwners;
  metrics: LiveMetrics;
  logger: Logger;
  now(): number;
}

const REPLACED_DETAIL = 'the log was replaced or cut short since: events may be missing';
/** The client returns with its cursor, and misses nothing. */
const OWNER_UNKNOWN = 'the service could not answer';

/**
 * Events from the log to the clients that may see them: as they happen, and from a cursor on those that were missed.
 */
export class EventFeed {
  readonly #context: EventFeedContext;
  readonly #repeated = new RepeatedEvents();
  readonly #recent: RecentEvents;
  readonly #places: CursorPlaces;
  readonly #missed: MissedEvents;
  /** Next offset by partition: everything below was offered to the clients. */
  readonly #offered = new Map<number, number>();
  #subscription: LogSubscription | null = null;

  constructor(context: EventFeedContext) {
    const { log, directory, owners, metrics, now } = context;
    this.#context = context;
    this.#recent = new RecentEvents({ now });
    this.#places = new CursorPlaces(log);
    this.#missed = new MissedEvents({
      log,
      directory,
      owners,
      recent: this.#recent,
      repeated: this.#repeated,
      offered: this.#offered,
      cursorAt: (events, notification) => this.cursorAt(events, notification),
      onSent: () => metrics.sent.event.inc(),
    });
  }

  /** @param onFailed called when the events can't be read any more */
  async start(onFailed: (error: unknown) => void): Promise<void> {
    const { log } = this.#context;
    await this.#places.open();
    for (const [partition, end] of await log.endOffsets(eventsTopic)) {
      this.#offered.set(partition, end);
      this.#recent.begin(partition, end);
    }
    this.#subscription = await log.consume(eventsTopic, {
      group: `notifier-${crypto.randomUUID()}`,
      startAt: (partition) => this.#offered.get(partition) ?? 'latest',
      onBatch: (batch) => this.#onBatch(batch),
    });
    this.#subscription.failed.catch(onFailed);
  }

  async stop(): Promise<void> {
    await this.#subscription?.stop();
  }

  /** Drops what is kept for clients that return and is too old. */
  trim(): void {
    this.#recent.trim();
  }

  /** Where the live events are now. */
  here(): ReadonlyMap<number, number> {
    return this.#offered;
  }

  /** The cursor of a client that got this far, for its next subscription. */
  cursorAt(events: ReadonlyMap<number, number>, lastNotification: number | null): string {
    return writeCursor({ events, notifications: lastNotification, identity: this.#places.identity });
  }

  /** The cursor of a client that gets the live events. */
  liveCursor(lastNotification: number | null): string {
    return this.cursorAt(this.#offered, lastNotification);
  }

  /** Where a cursor of the client's goes on in this log. A client that asked for events learns what it can't get. */
  async locate(client: LiveClient, subscription: Subscription, cursor: Cursor): Promise<Map<number, number>> {
    const { events, gaps } = await this.#places.locate(cursor, this.#offered);
    if (subscription.events)
      for (const gap of gaps)
        client.send(jsonFrame({ type: 'gap', stream: 'events', ...gap, detail: REPLACED_DETAIL }));
    return events;
  }

  /** See {@link MissedEvents.send}. */
  resume(
    client: LiveClient,
    since: ReadonlyMap<number, number>,
    reportsGaps: boolean,
    joinLive: (missed: number) => void,
  ): Promise<void> {
    return this.#missed.send(client, since, reportsGaps, joinLive);
  }

  async #onBatch({ partition, records }: Batch<FleetEvent>): Promise<void> {
    const { owners, logger } = this.#context;
    await owners.read(records.map(({ value }) => geofenceOf(value))).catch((error) => {
      // Clients that may be concerned are disconnected, and return for what they missed.
      logger.error({ err: error }, 'cannot read the owners of deleted geofences');
    });
    for (const { offset, value } of records) {
      const message = eventMessage(offset, value);
      this.#recent.append(partition, message);
      this.#offered.set(partition, offset + 1);
      if (!this.#repeated.isRepetition(partition, offset, value)) this.#send(value, message);
    }
  }

  #send({ traceId, id, phase, vehicleId }: FleetEvent, message: EventMessage): void {
    const { audiences, directory, owners, metrics, logger } = this.#context;
    // Clients differ by how far their notifications are sent: that is part of the cursor.
    const frames = new Map<number | null, Buffer>();
    let clientCount = 0;
    for (const client of audiences.of(vehicleId)) {
      if (!client.subscription?.events || client.catchingUp || client.userId === null) continue;
      const user = directory.users.get(client.userId);
      const isAllowed = user !== undefined && owners.mayReceive(user, message.vehicleId, message.geofenceId);
      if (isAllowed === undefined) client.close(1011, OWNER_UNKNOWN);
      if (!isAllowed) continue;
      const { lastNotification } = client;
      let frame = frames.get(lastNotification);
      if (frame === undefined) {
        frame = eventFrame(message, this.liveCursor(lastNotification));
        frames.set(lastNotification, frame);
      }
      client.send(frame);
      metrics.sent.event.inc();
      clientCount++;
    }
    if (clientCount > 0 && isDebugEnabled(logger))
      logger.debug({ traceId, eventId: id, phase, clients: clientCount }, 'event sent to live clients');
  }
}
