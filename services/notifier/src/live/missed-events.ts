import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Directory } from '@outrider/domain';
import type { Log } from '@outrider/log';
import type { LiveClient } from './client.ts';
import { type EventMessage, eventFrame } from './event-messages.ts';
import { jsonFrame } from './frames.ts';
import type { GeofenceOwners } from './geofence-owners.ts';
import { wantsVehicle } from './messages.ts';
import { PastEvents } from './past-events.ts';
import type { RecentEvents } from './recent-events.ts';
import type { RepeatedEvents } from './repeated-events.ts';

export interface MissedEventsContext {
  log: Pick<Log, 'read'>;
  directory: Directory;
  owners: GeofenceOwners;
  recent: RecentEvents;
  repeated: RepeatedEvents;
  /** Next offset by partition: everything below was offered to the live clients. */
  offered: ReadonlyMap<number, number>;
  cursorAt(events: ReadonlyMap<number, number>, lastNotification: number | null): string;
  onSent(): void;
}

/** How long one client that catches up may block all others. */
const SLICE_MS = 5;
const GAP_DETAIL = 'these events are no longer in the log';

/** Sends clients that return what they missed, each at its own pace: from memory, or read back from the log. */
export class MissedEvents {
  readonly #context: MissedEventsContext;
  readonly #past: PastEvents;

  constructor(context: MissedEventsContext) {
    this.#context = context;
    this.#past = new PastEvents(context.log);
  }

  /**
   * Sends the events since a place, until the client has all that were offered to live clients. At that moment, without
   * a turn of the event loop between, it joins these.
   *
   * @param reportsGaps whether the client learns of events that are no longer in the log
   * @param joinLive is passed how many were missed
   */
  async send(
    client: LiveClient,
    since: ReadonlyMap<number, number>,
    reportsGaps: boolean,
    joinLive: (missed: number) => void,
  ): Promise<void> {
    const { offered, recent } = this.#context;
    const reached = new Map<number, number>();
    for (const [partition, end] of offered) {
      const next = since.get(partition) ?? 0;
      reached.set(partition, next);
      // The first pages of all partitions are read at the same time.
      if (next < end && recent.from(partition, next) === null) this.#past.prefetch(partition, next, end);
    }
    let missed = 0;
    let yieldAtMs = performance.now() + SLICE_MS;
    for (let behind = true; behind && client.open; ) {
      behind = false;
      for (const [partition, end] of offered) {
        while ((reached.get(partition) ?? end) < end && client.open) {
          behind = true;
          missed += await this.#sendNext(client, partition, end, reportsGaps, reached);
          // No page is held meanwhile: many slow clients at different places would hold much.
          if (client.slow) await client.drained();
          if (performance.now() > yieldAtMs) {
            await nextTurn();
            yieldAtMs = performance.now() + SLICE_MS;
          }
        }
      }
    }
    joinLive(missed);
  }

  /**
   * Sends the next events of a partition that the client asked for and may see, until it is slow; notes how far it
   * came.
   *
   * @returns how many were sent
   */
  async #sendNext(
    client: LiveClient,
    partition: number,
    end: number,
    reportsGaps: boolean,
    reached: Map<number, number>,
  ): Promise<number> {
    const { directory, owners, recent, repeated, cursorAt, onSent } = this.#context;
    const from = reached.get(partition) ?? end;
    const { messages, start, endOffset } =
      recent.from(partition, from) ?? (await this.#past.from(partition, from, end));
    const kept = Math.min(messages[start]?.offset ?? endOffset, endOffset);
    if (reportsGaps && kept > from)
      client.send(jsonFrame({ type: 'gap', stream: 'events', partition, from, to: kept, detail: GAP_DETAIL }));
    const { subscription, userId } = client;
    const user = userId === null ? undefined : directory.users.get(userId);
    let count = 0;
    for (let index = start; index < messages.length; index++) {
      const message = messages[index];
      if (message === undefined || message.offset >= endOffset) break;
      const { offset, vehicleId, geofenceId } = message;
      const vehicle = directory.vehicles.get(vehicleId);
      if (!user || !vehicle || subscription === null || !wantsVehicle(subscription, vehicle)) continue;
      const isAllowed = owners.mayReceive(user, vehicleId, geofenceId);
      if (isAllowed === undefined) {
        // Rights may change meanwhile: the event is the first of the next call.
        reached.set(partition, offset);
        await owners.read(geofencesIn(messages, index, endOffset));
        return count;
      }
      if (!isAllowed) continue;
      if (repeated.isRepetition(partition, offset, message)) continue;
      reached.set(partition, offset + 1);
      client.send(eventFrame(message, cursorAt(reached, client.lastNotification)));
      onSent();
      count++;
      if (client.slow) return count;
    }
    reached.set(partition, endOffset);
    return count;
  }
}

function* geofencesIn(messages: readonly EventMessage[], start: number, endOffset: number) {
  for (let index = start; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined || message.offset >= endOffset) return;
    yield message.geofenceId;
  }
}
