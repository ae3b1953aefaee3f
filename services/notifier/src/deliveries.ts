import type { MailPolicy } from '@outrider/access';
import {
  type EmailChannel,
  type EmailMessage,
  type NotificationFacts,
  notificationText,
  outcomeOf,
  type WebhookChannel,
  type WebhookMessage,
} from '@outrider/channels';
import { geofenceOf, isLate, isoTime, mayHear, type Notification, notificationJson, type User } from '@outrider/domain';
import {
  type Registry as Definitions,
  DeliverySlots,
  deliveryShares,
  type EndpointHealth,
  type LeasedDelivery,
  type Outcome,
} from '@outrider/registry';
import {
  Counter,
  Gauge,
  Histogram,
  inSpan,
  type Logger,
  NO_TRACING,
  type Part,
  type Registry,
  type Span,
  type Tracing,
} from '@outrider/runtime';

export interface DeliveriesParts {
  config: {
    /** Attempts in progress at a time. Default 64. */
    maxAtOnce?: number;
    /** Of them to one endpoint for one account. Default 4. */
    maxPerEndpoint?: number;
  };
  registry: Pick<Definitions, 'deliveries' | 'notificationRules' | 'users' | 'vehicles' | 'geofences'>;
  email: Pick<EmailChannel, 'send'>;
  mailPolicy: Pick<MailPolicy, 'admit' | 'withUnsubscribe'>;
  webhook: Pick<WebhookChannel, 'send'>;
  logger: Logger;
  metrics: Registry;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now(): number;
  /** 0 to 1. */
  random(): number;
}

export interface Deliverer extends Part {
  /** Something may be due: looks at once. */
  wake(): void;
}

const DEFAULT_MAX_AT_ONCE = 64;
const DEFAULT_MAX_PER_ENDPOINT = 4;
/** Retries come due, and other instances save things: looked for this often. */
const LOOK_EVERY_MS = 1000;
/** Whoever dies with an attempt under way leaves it to others after this time; whoever lives renews it. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

/** An endpoint that answers later than this is slow: it gets few slots. */
const PROMPT_MS = 3000;

/** What there is to send, or why there is not. */
type Prepared = { email: EmailMessage } | { webhook: WebhookMessage } | { cancelled: string };

/**
 * Sends what waits to be delivered by e-mail and webhook. Every attempt is leased first, so several instances never do
 * the same one. A bounded number is in progress; owners are served in turn, each with a share of the slots, and endpoints
 * that do not answer get few of them: see `DeliverySlots`.
 * What fails for now is tried again, later and later, for a day.
 */
export function createDeliveries(parts: DeliveriesParts): Deliverer {
  const { config, registry, email, webhook, logger, metrics, now, tracing = NO_TRACING } = parts;
  const { maxAtOnce = DEFAULT_MAX_AT_ONCE, maxPerEndpoint = DEFAULT_MAX_PER_ENDPOINT } = config;
  const slots = new DeliverySlots(deliveryShares(maxAtOnce, maxPerEndpoint));
  const underWay = new Map<LeasedDelivery, Promise<void>>();
  let stopped = false;
  let awake = false;
  let wakeUp: () => void = () => {};
  let running: Promise<void> = Promise.resolve();
  let renewing: NodeJS.Timeout | null = null;
  let healthy = true;

  const attempts = new Counter({
    name: 'outrider_delivery_attempts_total',
    help: 'Attempts to deliver a notification, by how they ended',
    labelNames: ['channel', 'outcome'],
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: 'outrider_delivery_seconds',
    help: 'Time that an attempt to deliver took',
    labelNames: ['channel'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_deliveries_under_way',
    help: 'Attempts to deliver that are under way',
    registers: [metrics],
    collect() {
      this.set(underWay.size);
    },
  });

  function wake(): void {
    awake = true;
    wakeUp();
  }

  async function run(): Promise<void> {
    while (!stopped) {
      awake = false;
      try {
        await takeDue();
        healthy = true;
      } catch (error) {
        if (healthy) logger.error({ err: error }, 'deliveries could not be asked for; trying on');
        healthy = false;
      }
      if (!awake || !healthy) await rest();
    }
  }

  /** Until somebody wakes it, or it is time to look. */
  function rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_EVERY_MS);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      if (stopped || (awake && healthy)) wakeUp();
    });
  }

  async function takeDue(): Promise<void> {
    for (;;) {
      if (slots.free === 0 || stopped) return;
      const leased = await registry.deliveries.lease({ slots, leaseMs: LEASE_MS });
      if (leased.length === 0) return;
      for (const each of leased) begin(each);
    }
  }

  function begin(leased: LeasedDelivery): void {
    const { delivery, notification } = leased;
    const span = tracing.ofPacket(notification.event.traceId, `deliver by ${delivery.channel}`, {
      kind: 'client',
      facts: { 'outrider.delivery.id': delivery.id, 'outrider.notification.id': notification.id },
    });
    const attempt = inSpan(span, () => deliver(leased, span))
      .catch((error) => {
        // Its lease runs out, and it is tried again.
        const { traceId } = notification.event;
        logger.error({ err: error, traceId, delivery: delivery.id }, 'how a delivery ended could not be noted');
      })
      .finally(() => {
        slots.release(leased.slot);
        underWay.delete(leased);
        wake();
      });
    underWay.set(leased, attempt);
  }

  function renewNowAndThen(): void {
    renewing = setInterval(() => {
      if (underWay.size === 0) return;
      registry.deliveries.renew([...underWay.keys()], LEASE_MS).catch((error) => {
        // Should they run out, another attempt is made, with the same id.
        logger.warn({ err: error, deliveries: underWay.size }, 'leases of deliveries could not be renewed');
      });
    }, RENEW_EVERY_MS);
  }

  async function deliver(leased: LeasedDelivery, span: Span): Promise<void> {
    const { channel } = leased.delivery;
    const prepared = await prepare(leased);
    const end = seconds.startTimer({ channel });
    const { outcome, health } =
      'cancelled' in prepared
        ? { outcome: cancelled(prepared.cancelled), health: 'unknown' as const }
        : await trySending(leased, prepared);
    end();
    attempts.inc({ channel, outcome: outcome.state });
    tellAttempt(leased, outcome);
    span.note({ 'outrider.delivery.attempt': leased.delivery.attempts, 'outrider.delivery.outcome': outcome.state });
    if (outcome.state === 'pending' || outcome.state === 'failed') span.fail(outcome.error);
    await registry.deliveries.settle(leased, outcome, health);
  }

  /** What goes well is detail; what does not is for whoever wonders why nothing came. */
  function tellAttempt({ delivery, notification }: LeasedDelivery, outcome: Outcome): void {
    const facts = {
      traceId: notification.event.traceId,
      notificationId: notification.id,
      delivery: delivery.id,
      channel: delivery.channel,
      attempt: delivery.attempts,
      outcome: outcome.state,
    };
    if (outcome.state === 'delivered') logger.debug(facts, 'delivery attempted');
    else logger.info({ ...facts, reason: outcome.error }, 'delivery attempted');
  }

  async function trySending(
    leased: LeasedDelivery,
    prepared: Exclude<Prepared, { cancelled: string }>,
  ): Promise<{ outcome: Outcome; health: EndpointHealth }> {
    const beganMs = now();
    const result = await ('email' in prepared ? email.send(prepared.email) : webhook.send(prepared.webhook));
    const endedMs = now();
    const { attempts: made } = leased.delivery;
    const outcome = outcomeOf({ attempts: made, giveUpAtMs: leased.giveUpAtMs }, result, endedMs, parts.random());
    // Without a status nothing was answered, whether the next attempt may be or not.
    const hasAnswered = result.ok || result.status !== null;
    return { outcome, health: !hasAnswered ? 'silent' : endedMs - beganMs > PROMPT_MS ? 'slow' : 'prompt' };
  }

  /** What the rule says now decides: who took an address out of it, or deleted it, wants nothing sent there. */
  async function prepare({ delivery, notification, slot }: LeasedDelivery): Promise<Prepared> {
    const rule = await registry.notificationRules.get(delivery.ruleId);
    if (rule === null) return { cancelled: 'The rule was deleted.' };
    const owner = await registry.users.get(rule.ownerId);
    if (owner === null || owner.blocked) return { cancelled: 'The account is blocked.' };
    if (!(await mayStillHear(owner, notification))) return { cancelled: 'The account may not see it any more.' };
    if (delivery.channel === 'email') {
      if (!rule.emails.includes(delivery.target)) return { cancelled: 'The rule does not name the address any more.' };
      const address = await parts.mailPolicy.admit(owner, delivery.target, delivery.attempts === 1);
      if ('cancelled' in address) return address;
      const text = notificationText(factsOf(notification), rule.timeZone);
      const message = { id: delivery.id, to: [delivery.target], ...text };
      return { email: parts.mailPolicy.withUnsubscribe(message, address) };
    }
    if (rule.webhookUrl !== delivery.target) return { cancelled: 'The rule does not name the webhook any more.' };
    const secret = await registry.notificationRules.webhookSecret(rule.id);
    if (secret === null) return { cancelled: 'The webhook has no secret.' };
    return {
      webhook: {
        id: delivery.id,
        url: delivery.target,
        secret,
        body: webhookBody(notification),
        isUnproven: slot.isProbe,
      },
    };
  }

  /** A delivery that is tried for a day may outlive the right to hear of it. */
  async function mayStillHear(owner: User, { event }: Notification): Promise<boolean> {
    const geofenceId = geofenceOf(event);
    const geofence = geofenceId === null ? null : await registry.geofences.get(geofenceId);
    return mayHear(owner, {
      vehicle: (await registry.vehicles.get(event.vehicleId)) ?? undefined,
      geofence: geofence ?? undefined,
      geofenceOwner: (geofence && (await registry.users.get(geofence.ownerId))) ?? undefined,
    });
  }

  return {
    name: 'deliveries',
    wake,
    async start() {
      running = run();
      renewNowAndThen();
    },
    async stop() {
      stopped = true;
      wake();
      await running;
      await Promise.all(underWay.values());
      if (renewing !== null) clearInterval(renewing);
    },
  };
}

function cancelled(error: string): Outcome {
  return { state: 'cancelled', error, status: null };
}

/** What a webhook is sent, by the conventions of Standard Webhooks: what it is, when it happened to be told, and it. */
export function webhookBody(notification: Notification): object {
  const { event } = notification;
  const { readAt: _, ...data } = notificationJson(notification);
  return { type: `${event.kind}.${event.phase}`, timestamp: isoTime(notification.createdAtMs), data };
}

/** What of a notification an e-mail says in words. */
export function factsOf({ event, vehicleName, geofenceName, ruleName }: Notification): NotificationFacts {
  return {
    // Kinds have measures of their own; what a kind does not have is left out of the message.
    ...measuresOf(event),
    kind: event.kind,
    phase: event.phase,
    vehicleName,
    startedAtMs: event.startedAtMs,
    endedAtMs: event.endedAtMs,
    placeName: geofenceName,
    latitude: event.latitude,
    longitude: event.longitude,
    speedKmh: event.speedKmh,
    ruleName,
    late:
      isLate(event) && event.receivedAtMs !== undefined
        ? { receivedAtMs: event.receivedAtMs, delayMs: event.receivedAtMs - event.fixTimeMs }
        : null,
  };
}

const MEASURES = ['limitKmh', 'peakKmh', 'distanceM', 'alarm', 'endReason'] as const;

function measuresOf(event: Notification['event']): Partial<NotificationFacts> {
  const known = event as unknown as Record<string, unknown>;
  return Object.fromEntries(MEASURES.filter((name) => known[name] != null).map((name) => [name, known[name]]));
}
