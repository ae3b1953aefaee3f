import { oneOf, port, secret, text, textOr, type Variable, type Variables, whole } from '@outrider/runtime';

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

/** A list of `host:port`, separated by commas; null where it is unset. */
function brokers(description: string): Variable<readonly string[] | null> {
  return {
    description,
    fallback: undefined,
    secret: false,
    parse(value) {
      const list = value.split(',').map((broker) => broker.trim());
      if (!list.every((broker) => /^[^\s:]+:\d{1,5}$/.test(broker))) throw new Error('host:port, separated by commas');
      return list;
    },
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
  JT808_PORT: port(5015, 'JT/T 808 terminals, editions of 2013 and 2019.'),
  TERMINAL_SECRET: secret(
    'What the codes are derived from that terminals are given when they register; the same in all instances. Where unset, a random one is kept in `DATA_DIR`.',
  ),
  VIDEO_MEDIA_PORT: port(5016, 'Streams of JT/T 1078 video terminals.'),
  VIDEO_MEDIA_HOST: text(
    'Name or address under which terminals reach the media port; where unset, the first address of this machine that others reach.',
  ),
  VIDEO_MAX_DOWNLOADS: whole(1, 256, 8, 'Fragments of video that are fetched at a time.'),
  VIDEO_TASK_HOURS: whole(1, 720, 24, 'How long a task that fetches video is tried.'),
  VIDEO_RETENTION_DAYS: whole(1, 3650, 30, 'How long videos are kept.'),
  VIDEO_QUOTA_MB: whole(
    1,
    100_000_000,
    20_480,
    'How much room all videos together may take up; beyond it the oldest go first.',
  ),
  VIDEO_ALLOW_PRIVATE: oneOf(
    ['no', 'yes'],
    'no',
    'Whether RTSP and HTTP sources of video may be inside the own network.',
  ),
  FFMPEG: textOr('ffmpeg', 'The program that copies RTSP and HTTP sources of video, where it is installed.'),
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
  TELEMETRY_RETENTION_HOURS: whole(
    1,
    87_600,
    168,
    'How long the log keeps packets and events for replay; how long the archive keeps them is `ARCHIVE_RETENTION_DAYS`.',
  ),
  TELEMETRY_RETENTION_MB: whole(64, 100_000_000, 20_480, 'How large the log may grow before its oldest packets go.'),
  CHECKPOINT_MS: whole(50, 60_000, 1000, 'How often the rules write down how far they got.'),
  ARCHIVE_MS: whole(50, 60_000, 1000, 'How long positions may wait to be archived together.'),
  ARCHIVE_RETENTION_DAYS: whole(
    0,
    36_500,
    0,
    'How long positions and events are archived, by their own times; 0: for ever.',
  ),
  REPORT_RETENTION_DAYS: whole(1, 30, 7, 'How long the files of reports are kept that were asked for as jobs.'),
  REPORT_QUOTA_MB: whole(
    1,
    100_000_000,
    10_240,
    'How much room all of these files together may take up; beyond it the oldest of whoever has the most go first.',
  ),
  REPORT_MAX_MB: whole(1, 1_000_000, 1024, 'How large one of them may become.'),
  REPORT_MAIL_MB: whole(1, 100, 10, 'How large a report may be that is attached to an e-mail.'),
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
  KAFKA_BROKERS: brokers('Kafka as the log; where unset, a SQLite file in `DATA_DIR`.'),
  DATABASE_URL: secret('PostgreSQL for definitions; where unset, a SQLite file in `DATA_DIR`.'),
  S3_URL: secret(
    'S3-compatible storage for videos and reports, `https://<key id>:<secret>@<server>/<bucket>[/<prefix>][?region=…]`; where unset, a folder in `DATA_DIR`.',
  ),
  CLICKHOUSE_URL: secret('ClickHouse server for the archive; where unset, ClickHouse runs in the process.'),
  LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error'], 'info', 'How much the service says about itself.'),
  LOG_FORMAT: oneOf(['text', 'json'], 'text', '`text` for people, `json` for machines.'),
} satisfies Variables;
