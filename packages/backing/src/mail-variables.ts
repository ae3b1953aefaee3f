import { join } from 'node:path';
import { type Config, textOr, type Variable, type Variables, whole } from '@outrider/runtime';
import { type accessVariables, publicUrlOf, trustedAddresses } from './access-variables.ts';
import { address } from './variables.ts';

function mailServer(description: string): Variable<string | null> {
  const server = address(['smtp', 'smtps'], description);
  return {
    ...server,
    parse(value) {
      const parsed = server.parse(value);
      if (new URL(value).hostname === '')
        throw new Error('an address that names a host, such as smtp://mail.example.com');
      return parsed;
    },
  };
}

/** Settings of e-mail and its limits, for each service that sends e-mail. */
export const mailVariables = {
  SMTP_URL: mailServer(
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
} satisfies Variables;

/** Outlet of e-mail: a mail server, or a folder. */
export function mailChannelOf({
  SMTP_URL,
  MAIL_FROM,
  DATA_DIR,
}: Config<typeof mailVariables & typeof accessVariables>) {
  return { smtpUrl: SMTP_URL, from: MAIL_FROM, folder: join(DATA_DIR, 'mail') };
}

/** Limits of e-mail by address. */
export function mailLimitsOf(config: Config<typeof mailVariables & typeof accessVariables>) {
  return {
    publicUrl: publicUrlOf(config),
    isTrusted: trustedAddresses(config),
    perAddress: { perHour: config.MAIL_ADDRESS_HOURLY, perDay: config.MAIL_ADDRESS_DAILY },
    perOwner: { perHour: config.MAIL_OWNER_HOURLY, perDay: config.MAIL_OWNER_DAILY },
  };
}
