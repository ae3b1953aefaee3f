import { logVariables, serverVariables } from '@outrider/backing';
import { oneOf, port, secret, textOr, type Variable, type Variables, whole } from '@outrider/runtime';

/** Texts separated by commas; none where it is unset. */
function list(description: string): Variable<readonly string[]> {
  return {
    description,
    fallback: ',',
    secret: false,
    parse: (value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
  };
}

/** Every environment variable that Outrider reads; the README's table is checked against this. */
export const variables = {
  DATA_DIR: textOr('./data', 'Folder for everything that is kept; made where there is none.'),
  HOST: textOr('0.0.0.0', 'Address that all ports listen on.'),
  PORT: port(8080, 'REST API, live API, health and metrics. Like every port: 0 takes a free one.'),
  ADMIN_PASSWORD: secret(
    'Password of the operator `admin`, read at the first start only; generated and printed once where unset.',
  ),
  OMNICOMM_PORT: port(5203, 'Omnicomm terminals.'),
  TELTONIKA_PORT: port(5027, 'Teltonika terminals, Codec 8 and 8 Extended.'),
  WIALON_PORT: port(5039, 'Wialon IPS 1.1 and 2.0 terminals.'),
  OSMAND_PORT: port(5055, 'OsmAnd and Traccar Client (HTTP).'),
  MAX_TERMINAL_CONNECTIONS: whole(
    1,
    1_000_000,
    20_000,
    'Open connections per terminal protocol; further ones are refused.',
  ),
  TERMINAL_IDLE_SECONDS: whole(5, 86_400, 900, 'A terminal that says nothing for this long is disconnected.'),
  MAX_LIVE_CONNECTIONS: whole(1, 1_000_000, 10_000, 'Open WebSockets of the live API; further ones are refused.'),
  JWT_TTL_SECONDS: whole(1, 31_536_000, 3600, 'Life of a token.'),
  SESSION_TTL_SECONDS: whole(1, 31_536_000, 2_592_000, 'How long after login a token can be refreshed.'),
  LIMIT_FAILED_LOGINS_PER_MINUTE: whole(1, 1_000_000_000, 10, 'Failed logins per IP address.'),
  LIMIT_AUTHORIZED_PER_MINUTE: whole(1, 1_000_000_000, 180, 'Authorized calls per user.'),
  LIMIT_UNAUTHORIZED_PER_MINUTE: whole(1, 1_000_000_000, 60, 'Unauthorized calls per IP address.'),
  BLOCK_SECONDS: whole(1, 86_400, 60, 'How long a user or an address that went over a limit is blocked.'),
  TRUSTED_PROXIES: list('Addresses or subnets of proxies whose `X-Forwarded-For` is believed, separated by commas.'),
  ...logVariables,
  CHECKPOINT_MS: whole(50, 60_000, 1000, 'How often the rules write down how far they got.'),
  ARCHIVE_MS: whole(50, 60_000, 1000, 'How long positions may wait to be archived together.'),
  AUDIT_RETENTION_DAYS: whole(1, 36_500, 365, 'How long the audit trail is kept.'),
  SMTP_URL: secret(
    'Mail server for notifications, `smtp://user:password@host:port` or `smtps://…`; where unset, e-mails become `.eml` files in `DATA_DIR`.',
  ),
  MAIL_FROM: textOr('Outrider <outrider@localhost>', 'Sender of e-mails.'),
  WEBHOOK_ALLOW_PRIVATE: oneOf(
    ['no', 'yes'],
    'no',
    'Whether webhooks may go to plain http and to addresses inside the own network.',
  ),
  NOTIFICATION_RETENTION_DAYS: whole(
    7,
    3650,
    90,
    'How long notifications and their deliveries are kept; of each user the newest 10,000 at most.',
  ),
  ...serverVariables,
  LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error'], 'info', 'How much the service says about itself.'),
  LOG_FORMAT: oneOf(['text', 'json'], 'text', '`text` for people, `json` for machines.'),
} satisfies Variables;
