import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GeofenceOwners } from '@outrider/access';
import { type Directory, SYSTEM_CLOCK } from '@outrider/domain';
import type { LiveClient } from '../client.ts';
import { type EventMessage, eventFrame } from '../event-messages.ts';
import { jsonFrame } from '../frames.ts';
import type { LiveStream } from '../live-stream.ts';
import { type StreamPlaces, wantsVehicle } from '../messages.ts';

export interface MissedEventsContext {
  directory: Directory;
  owners: GeofenceOwners;
  events: LiveStream;
  corrections: LiveStream;
  cursorAt(places: StreamPlaces, lastNotification: number | null): string;
  onSent(): void;
}

/** Longest time for which one catching-up client may block all others. */
const SLICE_MS = 5;
const GAP_DETAIL = 'these events are no longer in the log';

/** Progress of a client that catches up: next offset by partition. */
interface Reached {
  events: Map<number, number>;
  corrections: Map<number, number> | null;
}

/** A client that catches up. */
interface Returning {
  client: LiveClient;
  /** Whether the client is notified of events that are no longer in the log. */
  reportsGaps: boolean;
  reached: Reached;
}

/** Sends returning clients the events that they missed, each at its own pace: from memory, or read from the log. */
export class MissedEvents {
  readonly #context: MissedEventsContext;

  constructor(context: MissedEventsContext) {
    this.#context = context;
  }

  /**
   * Sends the events, and the corrections if `since` has them, until the client has all that were offered to live
   * clients. The client then joins these in the same turn of the event loop.
   *
   * @param reportsGaps whether the client is notified of events that are no longer in the log
   * @param joinLive is passed the number of missed events
   */
  async send(
    client: LiveClient,
    since: StreamPlaces,
    reportsGaps: boolean,
    joinLive: (missed: number) => void,
  ): Promise<void> {
    const { events, corrections } = this.#context;
    const reached: Reached = {
      events: begin(events, since.events),
      corrections: since.corrections && begin(corrections, since.corrections),
    };
    const returning = { client, reportsGaps, reached };
    const streams = [
      { stream: events, places: reached.events },
      ...(reached.corrections === null ? [] : [{ stream: corrections, places: reached.corrections }]),
    ];
    let missed = 0;
    let yieldAtMs = SYSTEM_CLOCK.steadyMs() + SLICE_MS;
    for (let behind = true; behind && client.open; ) {
      behind = false;
      for (const { stream, places } of streams)
        for (const [partition, end] of stream.offered) {
          while ((places.get(partition) ?? end) < end && client.open) {
            behind = true;
            missed += await this.#sendNext(returning, stream, places, partition, end);
            // No page is held while waiting: many slow clients at different positions would take much memory.
            if (client.slow) await client.drained();
            if (SYSTEM_CLOCK.steadyMs() > yieldAtMs) {
              await nextTurn();
              yieldAtMs = SYSTEM_CLOCK.steadyMs() + SLICE_MS;
            }
          }
        }
    }
    joinLive(missed);
  }

  /**
   * Sends the next events of a partition that the client wants and may see, until it is slow, and records its progress.
   *
   * @returns number of events sent
   */
  async #sendNext(
    { client, reportsGaps, reached }: Returning,
    stream: LiveStream,
    places: Map<number, number>,
    partition: number,
    end: number,
  ): Promise<number> {
    const { directory, owners, cursorAt, onSent } = this.#context;
    const from = places.get(partition) ?? end;
    const { messages, start, endOffset } = await stream.from(partition, from, end);
    const kept = Math.min(messages[start]?.offset ?? endOffset, endOffset);
    if (reportsGaps && kept > from)
      client.send(jsonFrame({ type: 'gap', stream: stream.of.name, partition, from, to: kept, detail: GAP_DETAIL }));
    const { subscription } = client;
    const user = client.callerIn(directory);
    let count = 0;
    for (let index = start; index < messages.length; index++) {
      const message = messages[index];
      if (message === undefined || message.offset >= endOffset) break;
      const { offset, vehicleId, geofenceId } = message;
      const vehicle = directory.vehicles.get(vehicleId);
      if (!user || !vehicle || subscription === null || !wantsVehicle(subscription, vehicle)) continue;
      const isAllowed = owners.mayReceive(user, vehicleId, geofenceId);
      if (isAllowed === undefined) {
        // Rights may change during the query: the next call starts with this event again.
        places.set(partition, offset);
        await owners.read(geofencesIn(messages, index, endOffset));
        return count;
      }
      if (!isAllowed) continue;
      if (stream.isRepetition(partition, message)) continue;
      places.set(partition, offset + 1);
      client.send(eventFrame(message, cursorAt(reached, client.lastNotification)));
      onSent();
      count++;
      if (client.slow) return count;
    }
    places.set(partition, endOffset);
    return count;
  }
}

/** Start offsets of a client. Prefetches the first pages of all partitions in parallel. */
function begin({ offered, recent, past }: LiveStream, since: ReadonlyMap<number, number>): Map<number, number> {
  const places = new Map<number, number>();
  for (const [partition, end] of offered) {
    const next = since.get(partition) ?? 0;
    places.set(partition, next);
    if (next < end && recent.from(partition, next) === null) past.prefetch(partition, next, end);
  }
  return places;
}

function* geofencesIn(messages: readonly EventMessage[], start: number, endOffset: number) {
  for (let index = start; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined || message.offset >= endOffset) return;
    yield message.geofenceId;
  }
}
