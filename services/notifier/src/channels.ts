import { join } from 'node:path';
import type { accessVariables } from '@outrider/backing';
import { createEmailChannel, createWebhookChannel, type EmailChannel, type WebhookChannel } from '@outrider/channels';
import type { Config } from '@outrider/runtime';
import type { notifierVariables } from './settings.ts';

/** An endpoint of a webhook has to take a message in this time. */
const WEBHOOK_TIMEOUT_MS = 15_000;
const WEBHOOK_MAX_RESPONSE_BYTES = 64 * 1024;

/** The ways out, as the settings have them. */
export function createChannels(
  config: Config<typeof notifierVariables & typeof accessVariables>,
  now: () => number,
): { email: EmailChannel; webhook: WebhookChannel } {
  return {
    email: createEmailChannel({
      smtpUrl: config.SMTP_URL,
      from: config.MAIL_FROM,
      folder: join(config.DATA_DIR, 'mail'),
      now,
    }),
    webhook: createWebhookChannel({
      allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      maxResponseBytes: WEBHOOK_MAX_RESPONSE_BYTES,
      now,
    }),
  };
}
