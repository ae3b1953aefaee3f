import { parseS3Url } from '@outrider/files';
import { needed, oneOf, secret, text, textOr, type Variable, type Variables, whole } from '@outrider/runtime';
import { parseSecretsKeys } from './secrets-key.ts';

/** Comma-separated list of `host:port`; null if unset. */
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

/** A secret address with one of the schemes; null where it is unset. */
export function address(schemes: readonly string[], description: string): Variable<string | null> {
  return {
    ...secret(description),
    parse(value) {
      if (!URL.canParse(value) || !schemes.some((scheme) => value.startsWith(`${scheme}://`)))
        throw new Error(`an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
      return value;
    },
  };
}

/** Retention of the log. */
export const logVariables = {
  TELEMETRY_RETENTION_HOURS: whole(
    1,
    87_600,
    168,
    'How long the log keeps packets and events for replay. For the archive, see `ARCHIVE_RETENTION_DAYS`.',
  ),
  TELEMETRY_RETENTION_MB: whole(
    64,
    100_000_000,
    20_480,
    'Maximum size of the log. Beyond it, the oldest packets are deleted (SQLite only; Kafka has its own settings).',
  ),
} satisfies Variables;

/** Addresses of the servers that the services use. If one is unset, its function is embedded in the process. */
export const serverVariables = {
  KAFKA_BROKERS: brokers(
    'Kafka brokers for the log, `host:port` separated by commas. If unset, the log is a SQLite file in `DATA_DIR`.',
  ),
  KAFKA_PREFIX: textOr('', 'Prefix of the names of topics and groups, for a Kafka cluster shared with others.'),
  KAFKA_REPLICATION_FACTOR: whole(
    1,
    15,
    3,
    'Replicas of each record in Kafka; fewer if the cluster has fewer brokers. For existing topics, run `outrider kafka-replicas raise`.',
  ),
  KAFKA_SSL: oneOf(['no', 'yes'], 'no', 'Whether to connect to Kafka over TLS.'),
  KAFKA_SASL_MECHANISM: {
    ...oneOf(['none', 'plain', 'scram-sha-256', 'scram-sha-512'], 'none', 'SASL mechanism for Kafka.'),
    conflict({ KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password }) {
      if (mechanism === 'none')
        return username === null && password === null
          ? null
          : 'KAFKA_SASL_MECHANISM must be set where there is a KAFKA_SASL_USERNAME or a password';
      return username !== null && password !== null
        ? null
        : `KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set for KAFKA_SASL_MECHANISM ${mechanism}`;
    },
  },
  KAFKA_SASL_USERNAME: text('User name for Kafka.'),
  KAFKA_SASL_PASSWORD: secret('Password for Kafka.'),
  REDIS_URL: address(
    ['redis', 'rediss'],
    'Redis for latest positions, limits and the checkpoints of the rules, `redis://user:password@host:6379/0`, or `rediss://…` for TLS. If unset, memory and a SQLite file.',
  ),
  REDIS_KEY_PREFIX: {
    ...textOr(
      'outrider',
      'Prefix of the names of keys and channels in Redis. Deployments that share a Redis need different ones.',
    ),
    parse(value: string): string {
      if (!/^[\w.:-]{1,64}$/.test(value)) throw new Error('1 to 64 letters, digits, or any of . : _ -');
      return value;
    },
  },
  DATABASE_URL: address(
    ['postgres', 'postgresql'],
    'PostgreSQL for definitions, `postgres://user:password@host:5432/outrider`, for TLS with `?sslmode=verify-full`. If unset, a SQLite file in `DATA_DIR`.',
  ),
  CLICKHOUSE_URL: address(
    ['http', 'https'],
    'ClickHouse server for the archive, `https://user:password@host:8443`. If unset, the service starts an embedded ClickHouse when it is needed.',
  ),
  S3_URL: {
    ...secret(
      'S3 storage for videos and reports: `https://[<key id>:<secret>@]<server>/<bucket>[/<prefix>][?region=…]`, or `s3://<bucket>[/<prefix>]` at AWS. Without a key, the AWS SDK looks for credentials, such as those of a role. If unset, a folder in `DATA_DIR`.',
    ),
    parse(value: string): string {
      parseS3Url(value);
      return value;
    },
  } satisfies Variable<string | null>,
  SECRETS_KEY: {
    ...secret(
      'Key that encrypts secrets in the registry: 32 bytes in base64 (`openssl rand -base64 32`). Several keys are separated by commas; the first one encrypts, all decrypt. Required with `DATABASE_URL`. Without it, if unset, a random key is kept in `DATA_DIR`.',
    ),
    parse(value: string): string {
      parseSecretsKeys(value);
      return value;
    },
  } satisfies Variable<string | null>,
  SECRETS_KEY_FILE: {
    ...text('File with the key or keys, instead of `SECRETS_KEY`.'),
    conflict: ({ SECRETS_KEY: key, SECRETS_KEY_FILE: file }) =>
      key !== null && file !== null ? 'SECRETS_KEY must not be set where SECRETS_KEY_FILE is' : null,
  },
} satisfies Variables;

/** A server that several processes can share. */
export type ServerName = 'KAFKA_BROKERS' | 'REDIS_URL' | 'DATABASE_URL' | 'CLICKHOUSE_URL' | 'S3_URL';

/**
 * Settings of servers for a service in a process of its own, which shares them with the other services: an embedded
 * store would be isolated.
 *
 * @param names names of the servers that must be set
 */
export function serverVariablesWith(names: readonly ServerName[]): typeof serverVariables {
  const why = 'a service in a process of its own meets the others there';
  return {
    ...serverVariables,
    ...Object.fromEntries(names.map((name) => [name, needed<unknown>(name, serverVariables[name], why)])),
  };
}
