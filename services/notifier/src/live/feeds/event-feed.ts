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
/** The client reconnects with its cursor and misses nothing. */
const OWNER_UNKNOWN = 'the service could not answer';

const MIB = 1024 * 1024;
/** Smaller limits: corrections are fewer, and fewer clients subscribe to them. */
const CORRECTIONS_BYTES = { recent: 8 * MIB, past: 4 * MIB };

/**
 * Sends events from the log to the clients that may see them, and corrections by recalculations to subscribers of
 * these. Events are sent live; after a cursor, the missed ones are sent first.
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

  /** Drops events that are too old to be kept for returning clients. */
  trim(): void {
    this.#events.recent.trim();
    this.#corrections.recent.trim();
  }

  /** Current positions in the streams of a client; they keep advancing. */
  here({ subscription }: Pick<LiveClient, 'subscription'>): StreamPlaces {
    return {
      events: this.#events.offered,
      corrections: subscription?.corrections ? this.#corrections.offered : null,
    };
  }

  /** The cursor for the next subscription of a client at these positions. */
  cursorAt({ events, corrections }: StreamPlaces, lastNotification: number | null): string {
    return writeCursor({
      events,
      corrections: corrections && { offsets: corrections, identity: this.#corrections.places.identity },
      notifications: lastNotification,
      identity: this.#events.places.identity,
    });
  }

  /**
   * Where a client resumes: at the cursor of its subscription if it belongs to this log, otherwise here. A client that
   * subscribed to events is notified of gaps.
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
    // The cursor of a subscription without corrections has no offsets of them.
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
      // The clients concerned are disconnected. They reconnect and get what they missed.
      logger.error({ err: error }, 'cannot read the owners of deleted geofences');
    });
  }

  #send({ traceId, id, phase, vehicleId }: FleetEvent, message: EventMessage, isCorrection: boolean): void {
    const { audiences, directory, owners, metrics, logger } = this.#context;
    // The cursor differs between clients: by their last notification and by whether they get corrections.
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
