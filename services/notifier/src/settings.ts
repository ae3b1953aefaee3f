import { type accessVariables, publicUrlOf, trustedAddresses } from '@outrider/backing';
import { type Config, secret, textOr, type Variables, whole } from '@outrider/runtime';
import type { NotifierConfig } from './live/notifier.ts';
import type { MailPolicyConfig } from './mail-policy.ts';

/** What the notifier is set up by. */
export const notifierVariables = {
  MAX_LIVE_CONNECTIONS: whole(1, 1_000_000, 10_000, 'Open WebSockets of the live API; further ones are refused.'),
  MAX_LIVE_CONNECTIONS_PER_USER: whole(1, 1_000_000, 100, 'The same of one account.'),
  MAX_LIVE_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    1000,
    'The same of one address; the own machine is not bounded by it.',
  ),
  LIVE_UNSENT_MB: whole(
    16,
    65_536,
    256,
    'What may wait in memory for slow clients of the live API, all together; beyond it those with the most are disconnected.',
  ),
  SMTP_URL: secret(
    'Mail server for notifications, `smtp://user:password@host:port` or `smtps://…`; where unset, e-mails become `.eml` files in `DATA_DIR`.',
  ),
  MAIL_FROM: textOr('Outrider <outrider@localhost>', 'Sender of e-mails.'),
  MAIL_ADDRESS_HOURLY: whole(
    1,
    1_000_000,
    60,
    'E-mails an hour that one fleet may send to one address; the surplus is not sent, and shown to its owner.',
  ),
  MAIL_ADDRESS_DAILY: whole(1, 1_000_000, 500, 'The same a day.'),
  MAIL_OWNER_HOURLY: whole(
    1,
    1_000_000,
    1000,
    'E-mails an hour of one fleet, to all addresses: of a dealer with its users, or of a user without a dealer.',
  ),
  MAIL_OWNER_DAILY: whole(1, 1_000_000, 5000, 'The same a day.'),
  NOTIFICATION_RETENTION_DAYS: whole(
    7,
    3650,
    90,
    'How long notifications and their deliveries are kept; of each user the newest 10,000 at most.',
  ),
  REPORT_MAIL_MB: whole(1, 100, 10, 'How large a report may be that is attached to an e-mail.'),
} satisfies Variables;

const BYTES_PER_MB = 1_000_000;

/** The bounds of the live API, as they stand in the settings. */
export function liveConfigOf(config: Config<typeof notifierVariables>): NotifierConfig {
  return {
    maxConnections: config.MAX_LIVE_CONNECTIONS,
    maxPerUser: config.MAX_LIVE_CONNECTIONS_PER_USER,
    maxPerAddress: config.MAX_LIVE_CONNECTIONS_PER_ADDRESS,
    maxUnsentBytes: config.LIVE_UNSENT_MB * BYTES_PER_MB,
  };
}

/** Who may be sent how many e-mails, as it stands in the settings. */
export function mailPolicyConfigOf(
  config: Config<typeof notifierVariables & typeof accessVariables>,
): MailPolicyConfig {
  return {
    publicUrl: publicUrlOf(config),
    isTrusted: trustedAddresses(config),
    perAddress: { perHour: config.MAIL_ADDRESS_HOURLY, perDay: config.MAIL_ADDRESS_DAILY },
    perOwner: { perHour: config.MAIL_OWNER_HOURLY, perDay: config.MAIL_OWNER_DAILY },
  };
}

/** How reports are sent, as it stands in the settings. */
export function reportMailConfigOf(config: Config<typeof notifierVariables>): { maxAttachmentBytes: number } {
  return { maxAttachmentBytes: config.REPORT_MAIL_MB * BYTES_PER_MB };
}
