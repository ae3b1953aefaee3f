import type { DriveSources } from '@outrider/access';
import { createDeadLetterOffice } from '@outrider/backing';
import {
  type Clock,
  type CommandNews,
  type Directory,
  type FleetEvent,
  INCIDENT_CHANNEL,
  type Incident,
  incidentNews,
  type Notification,
  type UserId,
  VEHICLE_COMMAND_CHANNEL,
  type VehicleCommand,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import {
  type Batch,
  eventsTopic,
  followDefinitions,
  type Log,
  lateEventsTopic,
  type Subscription,
} from '@outrider/log';
import type {
  Incidents,
  NotificationBatch,
  NotificationDraft,
  Registry,
  WaitingNotifications,
} from '@outrider/registry';
import {
  Counter,
  Histogram,
  isDebugEnabled,
  type Logger,
  type Metrics,
  NO_TRACING,
  type Part,
  type Tracing,
} from '@outrider/runtime';
import { Escalations } from './escalations.ts';
import { EventSource } from './event-source.ts';
import { LicenceWatch } from './licence-watch.ts';
import { partsInTurns } from './owner-turns.ts';
import { RuleEvaluation } from './rule-evaluation.ts';
import { WaitingEvents } from './waiting-events.ts';

export interface NotificationsConfig {
  /** Days after which notifications are deleted. */
  retentionDays: number;
  /** Maximum of retained notifications per user. Default 10,000. */
  maxPerUser?: number;
  /** Poll interval for events that rules wait for. Default 1000. */
  waitingPollMs?: number;
  /** Poll interval for drivers' licences. Default 30,000. */
  licencePollMs?: number;
  /** Poll interval for incidents that nobody has acknowledged. Default 1000. */
  escalationPollMs?: number;
}

export interface NotificationsParts {
  config: NotificationsConfig;
  log: Log;
  hub: Pick<Hub, 'publish' | 'latest'>;
  /** All current definitions. */
  directory: Pick<Directory, 'geofences' | 'ownerOf' | 'notificationRules'> & DriveSources['directory'];
  registry: DriveSources['registry'];
  notifications: Registry['notifications'];
  incidents: Pick<Incidents, 'byIds' | 'escalateDue'>;
  waiting: WaitingNotifications;
  /** Called when notifications that may have to be delivered were saved. */
  onSaved(): void;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
}

/** Channel of the hub on which {@link SavedNotifications} are published as JSON. */
export const NOTIFICATIONS_CHANNEL = 'notifications';

/** Notifications saved for one user. If they are many, the list is empty and only `last` counts. */
export interface SavedNotifications {
  userId: UserId;
  /** Number of the newest notification. */
  last: number;
  notifications: Notification[];
}

const CONSUMER = 'notifications';
const LATE_CONSUMER = 'late-notifications';
const DEFAULT_MAX_PER_USER = 10_000;
const DAY_MS = 86_400_000;
/** Interval at which offsets are saved while events cause no notifications. */
const SAVE_OFFSETS_EVERY_MS = 1000;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/** Maximum of notifications in a message of the hub. Clients read more than that from the inbox. */
const MAX_IN_MESSAGE = 50;
const WAITING_POLL_MS = 1000;
const LICENCE_POLL_MS = 30_000;
const ESCALATION_POLL_MS = 1000;
const FORGET_EVERY_MS = 60_000;
const FORGET_AT_ONCE = 1000;

/**
 * Evaluates every event by the rules. Saves the notifications of a batch together with the next offset in one
 * transaction. After a crash evaluation resumes exactly there, so each event makes at most one notification per rule.
 * Members of a group share the partitions; each evaluates all rules.
 */
export function createNotifications(parts: NotificationsParts): Part & { failed: Promise<never> } {
  return new NotificationService(parts);
}

class NotificationService implements Part {
  readonly name = 'notifications';
  readonly failed: Promise<never>;
  readonly #parts: NotificationsParts;
  readonly #rules: RuleEvaluation;
  readonly #waiting: WaitingEvents;
  readonly #licences: LicenceWatch;
  readonly #escalations: Escalations;
  readonly #sources: readonly EventSource[];
  readonly #saved: Counter;
  readonly #delay: Histogram;
  readonly #stopping = new AbortController();
  readonly #fail: (error: unknown) => void;
  #definitions: Subscription | null = null;
  #upkeep: Promise<unknown> = Promise.resolve();

  constructor(parts: NotificationsParts) {
    const { config, log, hub, directory, registry, notifications, waiting, logger, metrics, clock } = parts;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.failed.catch(() => {});
    this.#fail = reject;
    this.#parts = parts;
    const deadLetters = createDeadLetterOffice({ log, reader: CONSUMER, logger, metrics, now: clock.now });
    this.#rules = new RuleEvaluation({ directory, registry, deadLetters, metrics, now: clock.now });
    this.#sources = [
      new EventSource(eventsTopic, CONSUMER, parts),
      // Events found through late data have their own topic, because they are not part of the present state.
      new EventSource(lateEventsTopic, LATE_CONSUMER, parts),
    ];
    this.#waiting = new WaitingEvents({
      pollMs: config.waitingPollMs ?? WAITING_POLL_MS,
      log,
      hub,
      waiting,
      notifications,
      rules: this.#rules,
      topics: new Map(this.#sources.map(({ consumer, topic }) => [consumer, topic])),
      notify: (drafts) => this.#notifyWaited(drafts),
      logger,
      clock,
    });
    this.#licences = new LicenceWatch({
      pollMs: config.licencePollMs ?? LICENCE_POLL_MS,
      directory,
      record: (draft) => notifications.recordLicence(draft),
      announce: (made) => this.#announce(made),
      logger,
      clock,
    });
    this.#escalations = new Escalations({
      pollMs: config.escalationPollMs ?? ESCALATION_POLL_MS,
      incidents: parts.incidents,
      announce: (escalated) => {
        parts.onSaved();
        return this.#publishIncidents(escalated);
      },
      logger,
      clock,
    });
    this.#saved = new Counter({
      name: 'outrider_notifications_total',
      help: 'Notifications saved',
      registers: [metrics],
    });
    this.#delay = new Histogram({
      name: 'outrider_notification_seconds',
      help: 'Time from receipt of a packet until a notification of its event is saved',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registers: [metrics],
    });
  }

  async start(): Promise<void> {
    const { log } = this.#parts;
    this.#definitions = await followDefinitions(log, 'notifications', (change) => this.#rules.define(change));
    this.#definitions.failed.catch(this.#fail);
    for (const source of this.#sources) await source.start((batch) => this.#onBatch(source, batch), this.#fail);
    const { signal } = this.#stopping;
    this.#upkeep = Promise.all([
      this.#forgetOld(),
      this.#saveOffsetsRegularly(),
      this.#waiting.run(signal),
      this.#licences.run(signal),
      this.#escalations.run(signal),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const source of this.#sources) await source.stop();
    await this.#upkeep;
    await this.#definitions?.stop();
    for (const source of this.#sources) await source.saveOffsets();
  }

  async #onBatch(source: EventSource, batch: Batch<FleetEvent>): Promise<void> {
    const { partition, records } = batch;
    const last = records.at(-1);
    // After a failed batch no other may be saved: the offset would skip the failed one.
    if (last === undefined || this.#stopping.signal.aborted) return;
    const next = last.offset + 1;
    const { consumer } = source;
    const evaluation = await this.#retry({ partition, events: records.length }, () =>
      this.#rules.evaluate(consumer, source.topic, batch),
    );
    if (evaluation === null) return;
    const { drafts, waiting, ended } = evaluation;
    // Before the ends themselves: users notified of both phases get them in order.
    if ((await this.#retry({ partition, ended: ended.size }, () => this.#waiting.settle(ended))) === null) return;
    const turns = partsInTurns(drafts);
    if (turns.length === 0 && waiting.length > 0) turns.push([]);
    for (const [nth, part] of turns.entries()) {
      const isPart = nth + 1 < turns.length;
      const made = await this.#save({ consumer, partition, next, drafts: part, waiting, isPart });
      if (made === null) return;
      if (!isPart) source.reached(partition, next, true);
      this.#measure(made);
      if (made.length > 0) await this.#announce(made);
    }
    if (turns.length === 0) source.reached(partition, next, false);
  }

  /** Measures live events only. Never negative, because the clocks of two machines may differ. */
  #measure(made: readonly Notification[]): void {
    const nowMs = this.#parts.clock.now();
    for (const { event } of made)
      if (event.traceId !== undefined && event.receivedAtMs !== undefined)
        this.#delay.observe(Math.max(0, nowMs - event.receivedAtMs) / 1000);
  }

  async #notifyWaited(drafts: readonly NotificationDraft[]): Promise<void> {
    let commands: readonly VehicleCommand[] = [];
    const made = await this.#parts.notifications.recordWaited(drafts, (queued) => {
      commands = queued;
    });
    await this.#publishCommands(commands);
    if (made.length > 0) await this.#announce(made);
  }

  /** Saves a batch with {@link #retry}. */
  #save(batch: NotificationBatch): Promise<Notification[] | null> {
    const { notifications, tracing = NO_TRACING } = this.#parts;
    const { partition, drafts } = batch;
    const startMs = tracing.nowMs();
    return this.#retry({ partition, drafts: drafts.length }, async () => {
      let commands: readonly VehicleCommand[] = [];
      const made = await notifications.record({
        ...batch,
        onCommands(queued) {
          commands = queued;
        },
      });
      await this.#publishCommands(commands);
      if (tracing.isOn) trace(tracing, startMs, made);
      return made;
    });
  }

  /**
   * Retries until the work succeeds. Null if the service was stopped first: then nothing was saved, and the next start
   * resumes here.
   */
  async #retry<T>(facts: object, work: () => Promise<T>): Promise<T | null> {
    const { signal } = this.#stopping;
    for (let retryMs = MIN_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return null;
        this.#parts.logger.error({ err: error, ...facts }, 'saving notifications failed; retrying');
        await this.#parts.clock.pause(retryMs, signal);
        if (signal.aborted) return null;
      }
    }
  }

  /** Only a hint: the command sender also finds the commands by polling. */
  async #publishCommands(commands: readonly VehicleCommand[]): Promise<void> {
    const { hub, logger } = this.#parts;
    for (const command of commands) {
      const message: CommandNews = { command };
      await hub.publish(VEHICLE_COMMAND_CHANNEL, JSON.stringify(message)).catch((error) => {
        logger.warn({ err: error }, 'publishing the command of a rule failed');
      });
    }
  }

  /** Publishes saved notifications. If the hub fails, the live API finds them by itself. */
  async #announce(made: readonly Notification[]): Promise<void> {
    const { hub, logger, onSaved } = this.#parts;
    this.#saved.inc(made.length);
    onSaved();
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
      const incidentIds = made.flatMap(({ incidentId }) => incidentId ?? []);
      if (incidentIds.length > 0) await this.#publishIncidents(await this.#parts.incidents.byIds(incidentIds));
    } catch (error) {
      logger.warn({ err: error }, 'publishing new notifications to the hub failed');
    }
  }

  async #publishIncidents(incidents: readonly Incident[]): Promise<void> {
    for (const incident of incidents)
      await this.#parts.hub.publish(INCIDENT_CHANNEL, JSON.stringify(incidentNews(incident)));
  }

  /** Prevents events from being evaluated again, by later rules, after a crash. */
  async #saveOffsetsRegularly(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#parts.clock.pause(SAVE_OFFSETS_EVERY_MS, signal);
      if (signal.aborted) return;
      try {
        for (const source of this.#sources) await source.saveOffsets();
      } catch (error) {
        this.#parts.logger.error({ err: error }, 'saving the offset of evaluated events failed; retrying');
      }
    }
  }

  async #forgetOld(): Promise<void> {
    const { config, notifications, logger, clock } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const beforeMs = clock.now() - config.retentionDays * DAY_MS;
        const maxPerUser = config.maxPerUser ?? DEFAULT_MAX_PER_USER;
        const forgotten = await notifications.forget({ beforeMs, maxPerUser, limit: FORGET_AT_ONCE });
        // Pauses in between, because others use the same database.
        await clock.sleep(forgotten < FORGET_AT_ONCE ? FORGET_EVERY_MS : MIN_RETRY_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ err: error }, 'deleting old notifications failed; retrying');
        await clock.pause(FORGET_EVERY_MS, signal);
      }
    }
  }
}

function trace(tracing: Tracing, startMs: number, made: readonly Notification[]): void {
  for (const { id, ruleId, event } of made)
    tracing
      .ofPacket(event.traceId, 'save notification', {
        startMs,
        facts: { 'outrider.notification.id': id, 'outrider.rule.id': ruleId, 'outrider.event.id': event.id },
      })
      .end();
}
