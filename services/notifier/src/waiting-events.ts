import {
  type Clock,
  type EventId,
  type FleetEvent,
  minDurationMs,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { Log, Topic } from '@outrider/log';
import type { NotificationDraft, Registry, WaitingNotification } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import type { LastedEvent, RuleEvaluation } from './rule-evaluation.ts';

export interface WaitingEventsParts {
  pollMs: number;
  log: Pick<Log, 'endOffsets'>;
  hub: Pick<Hub, 'latest'>;
  waiting: Registry['waitingNotifications'];
  /** Up to which offsets the events are evaluated. */
  notifications: Pick<Registry['notifications'], 'places'>;
  rules: RuleEvaluation;
  /** Topic that each consumer of events reads. */
  topics: ReadonlyMap<string, Topic<FleetEvent>>;
  /** Saves notifications of events that have lasted long enough. */
  notify(drafts: readonly NotificationDraft[]): Promise<void>;
  logger: Logger;
  clock: Clock;
}

const AT_ONCE = 500;
/**
 * Time to wait for a vehicle that sends nothing after its event should have lasted long enough, counted from its last
 * record. A vehicle that sends hours of old records is not silent, and a parked terminal may sleep for hours.
 */
export const SILENCE_MS = 120_000;

/**
 * Notifies of events once they have lasted as long as rules require. This is decided by the data: the vehicle has sent
 * a record from after that time, and the events up to that record do not include the event's end. The clock decides
 * only for silent vehicles. All instances run this; the registry decides which instance takes a waiting notification.
 */
export class WaitingEvents {
  readonly #parts: WaitingEventsParts;
  /** For each waiting notification: the offset up to which events must be evaluated before it may be sent. */
  readonly #barriers = new Map<string, number>();

  constructor(parts: WaitingEventsParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.notifyDue();
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.logger.error({ err: error }, 'reading events in progress failed; retrying');
      }
      await this.#parts.clock.pause(this.#parts.pollMs, signal);
    }
  }

  /** Settles notifications that wait for ended events: sends them, or drops those that did not last long enough. */
  async settle(ended: ReadonlyMap<EventId, FleetEvent>): Promise<void> {
    if (ended.size === 0) return;
    const { waiting } = this.#parts;
    const found = await waiting.ofEvents([...ended.keys()]);
    await this.#end(found, ({ event }) => {
      const end = ended.get(event.id);
      return { lastedMs: (end?.endedAtMs ?? event.startedAtMs) - event.startedAtMs, driverCode: end?.driverCode };
    });
  }

  async notifyDue(): Promise<void> {
    const { waiting, clock } = this.#parts;
    const seen = new Set<string>();
    for (let after: WaitingNotification | null = null; ; ) {
      const page = await waiting.due(clock.now(), after, AT_ONCE);
      if (page.length > 0) await this.#look(page);
      for (const each of page) seen.add(keyOf(each));
      after = page.at(-1) ?? null;
      if (page.length < AT_ONCE) break;
    }
    for (const key of this.#barriers.keys()) if (!seen.has(key)) this.#barriers.delete(key);
  }

  async #look(page: readonly WaitingNotification[]): Promise<void> {
    const { waiting, rules, clock } = this.#parts;
    const due: WaitingNotification[] = [];
    for (const each of page) {
      const rule = rules.rule(each.ruleId);
      const dueMs = rule === null ? each.dueMs : each.event.startedAtMs + minDurationMs(rule);
      if (dueMs > clock.now()) await waiting.postpone(each, dueMs);
      else due.push({ ...each, dueMs });
    }
    // Statuses are read before the end offsets, so all events of the records in them are below these offsets.
    const statuses = await this.#statusesOf(due);
    const known = due.filter(({ event, dueMs }) => {
      const status = statuses.get(event.vehicleId);
      if (status !== undefined && status.record.fixTimeMs >= dueMs) return true;
      const receivedMs = Math.max(event.receivedAtMs ?? 0, status?.recordReceivedAtMs ?? 0);
      return clock.now() >= Math.max(dueMs, receivedMs) + SILENCE_MS;
    });
    await this.#setBarriers(known);
    await this.#end(await this.#beyondBarrier(known), ({ event }) => ({
      lastedMs: Number.POSITIVE_INFINITY,
      driverCode: statuses.get(event.vehicleId)?.activity?.driverCode ?? undefined,
    }));
  }

  async #statusesOf(due: readonly WaitingNotification[]): Promise<Map<VehicleId, VehicleStatus>> {
    const ids = [...new Set(due.map(({ event }) => event.vehicleId))];
    const statuses = ids.length === 0 ? [] : await this.#parts.hub.latest(ids);
    return new Map(statuses.map((status) => [status.vehicleId, status]));
  }

  async #setBarriers(known: readonly WaitingNotification[]): Promise<void> {
    const { log, topics } = this.#parts;
    const fresh = known.filter((each) => !this.#barriers.has(keyOf(each)));
    for (const [consumer, some] of Map.groupBy(fresh, (each) => each.consumer)) {
      const topic = topics.get(consumer);
      const ends = topic === undefined ? new Map<number, number>() : await log.endOffsets(topic);
      for (const each of some) this.#barriers.set(keyOf(each), ends.get(each.partition) ?? 0);
    }
  }

  async #beyondBarrier(known: readonly WaitingNotification[]): Promise<WaitingNotification[]> {
    const free: WaitingNotification[] = [];
    for (const [consumer, some] of Map.groupBy(known, (each) => each.consumer)) {
      const places = await this.#parts.notifications.places(consumer);
      for (const each of some)
        if ((places.get(each.partition)?.offset ?? 0) >= (this.#barriers.get(keyOf(each)) ?? 0)) free.push(each);
    }
    return free;
  }

  async #end(found: readonly WaitingNotification[], lasted: (each: WaitingNotification) => LastedEvent): Promise<void> {
    const { rules, waiting, notify } = this.#parts;
    const drafts: NotificationDraft[] = [];
    const inVain: WaitingNotification[] = [];
    for (const [nth, draft] of (await rules.waited(found, lasted)).entries()) {
      const each = found[nth];
      if (each === undefined) continue;
      if (draft === null) inVain.push(each);
      else drafts.push(draft);
    }
    await waiting.drop(inVain);
    if (drafts.length > 0) await notify(drafts);
  }
}

function keyOf({ ruleId, event }: WaitingNotification): string {
  return `${event.id} ${ruleId}`;
}
