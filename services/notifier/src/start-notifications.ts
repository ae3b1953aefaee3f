import { type accessVariables, publicUrlOf } from '@outrider/backing';
import type { Directory } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type { Log } from '@outrider/log';
import type { Registry as Definitions } from '@outrider/registry';
import type { Config, Lifecycle, Logger, Registry, Tracing } from '@outrider/runtime';
import { createChannels } from './channels.ts';
import { createConfirmations } from './confirmations.ts';
import { createDeliveries } from './deliveries.ts';
import { MailPolicy } from './mail-policy.ts';
import { createNotifications } from './notifications.ts';
import { createReportMail } from './report-mail.ts';
import { mailPolicyConfigOf, type notifierVariables, reportMailConfigOf } from './settings.ts';

export interface NotificationServiceParts {
  config: Config<typeof notifierVariables & typeof accessVariables>;
  registry: Definitions;
  /** Everything defined, as it is in force. */
  directory: Directory;
  /** Where the files of reports are. */
  reportFiles: Files;
  log: Log;
  hub: Hub;
  /** What a part of it writes its logger to. */
  loggerOf(part: 'deliveries' | 'reports' | 'notifications'): Logger;
  metrics: Registry;
  tracing: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Starts what tells people of events whether or not they look: notifications are saved, and then sent by the ways out
 * that the settings have, and so are reports made by schedule. `life` stops it all, what saves before what sends.
 */
export async function startNotifications(life: Lifecycle, parts: NotificationServiceParts): Promise<void> {
  const { config, registry, directory, reportFiles, log, hub, loggerOf, metrics, tracing, now } = parts;
  const { email, webhook } = createChannels(config, now);
  life.own('e-mail', () => email.close());
  // Nothing waits for this, as what can't be sent now is tried again; but who set it up wants to know at once.
  void email.verify().then((problem) => {
    if (problem !== null) loggerOf('deliveries').warn({ problem }, 'no e-mail can be sent now');
  });
  life.own('webhooks', () => webhook.close());
  const mailPolicy = new MailPolicy(mailPolicyConfigOf(config), registry, metrics, now);
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
    createReportMail({
      config: reportMailConfigOf(config),
      registry,
      directory,
      files: reportFiles,
      email,
      mailPolicy,
      logger: loggerOf('reports'),
      metrics,
      now,
      random: Math.random,
    }),
  );
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
