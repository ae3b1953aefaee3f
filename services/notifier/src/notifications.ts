import { setTimeout as wait } from 'node:timers/promises';
import { createDeadLetterOffice } from '@outrider/backing';
import type { FleetEvent, Notification, UserId } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import {
  type Batch,
  eventsTopic,
  followDefinitions,
  type Log,
  lateEventsTopic,
  resumeFromStore,
  type Subscription,
  type Topic,
} from '@outrider/log';
import type { Notifications as Inbox, NotificationBatch, NotificationDraft } from '@outrider/registry';
import {
  Counter,
  Gauge,
  isDebugEnabled,
  type Logger,
  NO_TRACING,
  type Part,
  type Registry,
  type Tracing,
} from '@outrider/runtime';
import { RuleBook } from './rule-book.ts';

export interface NotificationsConfig {
  /** Notifications are forgotten so long after they were told. */
  retentionDays: number;
  /** Of each user at most so many are kept. Default 10,000. */
  maxPerUser?: number;
}

export interface NotificationsParts {
  config: NotificationsConfig;
  log: Log;
  hub: Pick<Hub, 'publish'>;
  inbox: Inbox;
  /** Called when something was saved that may have to be delivered. */
  onSaved(): void;
  logger: Logger;
  metrics: Registry;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

/** Where everyone who tells people hears what was saved for whom: {@link SavedNotifications} as JSON. */
export const NOTIFICATIONS_CHANNEL = 'notifications';

/** What was saved for one user; all of it, or where it is much only how far it goes. */
export interface SavedNotifications {
  userId: UserId;
  /** Number of the newest. */
  last: number;
  notifications: Notification[];
}

const CONSUMER = 'notifications';
const LATE_CONSUMER = 'late-notifications';
const DEFAULT_MAX_PER_USER = 10_000;
const DAY_MS = 86_400_000;
/** Where nothing was told, how far the events were held against the rules is written down this often. */
const SAVE_OFFSET_EVERY_MS = 1000;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/** A message holds no more: whoever wants the rest reads it. */
const MAX_IN_MESSAGE = 50;
const FORGET_EVERY_MS = 60_000;
const FORGET_AT_ONCE = 1000;

/** Notifications that are saved together. */
const MAX_IN_PART = 200;
/** Of one owner, before it is another one's turn. */
const IN_A_TURN = 20;

/** A topic of events, and how far it was held against the rules. */
interface Source {
  topic: Topic<FleetEvent>;
  consumer: string;
  /** Next offset by partition, and what of it is saved. */
  reached: Map<number, { next: number; saved: number }>;
  subscription: Subscription | null;
}

/**
 * Holds every event against the rules and saves what is to be told, with the offset to go on from, in one transaction
 * for a batch: after a crash it goes on exactly there, so each event is told at most once per rule. Members of a group
 * share the partitions; each holds all the rules.
 */
export function createNotifications(parts: NotificationsParts): Part & { failed: Promise<never> } {
  const { config, log, hub, inbox, logger, metrics, now, tracing = NO_TRACING } = parts;
  const book = new RuleBook();
  const deadLetters = createDeadLetterOffice({ log, reader: CONSUMER, logger, metrics, now });
  const sources: readonly Source[] = [
    { topic: eventsTopic, consumer: CONSUMER, reached: new Map(), subscription: null },
    // What late data made known has a topic of its own, because the present knows nothing of it.
    { topic: lateEventsTopic, consumer: LATE_CONSUMER, reached: new Map(), subscription: null },
  ];
  let definitions: Subscription | null = null;
  let upkeep: Promise<unknown> = Promise.resolve();
  const stopping = new AbortController();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  const told = new Counter({
    name: 'outrider_notifications_total',
    help: 'Notifications saved',
    registers: [metrics],
  });
  const judged = new Counter({
    name: 'outrider_notification_events_total',
    help: 'Events held against the rules',
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_notification_rules',
    help: 'Rules that events are held against',
    registers: [metrics],
    collect() {
      this.set(book.size);
    },
  });

  function draftsOf(offset: number, event: FleetEvent): NotificationDraft[] {
    // Its age is that of the data when they arrived, however late it is told. What was recorded before that was: now.
    const arrivedAtMs = event.receivedAtMs ?? now();
    return [...book.matches({ event, arrivedAtMs })].map(({ rule, vehicleName, geofenceName }) => ({
      offset,
      rule,
      event,
      vehicleName,
      geofenceName,
    }));
  }

  async function takeEvents(source: Source, { partition, records }: Batch<FleetEvent>): Promise<void> {
    const last = records.at(-1);
    // After a batch that could not be saved none may be: the offset would go past what was left out.
    if (last === undefined || stopping.signal.aborted) return;
    const drafts: NotificationDraft[] = [];
    for (const { offset, value } of records) {
      try {
        drafts.push(...draftsOf(offset, value));
      } catch (error) {
        // It would fail again however often it is tried.
        await deadLetters.take(source.topic, partition, offset, value, error);
      }
    }
    const state = source.reached.get(partition) ?? { next: 0, saved: 0 };
    source.reached.set(partition, state);
    const next = last.offset + 1;
    const parts = inTurns(drafts);
    for (const [nth, part] of parts.entries()) {
      const startMs = tracing.nowMs();
      const isPart = nth + 1 < parts.length;
      const made = await saveUntilItWorks({ consumer: source.consumer, partition, next, drafts: part, isPart });
      if (made === null) return;
      if (tracing.isOn)
        for (const { id, ruleId, event } of made)
          tracing
            .ofPacket(event.traceId, 'save notification', {
              startMs,
              facts: { 'outrider.notification.id': id, 'outrider.rule.id': ruleId, 'outrider.event.id': event.id },
            })
            .end();
      if (!isPart) {
        state.saved = next;
        log.release(source.topic, partition, source.consumer, next);
      }
      if (made.length > 0) await tell(made);
    }
    state.next = next;
    judged.inc(records.length);
  }

  /** Null when the service stopped before it worked: then nothing was saved, and the next start begins with it. */
  async function saveUntilItWorks(batch: NotificationBatch): Promise<Notification[] | null> {
    for (let retryMs = MIN_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      try {
        return await inbox.record(batch);
      } catch (error) {
        if (stopping.signal.aborted) return null;
        const { partition, drafts } = batch;
        logger.error({ err: error, partition, drafts: drafts.length }, 'notifications could not be saved; trying on');
        await wait(retryMs, undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return null;
      }
    }
  }

  /** What is saved is told; should the hub not take it, those who wait for it find it by themselves. */
  async function tell(made: readonly Notification[]): Promise<void> {
    told.inc(made.length);
    parts.onSaved();
    if (isDebugEnabled(logger))
      for (const { id, userId, ruleId, event } of made)
        logger.debug(
          { traceId: event.traceId, eventId: event.id, phase: event.phase, notificationId: id, userId, ruleId },
          'notification saved',
        );
    try {
      for (const [userId, all] of Map.groupBy(made, (notification) => notification.userId)) {
        const message: SavedNotifications = {
          userId,
          last: all.at(-1)?.number ?? 0,
          notifications: all.length <= MAX_IN_MESSAGE ? all : [],
        };
        await hub.publish(NOTIFICATIONS_CHANNEL, JSON.stringify(message));
      }
    } catch (error) {
      logger.warn({ err: error }, 'the hub was not told of new notifications');
    }
  }

  /** Where to go on in a partition: where the last saved batch ended. */
  async function startOf({ topic, consumer, reached }: Source, partition: number): Promise<number> {
    const next = await resumeFromStore(log, topic, partition, consumer, inbox);
    reached.set(partition, { next, saved: next });
    return next;
  }

  async function saveOffset({ topic, consumer, reached }: Source, partition: number): Promise<void> {
    const state = reached.get(partition);
    if (!state || state.next <= state.saved) return;
    const { next } = state;
    await inbox.record({ consumer, partition, next, drafts: [] });
    state.saved = Math.max(state.saved, next);
    log.release(topic, partition, consumer, state.saved);
  }

  async function saveOffsets(): Promise<void> {
    for (const source of sources) for (const partition of source.reached.keys()) await saveOffset(source, partition);
  }

  /** What was held against the rules of its time is not held against later ones after a crash. */
  async function saveOffsetsNowAndThen(): Promise<void> {
    while (!stopping.signal.aborted) {
      await wait(SAVE_OFFSET_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      try {
        await saveOffsets();
      } catch (error) {
        logger.error({ err: error }, 'how far the events were told could not be written down; trying on');
      }
    }
  }

  async function forgetOld(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const beforeMs = now() - config.retentionDays * DAY_MS;
        const maxPerUser = config.maxPerUser ?? DEFAULT_MAX_PER_USER;
        const forgotten = await inbox.forget({ beforeMs, maxPerUser, limit: FORGET_AT_ONCE });
        // With a breath in between: others use the same database.
        await wait(forgotten < FORGET_AT_ONCE ? FORGET_EVERY_MS : MIN_RETRY_MS, undefined, { signal: stopping.signal });
      } catch (error) {
        if (stopping.signal.aborted) return;
        logger.error({ err: error }, 'old notifications could not be forgotten; trying on');
        await wait(FORGET_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  return {
    name: 'notifications',
    failed,
    async start() {
      definitions = await followDefinitions(log, 'notifications', (change) => book.apply(change));
      definitions.failed.catch(fail);
      for (const source of sources) {
        source.subscription = await log.consume(source.topic, {
          group: source.consumer,
          startAt: (partition) => startOf(source, partition),
          onBatch: (batch) => takeEvents(source, batch),
          async onRevoked(partition) {
            await saveOffset(source, partition);
            source.reached.delete(partition);
          },
        });
        source.subscription.failed.catch(fail);
      }
      upkeep = Promise.all([forgetOld(), saveOffsetsNowAndThen()]);
    },
    async stop() {
      stopping.abort();
      for (const { subscription } of sources) await subscription?.stop();
      await upkeep;
      await definitions?.stop();
      await saveOffsets();
    },
  };
}

/**
 * Drafts in the parts that are saved one after the other, the owners in turn: one with hundreds of rules for an event delays
 * the notifications of others by few of its own. Those of one owner keep their order.
 */
export function inTurns(drafts: readonly NotificationDraft[]): NotificationDraft[][] {
  if (drafts.length === 0) return [];
  if (drafts.length <= MAX_IN_PART) return [[...drafts]];
  const queues = [...Map.groupBy(drafts, ({ rule }) => rule.ownerId).values()];
  const ordered: NotificationDraft[] = [];
  for (let at = 0; ordered.length < drafts.length; at += IN_A_TURN)
    for (const queue of queues) ordered.push(...queue.slice(at, at + IN_A_TURN));
  return Array.from({ length: Math.ceil(ordered.length / MAX_IN_PART) }, (_, nth) =>
    ordered.slice(nth * MAX_IN_PART, (nth + 1) * MAX_IN_PART),
  );
}
