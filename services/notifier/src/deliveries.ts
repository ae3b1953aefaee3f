import {
  type EmailChannel,
  outcomeOf,
  type SendContext,
  type SendResult,
  sendOver,
  type WebhookChannel,
} from '@outrider/channels';
import type { Clock } from '@outrider/domain';
import {
  DeliverySlots,
  deliveryShares,
  type EndpointHealth,
  type LeasedDelivery,
  NotFoundError,
  type Outcome,
  type Registry,
} from '@outrider/registry';
import {
  Counter,
  Gauge,
  Histogram,
  inSpan,
  type Logger,
  type Metrics,
  NO_TRACING,
  type Part,
  type Span,
  type Tracing,
  worker,
} from '@outrider/runtime';
import { type Prepared, type PrepareParts, prepareDelivery } from './prepare-delivery.ts';

export interface DeliveriesParts extends PrepareParts {
  config: {
    /** Maximum of concurrent attempts. Default 64. */
    maxAtOnce?: number;
    /** Maximum of concurrent attempts to one endpoint for one account. Default 4. */
    maxPerEndpoint?: number;
  };
  registry: PrepareParts['registry'] & Pick<Registry, 'deliveries'>;
  email: Pick<EmailChannel, 'send'>;
  webhook: Pick<WebhookChannel, 'send'>;
  channels: Omit<SendContext, 'isUnproven'>;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
}

export interface Deliverer extends Part {
  /** Leases deliveries at once instead of at the next poll, because some may be due. */
  wake(): void;
}

const DEFAULT_MAX_AT_ONCE = 64;
const DEFAULT_MAX_PER_ENDPOINT = 4;
/** Finds retries that fall due and deliveries that other instances saved. */
const POLL_MS = 1000;
/** Lease duration. Renewed while the attempt runs, so another worker retries a crashed worker's delivery. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;
/** An endpoint that takes longer to respond is slow: it gets few slots. */
const PROMPT_MS = 3000;
/** The cause is only logged. */
const BROKE_OFF: SendResult = { ok: false, retry: true, error: 'Sending failed in the service.', status: null };

/**
 * Sends deliveries over all channels, with bounded concurrency. Owners are served in turn, each with a share of the
 * slots, and unresponsive endpoints get few of them: see `DeliverySlots`. A failed attempt, whatever the reason, is
 * repeated at growing intervals for a day.
 */
export function createDeliveries(parts: DeliveriesParts): Deliverer {
  const { config, registry, logger, tracing = NO_TRACING } = parts;
  const { maxAtOnce = DEFAULT_MAX_AT_ONCE, maxPerEndpoint = DEFAULT_MAX_PER_ENDPOINT } = config;
  const slots = new DeliverySlots(deliveryShares(maxAtOnce, maxPerEndpoint));
  const metrics = deliveryMetrics(parts.metrics, () => deliveries.running.size);
  const deliveries = worker<LeasedDelivery>({
    name: 'deliveries',
    atOnce: maxAtOnce,
    lease: () => registry.deliveries.lease({ slots, leaseMs: LEASE_MS }),
    async run(leased) {
      const { delivery, notification } = leased;
      const span = tracing.ofPacket(notification.event.traceId, `deliver by ${delivery.channel}`, {
        kind: 'client',
        facts: { 'outrider.delivery.id': delivery.id, 'outrider.notification.id': notification.id },
      });
      try {
        await inSpan(span, () => deliver(leased, span));
      } finally {
        slots.release(leased.slot);
      }
    },
    renew: { everyMs: RENEW_EVERY_MS, leases: (leased) => registry.deliveries.renew(leased, LEASE_MS) },
    facts: ({ delivery, notification }) => ({ traceId: notification.event.traceId, delivery: delivery.id }),
    pollMs: POLL_MS,
    logger,
    clock: parts.clock,
  });

  async function deliver(leased: LeasedDelivery, span: Span): Promise<void> {
    const { channel, attempts } = leased.delivery;
    const { outcome, health } = await attempt(leased);
    metrics.attempts.inc({ channel, outcome: outcome.state });
    logAttempt(logger, leased, outcome);
    span.note({ 'outrider.delivery.attempt': attempts, 'outrider.delivery.outcome': outcome.state });
    if (outcome.state === 'pending' || outcome.state === 'failed') span.fail(outcome.error);
    await registry.deliveries.settle(leased, outcome, health);
  }

  async function attempt(leased: LeasedDelivery): Promise<{ outcome: Outcome; health: EndpointHealth }> {
    const endTimer = metrics.seconds.startTimer({ channel: leased.delivery.channel });
    try {
      const prepared = await prepareDelivery(parts, leased);
      if ('cancelled' in prepared)
        return { outcome: { state: 'cancelled', error: prepared.cancelled, status: null }, health: 'unknown' };
      return await send(leased, prepared);
    } catch (error) {
      logger.error({ err: error, delivery: leased.delivery.id }, 'delivery failed in the service; retrying');
      return { outcome: outcomeAfter(leased, BROKE_OFF), health: 'unknown' };
    } finally {
      endTimer();
    }
  }

  async function send(leased: LeasedDelivery, prepared: Exclude<Prepared, { cancelled: string }>) {
    const startedAtMs = parts.clock.now();
    const result = await sent(prepared);
    // A result without a status means that the endpoint did not respond, whether the attempt is retried or not.
    if ('channel' in prepared) await forgetGone(parts.registry, prepared.channel, result);
    const hasAnswered = result.ok || result.status !== null;
    const isSlow = parts.clock.now() - startedAtMs > PROMPT_MS;
    const health: EndpointHealth = !hasAnswered ? 'silent' : isSlow ? 'slow' : 'prompt';
    return { outcome: outcomeAfter(leased, result), health };
  }

  function sent(prepared: Exclude<Prepared, { cancelled: string }>): Promise<SendResult> {
    if ('email' in prepared) return parts.email.send(prepared.email);
    if ('webhook' in prepared) return parts.webhook.send(prepared.webhook);
    const { channel, secret, message, isUnproven } = prepared;
    return sendOver(channel, secret, message, { ...parts.channels, isUnproven });
  }

  function outcomeAfter({ delivery: { attempts }, giveUpAtMs }: LeasedDelivery, result: SendResult): Outcome {
    return outcomeOf({ attempts, giveUpAtMs }, result, parts.clock.now(), parts.random());
  }

  return deliveries;
}

/** Deletes the channel of a browser that ended its subscription. */
export async function forgetGone(
  { messageChannels }: Pick<Registry, 'messageChannels'>,
  { id }: { id: string },
  result: SendResult,
): Promise<void> {
  if (result.ok || result.isGone !== true) return;
  await messageChannels.delete(id).catch((error) => {
    // The user has deleted the channel meanwhile.
    if (!(error instanceof NotFoundError)) throw error;
  });
}

function deliveryMetrics(registry: Metrics, running: () => number) {
  const registers = [registry];
  new Gauge({
    name: 'outrider_deliveries_under_way',
    help: 'Notification deliveries in progress',
    registers,
    collect() {
      this.set(running());
    },
  });
  return {
    attempts: new Counter({
      name: 'outrider_delivery_attempts_total',
      help: 'Attempts to deliver a notification, by outcome',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'outrider_delivery_seconds',
      help: 'Duration of an attempt to deliver a notification',
      labelNames: ['channel'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
      registers,
    }),
  };
}

/** Logs successes at debug level, and everything else so that an operator sees why nothing arrived. */
function logAttempt(logger: Logger, { delivery, notification }: LeasedDelivery, outcome: Outcome): void {
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
