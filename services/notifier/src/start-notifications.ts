import { MailPolicy } from '@outrider/access';
import { type accessVariables, mailChannelOf, mailLimitsOf, type mailVariables, publicUrlOf } from '@outrider/backing';
import { createEmailChannel, createWebhookChannel } from '@outrider/channels';
import type { Hub } from '@outrider/hub';
import type { Log } from '@outrider/log';
import type { Registry as Definitions } from '@outrider/registry';
import type { Config, Lifecycle, Logger, Registry, Tracing } from '@outrider/runtime';
import { createConfirmations } from './confirmations.ts';
import { createDeliveries } from './deliveries.ts';
import { createNotifications } from './notifications.ts';
import type { notifierVariables } from './settings.ts';

/** An endpoint of a webhook has to take a message in this time. */
const WEBHOOK_TIMEOUT_MS = 15_000;
const WEBHOOK_MAX_RESPONSE_BYTES = 64 * 1024;

export interface NotificationServiceParts {
  config: Config<typeof notifierVariables & typeof mailVariables & typeof accessVariables>;
  registry: Definitions;
  log: Log;
  hub: Hub;
  /** What a part of it writes its logger to. */
  loggerOf(part: 'deliveries' | 'notifications'): Logger;
  metrics: Registry;
  tracing: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Starts saving notifications and sending them by e-mail and webhook. `life` stops what saves them before what sends
 * them.
 */
export async function startNotifications(life: Lifecycle, parts: NotificationServiceParts): Promise<void> {
  const { config, registry, log, hub, loggerOf, metrics, tracing, now } = parts;
  const email = createEmailChannel({ ...mailChannelOf(config), now });
  const webhook = createWebhookChannel({
    allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    maxResponseBytes: WEBHOOK_MAX_RESPONSE_BYTES,
    now,
  });
  life.own('e-mail', () => email.close());
  // Nothing waits for this, as what can't be sent now is tried again; but who set it up wants to know at once.
  void email.verify().then((problem) => {
    if (problem !== null) loggerOf('deliveries').warn({ problem }, 'no e-mail can be sent now');
  });
  life.own('webhooks', () => webhook.close());
  const mailPolicy = new MailPolicy(mailLimitsOf(config), registry, metrics, now);
  await life.start(
    createConfirmations({
      config: { publicUrl: publicUrlOf(config) },
      registry,
      email,
      logger: loggerOf('deliveries'),
      metrics,
      now,
      random: Math.random,
    }),
  );
  const deliveries = createDeliveries({
    config: {},
    registry,
    email,
    mailPolicy,
    webhook,
    logger: loggerOf('deliveries'),
    metrics,
    tracing,
    now,
    random: Math.random,
  });
  await life.start(deliveries);
  await life.start(
    createNotifications({
      config: { retentionDays: config.NOTIFICATION_RETENTION_DAYS },
      log,
      hub,
      inbox: registry.notifications,
      onSaved: () => deliveries.wake(),
      logger: loggerOf('notifications'),
      metrics,
      tracing,
      now,
    }),
  );
}
