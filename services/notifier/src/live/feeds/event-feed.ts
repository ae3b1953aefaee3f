import type { GeofenceOwners } from '@outrider/access';
import type { Directory, EventCorrection, FleetEvent } from '@outrider/domain';
import type { Log } from '@outrider/log';
import { isDebugEnabled, type Logger } from '@outrider/runtime';
import type { Audiences } from '../audiences.ts';
import type { LiveClient } from '../client.ts';
import { CORRECTIONS, EVENTS, type EventMessage, eventFrame } from '../event-messages.ts';
import { jsonFrame } from '../frames.ts';
import type { LiveMetrics } from '../live-metrics.ts';
import { LiveStream } from '../live-stream.ts';
import { type Cursor, type StreamPlaces, type Subscription, writeCursor } from '../messages.ts';
import { MissedEvents } from './missed-events.ts';

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

const MIB = 1024 * 1024;
/** Corrections are fewer, and fewer clients ask for them. */
const CORRECTIONS_BYTES = { recent: 8 * MIB, past: 4 * MIB };

/**
 * Events from the log to the clients that may see them, and what recalculations make of them to those that ask for
 * that: as they come, and from a cursor on those that were missed.
 */
export class EventFeed {
  readonly #context: EventFeedContext;
  readonly #events: LiveStream<FleetEvent>;
  readonly #corrections: LiveStream<EventCorrection>;
  readonly #missed: MissedEvents;

  constructor(context: EventFeedContext) {
    const { log, directory, owners, metrics, now } = context;
    this.#context = context;
    this.#events = new LiveStream(EVENTS, { log, now, leavesOutRepetitions: true });
    this.#corrections = new LiveStream(CORRECTIONS, {
      ...{ log, now, maxBytes: CORRECTIONS_BYTES, leavesOutRepetitions: false },
    });
    this.#missed = new MissedEvents({
      directory,
      owners,
      events: this.#events,
      corrections: this.#corrections,
      cursorAt: (places, notification) => this.cursorAt(places, notification),
      onSent: () => metrics.sent.event.inc(),
    });
  }

  /** @param onFailed called when the events can't be read any more */
  async start(onFailed: (error: unknown) => void): Promise<void> {
    const readOwners = (messages: readonly EventMessage[]) => this.#readOwners(messages);
    await this.#events.start(readOwners, (message, event) => this.#send(event, message, false), onFailed);
    await this.#corrections.start(readOwners, (message, { event }) => this.#send(event, message, true), onFailed);
  }

  async stop(): Promise<void> {
    await this.#corrections.stop();
    await this.#events.stop();
  }

  /** Drops what is kept for clients that return and is too old. */
  trim(): void {
    this.#events.recent.trim();
    this.#corrections.recent.trim();
  }

  /** Where what a client is sent is now; it moves on. */
  here({ subscription }: Pick<LiveClient, 'subscription'>): StreamPlaces {
    return {
      events: this.#events.offered,
      corrections: subscription?.corrections ? this.#corrections.offered : null,
    };
  }

  /** The cursor of a client that got this far, for its next subscription. */
  cursorAt({ events, corrections }: StreamPlaces, lastNotification: number | null): string {
    return writeCursor({
      events,
      corrections: corrections && { offsets: corrections, identity: this.#corrections.places.identity },
      notifications: lastNotification,
      identity: this.#events.places.identity,
    });
  }

  /**
   * Where a client goes on: at the cursor of its subscription, in this log, or here. A client that asked for events
   * learns what it can't get.
   */
  async locate(client: LiveClient, { events, corrections, since }: Subscription): Promise<StreamPlaces> {
    const here = this.here(client);
    const places = {
      events: new Map(here.events),
      corrections: here.corrections && new Map(here.corrections),
    };
    if (since === null) return places;
    const at = async (stream: LiveStream, cursor: Pick<Cursor, 'identity'> & { offsets: Cursor['events'] }) => {
      const { offsets, gaps } = await stream.places.locate(cursor, stream.offered);
      if (events)
        for (const gap of gaps)
          client.send(jsonFrame({ type: 'gap', stream: stream.of.name, ...gap, detail: REPLACED_DETAIL }));
      return offsets;
    };
    places.events = await at(this.#events, { offsets: since.events, identity: since.identity });
    // A cursor of a subscription without them says nothing about them.
    if (corrections && since.corrections !== null) places.corrections = await at(this.#corrections, since.corrections);
    return places;
  }

  /** See {@link MissedEvents.send}. */
  resume(
    client: LiveClient,
    since: StreamPlaces,
    reportsGaps: boolean,
    joinLive: (missed: number) => void,
  ): Promise<void> {
    return this.#missed.send(client, since, reportsGaps, joinLive);
  }

  async #readOwners(messages: readonly EventMessage[]): Promise<void> {
    const { owners, logger } = this.#context;
    await owners.read(messages.map(({ geofenceId }) => geofenceId)).catch((error) => {
      // Clients that may be concerned are disconnected, and return for what they missed.
      logger.error({ err: error }, 'cannot read the owners of deleted geofences');
    });
  }

  #send({ traceId, id, phase, vehicleId }: FleetEvent, message: EventMessage, isCorrection: boolean): void {
    const { audiences, directory, owners, metrics, logger } = this.#context;
    // Clients differ by how far their notifications are sent, and by corrections: that is part of the cursor.
    const frames = { plain: new Map<number | null, Buffer>(), corrected: new Map<number | null, Buffer>() };
    let clientCount = 0;
    for (const client of audiences.of(vehicleId)) {
      const { subscription, lastNotification } = client;
      if (!subscription?.events || client.catchingUp || client.userId === null) continue;
      if (isCorrection && !subscription.corrections) continue;
      const user = client.callerIn(directory);
      const isAllowed = user !== undefined && owners.mayReceive(user, message.vehicleId, message.geofenceId);
      if (isAllowed === undefined) client.close(1011, OWNER_UNKNOWN);
      if (!isAllowed) continue;
      const known = subscription.corrections ? frames.corrected : frames.plain;
      let frame = known.get(lastNotification);
      if (frame === undefined) {
        frame = eventFrame(message, this.cursorAt(this.here(client), lastNotification));
        known.set(lastNotification, frame);
      }
      client.send(frame);
      metrics.sent.event.inc();
      clientCount++;
    }
    if (clientCount > 0 && isDebugEnabled(logger))
      logger.debug({ traceId, eventId: id, phase, clients: clientCount }, 'event sent to live clients');
  }
}
