import { MailPolicy } from '@outrider/access';
import {
  type accessVariables,
  type commandVariables,
  engineBlockOf,
  mailChannelOf,
  mailLimitsOf,
  type mailVariables,
  publicUrlOf,
  pushContactOf,
  pushHostsOf,
  pushKeysOf,
  type pushVariables,
} from '@outrider/backing';
import { createEmailChannel, createGuardedHttp, createVapidKeys, createWebhookChannel } from '@outrider/channels';
import type { Clock, Directory } from '@outrider/domain';
import type { Geocoder } from '@outrider/geocoder';
import type { Hub } from '@outrider/hub';
import type { Log } from '@outrider/log';
import { abilitiesOf } from '@outrider/protocols';
import type { Registry } from '@outrider/registry';
import type { Config, Lifecycle, Logger, Metrics, Tracing } from '@outrider/runtime';
import { createAccountMails } from './account-mails.ts';
import { createAccountNotices } from './account-notices.ts';
import { createChannelTests } from './channel-tests.ts';
import { createCommandSender } from './command-sender.ts';
import { createConfirmations } from './confirmations.ts';
import { createDeliveries } from './deliveries.ts';
import { createNotifications } from './notifications.ts';
import type { notifierVariables } from './settings.ts';

/** Timeout of a webhook request. */
const WEBHOOK_TIMEOUT_MS = 15_000;
const WEBHOOK_MAX_RESPONSE_BYTES = 64 * 1024;

export interface NotificationServiceParts {
  config: Config<
    typeof notifierVariables &
      typeof commandVariables &
      typeof mailVariables &
      typeof pushVariables &
      typeof accessVariables
  >;
  registry: Registry;
  /** All current definitions. */
  directory: Directory;
  log: Log;
  hub: Hub;
  geocoder: Geocoder;
  /** Logger of one part of the service. */
  loggerOf(part: 'commands' | 'deliveries' | 'notifications'): Logger;
  metrics: Metrics;
  tracing: Tracing;
  clock: Clock;
}

/**
 * Starts the parts that save notifications, send them by e-mail and webhook, and send commands to terminals. `life`
 * stops the saving part before the sending parts.
 */
export async function startNotifications(life: Lifecycle, parts: NotificationServiceParts): Promise<void> {
  const { config, registry, directory, log, hub, geocoder, loggerOf, metrics, tracing, clock } = parts;
  const { now } = clock;
  const email = createEmailChannel({ ...mailChannelOf(config), now });
  const httpOptions = {
    allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    maxResponseBytes: WEBHOOK_MAX_RESPONSE_BYTES,
    now,
  };
  const http = createGuardedHttp(httpOptions);
  const webhook = createWebhookChannel(httpOptions, http);
  const channels = {
    http,
    config,
    allowPrivateAddresses: httpOptions.allowPrivateAddresses,
    webPush: {
      keys: pushKeysOf(config) ?? (await registry.serviceKeys.pair('web-push', createVapidKeys)),
      contact: pushContactOf(config),
      hosts: pushHostsOf(config),
    },
  };
  const messageLimits = { perHour: config.MESSAGE_CHANNEL_HOURLY, perDay: config.MESSAGE_CHANNEL_DAILY };
  life.own('e-mail', () => email.close());
  // Not awaited, because e-mails that can't be sent now are retried. The log lets the operator know at once.
  void email.verify().then((problem) => {
    if (problem !== null) loggerOf('deliveries').warn({ problem }, 'no e-mail can be sent now');
  });
  life.own('webhooks', () => webhook.close());
  const mailPolicy = new MailPolicy(mailLimitsOf(config), registry, metrics, now);
  const ofAccounts = {
    config: { publicUrl: publicUrlOf(config) },
    ...{ registry, email, metrics, clock, random: Math.random },
    logger: loggerOf('deliveries'),
  };
  await life.start(createConfirmations(ofAccounts));
  await life.start(createAccountMails(ofAccounts));
  await life.start(createAccountNotices(ofAccounts));
  await life.start(
    createChannelTests({
      registry,
      email,
      mailPolicy,
      webhook,
      channels,
      messageLimits,
      logger: loggerOf('deliveries'),
      now,
    }),
  );
  const deliveries = createDeliveries({
    config: {},
    registry,
    directory,
    geocoder,
    email,
    mailPolicy,
    webhook,
    channels,
    messageLimits,
    logger: loggerOf('deliveries'),
    metrics,
    tracing,
    clock,
    random: Math.random,
  });
  await life.start(deliveries);
  await life.start(
    createCommandSender({
      config: { ...engineBlockOf(config), retentionDays: config.COMMAND_RETENTION_DAYS },
      registry,
      directory,
      hub,
      abilitiesOf,
      logger: loggerOf('commands'),
      metrics,
      clock,
    }),
  );
  await life.start(
    createNotifications({
      config: { retentionDays: config.NOTIFICATION_RETENTION_DAYS },
      log,
      hub,
      directory,
      registry,
      notifications: registry.notifications,
      incidents: registry.incidents,
      waiting: registry.waitingNotifications,
      onSaved: () => deliveries.wake(),
      logger: loggerOf('notifications'),
      metrics,
      tracing,
      clock,
    }),
  );
}
