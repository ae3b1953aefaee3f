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
    'Mail server, `smtp://user:password@host:port` or `smtps://…`. If unset, e-mails are written to `.eml` files in `DATA_DIR`.',
  ),
  MAIL_FROM: textOr('Outrider <outrider@localhost>', 'Sender of e-mails.'),
  MAIL_ADDRESS_HOURLY: whole(
    1,
    1_000_000,
    60,
    'Maximum number of e-mails per hour from one fleet to one address. Further ones are not sent, and the owner sees that.',
  ),
  MAIL_ADDRESS_DAILY: whole(1, 1_000_000, 500, 'The same per day.'),
  MAIL_OWNER_HOURLY: whole(
    1,
    1_000_000,
    1000,
    'Maximum number of e-mails per hour from one fleet to all addresses. A fleet is a dealer with its users, or a user without a dealer.',
  ),
  MAIL_OWNER_DAILY: whole(1, 1_000_000, 5000, 'The same per day.'),
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
