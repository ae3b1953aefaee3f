import { type Config, ConfigError } from '@outrider/runtime';
import type { logVariables, serverVariables } from './variables.ts';

type BackingConfig = Config<typeof logVariables> & Config<typeof serverVariables>;

/** Everything that the services stand on, as an address each; plain data, so that a thread can be given it. */
export interface Backing {
  /** For what has no server; null where every part must have one. */
  folder: string | null;
  log: {
    brokers: readonly string[] | null;
    prefix: string;
    replicationFactor: number;
    ssl: boolean;
    sasl: Sasl | null;
    retentionHours: number;
    retentionMb: number;
  };
  redisUrl: string | null;
  redisPrefix: string;
  databaseUrl: string | null;
  clickhouseUrl: string | null;
  s3Url: string | null;
  /** Keys that stored secrets are sealed with, as they are set; null where they are in a file, or none is set. */
  secretsKey: string | null;
  secretsKeyFile: string | null;
}

export interface Sasl {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: string;
}

/**
 * @param folder for stores without a server; null when the process has no folder
 * @throws {ConfigError} where a setting lacks another
 */
export function backingOf(config: BackingConfig, folder: string | null): Backing {
  if (config.SECRETS_KEY !== null && config.SECRETS_KEY_FILE !== null)
    throw new ConfigError(['SECRETS_KEY must not be set where SECRETS_KEY_FILE is']);
  if (!/^[\w.:-]{1,64}$/.test(config.REDIS_KEY_PREFIX))
    throw new ConfigError(['REDIS_KEY_PREFIX must be 1 to 64 letters, digits, or any of . : _ -']);
  return {
    folder,
    log: {
      brokers: config.KAFKA_BROKERS,
      prefix: config.KAFKA_PREFIX,
      replicationFactor: config.KAFKA_REPLICATION_FACTOR,
      ssl: config.KAFKA_SSL === 'yes',
      sasl: saslOf(config),
      retentionHours: config.TELEMETRY_RETENTION_HOURS,
      retentionMb: config.TELEMETRY_RETENTION_MB,
    },
    redisUrl: config.REDIS_URL,
    redisPrefix: config.REDIS_KEY_PREFIX,
    databaseUrl: config.DATABASE_URL,
    clickhouseUrl: config.CLICKHOUSE_URL,
    s3Url: config.S3_URL,
    secretsKey: config.SECRETS_KEY,
    secretsKeyFile: config.SECRETS_KEY_FILE,
  };
}

function saslOf(config: BackingConfig): Sasl | null {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config;
  if (mechanism === 'none') {
    if (username === null && password === null) return null;
    throw new ConfigError(['KAFKA_SASL_MECHANISM must be set where there is a KAFKA_SASL_USERNAME or a password']);
  }
  if (username !== null && password !== null) return { mechanism, username, password };
  throw new ConfigError([
    `KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set for KAFKA_SASL_MECHANISM ${mechanism}`,
  ]);
}

/** A server that several processes can meet at. */
export type ServerName = 'KAFKA_BROKERS' | 'REDIS_URL' | 'DATABASE_URL' | 'CLICKHOUSE_URL' | 'S3_URL';

/**
 * A service in a process of its own meets the others at servers: what runs inside a process is of no use to it.
 *
 * @throws {ConfigError} naming every server that is not set
 */
export function needServers(config: Partial<Record<ServerName, unknown>>, names: readonly ServerName[]): void {
  const missing = names.filter((name) => config[name] == null);
  if (missing.length > 0)
    throw new ConfigError(
      missing.map((name) => `${name} must be set: a service in a process of its own meets the others there`),
    );
}
